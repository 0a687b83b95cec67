"""Settings of DuckDB do not show in a release."""

import pytest

import anon_sql
from tests.sentence import fails

SETTINGS = [
    ("default_collation = 'NOCASE'", "arrow_large_buffer_size = true", "default_order = 'desc'"),
    ("old_implicit_casting = true", "produce_arrow_string_view = true", "schema = 'main'"),
    (
        "integer_division = true",
        "arrow_output_list_view = true",
        "preserve_identifier_case = false",
    ),
    ("arrow_output_version = '1.5'", "default_null_order = 'nulls_first'", "pivot_limit = 1"),
    ("preserve_insertion_order = false", "ieee_floating_point_ops = false", "threads = 1"),
    (
        "Calendar = 'buddhist'",
        "disabled_optimizers = 'expression_rewriter,statistics_propagation'",
    ),
]


@pytest.fixture(scope="module")
def con():
    with anon_sql.connect() as connection:
        yield connection


@pytest.fixture(scope="module")
def usual(con):
    """A table of many types and its releases under the usual settings."""
    con.execute(
        "CREATE OR REPLACE TABLE usual AS SELECT i // 4 AS class_id, i % 7 AS a, ['x', 'X', 'é', 'e'][1 + i % 4] "
        "AS b, DATE '2000-01-01' + (i % 9)::INTEGER AS d, TIMESTAMPTZ '2000-01-01 00:00:00+00' + "
        "INTERVAL 1 HOUR * (i % 5) AS z, (i % 3)::DECIMAL(4,1) AS n, (i % 5 / 7)::DOUBLE AS f, 'Kept' || i % 3 AS kept "
        "FROM range(40) AS r(i)"
    )
    return releases(con)


def releases(con):
    qids = "['a', 'b', 'd', 'z', 'n', 'f']"
    shown = "a, b, d, epoch_us(z.min), epoch_us(z.max), n, f, kept"
    return [
        sorted(map(str, con.execute(query).fetchall()))
        for query in (
            f"FROM rayden('usual', k := 4, qids := {qids}, keep := ['*'], identifiers := ['class_id'])",
            f"FROM generalize('usual', k := 4, qids := {qids}, keep := ['*'])",
            f"SELECT {shown} FROM generalize('usual', k := 4, qids := {qids}, keep := ['*'], format := 'typed')",
        )
    ]


@pytest.mark.parametrize("settings", SETTINGS)
def test_settings_do_not_show_in_a_release(con, usual, settings):
    for setting in settings:
        con.execute(f"SET {setting}")
    try:
        assert releases(con) == usual
    finally:
        for setting in settings:
            con.execute(f"RESET {setting.partition(' ')[0]}")


def test_the_one_setting_that_cannot_be_on(con):
    """DuckDB then sends its own types as extensions of Arrow's, booleans among them."""
    con.execute("CREATE OR REPLACE TABLE yes AS SELECT i % 2 = 0 AS a FROM range(9) AS r(i)")
    con.execute("SET arrow_lossless_conversion = true")
    try:
        assert fails(con, "FROM rayden('yes', k := 4, qids := ['a'], keep := ['*'])") == (
            "anon_sql: arrow_lossless_conversion must be off, got on; RESET arrow_lossless_conversion"
        )
    finally:
        con.execute("RESET arrow_lossless_conversion")
