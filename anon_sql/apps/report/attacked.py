"""Run the four attacks on the tables ``raw`` and ``released``, one sensitive column at a time."""

from collections.abc import Mapping
from typing import Any

import duckdb

from anon_sql.apps.report.named_rows import rows_of
from anon_sql.core.names import quote

KNOWN = 2  # quasi-identifiers that the attacker of ``attack_background`` knows
_PAIR = "'raw', 'released', $name, qids := $qids, hierarchy := $hierarchy"


def attacked(con: duckdb.DuckDBPyConnection, asked: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a row for each sensitive column: shares of persons, and the largest share in a class.

    asked: qids, sensitive and hierarchy.
    """
    return [_column(con, name, asked) for name in asked["sensitive"]]


def _column(con: duckdb.DuckDBPyConnection, name: str, asked: Mapping[str, Any]) -> dict[str, Any]:
    given = {"name": name, "qids": asked["qids"], "hierarchy": asked["hierarchy"]}
    known = min(KNOWN, len(asked["qids"]))
    usual = _largest(con, "raw", name, [])
    threshold = (1 + (usual or 0.0)) / 2
    same = _one(con, f"FROM attack_homogeneity({_PAIR})", given)
    uneven = _one(
        con, f"FROM attack_skewness({_PAIR}, threshold := $at)", {**given, "at": threshold}
    )
    linked = _one(con, f"FROM attack_linking({_PAIR})", given)
    guessed = _one(con, f"FROM attack_background({_PAIR}, known := $known)",
                   {**given, "known": known})  # fmt: skip
    return {
        "column": name,
        "persons": linked["persons"],
        "homogeneity": same["row_share"],
        "skewness": uneven["row_share"],
        "skewness_threshold": threshold,
        "linked": linked["linked_share"],
        "disclosed": linked["disclosed_share"],
        "known": known,
        "guessed": guessed["guessed_share"],
        "guessed_without_knowledge": guessed["baseline"],
        "largest_share": _largest(con, "released", name, asked["qids"]),
        "largest_share_in_table": usual,
    }


def _one(con: duckdb.DuckDBPyConnection, sql: str, given: Mapping[str, Any]) -> dict[str, Any]:
    return rows_of(con, sql, given)[0]


def _largest(
    con: duckdb.DuckDBPyConnection, table: str, column: str, labels: list[str]
) -> float | None:
    """Return the largest share of a value, NULL aside, in a class of equal labels or in a table."""
    by = "".join(f", {quote(name)}" for name in labels)
    ((share,),) = con.sql(
        "SELECT max(__anon_most / __anon_all) FROM (SELECT max(__anon_n) AS __anon_most, "
        f"sum(__anon_n) AS __anon_all FROM (SELECT count(*) AS __anon_n{by} FROM {table} "
        f"WHERE {quote(column)} IS NOT NULL GROUP BY {quote(column)}{by}) "
        f"GROUP BY 'all'{by})"
    ).fetchall()
    return None if share is None else float(share)
