"""The risk that a person in a release is found again (El Emam and Dankar 2008).

Expect the risk of a row from the sampling fraction of its class. Source: Benedetti and Franconi
1998.
"""

from math import fsum

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.measures.pair import Pair
from anon_sql.risk.estimators import population_unique
from anon_sql.risk.population import (
    Floats,
    Ints,
    Population,
    Risk,
    Weights,
    matches,
    require_rows,
    sample,
)

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
    weights: Weights | None,
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
    row = {"rows": released_rows, **_of("prosecutor", 1 / f, sizes, request.threshold)}
    row["prosecutor_mean"] = row.pop("mean")
    sampled = sample(
        pair.rows, sizes, suppressed_classes, request, weights, population=population is not None
    )
    each: Floats | None = None
    if population is not None:
        found, covered = matches(population, pair)
        require_rows(found, f)
        each = 1 / found
        row |= _presence(f, found, covered)
    elif sampled is not None:
        each = expected_risk(f, sampled.fraction)
        if released_rows:
            classes = np.append(f[~suppressed_classes], [suppressed] * (suppressed > 0))
            row |= population_unique(classes, sampled.size)
    if each is not None:
        row |= _of("journalist", each, sizes, request.threshold)
        row["marketer"] = row.pop("mean")
    return pa.Table.from_pylist([row], RISK)


def _of(name: str, each: Floats, sizes: Ints, threshold: float) -> dict[str, object]:
    """The highest risk, the rows above the threshold, and the mean over all rows."""
    return {
        name: float(each.max()) if len(each) else None,
        f"{name}_at_risk": int(sizes[each > threshold].sum()),
        "mean": fsum(sizes * each) / int(sizes.sum()) if len(each) else None,
    }


def _presence(f: Ints, found: Ints, covered: bool) -> dict[str, object]:
    """Return k-map (Sweeney 2002) and the bounds of δ-presence (Nergiz et al. 2007).

    covered: whether a label matches every person of the population; another one is not in the
    table.
    """
    if not len(found):
        return {}
    shares = f / found
    return {
        "k_map": int(found.min()),
        "presence_min": float(shares.min()) if covered else 0.0,
        "presence_max": float(shares.max()),
    }
