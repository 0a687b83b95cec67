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

    ordered: numbers, dates and times without NULL. tree: their hierarchy, if there is one, and
    leaf_of, int64[v], the leaf of each value of the table, -1 for NULL.
    """

    ordered: bool = False
    tree: HierarchyTree | None = None
    leaf_of: Ints | None = None


EQUAL = Ground()


@dataclass(frozen=True)
class TableValues:
    """How often each value of a column occurs in the raw table.

    keys: its v distinct values, as bytes that sort as the values do, in order; counts: int64[v].
    """

    keys: pa.Array
    counts: Ints
    ground: Ground = EQUAL

    @property
    def rows(self) -> int:
        """How many values there are."""
        return int(self.counts.sum())

    @property
    def nulls(self) -> bool:
        """Whether NULL is among the values."""
        return len(self.keys) > 0 and self.keys[0].as_py() == NULL


NOTHING = TableValues(pa.nulls(0, pa.binary()), np.zeros(0, np.int64))


@dataclass(frozen=True)
class ClassValues:
    """The values of a column in m classes, a group an entry, by class and then by value.

    class_of: int64[g], from 0, none without a group. key_of: int64[g], the place of the value in
    ``keys``, which are as in ``TableValues``. counts: int64[g], how often the class has the value.
    """

    class_of: Ints
    key_of: Ints
    keys: pa.Array
    counts: Ints

    @property
    def starts(self) -> Ints:
        """Where each class starts, int64[m]."""
        return np.flatnonzero(np.diff(self.class_of, prepend=-1))

    @property
    def sizes(self) -> Ints:
        """The values of each class, int64[m]."""
        return np.add.reduceat(self.counts, self.starts) if len(self.counts) else self.counts

    @property
    def known(self) -> npt.NDArray[np.bool_]:
        """Which groups hold a value that is not NULL, bool[g]."""
        null = np.array([key.as_py() == NULL for key in self.keys[:1]] or [False])
        return np.asarray((self.key_of > 0) | ~null[0])

    def places(self, table: TableValues) -> Ints:
        """Return the place in ``table`` of each group's value, int64[g]; -1 where it lacks it."""
        found = integers(pc.index_in(self.keys, table.keys).fill_null(-1))
        return np.asarray(found[self.key_of], dtype=np.int64)


def table_values(keys: pa.Array, counts: Ints) -> TableValues:
    """Return the counts of each key, of keys that may repeat."""
    places, known = ordered(keys)
    return TableValues(
        known, np.bincount(places, weights=counts, minlength=len(known)).astype(np.int64)
    )


def class_values(class_of: Ints, keys: pa.Array, counts: Ints) -> ClassValues:
    """Return the groups of classes and keys, of groups that may repeat."""
    places, known = ordered(keys)
    both = class_of * len(known) + places
    order = np.argsort(both, kind="stable")
    begins = np.flatnonzero(np.diff(both[order], prepend=-1))
    summed = np.add.reduceat(counts[order], begins) if len(order) else counts
    once = order[begins]
    return ClassValues(class_of[once], places[once], known, summed)


def ordered(keys: pa.Array) -> tuple[Ints, pa.Array]:
    """Return the place of each key among the distinct keys, int64[g], and these as they sort."""
    coded = keys.dictionary_encode()
    order = integers(pc.sort_indices(coded.dictionary)).astype(np.int64)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    places = rank[integers(coded.indices).astype(np.int64)] if len(order) else np.zeros(0, np.int64)
    return places, coded.dictionary.take(pa.array(order))
