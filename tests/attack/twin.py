"""Linking and background knowledge once more, in plain Python and from their definitions.

Rows are dicts. A release is a list of (labels, sensitive values); a label is a pair of ends, a
set, None for NULL or "*".
"""

from collections import Counter

STAR = "*"


def covers(label, value):
    if label == STAR:
        return True
    if label is None or value is None:
        return label is None and value is None
    return label[0] <= value <= label[1] if isinstance(label, tuple) else value in label


def matching(released, person, known):
    return [own for labels, own in released if all(covers(labels[q], person[q]) for q in known)]


def linking(raw, released, quasi, sensitive):
    """linked, disclosed"""
    linked, disclosed = 0.0, 0
    for person in raw:
        rows = matching(released, person, quasi)
        many = len(rows) + max(len(raw) - len(released), 0)
        linked += 1 / many if many else 0
        disclosed += {row[sensitive] for row in rows} - {None} == {person[sensitive]}
    return linked, disclosed


def guess(released, person, known, sensitive):
    """How likely the guess is right."""
    counts = Counter(row[sensitive] for row in matching(released, person, known))
    del counts[None]
    common = [value for value, count in counts.items() if count == max(counts.values())]
    return 1 / len(common) if person[sensitive] in common else 0.0


def background(raw, released, known, sensitive):
    """guessed, where the same columns are known of everybody"""
    return sum(guess(released, person, known, sensitive) for person in raw)


def shown(label):
    """A label as a release prints it."""
    if label is None or label == STAR:
        return label
    if isinstance(label, tuple):
        return f"{label[0]}" if label[0] == label[1] else f"[{label[0]}, {label[1]}]"
    words = sorted(label)
    return words[0] if len(words) == 1 else "{" + ", ".join(words) + "}"
