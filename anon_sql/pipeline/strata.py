"""Keep every class within a stratum: rows that are equal in the columns that stay as they are."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from anon_sql.core.columns import Numbers
from anon_sql.core.table import QuasiTable
from anon_sql.errors import AnonError
from anon_sql.methods import Call, Partition

Ids = npt.NDArray[np.int32]
Positions = npt.NDArray[np.int64]
HINT = "leave a column out of strata, or round its values first"


def strata_of(table: QuasiTable, names: Sequence[str]) -> Ids | None:
    """Return the stratum of each row in canonical order, int32[n]; None if no column is named."""
    found: Ids | None = None
    for column in table.columns:
        if column.name not in names:
            continue
        if isinstance(column, Numbers):
            places = np.unique(column.keys, return_inverse=True)[1].reshape(-1) + 1
            values = np.where(column.present, places, 0).astype(np.int64)
        else:
            values = column.codes.astype(np.int64)
        both = values[table.order]
        if found is not None:
            both += found * (both.max(initial=0) + 1)
        found = np.unique(both, return_inverse=True)[1].reshape(-1).astype(np.int32)
    return found


def each_stratum(call: Call, rows: int) -> Iterator[tuple[Positions, Call]]:
    """Return the positions of the rows of each stratum, int64[m], with the call for them."""
    if call.strata is None:
        yield np.arange(rows), call
        return
    order = np.argsort(call.strata, kind="stable")
    ends = np.cumsum(np.bincount(call.strata))
    for own in np.split(order, ends[:-1]):
        share = len(own) / rows
        yield own, replace(call, constraint=call.constraint.only(own), strata=None, share=share)


def require_strata(call: Call, rows: int) -> None:
    """Raise AnonError, with the number of rows, if a stratum cannot be a class."""
    if call.strata is None:
        return
    short = [
        len(own)
        for own, part in each_stratum(call, rows)
        if not part.constraint.allows(np.arange(len(own)))
    ]
    if short:
        raise refused(call.function, call.constraint.promise, len(short), min(short))


def refused(function: str, promise: str, many: int, smallest: int) -> AnonError:
    """Return the error for strata that cannot be classes.

    promise: of the constraint. many: number of these strata; smallest: rows of the smallest one.
    """
    return AnonError(
        function,
        f"every stratum must {promise}",
        f"{many} that {'does' if many == 1 else 'do'} not, the smallest of "
        f"{smallest} row{'' if smallest == 1 else 's'}",
        HINT,
    )


def by_stratum(
    table: QuasiTable, call: Call, settle: Callable[[QuasiTable, Call], Partition]
) -> Partition:
    """Return the partitions of the strata together; ``settle`` partitions one of them.

    Statistics are added up.
    """
    if call.strata is None:
        return settle(table, call)
    classes, nodes = np.full(table.rows, -1, np.int32), None
    above = 0
    stats: dict[str, float] = {}
    for own, part in each_stratum(call, table.rows):
        found = settle(table.only(own), part)
        classes[own] = np.where(found.classes < 0, -1, found.classes + above)
        above += int(found.classes.max()) + 1
        if found.nodes is not None:
            nodes = np.empty((table.rows, len(table.columns)), np.int32) if nodes is None else nodes
            nodes[own] = found.nodes
        for name, value in found.stats.items():
            stats[name] = stats.get(name, 0) + value
    return Partition(classes, stats, nodes)
