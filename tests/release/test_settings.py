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
    quasi = "['a', 'b', 'd', 'z', 'n', 'f']"
    shown = "a, b, d, epoch_us(z.min), epoch_us(z.max), n, f, kept"
    return [
        sorted(map(str, con.execute(query).fetchall()))
        for query in (
            f"FROM rayden('usual', k := 4, quasi := {quasi}, keep := ['*'], identifiers := ['class_id'])",
            f"FROM generalize('usual', k := 4, quasi := {quasi}, keep := ['*'])",
            f"SELECT {shown} FROM generalize('usual', k := 4, quasi := {quasi}, keep := ['*'], format := 'typed')",
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


COLLATED = "a INTEGER, kept VARCHAR COLLATE NOCASE"


@pytest.mark.parametrize("cases", [("Kept", "KEPT"), ("KEPT", "Kept")])
def test_values_that_a_collation_makes_equal_are_two(con, cases):
    """Neither the order of the source shows, nor that a kept value was exchanged for its like."""
    con.execute(f"CREATE OR REPLACE TABLE cased ({COLLATED})")
    for value in cases:
        con.execute("INSERT INTO cased SELECT 1, ? FROM range(6)", [value])
    call = "FROM anonymize('cased', k := 4, quasi := 'a', keep := 'kept')"
    found = [kept.encode() for _, kept in con.execute(call).fetchall()]
    assert found == [b"KEPT"] * 6 + [b"Kept"] * 6 or found == [b"Kept"] * 6 + [b"KEPT"] * 6
    con.execute(f"CREATE OR REPLACE TABLE shown ({COLLATED.replace('INTEGER', 'VARCHAR')})")
    con.execute(f"INSERT INTO shown {call}")
    audited = (
        "FROM audit('cased', 'shown', k := 4, quasi := 'a', keep := 'kept', unique_share := 1)"
    )
    kept = f"SELECT found, passed FROM ({audited}) WHERE property = 'kept_values'"
    assert con.execute(kept).fetchall() == [(0, True)]
    con.execute("UPDATE shown SET kept = 'kept' WHERE rowid = 0")
    assert con.execute(kept).fetchall() == [(1, False)]


def test_the_order_of_values_that_a_collation_makes_equal(con):
    releases_ = []
    for cases in (("Kept", "KEPT"), ("KEPT", "Kept")):
        con.execute(f"CREATE OR REPLACE TABLE cased ({COLLATED})")
        for value in cases:
            con.execute("INSERT INTO cased SELECT 1, ? FROM range(6)", [value])
        releases_.append(
            con.execute("FROM anonymize('cased', k := 4, quasi := 'a', keep := 'kept')").fetchall()
        )
    assert releases_[0] == releases_[1]


def test_the_one_setting_that_cannot_be_on(con):
    """DuckDB then sends its own types as extensions of Arrow's, booleans among them."""
    con.execute("CREATE OR REPLACE TABLE yes AS SELECT i % 2 = 0 AS a FROM range(9) AS r(i)")
    con.execute("SET arrow_lossless_conversion = true")
    try:
        assert fails(con, "FROM rayden('yes', k := 4, quasi := ['a'], keep := ['*'])") == (
            "anon_sql: arrow_lossless_conversion must be off, got on; RESET arrow_lossless_conversion"
        )
    finally:
        con.execute("RESET arrow_lossless_conversion")
