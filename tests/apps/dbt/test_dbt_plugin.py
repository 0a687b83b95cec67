"""The plugin of dbt-duckdb on DuckDB alone: functions that take relations without quotes."""

import importlib
import re
import sys
from contextlib import contextmanager
from types import ModuleType

import duckdb
import pytest

import anon_sql
from anon_sql.apps import generate
from tests.example_tables import LEDGER, SERIES, TABLES, write_files

RELATION = re.compile(r"'(people|release|classed|births|people_hierarchy)'")
ENTRIES = [entry for entry in generate.entries() if RELATION.search(entry.example)]


@pytest.fixture(scope="module")
def dbt_plugin():
    """The module, with a class in place of dbt's that does as little."""
    places = ["dbt", "dbt.adapters", "dbt.adapters.duckdb", "dbt.adapters.duckdb.plugins"]
    made = {place: ModuleType(place) for place in places}
    made[places[-1]].BasePlugin = object
    with pytest.MonkeyPatch.context() as patch:
        for place, module in made.items():
            patch.setitem(sys.modules, place, module)
        patch.delitem(sys.modules, "anon_sql.dbt_plugin", raising=False)
        yield importlib.import_module("anon_sql.dbt_plugin")
    sys.modules.pop("anon_sql.dbt_plugin", None)


@pytest.fixture
def opened(dbt_plugin, tmp_path):
    """A warehouse in a file, and connections to it as dbt opens them."""
    plugin = dbt_plugin.Plugin()
    with duckdb.connect(str(tmp_path / "my warehouse.duckdb")) as con:
        plugin.configure_connection(con)

        def open_cursor():
            cursor = con.cursor()
            plugin.configure_cursor(cursor)
            return cursor

        yield open_cursor


@pytest.fixture(scope="module")
def both(dbt_plugin, tmp_path_factory):
    """Two connections with the tables of the headers' examples: with the plugin, and without."""
    folder = tmp_path_factory.mktemp("plugin")
    write_files(folder)
    with pytest.MonkeyPatch.context() as patch, duckdb.connect() as con, anon_sql.connect() as sql:
        patch.chdir(folder)
        plugin = dbt_plugin.Plugin()
        plugin.configure_connection(con)
        plugin.configure_cursor(con)
        for each in (con, sql):
            each.execute(TABLES)
            each.execute(LEDGER)
            each.execute(SERIES)
        yield con, sql


@pytest.mark.slow
@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_relations_without_quotes(both, entry):
    """The same rows, but for columns that depend on when it was done and how long it took."""
    con, sql = both
    example = entry.example.rstrip().rstrip(";")
    named = RELATION.sub(r'"\1"', example)
    shown = "COLUMNS(lambda name: name NOT IN ('seconds', 'released_at', 'digest'))"
    got, wanted = (
        over.execute(f"SELECT {shown} FROM ({query}) ORDER BY ALL").fetchall()
        for over, query in ((con, named), (sql, example))
    )
    assert str(got) == str(wanted)
    assert got


def test_every_function_of_relations_is_tried():
    """Also those whose first argument is a table's name and those of two tables."""
    names = {entry.name for entry in ENTRIES}
    assert {"rayden", "anonymize", "k_anonymity", "query_error", "check_hierarchy"} <= names
    assert len(names) > 30


def test_every_connection_sees_the_functions_and_its_own_database(opened):
    first, second = opened(), opened()
    first.execute("CREATE TABLE t AS SELECT i % 3 AS a FROM range(30) AS made(i)")
    first.execute("COMMENT ON COLUMN t.a IS 'anon:quasi'")
    query = 'SELECT count(*) FROM rayden("my warehouse"."main"."t", k := 2)'
    assert second.execute(query).fetchall() == [(30,)]
    assert second.execute("SELECT current_database()").fetchall() == [("my warehouse",)]
    tables = "SELECT database_name FROM duckdb_tables() UNION SELECT database_name FROM duckdb_views() WHERE NOT internal"
    assert first.execute(tables).fetchall() == [("my warehouse",)]


def test_a_search_path_of_the_profile_is_kept(opened, dbt_plugin):
    cursor = opened()
    cursor.execute("CREATE SCHEMA other; CREATE TABLE other.t AS SELECT 1 AS a")
    cursor.execute("SET search_path = 'other'")
    dbt_plugin.Plugin().configure_cursor(cursor)
    assert cursor.execute("FROM t").fetchall() == [(1,)]
    query = "SELECT count(*) FROM rayden(other.t, k := 1, quasi := ['a'])"
    assert cursor.execute(query).fetchall() == [(1,)]


def test_a_connection_that_is_opened_again(dbt_plugin, tmp_path):
    """dbt-duckdb closes the file between two nodes where the profile says keep_open: false."""
    for _ in range(2):
        with duckdb.connect(str(tmp_path / "again.duckdb")) as con:
            plugin = dbt_plugin.Plugin()
            plugin.configure_connection(con)
            plugin.configure_connection(con)
            plugin.configure_cursor(con)
            assert con.execute("SELECT anon_version()").fetchall() == [(anon_sql.__version__,)]


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("NULL", "NULL"),
        ("'it''s'", "'it''s'"),
        ("true", "True"),
        ("2.50", "2.50"),
        ("1e300", "1e+300"),
        ("['a', NULL]", "['a', NULL]"),
        ("[]", "[]"),
        ("{'it''s': [1, 2]}", "{'it''s': [1, 2]}"),
        ("DATE '2020-01-02'", "'2020-01-02'"),
    ],
)
def test_a_value_is_written_as_it_is_read(con, value, written):
    assert con.execute(f"SELECT __anon_queries_written('f', {{'x': {value}}})").fetchall() == [
        (f'f("x" := {written})',)
    ]


class Manager:
    """dbt-duckdb's handling of errors, as far as the plugin knows it."""

    @contextmanager
    def exception_handler(self, sql, connection_name="master"):
        try:
            yield
        except Exception as error:
            raise LookupError(f"{connection_name}: {error}") from error


def test_an_error_is_one_sentence(opened, dbt_plugin, monkeypatch):
    connections = ModuleType("dbt.adapters.duckdb.connections")
    connections.DuckDBConnectionManager = type("Managing", (Manager,), {})
    monkeypatch.setitem(sys.modules, connections.__name__, connections)
    for _ in range(2):  # dbt makes the plugin anew for every environment
        dbt_plugin.Plugin().initialize({})
    handle = connections.DuckDBConnectionManager().exception_handler
    con = opened()
    with pytest.raises(LookupError) as caught, handle("sql", "mine"):
        con.execute("FROM anon_help('raydn')").fetchall()
    assert str(caught.value).startswith("mine: anon_help: name must be one of")
    assert "\n" not in str(caught.value)
    with pytest.raises(LookupError, match="master: Parser Error"), handle("sql"):
        con.sql("SELEC 1")


def test_a_sub_query_is_no_relation(opened):
    with pytest.raises(duckdb.BinderException, match="cannot contain subqueries"):
        opened().sql("FROM rayden((SELECT 1 AS a), k := 1, quasi := ['a'])")


def test_without_dbt_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "dbt.adapters.duckdb.plugins", None)
    monkeypatch.delitem(sys.modules, "anon_sql.dbt_plugin", raising=False)
    with pytest.raises(ImportError, match=r"pip install 'anon-sql\[dbt\]'"):
        importlib.import_module("anon_sql.dbt_plugin")
