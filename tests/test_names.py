"""Tables and columns under every name that DuckDB allows, those of our own macros among them."""

import re

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import anon_sql
from anon_sql.core.names import quote
from anon_sql.hosts.duckdb.sql_files import sql_files
from tests.sentence import fails

pytestmark = pytest.mark.oldest

SQL = "\n".join(f.text for f in sql_files() if "measure" not in f.name + f.folder)
INSIDE = sorted(
    {
        *re.findall(r"\b([a-z]\w*) :=", SQL),
        *re.findall(r"'([a-z]\w*)':", SQL),
        *re.findall(r"\w\.([a-z]\w*)", SQL),
        *re.findall(r"\bAS ([a-z]\w*)\b", SQL),
        *re.findall(r"[(,] ?([a-z]\w*)(?: [A-Z]+)?(?=[,)])", SQL),
    }
)
CTES = sorted(set(re.findall(r"^(__anon_\w+) AS (?:MATERIALIZED )?\($", SQL, re.MULTILINE)))
FIRST = ("__anon_begun", "__anon_given")  # CTEs that stand before the relation is read
ODD = [
    *("a b", "a.b", 'a"b', '"', "'", "''", "a\\b", "\\0", "%", "{x}", "[a]", "-- x", "/*", "a;b"),
    *(" lead", "trail ", "\n", "\t", "*", "1", "NULL", "true", "select", "É", "é", "😀"),
    *("x" * 300, "main", "temp", "memory", "rowid", "MixedCase", "a=b", "$1", "?", ":x"),
]
NAMES = sorted({*INSIDE, *ODD} - {"cof", "outlier", "class_id"})


@pytest.fixture(scope="module")
def con():
    with anon_sql.connect() as connection:
        yield connection


def literal(text):
    return "'" + text.replace("'", "''") + "'"


def names(given):
    return "[" + ", ".join(map(literal, given)) + "]"


def filled(con, table, columns):
    """A table of 24 rows and four classes, its columns numbers and texts in turn."""
    values = ["i % 3", "'v' || i % 3"]
    made = ", ".join(f"{values[at % 2]} AS {quote(name)}" for at, name in enumerate(columns))
    con.execute(
        f"CREATE OR REPLACE TABLE {table} AS SELECT {made}, i // 6 AS class_id FROM range(24) AS r(i)"
    )


def test_there_are_names_to_try():
    assert {"alpha", "format", "seed", "cut", "tbl", "k", "v", "x", "label"} <= set(INSIDE)
    assert {"probe", "kept", "number", "min", "max", "buffer", "position"} & set(INSIDE)
    assert {"__anon_begun", "__anon_read", "__anon_checked"} <= set(CTES)


@pytest.mark.parametrize(
    ("method", "form", "odd"), [("rayden", "label", 0), ("generalize", "typed", 1)]
)
def test_columns_of_any_name(con, method, form, odd):
    """Every other name is a quasi-identifier, the rest is kept, some are identifiers."""
    quasi, rest = NAMES[odd::2], NAMES[1 - odd :: 2]
    identifiers, keep = rest[::2], rest[1::2]
    filled(con, "t", NAMES)
    roles = f"quasi := {names(quasi)}, identifiers := {names(identifiers)}, format := '{form}'"
    released = [name for name in NAMES if name not in identifiers]
    kept = [*keep, "class_id"] if method == "rayden" else keep
    rel = con.sql(f"FROM {method}('t', k := 4, {roles}, keep := {names(kept)})")
    assert rel.columns == [*released, *(["class_id"] if method == "rayden" else [])]
    rows = rel.fetchall()
    assert len(rows) == 24
    at = [rel.columns.index(name) for name in keep]
    raw = con.execute(f"SELECT {', '.join(map(quote, keep))} FROM t").fetchall()
    assert sorted(tuple(row[i] for i in at) for row in rows) == sorted(raw)


@pytest.mark.slow
def test_every_step_on_columns_of_any_name(con):
    filled(con, "t", NAMES)
    quasi = names(NAMES)
    steps = (
        f"WITH raw AS (SELECT * EXCLUDE (class_id) FROM t), "
        f"parts AS (FROM vp_partition('raw', k := 4, quasi := {quasi})), "
        f"scored AS (FROM cof_score('parts', k := 4, quasi := {quasi})) "
        f"FROM generalize('scored', k := 4, quasi := {quasi})"
    )
    generalized = con.execute(steps)
    assert [column[0] for column in generalized.description] == NAMES
    assert len(generalized.fetchall()) == 24
    assert con.execute(f"SELECT map_keys(gower_ranges('t', {quasi}))").fetchall() == [(NAMES,)]
    assert con.execute(
        f"SELECT partitions FROM rayden_stats('t', k := 12, quasi := {quasi})"
    ).fetchall()
    near = (
        f"SELECT max(gower(left_, right_, gower_ranges('t', {quasi}))) "
        "FROM t AS left_, (FROM t LIMIT 2) AS right_"
    )
    assert 0 < con.execute(near).fetchall()[0][0] <= 1


