"""Releases of a series: classes of whole cohorts, and attackers who compare files."""

import json
import random

import pyarrow as pa
import pytest

import anon_sql
from anon_sql import AnonError
from anon_sql.audit.series import PROPERTIES
from anon_sql.core.pseudonyms import person_hashes
from anon_sql.methods.method import release_methods
from anon_sql.series.state import SeriesPeople, digests, series_key
from tests.sentence import fails
from tests.series.months import KEY, ROLES, make_month, released, status, step

COVERS = (
    "anon_min(r.age)::INTEGER <= p.age AND p.age <= anon_max(r.age)::INTEGER "
    "AND list_contains(anon_values(r.city), p.city)"
)
OTHERS = (
    *("basic_mondrian", "dop", "k_member", "mondrian", "mondrian_cof", "oka", "rayden"),
    "top_down",
)


def release(con, name, k=5):
    con.execute(f"CREATE OR REPLACE TABLE {name} AS FROM {released(k)}")


def test_a_release_has_whole_cohorts_and_k_persons_who_are_present(con):
    make_month(con, 0, 300)
    step(con, 2)
    release(con, "may")
    make_month(con, 60, 360)
    step(con)
    release(con, "june")
    figures = status(con)
    assert con.execute("SELECT count(*) FROM june").fetchall() == [
        (figures["present"] + figures["former"],)
    ]
    assert con.execute("DESCRIBE june").fetchall()[3][:2] == ("ward", "BOOLEAN")
    held = "SELECT tuple::JSON ->> 'illness' FROM anon_series WHERE person IS NULL AND cohort > 0"
    shown = "SELECT illness FROM june"
    assert con.execute(f"{held} EXCEPT ALL {shown}").fetchall() == []
    assert con.execute(f"{shown} EXCEPT ALL {held}").fetchall() == []
    least = con.execute(
        "SELECT min(n), min(v) FROM (SELECT count(*) AS n, count(DISTINCT illness) AS v "
        "FROM june GROUP BY age, city)"
    ).fetchall()[0]
    assert least[0] >= 5
    assert least[1] >= 2


def test_labels_cover_everybody_who_is_present_or_waits(con):
    make_month(con, 0, 300)
    step(con, 3)
    release(con, "may")
    assert status(con)["waiting"] > 0
    outside = con.execute(
        f"SELECT count(*) FROM people p WHERE NOT EXISTS (FROM may r WHERE {COVERS})"
    )
    assert outside.fetchall() == [(0,)]


def test_labels_cover_persons_who_wait_without_any_cohort(con):
    """Two persons far away who wait again, with one value: their group has no cohort."""
    make_month(con, 0, 100)
    con.execute("INSERT INTO people SELECT 1000 + i, 95, 'Bonn', 'flu', true FROM range(60) t(i)")
    step(con, 2)
    release(con, "may")
    waiting = {
        person
        for (person,) in con.execute(
            "SELECT person FROM anon_series WHERE tuple IS NULL"
        ).fetchall()
    }
    numbers = [number for (number,) in con.execute("SELECT person FROM people").fetchall()]
    hashes = persons_of(con).hashes.to_pylist()
    waited = [n for n, one in zip(numbers, hashes, strict=True) if one in waiting]
    who = [number for number in waited if number >= 1000][:2]
    gone = [number for number in numbers if number >= 1000 or number in waited]
    con.execute(
        "DELETE FROM people WHERE list_contains(?, person) AND NOT list_contains(?, person)",
        [gone, who],
    )
    step(con)
    release(con, "june")
    assert status(con)["waiting"] == len(who) == 2
    absent = len(waited) - len(who)  # are remembered, and no label covers them
    uncovered = con.execute("SELECT count(*) FROM anon_series WHERE cohort = 0").fetchall()
    assert uncovered == [(absent,)]
    for file in ("may", "june"):
        outside = f"SELECT count(*) FROM people p WHERE NOT EXISTS (FROM {file} r WHERE {COVERS})"
        assert con.execute(outside).fetchall() == [(0,)]


def test_typed_labels_and_any_order_of_rows(con):
    make_month(con, 0, 200)
    step(con, 2)
    one = con.execute(f"FROM {released()}").fetchall()
    con.execute("CREATE OR REPLACE TABLE people AS FROM people ORDER BY hash(person)")
    assert con.execute(f"FROM {released()}").fetchall() == one
    typed = ", format := 'typed'"
    found = con.execute(f"SELECT age.min FROM {released(more=typed)}")
    assert len(found.fetchall()) == len(one)


