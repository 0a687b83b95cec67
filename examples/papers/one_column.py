"""The Mondrian of DOP's table II: a rule that tries one column only.

It imitates a short program such as the paper describes as "a naive heuristic": the widest column is
cut at its median, and a set is a class as soon as that one cut leaves a side without k rows or l
sensitive values. The paper describes neither the width of text nor its cut, so there is a rule for
each combination below.

How it was recognised: with "range" it gives all four printed figures of Student, which has no text,
to four digits. For Bank and Heart the page takes the rule whose NCP is nearest to the printed NCP
of Mondrian, as the mean of the absolute differences over (k, l). The figures of DOP have no part in
the choice.
"""

from typing import NamedTuple

import numpy as np


class Rule(NamedTuple):
    """How wide a column is in a set, and where text is cut."""

    width: str  # "range" of the table's; "share" of the table's values, for text; "raw" numbers
    text: str  # "half" of the set's values, or "median" of the codes


RULES = [Rule(width, text) for width in ("range", "share", "raw") for text in ("half", "median")]


def partition(columns: list[np.ndarray], sensitive: np.ndarray, k: int, l: int, rule: Rule):  # noqa: E741
    """Return the class of each row; text is numbered in alphabetical order."""
    texts = [column.dtype == object for column in columns]
    codes = [
        np.unique(column.astype(str), return_inverse=True)[1] if text else column
        for column, text in zip(columns, texts, strict=True)
    ]
    _, labels = np.unique(sensitive.astype(str), return_inverse=True)
    alls = [_extent(column, text) for column, text in zip(codes, texts, strict=True)]
    classes = np.empty(len(labels), dtype=np.int32)
    sets, made = [np.arange(len(labels))], 0
    while sets:
        rows = sets.pop()
        widths = [
            _width(_extent(column[rows], text), whole, text, rule.width)
            for column, text, whole in zip(codes, texts, alls, strict=True)
        ]
        at = int(np.argmax(widths))
        left = _left(codes[at][rows], texts[at] and rule.text == "half")
        sides = rows[left], rows[~left]
        if all(len(side) >= k and len(np.unique(labels[side])) >= l for side in sides):
            sets += sides
        else:
            classes[rows] = made
            made += 1
    return classes


def _extent(column: np.ndarray, text: bool) -> float:
    """Return the number of values of text, the range of numbers."""
    return len(np.unique(column)) if text else float(column.max() - column.min())


def _width(extent: float, whole: float, text: bool, kind: str) -> float:
    if kind == "raw":
        return extent
    if text and kind == "range":
        extent, whole = extent - 1, whole - 1
    return extent / whole if whole else 0.0


def _left(column: np.ndarray, half: bool) -> np.ndarray:
    if half:
        values = np.unique(column)
        return np.isin(column, values[: len(values) // 2])
    return column <= np.median(column)
