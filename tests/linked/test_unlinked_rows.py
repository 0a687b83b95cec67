"""Unlinked rows are of k persons, and bring nobody nearer to a person's record.

The persons behind them are counted in plain Python. The attack by recurring codes knows every visit
of everybody, and looks for codes that a record shares with the unlinked rows of a person.
"""

import random
from collections import Counter, defaultdict

import pytest

import anon_sql
from anon_sql.hosts import linked as hosts_linked
from anon_sql.linked import release
from tests.inserting import insert
from tests.linked.folded import rows

K = 5
WARDS = ["a", "b", "c"]


@pytest.fixture
def tail(con):
    """Persons with a long tail of visits, most of them with one code that few others have."""
    drawn = random.Random(3)
    con.execute(
        "CREATE TABLE person (id INTEGER PRIMARY KEY, born INTEGER, mark INTEGER);"
        "CREATE TABLE visit (id INTEGER REFERENCES person (id), day INTEGER, ward VARCHAR, "
        "code VARCHAR)"
    )
    persons, visits = [], []
    for person in range(300):
        persons.append((person, 1940 + drawn.randrange(60), person))
        own = f"own{drawn.randrange(150)}"
        for _ in range(min(80, int(drawn.paretovariate(0.9)))):
            code = own if drawn.random() < 0.8 else f"any{drawn.randrange(10)}"
            visits.append((person, drawn.randrange(365), drawn.choice(WARDS), code))
    insert(con, "person", persons)
    insert(con, "visit", visits)
    anon_sql.declare(con, "person", identifier=["id"], quasi=["born"], keep=["mark"])
    anon_sql.declare(con, "visit", quasi=["id", "day", "ward"], sensitive=["code"])
    yield con
    con.execute("DROP SCHEMA IF EXISTS safe CASCADE; DROP TABLE visit; DROP TABLE person")


def released(con, surplus):
    """Release, and return persons, linked visits by key, and unlinked visits."""
    anon_sql.release_linked(
        con, "person", into="safe", k=K, surplus=surplus, format="typed", overwrite=True
    )
    linked, unlinked = defaultdict(list), []
    for visit in rows(con, "safe.visit"):
        (unlinked if visit["id"] is None else linked[visit["id"]]).append(visit)
    return rows(con, "safe.person"), linked, unlinked


def covers(label, visit):
    """Whether the labels of a released visit cover a raw one."""
    return (
        label["day"]["min"] <= visit["day"] <= label["day"]["max"]
        and visit["ward"] in label["ward"]
    )


def found_by_codes(con, surplus):
    """The share of persons whose record an attacker picks who knows their class and all visits."""
    persons, linked, unlinked = released(con, surplus)
    raw = defaultdict(list)
    for visit in rows(con, "visit"):
        raw[visit["id"]].append(visit)
    holders = Counter()
    for record in linked.values():
        holders.update({visit["code"] for visit in record})
    classes = defaultdict(list)
    for person in persons:
        fold = sorted(str((v["day"], v["ward"])) for v in linked[person["id"]])
        classes[str((person["born"], person["visit_rows"], fold))].append(person)
    hits = tried = 0.0
    for members in classes.values():
        for target in members:  # mark tells which raw person a record is
            seen = Counter(
                each["code"]
                for each in unlinked
                if any(covers(each, visit) for visit in raw[target["mark"]])
            )
            if sum(len(linked[each["id"]]) for each in members) == 0 or len(
                raw[target["mark"]]
            ) == len(linked[target["id"]]):
                continue
            scores = [
                sum(seen[code] / holders[code] for code in {v["code"] for v in linked[each["id"]]})
                for each in members
            ]
            best = [at for at, score in enumerate(scores) if score == max(scores)]
            tried += 1
            hits += (members.index(target) in best) / len(best)
    return hits / tried


def test_unlinked_rows_are_of_k_persons_with_equal_shares_at_most(tail):
    _, _, unlinked = released(tail, "unlink")
    sets = Counter(str((visit["day"], visit["ward"])) for visit in unlinked)
    assert len(unlinked) > 50
    raw = rows(tail, "visit")
    least = []
    for label, n in sets.items():
        one = next(v for v in unlinked if str((v["day"], v["ward"])) == label)
        held = Counter(visit["id"] for visit in raw if covers(one, visit))
        least.append(
            max(j for j in range(1, n + 1) if sum(min(m, n // j) for m in held.values()) >= n)
        )
    assert min(least) >= K
    ((found,),) = tail.execute(
        "SELECT found FROM linked_audit('person', 'safe.person', k := 5) "
        "WHERE property = 'unlinked_people of visit'"
    ).fetchall()
    assert found == min(least)


def test_too_few_persons_behind_equal_labels_are_found(tail):
    released(tail, "drop")
    tail.execute(
        "INSERT INTO safe.visit SELECT NULL, {'min': 400, 'max': 400}, ['z'], NULL FROM range(6)"
    )
    for visits, found in (
        ([(7, 6)], 1),  # all rows of one person
        ([(7, 9), (8, 1), (9, 1), (10, 1), (11, 1)], 3),  # five persons, one with most rows
        ([(7, 1), (8, 1), (9, 1), (10, 1), (11, 1), (12, 1)], 6),
    ):
        for person, many in visits:
            tail.execute(f"INSERT INTO visit SELECT {person}, 400, 'z', 'x' FROM range({many})")
        require_people(tail, found)
        tail.execute("DELETE FROM visit WHERE ward = 'z'")


def require_people(tail, found):
    """Require that the audit counts so many people behind the unlinked rows."""
    said = {
        row[0]: row[1:]
        for row in tail.execute(
            "SELECT property, found, passed FROM linked_audit('person', 'safe.person', k := 5) "
            "WHERE contains(property, 'unlinked')"
        ).fetchall()
    }
    assert said["unlinked_labels of visit"] == (6, True)
    assert said["unlinked_people of visit"] == (found, found >= 5)


@pytest.mark.slow
def test_recurring_codes_find_no_more_than_without_unlinked_rows(tail, monkeypatch):
    alone = found_by_codes(tail, "drop")
    beside = found_by_codes(tail, "unlink")
    assert beside == pytest.approx(alone, abs=0.02)
    monkeypatch.setattr(release, "_without", lambda values, gone: values)
    monkeypatch.setattr(hosts_linked, "_audited", lambda con, audit: [])  # which refuses it
    assert found_by_codes(tail, "unlink") > 1.4 * alone  # the attack works where codes stay
