"""audit's property 'people': identifiers that repeat, counted by hand and by an attack."""

from collections import defaultdict

import pytest

from tests.sentence import fails

QUASI = ("sex", "born", "city")
SAID = f"quasi := {list(QUASI)}, sensitive := 'illness'"


@pytest.fixture
def stays(con):
    """210 stays of 70 patients with three doctors, in streets that patients share; ``stay_id``
    differs in every row, and ``note`` tells the rows of the release."""
    con.execute(
        "CREATE TABLE stays AS SELECT 9000 + i AS stay_id, 100 + i % 70 AS patient_id, "
        "'doc' || i % 3 AS doctor_id, 'Road ' || (i * 5) % 11 AS street, "
        "['f', 'm'][1 + i % 70 % 2] AS sex, 1930 + i % 70 * 7 % 60 AS born, "
        "['Accra', 'Bonn'][1 + i % 70 % 3 % 2] AS city, ['flu', 'gout', 'none'][1 + i % 3] AS illness, "
        "(i * 37 + 11) % 210 AS note FROM range(210) AS made(i)"
    )
    return con


def released(con, k=5, more="", table="stays"):
    rest = "identifiers := ['stay_id', 'patient_id', 'doctor_id', 'street'], keep := ['note']"
    con.execute(
        f"CREATE OR REPLACE TABLE r AS FROM anonymize('{table}', k := {k}, {SAID}, {rest}{more})"
    )


def people(con, more="", table="stays", k=5):
    """(required, found, passed, example, meaning)"""
    (row,) = con.execute(
        f"SELECT required, found, passed, example, meaning FROM audit('{table}', 'r', {k}, {SAID}{more}) "
        "WHERE property = 'people'"
    ).fetchall()
    return row


def counted(con, name, table="stays"):
    """The smallest number of different values in a class: rows are joined back by ``note``, and
    nothing of this package is called."""
    own = dict(con.sql(f"SELECT note, {name} FROM {table}").fetchall())
    classes = defaultdict(set)
    for *labels, note in con.sql(f"SELECT {', '.join(QUASI)}, note FROM r").fetchall():
        classes[tuple(labels)].add(own[note])
    return min(map(len, classes.values()))


@pytest.mark.quick
def test_an_identifier_that_repeats_fails_without_entity_or_unit(stays):
    released(stays)
    assert counted(stays, "patient_id") < 5  # the control: rows are k, people are not
    required, found, passed, example, meaning = people(stays)
    assert (required, found, passed) == (5, counted(stays, "patient_id"), False)
    assert example == "patient_id"
    assert meaning == (
        f"A class may have only {found:.0f} people by patient_id, which repeats; name patient_id as "
        "entity, or state the unit row if each row is a person of its own."
    )
    assert people(stays, ", identifiers := ['patient_id']")[:3] == (5, found, False)


@pytest.mark.quick
def test_a_release_with_entity_holds_k_people_in_every_class(stays):
    for k in (2, 5, 9):
        released(stays, k, ", entity := 'patient_id'")
        assert counted(stays, "patient_id") >= k
        said = people(stays, ", entity := 'patient_id'", k=k)
        assert said[1:3] == (None, True)
        assert said[4] == "The entity is patient_id, so k counts people."


def test_entity_may_be_a_number_of_people_but_not_of_stays(stays):
    released(stays)
    assert people(stays, ", entity := 'stay_id'")[2] is False
    stays.execute("CREATE TABLE one AS FROM stays LIMIT 70")
    released(stays, table="one")
    assert people(stays, ", entity := 'patient_id'", "one")[2] is True
    assert people(stays, "", "one")[2] is True


def test_the_unit_row_passes_and_names_what_repeats(stays):
    released(stays)
    assert people(stays, ", unit := 'row'") == (
        *(5, None, True, "patient_id"),
        "The unit is a row, so k counts rows; patient_id has 70 values in 210 rows.",
    )
    assert fails(stays, f"FROM audit('stays', 'r', 5, {SAID}, unit := 'house')").startswith(
        "audit: unit must be one of 'person', 'row', got 'house'"
    )


