"""Every fault that is planted in a release of linked tables is refused, or a named property finds it.

Faults of tables are planted between what puts a table together and the check of all of them; what
no fold shows, raw keys and rows of reference tables, the audit finds.
"""

import numpy as np
import pyarrow as pa
import pytest

import anon_sql
from anon_sql import AnonError, datasets
from anon_sql.linked import release
from tests.faults.fault import after

FEWER = "every class of folded records must have at least 5 persons"
ALL = "every row of the plan must be released"


@pytest.fixture
def made(con):
    datasets.hospital(con, 150)
    con.execute(
        "CREATE TABLE clinic (ward VARCHAR PRIMARY KEY, floor INTEGER);"
        "INSERT INTO clinic SELECT DISTINCT ward, 1 FROM visit;"
        "COMMENT ON COLUMN clinic.ward IS 'anon:keep'; COMMENT ON COLUMN clinic.floor IS 'anon:keep'"
    )
    yield con
    con.execute("DROP SCHEMA IF EXISTS safe CASCADE; DROP TABLE clinic")
    for table in reversed(datasets.HOSPITAL):
        con.execute(f"DROP TABLE IF EXISTS {table}")


def released(con, function="release_linked", **settings):
    """Release by a call of Python, or into a plan in SQL."""
    if function == "release_linked":
        return anon_sql.release_linked(con, "person", into="safe", overwrite=True, **settings)
    named = "".join(f", {name} := ${name}" for name in settings)
    return con.execute(
        f"CREATE OR REPLACE TEMP TABLE plan AS FROM linked_plan('person'{named})", settings
    )


def of_table(name, change):
    """Return what plants a change of one table that was put together."""

    def changed(found, asked, schema, plan, node):
        table, shown = found
        return (change(table) if node.name == name else table), shown

    return after(release, "released", changed)


def column(table, name, values):
    return table.set_column(table.column_names.index(name), name, values)


def deleted(table):
    return table.slice(1)


def deleted_person(table):
    """Delete the first person with visits."""
    at = next(at for at, label in enumerate(table.column("visit_rows").to_pylist()) if label != "0")
    return pa.concat_tables([table.slice(0, at), table.slice(at + 1)])


def moved(table):
    """The first visit becomes one of the person of the last."""
    keys = table.column("person_id").to_pylist()
    return column(table, "person_id", pa.array([keys[-1], *keys[1:]]))


def exact(name, value):
    def change(table):
        labels = table.column(name).to_pylist()
        return column(table, name, pa.array([value, *labels[1:]]))

    return change


def twice(table):
    keys = table.column("person_id").to_pylist()
    return column(table, "person_id", pa.array([keys[1], *keys[1:]]))


def orphan(table):
    keys = table.column("person_id").to_pylist()
    return column(table, "person_id", pa.array([-1, *keys[1:]]))


def alike(table):
    return column(table, "code", pa.array(["A11"] * table.num_rows))


REFUSED = {
    "child row deleted, with rows below": (
        "visit",
        deleted,
        "every released row must be below one",
    ),
    "moved to another person": ("visit", moved, FEWER),
    "label made exact": ("visit", exact("visited", "2023-05-05"), FEWER),
    "label of a person made exact": ("person", exact("born", "1950"), FEWER),
    "number of rows made exact": ("person", exact("visit_rows", "1000"), FEWER),
    "person deleted": ("person", deleted_person, "every released row must be below one"),
    "key twice": ("person", twice, "new keys must be different"),
    "orphan": ("visit", orphan, "every released row must be below one"),
    "one value in every slot": ("diagnosis", alike, "must be lacked by at least 1 persons"),
    "row below a kept link deleted": ("diagnosis", deleted, ALL),
}


