"""tradeoff: every figure is what the SQL functions say of the release that the method makes."""

from dataclasses import replace

import numpy as np
import pytest

from anon_sql.core import stopping
from anon_sql.methods.method import Partition, _methods, find_method, release_methods
from tests.method.test_compare import HIERARCHIES
from tests.sentence import fails

COLUMNS = [
    *("k", "l", "gcp", "classes", "smallest_class", "suppressed"),
    *("query_error", "largest_share", "exposed_share", "lost_columns", "seconds", "note"),
]
FITTING = sorted(
    name
    for name, known in release_methods().items()
    if not known.perturbative and name not in ("canon", "datafly", "basic_mondrian")
)


def traded(con, table, more=""):
    """The rows by k and l, those with a note left out."""
    found = con.execute(f"FROM tradeoff('{table}'{more})")
    assert [column[0] for column in found.description] == COLUMNS
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in found.fetchall()]
    return {(row["k"], row["l"]): row for row in rows if row["note"] is None}


def said(con, table, method, k, l, more, hierarchy, quasi, sensitive, seed=42):  # noqa: E741
    """What the SQL functions say of the release."""
    con.execute(
        f"CREATE OR REPLACE TABLE r AS FROM {method}('{table}', k := {k}, l := {l}{more}{hierarchy})"
    )
    roles = f", quasi := {quasi}"
    attributes = min(2, len(quasi))
    con.execute(
        f"SET VARIABLE drawn = (SELECT list(query) FROM query_workload('{table}', n := 50, "
        f"attributes := {attributes}, seed := {seed}{roles}))"
    )
    try:
        (error,) = con.execute(
            f"SELECT mean FROM workload_error('{table}', 'r', getvariable('drawn'){roles}{hierarchy})"
        ).fetchall()[0]
    finally:
        con.execute("RESET VARIABLE drawn")
    names = "gcp, classes, smallest_class, suppressed"
    row = con.execute(f"SELECT {names} FROM utility('{table}', 'r'{roles}{hierarchy})").fetchall()[
        0
    ]
    exposed = worst = None
    if sensitive:
        call = f"attack_homogeneity('{table}', 'r', {sensitive}{roles}{hierarchy})"
        ((exposed,),) = con.execute(f"SELECT max(class_share) FROM {call}").fetchall()
        worst = max(largest(con, quasi, name) for name in sensitive)
    return (*row, error, worst, exposed)


def largest(con, quasi, sensitive):
    """The largest share by plain SQL."""
    by = ", ".join(f'"{name}"' for name in quasi)
    ((found,),) = con.execute(
        f"""
        SELECT max(most / held) FROM (
            SELECT {by}, max(n) AS most, sum(n) AS held FROM (
                SELECT {by}, "{sensitive}" AS v, count(*) AS n FROM r
                WHERE v IS NOT NULL GROUP BY ALL)
            GROUP BY {by})
        """
    ).fetchall()
    return found


def agree(con, found, table, method, quasi, sensitive, more="", hierarchy="", seed=42):
    assert found
    for (k, l), row in found.items():  # noqa: E741
        expected = said(con, table, method, k, l, more, hierarchy, quasi, sensitive, seed)
        ours = [row[name] for name in COLUMNS[2:9]]
        assert ours == [e and pytest.approx(e, rel=1e-12) for e in expected], (method, k, l)
        assert row["seconds"] >= 0
        loss = f"attribute_loss('{table}', 'r', quasi := {quasi}{hierarchy})"
        lost = con.execute(f"SELECT attribute FROM {loss} WHERE ncp > 0.9").fetchall()
        assert sorted(row["lost_columns"]) == sorted(name for (name,) in lost)


QUASI, SENSITIVE = ["age", "city", "sex", "born"], ["illness"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "ks", "ls"),
    [
        ("anonymize", [6], [1]),
        ("mondrian", [1, 6], [1, 2]),
        ("dop", [6], [2]),
        ("mondrian_cof", [6], [2]),
    ],
)
def test_several_methods(people, method, ks, ls):
    found = traded(people, "people", f", method := '{method}', ks := {ks}, ls := {ls}")
    assert len(found) == len(ks) * len(ls)
    agree(people, found, "people", method, QUASI, SENSITIVE)