def test_a_street_and_a_name_repeat_by_chance(stays):
    stays.execute("ALTER TABLE stays DROP patient_id; ALTER TABLE stays DROP doctor_id")
    stays.execute(
        f"CREATE TABLE r AS FROM anonymize('stays', k := 5, {SAID}, "
        "identifiers := ['stay_id', 'street'], keep := ['note'])"
    )
    assert counted(stays, "street") < 5
    said = people(stays, ", identifiers := ['stay_id', 'street']")
    assert said[1:4] == (None, True, None)
    assert said[4].endswith(
        "so each row counts as a person; street repeats, but people may share a value."
    )


def test_a_name_counts_if_its_rows_are_alike(stays):
    """Each name has one sex, year and city, as one patient has."""
    stays.execute(
        "ALTER TABLE stays ADD name VARCHAR; UPDATE stays SET name = 'Ms ' || patient_id; "
        "ALTER TABLE stays DROP patient_id; ALTER TABLE stays DROP doctor_id"
    )
    stays.execute(
        f"CREATE TABLE r AS FROM anonymize('stays', k := 5, {SAID}, "
        "identifiers := ['stay_id', 'street', 'name'], keep := ['note'])"
    )
    assert people(stays)[1:4] == (counted(stays, "name"), False, "name")


def test_a_number_of_people_that_is_unique_makes_rows_people(stays):
    """The e-mail addresses of families repeat, and nobody else's does."""
    stays.execute("CREATE TABLE one AS FROM stays LIMIT 70")
    stays.execute("ALTER TABLE one ADD mail VARCHAR; UPDATE one SET mail = note % 9 || '@home.org'")
    released(stays, table="one", more=", exclude := ['mail']")
    said = people(stays, table="one")
    assert said[1:3] == (None, True)
    assert "mail" in said[4]
    stays.execute("ALTER TABLE one DROP patient_id; ALTER TABLE one DROP doctor_id")
    assert people(stays, table="one")[1:4] == (counted(stays, "mail", "one"), False, "mail")


def test_null_is_one_person(stays):
    stays.execute("UPDATE stays SET patient_id = NULL WHERE patient_id < 130")
    released(stays, more=", entity := 'patient_id'")
    found = people(stays)[1]
    assert 5 <= found == counted(stays, "patient_id")
    released(stays)
    assert people(stays)[1:3] == (counted(stays, "patient_id"), False)


def test_values_that_differ_wherever_they_are_known_do_not_repeat(stays):
    stays.execute("CREATE TABLE one AS FROM stays LIMIT 70")
    stays.execute("UPDATE one SET patient_id = NULL WHERE patient_id < 120")
    stays.execute("ALTER TABLE one DROP doctor_id")
    stays.execute(
        f"CREATE TABLE r AS FROM anonymize('one', k := 5, {SAID}, "
        "identifiers := ['stay_id', 'patient_id', 'street'], keep := ['note'])"
    )
    assert people(stays, table="one")[1:3] == (None, True)


def test_a_kept_pseudonym_is_counted_as_it_is_shown(stays):
    stays.execute(
        "UPDATE stays SET note = patient_id; ALTER TABLE stays RENAME note TO person_code"
    )
    stays.execute(
        f"CREATE TABLE r AS FROM anonymize('stays', k := 5, {SAID}, keep := ['person_code'], "
        "identifiers := ['stay_id', 'patient_id', 'doctor_id', 'street'])"
    )
    ((least,),) = stays.execute(
        "SELECT min(n) FROM (SELECT count(DISTINCT person_code) AS n FROM r GROUP BY sex, born, city)"
    ).fetchall()
    assert people(stays)[1:3] == (least, least >= 5)


def test_without_k_people_are_counted_and_nothing_is_required(stays):
    released(stays)
    assert people(stays, k="NULL")[:3] == (None, counted(stays, "patient_id"), None)


def test_names_that_quote(stays):
    stays.execute('ALTER TABLE stays RENAME patient_id TO "patient ""id; --"')
    stays.execute(
        f"CREATE TABLE r AS FROM anonymize('stays', k := 5, {SAID}, keep := ['note'], "
        "identifiers := ['stay_id', 'patient \"id; --', 'doctor_id', 'street'])"
    )
    assert people(stays)[2:4] == (False, 'patient "id; --')
