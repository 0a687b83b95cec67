"""Compute the range of each numeric column, by which Gower's distance divides."""

from anon_sql.core.columns import Numbers
from anon_sql.core.table import QuasiTable
from anon_sql.methods import Call, method


@method("gower_ranges")
def gower_ranges(table: QuasiTable, call: Call) -> dict[str, float | None]:
    """Return largest minus smallest value by column; None for text, 0 where all is NULL."""
    return {
        column.name: column.width if isinstance(column, Numbers) else None
        for column in table.columns
    }
