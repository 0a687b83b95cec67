"""isolation, linkage and inference: planted releases, a plain twin, and the control."""

import random
import re

import numpy as np
import pytest

from anon_sql import frames
from tests.inserting import insert
from tests.sentence import fails

QUASI = "quasi := ['age', 'height', 'sex']"
PEOPLE = """
    CREATE OR REPLACE TABLE {name} AS
    SELECT
        (18 + hash(i, 1) % {ages})::INTEGER AS age, (150 + hash(i, 2) % 40)::INTEGER AS height,
        ['f', 'm'][1 + (hash(i, 3) % 2)::BIGINT] AS sex,
        CASE WHEN hash(i, 4) % 10 < 3 THEN 'flu' WHEN hash(i, 1) % {ages} > {ages} // 2 THEN 'heart'
            ELSE 'none' END AS illness
    FROM range({first}, {last}) AS made(i)
"""
AS_IT_IS = "SELECT age::VARCHAR AS age, height::VARCHAR AS height, sex, illness FROM people"
NOTHING = "SELECT '*' AS age, '*' AS height, '*' AS sex, illness FROM people"


def made(con, ages=60, people=2000, control=2000):
    con.execute(PEOPLE.format(name="people", ages=ages, first=0, last=people))
    con.execute(PEOPLE.format(name="control", ages=ages, first=10_000, last=10_000 + control))


def rows(con, call):
    found = con.execute(f"FROM {call}")
    names = [name for name, *_ in found.description]
    return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


@pytest.fixture
def unique(con):
    """Everybody is unique in every column; the control has other values."""
    for name, first in (("people", 0), ("control", 1000)):
        con.execute(
            f"CREATE OR REPLACE TABLE {name} AS SELECT i AS age, 2 * i AS height, 'p' || i AS sex, "
            f"'v' || i AS illness FROM range({first}, {first + 200}) AS made(i)"
        )
    return con


def test_everything_is_isolated_linked_and_inferred(unique):
    unique.execute(f"CREATE OR REPLACE TABLE release AS {AS_IT_IS}")
    call = f"'people', 'release', control := 'control', {QUASI}"
    found = rows(unique, f"isolation({call})") + rows(unique, f"linkage({call})")
    found += rows(unique, f"inference({call}, secret := 'illness')")
    assert len(found) == 4
    for row in found:
        assert (row["rate"], row["control_rate"], row["gain"]) == (1, 0, 1), row
        assert row["successes"] == row["attempts"]
        assert 0.9 < row["low"] < row["high"] == pytest.approx(1)


def test_nothing_is_isolated_or_linked(unique):
    unique.execute(f"CREATE OR REPLACE TABLE release AS {NOTHING}")
    call = f"'people', 'release', control := 'control', {QUASI}"
    one, several = rows(unique, f"isolation({call})")
    assert (one["attempts"], one["rate"], one["gain"]) == (0, None, None)
    assert (several["successes"], several["rate"], several["gain"]) == (0, 0, 0)
    (row,) = rows(unique, f"linkage({call})")
    assert row["rate"] == pytest.approx(1 / 200)
    assert row["rate"] == pytest.approx(row["naive_rate"])
    assert row["low"] < 0 < row["high"]


@pytest.mark.parametrize("control", [500, 6000])
def test_what_the_population_tells_is_no_gain(con, control):
    """Classes of two hundred people tell of a member what they tell of anybody like it."""
    made(con, control=control)
    call = "'people', k := 200, quasi := ['age', 'height', 'sex'], keep := 'illness'"
    con.execute(f"CREATE OR REPLACE TABLE release AS FROM mondrian({call})")
    call = f"'people', 'release', control := 'control', {QUASI}"
    found = rows(con, f"isolation({call})") + rows(con, f"linkage({call})")
    found += rows(con, f"inference({call}, secret := 'illness')")
    for row in found:
        assert row["low"] <= 0.02, row
        assert abs(row["gain"]) < 0.06, row
    assert found[-1]["rate"] > found[-1]["naive_rate"] + 0.1


def test_without_a_control_there_is_no_gain(con):
    made(con)
    con.execute(f"CREATE OR REPLACE TABLE release AS {AS_IT_IS}")
    for name in ("isolation", "linkage"):
        for row in rows(con, f"{name}('people', 'release', {QUASI})"):
            assert (row["control_rate"], row["gain"]) == (None, None)
            assert row["low"] <= row["rate"] <= row["high"]


