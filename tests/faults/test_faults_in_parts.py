"""Every fault that is planted in a release in parts is refused, or a named property finds it."""

import os
from dataclasses import replace

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import anon_sql
from anon_sql import AnonError
from anon_sql.hosts.parts import regions
from anon_sql.hosts.parts.spilling import RegionRows, Routing
from anon_sql.kernels import orders
from anon_sql.pipeline import table
from anon_sql.regions import plan
from tests.faults.fault import CITIES, HIERARCHY, TABLE, Fault, after
from tests.faults.steps import DROP, STEPS, labels_exchanged, shifted

REGION = 30  # rows of a region: a quarter of the table
# A region is released as a table is: of the faults of its steps, one of each kind.
IN_REGION = (
    "a class of k - 1",
    "rows counted for persons",
    "beta ignored",
    "too many rows suppressed",
    "an identifier left in",
    "a label one value too narrow",
    "NULL printed as a value",
    "typed ranges with exchanged ends",
    "the order of the source kept",
    "kept values shifted by a row",
    "a class left out that is not suppressed",
)


@pytest.fixture
def made(con):
    con.execute(f"{TABLE}; {HIERARCHY}; {CITIES}")
    return con


def release(con, fault, into="r", **more):
    given = {"method": fault.method, "part_rows": REGION, **fault.arguments}
    return anon_sql.release(con, "t", into=into, **given, **more)


def refusal(con, fault, into):
    """Return the sentence with which a release refuses itself; nothing is written."""
    with pytest.raises((AnonError, duckdb.Error)) as caught:
        release(con, fault, into=str(into))
    assert os.listdir(into.parent) == []
    return str(caught.value)


def lost_region(found, *_):
    """Forget the first region of a plan."""
    return replace(found, rows=(0, *found.rows[1:]))


def read_twice(patch):
    """Give the rows of the first region that is read for those of every other."""
    real, first = RegionRows.read, []

    def read(self, *place):
        found = real(self, *place)
        first.append(found)
        return first[0].take(pa.array(np.arange(found.num_rows) % first[0].num_rows))

    patch.setattr(RegionRows, "read", read)


def truncated(_, finished, number, *__):
    if number == 0:
        os.truncate(finished.file(number), finished.file(number).stat().st_size - 40)


def removed(_, finished, number, *__):
    if number == 0:
        finished.file(number).unlink()


def renamed(_, finished, number, *__):
    """Put a region in the place of its predecessor, where there is one."""
    before = finished.file(number - 1)
    if before.exists():
        finished.file(number).replace(before)
        before.with_name(f"{number}.arrow").write_bytes(before.read_bytes())


def rows_truncated(found, _, tree, spilled, *__):
    (file,) = spilled.folder.iterdir()
    os.truncate(file, file.stat().st_size // 2)
    return found


def with_column(name, change):
    """Return a change of the rows of a region: another content of a column."""

    def changed(found, *_):
        values = pa.array(change(found[name].combine_chunks().to_pylist()))
        return found.set_column(found.column_names.index(name), name, values)

    return changed


def ordered_by_class(values):
    """Give each class the values of another: those that come before."""
    return values[7:] + values[:7]


def first_wider(values):
    return ["*", *values[1:]]


def taking(rows):
    return lambda found, *_: found.take(pa.array(rows(found.num_rows)))


def group_lost(found, reader, groups):
    """Lose the rows of a slice as they are read to be written, not as they are checked."""
    return found.slice(0, 0) if isinstance(groups, list) else found


REFUSED = {
    "a region lost": Fault(after(plan, "plan", lost_region), "every row must be in a part, got"),
    "a region written twice": Fault(
        read_twice, "the parts together must have the kept values of the rows of the table"
    ),
    "a file truncated": Fault(
        after(regions.FinishedRegions, "write", truncated),
        "the parts together must be as they were written, got 1 that is not",
    ),
    "a file removed": Fault(
        after(regions.FinishedRegions, "write", removed),
        "the parts together must be as they were written, got 1 that is not",
    ),
    "a region in the place of another": Fault(
        after(regions.FinishedRegions, "write", renamed),
        "the parts together must be as they were written",
    ),
    "routed rows truncated": Fault(
        after(Routing, "spill", rows_truncated), "a file of routed rows must be as it was written"
    ),
    "a sensitive column shuffled between classes": Fault(
        after(regions, "release_table", with_column("illness", ordered_by_class)),
        "the parts together must have the kept values of the rows of the table",
    ),
    "one row of a class printed with a wider label": Fault(
        after(regions, "release_table", with_column("city", first_wider)),
        "the parts together must have at least 5 rows in every class",
    ),
    "a row lost": Fault(
        after(regions, "release_table", taking(lambda n: np.arange(n - 1))),
        "every row of a part must be released once",
    ),
    "a row twice": Fault(
        after(regions, "release_table", taking(lambda n: np.append(np.arange(n), 0))),
        "every row of a part must be released once",
        call=DROP,
    ),
    "a row twice and another lost": Fault(
        after(regions, "release_table", taking(lambda n: np.maximum(np.arange(n), 1))),
        "the parts together must have the kept values of the rows of the table",
    ),
    "the order of the regions kept": Fault(
        after(orders, "by_hash", lambda found, *_: np.arange(len(found), dtype=np.int32)),
        "released rows must be in the order of hashes",
    ),
    "a slice lost": Fault(
        after(regions, "read_groups", group_lost), "every row of the parts must be written"
    ),
}


@pytest.mark.parametrize("name", IN_REGION)
def test_a_fault_of_a_step_in_a_region_is_refused(made, monkeypatch, tmp_path, name):
    fault = STEPS[name]
    fault.plant(monkeypatch)
    assert fault.refused in refusal(made, fault, tmp_path / "r.parquet")


@pytest.mark.parametrize("fault", REFUSED.values(), ids=REFUSED)
def test_a_fault_of_the_parts_is_refused(made, monkeypatch, tmp_path, fault):
    fault.plant(monkeypatch)
    assert fault.refused in refusal(made, fault, tmp_path / "r.parquet")


def test_without_a_fault_a_release_is_written_and_passes_the_audit(made):
    clean = Fault(lambda patch: None)
    assert release(made, clean).parts > 2
    assert clean.failed(made) == set()


@pytest.mark.parametrize("name", ["a slice lost", "the order of the regions kept"])
def test_what_is_found_while_a_table_is_written_leaves_none(made, monkeypatch, name):
    REFUSED[name].plant(monkeypatch)
    with pytest.raises((AnonError, duckdb.Error), match=REFUSED[name].refused):
        release(made, REFUSED[name])
    tables = made.execute("SELECT table_name FROM duckdb_tables()").fetchall()
    assert ("r",) not in tables


AUDITED = {
    "two labels exchanged": Fault(
        after(table, "release", labels_exchanged),
        found=frozenset({"true_labels", "covered_rows", "matched_rows"}),
    ),
    "kept values shifted by a row": Fault(
        after(table, "release", shifted),
        found=frozenset({"true_labels", "covered_rows", "matched_rows"}),
    ),
}


@pytest.mark.parametrize("fault", AUDITED.values(), ids=AUDITED)
def test_a_fault_that_no_check_of_the_release_sees_is_found_by_an_audit(made, monkeypatch, fault):
    with monkeypatch.context() as patch:
        fault.plant(patch)
        release(made, fault)
    assert fault.failed(made) == fault.found
