"""composition: the page's example, a plain double loop, and planted intersections; types and
errors."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_sql.attacks import candidates as composed_boxes
from tests.attack import plain_composition, twin
from tests.attack.plain_composition import composed
from tests.drawing import examples
from tests.inserting import insert
from tests.sentence import fails

QUASI = "quasi := ['a', 'c']"


def counts(row):
    return {name: row[name] for name in row if name not in ("attribute", "releases", "note")}


def test_the_example_of_the_page(con):
    con.execute(
        """
        CREATE TABLE people AS
        SELECT
            18 + i * 37 % 61 AS age, 40 + i * i * 7 % 83 AS weight,
            ['asthma', 'cancer', 'flu', 'gout', 'none'][1 + i * i * 13 // 11 % 5] AS illness
        FROM range(200) AS made(i);
        """
    )
    roles = "quasi := ['age', 'weight'], sensitive := ['illness']"
    for form in ("label", "typed"):
        for name, seed in (("first", 2), ("second", 3)):
            con.execute(
                f"CREATE OR REPLACE TABLE {name} AS FROM "
                f"rayden('people', k := 3, {roles}, seed := {seed}, format := '{form}')"
            )
        found = composed(con, ["first", "second"], roles, "people")
        assert [row["one_value"] for row in found] == [3, 9, 28]
        assert [row["persons"] for row in found] == [200, 200, 200]
        assert [row["releases"] for row in found] == [["first"], ["second"], ["first", "second"]]
        assert {row["attribute"] for row in found} == {"illness"}


def fill(con, name, rows, classes, quasi):
    """A release of rows by class number, as a table and as the plain loop takes it."""
    people = [dict(zip("pacsn", row, strict=True)) for row in rows]
    columns = ", ".join(f"{q} VARCHAR" for q in quasi)
    con.execute(f"CREATE OR REPLACE TABLE {name} ({columns}, s VARCHAR, n INTEGER)")
    released = []
    for number in sorted(set(classes) - {None}):
        held = [row for row, at in zip(people, classes, strict=True) if at == number]
        labels = {}
        for q in quasi:
            values = [row[q] for row in held]
            if number == 0 or None in values:
                labels[q] = None if number and set(values) == {None} else twin.STAR
            else:
                labels[q] = (min(values), max(values)) if q == "a" else set(values)
        released += [(labels, row) for row in held]
    for labels, row in released:
        shown = [*(twin.shown(labels[q]) for q in quasi), row["s"], row["n"]]
        con.execute(f"INSERT INTO {name} VALUES ({', '.join('?' * len(shown))})", shown)
    return released


def persons_of(rows, by_id):
    """The persons as lists of rows; a person without id is one each."""
    people = [dict(zip("pacsn", row, strict=True)) for row in rows]
    if not by_id:
        return [[row] for row in people]
    known = {row["p"] for row in people} - {None}
    return [[r for r in people if r["p"] == p] for p in sorted(known)] + [
        [row] for row in people if row["p"] is None
    ]


def test_against_the_plain_loop(con):
    row = st.tuples(
        st.none() | st.integers(0, 8),
        st.none() | st.integers(-2, 12),
        st.none() | st.sampled_from(["a", "b", "c", "d"]),
        st.none() | st.sampled_from("xyz"),
        st.none() | st.integers(0, 2),
    )
    # class 0 is suppressed, and None is left out
    member = st.tuples(row, *[st.none() | st.integers(0, 3)] * 3)

    @examples(40)
    @given(
        st.lists(member, min_size=1, max_size=14),
        st.booleans(),
        st.tuples(*[st.sampled_from(["ac", "a", "c", "ca"])] * 3),
        st.integers(1, 3),
        st.sampled_from([0, 0.4, 0.5, 1]),
        st.sampled_from([["s", "n"], ["s"]]),
    )
    def tried(members, by_id, quasi, least, share, sensitive):
        rows = [row for row, *_ in members]
        con.execute(
            "CREATE OR REPLACE TABLE raw (p INTEGER, a INTEGER, c VARCHAR, s VARCHAR, n INTEGER)"
        )
        insert(con, "raw", rows)
        releases = [
            fill(con, f"r{at}", rows, [member[1 + at] for member in members], quasi[at])
            for at in range(3)
        ]
        more = f"{QUASI}, sensitive := {sensitive}, l := {least}, share := {share}"
        more += ", keep := 'n'" * (len(sensitive) < 2)
        found = composed(con, ["r0", "r1", "r2"], more + (", id := 'P'" if by_id else ""))
        people = persons_of(rows, by_id)
        wanted = [
            plain_composition.composition(people, which, name, least, share)
            for name in sensitive
            for which in ([releases[0]], [releases[1]], [releases[2]], releases)
        ]
        assert [counts(row) for row in found] == wanted

    tried()


@pytest.mark.parametrize("seed", range(3))
def test_planted_intersections_are_all_found(con, seed):
    """In each release a planted person's class has two values, of which they share only one."""
    draw = random.Random(seed)
    planted, others = draw.randint(3, 20), 270
    months = [f"m{at}" for at in range(draw.randint(2, 5))]
    con.execute("CREATE TABLE raw (person INTEGER, a INTEGER, c VARCHAR)")
    people = list(range(planted + others))
    insert(con, "raw", [(p, 10 * p, draw.choice("xyz")) for p in people])
    for at, month in enumerate(months):
        con.execute(f"CREATE TABLE {month} (a VARCHAR, c VARCHAR, s VARCHAR)")
        rows = []
        for p in people:
            labels = f"[{10 * p - draw.randint(1, 4)}, {10 * p + draw.randint(1, 4)}]", "{x, y, z}"
            values = ["own", *["both"][p < planted :], f"other {at}"]
            rows += [(*labels, value) for value in values]
        draw.shuffle(rows)
        insert(con, month, rows)
    con.execute("ALTER TABLE raw ADD COLUMN s VARCHAR")
    *alone, together = composed(con, months, f"{QUASI}, sensitive := 's', id := 'person'")
    assert [row["one_value"] for row in alone] == [0] * len(months)
    assert together["one_value"] == together["below_l"] == planted
    assert together["persons"] == together["in_all"] == len(people)


def test_releases_of_some_persons_only(con):
    con.execute(
        "CREATE TABLE raw AS SELECT i AS p, i AS a, 'w' AS c, 'v' || i AS s FROM range(9) t(i)"
    )
    con.execute("CREATE TABLE low AS SELECT '[0, 5]' AS a, s FROM raw WHERE a <= 5")
    con.execute("CREATE TABLE high AS SELECT '[5, 8]' AS a, s FROM raw WHERE a >= 5")
    con.execute("CREATE TABLE wrong AS SELECT '8' AS a, 'changed' AS s")
    low, high, both = composed(con, ["low", "high"], f"{QUASI}, sensitive := 's'")
    assert (low["persons"], high["persons"], both["persons"]) == (6, 4, 9)
    assert (low["in_all"], high["in_all"], both["in_all"]) == (6, 4, 1)
    assert (low["one_value"], high["one_value"], both["one_value"]) == (0, 0, 1)
    *_, three = composed(con, ["low", "high", "wrong"], f"{QUASI}, sensitive := 's'")
    assert (three["persons"], three["contradicted"], three["one_value"]) == (9, 1, 1)


def test_a_release_may_show_other_columns(con):
    """A quasi-identifier left unchanged, and a sensitive column that only one release has."""
    con.execute(
        "CREATE TABLE raw AS SELECT i AS a, ['x', 'y'][1 + i % 2] AS c, i % 3 AS s, i % 4 AS n "
        "FROM range(12) t(i)"
    )
    con.execute("CREATE TABLE plain AS SELECT a, s FROM raw")
    con.execute("CREATE TABLE other AS SELECT c, s::BIGINT::INTEGER::BIGINT AS s, n FROM raw")
    found = composed(con, ["other"], f"{QUASI}, sensitive := ['s', 'n']")
    assert [row["least_values"] for row in found] == [3, 2]
    con.execute("CREATE OR REPLACE TABLE plain AS SELECT a, s::BIGINT AS s FROM raw")
    found = composed(con, ["plain", "other"], f"{QUASI}, sensitive := ['s', 'n']")
    assert [(row["attribute"], row["releases"], row["one_value"]) for row in found] == [
        ("s", ["plain"], 12),
        ("s", ["other"], 0),
        ("s", ["plain", "other"], 12),
        ("n", ["other"], 0),
    ]


@pytest.mark.parametrize("form", ["label", "typed"])
def test_a_hierarchy(con, form):
    con.execute(
        "CREATE TABLE raw AS SELECT i AS p, 'v' || i % 8 AS c, i % 7 AS s, i % 5 AS a "
        "FROM range(160) t(i)"
    )
    con.execute(
        "CREATE TABLE tree AS SELECT 'c' AS attribute, 'v' || i AS value, level, "
        "[format('v{}', i), format('g{}', i // 2), format('h{}', i // 4), '*'][level + 1] AS label "
        "FROM range(8) t(i), range(4) l(level)"
    )
    roles = f"{QUASI}, sensitive := 's', hierarchy := 'tree'"
    for name, k in (("r0", 5), ("r1", 8)):
        con.execute(
            f"CREATE TABLE {name} AS FROM mondrian('raw', k := {k}, format := '{form}', {QUASI}, "
            "identifiers := ['p'], sensitive := ['s'], hierarchy := 'tree')"
        )
    first, second, both = composed(con, ["r0", "r1"], roles + ", id := 'p'")
    assert first["persons"] == second["in_all"] == both["in_all"] == 160
    assert both["contradicted"] == 0
    assert both["mean_values"] <= min(first["mean_values"], second["mean_values"])
    assert both["least_rows"] <= min(first["least_rows"], second["least_rows"])


@pytest.mark.parametrize("table", [0, composed_boxes._MAX_TABLE_BYTES])
def test_more_persons_than_one_group(con, monkeypatch, table):
    """Groups of persons and classes give what SQL gives on all pairs."""
    monkeypatch.setattr(composed_boxes, "_MAX_TABLE_BYTES", table)
    con.execute(
        "CREATE TABLE raw AS SELECT i AS p, hash(i) % 90 AS a, 'v' || hash(i, 1) % 9 AS c, "
        "hash(i, 2) % 6 AS s FROM range(2000) t(i)"
    )
    for name, k in (("r0", 4), ("r1", 7)):
        con.execute(
            f"CREATE TABLE {name} AS FROM rayden('raw', k := {k}, format := 'typed', {QUASI}, "
            "identifiers := ['p'], sensitive := ['s'], seed := 3)"
        )
    covered = ", ".join(
        f"""{name}_of AS (
            SELECT p, s, count(*) AS rows FROM (SELECT p, a, c FROM raw) AS o, {name}
            WHERE coalesce(o.a BETWEEN {name}.a.min AND {name}.a.max, true)
                AND coalesce(list_contains({name}.c, o.c), true)
            GROUP BY ALL)"""
        for name in ("r0", "r1")
    )
    (wanted,) = con.execute(
        f"""
        WITH {covered}, both_of AS (
            SELECT p, s, least(r0_of.rows, r1_of.rows) AS rows FROM r0_of JOIN r1_of USING (p, s)),
        people AS (
            SELECT p, count(*) AS many, max(rows) / sum(rows) AS part, sum(rows) AS rows
            FROM both_of GROUP BY p)
        SELECT count(*), count_if(many = 1), count_if(many < 3), count_if(part > 0.5), min(many),
            avg(many), min(rows) FROM people
        """
    ).fetchall()
    for more in ("", ", id := 'p'"):
        *_, found = composed(con, ["r0", "r1"], f"{QUASI}, sensitive := 's', l := 3{more}")
        del found["in_all"], found["contradicted"], found["only_together"]
        assert tuple(counts(found).values()) == pytest.approx(wanted)


def test_hostile_names(con):
    age, ill, person, city = 'a "q".b', "SELECT", "ünï'd", "__city"
    con.execute(
        f"""CREATE TABLE "ra'w.t" AS SELECT i AS "a ""q"".b", 'f' || i % 3 AS "{ill}",
        i AS "{person}", 'x' AS "{city}" FROM range(12) t(i)"""
    )
    roles = f"quasi := ['{age}', '{city}'], sensitive := ['{ill}']"
    ids = person.replace("'", "''")
    for name, k in (("from", 3), ("r 2.x", 4)):
        quoted = name.replace('"', '""')
        con.execute(
            f"""CREATE TABLE "{quoted}" AS FROM mondrian('"ra''w.t"', k := {k}, {roles},
            identifiers := ['{ids}'])"""
        )
    found = composed(con, ['"from"', '"r 2.x"'], f"{roles}, id := '{ids}'", """"ra''w.t\"""")
    assert [row["persons"] for row in found] == [12] * 3
    assert found[2]["releases"] == ['"from"', '"r 2.x"']


def test_declared_roles_a_single_name_and_empty_tables(clinic):
    clinic.execute("COMMENT ON COLUMN raw.age IS 'anon:quasi'")
    clinic.execute("COMMENT ON COLUMN raw.city IS 'anon:quasi'")
    clinic.execute("COMMENT ON COLUMN raw.illness IS 'anon:sensitive'")
    (label,) = composed(clinic, "'label'")
    (typed,) = composed(clinic, ["typed"])
    assert counts(label) == counts(typed)
    assert label["one_value"] == 4  # 1, 2, 3 and 5; the classes of 4 show two values
    assert label["persons"] == 5  # 6 and 7 are covered by * alone, which shows no illness
    clinic.execute("CREATE TABLE nobody AS FROM label LIMIT 0")
    (found,) = composed(clinic, ["nobody"])
    assert (found["persons"], found["mean_values"], found["least_rows"]) == (0, None, None)
    *_, both = composed(clinic, ["label", "nobody"])
    *_, twice = composed(clinic, ["label", "label"])
    assert counts(twice) == counts(label)
    assert {**counts(both), "in_all": label["in_all"]} == counts(label)
    clinic.execute("DELETE FROM raw")
    (found,) = composed(clinic, ["label"])
    assert found["persons"] == 0


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
            f"CREATE TABLE {name} AS FROM mondrian('raw', k := 2, quasi := ['a'], "
            f"sensitive := ['s'], keep := ['c'], format := '{form}')"
        )
    found = composed(con, ["label", "typed", "raw"], "quasi := ['a'], sensitive := 's'")
    assert [(row["persons"], row["one_value"]) for row in found] == [(6, 6)] * 4


