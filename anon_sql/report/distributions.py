"""How a column is distributed in the raw table and in its release."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from anon_sql.relation import quote
from anon_sql.report.binning import bins


@dataclass(frozen=True)
class Distribution:
    """Rows by bin; those of a release are what its labels let expect."""

    column: str
    ordered: bool
    labels: tuple[str, ...]
    raw: tuple[float, ...]
    released: tuple[float, ...]


def quasi(con: duckdb.DuckDBPyConnection, column: str, roles: Mapping[str, Any]) -> Distribution:
    """A quasi-identifier's, by query_error. roles: ``qids``, and ``hierarchy`` or None."""
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
        tuple(each.label for each in found.bins),
        tuple(answers[query][0] for query in queries),
        tuple(answers[query][1] for query in queries),
    )


def kept(con: duckdb.DuckDBPyConnection, column: str) -> Distribution:
    """A sensitive column's, counted in both tables."""
    found = bins(con, "raw", column)
    counts = ", ".join(f"count_if({each.condition})" for each in found.bins)
    ((kind,),) = con.sql(f"SELECT any_value(typeof({quote(column)})) FROM raw").fetchall()
    as_raw = f"(SELECT {quote(column)}::{kind} AS {quote(column)} FROM released)"
    raw, released = (
        con.sql(f"SELECT {counts} FROM {each}").fetchall()[0] for each in ("raw", as_raw)
    )
    return Distribution(
        column, found.ordered, tuple(each.label for each in found.bins), raw, released
    )


def of_sizes(sizes: Sequence[int]) -> tuple[list[str], list[int]]:
    """Classes by size: labels and counts, at most some twenty bars."""
    least, most = min(sizes), max(sizes)
    width = -(-(most - least + 1) // 20)
    starts = range(least, most + 1, width)
    counts = [0] * len(starts)
    for size in sizes:
        counts[(size - least) // width] += 1
    labels = [str(at) if width == 1 else f"{at} to {at + width - 1}" for at in starts]
    return labels, counts
