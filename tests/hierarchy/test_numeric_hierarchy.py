"""Ranges of fixed widths over a numeric column."""

from decimal import Decimal

import duckdb
import pytest

pytestmark = [pytest.mark.quick, pytest.mark.oldest]


def labels(con, call):
    rows = con.execute(
        f"SELECT value, list(label ORDER BY level) FROM {call} GROUP BY 1"
    ).fetchall()
    return dict(rows)


def test_ranges_begin_at_multiples_of_their_width(con):
    con.execute("CREATE TABLE t AS SELECT unnest([-21, -1, 0, 4, 5, 39, NULL, 4])::SMALLINT AS n")
    assert labels(con, "numeric_hierarchy('t', 'N')") == {
        "-21": ["-25 to -21", "-30 to -21", "-40 to -21", "*"],
        "-1": ["-5 to -1", "-10 to -1", "-20 to -1", "*"],
        "0": ["0 to 4", "0 to 9", "0 to 19", "*"],
        "4": ["0 to 4", "0 to 9", "0 to 19", "*"],
        "5": ["5 to 9", "0 to 9", "0 to 19", "*"],
        "39": ["35 to 39", "30 to 39", "20 to 39", "*"],
    }
    attributes = con.execute(
        "SELECT DISTINCT attribute FROM numeric_hierarchy('t', 'n')"
    ).fetchall()
    assert attributes == [("n",)]


@pytest.mark.parametrize(
    "kind", ["TINYINT", "UBIGINT", "HUGEINT", "DECIMAL(9, 2)", "FLOAT", "DOUBLE"]
)
def test_every_number_has_ranges_that_are_sound(con, kind):
    con.execute(f"CREATE TABLE t AS SELECT (i * 7 % 100)::{kind} AS n FROM range(100) AS r(i)")
    con.execute("CREATE TABLE h AS FROM numeric_hierarchy('t', 'n', widths := [10, 50])")
    assert con.execute("FROM check_hierarchy('t', 'h')").fetchall() == []
    assert con.execute("SELECT count(DISTINCT label) FROM h").fetchall() == [(13,)]


@pytest.mark.parametrize("kind", ["FLOAT", "DOUBLE"])
def test_numbers_of_one_range_have_one_label(con, kind):
    con.execute(f"CREATE TABLE t AS SELECT (i / 70)::{kind} AS n FROM range(-700, 700) AS r(i)")
    con.execute("CREATE TABLE h AS FROM numeric_hierarchy('t', 'n', widths := [0.1, 0.5, 5])")
    assert con.execute("FROM check_hierarchy('t', 'h')").fetchall() == []
    top = con.execute("SELECT DISTINCT label FROM h WHERE level = 3 ORDER BY label").fetchall()
    assert top == [
        ("-10 to below -5",),
        ("-5 to below 0",),
        ("0 to below 5",),
        ("5 to below 10",),
    ]
    assert con.execute("SELECT count(DISTINCT label) FROM h WHERE level = 1").fetchall() == [(200,)]


def test_a_column_that_is_no_number_is_refused_by_its_type(con):
    con.execute("CREATE TABLE t AS SELECT 'w0'::ENUM('w0', 'w1') AS n")
    with pytest.raises(duckdb.Error, match="must hold numbers, got n of type ENUM; cast it first"):
        con.execute("FROM numeric_hierarchy('t', 'n')").fetchall()


def test_parts_of_numbers(con):
    con.execute("CREATE TABLE t AS SELECT unnest([1.25, 2.5]) AS n")
    assert labels(con, "numeric_hierarchy('t', 'n', [0.5, 1.5])") == {
        "1.25": ["1.0 to below 1.5", "0.0 to below 1.5", "*"],
        "2.50": ["2.5 to below 3.0", "1.5 to below 3.0", "*"],
    }


DECIMALS = ["40.812", "40.8", "2.675", "4.35", "0.29", "1.1", "40.9995", "-0.07", "0.3", "41"]


