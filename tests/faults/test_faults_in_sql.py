"""Every fault that is planted in a release in SQL is refused, or a named property finds it."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from anon_sql.hosts.duckdb.functions import release
from tests.faults.fault import CITIES, HIERARCHY, TABLE, Fault, after, listed
from tests.faults.steps import (
    IN_RULES,
    STEPS,
    labels_exchanged,
    moved,
    named_otherwise,
    one_row_wider,
    shifted,
    taking,
)
from tests.sentence import fails

pytestmark = pytest.mark.quick


def made(con, fault):
    """Make the table; return the release that the fault is planted in, as SQL."""
    con.execute(TABLE)
    con.execute(f"{HIERARCHY}; {CITIES}")
    given = fault.arguments
    if "like" in given:
        earlier = {name: value for name, value in given.items() if name != "like"}
        con.execute(f"CREATE TABLE r0 AS FROM full_domain('t', {listed(earlier)})")
    return f"FROM {fault.method}('t', {listed(given)})"


@pytest.mark.parametrize("fault", STEPS.values(), ids=STEPS)
def test_a_fault_of_a_step_is_refused(con, monkeypatch, fault):
    call = made(con, fault)
    con.execute(call)
    fault.plant(monkeypatch)
    assert fault.refused in fails(con, call)


def next_row(found, *_):
    """Hand over the quasi-identifiers of the next row."""
    request, source = found
    quasi = {
        name: own.take(pa.array(np.roll(np.arange(len(own)), 1)))
        for name, own in source.quasi.items()
    }
    return request, replace(source, quasi=quasi)


# What goes wrong in a rule goes wrong in the check of the release too; what goes wrong behind the
# check, no check of the release sees. Both are found by an audit, which counts by itself.
MATCHED = {"true_labels", "covered_rows", "matched_rows"}
AUDITED = {
    **IN_RULES,
    "quasi-identifiers of the next row handed over": Fault(
        after(release, "buffered_rows", next_row), found=MATCHED
    ),
    "two labels exchanged": Fault(after(release, "release", labels_exchanged), found=MATCHED),
    "labels of another column": Fault(
        after(release, "release", named_otherwise), found={*MATCHED, "label_spelling"}
    ),
    "kept values shifted by a row": Fault(after(release, "release", shifted), found=MATCHED),
    "a row in another class": Fault(after(release, "release", moved), found=MATCHED),
    "one row of a class printed with a wider label": Fault(
        after(release, "release", one_row_wider), found={"k"}
    ),
    "a row lost": Fault(
        after(release, "release", taking(lambda n: np.arange(1, n))),
        found={"rows", "k", "suppressed_rows"},
    ),
    "a row twice": Fault(
        after(release, "release", taking(lambda n: np.append(np.arange(n), 0))),
        found={"rows", "kept_values", "matched_rows"},
    ),
    "a row twice and another lost": Fault(
        after(release, "release", taking(lambda n: np.maximum(np.arange(n), 1))),
        found={"kept_values", "covered_rows", "matched_rows"},
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", AUDITED.values(), ids=AUDITED)
def test_a_fault_that_no_check_of_the_release_sees_is_found_by_an_audit(con, monkeypatch, fault):
    call = made(con, fault)
    con.execute(f"CREATE TABLE r AS {call}")
    assert fault.failed(con) == set()
    with monkeypatch.context() as patch:
        fault.plant(patch)
        con.execute(f"CREATE OR REPLACE TABLE r AS {call}")
    assert fault.failed(con) == fault.found