ERRORS = {
    "[]": "releases must be a list of 1 to 12 names",
    "NULL": "releases must be a list of 1 to 12 names",
    "['label', NULL]": "releases must be a list of names, got NULL among them",
    "['label'], id := 'agee'": "id must name a column of the raw table, got 'agee'",
    "['label'], l := 0": "l must be a whole number of at least 1",
    "['label'], share := 2": "share must be a number",
    "['label', 'noones']": "every release must have a quasi-identifier, got no such column in 'noones'",
    "['label', 'other']": "the releases must have stage in one type, got DATE and INTEGER",
    "['broken']": "a label of age must be one that a release prints, got 1 other class in 'broken'",
    "['ill']": "a release must have every sensitive column, got no column called stage in any",
    "['raw']": "",
}


@pytest.mark.parametrize("given", ERRORS)
def test_errors(clinic, given):
    clinic.execute("CREATE TABLE noones AS SELECT stage FROM label")
    clinic.execute("CREATE TABLE other AS SELECT age, DATE '2000-01-01' AS stage FROM label")
    clinic.execute("CREATE TABLE broken AS SELECT 'old' AS age, stage FROM label")
    clinic.execute("CREATE TABLE ill AS SELECT age, illness FROM label")
    call = f"FROM composition('raw', {given}, sensitive := 'stage', quasi := ['age', 'city'])"
    if not ERRORS[given]:
        assert clinic.execute(call).fetchall()  # a table in which all is left unchanged
        return
    assert ERRORS[given] in fails(clinic, call)


def test_more_errors(clinic):
    names = ["label"] * 13
    call = f"FROM composition('raw', {names}, sensitive := 'stage', quasi := ['age'])"
    assert "1 to 12 names, got 13 names" in fails(clinic, call)
    assert "does not exist" in fails(
        clinic, "FROM composition('raw', ['labl'], sensitive := 'stage', quasi := ['age'])"
    )
    assert "at least one sensitive column is needed" in fails(
        clinic, "FROM composition('raw', ['label'], quasi := ['age'])"
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
        f"CREATE TABLE o AS FROM mondrian('p', k := 4, quasi := 'a', sensitive := 's', "
        f"format := '{form}')"
    )
    said = fails(con, "FROM composition('p', ['p', 'o'], quasi := 'a', sensitive := 's')")
    assert "means, medians, midpoints or values of other rows in 'o'" in said
    said = fails(con, "FROM audit('p', 'o', quasi := 'a', sensitive := 's', previous := ['p'])")
    assert "these cannot be composed" in said
