"""List the combinations of levels that a release of full_domain was chosen from."""

from collections.abc import Mapping
from typing import Any

import duckdb

from anon_sql.apps.report.named_rows import rows_of

METHOD = "full_domain"
MOST = 15  # nodes that are listed
_PARAMETERS = (
    *("k", "l", "l_kind", "c", "t", "beta", "delta", "entity", "suppressed"),
    *("qids", "sensitive", "identifiers", "hierarchy"),
)


def lattice_nodes(
    con: duckdb.DuckDBPyConnection, asked: Mapping[str, Any], made: Mapping[str, Any] | None
) -> list[dict[str, Any]]:
    """Return nodes of the lattice as ``lattice`` does, the released one first, then by loss.

    asked: parameters of the release; made: its manifest. None are returned without a manifest of
    full_domain, and for a release with the bins of an earlier one.
    """
    if made is None or made["method"] != METHOD:
        return []
    options = made["parameters"]["options"] or {}
    if "like" in options:
        return []
    given = {name: asked.get(name) for name in _PARAMETERS}
    given |= {name: options.get(name) for name in ("strata", "suppression_limit")}
    given = {name: value for name, value in given.items() if value is not None}
    listed = ", ".join(f"{name} := ${name}" for name in given)
    nodes = rows_of(con, f"FROM lattice('raw', {listed})", given)
    nodes.sort(key=lambda node: (not node["best"], not node["legal"], node["loss"]))
    return nodes[:MOST]
