"""Judge a node of a generalization lattice: its loss, the rows it suppresses, whether it is legal.

Groups that are not legal are suppressed. Where suppressed rows are shown, they are a class that
must be legal too: the smallest groups join them, of equal ones those that lose most.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anon_sql.core.constraints import KINDS, Constraint
from anon_sql.methods.parts.recoding import Groups, Node, Records

TIE = 1e-12  # of GCP, for each level
MINIMIZE = ("gcp", "dm", "height")
Bools = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Verdict:
    """What a node is worth.

    gcp: 0…1, suppressed rows lose 1. dm: the discernibility. suppressed: rows. classes: groups that
    are not suppressed. passes: False where every more specific node is illegal too. legal: whether
    it may be released. few: rows in groups too small to be legal; extra: by how much they raise the
    GCP, which is no less in every more specific node; squares: the sum of the squared sizes of all
    groups, which is no less in every more general node.
    """

    node: Node
    gcp: float
    dm: float
    suppressed: int
    classes: int
    passes: bool
    legal: bool
    few: int
    extra: float
    squares: float

    def value(self, minimize: str) -> float:
        """Return what is minimized.

        Of nodes with equal height that of less GCP is better, of others with equal values that of
        less height.
        """
        if minimize == "height":
            return sum(self.node) + self.gcp / 2
        return self.dm if minimize == "dm" else self.gcp + TIE * sum(self.node)


@dataclass(frozen=True)
class Judge:
    """What nodes are judged by. limit: rows that may be suppressed; shown: whether as ``*``."""

    records: Records
    constraint: Constraint
    limit: int
    shown: bool

    @property
    def monotone(self) -> bool:
        """Return whether a more general node never suppresses more rows.

        It may where a legal group loses l, t, beta or delta in the union with an illegal one, or,
        if persons are counted, in the union with a legal one.
        """
        rules = self.constraint.rules
        if rules is None or (self.limit == 0 and not rules.persons):
            return True
        return KINDS[rules.kind] == "distinct" and rules.t >= 1 and not rules.most.size

    def verdict(self, node: Node) -> Verdict:
        """Return what a node is worth."""
        groups = self.records.groups(node)
        sizes, columns = groups.sizes, len(self.records.columns)
        lost = sizes * self.records.losses(groups)
        whole = columns * self.records.rows
        small = sizes < self.constraint.smallest
        few = int(sizes[small].sum())
        rare = self.illegal(groups) if few <= self.limit else small
        passes = (int(sizes[rare].sum()) if self.monotone else few) <= self.limit
        left, legal = self.left_out(groups, rare)
        suppressed = int(sizes[left].sum())
        return Verdict(
            node=node,
            gcp=float(lost[~left].sum() + suppressed * columns) / whole,
            dm=float((sizes[~left].astype(np.float64) ** 2).sum()) + float(suppressed) ** 2,
            suppressed=suppressed,
            classes=int((~left).sum()),
            passes=passes,
            legal=legal and (self.shown or not left.all()),  # a release is never empty
            few=few,
            extra=float((sizes * columns - lost)[small].sum()) / whole,
            squares=float((sizes.astype(np.float64) ** 2).sum()),
        )

    def illegal(self, groups: Groups) -> Bools:
        """Return which groups are not legal, bool[g]."""
        if self.constraint.rules is None:
            return groups.sizes < self.constraint.k
        return ~self.constraint.legal(self.records.of_rows(groups), len(groups.sizes))

    def left_out(self, groups: Groups, rare: Bools) -> tuple[Bools, bool]:
        """Return which groups are suppressed, bool[g], and whether that is legal.

        rare: bool[g], the groups that must be. Where every label is ``*``, all rows are suppressed,
        which is legal if they are shown.
        """
        if self.records.starred(groups.node):
            return np.ones(len(rare), np.bool_), self.shown or self.records.rows <= self.limit
        left, sizes = rare.copy(), groups.sizes
        within = int(sizes[left].sum()) <= self.limit
        if not within or not self.shown or not left.any():
            return left, within
        rows = None if self.constraint.rules is None else self.records.of_rows(groups)
        by_size = np.lexsort((-self.records.losses(groups), sizes))
        others = iter(by_size[~left[by_size]])
        while within and not self._allowed(sizes, left, rows):
            left[next(others)] = True  # all rows together are legal
            within = int(sizes[left].sum()) <= self.limit
        return left, within

    def _allowed(self, sizes: npt.NDArray[np.int64], left: Bools, rows: Codes | None) -> bool:
        """Return whether the rows of some groups are legal as one class; rows: their groups."""
        if rows is None:
            return int(sizes[left].sum()) >= self.constraint.k
        return self.constraint.allows(np.flatnonzero(left[rows]))
