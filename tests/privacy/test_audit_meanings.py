"""The sentence that audit says of each property: what was found, with figures and without values."""

import numpy as np
import pytest

from anon_sql.privacy import VALUE_MODELS
from anon_sql.privacy.k_anonymity import KAnonymity
from tests.privacy.test_audit import PROPERTIES

GIVEN = "quasi := ['age'], sensitive := ['ill'], keep := ['note']"
HELD = {
    "rows": "The release has 12 rows, as many as the raw table.",
    "k": "Every class has at least 3 rows; the smallest has 4.",
    "people": "No identifier has several rows per person, so each row counts as a person; note repeats, but people may share a value.",
    "l": "Every class has at least 3 values of each sensitive column; at least 2 are required.",
    "t": "The largest distance of a class's sensitive values from those of the table is 0.1667; at most 0.5 is allowed.",
    "beta": "The largest relative gain of a sensitive value's share in a class is 0.5; at most 0.6 is allowed.",
    "delta": "The largest |ln(share in a class / share in the table)| of a sensitive value is 0.4055; at most 1 is allowed.",
    "max_share": "The largest share of a sensitive value in a class is 0.5; at most 0.5 is allowed.",
    "suppressed_rows": "No row is suppressed.",
    "kept_values": "No kept value differs from the raw table.",
    "true_labels": "Every released row is true of a raw row with its kept values.",
    "covered_rows": "Every raw row is described by a released row.",
    "matched_rows": "Each released row can be paired with a raw row of its own.",
    "label_spelling": "Every label is written as a release writes it.",
    "added_columns": "The release has no column that the raw table lacks.",
    "identifiers": "The release has no declared identifier.",
    "identifying_columns": "No column without a role has a different value in nearly every row.",
    "row_numbers": "No column numbers the rows.",
    "identifying_combinations": "No row is unique on the kept columns together.",
    "pseudonyms": "No column holds pseudonyms.",
}


@pytest.fixture
def release(con):
    """Twelve rows of three illnesses, in three classes of four."""
    con.execute(
        "CREATE TABLE t AS SELECT 30 + i AS age, ['cold', 'flu', 'gout'][1 + i % 3] AS ill, "
        "i % 2 AS note, 'p' || i AS name FROM range(12) AS made(i)"
    )
    con.execute(
        "CREATE TABLE r AS SELECT ['[30, 33]', '[34, 37]', '[38, 41]'][1 + (age - 30) // 4] AS age, "
        "ill, note FROM t"
    )
    return con


def said(con, given, released="r"):
    """What an audit passes and says, by property."""
    found = con.execute(
        f"SELECT property, passed, meaning FROM audit('t', '{released}', {GIVEN}, {given})"
    ).fetchall()
    return {name: (passed, meaning) for name, passed, meaning in found}


@pytest.mark.quick
def test_what_holds(release):
    limits = "k := 3, l := 2, t := 0.5, beta := 0.6, delta := 1, max_share := 0.5"
    found = said(release, f"{limits}, beta_kind := 'basic', identifiers := ['name']")
    assert {name: meaning for name, (passed, meaning) in found.items() if passed} == HELD
    assert {name: meaning for name, (passed, meaning) in found.items() if not passed} == {
        "wider_labels": "Every label ends at values of the raw table.",
        "unique_range_ends": "6 ends of ranges are values that only one raw row has.",
    }


def test_steps_are_advised_where_values_are_shown_as_they_are(con):
    """Of more than 5 % of the rows; the column r has 5 %."""
    con.execute("CREATE TABLE raw AS SELECT i AS n, i AS p, i // 5 AS q, i AS r, 'x' AS s "
                "FROM range(20) t(i)")  # fmt: skip
    con.execute("CREATE TABLE shown AS SELECT '[0, 19]' AS n, i::VARCHAR AS p, (i // 5)::VARCHAR AS q, "
                "if(i = 3, '3', '[0, 19]') AS r, 'x' AS s FROM range(20) t(i)")  # fmt: skip
    query = ("SELECT meaning, passed FROM audit('raw', '{}', quasi := ['n', 'p', 'q', 'r', 's']) "
             "WHERE property = 'unique_range_ends'")  # fmt: skip
    ((meaning, passed),) = con.execute(query.format("shown")).fetchall()
    ends = "ends of ranges are values that only one raw row has"
    assert meaning == f"25 {ends}; bins would hide values of p, q."
    assert passed is None
    con.execute("UPDATE shown SET p = '[0, 19]', q = '[0, 3]'")
    assert con.execute(query.format("shown")).fetchall() == [(f"7 {ends}.", None)]


