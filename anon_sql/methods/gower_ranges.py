"""The width of each numeric column, by which Gower's distance divides."""

from anon_sql.columns import Numbers
from anon_sql.methods import Call, method
from anon_sql.table import QuasiTable


@method("gower_ranges")
def gower_ranges(table: QuasiTable, call: Call) -> dict[str, float | None]:
    """Largest less smallest value by column name; None for text, 0 where all is NULL."""
    return {
        column.name: column.width if isinstance(column, Numbers) else None
        for column in table.columns
    }