@pytest.mark.parametrize(("method", "some"), [("anonymize", False), ("mondrian", True)])
def test_hierarchies(people, method, some):
    people.execute(HIERARCHIES)
    if some:
        people.execute("DELETE FROM h WHERE attribute IN ('age', 'city')")
    hierarchy = ", hierarchy := 'h'"
    found = traded(people, "people", f", method := '{method}', ks := [5], ls := [1, 3]{hierarchy}")
    agree(people, found, "people", method, QUASI, SENSITIVE, hierarchy=hierarchy)
    assert len(found) == 2


def test_persons_seed_and_several_sensitive_columns(people):
    people.execute("UPDATE people SET illness = NULL WHERE rowid % 5 < 2")
    given = ", quasi := ['age', 'born'], keep := ['city', 'sex'], sensitive := ['score', 'illness']"
    people.execute("COMMENT ON COLUMN people.score IS NULL")
    people.execute("CREATE TABLE twice AS SELECT *, person_id // 2 AS who FROM people")
    roles = f"{given}, entity := 'who', identifiers := ['person_id'], seed := 7"
    found = traded(people, "twice", f", ks := [3], ls := [1, 2]{roles}")
    assert len(found) == 2
    quasi, sensitive = ["age", "born"], ["score", "illness"]
    agree(people, found, "twice", "anonymize", quasi, sensitive, roles, seed=7)


@pytest.mark.slow
def test_further_constraints(people):
    for more in (", t := 0.4", ", beta := 0.8, delta := 3"):
        found = traded(people, "people", f", method := 'mondrian', ks := [5], ls := [1, 2]{more}")
        assert len(found) == 2
        agree(people, found, "people", "mondrian", QUASI, SENSITIVE, more)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["anonymize", "mondrian", "oka"])
def test_strata(people, method):
    """Each figure is that of the release with these strata; one that is too small is a note."""
    strata = ", strata := 'sex'"
    more = f", method := '{method}', ks := [6, 61], ls := [1, 2]{strata}"
    found = traded(people, "people", more)
    assert set(found) == {(6, 1), (6, 2)}
    agree(people, found, "people", method, QUASI, SENSITIVE, strata)
    shown = people.execute("SELECT DISTINCT sex FROM r ORDER BY 1").fetchall()
    assert shown == [("f",), ("m",)]
    notes = people.execute(f"SELECT note FROM tradeoff('people'{more}) WHERE k = 61").fetchall()
    assert notes[0][0].startswith(f"{method}: every stratum must have at least 61 rows, got 2")
    for level, (note,) in enumerate(notes, start=1):
        assert note == fails(people, f"FROM {method}('people', k := 61, l := {level}{strata})")


def test_options_of_the_method(people):
    more = ", method := 'rayden', ks := [5], ls := [1]"
    chosen = "unrecovered := 'suppress', alpha := 0.3, cut := 'aligned'"
    given = "{'rayden': {'unrecovered': 'suppress', 'alpha': 0.3, 'cut': 'aligned'}}"
    found = traded(people, "people", f"{more}, options := {given}")
    agree(people, found, "people", "rayden", QUASI, SENSITIVE, f", {chosen}")
    assert found[5, 1]["gcp"] != traded(people, "people", more)[5, 1]["gcp"]


@pytest.mark.slow
def test_suppressed_rows(people):
    """They are a class, of the sensitive values as of the queries."""
    people.execute("UPDATE people SET city = 'c' || rowid WHERE rowid % 7 = 0")
    options = ", options := {'datafly': {'suppression_limit': 0.3}}"
    more = ", hierarchy := 'h'"
    people.execute(HIERARCHIES)
    found = traded(
        people, "people", f", method := 'datafly', ks := [9], ls := [1, 2]{options}{more}"
    )
    assert any(row["suppressed"] for row in found.values())
    limit = ", suppression_limit := 0.3"
    agree(people, found, "people", "datafly", QUASI, SENSITIVE, limit, more)


