"""Every fault that is planted in a release of a frame is refused, or a named property finds it."""

from dataclasses import replace

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from anon_sql import AnonError, frames
from anon_sql.hosts.arrow import release
from anon_sql.hosts.arrow.frame import Frame
from anon_sql.hosts.frames import kinds
from tests.faults.fault import CITIES, HIERARCHY, TABLE, Fault, after
from tests.faults.steps import (
    CHECKED,
    IN_RULES,
    STEPS,
    in_source_order,
    labels_exchanged,
    moved,
    named_otherwise,
    one_row_wider,
    shifted,
    taking,
)

KINDS = {
    "PyArrow": (lambda con: con.sql("FROM t").to_arrow_table(), Frame),
    "pandas": (lambda con: con.sql("FROM t").df(), kinds.PandasFrame),
    "Polars": (lambda con: con.sql("FROM t").pl(), kinds.PolarsFrame),
    "DuckDB": (lambda con: con.sql("FROM t"), Frame),
}
# No other host decides what is released once more: SQL picks the columns while it binds.
BY_AUDIT = "an identifier left in"


@pytest.fixture
def made(con):
    con.execute(f"{TABLE}; {HIERARCHY}; {CITIES}")
    return con


def released(con, fault, data=None):
    """Return the release that the fault is planted in."""
    call = getattr(frames, fault.method)
    given = con.sql("FROM t").to_arrow_table() if data is None else data
    return call(given, **fault.arguments, connection=con)


def earlier(con, fault):
    """Make the release ``r0`` if the call follows it."""
    if "like" in fault.arguments:
        own = replace(fault, call={n: v for n, v in fault.call.items() if n != "like"})
        con.register("r0", released(con, own))


def refusal(con, fault, data=None):
    with pytest.raises(AnonError) as caught:
        released(con, fault, data)
    return str(caught.value)


@pytest.mark.parametrize("name", [name for name in STEPS if name != BY_AUDIT])
def test_a_fault_of_a_step_is_refused(made, monkeypatch, name):
    fault = STEPS[name]
    earlier(made, fault)
    released(made, fault)
    fault.plant(monkeypatch)
    assert fault.refused in refusal(made, fault)


def changed(change):
    """Return a change of an assembled frame: of its columns by name, as PyArrow arrays."""

    def change_of(frame, *_):
        if isinstance(frame, pl.DataFrame):
            return pl.from_arrow(change(frame.to_arrow()))
        if isinstance(frame, pa.Table):
            return change(frame)
        table = pa.Table.from_pandas(frame, preserve_index=False)
        return change(table).to_pandas()

    return change_of


def column(name, rows):
    """Return a change of a table: one of its columns has other rows of its own."""

    def change(table):
        at = table.column_names.index(name)
        values = table[name].combine_chunks().take(pa.array(rows(table.num_rows)))
        return table.set_column(at, name, values)

    return changed(change)


def rows(which):
    return changed(lambda table: table.take(pa.array(which(table.num_rows))))


def exchanged(table):
    """Exchange the names of two columns of labels."""
    names = {"age": "city", "city": "age"}
    return table.rename_columns([names.get(name, name) for name in table.column_names])


def labels_and_values(table):
    """Put the columns in another order."""
    return table.select([*table.column_names[1:], table.column_names[0]])


def first_of_second(n):
    return np.concatenate([[n - 1], np.arange(1, n)])


ASSEMBLED = {
    "kept values shifted by a row": column("weight", lambda n: np.roll(np.arange(n), 1)),
    "two kept values exchanged": column("illness", lambda n: np.r_[n - 1, 1 : n - 1, 0]),
    "labels shifted by a row": column("age", lambda n: np.roll(np.arange(n), 1)),
    "a row beside the labels of another class": column("born", first_of_second),
    "a row lost": rows(lambda n: np.arange(n - 1)),
    "a row twice": rows(lambda n: np.r_[0:n, n - 1]),
    "a row twice and another lost": rows(lambda n: np.maximum(np.arange(n), 1)),
    "rows in another order": rows(lambda n: np.arange(n)[::-1]),
    "columns in another order": changed(labels_and_values),
    "labels under the name of another column": changed(exchanged),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_fault_of_the_frame_that_is_put_together_is_refused(made, kind):
    make, room = KINDS[kind]
    data = make(made)
    released(made, Fault(lambda patch: None), data)
    for name, change in ASSEMBLED.items():
        fault = Fault(after(room, "assembled", only_rows(change)), CHECKED)
        with pytest.MonkeyPatch.context() as patch:
            fault.plant(patch)
            assert fault.refused in refusal(made, fault, data), name


def only_rows(change):
    """Return a change of the released rows alone, not of the labels of the classes."""
    return lambda frame, of, own, positions, *rest: change(frame) if positions else frame


TEXT = "one row of a class printed with a wider label"
AFTER_THE_CHECK = {
    "two labels exchanged": labels_exchanged,
    "labels of another column": named_otherwise,
    "kept values shifted by a row": shifted,
    "a row in another class": moved,
    TEXT: one_row_wider,
    "a row lost": taking(lambda n: np.arange(1, n)),
    "a row twice": taking(lambda n: np.append(np.arange(n), 0)),
    "a row twice and another lost": taking(lambda n: np.maximum(np.arange(n), 1)),
    "the order of the source": in_source_order,
    "no check": lambda found, *_: replace(found, checked=None),
}


FORMATS = ("typed", "mean", "median", "midpoint")


@pytest.mark.parametrize(
    ("name", "form"),
    [
        (name, form)
        for at, name in enumerate(AFTER_THE_CHECK)
        for form in ("label", FORMATS[at % 4])
        if name != TEXT or form == "label"
    ],
)
def test_a_fault_between_the_check_and_the_frame_is_refused(made, monkeypatch, name, form):
    plant = after(release, "release", AFTER_THE_CHECK[name])
    fault = Fault(plant, CHECKED, call={"format": form})
    fault.plant(monkeypatch)
    assert fault.refused in refusal(made, fault)


def next_row(found, *_):
    """Hand over the quasi-identifiers of the next row."""
    quasi = {
        name: own.take(pa.array(np.roll(np.arange(len(own)), 1)))
        for name, own in found.quasi.items()
    }
    return replace(found, quasi=quasi)


# What goes wrong in a rule goes wrong in the check of the release too.
AUDITED = {
    BY_AUDIT: Fault(STEPS[BY_AUDIT].plant, found={"identifiers", "row_numbers"}),
    **IN_RULES,
    "quasi-identifiers of the next row handed over": Fault(
        after(release._FrameRows, "source", next_row),
        found={"true_labels", "covered_rows", "matched_rows"},
    ),
}


@pytest.mark.parametrize("fault", AUDITED.values(), ids=AUDITED)
def test_a_fault_that_no_check_of_the_release_sees_is_found_by_an_audit(made, monkeypatch, fault):
    made.register("r", released(made, fault))
    assert fault.failed(made) == set()
    made.unregister("r")
    with monkeypatch.context() as patch:
        fault.plant(patch)
        made.register("r", released(made, fault))
    assert fault.failed(made) == fault.found