def test_roles_of_columns_of_any_name(con):
    own = {*ODD, "name", "type", "role", "source", "distinct_values", "nulls", "attribute", "tbl"}
    filled(con, "t", sorted(own))
    found = con.execute(f"SELECT column_name, role FROM anon_roles('t', quasi := {names(own)})")
    wanted = [*((name, "quasi") for name in sorted(own)), ("class_id", None)]
    assert found.fetchall() == wanted


@pytest.mark.parametrize("name", [*ODD, "tbl", "k", "label", "texts", "t"])
def test_tables_of_any_name(con, name):
    """1.5 takes a doubled quote in a name given to query_table for none at all."""
    if '"' in name and duckdb.__version__ < "2":
        pytest.skip("DuckDB 1.5 does not find a table whose name has a double quote")
    filled(con, quote(name), ["a", "b"])
    relation = literal(quote(name))
    rows = con.execute(
        f"FROM rayden({relation}, k := 4, quasi := ['A', 'B'], keep := ['CLASS_ID'])"
    )
    assert [name for name, *_ in rows.description] == ["a", "b", "class_id"]
    assert len(rows.fetchall()) == 24
    con.execute(f"DROP TABLE {quote(name)}")


@pytest.mark.parametrize("name", CTES)
def test_tables_and_ctes_called_like_those_inside_the_macros(con, name):
    """Either they are read or, where the macro's own comes first, it is an error."""
    filled(con, name, ["a", "b"])
    filled(con, "t", ["c", "d"])
    table = f"FROM generalize('{name}', k := 4, quasi := ['a', 'b'], keep := ['*'])"
    cte = f"WITH {name} AS (FROM t) FROM generalize('{name}', k := 4, quasi := ['c', 'd'], keep := ['*'])"
    if name in FIRST:
        for call in (table, cte):
            with pytest.raises(duckdb.BinderException, match="__anon_"):
                con.execute(call)
    else:
        call = cte if CTES.index(name) % 2 else table
        assert len(con.execute(call).fetchall()) == 24
    con.execute(f"DROP TABLE {name}")


@pytest.mark.parametrize(
    "column", ["__anon_zero", "__anon_hash", "__anon_x", "__anon_", "__Anon_Zero", "__ANON_HASH"]
)
def test_a_column_with_our_prefix_is_refused(con, column):
    con.execute(
        f"CREATE OR REPLACE TABLE t AS SELECT i % 2 AS a, i % 3 AS {column} FROM range(9) AS r(i)"
    )
    for method in ("rayden", "vp_partition", "gower_ranges", "anon_roles"):
        arguments = "'t', quasi := ['a']"
        call = (
            "SELECT gower_ranges('t', ['a'])"
            if method == "gower_ranges"
            else f"FROM {method}({arguments})"
        )
        said = fails(con, call)
        assert said.startswith(f"{method}: column names must not begin with __anon_, got {column}")


def test_k_as_a_comparison_on_a_column_called_k(con):
    filled(con, "t", ["k", "b"])
    assert (
        len(con.execute("FROM rayden('t', k := 4, quasi := ['k', 'b'], keep := ['*'])").fetchall())
        == 24
    )
    assert fails(con, "FROM rayden('t', k = 4, quasi := ['k', 'b'], keep := ['*'])") == (
        "rayden: k must be a whole number of at least 1, got a BOOLEAN; "
        "write k := 7, since k = 7 is a comparison"
    )


