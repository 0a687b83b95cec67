"""Bound the share of each sensitive value in a class: β-likeness and δ-disclosure privacy.

With p the share of a value in the whole table and q its share in a class, enhanced β-likeness (Cao
and Karras 2012, definition 3) requires (q - p) / p <= min(β, -ln p), and δ-disclosure privacy
(Brickell and Shmatikov 2008, definition 3) |ln(q / p)| < δ for every value of the table, so that
none is lacking in a class. NULL is a value. Both are least and largest shares. The share in a union
of classes lies between those in the classes, so the union of legal classes is legal.
"""

from math import ceil

import numpy as np
import numpy.typing as npt

Shares = npt.NDArray[np.float64]
_SURE = 1e-9  # subtracted before rounding up


def share_bounds(
    held: npt.NDArray[np.int64], beta: float | None, delta: float | None
) -> tuple[Shares, Shares]:
    """Return the least and the largest share of each value in a class, float64[b, v] each.

    held: int64[b, v], count of each value in the table, for b columns. Without δ there are no least
    shares, float64[b, 0], and without both no largest ones. The bounds of δ are irrational, so that
    no share equals them.
    """
    none = np.zeros((len(held), 0))
    shares = held / np.maximum(held.sum(axis=1, keepdims=True), 1)
    least, most = none, none
    if beta is not None:
        gain = -np.log(np.where(held > 0, shares, 1.0))
        most = shares * (1 + np.minimum(beta, gain))
    if delta is not None:
        least, above = shares * np.exp(-delta), shares * np.exp(delta)
        most = above if beta is None else np.minimum(most, above)
    return least, most


def fewest_rows(least: Shares, most: Shares) -> int:
    """Return the least possible number of rows of a class whose shares are within the bounds.

    A class of m rows has a share of at least 1 / m of some value, and of every value where there
    are least shares.
    """
    found = 1.0
    for row in range(len(most)):
        bounds = most[row][most[row] > 0]
        if len(bounds):
            every = least.shape[1] > 0
            found = max(found, 1 / (bounds.min() if every else bounds.max()), every * len(bounds))
    return ceil(found - _SURE)
