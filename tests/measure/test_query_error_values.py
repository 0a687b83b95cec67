"""query_error: no error shows a value of the data."""

import re

import duckdb
import pytest

from tests.measure.test_query_error import literal

SECRETS = {  # values that DuckDB's errors show
    "city": ("VARCHAR", "'Bonn' || i % 3", ["= 5", "= true", "IN (1, -2)", "<> DATE '2020-01-01'"]),
    "kept": ("VARCHAR", "'Bonn' || i % 3", ["= 5", "= n", "= TIME '10:00:00'"]),
    "wide": ("HUGEINT", "'170141183460469231731687303715884105727'", ["> 0.5", "= 1.25"]),
    "part": ("DECIMAL(38,0)", "'99999999999999999999999999999999999999'", ["> 0.125"]),
    "large": ("UHUGEINT", "'340282366920938463463374607431768211455'", ["> -1", "< 7.5"]),
    "born": ("DATE", "DATE '5000000-01-01'", ["> TIMESTAMPTZ '2020-01-01 00:00:00'"]),
    "said": ("ENUM('hidden')", "'hidden'", ["= true"]),
}
SHOWN = re.compile(r"Bonn|\d{25,}|5000000|hidden")


@pytest.mark.parametrize("relation", ["s", "made"])
@pytest.mark.parametrize("quasi", [["city", "wide", "large", "born"], ["n"]])
def test_no_error_shows_a_value(con, relation, quasi):
    """As columns of the call or as kept ones; of a table and of a CTE, whose types are not known
    when the statement is bound."""
    made = ", ".join(f"({value})::{kind} AS {name}" for name, (kind, value, _) in SECRETS.items())
    con.execute(f"CREATE OR REPLACE TABLE s AS SELECT {made}, i % 7 AS n FROM range(40) AS r(i)")
    shown = ", ".join(f"{name}::VARCHAR AS {name}" for name in quasi)
    con.execute(f"CREATE OR REPLACE TABLE sr AS SELECT * REPLACE ({shown}) FROM s")
    for name, (_, _, conditions) in SECRETS.items():
        for part in [f"{name} {condition}" for condition in conditions]:
            query = literal(f"SELECT count(*) FROM raw WHERE NOT ({part}) OR n > 3")
            if "= n" in part and "n" in quasi:
                continue
            with pytest.raises(duckdb.Error) as raised:
                con.execute(
                    f"WITH made AS (FROM s) FROM query_error('{relation}', 'sr', [{query}], "
                    f"qids := {quasi})"
                ).fetchall()
            assert not SHOWN.search(str(raised.value))
            assert f"values of its own type, got another on {name}" in str(raised.value)


def test_texts_that_are_numbers_are_compared_as_numbers(con):
    con.execute(
        "CREATE OR REPLACE TABLE z AS SELECT '0' || i % 5 AS zip, i % 3 AS n FROM range(30) AS r(i)"
    )
    for relation in ("z", "made"):
        query = literal("SELECT count(*) FROM raw WHERE zip IN (1, 2) AND n > 0.5")
        call = f"'{relation}', 'z', [{query}], qids := ['zip']"
        rows = con.execute(f"WITH made AS (FROM z) FROM query_error({call})").fetchall()
        assert rows[0][2:6] == (8, 8, 8, 8)
