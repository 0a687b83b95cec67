"""List the nodes that full-domain generalization looks at; see ``full_domain``."""

from typing import Any

from anon_sql.core.table import QuasiTable
from anon_sql.methods import Call, method
from anon_sql.methods.full_domain import LIMIT, LOSS, searched


@method("lattice", suppression_limit=LIMIT, minimize=LOSS)
def lattice(table: QuasiTable, call: Call) -> list[dict[str, Any]]:
    """Return a row for each node, in the order in which they were judged."""
    _, search = searched(table, call)
    names = [column.name for column in table.columns]
    return [
        {
            "levels": list(zip(names, verdict.node, strict=True)),
            "loss": verdict.gcp,
            "suppressed": verdict.suppressed,
            "classes": verdict.classes,
            "legal": verdict.legal,
            "best": verdict is search.best,
        }
        for verdict in search.seen.values()
    ]
