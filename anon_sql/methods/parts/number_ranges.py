"""Ranges of numbers, dates and times without a hierarchy, each level twice as wide as the last.

Ranges begin at multiples of their width. The narrowest width is 1, 2 or 5 times a power of ten: of
numbers in their unit, of dates in days, of times in microseconds.
"""

import numpy as np
import numpy.typing as npt

from anon_sql.core.columns import Numbers

Codes = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]
PARTS = 20  # the narrowest ranges are at least the twentieth part of all values wide
LEAST = 1e-300  # a narrower column has no ranges
DENSE = 4  # keys in a stretch of up to so many places per row are coded without a sort


def coded_numbers(column: Numbers, order: Codes) -> tuple[Codes, Floats, bool]:
    """Return the codes of a column's values, ascending, in an order of its rows.

    With them the point of each value, and whether the last value is NULL.
    """
    keys, present = column.keys, column.present
    low = int(keys[present].min()) if present.any() else 0
    stretch = int(keys[present].max()) - low if present.any() else 0
    if stretch < DENSE * len(keys):
        codes = np.where(present, keys - low, stretch + 1).astype(np.int32)
        codes, used = present_codes(codes, stretch + 2)
        null = bool(used[-1] == stretch + 1) if len(used) else False
    else:
        used, place = np.unique(keys[present], return_inverse=True)
        codes = np.full(len(keys), len(used), np.int32)
        codes[present], null = place.reshape(-1), not present.all()
    count = int(codes.max()) + 1
    points = np.empty(count)
    points[codes] = column.points
    return codes[order], points, null


def ranges_of(column: Numbers, points: Floats, null: bool) -> list[Codes]:
    """Return the range of each value that is not NULL, int32[…], by level, from 0 without gaps.

    points, null: as ``coded_numbers`` returns them. Levels that tell nothing apart, or as much as
    the one below, are left out.
    """
    known = points[:-1] if null else points
    if column.width < LEAST or len(known) < 3:
        return []
    width = _first_width(column.width)
    place = np.floor((known * column.width + column.least) / width + 1e-9)
    found, before = [], len(known)
    while width < column.width:
        _, bins = np.unique(place, return_inverse=True)
        codes = bins.reshape(-1).astype(np.int32)
        if 1 < codes[-1] + 1 < before:
            found.append(codes)
            before = int(codes[-1]) + 1
        width, place = width * 2, np.floor(place / 2)
    return found


def _first_width(whole: float) -> float:
    """Return the least of 1, 2 and 5 times a power of ten that is a ``PARTS``-th of the whole."""
    least = whole / PARTS
    power = 10.0 ** np.floor(np.log10(least))
    return float(next((step * power for step in (1, 2, 5) if step * power >= least), 10 * power))


def present_codes(codes: Codes, count: int) -> tuple[Codes, npt.NDArray[np.int64]]:
    """Return codes int32[n] from 0 without gaps, in their order, and the codes they stand for."""
    used = np.bincount(codes, minlength=count) > 0
    rank = (np.cumsum(used) - 1).astype(np.int32)
    return rank[codes], np.flatnonzero(used)
