"""l of linked tables against an attacker who knows that slots are left out where l would break.

The attacker reads released tables alone, in plain Python. `visit_rows` of a class tells the least
number of visits of its people, so fewer shown visits mean that slots were left out.
"""

from collections import Counter, defaultdict

import pytest

import anon_sql
from anon_sql import AnonError
from tests.linked.folded import hospital, rows

SEEDS = range(2)


def few_codes(con, share=0.75):
    """Let most diagnoses have one of three codes, so that many slots would break l = 2."""
    con.execute(
        f"UPDATE diagnosis SET code = CASE WHEN hash(visit_id) % 100 < {100 * share} THEN 'A' "
        "ELSE left(code, 1) END"
    )


def least_number(label):
    """Return the low end of a range of numbers as a release prints it."""
    return int(str(label).strip("[]").split(",")[0])


def classes_with_fewer_slots(folded):
    """Return the classes that show fewer visits per person than each of their people has."""
    found = []
    for people in folded.classes():
        shown = {len(folded.children("person", person, "visit")) for person in people}
        assert len(shown) == 1
        if shown.pop() < least_number(people[0]["visit_rows"]):
            found.append(people)
    return found


def guessed(folded):
    """Return the guesses about the last person of a class: who, and the value all others have."""
    guesses = []
    for people in classes_with_fewer_slots(folded):
        held = defaultdict(set)
        for at, person in enumerate(people):
            for visit in folded.children("person", person, "visit"):
                for each in folded.children("visit", visit, "diagnosis"):
                    held[each["code"]].add(at)
        nearly = [code for code, who in held.items() if len(who) == len(people) - 1]
        if len(nearly) == 1:
            (last,) = set(range(len(people))) - held[nearly[0]]
            guesses.append((people[last], nearly[0]))
    return guesses


@pytest.mark.parametrize("seed", SEEDS)
def test_a_class_shows_as_many_slots_as_its_person_with_fewest_rows_has(hospital_of, seed):
    con = hospital_of(200)
    few_codes(con)
    anon_sql.release_linked(con, "person", k=5, l=2, into="safe", seed=seed)
    folded = hospital(con)
    assert classes_with_fewer_slots(folded) == guessed(folded) == []
    assert folded.smallest() >= 5
    assert min(folded.least_l("diagnosis", "code")) >= 2
    found = con.execute("FROM linked_audit('person', 'safe.person', k := 5, l := 2)").fetchall()
    assert not [row for row in found if row[3] is False]


def test_the_attack_finds_slots_that_were_left_out(hospital_of):
    """The control: slots in which all people of a class share a code are taken out of a release."""
    con = hospital_of(200)
    few_codes(con)
    anon_sql.release_linked(con, "person", k=5, l=1, into="safe")
    folded = hospital(con)
    values = defaultdict(lambda: defaultdict(set))
    visits = defaultdict(set)
    for _, person, slot, row in folded.slots("diagnosis", None):
        values[slot][row["code"]].add(person)
        visits[slot].add(row["visit_id"])
    sizes = Counter(folded.records)
    gone = {
        visit
        for slot, codes in values.items()
        if max(map(len, codes.values())) == sizes[slot[0]]
        for visit in visits[slot]
    }
    assert gone
    con.execute("DELETE FROM safe.diagnosis WHERE list_contains(?, visit_id)", [list(gone)])
    con.execute("DELETE FROM safe.visit WHERE list_contains(?, visit_id)", [list(gone)])
    assert classes_with_fewer_slots(hospital(con))


def test_null_is_not_a_value_for_l(hospital_of):
    """Classes whose only known code is one value must not pass l = 2."""
    con = hospital_of(200)
    con.execute("UPDATE diagnosis SET code = CASE WHEN hash(visit_id) % 2 = 0 THEN 'hiv' END")
    con.execute("UPDATE diagnosis SET code = 'flu' WHERE hash(visit_id) % 40 = 0")
    anon_sql.release_linked(con, "person", k=5, l=2, into="safe")
    known = defaultdict(set)
    for _, _, slot, row in hospital(con).slots("diagnosis", None):
        known[slot] |= {row["code"]} - {None}
    assert min(map(len, known.values())) >= 2
    con.execute("UPDATE safe.diagnosis SET code = NULL WHERE code = 'flu'")
    found = con.execute("FROM linked_audit('person', 'safe.person', k := 5, l := 2)").fetchall()
    assert [row[0] for row in found if row[3] is False and row[0].startswith("l of")]


def test_a_column_with_one_known_value_is_refused(hospital_of):
    con = hospital_of(100)
    con.execute("UPDATE diagnosis SET code = CASE WHEN hash(visit_id) % 2 = 0 THEN 'hiv' END")
    with pytest.raises(AnonError, match="must have at least 2 values in the whole table, got 1"):
        anon_sql.release_linked(con, "person", k=5, l=2, into="safe")
    assert not rows(con, "duckdb_schemas() WHERE schema_name = 'safe'")
