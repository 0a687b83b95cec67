"""Every node of a generalization lattice, slow and plain, on the table of ``test_hierarchical``."""

from collections import defaultdict
from itertools import product

from tests.kernels.legal import legal
from tests.test_hierarchical import LEAVES, PATHS, QUASI, loss, way

HEIGHTS = [max(map(len, PATHS[name].values())) for name in QUASI]


def label(name, height, value, level):
    """What a column that stands at a level shows of a value."""
    if value is None:
        return "*" if level == height else None
    path = way(name, value)
    return ([path[0]] * (height + 1 - len(path)) + path)[level]


def nodes(rows, how, limit, shown, fixed=()):
    """The worth of every node by its levels: legal, loss, suppressed, classes, dm.

    rows: values of the quasi-identifiers, then what ``how`` is required of. limit: rows. shown:
    whether suppressed rows are.
    """
    tops = [0 if name in fixed else top for name, top in zip(QUASI, HEIGHTS, strict=True)]
    return {
        node: worth(rows, node, how, limit, shown)
        for node in product(*(range(top + 1) for top in tops))
    }


def solvable(rows, how, fixed=()):
    """Whether the table, and each stratum of it, can be a class."""
    whole = [row[len(QUASI) :] for row in rows]
    strata = defaultdict(list)
    for row in rows:
        strata[tuple(row[QUASI.index(name)] for name in fixed)].append(row[len(QUASI) :])
    return all(legal(own, whole, how) for own in [whole, *strata.values()])


def worth(rows, node, how, limit, shown):
    """The worth of one node, with the smallest groups in the company of suppressed rows."""
    whole = [row[len(QUASI) :] for row in rows]
    groups = defaultdict(list)
    for row in rows:
        shows = zip(QUASI, HEIGHTS, row, node, strict=False)
        groups[tuple(label(*each) for each in shows)].append(row[len(QUASI) :])
    lost = {labels: sum(map(loss, QUASI, labels)) for labels in groups}
    kept = {labels for labels, own in groups.items() if legal(own, whole, how)}
    left = [row for labels in groups.keys() - kept for row in groups[labels]]
    others = sorted(kept, key=lambda labels: (len(groups[labels]), -lost[labels]))
    while shown and left and len(left) <= limit and not legal(left, whole, how):
        kept.remove(others[0])
        left += groups[others.pop(0)]
    if set(groups) == {("*",) * len(QUASI)}:  # all rows are suppressed
        left, kept = rows, set()
    total = sum(lost[labels] * len(groups[labels]) for labels in kept) + len(left) * len(QUASI)
    return {
        "legal": (len(left) <= limit and (shown or len(left) < len(rows)))
        or (shown and left is rows),
        "loss": total / len(rows) / len(QUASI),
        "suppressed": len(left),
        "classes": len(kept),
        "dm": sum(len(groups[labels]) ** 2 for labels in kept) + len(left) ** 2,
    }


def value(node, found, minimize):
    """What is minimized."""
    if minimize == "height":
        return sum(node) + found["loss"] / 2
    return found["dm" if minimize == "dm" else "loss"]


def gcp(released):
    """The loss of released labels; the first columns are the quasi-identifiers."""
    lost = sum(sum(map(loss, QUASI, row)) for row in released)
    return lost / len(released) / len(QUASI)


def discernibility(released):
    """The sum of the squared sizes of the classes of labels."""
    sizes = defaultdict(int)
    for row in released:
        sizes[row[: len(QUASI)]] += 1
    return sum(size**2 for size in sizes.values())


VALUES = [[None, *LEAVES[name]] for name in QUASI]
