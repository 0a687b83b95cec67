"""What a release keeps and what it costs: every measure of information loss, from its counts."""

from collections.abc import Mapping, Sequence
from math import fsum
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.core.options import Choice
from anon_sql.core.weights import of_columns
from anon_sql.measures.counted_release import CountedRelease

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
COUNTS = ("rows", "suppressed", "classes", "smallest_class", "dm", "dm_star")
FIGURES = ("cavg", "suppression_rate", "gcp", "iloss")
UTILITY = pa.struct(
    [
        ("released_rows", pa.int64()),
        *((name, pa.int64()) for name in COUNTS),
        *((name, pa.float64()) for name in FIGURES),
        ("attributes", pa.list_(pa.string())),
        ("ncp", pa.list_(pa.float64())),
    ]
)
FORM = Choice(("share", "dop"))


def utility(
    counted: CountedRelease,
    k: int,
    form: str = "share",
    weights: Mapping[str, float] = MappingProxyType({}),
    *,
    adds: bool = False,
) -> dict[str, Any]:
    """Return the fields of ``UTILITY``.

    Columns that show means or medians have no ncp, and the release then no gcp or iloss. k: of
    cavg. form: of the NCP of texts, see ``set_loss``. weights: of gcp, by column. adds: whether the
    release may have more rows than the raw table, and then no gcp or iloss. Raises AnonError where
    raw and release do not belong together.
    """
    if not adds:
        counted.require_no_more_rows()
    penalties = counted.penalties(form)
    names = [column.name for column in counted.domains]
    found, counts = (
        [penalties[name] for name in names],
        [counted.labels[name].rows for name in names],
    )
    sizes, released = counted.sizes, counted.released_rows
    left_out = counted.rows - released
    suppressed = int(sizes.rows[sizes.suppressed].sum()) + left_out
    losses = [each.loss for each in found]
    lost = of_losses(counted.rows, counts, losses, left_out, of_columns(weights, names))
    single = [each.one_value for each in found]
    lossy = left_out >= 0 and not any(single)
    kept = ~sizes.suppressed
    measured = of_classes(counted.rows, sizes.size[kept], sizes.classes[kept], suppressed, k)
    return {
        "released_rows": released,
        **measured,
        "smallest_class": measured["smallest_class"] if released else None,
        "gcp": lost["gcp"] if lossy else None,
        "iloss": of_heights(counts, [each.height for each in found], left_out) if lossy else None,
        "attributes": names,
        "ncp": [None if one else ncp for one, ncp in zip(single, lost["ncp"], strict=True)],
    }


def of_classes(rows: int, sizes: Ints, classes: Ints, suppressed: int, k: int) -> Mapping[str, Any]:
    """Return what the sizes of classes say, by the names of ``UTILITY``.

    rows: of the raw table. sizes: int64[m], of the classes that are not suppressed; classes:
    int64[m], how many are of that size. suppressed: rows, which are one class of dm and cost
    ``rows`` each in dm_star (Bayardo and Agrawal 2005). cavg is of LeFevre et al. 2006.
    """
    squares, count = int((classes * sizes**2).sum()), int(classes.sum())
    smallest = [int(sizes.min())] if count else []
    return {
        "rows": rows,
        "suppressed": suppressed,
        "classes": count,
        "smallest_class": min(smallest + [suppressed] * (suppressed > 0), default=None),
        "dm": squares + suppressed**2,
        "dm_star": squares + suppressed * rows,
        "cavg": (rows - suppressed) / count / k if count else None,
        "suppression_rate": suppressed / rows if rows else None,
    }


def of_losses(
    rows: int,
    counts: Sequence[Ints],
    losses: Sequence[Floats],
    left_out: int,
    weights: Floats,
) -> Mapping[str, Any]:
    """Return ``gcp`` and the mean ``ncp`` of each column; NULL for a table without rows.

    losses: of each column what every label or class loses, float64[m], a suppressed one 1; counts:
    its rows, int64[m]. left_out: rows that the release lacks, which lose 1 each. weights:
    float64[d], of the columns in gcp.
    """
    if not rows:
        return {"gcp": None, "ncp": [None] * len(losses)}
    ncp = [lost / rows for lost in _of_rows(counts, losses, left_out)]
    return {"gcp": weighted_mean(ncp, weights), "ncp": ncp}


def weighted_mean(values: Sequence[float], weights: Floats) -> float:
    """Return the mean of one value a column by the weights of the columns, float64[d]."""
    share = weights / weights.max()  # the sum of very large weights is not finite
    return fsum(share * values) / fsum(share)


def of_heights(counts: Sequence[Ints], heights: Sequence[Floats], left_out: int = 0) -> float:
    """Return ``iloss``: what all rows lose in all columns.

    heights: as ``losses`` of ``of_losses``, by ``information_loss``; counts, left_out: as there.
    """
    return fsum(_of_rows(counts, heights, left_out))


def _of_rows(counts: Sequence[Ints], losses: Sequence[Floats], left_out: int) -> Sequence[float]:
    """Return what all rows lose in each column."""
    return [fsum(n * loss) + left_out for n, loss in zip(counts, losses, strict=True)]
