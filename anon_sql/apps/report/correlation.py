"""Compare the correlations of numbers in the tables ``raw`` and ``released``."""

from collections.abc import Mapping
from itertools import combinations
from math import isfinite
from typing import Any

import duckdb

from anon_sql.core.columns import is_number
from anon_sql.core.names import quote
from anon_sql.core.roles import fold
from anon_sql.errors import AnonError

MOST = 8  # columns
_MOMENTS = ("DATE", "TIME")


def correlations(con: duckdb.DuckDBPyConnection, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns, and Pearson's coefficient of each pair before and after the release.

    A generalized number counts as the middle of its range, and a row without one is left out.
    Columns with a hierarchy have no middle. The coefficient of a constant is None.
    """
    qids = {fold(name) for name in asked["qids"]}
    types = dict(zip(con.table("raw").columns, map(str, con.table("raw").types), strict=True))
    shown = {fold(name): name for name in con.table("released").columns}
    nodes = _in_hierarchy(con, asked["hierarchy"])
    names = [
        name
        for name, kind in types.items()
        if fold(name) in shown and fold(name) not in nodes and _numeric(name, kind)
    ][:MOST]
    pairs = list(combinations(names, 2))
    if not pairs:
        return {"columns": [], "pairs": []}
    before = {name: f"{quote(name)}::DOUBLE" for name in names}
    after = {
        name: f"anon_mid({quote(shown[fold(name)])})"
        if fold(name) in qids
        else f"TRY_CAST({quote(shown[fold(name)])} AS DOUBLE)"
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
    found = con.sql(f"SELECT DISTINCT attribute FROM {quote(hierarchy)}").fetchall()
    return {fold(name) for (name,) in found}
