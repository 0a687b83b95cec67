"""What a report says of a release of a series, whose rows are not those of the raw table.

It holds rows of former people, and lacks people who wait. Loss is that of its own rows. What
compares rows of both tables, or takes the rows of a group for its people, is left out.
"""

from collections.abc import Callable, Mapping
from typing import Any

import duckdb

from anon_sql.apps.verdict.figures import loss_calls, rows_of
from anon_sql.core.names import literal
from anon_sql.risk.risk import RISK

_OTHERS = ("attributes", "ncp")  # of the row of measures, those that are lists


def counts(con: duckdb.DuckDBPyConnection, state: str) -> dict[str, Any]:
    """Return whose rows were released. state: the relation.

    raw = present + waiting + withheld, and released = present + former, unless a check of the
    series fails.
    """
    sql = f"FROM series_status({literal(state)}) ORDER BY release DESC LIMIT 1"
    columns = "release, l, present, former, waiting, withheld, largest_waiting_share"
    (row,) = rows_of(con, f"SELECT {columns} {sql}")
    ((raw, released),) = con.execute(
        "SELECT (SELECT count(*) FROM raw), (SELECT count(*) FROM released)"
    ).fetchall()
    return {**row, "raw": raw, "released": released}


def sections(
    con: duckdb.DuckDBPyConnection, roles: Mapping[str, Any], k: int
) -> dict[str, Callable[[], Any]]:
    """Return the sections of a report that differ, by name. roles: quasi and hierarchy."""
    call, lost = loss_calls(roles, release_alone=True, k=k)

    def utility() -> dict[str, Any]:
        (row,) = rows_of(con, call)
        ((raw,),) = con.execute("SELECT count(*) FROM raw").fetchall()
        return {name: row[name] for name in row if name not in _OTHERS} | {"rows": raw}

    return {
        "utility": utility,
        "loss": lambda: rows_of(con, f"FROM {lost}"),
        "risk": lambda: dict.fromkeys(RISK.names),
        **dict.fromkeys(("risk_levels", "query_errors", "distributions"), list),
    }
