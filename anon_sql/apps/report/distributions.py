"""Compare distributions and correlations of columns in the raw table and in its release."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from math import ceil, floor, isfinite, log10
from typing import Any

import duckdb

from anon_sql.core.columns import is_number
from anon_sql.core.names import literal, quote
from anon_sql.core.roles import fold
from anon_sql.errors import AnonError

MOST_COLUMNS = 8  # columns
_MOMENTS = ("DATE", "TIME")


def correlations(con: duckdb.DuckDBPyConnection, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns, and Pearson's coefficient of each pair before and after the release.

    A generalized number counts as the middle of its range, and a row without one is left out.
    Columns with a hierarchy have no middle. The coefficient of a constant is None.
    """
    quasi = {fold(name) for name in request["quasi"]}
    types = dict(zip(con.table("raw").columns, map(str, con.table("raw").types), strict=True))
    released_names = {fold(name): name for name in con.table("released").columns}
    nodes = _in_hierarchy(con, request["hierarchy"])
    names = [
        name
        for name, kind in types.items()
        if fold(name) in released_names and fold(name) not in nodes and _numeric(name, kind)
    ][:MOST_COLUMNS]
    pairs = list(combinations(names, 2))
    if not pairs:
        return {"columns": [], "pairs": []}
    before = {name: f"{quote(name)}::DOUBLE" for name in names}
    after = {
        name: f"anon_mid({quote(released_names[fold(name)])})"
        if fold(name) in quasi
        else f"TRY_CAST({quote(released_names[fold(name)])} AS DOUBLE)"
        for name in names
    }
    raw, released = _each(con, "raw", before, pairs), _each(con, "released", after, pairs)
    return {
        "columns": names,
        "pairs": [
            {"first": a, "second": b, "raw": x, "released": y}
            for (a, b), x, y in zip(pairs, raw, released, strict=True)
        ],
    }


def _each(
    con: duckdb.DuckDBPyConnection, table: str, value: Mapping[str, str], pairs: Any
) -> list[float | None]:
    listed = ", ".join(f"corr({value[a]}, {value[b]})" for a, b in pairs)
    (row,) = con.sql(f"SELECT {listed} FROM {table}").fetchall()
    return [None if x is None or not isfinite(x) else float(x) for x in row]


def _numeric(name: str, kind: str) -> bool:
    try:
        return is_number("report", name, kind) and not kind.startswith(_MOMENTS)
    except AnonError:
        return False


def _in_hierarchy(con: duckdb.DuckDBPyConnection, hierarchy: str | None) -> set[str]:
    if hierarchy is None:
        return set()
    rows = con.sql(f"SELECT DISTINCT attribute FROM {quote(hierarchy)}").fetchall()
    return {fold(name) for (name,) in rows}