def persons_of(con) -> SeriesPeople:
    """Return the persons of ``people`` as a series knows them."""
    key = series_key(KEY.encode())
    rows = con.execute(
        "SELECT person::VARCHAR, to_json({'illness': illness, 'ward': ward::VARCHAR})::VARCHAR "
        "FROM people"
    ).fetchall()
    hashes = person_hashes(pa.array([text for text, _ in rows]), "BIGINT", key).to_pylist()
    told = [text.replace('":', '": ').replace(',"', ', "') for _, text in rows]
    tuples = pa.array(told).dictionary_encode()
    return SeriesPeople(pa.array([h.hex() for h in hashes]), digests(key, hashes, tuples), tuples)


def swapped(con, first: int, other: int, values: str = "people", method: str = "anonymize") -> list:
    """Exchange the tuples of two persons in the table and in the state; return the release.

    values: the table that has both tuples.
    """
    con.execute(f"CREATE OR REPLACE TABLE both_tuples AS FROM {values}")
    for name in ("illness", "ward"):
        con.execute(
            f"UPDATE people SET {name} = (SELECT {name} FROM both_tuples AS o WHERE o.person = "
            f"if(people.person = {first}, {other}, {first})) WHERE person IN ({first}, {other})"
        )
    persons = persons_of(con)
    digest = dict(zip(persons.hashes.to_pylist(), persons.digests.to_pylist(), strict=True))
    con.executemany(
        "UPDATE anon_series SET tuple = ? WHERE person = ? AND length(tuple) = 32",
        [(own, person) for person, own in digest.items()],
    )
    ((head,),) = con.execute(
        "SELECT tuple FROM anon_series WHERE cohort IS NULL AND person IS NULL"
    ).fetchall()
    told = {**json.loads(head), "present": persons.digest(series_key(KEY.encode()))}
    con.execute("UPDATE anon_series SET tuple = ? WHERE tuple = ?", [json.dumps(told), head])
    return con.execute(f"FROM {released(method=method)}").fetchall()


def passes(con, roles):
    found = con.execute(
        "SELECT property, passed FROM audit('people', 'june', 5, series := 'anon_series', "
        f"{roles}) WHERE property IN {PROPERTIES}"
    ).fetchall()
    assert dict(found) == dict.fromkeys(PROPERTIES, True)


def test_canon_releases_numbers(con):
    make_month(con, 0, 200)
    roles = ROLES.replace("['age', 'city']", "'age', identifiers := 'city'")
    con.execute(f"CREATE TABLE anon_series AS FROM series_next('people', l := 2, {roles})")
    con.execute(f"CREATE TABLE june AS FROM canon('people', series := 'anon_series', {roles})")
    passes(con, roles)


@pytest.mark.parametrize("method", OTHERS)
def test_other_methods_release_whole_cohorts(con, method):
    make_month(con, 0, 200)
    step(con, 2)
    make_month(con, 40, 240)
    step(con)
    con.execute(f"CREATE TABLE june AS FROM {released(method=method)}")
    passes(con, ROLES)
    assert con.execute("SELECT count(DISTINCT (age, city)) > 2 FROM june").fetchall() == [(True,)]
    outside = f"SELECT count(*) FROM people p WHERE NOT EXISTS (FROM june r WHERE {COVERS})"
    assert con.execute(outside).fetchall() == [(0,)]


def test_every_method_releases_a_series_or_says_why_not(con):
    make_month(con, 0, 60)
    step(con, 2)
    for method in ("datafly", "full_domain"):
        assert (
            "series must go with a method whose classes can be whole cohorts, got "
            f"{method}, which generalizes a column alike in all rows"
        ) in fails(con, f"FROM {released(method=method)}")
    with pytest.raises(AnonError, match="got sdka, which makes synthetic rows from all rows"):
        anon_sql.release(con, "people", into="x", series="anon_series", method="sdka")
    assert set(OTHERS) == {*release_methods()} - {
        *("anonymize", "canon", "datafly", "full_domain", "sdka")
    }


@pytest.mark.parametrize("method", ["anonymize", *OTHERS])
def test_exchanging_tuples_within_a_cohort_changes_no_file(con, method):
    make_month(con, 0, 120)
    step(con, 2)
    before = con.execute(f"FROM {released(method=method)}").fetchall()
    key = series_key(KEY.encode())
    hashes = person_hashes(pa.array([str(i) for i in range(120)]), "BIGINT", key)
    who = {one.as_py().hex(): i for i, one in enumerate(hashes)}
    own = con.execute(
        "SELECT list(person) FROM anon_series WHERE person IS NOT NULL AND length(tuple) = 32 "
        "GROUP BY cohort ORDER BY cohort LIMIT 3"
    ).fetchall()
    for (members,) in own:
        assert swapped(con, who[members[0]], who[members[1]], method=method) == before


