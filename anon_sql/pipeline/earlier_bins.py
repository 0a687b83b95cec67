"""Give columns of numbers the bins of an earlier release as their hierarchy."""

from dataclasses import replace

from anon_sql.core.columns import Numbers
from anon_sql.core.hierarchy.binned import binned
from anon_sql.core.labels.grammar import STAR
from anon_sql.core.table import Column, QuasiTable
from anon_sql.methods.parts.earlier_labels import Earlier
from anon_sql.pipeline.request import Request
from anon_sql.pipeline.source import Source


def in_earlier_bins(table: QuasiTable, request: Request, source: Source) -> QuasiTable:
    """Return the table with the ranges of the release that ``like`` names as nodes.

    Only columns of numbers without a hierarchy are changed. Raises AnonError for a release whose
    labels cannot be bins.
    """
    earlier = request.options.get("like")
    if not isinstance(earlier, Earlier):
        return table
    labels = earlier.of(request.function, list(request.quasi))

    def of(column: Column) -> Column:
        own = labels[column.name]
        if not isinstance(column, Numbers) or not own or STAR in own:
            return column
        name, kind = column.name, request.quasi[column.name]
        return binned(request.function, name, kind, source.quasi[name], own) or column

    return replace(table, columns=tuple(of(column) for column in table.columns))
