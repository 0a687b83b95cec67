"""attack_background: by hand, against the plain twin, and what is drawn."""

import pytest

from tests.attack import twin
from tests.attack.test_attack_linking import releases
from tests.sentence import fails


def test_all_known_by_hand(clinic, shape, attacked):
    found = attacked("attack_background", shape, sensitive="['illness', 'stage']", known=2)
    assert found == [
        {  # 1, 2, 3, 5, and 4 half the time; baseline: flu
            "attribute": "illness",
            "persons": 7,
            "guessed": 4.5,
            "guessed_share": 4.5 / 7,
            "baseline": 3 / 7,
        },
        {  # 2, 3, 6, and 4 and 5 half the time; baseline: 1, 2 and 3 are as frequent
            "attribute": "stage",
            "persons": 7,
            "guessed": 4,
            "guessed_share": 4 / 7,
            "baseline": 7 / 3 / 7,
        },
    ]


def test_nothing_known_is_the_baseline(clinic, shape, attacked):
    for found in attacked("attack_background", shape, sensitive="['illness', 'stage']", known=0):
        assert found["guessed_share"] == pytest.approx(found["baseline"])


def test_against_the_twin(con, attacked):
    """All known; one known: the draws lie between the worst and the best."""

    def holds(raw, released):
        for known in (1, 2):
            call = {"quasi": ["a", "c"], "sensitive": "['s', 'n']", "known": known}
            for one in attacked("attack_background", **call):
                name = one["attribute"]
                if known == 2:
                    wanted = twin.background(raw, released, "ac", name)
                    assert one["guessed"] == pytest.approx(wanted)
                    continue
                either = [[twin.guess(released, p, q, name) for q in "ac"] for p in raw]
                least, most = (sum(map(pick, either)) for pick in (min, max))
                assert least - 1e-9 <= one["guessed"] <= most + 1e-9

    releases(con, holds)


def test_which_are_known_is_drawn_evenly(con, attacked):
    """One column tells all, the other nothing: half of the guesses are sure."""
    con.execute(
        "CREATE TABLE raw AS SELECT i % 2 AS a, 0 AS c, i % 2 AS s FROM range(4000) AS r(i)"
    )
    con.execute("CREATE TABLE label AS SELECT a::VARCHAR AS a, c::VARCHAR AS c, s FROM raw")
    found = {
        attacked("attack_background", quasi=["a", "c"], sensitive="'s'", known=1, seed=seed)[0][
            "guessed_share"
        ]
        for seed in (1, 2)
    }
    assert len(found) == 2
    assert all(share == pytest.approx(0.75, abs=0.02) for share in found)


def test_the_same_for_any_order_and_number_of_threads(people):
    people.execute("CREATE TABLE r AS FROM rayden('people', k := 5)")
    ask = "FROM attack_background('{}', 'r', sample := 50, known := 2, quasi := {})"
    quasi = ["age", "city", "sex", "born"]
    people.execute("CREATE TABLE turned AS SELECT * FROM people ORDER BY born")
    people.execute("COMMENT ON COLUMN turned.person_id IS 'anon:identifier'")
    people.execute("COMMENT ON COLUMN turned.illness IS 'anon:sensitive'")
    people.execute("SET threads = 2")
    first = people.execute(ask.format("people", quasi)).fetchall()
    people.execute("SET threads = 1")
    assert people.execute(ask.format("turned", quasi)).fetchall() == first
    assert [row[1] for row in first] == [50]


def test_the_majority_by_hand(clinic, shape, attacked):
    """Of the six rows shown; the classes are 1 and 2, 3 and 4, 5, and the starred one."""
    found = attacked(
        "attack_background", shape, sensitive="['illness', 'stage']", mode="'majority'"
    )
    assert found == [
        {  # flu twice, gout twice, flu; NULL is no value
            "attribute": "illness",
            "persons": 6,
            "guessed": 5.0,
            "guessed_share": 5 / 6,
            "baseline": 3 / 6,
        },
        {  # one of 1 and 2, both of 3, 1, 2
            "attribute": "stage",
            "persons": 6,
            "guessed": 5.0,
            "guessed_share": 5 / 6,
            "baseline": 2 / 6,
        },
    ]