def covered(label, value):
    """Whether a label covers a value, read with nothing of the package."""
    if label == "*":
        return True
    if found := re.fullmatch(r"\[(.*), (.*)\]", label):
        return float(found[1]) <= float(value) <= float(found[2])
    if label.startswith("{"):
        return str(value) in label[1:-1].split(", ")
    return label == str(value)


@pytest.mark.parametrize("seed", range(4))
def test_against_a_plain_twin(con, seed):
    draw = random.Random(seed)
    con.execute(
        "CREATE OR REPLACE TABLE people (age INTEGER, height INTEGER, sex VARCHAR, illness VARCHAR)"
    )
    con.execute("CREATE OR REPLACE TABLE control AS FROM people")
    for name, many in (("people", 40), ("control", 25)):
        drawn = [
            (draw.randint(1, 9), draw.randint(1, 4), draw.choice("fmx"), draw.choice("abc"))
            for _ in range(many)
        ]
        insert(con, name, drawn)
    con.execute("CREATE OR REPLACE TABLE release AS FROM anonymize('people', k := 3, "
                "quasi := ['age', 'height', 'sex'], keep := 'illness')")  # fmt: skip
    released = con.sql("FROM release").fetchall()
    sides = {name: con.sql(f"FROM {name}").fetchall() for name in ("people", "control")}

    def matching(person, columns):
        return [row for row in released if all(covered(row[at], person[at]) for at in columns)]

    def guess(values):
        counts = {value: values.count(value) for value in values}
        return [value for value, count in counts.items() if count == max(counts.values())]

    naive = guess([row[3] for row in released])
    inferred, linked = {}, {}
    for name, people in sides.items():
        inferred[name] = [
            (person[3] in guesses) / len(guesses)
            for person in people
            for guesses in [guess([row[3] for row in matching(person, range(3))]) or naive]
        ]
        linked[name] = []
        for person in people:
            first, second = matching(person, [0]), matching(person, [1, 2])
            both = matching(person, [0, 1, 2])
            linked[name].append(len(both) / (len(first) * len(second)) if first and second else 0)
    call = f"'people', 'release', control := 'control', attempts := NULL, {QUASI}"
    for row, right in [
        (rows(con, f"inference({call}, secret := 'illness')")[0], inferred),
        (rows(con, f"linkage({call}, known := 'age')")[0], linked),
    ]:
        assert row["attempts"] == 40
        assert row["successes"] == pytest.approx(sum(right["people"]))
        assert row["rate"] == pytest.approx(np.mean(right["people"]))
        assert row["control_rate"] == pytest.approx(np.mean(right["control"]))
        gain = (row["rate"] - row["control_rate"]) / (1 - row["control_rate"])
        assert row["gain"] == pytest.approx(gain)


def test_the_order_of_rows_and_threads_change_nothing(con):
    made(con)
    con.execute(
        "CREATE OR REPLACE TABLE tree AS SELECT 'sex' AS attribute, * FROM (VALUES ('f', 1, '*'), ('m', 1, '*')) "
        "made(value, level, label)"
    )
    con.execute("CREATE OR REPLACE TABLE release AS FROM mondrian('people', k := 5, hierarchy := 'tree', "
                "quasi := ['age', 'height', 'sex'], keep := 'illness')")  # fmt: skip
    calls = [
        f"isolation('{{0}}', '{{1}}', control := '{{2}}', attempts := 300, hierarchy := 'tree', {QUASI})",
        f"linkage('{{0}}', '{{1}}', control := '{{2}}', attempts := 300, {QUASI})",
        f"inference('{{0}}', '{{1}}', secret := 'illness', control := '{{2}}', attempts := 300, {QUASI})",
    ]
    tables = ("people", "release", "control")
    before = [rows(con, call.format(*tables)) for call in calls]
    for table in tables:
        con.execute(
            f"CREATE OR REPLACE TABLE other_{table} AS FROM {table} ORDER BY hash({table}, 7)"
        )
    con.execute("SET threads = 1")
    again = [rows(con, call.format(*(f"other_{table}" for table in tables))) for call in calls]
    assert again == before
    another = rows(con, calls[1].format(*tables).replace("attempts", "seed := 7, attempts"))
    assert another != before[1]