LIMITS = {
    "k": ("5", "The smallest class has 4 rows; at least 5 are required."),
    "l": ("4", "A class has only 3 values of a sensitive column; at least 4 are required."),
    "t": ("0.1", HELD["t"].replace("0.5", "0.1")),
    "beta": ("0.4", HELD["beta"].replace("0.6", "0.4")),
    "delta": ("0.3", HELD["delta"].replace("most 1 ", "most 0.3 ")),
    "max_share": ("0.4", HELD["max_share"].replace("most 0.5", "most 0.4")),
}  # fmt: skip


@pytest.mark.parametrize("name", LIMITS)
def test_a_level_that_fails(release, name):
    level, meaning = LIMITS[name]
    assert said(release, f"{name} := {level}, beta_kind := 'basic'")[name] == (False, meaning)


FAULTS = {
    "rows": (
        "DELETE FROM r WHERE age = '[30, 33]'",
        "The release has 8 rows; there must be 12, so 4 are missing.",
    ),
    "rows added": (
        "INSERT INTO r FROM r LIMIT 1",
        "The release has 13 rows; there must be 12, so 1 is too many.",
    ),
    "suppressed_rows": (
        "UPDATE r SET age = '*' WHERE age = '[30, 33]' AND note = 0",
        "2 rows are suppressed; if any are, at least 3 must be.",
    ),
    "suppressed_rows left out": (
        "DELETE FROM r WHERE age = '[30, 33]' AND note = 0",
        "2 rows are suppressed or left out; if any are, at least 3 must be.",
    ),
    "kept_values": (
        "UPDATE r SET note = 7 WHERE age = '[30, 33]'",
        "4 released rows have kept values that no raw row left has.",
    ),
    "kept_values of a column": (
        "ALTER TABLE r DROP COLUMN note",
        "The release lacks 1 column that it had to keep.",
    ),
    "true_labels": (
        "UPDATE r SET age = '[38, 41]' WHERE age = '[30, 33]' AND note = 7",
        "2 released rows are true of no raw row with their kept values.",
    ),
    "covered_rows": (
        "UPDATE r SET age = '[34, 37]' WHERE age = '[30, 33]'",
        "4 raw rows are described by no released row.",
    ),
    "matched_rows": (
        "UPDATE r SET age = '[34, 37]' WHERE age = '[30, 33]'",
        "4 released rows cannot be paired with raw rows of their own.",
    ),
    "label_spelling": (
        "UPDATE r SET age = '[30,33]' WHERE age = '[30, 33]'",
        "1 label is not written as a release writes it.",
    ),
    "added_columns": (
        "ALTER TABLE r ADD COLUMN more INTEGER; ALTER TABLE r ADD COLUMN other INTEGER",
        "The release has 2 columns that the raw table lacks.",
    ),
    "identifiers": (
        "ALTER TABLE r ADD COLUMN name VARCHAR",
        "The release still has 1 declared identifier.",
    ),
    "identifying_columns": (
        "ALTER TABLE r ADD COLUMN more VARCHAR; UPDATE r SET more = 'x' || rowid",
        "1 column without a role has a different value in nearly every row.",
    ),
    "row_numbers": (
        "ALTER TABLE r ADD COLUMN more BIGINT; UPDATE r SET more = rowid",
        "1 column numbers the rows.",
    ),
    "identifying_combinations": (
        "UPDATE r SET note = 7 WHERE rowid = 0",
        "1 of 12 rows is unique on the kept columns together; none may be.",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault(release, fault):
    change, meaning = FAULTS[fault]
    if fault == "true_labels":
        release.execute("UPDATE t SET note = 7 WHERE age IN (30, 31)")
        release.execute("UPDATE r SET note = 7 WHERE rowid IN (0, 1)")
    release.execute(change)
    name = next(name for name in reversed(PROPERTIES) if fault.startswith(name))
    assert said(release, "k := 3, identifiers := ['name']")[name] == (False, meaning)


UNDECIDED = {
    "k": ("", "The smallest class has 4 rows; no k was required."),
    "l": ("", "No l was given, so it was not measured."),
    "identifiers": ("", "No column is declared as an identifier."),
    "rows": ("suppressed := 'drop'", "The release has 11 rows; 1 more is left out, suppressed or lost."),
    "suppressed_rows": ("", "1 row is suppressed or left out; no k was required."),
    "true_labels": ("synthetic := 1", f"{HELD['true_labels'][:-1]}; added rows leave it undecided."),
    "t": ("synthetic := 1, t := 1", "The largest distance of a class's sensitive values from those "
          "of the table is 0.1667; at most 1 is allowed; added rows leave it undecided."),
    "pseudonyms": ("", "1 column holds pseudonyms, by which releases can be joined."),
    "wider_labels": ("", "1 label ends at no value of the raw table, or names one that it lacks."),
}  # fmt: skip


@pytest.mark.parametrize("name", UNDECIDED)
def test_what_is_left_undecided(release, name):
    given, meaning = UNDECIDED[name]
    if name in ("rows", "suppressed_rows"):
        release.execute("DELETE FROM r WHERE rowid = 0")
    if name == "pseudonyms":
        release.execute(
            "ALTER TABLE r ADD COLUMN p VARCHAR; UPDATE r SET p = sha256(note::VARCHAR)"
        )
    if name == "wider_labels":
        release.execute("UPDATE r SET age = '[20, 33]' WHERE age = '[30, 33]'")
    assert said(release, given or "k := NULL")[name] == (None, meaning)


def test_without_rows_or_sensitive_column(release):
    release.execute("CREATE TABLE none AS FROM r LIMIT 0")
    found = said(release, "k := 3, l := 2", "none")
    assert found["k"] == found["l"] == (None, "The release has no rows.")
    release.execute("CREATE TABLE bare AS SELECT age, note FROM r")
    (meaning,) = release.execute(
        "SELECT meaning FROM audit('t', 'bare', l := 1, quasi := ['age']) WHERE property = 'l'"
    ).fetchone()
    assert meaning == "No column is declared as sensitive."


def test_persons(release):
    """Two rows of each person; the release does not say whose its rows are."""
    release.execute("ALTER TABLE t ADD COLUMN who INTEGER; UPDATE t SET who = age // 2")
    found = said(release, "k := 2, entity := 'who'")
    assert found["k"] == (True, "Every class has at least 2 persons; the smallest has 2.")
    found = said(release, "k := 3, entity := 'who'")
    assert found["k"] == (False, "The smallest class has 2 persons; at least 3 are required.")
    release.execute("UPDATE t SET who = if(age < 34, age % 2, age), note = 0, ill = 'flu'")
    release.execute(
        "UPDATE t SET who = 5 WHERE age > 39; UPDATE r SET note = 0, ill = 'flu', age = '[30, 41]'"
    )
    release.execute("DELETE FROM r WHERE rowid > 5")
    found = said(release, "k := 5, entity := 'who', suppressed := 'drop'")
    assert found["k"] == (
        None,
        "The smallest class has at least 3 persons, and may have more; at least 5 are required.",
    )  # fmt: skip


@pytest.mark.quick
@pytest.mark.parametrize("model", VALUE_MODELS)
def test_each_model_says_its_figures(model):
    for level, reached in ((0.5, 0.25), (2, 3), (0.3, 0.3000001)):
        made = model(**{model.name: level})
        passed = not made.fails(np.array([float(reached)]))[0]
        text = made.meaning(float(reached), passed)
        assert text.endswith((" required.", " allowed."))
        if model.name != "l":
            assert f" is {reached:g}; at most {level:g} is allowed." in text or level == 0.3
            assert level != 0.3 or " is 0.3000001; at most 0.3 is allowed." in text


@pytest.mark.quick
def test_one_of_a_thing_and_thousands():
    assert KAnonymity.meaning(1, 1, True, "row") == (
        "Every class has at least 1 row; the smallest has 1."
    )
    assert KAnonymity.meaning(1200, 1199, False, "person") == (
        "The smallest class has 1,199 persons; at least 1,200 are required."
    )
