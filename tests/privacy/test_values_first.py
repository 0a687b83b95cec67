"""Measures of a table that is measured against itself, and of honest releases of hostile texts."""

from collections import Counter
from math import exp, log

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import anon_sql
from tests.drawing import examples
from tests.inserting import insert
from tests.sentence import fails

pytestmark = pytest.mark.quick

HOSTILE = (
    "a",
    "b",
    "*",
    "'*'",
    "{a, b}",
    "{'*', a}",
    "'{a, b}'",
    "{a}",
    "'a'",
    '"a"',
    "Washington, D.C.",
    "L'Aquila",
    "[60,80[",
    "[1, 2]",
    "",
    " a",
    "NULL",
    "{",
    None,
)
TEXTS = st.sampled_from(HOSTILE)
ROWS = st.lists(st.tuples(TEXTS, TEXTS, st.sampled_from("xyz")), min_size=1, max_size=14)


def true_levels(classes: dict) -> dict[str, float]:
    """The levels of classes, counted again; classes: the sensitive values of each."""
    counts = [Counter(values) for values in classes.values()]
    total = Counter(value for values in classes.values() for value in values)
    rows = sum(total.values())
    apart = [
        sum(abs(one[value] / sum(one.values()) - total[value] / rows) for value in total) / 2
        for one in counts
    ]
    return {
        "k_anonymity": min(sum(one.values()) for one in counts),
        "l_diversity": min(map(len, counts)),
        "entropy": min(
            exp(-sum(n / sum(one.values()) * log(n / sum(one.values())) for n in one.values()))
            for one in counts
        ),
        "t_closeness": max(apart),
        "max_share": max(max(one.values()) / sum(one.values()) for one in counts),
    }


def of_rows(rows) -> dict:
    classes: dict = {}
    for *key, value in rows:
        classes.setdefault(tuple(key), []).append(value)
    return classes


def found_levels(con, tables: str, quasi: str) -> dict[str, float]:
    """The levels that the macros return; tables: their first arguments."""
    calls = {
        "k_anonymity": f"k_anonymity({tables}, quasi := {quasi})",
        "l_diversity": f"l_diversity({tables}, sensitive := 's', quasi := {quasi})",
        "entropy": f"l_diversity({tables}, sensitive := 's', kind := 'entropy', quasi := {quasi})",
        "t_closeness": f"t_closeness({tables}, sensitive := 's', quasi := {quasi})",
        "max_share": f"max_share({tables}, sensitive := 's', quasi := {quasi})",
    }
    row = con.execute(f"SELECT {', '.join(calls.values())}").fetchall()[0]
    return dict(zip(calls, row, strict=True))


@pytest.fixture(scope="module")
def base():
    with anon_sql.connect() as con:
        con.execute("CREATE TABLE t (x VARCHAR, y VARCHAR, s VARCHAR)")
        con.execute("CREATE TABLE copy (x VARCHAR, y VARCHAR, s VARCHAR)")
        yield con


def fill(con, table: str, rows) -> None:
    con.execute(f"TRUNCATE {table}")
    insert(con, table, [list(row) for row in rows])


