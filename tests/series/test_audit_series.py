"""audit with series: planted faults, and a check in plain Python that shares no code with it."""

import random
from collections import Counter, defaultdict
from dataclasses import dataclass

import pyarrow as pa
import pytest

from anon_sql.core.pseudonyms import person_hashes
from anon_sql.series.state import series_key
from tests.sentence import fails
from tests.series.months import KEY, ROLES, make_month, released, status, step

OWN = ("series", "cohort_l", "waiting_rows", "former_rows")
COVERS = (
    "anon_min(r.age)::INTEGER <= p.age AND p.age <= anon_max(r.age)::INTEGER "
    "AND list_contains(anon_values(r.city), p.city)"
)


def audited(con, file="june", k=5, more=""):
    call = f"FROM audit('people', '{file}', {k}, series := 'anon_series', {ROLES}{more})"
    found = con.execute(f"SELECT property, found, passed, meaning, example {call}").fetchall()
    assert len({name for name, *_ in found}) == len(found)
    return {name: tuple(rest) for name, *rest in found}


def month(con, first, end, seed):
    """Make ``people``, of whom so many have the flu that some wait where l is 3."""
    make_month(con, first, end, seed=seed)
    con.execute("UPDATE people SET illness = 'flu' WHERE person % 4 = 0")


def two_months(con, l=3, seed=1):  # noqa: E741
    """Make ``may`` and ``june`` of a series in which persons wait, have left and have come."""
    month(con, 0, 300, seed)
    step(con, l)
    con.execute(f"CREATE TABLE may AS FROM {released()}")
    con.execute("CREATE TABLE may_series AS FROM anon_series")
    month(con, 90, 330, seed)
    step(con)
    con.execute(f"CREATE TABLE june AS FROM {released()}")


@dataclass
class Plain:
    """people: tuple of each person; cohort, waits_for: of each person; cohorts: their tuples, of
    cohorts with somebody present; covers: persons covered by each class; rows: of each class."""

    people: dict
    cohort: dict
    waits_for: dict
    cohorts: dict
    covers: dict
    rows: dict

    def found(self, k, l):  # noqa: E741
        """Return what the four properties must find."""
        held, shown = Counter(), Counter()
        for own in self.cohorts.values():
            held.update(own)
        for own in self.rows.values():
            shown.update(own)
        surplus = shown - held
        whole = {}
        for at, rows in self.rows.items():
            whole[at] = {
                c
                for c, own in self.cohorts.items()
                if self.inside(c, at) and all(rows[one] for one in own)
            }
        excess = Counter()
        for at, rows in self.rows.items():
            for one, many in rows.items():
                could = sum(one in self.cohorts[c] for c in whole[at])
                excess[one] += max(many - could, 0)
        other = sum(max(excess[one], shown[one] - held[one], 0) for one in {*shown, *held})
        unfit = len(self.cohorts) - len(set().union(*whole.values()))
        lacking = max(unfit, *(held - shown).values(), 0)
        thin = sum(
            sum(self.cohort.get(p) in whole[at] for p in self.people) < k for at in self.rows
        )
        below = 0
        for c, own in self.cohorts.items():
            best = max(
                len({one[0] for one in own if rows[one]}) if self.inside(c, at) else 0
                for at, rows in self.rows.items()
            )
            below += sum(of == c for of in self.cohort.values()) if best < l else 0
        alone = Counter(
            own
            for p, own in self.people.items()
            if p not in self.cohort
            and any(p in self.covers[at] and rows[own] for at, rows in self.rows.items())
        )
        theirs = sum(min(many, alone[one]) for one, many in surplus.items())
        persons = len(self.cohort)
        return {
            "series": other + lacking + thin,
            "cohort_l": below / persons,
            "waiting_rows": theirs,
            "former_rows": sum(surplus.values()) - theirs,
        }

    def inside(self, cohort, at):
        """Return whether a class covers the members of a cohort, and who waits for it."""
        return all(
            p in self.covers[at]
            for p in self.people
            if cohort in (self.cohort.get(p), self.waits_for.get(p))
        )


