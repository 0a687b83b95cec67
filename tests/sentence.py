"""The sentence of an error that a query raises."""

import duckdb
import pytest


def fails(con, query):
    """Return the sentence of the error that a query raises, without what DuckDB puts around it."""
    with pytest.raises(duckdb.Error) as caught:
        con.execute(query).fetchall()
    return str(caught.value).split("Error: ")[-1].split("\n")[0]
