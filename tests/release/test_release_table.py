"""A release of an Arrow table is the release that SQL gives of the same rows."""

import pyarrow as pa
import pytest

from anon_sql.core.printing import sql_types
from anon_sql.pipeline.request import Relation, checked
from anon_sql.pipeline.table import release_table

TABLE = """
    SELECT 18 + i * 7919 % 60 AS age, if(i % 17 = 0, NULL, 'city ' || i * i % 5) AS city,
        DATE '1990-01-01' + (i * 104729 % 9000)::INTEGER AS born, i * 13 % 3 AS illness,
        i % 9 / 4.0 AS score, i AS person
    FROM (SELECT x % 150 AS i FROM range(200) r(x)) r
"""
QUASI = ["age", "city", "born"]


def made(table, *, k, format="label", l=1):  # noqa: E741
    types = dict(
        zip(table.column_names, sql_types([c.combine_chunks() for c in table.columns]), strict=True)
    )
    given = {"quasi": QUASI, "sensitive": ["illness"], "identifiers": ["person"], "keep": ["score"]}
    return release_table(
        table, checked("mondrian", Relation(types), {**given, "k": k, "format": format, "l": l})
    )


@pytest.mark.parametrize(
    "asked",
    [{}, {"l": 2}, *({"format": form} for form in ("typed", "mean", "median", "midpoint"))],
)
def test_the_release_is_that_of_sql(con, asked):
    con.execute(f"CREATE TABLE people AS {TABLE}")
    table = con.sql("FROM people").to_arrow_table()
    options = "".join(f", {name} := {value!r}" for name, value in asked.items())
    call = (
        f"FROM mondrian('people', k := 5, quasi := {QUASI}, sensitive := 'illness', "
        f"identifiers := 'person', keep := 'score'{options})"
    )
    wanted = con.sql(call).to_arrow_table()
    found = made(table, k=5, **asked)
    assert found.column_names == wanted.column_names
    assert found.to_pylist() == wanted.to_pylist()


@pytest.mark.parametrize("format", ["label", "typed"])
def test_a_table_without_rows(con, format):
    con.execute(f"CREATE TABLE people AS {TABLE} LIMIT 0")
    found = made(con.sql("FROM people").to_arrow_table(), k=5, format=format)
    assert found.column_names == ["age", "city", "born", "illness", "score"]
    assert found.num_rows == 0
    assert pa.types.is_struct(found.schema.field("age").type) == (format == "typed")
