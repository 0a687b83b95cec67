"""The rows of one attribute's hierarchy as paths from its leaves upwards, and what is wrong there.

A row says that ``value`` is called ``label`` at a level, counted from 1 for the first above the
value. A node is its label: the same label on two paths is one node, a label repeated upwards too.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

STAR = "*"


@dataclass(frozen=True)
class Row:
    """One row: leaf is the value as the column prints it, value as it is written."""

    leaf: str
    value: str
    level: int
    label: str


@dataclass(frozen=True)
class Fault:
    """fault: one of ``SAYS``; name: the value or label it is about; found: what stands there."""

    fault: str
    name: str
    found: str


TWICE, PARENTS, LEAF, ABOVE, BELOW = (
    *("listed twice", "two parents", "also a leaf", "above itself"),
    "* below a label",
)
SAYS = {  # the rule that each fault breaks
    TWICE: "a hierarchy must list a value once",
    PARENTS: "a label of a hierarchy must have one parent",
    LEAF: "a label of a hierarchy must not be a value of another branch",
    ABOVE: "a label of a hierarchy must not be above itself",
    BELOW: "the label * of a hierarchy must be its root",
}


@dataclass(frozen=True)
class Paths:
    """labels: by leaf, from the lowest level to the highest; parents: by node, as listed."""

    labels: dict[str, list[str]]
    parents: dict[str, list[str]]
    twice: list[str]

    def faults(self) -> Iterator[Fault]:
        """Everything that keeps the paths from being a tree."""
        for leaf in self.twice:
            yield Fault(TWICE, leaf, "two labels at a level")
        inner: dict[str, int] = {}  # how many other values each label stands above
        for leaf, path in self.labels.items():
            for label in set(path):
                inner[label] = inner.get(label, 0) + (label != leaf)
        for label, above in self.parents.items():
            if len(above) > 1:
                yield Fault(PARENTS, label, ", ".join(sorted(above)))
        for label in sorted(inner & self.labels.keys()):
            if inner[label]:
                yield Fault(LEAF, label, f"the label of {inner[label]:,} other values")
        for label in self._circular():
            yield Fault(ABOVE, label, "a path that comes back to it")
        if STAR in inner and self.parents.get(STAR):
            yield Fault(BELOW, STAR, ", ".join(sorted(self.parents[STAR])))

    def _circular(self) -> list[str]:
        """Labels that are above themselves, by parents of which there is one each."""
        found, seen = [], set[str]()
        for start in self.parents:
            trail: dict[str, None] = {}
            node = start
            while node not in seen and node not in trail and len(self.parents.get(node, ())) == 1:
                trail[node] = None
                node = self.parents[node][0]
            if node in trail:
                found.append(node)
            seen.update(trail)
        return found


def read(rows: Iterable[Row]) -> Paths:
    """Paths of the rows in any order."""
    at: dict[str, dict[int, str]] = {}
    twice: dict[str, None] = {}
    for row in rows:
        levels = at.setdefault(row.leaf, {})
        if row.level in levels:
            twice[row.leaf] = None
        levels[row.level] = row.leaf if row.label == row.value else row.label
    labels = {leaf: [levels[level] for level in sorted(levels)] for leaf, levels in at.items()}
    parents: dict[str, list[str]] = {}
    for leaf, path in labels.items():
        below = leaf
        for label in path:
            if label != below:
                known = parents.setdefault(below, [])
                if label not in known:
                    known.append(label)
                below = label
    return Paths(labels, parents, sorted(twice))
