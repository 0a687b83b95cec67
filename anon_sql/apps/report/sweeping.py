"""Compare the methods on table ``raw``: what each release loses, and what attackers learn of it."""

from collections.abc import Mapping
from typing import Any

import duckdb

from anon_sql.apps.report.facts import attacked, rows_of
from anon_sql.core.names import quote

LEARNED = ("linked", "disclosed", "homogeneity", "guessed")
_OF_COMPARE = ("methods", "ks")


def sweep(
    con: duckdb.DuckDBPyConnection, asked: Mapping[str, Any], *, attacks: bool
) -> list[dict[str, Any]]:
    """Return the rows of compare, each with its highest risk and with ``LEARNED``.

    asked: arguments of compare, None where nothing is asked. attacks: whether each release is made
    again and attacked; else, and where there is none, the shares are None. They are those of the
    worst sensitive column.
    """
    given = {name: value for name, value in asked.items() if value is not None}
    rows = rows_of(con, f"FROM compare('raw', {_listed(given)})", given)
    for row in rows:
        found: dict[str, Any] = dict.fromkeys(LEARNED)
        if attacks and row["note"] is None:
            found = _attacked(con, row, asked, given)
        smallest = row["smallest_class"]
        row |= {"risk": 1 / smallest if smallest else None, **found}
    return rows


def _attacked(
    con: duckdb.DuckDBPyConnection,
    row: Mapping[str, Any],
    asked: Mapping[str, Any],
    given: Mapping[str, Any],
) -> dict[str, Any]:
    call = {name: value for name, value in given.items() if name not in _OF_COMPARE}
    con.execute(
        f"CREATE OR REPLACE TABLE released AS FROM {quote(row['method'])}"
        f"('raw', k := $k, {_listed(call)})",
        {**call, "k": row["k"]},
    )
    found = attacked(con, asked)
    return {name: max((each[name] for each in found), default=None) for name in LEARNED}


def _listed(given: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} := ${name}" for name in given)