@pytest.mark.parametrize("function", ["release_linked", "linked_plan"])
def test_a_fault_of_a_table_is_refused_and_nothing_is_written(made, function):
    """One fault after the other, on what was released before the first."""
    released(made, function, k=5, l=2)
    written = "plan" if function == "linked_plan" else "safe.visit"
    before = made.execute(f"FROM {written}").fetchall()
    for name, (table, change, said) in REFUSED.items():
        with pytest.MonkeyPatch.context() as patch:
            of_table(table, change)(patch)
            with pytest.raises(Exception, match=f"{function}: .*{said}") as caught:
                released(made, function, k=5, l=2)
        assert function == "linked_plan" or isinstance(caught.value, AnonError), name
        assert made.execute(f"FROM {written}").fetchall() == before, name
    released(made, function, k=5, l=2)


def failed(con, **settings):
    found = con.execute(
        "SELECT property FROM linked_audit('person', 'safe.person', k := 5, l := 2) "
        "WHERE passed = false"
    )
    return {name for (name,) in found.fetchall()}


def test_raw_keys_that_are_left_are_found(made, monkeypatch):
    monkeypatch.setattr(release, "new_keys", lambda count: np.arange(count) + 1)
    with pytest.raises(AnonError, match=r"no fault .* raw_keys of person.person_id, raw_keys of"):
        released(made, k=5, l=2)


def test_surplus_rows_that_keep_their_values_are_found(made, monkeypatch):
    monkeypatch.setattr(release, "_without", lambda values, gone: values)
    with pytest.raises(AnonError, match=r"no fault .* got unlinked_values of visit"):
        released(made, k=5, l=2, surplus="unlink")


def test_unlinked_rows_of_one_person_are_found(made, monkeypatch):
    """Labels of unlinked rows are made of too few persons where nobody caps their shares."""
    made.execute(
        "INSERT INTO visit SELECT 1000000 + i, (SELECT min(person_id) FROM visit), "
        "DATE '2031-01-01', 'Z', 1 FROM range(60) AS r(i)"
    )
    released(made, k=5, surplus="unlink")
    assert "unlinked_people of visit" not in failed(made)
    monkeypatch.setattr(
        release,
        "unlinked_classes",
        lambda asked, rows, points, surplus: np.where(
            surplus & (rows.person == np.bincount(rows.person).argmax()), 0, -1
        ),
    )
    with pytest.raises(AnonError, match=r"no fault .* got unlinked_people of visit"):
        released(made, k=5, surplus="unlink")


def test_a_child_row_that_is_deleted_is_refused(made, monkeypatch):
    released(made, k=5, leave_out=["diagnosis"])
    of_table("visit", deleted)(monkeypatch)
    with pytest.raises(AnonError, match=f"release_linked: {FEWER}"):
        released(made, k=5, leave_out=["diagnosis"])


def test_a_reference_row_of_one_person_is_found(made):
    made.execute(
        "CREATE VIEW stay AS SELECT visit_id, person_id, visited, ward FROM visit;"
        "CREATE VIEW patient AS SELECT person_id, born, sex FROM person"
    )
    call = {
        "links": ["stay.person_id -> patient.person_id", "stay.ward -> clinic.ward"],
        "identifiers": ["patient.person_id", "stay.visit_id"],
        "quasi": ["patient.born", "patient.sex", "stay.person_id", "stay.visited"],
        "keep": ["stay.ward"],
    }
    named = ", ".join(f"{name} := ${name}" for name in call)
    audit = (
        f"SELECT passed FROM linked_audit('patient', 'safe.patient', k := 5, {named}) "
        "WHERE property = 'reference_rows of clinic'"
    )
    anon_sql.release_linked(made, "patient", into="safe", k=5, **call)
    assert made.execute(audit, call).fetchall() == [(True,)]
    made.execute(
        "INSERT INTO clinic VALUES ('rare', 9);"
        "UPDATE visit SET ward = 'rare' WHERE visit_id = (SELECT min(visit_id) FROM visit)"
    )
    assert made.execute(audit, call).fetchall() == [(False,)]
    with pytest.raises(AnonError, match=r"no fault before .* reference_rows of clinic"):
        anon_sql.release_linked(made, "patient", into="safe", k=5, overwrite=True, **call)
    made.execute("DROP VIEW stay; DROP VIEW patient")