@given(rows=ROWS, tables=st.sampled_from(("'t', 't'", "'t', 'copy'", "'t'")))
@examples(60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_table_against_itself_or_a_copy_has_the_levels_of_its_values(base, rows, tables):
    for table in ("t", "copy"):
        fill(base, table, rows)
    right = pytest.approx(true_levels(of_rows(rows)), abs=1e-9)
    assert found_levels(base, tables, "['x', 'y']") == right
    loss = base.execute("SELECT suppressed, gcp FROM utility('t', 'copy', quasi := ['x', 'y'])")
    assert loss.fetchall() == [(0, 0)]
    audited = base.execute("FROM audit('t', 'copy', quasi := ['x', 'y'], keep := ['s'])").fetchall()
    failed = [row[0] for row in audited if row[3] is False]
    assert set(failed) <= {"identifying_columns", "identifying_combinations"}


METHODS = ("mondrian('raw', k := 2", "anonymize('raw', k := 2, suppression_limit := 0.5")


@given(
    rows=st.lists(st.tuples(TEXTS, st.integers(1, 4), st.sampled_from("xyz")), min_size=4),
    method=st.sampled_from(METHODS),
)
@examples(60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_release_of_hostile_texts_has_the_levels_of_its_classes(base, rows, method):
    base.execute("CREATE OR REPLACE TABLE raw (x VARCHAR, y INTEGER, s VARCHAR)")
    insert(base, "raw", [list(row) for row in rows])
    base.execute(f"CREATE OR REPLACE TABLE r AS FROM {method}, quasi := ['x', 'y'], keep := ['s'])")
    classes = of_rows(base.execute("SELECT x, y, s FROM r").fetchall())
    assert found_levels(base, "'raw', 'r'", "['x', 'y']") == pytest.approx(
        true_levels(classes), abs=1e-9
    )
    audited = base.execute(
        "FROM audit('raw', 'r', k := 2, quasi := ['x', 'y'], keep := ['s'])"
    ).fetchall()
    failed = [row[0] for row in audited if row[3] is False]
    assert set(failed) <= {"identifying_columns", "identifying_combinations"}


GROUPS = {"A": "xxyy", "B": "xyz", "C": "xxxy"}
ENTROPY = exp(log(4) - 0.75 * log(3))
RIGHT = (3, 2, ENTROPY, 1, 2 / 11 + 2 / 33, 0.75)


@pytest.fixture
def checked(con):
    con.execute("CREATE TABLE t (place VARCHAR, age INTEGER, s VARCHAR)")
    places = {"A": "Washington, D.C.", "B": "L'Aquila", "C": "[60,80["}
    rows = [
        [places[key], 30 + at, value]
        for at, (key, group) in enumerate(GROUPS.items())
        for value in group
    ]
    insert(con, "t", rows)
    return con


def levels_of(con, tables: str, table: str = "t") -> tuple:
    quasi = "quasi := ['place', 'age']"
    return con.execute(
        f"SELECT k_anonymity({table!r}, {quasi}), l_diversity({tables}, {quasi}), "
        f"l_diversity({tables}, {quasi}, kind := 'entropy'), "
        f"l_diversity({tables}, {quasi}, kind := 'recursive', c := 3), "
        f"t_closeness({tables}, {quasi}), max_share({tables}, {quasi})"
    ).fetchall()[0]


@pytest.mark.oldest
@pytest.mark.parametrize(
    "tables", ["'t', 's'", "'t', ['s']", "'t', sensitive := 's'", "'t', 't', 's'", "'T', 'S'"]
)
def test_the_levels_of_a_finished_table_are_exact(checked, tables):
    assert levels_of(checked, tables) == pytest.approx(RIGHT, abs=1e-9)


def test_a_finished_table_may_be_a_cte_a_file_a_temporary_or_a_released_table(checked, tmp_path):
    con, file = checked, tmp_path / "t.parquet"
    con.execute(f"COPY t TO '{file}'")
    assert levels_of(con, f"'{file}', 's'", str(file)) == pytest.approx(RIGHT, abs=1e-9)
    con.execute("CREATE TEMP TABLE held AS FROM t")
    assert levels_of(con, "'held', 's'", "held") == pytest.approx(RIGHT, abs=1e-9)
    found = con.execute(
        "WITH c AS (FROM t) SELECT l_diversity('c', 's', quasi := ['place', 'age'])"
    )
    assert found.fetchall() == [(2,)]
    con.execute(
        "CREATE TABLE r AS FROM mondrian('t', k := 3, quasi := ['place', 'age'], "
        "keep := ['s'], format := 'typed')"
    )
    rows = con.execute("SELECT count(*) FROM r GROUP BY place, age").fetchall()
    assert con.execute("SELECT k_anonymity('r', quasi := ['place', 'age'])").fetchall() == [
        min(rows)
    ]


def test_a_name_that_is_a_relation_and_a_column_is_the_relation(checked):
    con = checked
    con.execute("CREATE TABLE s AS FROM t LIMIT 0")
    said = fails(con, "SELECT l_diversity('t', 's', quasi := ['place', 'age'])")
    assert said.startswith("l_diversity: at least one sensitive column is needed")
    con.execute("COMMENT ON COLUMN t.s IS 'anon:sensitive'")
    con.execute("CREATE TABLE r AS FROM mondrian('t', k := 11, quasi := ['place', 'age'])")
    assert con.execute("SELECT l_diversity('t', 'r', quasi := ['place', 'age'])").fetchall() == [
        (3,)
    ]
    assert con.execute("SELECT l_diversity('t', quasi := ['place', 'age'])").fetchall() == [(2,)]


def test_null_infinity_and_nan_are_values_of_a_finished_table(con):
    con.execute("CREATE TABLE t (x DOUBLE, y VARCHAR)")
    con.execute(
        "INSERT INTO t VALUES ('nan', NULL), ('nan', NULL), ('inf', '*'), ('inf', '*'), (NULL, ''), "
        "(NULL, '')"
    )
    assert con.execute("SELECT k_anonymity('t', quasi := ['x', 'y'])").fetchall() == [(2,)]
    found = con.execute(
        "SELECT rows, prosecutor, prosecutor_mean FROM risk('t', quasi := ['x', 'y'])"
    )
    assert found.fetchall() == [(6, 0.5, 0.5)]
    con.execute("TRUNCATE t")
    assert con.execute("SELECT k_anonymity('t', quasi := ['x', 'y'])").fetchall() == [(None,)]
    assert con.execute("SELECT rows, prosecutor FROM risk('t', quasi := ['x'])").fetchall() == [
        (0, None)
    ]


def test_one_table_beside_a_population_or_its_size(checked):
    con, quasi = checked, "quasi := ['place', 'age']"
    con.execute("CREATE TABLE people AS FROM t UNION ALL FROM t")
    found = con.execute(
        f"SELECT rows, prosecutor, k_map, journalist FROM risk('t', population := 'people', {quasi})"
    )
    assert found.fetchall() == [(11, 1 / 3, 6, 1 / 6)]
    one = con.execute(f"FROM risk('t', population_size := 22, {quasi})").fetchall()
    assert one == con.execute(f"FROM risk('t', 't', population_size := 22, {quasi})").fetchall()


def test_frames_are_measured_as_they_are(checked):
    frame, quasi = checked.sql("FROM t").to_arrow_table(), ["place", "age"]
    assert anon_sql.k_anonymity(frame, quasi=quasi) == 3
    assert anon_sql.l_diversity(frame, "s", quasi=quasi) == 2
    found = anon_sql.l_diversity(frame, sensitive=["s"], kind="entropy", quasi=quasi)
    assert found == pytest.approx(ENTROPY, abs=1e-9)
    assert anon_sql.t_closeness(frame, "S", quasi=quasi) == pytest.approx(RIGHT[4], abs=1e-9)
    assert anon_sql.l_diversity(frame, frame, sensitive="s", quasi=quasi) == 2
    assert anon_sql.frames.risk(frame, quasi=quasi)["prosecutor"].to_pylist() == [1 / 3]
    with pytest.raises(anon_sql.AnonError, match="released must be the path"):
        anon_sql.l_diversity(frame, "nothing", quasi=quasi)


CALLS = {
    "k": "SELECT k_anonymity({0}, {1})",
    "l": "SELECT l_diversity({0}, 's', {1})",
    "beta": "SELECT beta_likeness({0}, 's', {1})",
    "delta": "SELECT delta_disclosure({0}, 's', {1})",
    "dm": "SELECT dm({0}, {1}), dm_star({0}, {1}), cavg({0}, {1}), gcp({0}, {1}), iloss({0}, {1})",
    "suppression": "SELECT suppression_rate({0}, {1})",
    "attribute_loss": "FROM attribute_loss({0}, {1})",
    "classes": "SELECT size, ncp, distinct_s FROM equivalence_classes({0}, sensitive := 's', {1})",
    "risk": "FROM risk({0}, {1})",
    "population": "FROM risk({0}, population := '{2}', {1})",
    "homogeneity": "FROM attack_homogeneity({0}, sensitive := 's', {1})",
    "background": "FROM attack_background({0}, sensitive := 's', {1})",
    "inference": "FROM attack_inference({0}, sensitive := 's', {1})",
    "linking": "FROM attack_linking({0}, sensitive := 's', {1})",
    "skewness": "FROM attack_skewness({0}, sensitive := 's', {1})",
    "composition": "FROM composition('{2}', ['{3}'], sensitive := 's', {1})",
    "query": "SELECT * EXCLUDE (query) FROM query_error({0}, "
    "['SELECT count(*) FROM {2} WHERE x = ''{4}'' AND y < 3'], {1})",
    "classification": "SELECT count(DISTINCT accuracy) FROM classification({0}, 's', {1})",
    "audit": "SELECT * EXCLUDE (example) FROM audit({0}, k := 2, l := 1, t := 1, sensitive := 's', {1})",
}


@pytest.fixture(scope="module")
def renamed():
    """A table of hostile texts and its copy, and the same with harmless texts."""
    values = sorted((text for text in HOSTILE if text), key=str.encode)
    with anon_sql.connect() as con:
        for kind in ("hostile", "harmless"):
            con.execute(f"CREATE TABLE {kind} (x VARCHAR, y INTEGER, s VARCHAR)")
            rows = [
                [text if kind == "hostile" else f"v{at:02}", y % 4, "ab"[(at + y) % 2]]
                for at, text in enumerate(values)
                for y in range(2 + at % 3)
            ]
            insert(con, kind, rows)
            con.execute(
                f"CREATE TABLE {kind}_copy AS SELECT * REPLACE (y::VARCHAR AS y) FROM {kind}"
            )
        yield con, values


@pytest.mark.parametrize("name", CALLS)
def test_hostile_texts_are_measured_as_harmless_ones_are(renamed, name):
    con, values = renamed
    at = values.index("Washington, D.C.")
    found = []
    for kind, text in (("hostile", values[at]), ("harmless", f"v{at:02}")):
        pair = f"'{kind}', '{kind}_copy'"
        sql = CALLS[name].format(pair, "quasi := ['x', 'y']", kind, f"{kind}_copy", text)
        rows = con.execute(sql).fetchall()
        found.append(sorted(str(row).replace(kind, "table") for row in rows))
    assert found[0] == found[1]


def test_a_release_that_lacks_the_rows_of_such_a_text_is_not_called_swapped(con):
    con.execute("CREATE TABLE t AS SELECT unnest(['{x}', '*', 'a', 'a', 'a', 'b', 'b']) AS v")
    con.execute("CREATE TABLE r AS FROM t WHERE v IN ('a', 'b')")
    found = con.execute(
        "SELECT property FROM audit('t', 'r', k := 2, suppressed := 'drop', quasi := ['v']) "
        "WHERE passed IS FALSE"
    ).fetchall()
    assert found == []


def test_a_null_that_no_raw_null_explains_hides_any_value(con):
    """As other programs suppress single values; what is NULL in the raw table may be so, too."""
    con.execute("""CREATE TABLE t AS SELECT if(i = 0, NULL, chr((97 + i % 3)::INT)) AS c,
        chr((120 + i % 2)::INT) AS d, i % 4 AS s FROM range(24) AS r(i)""")
    con.execute("CREATE TABLE r AS SELECT if(c = 'a', NULL, c) AS c, d, s FROM t")
    failed = (
        "SELECT property FROM audit('t', '{}', k := 4, quasi := ['c', 'd'], keep := 's') WHERE "
    )
    failed += "property IN ('true_labels', 'covered_rows', 'matched_rows', 'label_spelling', 'k') AND NOT passed"
    assert con.execute(failed.format("r")).fetchall() == []
    measure = "SELECT {}('t', 'r', quasi := ['c', 'd'])"
    assert con.execute(measure.format("k_anonymity")).fetchall() == [(4,)]
    assert con.execute(measure.format("gcp")).fetchall() == [(8 / 48,)]
    assert con.execute(measure.format("suppression_rate")).fetchall() == [(0,)]
    con.execute("UPDATE r SET c = NULL, d = NULL WHERE s = 1")
    assert con.execute(measure.format("suppression_rate")).fetchall() == [(0.25,)]
    con.execute("CREATE TABLE other AS SELECT c, if(c IS NULL, 'y', d) AS d, s FROM t")
    assert con.execute(failed.format("other")).fetchall() != []
    con.execute("CREATE TABLE named AS SELECT coalesce(c, 'a') AS c, d, s FROM t")
    con.execute("UPDATE named SET c = NULL WHERE c = 'b' AND s = 1 AND d = 'y' AND rowid < 5")
    count = "SELECT count(*) - count(c) FROM {}"
    assert (
        con.execute(count.format("named")).fetchall() == con.execute(count.format("t")).fetchall()
    )
    assert ("true_labels",) in con.execute(failed.format("named")).fetchall()
