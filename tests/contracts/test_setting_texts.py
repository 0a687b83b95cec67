"""Texts of settings: sizes that are printed cut off after one decimal, and set again."""

import duckdb
import pytest

from anon_sql.core.duckdb_internals.settings import size_in_bytes, size_to_set

pytestmark = [pytest.mark.quick, pytest.mark.oldest]

LIMIT = "SELECT current_setting('memory_limit')"


@pytest.fixture
def bare():
    return duckdb.connect()


def printed(con):
    return con.execute(LIMIT).fetchall()[0][0]


@pytest.mark.parametrize(
    ("given", "text", "size"),
    [
        ("1GB", "953.6 MiB", int(953.6 * 1024**2)),
        ("12.37GiB", "12.3 GiB", int(12.3 * 1024**3)),
        ("512MiB", "512.0 MiB", 512 * 1024**2),
        ("300KiB", "300.0 KiB", 300 * 1024),
        ("3TiB", "3.0 TiB", 3 * 1024**4),
    ],
)
def test_a_limit_prints_as_a_number_and_a_binary_unit(bare, given, text, size):
    bare.execute("SET memory_limit = ?", [given])
    assert printed(bare) == text
    assert size_in_bytes(text) == size


def test_the_limit_of_a_new_database_is_read(bare):
    assert size_in_bytes(printed(bare)) > 2**20


@pytest.mark.parametrize("text", ["", "unlimited", "-1", "1.2.3 GiB", "5 GB", "GiB", None])
def test_a_text_of_another_form_is_no_size(text):
    assert size_in_bytes(text) is None


@pytest.mark.parametrize("given", ["1GB", "12.37GiB", "512MiB", "953.6MiB", "7.99GiB"])
def test_a_limit_that_is_set_again_prints_alike(bare, given):
    bare.execute("SET memory_limit = ?", [given])
    before = printed(bare)
    bare.execute("SET memory_limit = '2GiB'")
    bare.execute("SET memory_limit = ?", [size_to_set(before)])
    assert printed(bare) == before


def test_settings_that_calls_are_told(bare):
    bare.execute("SET threads = 3")
    bare.execute("SET TimeZone = 'Europe/Berlin'")
    query = "SELECT current_setting('threads'), current_setting('TimeZone')"
    assert bare.execute(query).fetchall() == [(3, "Europe/Berlin")]


def test_the_path_of_names_is_a_text_that_tells_schemas_apart(bare):
    bare.execute("CREATE SCHEMA other")
    query = "SELECT current_setting('search_path'), current_schema()"
    before = bare.execute(query).fetchall()
    bare.execute("USE other")
    after = bare.execute(query).fetchall()
    assert before[0][1] == "main"
    assert after[0][1] == "other"
    assert "other" in after[0][0]
    assert before[0][0] != after[0][0]