RANGES, WORDS = 20, 15  # bins of numbers and times; values of text, by rows
_WHOLE = re.compile(r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?")
_NUMBER = re.compile(rf"{_WHOLE.pattern}|DECIMAL\(.*\)|FLOAT|DOUBLE")
_TIME = re.compile(r"DATE|TIME|TIMESTAMP.*")
_DAY, _YEAR = 86_400, 31_536_000
_SPANS = [
    *(1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200),
    *(_DAY * days for days in (1, 2, 7, 14, 30, 60, 90, 180, 365)),
]


@dataclass(frozen=True)
class Bin:
    """label: what the axis says; condition: over the column, as query_error takes it."""

    label: str
    condition: str


@dataclass(frozen=True)
class ColumnBins:
    """ordered: whether they follow each other on a line. ranges: whether a bin ends where the next
    one starts."""

    bins: tuple[Bin, ...]
    ordered: bool
    ranges: bool


def bins(con: duckdb.DuckDBPyConnection, table: str, column: str) -> ColumnBins:
    """Return the bins of a column, NULL last."""
    name = quote(column)
    ((kind, distinct, nulls),) = con.sql(
        f"SELECT any_value(typeof({name})), count(DISTINCT {name}), "
        f"count(*) - count({name}) FROM {quote(table)}"
    ).fetchall()
    ordered = bool(_NUMBER.fullmatch(kind) or _TIME.fullmatch(kind))
    ranges = ordered and distinct > RANGES
    all_bins = _ranges(con, table, name, kind) if ranges else _values(con, table, name, ordered)
    if nulls:
        all_bins = [*all_bins, Bin("NULL", f"{name} IS NULL")]
    return ColumnBins(tuple(all_bins), ordered, ranges)


def _values(con: duckdb.DuckDBPyConnection, table: str, name: str, ordered: bool) -> list[Bin]:
    """Return a bin for every value, or for the most frequent ones and one for all others."""
    order = name if ordered else f"count(*) DESC, {name}"
    rows = con.sql(
        f"SELECT {name}::VARCHAR FROM {quote(table)} WHERE {name} IS NOT NULL "
        f"GROUP BY {name} ORDER BY {order}"
    ).fetchall()
    values = [value for (value,) in rows]
    count = len(values) if len(values) <= RANGES else WORDS
    made = [Bin(value, f"{name} = {literal(value)}") for value in values[:count]]
    if values[count:]:
        rest = ", ".join(literal(value) for value in values[count:])
        made.append(Bin(f"{len(values) - count:,} others", f"{name} IN ({rest})"))
    return made


def _ranges(con: duckdb.DuckDBPyConnection, table: str, name: str, kind: str) -> list[Bin]:
    """Return ranges of equal width, labelled by their lower ends; the outer ones are open."""
    timed = bool(_TIME.fullmatch(kind))
    number = f"epoch({name})" if timed else f"{name}::DOUBLE"
    ((low, high),) = con.sql(
        f"SELECT min(x), max(x) FROM (SELECT {number} AS x FROM {quote(table)}) WHERE isfinite(x)"
    ).fetchall()
    raw = (high - low) / RANGES
    if timed:
        width = _span(max(raw, _DAY if kind == "DATE" else 1))
    else:
        width = _round(max(raw, 1.0) if _WHOLE.fullmatch(kind) else raw)
    starts = [step * width for step in range(floor(low / width), floor(high / width) + 1)]
    texts = _times(con, starts, kind) if timed else [f"{start:.10g}" for start in starts]
    literals = [literal(text) for text in texts] if timed else texts
    begins = ["", *(f"{name} >= {start}" for start in literals[1:])]
    ends = [*(f"{name} < {start}" for start in literals[1:]), ""]
    return [
        Bin(text, " AND ".join(filter(None, both)) or f"{name} IS NOT NULL")
        for text, *both in zip(texts, begins, ends, strict=True)
    ]


def _round(least: float) -> float:
    """Return the next larger width that has one digit or is 25 times a power of ten."""
    tens = 10.0 ** floor(log10(least))
    steps = (1, 2, 5, 10) if least <= 10 and tens >= 1 else (1, 2, 2.5, 5, 10)
    return next(tens * step for step in steps if tens * step >= least)


def _span(least: float) -> float:
    """Return the next larger width, in seconds, that is a common unit of time."""
    return next((span for span in _SPANS if span >= least), ceil(least / _YEAR) * _YEAR)


def _times(con: duckdb.DuckDBPyConnection, starts: list[float], kind: str) -> list[str]:
    """Return seconds since 1970, or since midnight, as the column's type prints them."""
    rows = con.execute(
        f"SELECT make_timestamp((x * 1000000)::BIGINT)::{kind}::VARCHAR "
        "FROM (SELECT unnest(?::DOUBLE[]) AS x)",
        [starts],
    ).fetchall()
    return [text for (text,) in rows]


@dataclass(frozen=True)
class ColumnDistribution:
    """Rows by bin; those of a release are expected values given its labels. See ``ColumnBins``."""

    column: str
    ordered: bool
    ranges: bool
    labels: tuple[str, ...]
    raw: tuple[float, ...]
    released: tuple[float, ...]


def quasi(
    con: duckdb.DuckDBPyConnection, columns: Sequence[str], roles: Mapping[str, Any]
) -> list[ColumnDistribution]:
    """Return those of quasi-identifiers, by one call of query_error.

    roles: ``quasi``; ``hierarchy`` or None.
    """
    bins_by_column = {column: bins(con, "raw", column) for column in columns}
    queries = {
        column: [f"SELECT count(*) FROM raw WHERE {each.condition}" for each in binned.bins]
        for column, binned in bins_by_column.items()
    }
    rows = con.execute(
        "SELECT query, actual, estimate FROM query_error('raw', 'released', ?, quasi := ?, "
        "hierarchy := ?)",
        [
            list(dict.fromkeys(chain.from_iterable(queries.values()))),
            roles["quasi"],
            roles["hierarchy"],
        ],
    ).fetchall()
    answers = {query: (actual, estimate) for query, actual, estimate in rows}
    return [
        ColumnDistribution(
            column,
            binned.ordered,
            binned.ranges,
            tuple(each.label for each in binned.bins),
            tuple(answers[query][0] for query in queries[column]),
            tuple(answers[query][1] for query in queries[column]),
        )
        for column, binned in bins_by_column.items()
    ]


def kept(con: duckdb.DuckDBPyConnection, column: str) -> ColumnDistribution:
    """Return that of a sensitive column, counted in both tables."""
    binned = bins(con, "raw", column)
    counts = ", ".join(f"count_if({each.condition})" for each in binned.bins)
    ((kind,),) = con.sql(f"SELECT any_value(typeof({quote(column)})) FROM raw").fetchall()
    as_raw = f"(SELECT {quote(column)}::{kind} AS {quote(column)} FROM released)"
    raw, released = (
        con.sql(f"SELECT {counts} FROM {each}").fetchall()[0] for each in ("raw", as_raw)
    )
    return ColumnDistribution(
        column,
        binned.ordered,
        binned.ranges,
        tuple(each.label for each in binned.bins),
        raw,
        released,
    )
