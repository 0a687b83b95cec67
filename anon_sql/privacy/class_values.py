"""The values of a sensitive column in every class, beside those of the raw table."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.core.arrow import integers
from anon_sql.core.hierarchy.tree import HierarchyTree

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
NULL = b""  # the key of NULL, which sorts before all others


@dataclass(frozen=True)
class Ground:
    """The ground distance of a column's values.

    ordered: whether they are numbers, dates or times without NULL.
    tree: their hierarchy, None without one.
    leaf_of: int64[v], the leaf of each value of the table, -1 for NULL; None without a hierarchy.
    """

    ordered: bool = False
    tree: HierarchyTree | None = None
    leaf_of: Ints | None = None


EQUAL = Ground()


@dataclass(frozen=True)
class TableValues:
    """How often each value of a column occurs in the raw table.

    keys: its v distinct values, as bytes that sort as the values do, in order.
    counts: int64[v].
    ground: the distance of two values.
    """

    keys: pa.Array
    counts: Ints
    ground: Ground = EQUAL

    @property
    def rows(self) -> int:
        """Return the number of values."""
        return int(self.counts.sum())

    @property
    def nulls(self) -> bool:
        """Return whether NULL is among the values."""
        return len(self.keys) > 0 and self.keys[0].as_py() == NULL


NOTHING = TableValues(pa.nulls(0, pa.binary()), np.zeros(0, np.int64))


@dataclass(frozen=True)
class ClassValues:
    """The values of a column in m classes: an entry per class and value, in this order.

    class_of: int64[g], from 0; a class without an entry is left out.
    key_of: int64[g], the position of the value in ``keys``.
    keys: as in ``TableValues``.
    counts: int64[g], how often the class has the value.
    """

    class_of: Ints
    key_of: Ints
    keys: pa.Array
    counts: Ints

    @property
    def starts(self) -> Ints:
        """Return where each class starts, int64[m]."""
        return np.flatnonzero(np.diff(self.class_of, prepend=-1))

    @property
    def sizes(self) -> Ints:
        """Return the number of values of each class, int64[m]."""
        return np.add.reduceat(self.counts, self.starts) if len(self.counts) else self.counts

    @property
    def non_null(self) -> npt.NDArray[np.bool_]:
        """Return which entries are of a value that is not NULL, bool[g]."""
        null = np.array([key.as_py() == NULL for key in self.keys[:1]] or [False])
        return np.asarray((self.key_of > 0) | ~null[0])

    def places(self, table: TableValues) -> Ints:
        """Return the position in ``table`` of each entry's value, int64[g]; -1 if the table lacks
        it."""
        places = integers(pc.index_in(self.keys, table.keys).fill_null(-1))
        return np.asarray(places[self.key_of], dtype=np.int64)


def table_values(keys: pa.Array, counts: Ints) -> TableValues:
    """Return the counts of each key, of keys that may repeat."""
    places, distinct = ordered(keys)
    return TableValues(
        distinct, np.bincount(places, weights=counts, minlength=len(distinct)).astype(np.int64)
    )


def class_values(class_of: Ints, keys: pa.Array, counts: Ints) -> ClassValues:
    """Return the entries of classes and keys, of pairs that may repeat."""
    places, distinct = ordered(keys)
    pairs = class_of * len(distinct) + places
    order = np.argsort(pairs, kind="stable")
    begins = np.flatnonzero(np.diff(pairs[order], prepend=-1))
    summed = np.add.reduceat(counts[order], begins) if len(order) else counts
    firsts = order[begins]
    return ClassValues(class_of[firsts], places[firsts], distinct, summed)


def ordered(keys: pa.Array) -> tuple[Ints, pa.Array]:
    """Return the position of each key among the distinct keys, int64[g], and these in order."""
    coded = keys.dictionary_encode()
    order = integers(pc.sort_indices(coded.dictionary)).astype(np.int64)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    places = rank[integers(coded.indices).astype(np.int64)] if len(order) else np.zeros(0, np.int64)
    return places, coded.dictionary.take(pa.array(order))
