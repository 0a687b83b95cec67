"""Measure what the difference of two releases discloses about people who joined or left.

The attacker knows who has a row in which release. A connected component is a union of classes of
both releases that cover the same people. Its people before and after are the same except those who
joined or left, so the difference of its rows is theirs.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


class Components:
    """The connected components of the classes of two releases, numbered before and then after.

    before, after: bool[c] each, the suppressed classes. Their rows can belong to anyone, so with
    them there is a single component.
    """

    def __init__(self, before: npt.NDArray[np.bool_], after: npt.NDArray[np.bool_]) -> None:
        self.first = len(before)
        nodes = len(before) + len(after)
        anybody = bool(before.any() or after.any())
        self.roots: Ints = np.zeros(nodes, np.int64) if anybody else np.arange(nodes)

    def connect(self, persons: int, before: tuple[Ints, Ints], after: tuple[Ints, Ints]) -> None:
        """Join the classes that cover the same person; each side: people, ascending, and
        classes."""
        sides = [(before[0], self.roots[before[1]]), (after[0], self.roots[after[1] + self.first])]
        least = np.full(persons, len(self.roots), dtype=np.int64)
        for owner, roots in sides:
            starts = np.flatnonzero(np.diff(owner, prepend=-1))
            if len(starts):
                persons_of_owner = owner[starts]
                least[persons_of_owner] = np.minimum(
                    least[persons_of_owner], np.minimum.reduceat(roots, starts)
                )
        pairs = [np.stack([least[owner], roots], axis=1) for owner, roots in sides]
        edges = np.concatenate([pair[pair[:, 0] != pair[:, 1]] for pair in pairs])
        if len(edges):
            self._join(np.unique(edges, axis=0).tolist())

    def _join(self, edges: Sequence[tuple[int, int]]) -> None:
        above: dict[int, int] = {}

        def root(node: int) -> int:
            while node in above:
                node = above[node]
            return node

        for one, other in edges:
            low, high = sorted((root(one), root(other)))
            if low != high:
                above[high] = low
        ends = {node: root(node) for node in above}
        moved = np.arange(len(self.roots))
        moved[list(ends)] = list(ends.values())
        self.roots = moved[self.roots]


@dataclass(frozen=True)
class ReleaseEntries:
    """e entries of a release, int64[e] each: the class, the tuple, and the number of rows."""

    class_of: Ints
    tuples: Ints
    counts: Ints


@dataclass(frozen=True)
class Change:
    """The rows of two releases that differ, counted.

    before, after: rows of each. came, went: least number of rows that came, and that went. joined,
    left: rows that came to, or went from, components without rows of the other kind, and have too
    few values. both: rows of components with both kinds that would have too few values if no other
    rows came or went.
    """

    before: int
    after: int
    came: int
    went: int
    joined: int
    left: int
    both: int


def change(
    components: Components,
    before: ReleaseEntries,
    after: ReleaseEntries,
    values: Sequence[Ints],
    least: int,
) -> Change:
    """Return the difference of the rows of two releases.

    values: of each sensitive column, its value in each tuple. Rows have too few values if one value
    has a share above 1 / ``least`` among them, as it does if there are fewer than ``least`` values.
    """
    nodes = np.concatenate([before.class_of, after.class_of + components.first])
    where = components.roots[nodes]
    tuples = np.concatenate([before.tuples, after.tuples])
    signed = np.concatenate([-before.counts, after.counts])
    meets = np.isin(where, where[: len(before.counts)]) & np.isin(
        where, where[len(before.counts) :]
    )
    places, component = np.unique(where[meets], return_inverse=True)
    many = int(tuples.max(initial=-1)) + 1
    keys, inverse = np.unique(component.reshape(-1) * many + tuples[meets], return_inverse=True)
    difference = np.bincount(inverse.reshape(-1), signed[meets], len(keys)).astype(np.int64)
    place, tuple_ids = np.divmod(keys, max(many, 1))
    came, went = (np.maximum(sign * difference, 0) for sign in (1, -1))
    rows = [np.bincount(place, changed, len(places)).astype(np.int64) for changed in (came, went)]
    too_little = np.zeros((2, len(places)), dtype=np.bool_)
    for values_of_tuple in values:
        groups, group = np.unique(
            place * len(values_of_tuple) + values_of_tuple[tuple_ids], return_inverse=True
        )
        for side, changed in enumerate((came, went)):
            most = np.zeros(len(places), dtype=np.int64)
            sums = np.bincount(group.reshape(-1), changed, len(groups)).astype(np.int64)
            np.maximum.at(most, groups // max(len(values_of_tuple), 1), sums)
            too_little[side] |= most * least > rows[side]
    only_came, only_went = rows[1] == 0, rows[0] == 0
    mixed = ~only_came & ~only_went
    return Change(
        before=int(before.counts.sum()),
        after=int(after.counts.sum()),
        came=int(rows[0].sum()),
        went=int(rows[1].sum()),
        joined=int(rows[0][only_came & too_little[0]].sum()),
        left=int(rows[1][only_went & too_little[1]].sum()),
        both=int(rows[0][mixed & too_little[0]].sum() + rows[1][mixed & too_little[1]].sum()),
    )
