"""The persons of the raw table and the classes of its release, as the attacks see them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.core.arrow import integers
from anon_sql.core.hierarchy.hierarchical import Hierarchical
from anon_sql.core.labels.coverage import LEAST, Coverage, Ints
from anon_sql.core.options import OrNull, Whole
from anon_sql.measures.spread import NULL, Spread, ordered

_NOTHING = -1  # the code of NULL, which is no value


@dataclass(frozen=True)
class Alike:
    """Rows of the raw table, p groups of those that are alike in all that attacks look at.

    group_of: int64[p], the place of the values in each ``Coverage``. keys: of each sensitive column
    bytes, an array of p, see ``Held``. counts: int64[p], the rows of each group.
    """

    group_of: Ints
    keys: Mapping[str, pa.Array]
    counts: Ints


class People:
    """All persons, alike ones merged, in an order that depends on what they hold alone.

    columns: of each quasi-identifier; codes int64[p, q]: of each person. own int64[p, s]: the value
    of each sensitive column, numbered through all of them, -1 for NULL; column_of int64[v]: whose
    value that is. sizes int64[m]: rows of each class. starts int64[m + 1], values, counts int64[e]:
    how often each class holds which values.
    """

    def __init__(
        self,
        function: str,
        columns: Sequence[Coverage],
        alike: Alike,
        sizes: Ints,
        spreads: Mapping[str, Spread],
    ) -> None:
        self.function, self.columns, self.sensitive = function, columns, list(spreads)
        self.sizes = sizes
        self.codes = np.column_stack([column.codes[alike.group_of] for column in columns])
        column_of: list[int] = []
        own, held = [], []
        for at, (name, spread) in enumerate(spreads.items()):
            raw, keys = alike.keys[name], spread.keys
            places, known = ordered(pa.concat_arrays([raw, keys]))
            code = places - int(len(known) > 0 and known[0].as_py() == NULL)
            code = np.where(code < 0, _NOTHING, code + len(column_of))
            column_of += [at] * (len(known) - int((code < 0).any()))
            own.append(code[: len(raw)])
            held.append((spread.class_of, code[len(raw) :][spread.key_of], spread.counts))
        self.own = np.column_stack(own)
        self.column_of = np.array(column_of, dtype=np.int64)
        at_, value, counts = (np.concatenate(parts) for parts in zip(*held, strict=True))
        kept = np.flatnonzero(value != _NOTHING)
        kept = kept[np.lexsort((value[kept], at_[kept]))]
        self.starts = np.searchsorted(at_[kept], np.arange(len(sizes) + 1))
        self.values, self.counts = value[kept], counts[kept]
        ranks = [_ordering(column)[alike.group_of] for column in columns]
        order = np.lexsort([*self.own.T[::-1], *ranks[::-1]])
        self.tuple_of = np.repeat(order, alike.counts[order])  # of each person

    @property
    def shown(self) -> Ints:
        """How often the release holds each sensitive value, int64[v]."""
        total = np.bincount(self.values, self.counts, minlength=len(self.column_of))
        return total.astype(np.int64)

    def drawn(self, sample: Any, seed: Any) -> tuple[Ints, np.random.Generator]:
        """Which persons are attacked, and the random numbers that follow. Raises AnonError."""
        most = OrNull(Whole(1)).read(self.function, "sample", sample)
        draw = np.random.default_rng(Whole(0).read(self.function, "seed", seed))
        if most is None or most >= len(self.tuple_of):
            return self.tuple_of, draw
        return self.tuple_of[np.sort(draw.choice(len(self.tuple_of), most, replace=False))], draw


def _ordering(column: Coverage) -> Ints:
    """The rank of each value; leaves of a hierarchy as their names sort."""
    if not isinstance(column.column, Hierarchical):
        return column.codes
    tree = column.column.tree
    names = pa.array(tree.names[: tree.leaves])
    rank = np.empty(tree.leaves, dtype=np.int64)
    rank[integers(pc.sort_indices(names))] = np.arange(tree.leaves)
    return np.where(column.codes == LEAST, -1, rank[np.maximum(column.codes, 0)])