def test_a_frame_and_its_control(con):
    made(con, people=200, control=200)
    people, control = (
        con.sql("FROM people").to_arrow_table(),
        con.sql("FROM control").to_arrow_table(),
    )
    released = frames.mondrian(people, k=5, quasi=["age", "height", "sex"], keep="illness")
    call = {"quasi": ["age", "height", "sex"], "control": control}
    con.register("frame", released)
    by_sql = (
        f"FROM inference('people', 'frame', secret := 'illness', control := 'control', {QUASI})"
    )
    found = frames.inference(people, released, secret="illness", **call)
    assert found.to_pylist() == con.sql(by_sql).to_arrow_table().to_pylist()


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("isolation('people', 'release', control := 'lacking', {})", "isolation: control must have the columns of the raw table that are attacked, got no column sex"),
        ("isolation('people', 'release', control := 'texts', {})", "isolation: control must have columns of the types of the raw table, got age of another type"),
        ("isolation('people', 'release', attempts := 0, {})", "isolation: attempts must be a whole number of at least 1, got 0"),
        ("linkage('people', 'release', known := ['age', 'height', 'sex'], {})", "linkage: known must name some of the quasi-identifiers, and not all, got 3 of them"),
        ("linkage('people', 'release', known := 'weight', {})", "linkage: known must name some of the quasi-identifiers, and not all, got weight"),
        ("linkage('people', 'release', quasi := 'age')", "linkage: there must be two quasi-identifiers at least, got 1"),
        ("inference('people', 'release', {})", "inference: "),
        ("inference('people', 'release', secret := 'illness', control := 'secretless', {})", "inference: control must have the columns of the raw table that are attacked, got no column illness"),
    ],
)  # fmt: skip
def test_bad_input_is_one_sentence(con, call, said):
    made(con, people=50, control=50)
    con.execute(f"CREATE OR REPLACE TABLE release AS {AS_IT_IS}")
    con.execute("CREATE OR REPLACE TABLE lacking AS SELECT * EXCLUDE (sex) FROM control")
    con.execute("CREATE OR REPLACE TABLE secretless AS SELECT * EXCLUDE (illness) FROM control")
    con.execute(
        "CREATE OR REPLACE TABLE texts AS SELECT * REPLACE ('x' || age AS age) FROM control"
    )
    assert fails(con, f"FROM {call.format(QUASI)}").startswith(said)


def test_empty_relations(con):
    made(con, people=0, control=0)
    con.execute(f"CREATE OR REPLACE TABLE release AS {AS_IT_IS}")
    for call in (f"isolation('people', 'release', {QUASI})",
                 f"linkage('people', 'release', {QUASI})",
                 f"inference('people', 'release', secret := 'illness', {QUASI})"):  # fmt: skip
        for row in rows(con, call):
            assert (row["attempts"], row["rate"], row["gain"]) == (0, None, None)


def test_a_control_holds_other_people(con):
    """With people of the table nothing is gained, so that any release would pass."""
    made(con, ages=5000)
    con.execute(f"CREATE OR REPLACE TABLE release AS {AS_IT_IS}")
    con.execute("CREATE OR REPLACE TABLE nobody AS FROM people LIMIT 0")
    con.execute("CREATE OR REPLACE TABLE third AS FROM people LIMIT 700")
    con.execute(
        "CREATE OR REPLACE TABLE half AS (FROM people LIMIT 300) UNION ALL (FROM control LIMIT 300)"
    )
    attacks = {"isolation": "", "linkage": "", "inference": "secret := 'illness',"}
    call = "FROM {}('people', 'release', {} control := '{}', " + QUASI + ")"
    for attack, secret in attacks.items():
        said = fails(con, call.format(attack, secret, "nobody"))
        assert said.startswith(f"{attack}: control must have rows, got none")
        for name in ("people", "third", "half"):
            said = fails(con, call.format(attack, secret, name))
            assert "control must hold people who are not in the raw table" in said
        assert "700 of 700 rows" in fails(con, call.format(attack, secret, "third"))


@pytest.mark.parametrize(
    ("ages", "control"), [(2, 30), (2, 4000), (10, 500), (60, 30), (60, 4000), (5000, 500)]
)
def test_other_people_of_the_same_population_are_a_control(con, ages, control):
    """However many of them equal people of the table by chance."""
    made(con, ages=ages, control=control)
    con.execute(f"CREATE OR REPLACE TABLE release AS {NOTHING}")
    for function in ("isolation", "linkage"):
        assert rows(con, f"{function}('people', 'release', control := 'control', {QUASI})")
