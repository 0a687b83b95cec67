"""Recode columns of numbers by the labels of an earlier release, and show no other labels."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from anon_sql.core.columns import Numbers
from anon_sql.core.hierarchy.binned import binned
from anon_sql.core.labels.grammar import STAR
from anon_sql.core.labels.make import Labels
from anon_sql.core.table import Column, QuasiTable
from anon_sql.errors import AnonError, listed
from anon_sql.methods.parts.earlier_labels import Earlier
from anon_sql.pipeline.request import Request
from anon_sql.pipeline.source import Source


def in_earlier_bins(table: QuasiTable, request: Request, source: Source) -> QuasiTable:
    """Return the table with the labels of the release that ``like`` names as nodes.

    Only columns of numbers without a hierarchy are changed. Raises AnonError for a release whose
    labels cannot be bins.
    """
    earlier = request.options.get("like")
    if not isinstance(earlier, Earlier):
        return table
    labels = earlier.of(request.function, list(request.quasi))

    def of(column: Column) -> Column:
        own = labels[column.name].labels
        if not isinstance(column, Numbers) or not own or STAR in own:
            return column
        name, kind = column.name, request.quasi[column.name]
        return binned(request.function, name, kind, source.quasi[name], own)

    return replace(table, columns=tuple(of(column) for column in table.columns))


def require_earlier(request: Request, labels: Sequence[Labels]) -> None:
    """Raise AnonError if a label is none of the release that ``like`` names, nor that of suppressed
    rows; labels: of each quasi-identifier, as text."""
    earlier = request.options.get("like")
    if not isinstance(earlier, Earlier) or request.format != "label":
        return
    shown = earlier.of(request.function, list(request.quasi))
    for name, made in zip(request.quasi, labels, strict=True):
        known = {*shown[name].labels, STAR, *([None] if shown[name].null else [])}
        used = made.shown.take(pa.array(np.unique(made.label_of)))
        others = len(set(used.to_pylist()) - known)
        if others:
            raise AnonError(
                request.function,
                "every label must be one of like",
                f"{others} of {listed([name])} that {'is' if others == 1 else 'are'} not",
                "nothing was released; please report this",
            )
