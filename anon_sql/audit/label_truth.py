"""What an audit says of the truth of labels and kept values."""

import numpy as np

from anon_sql.audit.compared import Compared
from anon_sql.audit.hashed import Marks
from anon_sql.audit.properties import MANY, Property, at_most, untold
from anon_sql.audit.truth import Truth


def kept(given: Compared, true: Truth) -> Property:
    """Count released rows whose kept values stand in no raw row that is left: all of them where
    a kept column is missing."""
    dropped = given.asked.dropped
    if dropped and given.shown:
        return at_most("kept values", 0, given.shown, f"without {', '.join(dropped)}")
    columns = [
        name
        for name in (given.asked.shared if true.more else [])
        if _excess(given.raw_marks(name), given.marks(name))
    ]
    together = "values that do not stand together" if true.more else None
    told = at_most("kept values", 0, true.more, ", ".join(columns) or together)
    return untold(told) if given.asked.synthetic else told


def _excess(raw: Marks, released: Marks) -> bool:
    """Whether a value is more frequent in the release."""
    values, often = np.unique(raw, return_counts=True)
    shown, count = np.unique(released, return_counts=True)
    if not len(values):
        return bool(len(shown))
    at = np.minimum(np.searchsorted(values, shown), len(values) - 1)
    return bool((count > np.where(values[at] == shown, often[at], 0)).any())


def labels(given: Compared, true: Truth) -> list[Property]:
    """Necessary: every released row covers a raw row with its kept values, and conversely.
    Sufficient: a raw row of its own for each released row."""
    names = ("labels", "raw rows", "matching")
    limits = (0, given.left_out, 0)
    if true.many:
        return [
            Property(name, limit, None, None, MANY)
            for name, limit in zip(names, limits, strict=True)
        ]
    wrong = given.where(np.unique(np.concatenate(true.wrong)))
    told = [
        at_most("labels", 0, true.false, wrong),
        at_most("raw rows", given.left_out, true.uncovered),
        at_most("matching", 0, true.left, MANY if true.left is None else None),
    ]
    return [untold(row) for row in told] if given.asked.synthetic else told
