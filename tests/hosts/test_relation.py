"""A relation's name means to us what it means to DuckDB, whatever database and path are set."""

import itertools

import duckdb
import pytest

import anon_sql
from anon_sql.core.names import quote, split
from anon_sql.hosts.duckdb.relation import Scope, find
from tests.sentence import fails

pytestmark = pytest.mark.oldest

PLACES = [
    *(("memory", "main"), ("memory", "s"), ("memory", "o2"), ("memory", "p2")),
    *(("o", "main"), ("o", "s"), ("p", "main"), ("p", "s"), ("p", "o2")),
]
SCHEMAS = ["main", "s", "o2", "p2", "MAIN", "S"]
NAMES = [
    *("t", "T", "nope.t", "lonely", "main.lonely", "temp.lonely", "temp.main.lonely"),
    *(f"{qualifier}.t" for qualifier in [*SCHEMAS, "memory", "o", "p", "temp"]),
    *(f"{database}.{schema}.t" for database in ("memory", "o", "p") for schema in SCHEMAS),
    *(f"only_{database}_{schema}" for database, schema in PLACES),
    *(f"main.only_{database}_{schema}" for database, schema in PLACES),
    *(f"s.only_{database}_{schema}" for database, schema in PLACES),
    *(f"o.only_{database}_{schema}" for database, schema in PLACES),
]
ENTRIES = ["main", "s", "o", "o.s", "p.s", "memory.s", "o.main", "p.o2", '"memory"."o2"']
KEYS = ("database", "schema", "relation", "name", "type", "comment", "at")


@pytest.fixture(scope="module")
def places():
    """Databases and schemas with a table ``t`` each, and one that only this place has."""
    con = duckdb.connect()
    con.execute("ATTACH ':memory:' AS o; ATTACH ':memory:' AS p")
    for database, schema in PLACES:
        place = f"{database}.{schema}"
        con.execute(f"CREATE SCHEMA IF NOT EXISTS {place}")
        con.execute(f"CREATE TABLE {place}.t AS SELECT 1 AS {database}_{schema}")
        name = f"only_{database}_{schema}"
        con.execute(f"CREATE TABLE {place}.{name} AS SELECT 1 AS {database}_{schema}")
    con.execute("CREATE TEMP TABLE lonely AS SELECT 1 AS temp_main")
    yield con
    con.close()


def listed(con):
    rows = con.sql(
        "SELECT database_name, schema_name, table_name, column_name, data_type, comment, "
        "column_index FROM duckdb_columns() WHERE NOT internal"
    ).fetchall()
    return [dict(zip(KEYS, row, strict=True)) for row in rows]


def scope(con):
    seen = "current_database(), current_schema(), current_setting('search_path')"
    return Scope(*con.sql(f"SELECT {seen}").fetchall()[0])


def agrees(con, columns):
    """Look every name up both ways; our answer may be a refusal, never another table."""
    refused = []
    here = scope(con)
    for name in NAMES:
        try:
            found = find(name, here, columns)
        except anon_sql.AnonError:
            refused.append(name)
            continue
        try:
            real = con.sql(f"FROM query_table('{name}')").columns[0]
        except duckdb.Error:
            continue
        assert found is not None, (name, here, real)
        assert found.names[0] == real, (name, here)
    return refused


@pytest.mark.parametrize("use", ["memory", "memory.s", "o", "o.s", "p.s", "p.o2"])
def test_any_current_schema(places, use):
    places.execute(f"USE {use}")
    refused = agrees(places, listed(places))
    assert all(name.lower().startswith("main.") for name in refused)
    assert ("main.t" in refused) is (use not in ("memory", "o"))


@pytest.mark.parametrize("length", [1, 2, 3])
def test_any_search_path(places, length):
    columns = listed(places)
    for path in list(itertools.permutations(ENTRIES, length))[:: 1 + 9 * (length - 1)]:
        places.execute("USE memory")
        places.execute(f"SET search_path = '{','.join(path)}'")
        agrees(places, columns)