def plain(con, file="june"):
    """Read ``people``, the state and a file; no value of a person has changed since entry."""
    people = {
        p: (i, str(w).lower())
        for p, i, w in con.execute("SELECT person, illness, ward FROM people").fetchall()
    }
    texts = pa.array([str(p) for p in people])
    hashes = person_hashes(texts, "BIGINT", series_key(KEY.encode()))
    who = {one.as_py().hex(): p for p, one in zip(people, hashes, strict=True)}
    state = con.execute("FROM anon_series WHERE cohort IS NOT NULL").fetchall()
    cohort = {who[p]: c for c, p, t in state if p in who and t is not None}
    waits_for = {who[p]: c for c, p, t in state if p in who and t is None and c}
    tuples = con.execute(
        "SELECT cohort, tuple::JSON ->> 'illness', tuple::JSON ->> 'ward' FROM anon_series "
        "WHERE cohort IS NOT NULL AND person IS NULL"
    ).fetchall()
    cohorts = defaultdict(list)
    for c, *own in tuples:
        if c in cohort.values():
            cohorts[c].append(tuple(own))
    rows = defaultdict(Counter)
    for age, city, illness, ward in con.execute(
        f"SELECT age, city, illness, ward FROM {file}"
    ).fetchall():
        rows[age, city][illness, str(ward).lower()] += 1
    covers = defaultdict(set)
    for age, city, p in con.execute(
        f"SELECT DISTINCT r.age, r.city, p.person FROM {file} r JOIN people p ON {COVERS}"
    ).fetchall():
        covers[age, city].add(p)
    return Plain(people, cohort, waits_for, cohorts, covers, rows)


def agrees(con, k=5, l=3):  # noqa: E741
    """Return what audit finds; it is what the plain check finds."""
    found = audited(con, k=k)
    assert {name: found[name][0] for name in OWN} == pytest.approx(plain(con).found(k, l))
    assert all(found[name][1] == (found[name][0] == 0) for name in OWN)
    return found


@pytest.mark.parametrize("l", [2, 3])
def test_a_release_of_a_series_passes(con, l):  # noqa: E741
    two_months(con, l)
    figures = status(con)
    found = agrees(con, l=l)
    assert all(found[name][:2] == (0, True) for name in OWN)
    assert f"{figures['cohorts']} cohorts" in found["series"][2]
    assert found["waiting_rows"][2].startswith(f"{figures['waiting']} person")
    assert found["former_rows"][2].startswith(f"{figures['former']} rows of former members")
    assert f"each of {figures['present']} persons" in found["cohort_l"][2]
    assert all(passed is not False for _, passed, *_ in found.values())
    assert figures["former"] > 0


def test_fewer_than_k_who_wait_are_no_class(con):
    make_month(con, 0, 200)
    con.execute("UPDATE people SET illness = 'flu' WHERE person < 40")
    step(con, 3)
    con.execute(f"CREATE TABLE june AS FROM {released(20)}")
    assert 0 < status(con)["waiting"] < 20
    found = audited(con, k=20)
    assert found["k"][1] is found["suppressed_rows"][1] is True
    assert all(passed is not False for _, passed, *_ in found.values())


def test_companions_stand_once_beside_earlier_releases(con):
    two_months(con)
    found = audited(con, more=", previous := 'may'")
    assert found["cohort_l"][:2] == (0, True)
    assert found["joined"][1] is True
    alone = con.execute(
        f"SELECT passed FROM audit('people', 'june', 5, previous := 'may', "
        f"{ROLES.partition(', key')[0]}) WHERE property = 'cohort_l'"
    )
    assert alone.fetchall() == [(None,)]


def test_a_row_of_a_person_who_waits(con):
    two_months(con)
    known = plain(con)
    waiting = set(known.people) - set(known.cohort)
    person, at = next((p, at) for at, own in known.covers.items() for p in waiting & own)
    illness, ward = known.people[person]
    con.execute("INSERT INTO june VALUES (?, ?, ?, ?)", [*at, illness, ward])
    found = agrees(con)
    assert found["waiting_rows"][:2] == (1, False)
    assert found["waiting_rows"][2].endswith("; 1 row can only be theirs.")
    assert found["former_rows"][1] is True
    assert found["series"][1] is False


def once(con):
    """Return a class and a tuple that it shows once."""
    return con.execute(
        "SELECT age, city, illness, ward FROM june GROUP BY ALL HAVING count(*) = 1 "
        "ORDER BY ALL LIMIT 1"
    ).fetchone()


SAME = "age = ? AND city = ? AND illness = ? AND ward = ?"


def test_a_missing_member_of_a_cohort(con):
    two_months(con)
    con.execute(f"DELETE FROM june WHERE {SAME}", once(con))
    found = agrees(con)
    assert found["series"][1] is False
    assert "cannot be whole in a class" in found["series"][2]
    assert found["cohort_l"][1] is False
    assert found["former_rows"][1] is found["waiting_rows"][1] is True


def test_a_changed_tuple(con):
    two_months(con)
    con.execute(f"UPDATE june SET illness = 'new' WHERE {SAME}", once(con))
    found = agrees(con)
    assert found["series"][1] is False
    assert found["former_rows"][:2] == (1, False)
    assert "new" not in "".join(found["series"][2:3])


