"""Run a query and return its rows by column name."""

from collections.abc import Mapping
from typing import Any

import duckdb


def rows_of(
    con: duckdb.DuckDBPyConnection, sql: str, given: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Return the rows of a query with named parameters, each as a dict."""
    result = con.execute(sql, dict(given))
    names = [column[0] for column in result.description or []]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]
