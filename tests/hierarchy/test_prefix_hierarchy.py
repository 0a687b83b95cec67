"""Prefixes of codes."""

import duckdb
import pytest

pytestmark = [pytest.mark.quick, pytest.mark.oldest]


def test_a_label_is_what_a_code_begins_with(con):
    con.execute("CREATE TABLE t AS SELECT unnest(['12345', '12', 'é1', NULL]) AS zip")
    rows = con.execute("FROM prefix_hierarchy('t', 'zip', [4, 2, 1])").fetchall()
    found = {}
    for attribute, value, level, label in sorted(rows):
        assert attribute == "zip"
        found.setdefault(value, []).append(label)
        assert len(found[value]) == level
    assert found == {
        "12345": ["1234*", "12*", "1*", "*"],
        "12": ["12*", "1*", "*"],
        "é1": ["é1*", "é*", "*"],
    }
    con.execute("CREATE TABLE h AS FROM prefix_hierarchy('t', 'zip')")
    assert con.execute("FROM check_hierarchy('t', 'h')").fetchall() == []


@pytest.mark.parametrize("codes", [["12*", "123"], ["*", "12"], ["12*"]])
def test_a_code_that_is_the_label_of_another_code_is_refused(con, codes):
    con.execute("CREATE TABLE t AS SELECT unnest($1) AS zip", [codes])
    rule = "prefix_hierarchy: a value of the column must not be the label of another value"
    with pytest.raises(duckdb.Error, match=rule):
        con.execute("FROM prefix_hierarchy('t', 'zip', [3, 2, 1])").fetchall()


def test_codes_that_are_numbers(con):
    con.execute("CREATE TABLE t AS SELECT unnest([53711, 53712]) AS zip")
    con.execute("CREATE TABLE h AS FROM prefix_hierarchy('t', 'zip', [4])")
    assert con.execute("SELECT DISTINCT label FROM h ORDER BY 1").fetchall() == [("*",), ("5371*",)]
    assert con.execute("FROM check_hierarchy('t', 'h')").fetchall() == []


@pytest.mark.parametrize(
    "lengths", ["[1, 2]", "[0]", "[2, 2]", "[]", "NULL", "['x']", "['inf'::DOUBLE]"]
)
def test_lengths_descend(con, lengths):
    con.execute("CREATE TABLE t AS SELECT '1' AS zip")
    with pytest.raises(duckdb.Error, match="prefix_hierarchy: lengths must be whole numbers"):
        con.execute(f"FROM prefix_hierarchy('t', 'zip', {lengths})").fetchall()