@pytest.mark.slow
def test_columns_of_every_type_and_hostile_names(con):
    con.execute(
        """
        CREATE TABLE "a table.x" AS SELECT
            (i * 37 % 50)::TINYINT AS "select", 170141183460469231731687303715884105000::HUGEINT
                + i % 40 * 3 AS "a ""b", (i * 11 % 60)::DECIMAL(4, 1) / 3 AS "a.b",
            (i % 13 / 7)::FLOAT AS f, DATE '2000-01-01' + (i * 3 % 71)::INTEGER AS h,
            (TIMESTAMP '2020-01-01' + to_seconds(i % 31))::TIMESTAMPTZ AS p,
            TIME '10:00:00' + to_minutes(i % 100) AS q,
            if(i % 9 = 0, NULL, i % 3 = 0) AS u, ['x', 'it''s, {a}', '*', ''][1 + i % 4] AS "ä",
            ['one', 'two'][1 + i % 2]::ENUM ('two', 'none', 'one') AS w,
            ('00000000-0000-0000-0000-0000000000' || (10 + i % 7))::UUID AS y,
            NULL::INTEGER AS nothing, i % 5 AS "sensitive, one"
        FROM range(240) AS r(i)
        """
    )
    names = [row[0] for row in con.execute('DESCRIBE "a table.x"').fetchall()][:-1]
    for quasi in (names[:4], names[4:7], names[7:11], names[10:12], ["nothing"]):
        kept = ["*", *{"y"}.difference(quasi)]
        roles = f", quasi := {quasi}, sensitive := ['sensitive, one'], keep := {kept}"
        roles = roles.replace("'a \"b'", "'a \"b'")
        found = traded(con, '"a table.x"', f", method := 'mondrian', ks := [4], ls := [2]{roles}")
        assert set(found) == {(4, 2)}, quasi
        row = found[4, 2]
        if quasi[-1] == "nothing":
            assert (row["query_error"] is None) == (quasi == ["nothing"])
            continue
        quoted = [name.replace('"', '""') for name in quasi]
        con.execute('CREATE OR REPLACE VIEW v AS FROM "a table.x"')
        expected = said(con, "v", "mondrian", 4, 2, roles, "", quasi, [])
        assert [row[n] for n in COLUMNS[2:7]] == [pytest.approx(e, rel=1e-9) for e in expected[:5]]
        assert row["largest_share"] == pytest.approx(largest(con, quoted, "sensitive, one"))


def test_without_a_sensitive_column(people):
    roles = ", quasi := ['age', 'city'], keep := ['*']"
    people.execute("CREATE TABLE plain AS SELECT age, city, score FROM people")
    rows = people.execute(f"FROM tradeoff('plain', ks := [5], ls := [1, 2]{roles})").fetchall()
    one, two = (dict(zip(COLUMNS, row, strict=True)) for row in rows)
    assert (one["largest_share"], one["exposed_share"], one["note"]) == (None, None, None)
    assert one["gcp"] > 0
    assert two["note"].startswith("anonymize: at least one sensitive column is needed")
    assert all(two[name] is None for name in COLUMNS[2:-1])


def test_what_cannot_be_is_a_note(people):
    rows = people.execute(
        "SELECT k, l, gcp, note FROM tradeoff('people', method := 'mondrian', "
        "ks := [5, 2.5, NULL, 121], ls := [1, 4, 1.5])"
    ).fetchall()
    assert [row[:2] for row in rows] == [
        *[(5, 1), (5, 4), (5, None)],
        *6 * [(None, None)],
        *[(121, 1), (121, 4), (121, None)],
    ]
    assert [row[2] is None for row in rows] == [False, *11 * [True]]
    assert rows[1][3] == fails(people, "FROM mondrian('people', k := 5, l := 4)")
    assert rows[2][3] == "mondrian: l must be a whole number of at least 1, got 1.5"
    assert rows[3][3] == "mondrian: k must be a whole number of at least 1, got 2.5"
    assert rows[9][3] == fails(people, "FROM mondrian('people', k := 121)")
    perturbed = people.execute("SELECT note FROM tradeoff('people', ks := [5], method := 'sdka')")
    assert perturbed.fetchall()[0][0].startswith(
        "sdka: tradeoff measures releases that add no rows"
    )


