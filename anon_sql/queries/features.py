"""Labels as features of a classifier: midpoints of ranges, shares of the members of sets."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.core.labels.read import read_nodes, read_ranges, read_sets
from anon_sql.measures.domain import Domain
from anon_sql.measures.points import points
from anon_sql.queries.leaves import leaves_of

Said = float | tuple[str, ...] | None  # a midpoint, members, or nothing known

_DAY = 86_400_000_000  # microseconds


def values(column: Domain, held: pa.Array) -> list[Said]:
    """Return what values of the raw column say of themselves."""
    if column.number:
        return _middles(column, held, held)
    if pa.types.is_boolean(held.type):
        held = pc.if_else(held, "true", "false")
    return [None if word is None else (word,) for word in held.to_pylist()]


def labels(column: Domain, shown: pa.Array) -> list[Said]:
    """Return what labels of a column say of the raw column, by its hierarchy where it has one."""
    if column.tree is not None:
        leaves = leaves_of(column, column.tree)
        below = leaves.below(column.tree, read_nodes(column.tree, column.sql_type, shown))
        if not column.number:
            return [tuple(leaves.words[at] for at in places) or None for places in below]
        ends = [[places[end] if places else None for places in below] for end in (0, -1)]
        return _middles(
            column, *(leaves.values.take(pa.array(places, pa.int64())) for places in ends)
        )
    if column.number:
        read = read_ranges(column.sql_type, shown)
        return _middles(column, read.low, read.high, within=True)
    held = set(column.words)
    return [
        None if words is None else tuple(word for word in words if word in held)
        for words in read_sets(shown).words
    ]


def _middles(column: Domain, low: pa.Array, high: pa.Array, *, within: bool = False) -> list[Said]:
    """The middles of ranges, None for NULL; dates in microseconds, as timestamps are.

    within: of what the ranges cover of the domain.
    """
    ends = [points(column.sql_type, end) for end in (low, high)]
    if within:
        ends = [np.clip(end, column.least, column.most) for end in ends]
    middle = (ends[0] + ends[1]) * (_DAY if column.sql_type == "DATE" else 1)
    return [
        each if known else None
        for each, known in zip(middle.tolist(), low.is_valid().to_pylist(), strict=True)
    ]


class Encoder:
    """A column as numbers, fitted on the training part alone.

    A range is its midpoint, scaled; a set gives each of its members an equal share, and a member
    that the training part lacks counts for none. ``*`` and NULL are the mean of what was seen.
    """

    def __init__(self, train: Sequence[Said]):
        words = sorted({word for one in train if isinstance(one, tuple) for word in one})
        self.place = {word: at for at, word in enumerate(words)}
        numbers = [one for one in train if isinstance(one, float)]
        self.mean = float(np.mean(numbers)) if numbers else 0.0
        self.scale = float(np.std(numbers)) if numbers else 0.0
        self.unknown = np.zeros(len(words))
        seen = [self._shares(one) for one in train if isinstance(one, tuple)]
        if seen:
            self.unknown = np.mean(seen, axis=0)

    def encode(self, values: Sequence[Said]) -> npt.NDArray[np.float64]:
        """float64[n, 1] or float64[n, words]."""
        if not self.place:
            middles = [one if isinstance(one, float) else self.mean for one in values]
            return (np.array(middles).reshape(-1, 1) - self.mean) / (self.scale or 1.0)
        known: dict[Said, npt.NDArray[np.float64]] = {
            one: self._shares(one) if isinstance(one, tuple) else self.unknown
            for one in set(values)
        }
        return np.array([known[one] for one in values]).reshape(len(values), -1)

    def _shares(self, members: tuple[str, ...]) -> npt.NDArray[np.float64]:
        row = np.zeros(len(self.place))
        for word in members:
            if word in self.place:
                row[self.place[word]] += 1 / len(members)
        return row
