"""``anon_values``: the texts of labels and of lists."""

import pytest


@pytest.mark.parametrize(
    ("label", "values"),
    [
        ("'{Accra, Bonn}'", ["Accra", "Bonn"]),
        ("'Accra'", ["Accra"]),
        ("'39'", ["39"]),
        ("'{a, ''b, c'', ''d\\''''}'", ["a", "b, c", "d'"]),
        ("''''''", [""]),
        ("'''*'''", ["*"]),
        ("'{''*'', ''NULL''}'", ["*", "NULL"]),
        ("'*'", None),
        ("'[17, 23]'", None),
        ("NULL", None),
        ("['Accra', 'Bonn']", ["Accra", "Bonn"]),
        ("[]::VARCHAR[]", []),
        ("NULL::VARCHAR[]", None),
    ],
)
def test_values(con, label, values):
    assert con.sql(f"SELECT anon_values({label})").fetchall() == [(values,)]
    assert con.sql(f"SELECT typeof(anon_values({label}))").fetchall() == [("VARCHAR[]",)]


def test_both_formats_of_a_release_give_the_same_values(con):
    con.execute(
        "CREATE OR REPLACE TABLE t AS SELECT i AS rid, "
        "['a, b', '''', '', ' x', '*', NULL][1 + i % 6] AS v FROM range(48) AS r(i)"
    )
    call = "rayden('t', k := 5, qids := ['v'], keep := ['rid'], format := '%s')"
    label, typed = (
        con.sql(f"SELECT rid, anon_values(v) AS v FROM {call % form} ORDER BY rid").fetchall()
        for form in ("label", "typed")
    )
    nulls = [rid for rid, values in typed if values == []]  # a class of NULLs has a NULL label
    assert label == [(rid, None if rid in nulls else values) for rid, values in typed]
    for rid, values in label:
        assert values is None or ["a, b", "'", "", " x", "*", None][rid % 6] in values
