"""Compute the re-identification risk of a release (El Emam and Dankar 2008).

If the population is unknown, the risk of a row is expected from the sampling fraction of its class
(Benedetti and Franconi 1998).
"""

from math import fsum

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.measures.pair import Pair
from anon_sql.risk.estimators import population_unique
from anon_sql.risk.population import (
    ClassWeights,
    Floats,
    Ints,
    Population,
    Risk,
    matches,
    require_rows,
    sample,
)

_MAX_RECURSION_ROWS = 50  # of a class; for larger ones the series converges quickly
_TERMS = 400


def expected_risk(rows: npt.NDArray[np.int64], fraction: Floats) -> Floats:
    """Return E(1 / F | f) of each class, float64[m].

    rows: int64[m], its rows f in the sample, at least 1; fraction: float64[m], above 0 and at most
    1, the share p of its F rows in the population that the sample has. F given f is negative
    binomial, so that E(1 / F | f) = p * (integral of y^(f - 1) / (p + (1 - p) y) from 0 to 1).
    """
    risks = _series(rows, fraction)
    few = (rows < _MAX_RECURSION_ROWS) & (fraction < 0.5)
    if few.any():
        risks[few] = _recursion(rows[few], fraction[few])
    return risks


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


RISK = pa.schema(
    [
        ("rows", pa.int64()),
        ("prosecutor", pa.float64()),
        ("prosecutor_mean", pa.float64()),
        ("prosecutor_at_risk", pa.int64()),
        ("journalist", pa.float64()),
        ("journalist_at_risk", pa.int64()),
        ("marketer", pa.float64()),
        ("k_map", pa.int64()),
        ("presence_min", pa.float64()),
        ("presence_max", pa.float64()),
        ("population_unique", pa.float64()),
        ("estimator", pa.string()),
        *((name, pa.float64()) for name in ("pitman", "zayatz", "snb")),
    ]
)


def risk(
    pair: Pair,
    request: Risk,
    population: Population | None,
    weights: ClassWeights | None,
) -> pa.Table:
    """Return one row of ``RISK``: of a prosecutor 1 / f, f the rows of a class; of a journalist and
    a marketer 1 / F, F the rows of the population that its label matches, or the expectation of 1 /
    F where the raw table is a sample of an unknown population.

    Suppressed rows are one class, with those left out. Risks are NULL for an empty release. Raises
    AnonError where raw, release and population do not belong together.
    """
    pair.require_no_more_rows()
    suppressed_classes = pair.suppressed(pair.losses)
    sizes, released_rows = pair.sizes, pair.released_rows
    suppressed = int(sizes[suppressed_classes].sum()) + pair.rows - released_rows
    f = np.where(suppressed_classes, suppressed, sizes)
    row = {"rows": released_rows, **_risk_columns("prosecutor", 1 / f, sizes, request.threshold)}
    row["prosecutor_mean"] = row.pop("mean")
    sampled = sample(
        pair.rows, sizes, suppressed_classes, request, weights, population=population is not None
    )
    row_risk: Floats | None = None
    if population is not None:
        population_rows, covered = matches(population, pair)
        require_rows(population_rows, f)
        row_risk = 1 / population_rows
        row |= _presence(f, population_rows, covered)
    elif sampled is not None:
        row_risk = expected_risk(f, sampled.fraction)
        if released_rows:
            classes = np.append(f[~suppressed_classes], [suppressed] * (suppressed > 0))
            row |= population_unique(classes, sampled.size)
    if row_risk is not None:
        row |= _risk_columns("journalist", row_risk, sizes, request.threshold)
        row["marketer"] = row.pop("mean")
    return pa.Table.from_pylist([row], RISK)


def _risk_columns(name: str, row_risk: Floats, sizes: Ints, threshold: float) -> dict[str, object]:
    """Return the highest risk, the number of rows above the threshold, and the mean over all
    rows."""
    return {
        name: float(row_risk.max()) if len(row_risk) else None,
        f"{name}_at_risk": int(sizes[row_risk > threshold].sum()),
        "mean": fsum(sizes * row_risk) / int(sizes.sum()) if len(row_risk) else None,
    }


def _presence(f: Ints, population_rows: Ints, covered: bool) -> dict[str, object]:
    """Return k-map (Sweeney 2002) and the bounds of δ-presence (Nergiz et al. 2007).

    covered: whether labels match every person of the population. A person whom no label matches is
    certainly not in the table, so the lower bound is then 0.
    """
    if not len(population_rows):
        return {}
    shares = f / population_rows
    return {
        "k_map": int(population_rows.min()),
        "presence_min": float(shares.min()) if covered else 0.0,
        "presence_max": float(shares.max()),
    }
