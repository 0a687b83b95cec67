"""Expect the risk of a row from the sampling fraction of its class.

Source: Benedetti and Franconi 1998.
"""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
_FEW = 50  # rows up to which the recursion is used where it is stable
_TERMS = 400


def expected_risk(rows: npt.NDArray[np.int64], fraction: Floats) -> Floats:
    """Return E(1 / F | f) of each class, float64[m].

    rows: int64[m], its rows f in the sample, at least 1; fraction: float64[m], above 0 and at most
    1, the share p of its F rows in the population that the sample has. F given f is negative
    binomial, so that E(1 / F | f) = p * (integral of y^(f - 1) / (p + (1 - p) y) from 0 to 1).
    """
    found = _series(rows, fraction)
    few = (rows < _FEW) & (fraction < 0.5)
    if few.any():
        found[few] = _recursion(rows[few], fraction[few])
    return found


def _series(rows: npt.NDArray[np.int64], fraction: Floats) -> Floats:
    """Return p / f * (sum of j! f! / (f + j)! * (1 - p)^j over j from 0)."""
    total, term = np.zeros(len(rows)), np.ones(len(rows))
    for j in range(_TERMS):
        total += term
        term *= (j + 1) / (rows + j + 1) * (1 - fraction)
    return np.asarray(fraction / rows * total)


def _recursion(rows: npt.NDArray[np.int64], fraction: Floats) -> Floats:
    """Integrate y^m / (p + q y) for each m in turn, which is stable for p < q."""
    p, q = fraction, 1 - fraction
    integral = -np.log(p) / q
    for m in range(1, int(rows.max(initial=1))):
        integral = np.where(m < rows, (1 / m - p * integral) / q, integral)
    return np.asarray(p * integral)
