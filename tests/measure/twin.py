"""The measures once more, in plain Python and from their definitions: slow, and nothing shared.

Rows are tuples of quasi-identifiers: raw ones hold values, released ones labels (text) or, in
the typed format, ``{"min": …, "max": …}`` and lists.
"""

from collections import Counter
from datetime import date


def members(label):
    """The values of a text label, read one character at a time."""
    at, found, inside = 0, [], label.startswith("{")
    at = 1 if inside else 0
    while True:
        value = ""
        if label[at] == "'":
            at += 1
            while label[at] != "'":
                at += label[at] == "\\"
                value, at = value + label[at], at + 1
            at += 1
        else:
            while at < len(label) and label[at] not in ",}":
                value, at = value + label[at], at + 1
        found.append(value)
        if not inside or label[at] == "}":
            return found
        at += 2


def number(printed, like):
    return type(like).fromisoformat(printed) if isinstance(like, date) else type(like)(printed)


def ends(label, like):
    low, _, high = label.strip("[]").partition(", ")
    return number(low, like), number(high or low, like)


def starred(label, typed):
    return label is None if typed else label == "*"


def domain(column):
    """What a column given as the list of its values holds: an example, width, distinct values."""
    values = [value for value in column if value is not None]
    if not values:
        return None, 0, 1
    width = 0 if isinstance(values[0], str) else max(values) - min(values)
    return values[0], width, len(set(column))


def ncp(label, held, typed, form):
    """What one released value loses of a column's domain."""
    like, width, every = held
    if starred(label, typed):
        return 1.0
    if label is None or label in ([], {"min": None, "max": None}):
        return 0.0
    if isinstance(like, str):
        count = len(label if typed else members(label))
        if count == 1:
            return 0.0
        return (count - 1) / (every - 1) if form == "dop" else count / every
    low, high = (label["min"], label["max"]) if typed else ends(label, like)
    return float((high - low) / width) if width else 0.0


def climb(label, held, typed):
    """What one released value loses in iloss: as in ncp, but a set of texts loses all."""
    lost = ncp(label, held, typed, "share")
    return float(lost > 0) if isinstance(held[0], str) else lost


def measures(raw, released, k=5, typed=False, form="share"):
    """Every measure by its SQL name, and ``attributes``: the mean NCP of each column."""
    columns = list(zip(*raw, strict=True))
    stars = [row for row in released if all(starred(label, typed) for label in row)]
    suppressed = len(stars) + len(raw) - len(released)
    sizes = Counter(repr(row) for row in released if row not in stars)
    attributes, iloss = [], 0.0
    for at, column in enumerate(columns):
        held = domain(column)
        lost = sum(ncp(row[at], held, typed, form) for row in released)
        iloss += sum(climb(row[at], held, typed) for row in released) + len(raw) - len(released)
        attributes.append((lost + len(raw) - len(released)) / len(raw))
    squares = sum(size * size for size in sizes.values())
    legal = [*sizes.values(), *([suppressed] if suppressed else [])]
    return {
        "rows": len(raw),
        "released_rows": len(released),
        "suppressed": suppressed,
        "classes": len(sizes),
        "smallest_class": min(legal) if released else None,
        "dm": squares + suppressed**2,
        "dm_star": squares + suppressed * len(raw),
        "cavg": sum(sizes.values()) / len(sizes) / k if sizes else None,
        "gcp": sum(attributes) / len(attributes),
        "iloss": iloss,
        "suppression_rate": suppressed / len(raw),
        "attributes": attributes,
    }
