"""Compare the distribution of a column in the raw table and in its release."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import duckdb

from anon_sql.apps.report.binning import bins
from anon_sql.core.names import quote


@dataclass(frozen=True)
class Distribution:
    """Rows by bin; those of a release are expected values given its labels. See ``Bins``."""

    column: str
    ordered: bool
    ranges: bool
    labels: tuple[str, ...]
    raw: tuple[float, ...]
    released: tuple[float, ...]


def quasi(con: duckdb.DuckDBPyConnection, column: str, roles: Mapping[str, Any]) -> Distribution:
    """Return that of a quasi-identifier, by query_error. roles: ``qids``; ``hierarchy`` or None."""
    found = bins(con, "raw", column)
    queries = [f"SELECT count(*) FROM raw WHERE {each.condition}" for each in found.bins]
    rows = con.execute(
        "SELECT query, actual, estimate FROM query_error('raw', 'released', ?, qids := ?, "
        "hierarchy := ?)",
        [list(dict.fromkeys(queries)), roles["qids"], roles["hierarchy"]],
    ).fetchall()
    answers = {query: (actual, estimate) for query, actual, estimate in rows}
    return Distribution(
        column,
        found.ordered,
        found.ranges,
        tuple(each.label for each in found.bins),
        tuple(answers[query][0] for query in queries),
        tuple(answers[query][1] for query in queries),
    )


def kept(con: duckdb.DuckDBPyConnection, column: str) -> Distribution:
    """Return that of a sensitive column, counted in both tables."""
    found = bins(con, "raw", column)
    counts = ", ".join(f"count_if({each.condition})" for each in found.bins)
    ((kind,),) = con.sql(f"SELECT any_value(typeof({quote(column)})) FROM raw").fetchall()
    as_raw = f"(SELECT {quote(column)}::{kind} AS {quote(column)} FROM released)"
    raw, released = (
        con.sql(f"SELECT {counts} FROM {each}").fetchall()[0] for each in ("raw", as_raw)
    )
    return Distribution(
        column,
        found.ordered,
        found.ranges,
        tuple(each.label for each in found.bins),
        raw,
        released,
    )
