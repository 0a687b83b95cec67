"""The table as a partitioner sees it: arrays in canonical order, made once from Arrow.

Canonical order is by a hash of what a row holds, so nothing depends on the order in which
rows were scanned: rows that the hash cannot tell apart are the same in the release.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.columns import (
    NULL_POINT,
    Categories,
    Numbers,
    categories,
    is_number,
    numbers,
)
from anon_sql.hierarchical import Hierarchical, hierarchical
from anon_sql.workers import Workers

if TYPE_CHECKING:
    from anon_sql.kernels.ncp import LossModel

Column = Numbers | Categories | Hierarchical
BLOCK = 4096  # rows whose points are written at a time


@dataclass(frozen=True)
class QuasiTable:
    """n rows of d quasi-identifiers.

    columns: one array object each, rows as they came. order: int32[n], the row at each
    canonical position. All else that a partitioner gets is in canonical order.
    """

    columns: tuple[Column, ...]
    order: npt.NDArray[np.int32]

    @property
    def rows(self) -> int:
        return len(self.order)

    @cached_property
    def points(self) -> npt.NDArray[np.float64]:
        """float64[n, d]: numbers in [0, 1], categories as codes; min(|a - b|, 1) compares both."""
        came = np.empty((len(self.order), len(self.columns)))
        given = [c.points if isinstance(c, Numbers) else c.codes for c in self.columns]
        for first in range(0, len(came), BLOCK):  # rows that stay in the cache
            rows = slice(first, first + BLOCK)
            for at, values in enumerate(given):
                came[rows, at] = values[rows]
        return came.take(self.order, axis=0)

    def only(self, kept: npt.NDArray[np.bool_]) -> "QuasiTable":
        """The rows at the canonical positions marked in ``kept``, bool[n]."""
        part = QuasiTable(self.columns, self.order[kept])
        part.__dict__.update(points=self.points[kept], model=self.model)
        return part

    @cached_property
    def model(self) -> "LossModel":
        """What the points mean to the kernels that count loss."""
        from anon_sql.kernels.ncp import NUMBER, SET, TREE, LossModel

        kinds = {Numbers: NUMBER, Categories: SET, Hierarchical: TREE}
        trees = [c.tree if isinstance(c, Hierarchical) else None for c in self.columns]
        sizes = [0 if tree is None else len(tree.names) for tree in trees]
        nodes = [tree for tree in trees if tree is not None]
        sets = [c.distinct if isinstance(c, Categories) else 0 for c in self.columns]
        nulls = [NULL_POINT if isinstance(c, Numbers) else c.null_code for c in self.columns]
        none = np.zeros(0, dtype=np.int64)
        return LossModel(
            kind=np.array([kinds[type(c)] for c in self.columns], dtype=np.int64),
            values=np.array(sets, dtype=np.int64),
            null=np.array(nulls, dtype=np.float64),
            base=np.cumsum([0, *sizes[:-1]]).astype(np.int64),
            last=np.concatenate([none, *(tree.last for tree in nodes)]),
            parent=np.concatenate([none, *(tree.parent for tree in nodes)]),
            share=np.concatenate([np.zeros(0), *(tree.share for tree in nodes)]),
        )


def read(
    function: str,
    types: Mapping[str, str],
    lists: Mapping[str, pa.Array],
    hashes: pa.Array,
    workers: Workers,
    trees: Mapping[str, pa.StructArray | None] = MappingProxyType({}),
) -> QuasiTable:
    """The quasi-identifiers named in ``types`` (SQL types by name, in declared order).

    lists: Arrow arrays by name; hashes: uint64[n] of the values that are kept beside them; trees:
    the rows of a hierarchy by name, for the columns that have one.
    Raises AnonError for a type or value that no label can stand for.
    """
    from anon_sql.kernels.hash_order import by_hash
    from anon_sql.kernels.hashing import mix, mix_in

    jobs = [
        (function, name, sql_type, lists[name], trees.get(name)) for name, sql_type in types.items()
    ]
    columns = workers.map(_column, jobs, [len(hashes)] * len(jobs))
    row_hash = hashes.to_numpy(zero_copy_only=False).astype(np.uint64)
    for column in columns:
        if isinstance(column, Numbers):
            mix_in(row_hash, column.keys, column.present)
        else:
            row_hash = mix(row_hash, column.codes)
    return QuasiTable(tuple(columns), by_hash(row_hash))


def _column(
    function: str, name: str, sql_type: str, values: pa.Array, tree: pa.StructArray | None
) -> Column:
    number = is_number(function, name, sql_type)
    if tree is not None:
        return hierarchical(function, name, sql_type, values, tree)
    return numbers(function, name, sql_type, values) if number else categories(name, values)