@pytest.mark.slow
def test_exchanging_tuples_in_all_versions_changes_no_file(con):
    """One of each pair is present in both months; the other may have left, and is a former row."""
    make_month(con, 0, 120)
    step(con, 2)
    con.execute("CREATE TABLE may_people AS FROM people; CREATE TABLE may AS FROM anon_series")
    make_month(con, 30, 140)
    step(con)
    con.execute("CREATE TABLE june_people AS FROM people; CREATE TABLE june AS FROM anon_series")
    hashes = person_hashes(
        pa.array([str(i) for i in range(140)]), "BIGINT", series_key(KEY.encode())
    )
    who = {one.as_py().hex(): i for i, one in enumerate(hashes)}
    own = con.execute(
        "SELECT list(person) FROM may SEMI JOIN june USING (cohort) WHERE person IS NOT NULL "
        "AND length(tuple) = 32 GROUP BY cohort ORDER BY cohort LIMIT 12"
    ).fetchall()
    pairs = [sorted(who[one] for one in members)[:2] for (members,) in own]
    assert any(first < 30 <= other for first, other in pairs)
    assert any(first >= 30 for first, _ in pairs)
    for month in ("may", "june"):
        for pair in pairs:
            con.execute(f"CREATE OR REPLACE TABLE people AS FROM {month}_people")
            con.execute(f"CREATE OR REPLACE TABLE anon_series AS FROM {month}")
            before = con.execute(f"FROM {released()}").fetchall()
            assert swapped(con, *pair, values="may_people") == before


def under_labels(con, file):
    """Return how many persons no label covers, and the largest share of persons under one label
    alone who have none of its rows."""
    con.execute(
        f"""
        CREATE OR REPLACE TABLE under AS
        SELECT p.person, list({{'age': r.age, 'city': r.city}}) AS labels
        FROM people p LEFT JOIN (SELECT DISTINCT age, city FROM {file}) r ON {COVERS}
        GROUP BY p.person
        """
    )
    ((none,),) = con.execute("SELECT count(*) FROM under WHERE labels[1].age IS NULL").fetchall()
    ((share,),) = con.execute(
        f"""
        SELECT max(1 - rows / persons) FROM
            (SELECT labels[1] AS label, count(*) AS persons FROM under
             WHERE len(labels) = 1 GROUP BY ALL)
        JOIN (SELECT {{'age': age, 'city': city}} AS label, count(*) AS rows FROM {file} GROUP BY ALL)
        USING (label)
        """
    ).fetchall()
    return none, share or 0


@pytest.mark.parametrize("seed", range(4))
def test_attackers_who_count_persons_under_labels_find_nobody_who_waits(con, seed):
    """By coverage: a person under no label waits. By counts: of persons under one label alone, all
    above its rows wait."""
    draw = random.Random(seed)
    l, first, end, waited = draw.choice([2, 3]), 0, 200, 0  # noqa: E741
    for _ in range(3):
        make_month(con, first, end, seed=seed, changed=draw.randint(0, first + 10))
        con.execute("UPDATE people SET illness = 'flu' WHERE person % 4 = 0")
        if first:  # some of those who have left are back
            con.execute(f"INSERT INTO people SELECT * FROM gone WHERE person % 7 = {seed}")
        step(con, l)
        release(con, "file")
        waited += status(con)["waiting"]
        none, share = under_labels(con, "file")
        assert none == 0
        assert share < 1 / 2
        con.execute("CREATE OR REPLACE TABLE gone AS FROM people")
        leaving = draw.randint(10, 40)
        con.execute(f"DELETE FROM gone WHERE person >= {first + leaving}")
        first, end = first + leaving, end + draw.randint(1, 40)
    assert l == 2 or waited > 0


def test_they_find_who_is_left_out_of_a_plain_release(con):
    """The control: labels that cover only the persons who are released."""
    make_month(con, 0, 200)
    con.execute("CREATE TABLE part AS SELECT * EXCLUDE person FROM people WHERE person % 9 > 0")
    con.execute(
        "CREATE TABLE file AS FROM anonymize('part', k := 5, quasi := ['age', 'city'], "
        "sensitive := 'illness', keep := 'ward')"
    )
    assert under_labels(con, "file")[0] > 0


