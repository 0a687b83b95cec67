"""Read the rows of one attribute's hierarchy as paths from leaf to root, and find faults in them.

A row states that ``value`` is generalized to ``label`` at a level; level 1 is the first above the
value. A node is identified by its label: equal labels on two paths, or on successive levels of one
path, are the same node.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

STAR = "*"


@dataclass(frozen=True)
class Row:
    """A row of a hierarchy.

    leaf: the value as the column prints it; value: the value as written in the hierarchy.
    """

    leaf: str
    value: str
    level: int
    label: str


@dataclass(frozen=True)
class Fault:
    """A violation of a rule.

    fault: a key of ``SAYS``. name: the value or label concerned. found: what the hierarchy has
    instead. counted: the same without labels, if ``found`` contains labels.
    """

    fault: str
    name: str
    found: str
    counted: str = ""


TWICE, PARENTS, LEAF, ABOVE, BELOW = (
    *("listed twice", "two parents", "also a leaf", "above itself"),
    "* below a label",
)
SAYS = {  # rule that each fault violates
    TWICE: "a hierarchy must list a value once",
    PARENTS: "a label of a hierarchy must have one parent",
    LEAF: "a label of a hierarchy must not be a value of another branch",
    ABOVE: "a label of a hierarchy must not be above itself",
    BELOW: "the label * of a hierarchy must be its root",
}


@dataclass(frozen=True)
class Paths:
    """The paths of a hierarchy.

    labels: of each leaf, from the lowest level to the highest. parents: the distinct parents of
    each node, in the order of the rows. twice: leaves with two labels at one level.
    """

    labels: dict[str, list[str]]
    parents: dict[str, list[str]]
    twice: list[str]

    def faults(self) -> Iterator[Fault]:
        """Yield every reason why the paths do not form a tree."""
        for leaf in self.twice:
            yield Fault(TWICE, leaf, "two labels at a level")
        inner: dict[str, int] = {}  # number of other leaves below each label
        for leaf, path in self.labels.items():
            for label in set(path):
                inner[label] = inner.get(label, 0) + (label != leaf)
        for label, above in self.parents.items():
            if len(above) > 1:
                yield Fault(PARENTS, label, ", ".join(sorted(above)), f"{len(above)} parents")
        for label in sorted(inner & self.labels.keys()):
            if inner[label]:
                yield Fault(LEAF, label, f"the label of {inner[label]:,} other values")
        for label in self._circular():
            yield Fault(ABOVE, label, "a path that comes back to it")
        if STAR in inner and self.parents.get(STAR):
            yield Fault(BELOW, STAR, ", ".join(sorted(self.parents[STAR])), "labels above it")

    def _circular(self) -> list[str]:
        """Return one label of each cycle, following nodes that have exactly one parent."""
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
    """Return the paths of rows given in any order."""
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
