"""What two releases tell by subtraction once more, in plain Python and from the definition.

Persons are lists of rows, rows are dicts. A release is a list of classes, each its labels and its
rows' other values; ``STAR`` in every label is a suppressed class.
"""

from collections import Counter

from tests.attack.twin import STAR, covers


def classes_of(released):
    """The classes of a release: labels, and a Counter of its tuples."""
    found = {}
    for labels, own in released:
        key = repr(sorted((q, sorted(x) if isinstance(x, set) else x) for q, x in labels.items()))
        found.setdefault(key, (labels, Counter()))[1][tuple(own.values())] += 1
    return list(found.values())


def components(people, before, after):
    """Sets of classes, as (side, number)."""
    nodes = [(0, at) for at in range(len(before))] + [(1, at) for at in range(len(after))]
    group = {node: {node} for node in nodes}

    def join(some):
        whole = set().union(*(group[node] for node in some)) if some else set()
        for node in whole:
            group[node] = whole

    stars = [n for n in nodes if all(x == STAR for x in (before, after)[n[0]][n[1]][0].values())]
    if stars:
        join(nodes)
    for rows in people:
        near = [
            (side, at)
            for side, classes in enumerate((before, after))
            for at, (labels, _) in enumerate(classes)
            if any(all(covers(label, row[q]) for q, label in labels.items()) for row in rows)
        ]
        join(near)
    return {frozenset(whole) for whole in group.values()}


def too_little(rows, at, least):
    """Whether one value makes up more than 1 / least of some rows, or there are too few."""
    values = Counter()
    for row, count in rows.items():
        values[row[at]] += count
    many = sum(values.values())
    return many > 0 and (len(values) < least or max(values.values()) * least > many)


def differences(people, before, after, sensitive, least):
    """joined, left, both: rows; came, went; of releases and the places of sensitive values."""
    before, after = classes_of(before), classes_of(after)
    found = Counter()
    for whole in components(people, before, after):
        if {side for side, _ in whole} != {0, 1}:
            continue
        old, new = Counter(), Counter()
        for side, at in whole:
            (new if side else old).update((before, after)[side][at][1])
        came, went = new - old, old - new
        found["came"] += came.total()
        found["went"] += went.total()
        for rows, other, name in ((came, went, "joined"), (went, came, "left")):
            if any(too_little(rows, at, least) for at in sensitive):
                found["both" if other else name] += rows.total()
    return found