def found_in_several(con, least):
    """Return how many persons of all three months the labels of all files leave too few values, and
    how many rows more a value has in a month than in the one before, at most, in two months."""
    values = " INTERSECT ".join(
        f"SELECT r.illness FROM file_{m} r WHERE {COVERS}" for m in range(3)
    )
    ((below,),) = con.execute(
        "SELECT count(*) FROM people_0 p SEMI JOIN people_1 USING (person) "
        f"SEMI JOIN people_2 USING (person) WHERE (SELECT count(*) FROM ({values})) < {least}"
    ).fetchall()
    grown = []
    for month in (1, 2):
        ((most,),) = con.execute(
            f"""
            WITH grown AS (
                SELECT illness, sum(n) AS n FROM (
                    SELECT illness, count(*) AS n FROM file_{month} GROUP BY ALL UNION ALL
                    SELECT illness, -count(*) FROM file_{month - 1} GROUP BY ALL)
                GROUP BY ALL)
            SELECT max(n) FROM grown
            """
        ).fetchall()
        grown.append(most)
    return below, grown


@pytest.mark.parametrize("seed", range(2))
def test_attackers_who_compare_files_find_nobody(con, seed):
    """Intersection by labels, and growth and shrinkage of values in the whole table."""
    draw = random.Random(seed)
    l, first = draw.choice([2, 3]), 0  # noqa: E741
    for month in range(3):
        make_month(con, first, first + 200, seed=seed)
        step(con, l)
        con.execute(f"CREATE TABLE people_{month} AS FROM people")
        release(con, f"file_{month}")
        first += draw.randint(1, 40)
    below, grown = found_in_several(con, l)
    assert below == 0
    for month, most in enumerate(grown, 1):
        new = con.execute(
            f"SELECT count(*) FROM people_{month} ANTI JOIN people_{month - 1} USING (person)"
        ).fetchall()[0][0]
        waited = 200 - con.execute("FROM series_status('anon_series')").fetchall()[month - 1][3]
        assert most <= (new + waited) / l


def test_they_find_persons_in_plain_releases(con):
    """The control: the same months, each released alone; one person is new in each."""
    for month in range(3):
        make_month(con, 0, 200 + month)
        con.execute(f"CREATE TABLE people_{month} AS FROM people")
        con.execute(
            f"CREATE TABLE file_{month} AS FROM rayden('people', k := 3, l := 2, quasi := "
            f"['age', 'city'], sensitive := 'illness', keep := 'ward', identifiers := 'person', "
            f"seed := {month})"
        )
    below, grown = found_in_several(con, 3)
    assert below > 0
    assert grown == [1, 1]  # the value of the only newcomer


def test_the_row_of_a_single_leaver_stays(con):
    """A plain release names the value by counts before and after."""
    make_month(con, 0, 200)
    step(con, 2)
    release(con, "may")
    con.execute("DELETE FROM people WHERE person = 7")
    step(con)
    release(con, "june")
    counts = "SELECT illness, ward, count(*) AS n FROM {} GROUP BY ALL"
    assert con.execute(f"{counts.format('may')} EXCEPT {counts.format('june')}").fetchall() == []


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (", format := 'mean'", "format must be left out or plain in a series"),
        (", l := 2", "l must be left out or plain in a series"),
        (", strata := 'city'", "strata must be left out or plain in a series"),
        (", suppression_limit := 0.1", "suppression_limit must be left out"),
        (", bin_width := MAP {'age': 5}", "bin_width must be left out or plain in a series"),
    ],
)
def test_what_a_series_cannot_release(con, more, says):
    make_month(con, 0, 100)
    step(con, 2)
    assert says in fails(con, f"FROM {released(more=more)}")


def test_another_table_than_that_of_the_state_is_refused(con):
    make_month(con, 0, 100)
    step(con, 2)
    make_month(con, 1, 100)
    assert "call series_next first" in fails(con, f"FROM {released()}")


def test_fewer_than_k_persons_are_refused(con):
    make_month(con, 0, 100)
    step(con, 2)
    assert "a release must have at least k = 500" in fails(con, f"FROM {released(500)}")


def test_a_table_without_rows_gives_none(con):
    make_month(con, 0, 100)
    step(con, 2)
    con.execute("DELETE FROM people")
    found = con.execute(f"FROM {released()}")
    assert [column[0] for column in found.description] == ["age", "city", "illness", "ward"]
    assert found.fetchall() == []