@pytest.mark.parametrize("kind", ["DECIMAL(9, 4)", "DECIMAL(38, 20)", "FLOAT", "DOUBLE"])
@pytest.mark.parametrize("widths", ["[0.001, 0.01, 0.1]", "[1e-3, 1e-2, 1e-1]"])
def test_decimal_widths_hold_their_values_exactly(con, kind, widths):
    con.execute(f"CREATE TABLE t AS SELECT unnest({DECIMALS})::{kind} AS x")
    rows = con.execute(f"FROM numeric_hierarchy('t', 'x', widths := {widths})").fetchall()
    second = {Decimal(value): label for _, value, level, label in rows if level == 2}
    assert second[Decimal("4.35")] == "4.35 to below 4.36"
    assert second[Decimal("0.29")] == "0.29 to below 0.30"
    assert second[Decimal("-0.07")] == "-0.07 to below -0.06"
    for _, value, level, label in rows:
        if level < 4:
            low, high = label.split(" to below ")
            assert Decimal(low) <= Decimal(value) < Decimal(high)
            width = Decimal("0.0001").scaleb(level)
            assert Decimal(high) - Decimal(low) == width
            assert Decimal(low) % width == 0
            assert [len(end.partition(".")[2]) for end in (low, high)] == [4 - level] * 2


def test_whole_numbers_of_widths_that_are_not_lie_in_them(con):
    con.execute("CREATE TABLE t AS SELECT unnest([-1, 3])::INTEGER AS n")
    assert labels(con, "numeric_hierarchy('t', 'n', [0.5, 2.5, 10])") == {
        "-1": ["-1.0 to below -0.5", "-2.5 to below 0.0", "-10 to -1", "*"],
        "3": ["3.0 to below 3.5", "2.5 to below 5.0", "0 to 9", "*"],
    }


def test_the_largest_numbers_and_what_is_not_finite(con):
    con.execute(
        "CREATE TABLE t AS SELECT unnest([-170141183460469231731687303715884105728, "
        "170141183460469231731687303715884105727])::HUGEINT AS n, "
        "unnest([1.7976931348623157e308, 5e-324, 'nan', '-inf'])::DOUBLE AS x"
    )
    assert labels(con, "numeric_hierarchy('t', 'n', [10])") == {
        f"{sign}17014118346046923173168730371588410572{end}": [label, "*"]
        for sign, end, label in (
            ("-", 8, "-170141183460469231731687303715884105730 to "
             "-170141183460469231731687303715884105721"),
            ("", 7, "170141183460469231731687303715884105720 to "
             "170141183460469231731687303715884105729"),
        )
    }  # fmt: skip
    found = labels(con, "numeric_hierarchy('t', 'x', [10.0])")
    assert (found["nan"], found["-inf"], found["5e-324"]) == (["*"], ["*"], ["0 to below 10", "*"])
    low, high = map(int, found["1.7976931348623157e+308"][0].split(" to below "))
    assert low <= 17976931348623157 * 10**292 < high
    con.execute("CREATE TABLE h AS FROM numeric_hierarchy('t', 'x', [10.0])")
    assert con.execute("FROM check_hierarchy('t', 'h')").fetchall() == []


@pytest.mark.parametrize(
    "widths",
    [
        "[5, 7]",
        "[10, 5]",
        "[0]",
        "[-5]",
        "[]",
        "[5, NULL]",
        "NULL",
        "['x']",
        "[0.1, 'inf'::DOUBLE]",
        "[0.3, 1.0]",
    ],
)
def test_widths_lie_within_each_other(con, widths):
    con.execute("CREATE TABLE t AS SELECT 1 AS n")
    with pytest.raises(duckdb.Error, match="numeric_hierarchy: widths must be positive, ascending"):
        con.execute(f"FROM numeric_hierarchy('t', 'n', widths := {widths})").fetchall()


def test_the_column_must_be_there(con):
    con.execute("CREATE TABLE t AS SELECT 1 AS age")
    said = "numeric_hierarchy: the hierarchy must be for a column of the table, got 'agee'; did you mean age"
    with pytest.raises(duckdb.Error, match=said):
        con.execute("FROM numeric_hierarchy('t', 'agee')").fetchall()


def test_an_empty_table_has_no_rows_and_names_are_the_users_own(con):
    con.execute('CREATE TABLE t ("tbl" INTEGER, "column_name" INTEGER, "it\'s ""x""" INTEGER)')
    assert con.execute("FROM numeric_hierarchy('t', 'tbl')").fetchall() == []
    con.execute("INSERT INTO t VALUES (1, 2, 3)")
    for name, value in (("tbl", "1"), ("column_name", "2"), ("it''s \"x\"", "3")):
        rows = con.execute(f"FROM numeric_hierarchy('t', '{name}', [10])").fetchall()
        assert rows[0] == (name.replace("''", "'"), value, 1, "0 to 9")