PLAIN = """
    WITH counted AS (
        SELECT {labels}, {value} AS value, count(*) AS n FROM r GROUP BY ALL
    ),
    guesses AS (
        SELECT coalesce(max(n) FILTER (value IS NOT NULL), 0) AS n FROM counted GROUP BY {labels}
    ),
    totals AS (SELECT sum(n) AS n FROM counted WHERE value IS NOT NULL GROUP BY value)
    SELECT (SELECT count(*) FROM r), sum(n)::DOUBLE, (SELECT max(n) FROM totals)::DOUBLE
    FROM guesses
"""


def test_the_majority_is_that_of_plain_sql(people, shape):
    """Under names that need quotes, with suppressed rows, rows left out and NULLs."""
    age, ill = '"o\'er"', '"its ""name"""'
    people.execute(f"ALTER TABLE people RENAME illness TO {ill}")
    people.execute(f"ALTER TABLE people RENAME age TO {age}")
    people.execute(f"UPDATE people SET {ill} = NULL WHERE person_id % 7 = 1")
    people.execute(f"CREATE TABLE r AS FROM mondrian('people', k := 4, format := '{shape}')")
    people.execute("DELETE FROM r WHERE rowid % 9 = 0")
    labels, star = f"{age}, city, sex, born", "NULL" if shape == "typed" else "'*'"
    people.execute(f"UPDATE r SET ({labels}) = ({', '.join(4 * [star])}) WHERE rowid % 29 = 3")
    ((persons, guessed, common),) = people.execute(
        PLAIN.format(labels=labels, value=ill)
    ).fetchall()
    call = "FROM attack_background('people', 'r', mode := 'majority'{})"
    found = people.execute(call.format("")).fetchall()
    assert found == [('its "name"', persons, guessed, guessed / persons, common / persons)]
    assert people.execute(call.format(", known := 0, sample := 1, seed := 3")).fetchall() == found


def test_the_majority_of_any_release(con, attacked):
    """Against plain counting, with labels that overlap and releases of fewer or more rows."""

    def holds(raw, released):
        call = {"quasi": ["a", "c"], "sensitive": "['s', 'n']", "mode": "'majority'"}
        for one in attacked("attack_background", **call):
            classes = {}
            for labels, own in released:
                values = classes.setdefault((twin.shown(labels["a"]), twin.shown(labels["c"])), [])
                values.append(own[one["attribute"]])
            known = [[v for v in values if v is not None] for values in classes.values()]
            assert one["persons"] == len(released)
            assert one["guessed"] == sum(max(map(v.count, v), default=0) for v in known)

    releases(con, holds)


def test_the_default_mode(people):
    people.execute("CREATE TABLE r AS FROM rayden('people', k := 5)")
    call = "FROM attack_background('people', 'r'{})"
    plain = people.execute(call.format("")).fetchall()
    assert people.execute(call.format(", mode := 'matching'")).fetchall() == plain
    assert people.execute(call.format(", mode := 'majority'")).fetchall() != plain


def test_an_empty_release_has_no_majority(clinic, attacked):
    clinic.execute("CREATE TABLE none AS FROM label LIMIT 0")
    (found,) = attacked("attack_background", "none", sensitive="'illness'", mode="'majority'")
    assert list(found.values()) == ["illness", 0, 0.0, None, None]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            "mode := 'majoriti'",
            "mode must be one of 'matching', 'majority', got 'majoriti'; did you mean majority?",
        ),
        ("mode := NULL", "mode must be one of 'matching', 'majority', got NULL"),
        (
            "mode := 'majority', known := 3",
            "known must be at most the number of quasi-identifiers, got 3 of 2",
        ),
        ("known := 3", "known must be at most the number of quasi-identifiers, got 3 of 2"),
        ("known := -1", "known must be a whole number of at least 0, got -1"),
        ("known := NULL", "known must be a whole number of at least 0, got NULL"),
        ("sample := 0", "sample must be a whole number of at least 1, got 0"),
    ],
)
def test_what_it_refuses(clinic, given, said):
    call = f"FROM attack_background('raw', 'label', 'stage', quasi := ['age', 'city'], {given})"
    assert fails(clinic, call).startswith(f"attack_background: {said}")
