"""Collect the facts of a report with SQL on the tables ``raw`` and ``released``."""

from collections.abc import Mapping
from typing import Any

import duckdb

from anon_sql.apps.manifest import ROLES
from anon_sql.apps.report import distributions
from anon_sql.core.names import quote
from anon_sql.core.roles import REST, fold

SELECTIVITIES = (0.01, 0.05, 0.2)
QUERIES, SEED = 100, 42
_ROLES = "qids := $qids, hierarchy := $hierarchy"


def gather(
    con: duckdb.DuckDBPyConnection, asked: Mapping[str, Any], *, show_sensitive: bool
) -> dict[str, Any]:
    """Return the facts of a release by section.

    asked: qids, sensitive, identifiers, keep, hierarchy; k, l, t, l_kind, c, entity, None where
    nothing is asked.
    """
    con.execute("SET TimeZone = 'UTC'")
    roles = {name: asked[name] for name in ("qids", "hierarchy")}
    given = {name: value for name, value in asked.items() if value is not None}
    listed = ", ".join(f"{name} := ${name}" for name in given)
    k = 5 if asked["k"] is None else asked["k"]
    return {
        "checks": _rows(con, f"FROM audit('raw', 'released', {listed})", given),
        "utility": _rows(
            con, f"FROM utility('raw', 'released', k := $k, {_ROLES})", {**roles, "k": k}
        )[0],
        "loss": _rows(con, f"FROM attribute_loss('raw', 'released', {_ROLES})", roles),
        "risk": _rows(con, f"FROM risk('raw', 'released', {_ROLES})", roles)[0],
        "errors": [{"selectivity": share, **_error(con, share, roles)} for share in SELECTIVITIES],
        "without_role": _without_role(con, asked),
        "sizes": _sizes(con, asked["qids"]),
        "quasi": [distributions.quasi(con, name, roles) for name in asked["qids"]],
        "sensitive": [
            distributions.kept(con, name) for name in asked["sensitive"] if show_sensitive
        ],
    }


def sweep(con: duckdb.DuckDBPyConnection, asked: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Compare all methods on table ``raw``. asked: arguments of compare."""
    given = {name: value for name, value in asked.items() if value is not None}
    listed = ", ".join(f"{name} := ${name}" for name in given)
    return _rows(con, f"FROM compare('raw', {listed})", given)


def _error(
    con: duckdb.DuckDBPyConnection, share: float, roles: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the error of a random workload, the same for every report on the table."""
    drawn = con.execute(
        "SELECT query FROM query_workload('raw', n := ?, attributes := ?, selectivity := ?, "
        "seed := ?, qids := ?)",
        [QUERIES, min(2, len(roles["qids"])), share, SEED, roles["qids"]],
    ).fetchall()
    queries = [query for (query,) in drawn]
    call = f"FROM workload_error('raw', 'released', $queries, {_ROLES})"
    return _rows(con, call, {**roles, "queries": queries})[0]


def _without_role(con: duckdb.DuckDBPyConnection, asked: Mapping[str, Any]) -> list[str]:
    """Return the columns of the release that have no role."""
    if REST in asked["keep"]:
        return []
    with_role = {fold(name) for role in ROLES for name in asked[role]}
    return [name for name in con.sql("FROM released").columns if fold(name) not in with_role]


def _sizes(con: duckdb.DuckDBPyConnection, qids: list[str]) -> list[int]:
    labels = ", ".join(quote(name) for name in qids)
    rows = con.sql(f"SELECT count(*) FROM released GROUP BY {labels} ORDER BY 1").fetchall()
    return [size for (size,) in rows]


def _rows(
    con: duckdb.DuckDBPyConnection, sql: str, given: Mapping[str, Any]
) -> list[dict[str, Any]]:
    result = con.execute(sql, dict(given))
    names = [column[0] for column in result.description or []]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]