@pytest.fixture(scope="module")
def everywhere(con, tmp_path_factory):
    """The same 24 rows as all that can be named; the names, each with an example."""
    folder = tmp_path_factory.mktemp("files and 'quotes'")
    filled(con, "main.source", ["a", "b"])
    con.execute('CREATE SCHEMA "my schema"; CREATE TABLE "my schema"."my table" AS FROM source')
    con.execute("CREATE VIEW seen AS FROM source; CREATE TEMP TABLE passing AS FROM source")
    con.execute("CREATE TEMP VIEW glance AS FROM passing; ATTACH ':memory:' AS other")
    con.execute("CREATE SCHEMA other.inner_; CREATE TABLE other.inner_.t AS FROM source")
    con.execute("CREATE TABLE other.t AS FROM source; SET VARIABLE t = 'source'")
    for ending in ("parquet", "csv", "json"):
        con.execute(f"COPY source TO {literal(f'{folder}/t.{ending}')}")
    con.execute(f"COPY source TO {literal(f'{folder}/a.b.c.parquet')}")
    con.register("registered", con.execute("FROM source").df())
    con.register("Odd Name", con.sql("FROM source").to_arrow_table())
    return folder


@pytest.mark.parametrize(
    "name",
    [
        *("source", "SOURCE", "main.source", "memory.source", "memory.main.source", '"source"'),
        *('"my schema"."my table"', 'memory."My Schema"."MY TABLE"', "seen", "glance"),
        *("passing", "temp.passing", "other.t", "other.inner_.t", "other.main.t", "registered"),
        *('"Odd Name"', "{}/t.parquet", "{}/t.csv", "{}/t.json", "{}/*.csv", '"{}/t.parquet"'),
        *("frame", "arrow", "relation", "arrays"),
    ],
)
def test_relations_of_any_kind(con, everywhere, name):
    frame: pd.DataFrame = con.execute("FROM source").df()
    arrow, relation = con.sql("FROM source").to_arrow_table(), con.sql("FROM source")
    arrays = {column: frame[column].to_numpy() for column in frame}
    assert len(frame) == len(arrow) == len(relation) == len(arrays["a"])
    call = f"rayden({literal(name.format(everywhere))}, k := 4, quasi := ['a', 'b'], keep := ['*'])"
    assert con.execute(f"SELECT count(*), count(DISTINCT class_id) FROM {call}").fetchall() == [
        (24, 4)
    ]


def test_names_that_are_expressions(con, everywhere):
    call = "SELECT count(*) FROM rayden({}, k := 4, quasi := ['a', 'b'], keep := ['*'])"
    assert con.execute(call.format("?"), ["source"]).fetchall() == [(24,)]
    assert con.execute(call.format("$1"), ["other.t"]).fetchall() == [(24,)]
    for name in ("getvariable('t')", "'sou' || 'rce'", "tbl := 'source'"):
        assert con.execute(call.format(name)).fetchall() == [(24,)]
    cte = "WITH made AS (SELECT a, b FROM source) " + call.format("'made'")
    assert con.execute(cte).fetchall() == [(24,)]


@pytest.mark.parametrize(
    "name", ["nope", "(SELECT 1)", "range(3)", "source s", "source;", "nope.source"]
)
def test_what_is_no_relation_is_duckdbs_own_error(con, everywhere, name):
    with pytest.raises(duckdb.CatalogException, match="does not exist"):
        con.sql(f"FROM rayden({literal(name)}, k := 4, quasi := ['a'], keep := ['*'])")


def test_columns_that_differ_in_case_are_refused_although_duckdb_renames_one(con, tmp_path):
    """Of a registered frame, a Parquet or a CSV file; a column without its name has no role."""
    twins = {"age": [1, 2, 3, 4], "Age": ["a", "b", "c", "d"]}
    paths = [tmp_path / f"twins.{kind}" for kind in ("parquet", "csv")]
    pq.write_table(pa.table(twins), paths[0])
    pd.DataFrame(twins).to_csv(paths[1], index=False)
    con.register("twins", pd.DataFrame(twins))
    try:
        for name in ("twins", *paths):
            call = f"FROM anonymize('{name}', k := 2, quasi := ['age'], keep := ['*'])"
            assert "each column needs a name of its own, got age, Age" in fails(con, call)
        pq.write_table(pa.table([[1, 2], ["a", "b"]], ["age", "age"]), paths[0])
        call = f"FROM anonymize('{paths[0]}', k := 2, quasi := ['age'], keep := ['*'])"
        assert "each column needs a name of its own, got age, age" in fails(con, call)
    finally:
        con.unregister("twins")


def test_a_number_at_the_end_of_a_name_is_no_reason_to_refuse_it(con):
    con.execute(
        "CREATE OR REPLACE TABLE t AS SELECT i AS dose, i AS dose_1, i AS Other_1 FROM range(4) r(i)"
    )
    call = "FROM anonymize('t', k := 2, quasi := ['dose', 'dose_1'], keep := ['Other_1'])"
    assert len(con.execute(call).fetchall()) == 4