def test_a_former_row_of_a_cohort_that_has_left(con):
    two_months(con)
    gone = con.execute(
        "SELECT tuple::JSON ->> 'illness', (tuple::JSON ->> 'ward')::BOOLEAN FROM may_series "
        "WHERE person IS NULL AND cohort NOT IN (SELECT cohort FROM anon_series WHERE cohort > 0)"
    ).fetchall()
    known = plain(con)
    waiting = {known.people[p] for p in set(known.people) - set(known.cohort)}
    illness, ward = next(own for own in gone if (own[0], str(own[1]).lower()) not in waiting)
    con.execute("INSERT INTO june SELECT age, city, ?, ? FROM june LIMIT 1", [illness, ward])
    found = agrees(con)
    assert found["former_rows"][:2] == (1, False)
    assert found["former_rows"][2].endswith("; 1 more row fits no person.")
    assert found["waiting_rows"][1] is True


@pytest.mark.parametrize("seed", range(6))
def test_random_faults_as_without_the_audit(con, seed):
    """Rows are removed, repeated, moved to other classes and changed; labels are narrowed."""
    draw = random.Random(seed)
    l, k = draw.choice([2, 3]), draw.choice([4, 5, 7])  # noqa: E741
    two_months(con, l, seed)
    con.execute("ALTER TABLE june ADD COLUMN number BIGINT")
    con.execute("UPDATE june SET number = rowid")
    for _ in range(draw.randint(1, 4)):
        row, other = draw.sample(range(200), 2)
        con.execute(
            draw.choice(
                [
                    f"DELETE FROM june WHERE number = {row}",
                    f"INSERT INTO june SELECT * FROM june WHERE number = {row}",
                    f"UPDATE june SET illness = 'flu' WHERE number = {row}",
                    "UPDATE june SET (age, city) = (SELECT (age, city) FROM june AS o WHERE "
                    f"o.number = {other} LIMIT 1) WHERE number = {row}",
                    "UPDATE june SET age = '[30, 40]' WHERE (age, city) = (SELECT (age, city) "
                    f"FROM june AS o WHERE o.number = {row} LIMIT 1)",
                ]
            ).replace(
                "(age, city) = (SELECT (age, city) FROM june AS o WHERE "
                f"o.number = {other} LIMIT 1)",
                f"age = (SELECT any_value(age) FROM june AS o WHERE o.number = {other}), "
                f"city = (SELECT any_value(city) FROM june AS o WHERE o.number = {other})",
            )
        )
    con.execute("ALTER TABLE june DROP COLUMN number")
    agrees(con, k, l)


def test_an_older_file_is_not_the_one_of_the_state(con):
    two_months(con)
    assert audited(con, "may")["series"][1] is False


def test_columns_of_other_types_are_left_undecided(con):
    two_months(con)
    con.execute("ALTER TABLE june ALTER ward TYPE VARCHAR")
    assert audited(con)["series"][1] is True
    con.execute("UPDATE june SET ward = upper(ward)")
    found = audited(con)
    assert all(found[name][:2] == (None, None) for name in OWN)
    assert found["series"][3] == "ward"


@pytest.mark.parametrize(
    ("change", "key", "says"),
    [
        ("DELETE FROM people WHERE person = 100", KEY, "call series_next first"),
        ("SELECT 1", "another key 1234", "key must be the one that the series began with"),
        ("DELETE FROM people", KEY, "a table must have persons"),
        ("DELETE FROM anon_series", KEY, "must be a state that series_next has made"),
        ("ALTER TABLE june DROP COLUMN city", KEY, "city"),
    ],
)
def test_what_is_refused(con, change, key, says):
    two_months(con)
    con.execute(change)
    call = f"FROM audit('people', 'june', 5, series := 'anon_series', {ROLES.replace(KEY, key)})"
    assert says in fails(con, call)


def test_hostile_names_and_typed_labels(con):
    make_month(con, 0, 100)
    names = {"illness": "a\"'. $[0]", "ward": "__x", "person": "cohort", "age": "tuple"}
    for old, new in names.items():
        quoted = new.replace('"', '""')
        con.execute(f'ALTER TABLE people RENAME {old} TO "{quoted}"')
    given = {"quasi": ["tuple", "city"], "sensitive": names["illness"], "keep": "__x"}
    given |= {"entity": "cohort", "key": KEY}
    roles = ", ".join(f"{name} := ${name}" for name in given)
    con.execute(f"CREATE TABLE s AS FROM series_next('people', NULL, l := 2, {roles})", given)
    con.execute(
        f"CREATE TABLE made AS FROM anonymize('people', k := 5, series := 's', format := 'typed', "
        f"{roles})",
        given,
    )
    found = con.execute(
        f"SELECT property, passed FROM audit('people', 'made', 5, series := 's', {roles})", given
    ).fetchall()
    assert {name: passed for name, passed in found if name in OWN} == dict.fromkeys(OWN, True)
