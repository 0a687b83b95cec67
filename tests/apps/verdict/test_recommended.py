"""The recommended k loses what the verdict says, is one of those tried, and names its reason."""

import pytest

from anon_sql.apps.verdict.figures import measure
from anon_sql.apps.verdict.recommended import LOSS, recommend
from anon_sql.apps.verdict.rules import FLOORS, stricter
from tests.apps.verdict.planted import RAW, REQUEST

HOSTILE = """
CREATE OR REPLACE TABLE raw AS SELECT a AS "A ""b""; --", b AS "it's", s AS "select", n FROM raw
"""
NOTHING = {**REQUEST, "t": None}


def limited(**limits):
    return stricter("recipe", {name: {"amber": at} for name, at in limits.items()})


def by_size(found):
    return {(each.k, each.l): each for each in found.tried}


def figures(tried):
    return {each.name: each.value for each in tried.figures}


@pytest.mark.slow
def test_figures_are_those_of_the_verdict_on_the_release(con):
    con.execute(f"{RAW}; {HOSTILE}")
    names, hidden = ['a "b"; --', "it's"], "select"
    request = {**NOTHING, "l": 2, "quasi": ['a "B"; --', "IT'S"], "sensitive": ["SELECT"]}
    request["keep"] = ["n"]
    found = by_size(recommend(con, request))
    assert list(found) == [(k, l) for k in (5, 10, 25) for l in (1, 2)]  # noqa: E741
    for (k, level), tried in found.items():
        given = {"k": k, "l": level, "q": names, "s": [hidden]}
        con.execute(
            "CREATE OR REPLACE TABLE released AS FROM anonymize('raw', k := $k, l := $l, quasi := $q, "
            "sensitive := $s, exclude := ['*'], effort := 'fast')",
            given,
        )
        said = measure(con, {**request, "keep": [], "exclude": ["*"]}, None)
        expected = {each.name: each.value for each in said.figures if each.name in LOSS}
        assert figures(tried) == pytest.approx(expected, rel=1e-12)
        ((classes,),) = con.execute(
            "SELECT classes FROM utility('raw', 'released', quasi := $q)", {"q": names}
        ).fetchall()
        assert tried.classes == classes
        (exposed,) = tried.disclosed
        by = ", ".join('"' + name.replace('"', '""') + '"' for name in names)
        assert con.execute(
            f'SELECT avg((values = 1)::INTEGER) FROM (SELECT count(DISTINCT "{hidden}") AS values '
            f"FROM released GROUP BY {by})"
        ).fetchall() == [(exposed.value,)]
    for each in (*tried.figures, *tried.disclosed):
        assert con.execute(each.sql).fetchall() == [(each.value,)]


@pytest.mark.slow
def test_the_largest_that_no_limit_stops(con):
    con.execute(RAW + "; INSERT INTO raw FROM raw; INSERT INTO raw FROM raw")
    found = recommend(con, NOTHING)
    assert (found.k, found.why) == (
        25,
        "25 is the largest k that loses little, of 5, 10 and 25: it reaches no limit of loss.",
    )
    losses = {each.k: figures(each)["gcp"] for each in found.tried}
    assert losses[5] < losses[10] < losses[25]
    found = recommend(con, NOTHING, limits=limited(gcp=losses[10]))
    assert found.k == 10
    assert found.why.startswith(
        "10 is the largest k that loses little, of 5, 10 and 25. With k = 25: The quasi-identifiers have lost "
    )
    con.execute(RAW)
    found = recommend(con, NOTHING, limits=limited(gcp=0))
    assert found.k == 5
    assert found.why.startswith(
        "5 is the least for the environment “contract”. With k = 5: The quasi-identifiers have lost "
    )
    assert {each.rule for tried in found.tried for each in tried.reasons} >= {"gcp"}


@pytest.mark.slow
def test_a_loss_with_l_alone_stops_too(con):
    con.execute(RAW)
    con.execute("UPDATE raw SET s = if(id < 800, 'usual', s)")
    tried = by_size(recommend(con, {**NOTHING, "sensitive": ["s"]}))
    one, two = (figures(tried[5, level])["gcp"] for level in (1, 2))
    assert one < two
    limits = limited(gcp=(one + two) / 2)
    found = recommend(con, {**NOTHING, "sensitive": ["s"]}, limits=limits)
    assert "With k = 5 and l = 2: " in found.why


@pytest.mark.parametrize("environment", FLOORS)
def test_each_environment_has_its_floor(con, environment):
    con.execute(RAW)
    found = recommend(con, {**NOTHING, "sensitive": []}, environment=environment)
    floor = FLOORS[environment]
    assert list(by_size(found)) == [(floor, 1), (2 * floor, 1), (5 * floor, 1)]


def test_a_small_table_has_the_floor_and_a_sentence(con):
    con.execute(f"{RAW} LIMIT 8")
    found = recommend(con, {**NOTHING, "quasi": ["a"], "sensitive": []})
    assert found.why.startswith("5 is the least for the environment “contract”. With k = 5: ")
    assert [bool(each.note) for each in found.tried] == [False, True, True]
    con.execute(f"{RAW} LIMIT 4")
    found = recommend(con, {**NOTHING, "sensitive": []})
    assert found.why == (
        "5 is the least for the environment “contract”. With k = 5 there is no release: "
        "anonymize: k must be at most the number of rows, 4, got k := 5"
    )
    assert all(each.note and not each.figures for each in found.tried)


@pytest.mark.slow
def test_levels_persons_and_trees_are_those_of_the_request(con):
    con.execute(RAW)
    con.execute("ALTER TABLE raw ADD COLUMN who INTEGER; UPDATE raw SET who = id // 2")
    con.execute(
        "CREATE TABLE tree AS SELECT 'b' AS attribute, b::VARCHAR AS value, 1 AS level, "
        "'g' || b // 10 AS label FROM raw GROUP BY b"
    )
    plain = by_size(recommend(con, NOTHING))
    for more in ({"t": 0.1}, {"entity": "who"}, {"hierarchy": "tree"}, {"beta": 0.1}):
        found = by_size(recommend(con, {**NOTHING, **more}))
        assert figures(found[5, 2]) != figures(plain[5, 2]), more
        for each in found[5, 2].figures:
            assert con.execute(each.sql).fetchall() == [(each.value,)]


def test_no_value_is_said(con):
    con.execute(RAW)
    con.execute("UPDATE raw SET s = 'secret' || s; ALTER TABLE raw ALTER b TYPE VARCHAR")
    con.execute("UPDATE raw SET b = 'hidden' || b")
    text = str(recommend(con, NOTHING).facts())
    assert "secret" not in text
    assert "hidden" not in text
