"""composition: types of quasi-identifiers, and errors."""

import pytest

from tests.attack.plain_composition import composed
from tests.sentence import fails

EDGES = {
    "UBIGINT": [0, 1, None],
    "BIGINT": [-(2**63), 1 - 2**63, None],
    "DOUBLE": [-1.5, -0.0, None],
    "DATE": ["1999-12-31", "2000-01-01", None],
    "BOOLEAN": [False, True, None],
    "UUID": [f"00000000-0000-0000-0000-00000000000{at}" for at in range(2)] + [None],
}


@pytest.mark.parametrize("kind", EDGES)
def test_every_value_is_told_apart_and_may_be_left_unchanged(con, kind):
    """In a release, its typed form, and a table that shows the values as they are."""
    con.execute(f"CREATE TABLE raw (a {kind}, c INTEGER, s INTEGER)")
    for at, value in enumerate(EDGES[kind]):
        con.execute("INSERT INTO raw VALUES (?, 1, ?), (?, 1, ?)", [value, at, value, at])
    for name, form in (("label", "label"), ("typed", "typed")):
        con.execute(
            f"CREATE TABLE {name} AS FROM mondrian('raw', k := 2, qids := ['a'], "
            f"sensitive := ['s'], keep := ['c'], format := '{form}')"
        )
    found = composed(con, ["label", "typed", "raw"], "qids := ['a'], sensitive := 's'")
    assert [(row["persons"], row["one_value"]) for row in found] == [(6, 6)] * 4


ERRORS = {
    "[]": "releases must be a list of 1 to 12 names, got none",
    "NULL": "releases must be a list of 1 to 12 names, got none",
    "['label', NULL]": "releases must be a list of names, got NULL among them",
    "['label'], id := 'agee'": "id must name a column of the raw table, got 'agee'",
    "['label'], l := 0": "l must be a whole number of at least 1",
    "['label'], share := 2": "share must be a number",
    "['label', 'noones']": "every release must have a quasi-identifier, got none in 'noones'",
    "['label', 'other']": "the releases must have stage in one type, got DATE and INTEGER",
    "['broken']": "a label of age must be one that a release prints, got 1 other class in 'broken'",
    "['ill']": "a release must have every sensitive column, got none called stage in any",
    "['raw']": "",
}


@pytest.mark.parametrize("given", ERRORS)
def test_errors(clinic, given):
    clinic.execute("CREATE TABLE noones AS SELECT stage FROM label")
    clinic.execute("CREATE TABLE other AS SELECT age, DATE '2000-01-01' AS stage FROM label")
    clinic.execute("CREATE TABLE broken AS SELECT 'old' AS age, stage FROM label")
    clinic.execute("CREATE TABLE ill AS SELECT age, illness FROM label")
    call = f"FROM composition('raw', {given}, sensitive := 'stage', qids := ['age', 'city'])"
    if not ERRORS[given]:
        assert clinic.execute(call).fetchall()  # a table in which all is left unchanged
        return
    assert ERRORS[given] in fails(clinic, call)


def test_more_errors(clinic):
    names = ["label"] * 13
    call = f"FROM composition('raw', {names}, sensitive := 'stage', qids := ['age'])"
    assert "1 to 12 names, got 13 names" in fails(clinic, call)
    assert "does not exist" in fails(
        clinic, "FROM composition('raw', ['labl'], sensitive := 'stage', qids := ['age'])"
    )
    assert "at least one sensitive column is needed" in fails(
        clinic, "FROM composition('raw', ['label'], qids := ['age'])"
    )
    assert "at least one quasi-identifier" in fails(
        clinic, "FROM composition('raw', ['label'], sensitive := 'stage')"
    )


@pytest.mark.parametrize("form", ["mean", "median"])
@pytest.mark.parametrize(
    "made", ["i % 101", "(i % 90)::DECIMAL(9, 2)", "DATE '2020-01-01' + i % 99"]
)
def test_means_and_medians_are_no_labels(con, form, made):
    """As exact values they would cover nearly nobody, and nothing would seem disclosed."""
    con.execute(
        f"CREATE TABLE p AS SELECT {made} AS a, i % 6 AS s FROM range(240) AS r(j), "
        "LATERAL (SELECT j::INTEGER AS i)"
    )
    con.execute(
        f"CREATE TABLE o AS FROM mondrian('p', k := 4, qids := 'a', sensitive := 's', "
        f"format := '{form}')"
    )
    said = fails(con, "FROM composition('p', ['p', 'o'], qids := 'a', sensitive := 's')")
    assert "means, medians or values of other rows in 'o'" in said
    said = fails(con, "FROM audit('p', 'o', qids := 'a', sensitive := 's', previous := ['p'])")
    assert "means and medians cannot be composed" in said
