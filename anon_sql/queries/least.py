"""The least value of each label, which ``mode := 'literal'`` takes a released row to have."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from anon_sql.core.labels.read import read_ranges, read_sets
from anon_sql.core.printing import printed
from anon_sql.queries.axis import Bools, Matches
from anon_sql.queries.leaves import read_labels
from anon_sql.queries.quasi import Quasi


@dataclass(frozen=True)
class Least:
    """truth: bool[L, m], of the conditions on the least value of each label."""

    truth: Bools

    def matches(self, at: int) -> Matches:
        """What each label makes of a condition: it holds or it does not."""
        found = self.truth[:, at]
        return found.astype(np.float64), found, found

    def everything(self, at: int) -> tuple[float, bool, bool]:
        """What a row that the release leaves out makes of a condition: nothing."""
        return 0.0, False, False


def least_values(quasi: Quasi, shown: pa.Array) -> Least:
    """Return the truth of a number's minimum, of a text's only value, and else of the label as it
    stands (of NULL where the column's type has no place for it)."""
    column = quasi.domain
    if column.tree is None:
        if column.number:
            return Least(quasi.truth(read_ranges(column.sql_type, shown).low, column.sql_type))
        return Least(_of_sets(quasi, read_sets(shown).words, shown))
    leaves, below, _ = read_labels(quasi, column.tree, shown)
    if column.number:
        places = pa.array([places[0] if places else None for places in below], pa.int64())
        return Least(quasi.truth(leaves.values.take(places), column.sql_type))
    return Least(_of_sets(quasi, [[leaves.words[at] for at in places] for places in below], shown))


def _of_sets(quasi: Quasi, sets: Sequence[Sequence[str] | None], shown: pa.Array) -> Bools:
    stands: list[str | None] = [None] * len(sets)
    if quasi.word_type == "VARCHAR":
        stands = printed([shown], ["VARCHAR"])[0].to_pylist()
    return quasi.word_truth(
        [
            words[0] if words is not None and len(words) == 1 else text
            for words, text in zip(sets, stands, strict=True)
        ]
    )