def test_schema_main_behind_another_is_refused_with_what_to_write(con):
    con.execute(
        "CREATE TABLE t AS SELECT 1 AS a; CREATE SCHEMA s; CREATE TABLE s.t AS SELECT 2 AS a"
    )
    con.execute("SET search_path = 's,main'")
    assert fails(con, "FROM rayden('main.t', k := 1, quasi := ['a'], keep := ['*'])") == (
        "anon_sql: a name in schema main needs its database where another schema comes first, "
        """got 'main.t'; write "memory"."main"."t\""""
    )
    assert con.sql(
        "FROM rayden('memory.main.t', k := 1, quasi := ['a'], keep := ['*'])"
    ).fetchall() == [("1",)]
    assert con.sql("FROM rayden('t', k := 1, quasi := ['a'], keep := ['*'])").fetchall() == [("2",)]


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("t", ["t"]),
        ("a.b.c", ["a", "b", "c"]),
        ('"a.b".c', ["a.b", "c"]),
        ('"a""b"', ['a"b']),
        ('""""', ['"']),
        ('a."b c"', ["a", "b c"]),
        ("", [""]),
        ("É.é", ["É", "é"]),
    ],
)
def test_split(name, parts):
    assert split(name) == parts
    assert split(".".join(quote(part) for part in parts)) == parts


DECLARED = {
    "t": "t",
    "T": "t",
    '"t"': "t",
    "main.t": "t",
    "memory.t": "t",
    "MEMORY.Main.T": "t",
    '"my schema"."my table"': '"my schema"."my table"',
    '"My Schema"."MY TABLE"': '"my schema"."my table"',
    'memory."my schema"."my table"': '"my schema"."my table"',
    '"É t"': '"É t"',
    "o.t": "o.t",
    "o.main.t": "o.t",
    "o.s.t": "o.s.t",
    '"my db"."a.b"': '"my db".main."a.b"',
    "seen": "seen",
}


@pytest.fixture(scope="module")
def declared():
    """One declared table in each place, and a declared view; c tells which one was read."""
    with anon_sql.connect() as con:
        con.execute("ATTACH ':memory:' AS o; ATTACH ':memory:' AS \"my db\"")
        con.execute(
            'CREATE SCHEMA "my schema"; CREATE SCHEMA o.s; CREATE TABLE base AS FROM range(9)'
        )
        for place in dict.fromkeys(DECLARED.values()):
            kind = "VIEW" if place == "seen" else "TABLE"
            con.execute(
                f"CREATE {kind} {place} AS SELECT range % 3 AS a, 'n' || range AS name, "
                f"'{place}' AS c FROM memory.base"
            )
            con.execute(f"COMMENT ON COLUMN {place}.a IS 'anon:quasi'")
            con.execute(f"COMMENT ON COLUMN {place}.name IS 'anon:identifier'")
        yield con


@pytest.mark.parametrize("name", DECLARED)
def test_declared_roles_are_found_by_every_name_of_a_table(declared, name):
    released = declared.execute(
        "SELECT DISTINCT * EXCLUDE (a) FROM rayden($1, k := 3, keep := ['*'])", [name]
    )
    assert [column[0] for column in released.description] == ["c"]
    assert released.fetchall() == [(DECLARED[name],)]
    roles = declared.execute("SELECT column_name, role FROM anon_roles($1)", [name]).fetchall()
    assert roles == [("a", "quasi"), ("name", "identifier"), ("c", None)]
    assert declared.execute("SELECT gower_ranges($1)", [name]).fetchall() == [({"a": 2.0},)]


def test_another_schema_set_means_another_table(declared):
    declared.execute("SET search_path = 'my schema,main'")
    try:
        for name in ("my table", '"MY TABLE"'):
            read = declared.execute(
                "SELECT DISTINCT c FROM rayden($1, k := 3, keep := ['*'])", [name]
            ).fetchall()
            assert read == [('"my schema"."my table"',)]
        assert declared.sql(
            "SELECT DISTINCT c FROM rayden('t', k := 3, keep := ['*'])"
        ).fetchall() == [("t",)]
    finally:
        declared.execute("RESET search_path")