def test_an_empty_table(people):
    people.execute("CREATE TABLE none AS FROM people LIMIT 0")
    rows = people.execute(
        "FROM tradeoff('none', ks := [5], ls := [1], quasi := ['age'])"
    ).fetchall()
    assert rows == [(5, 1, None, 0, None, 0, None, None, None, [], 0.0, None)]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (
            "method := 'raiden'",
            "method must name release methods, got 'raiden'; did you mean rayden",
        ),
        ("method := NULL", "method must name release methods, got NULL"),
        ("ls := []", "ls must be whole numbers"),
        ("ks := NULL", "ks must be whole numbers, got NULL"),
        ("queries := 0", "queries must be a whole number of at least 1, got 0"),
        (
            "quasi := ['agee']",
            "quasi must name columns of the table, got 'agee'; did you mean age?",
        ),
        ("entity := 'nobody'", "entity must name a column of the table, got 'nobody'"),
    ],
)
def test_what_is_refused(people, given, sentence):
    assert fails(people, f"FROM tradeoff('people', {given})").startswith(f"tradeoff: {sentence}")


def test_any_number_of_threads_and_any_order(people):
    more = ", ks := [4], ls := [1, 2]"
    expected = people.execute(
        f"SELECT * EXCLUDE (seconds) FROM tradeoff('people'{more})"
    ).fetchall()
    people.execute("SET threads = 1")
    people.execute("CREATE TABLE other AS FROM people ORDER BY hash(person_id)")
    roles = (
        f", quasi := {QUASI}, sensitive := 'illness', keep := 'score', identifiers := 'person_id'"
    )
    other = people.execute(f"SELECT * EXCLUDE (seconds) FROM tradeoff('other'{more}{roles})")
    assert other.fetchall() == expected


def test_ctrl_c_stops_all(people, monkeypatch):
    begun = []

    def pressed(table, call):
        begun.append(call.constraint.k)
        if call.constraint.k == 5:
            stopping.request_all()
            stopping.check(call.function)
        return Partition(np.zeros(table.rows, dtype=np.int32))

    monkeypatch.setitem(_methods, "mondrian", replace(find_method("mondrian"), run=pressed))
    call = "FROM tradeoff('people', method := 'mondrian', ks := [7, 5, 9], ls := [1])"
    assert fails(people, call) == "tradeoff: stopped on request; nothing was released"
    assert 7 in begun
    assert 9 not in begun


@pytest.mark.parametrize("entity", ["NULL", "'who'"])
def test_a_table_with_fewer_rows_or_persons_than_two(con, entity):
    con.execute("CREATE TABLE t AS SELECT 1 AS age, 'x' AS city, 3 AS who")
    for table in ("t", "(FROM t UNION ALL FROM t)"):
        con.execute(f"CREATE OR REPLACE TABLE few AS FROM {table}")
        ones = con.execute(
            "SELECT k, classes, note FROM tradeoff('few', quasi := ['age', 'city'], "
            f"ks := [1, 3], ls := [1], entity := {entity})"
        ).fetchall()
        assert ones[0] == (1, 1, None)
        assert ones[1][:2] == (3, None)
        assert "k must be at most" in ones[1][2]
    found = con.execute(
        "SELECT note FROM compare('t', ks := [1], quasi := ['age', 'city'])"
    ).fetchall()
    assert (None,) in found


def test_columns_that_say_nothing_any_more(people):
    ((rows,),) = people.execute("SELECT count(*) FROM people").fetchall()
    found = traded(people, "people", f", ks := [2, {rows}], ls := [1]")
    assert found[2, 1]["lost_columns"] == []
    assert found[rows, 1]["lost_columns"] == QUASI
    agree(people, found, "people", "anonymize", QUASI, SENSITIVE)
