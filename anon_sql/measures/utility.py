"""What a release keeps and what it costs: every measure of information loss, from its classes."""

from collections.abc import Mapping, Sequence
from math import fsum
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.core.options import Choice
from anon_sql.core.weights import of_columns
from anon_sql.measures.pair import Pair

Ints = npt.NDArray[np.int64]
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
    pair: Pair,
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
        pair.require_no_more_rows()
    found = pair.penalties(form)
    starred, released = pair.suppressed(found), pair.released_rows
    left_out = pair.rows - released
    suppressed = int(pair.sizes[starred].sum()) + left_out
    names = [column.name for column in pair.domains]
    losses = [found[name].loss for name in names]
    lost = of_losses(pair.rows, pair.sizes, losses, left_out, of_columns(weights, names))
    heights = [found[column.name].height for column in pair.domains]
    single = [found[column.name].one_value for column in pair.domains]
    lossy = left_out >= 0 and not any(single)
    measured = of_classes(pair.rows, pair.sizes[~starred], suppressed, k)
    return {
        "released_rows": released,
        **measured,
        "smallest_class": measured["smallest_class"] if released else None,
        "gcp": lost["gcp"] if lossy else None,
        "iloss": of_heights(pair.sizes, heights, left_out) if lossy else None,
        "attributes": names,
        "ncp": [None if one else ncp for one, ncp in zip(single, lost["ncp"], strict=True)],
    }


def of_classes(rows: int, sizes: Ints, suppressed: int, k: int) -> Mapping[str, Any]:
    """Return what the sizes of classes say, by the names of ``UTILITY``.

    rows: of the raw table. sizes: int64[m], of the classes that are not suppressed. suppressed:
    rows, which are one class of dm and cost ``rows`` each in dm_star (Bayardo and Agrawal 2005).
    cavg is of LeFevre et al. 2006.
    """
    squares = int((sizes**2).sum())
    smallest = [int(sizes.min())] if len(sizes) else []
    return {
        "rows": rows,
        "suppressed": suppressed,
        "classes": len(sizes),
        "smallest_class": min(smallest + [suppressed] * (suppressed > 0), default=None),
        "dm": squares + suppressed**2,
        "dm_star": squares + suppressed * rows,
        "cavg": (rows - suppressed) / len(sizes) / k if len(sizes) else None,
        "suppression_rate": suppressed / rows if rows else None,
    }


def of_losses(
    rows: int,
    sizes: Ints,
    losses: Sequence[npt.NDArray[np.float64]],
    left_out: int,
    weights: npt.NDArray[np.float64],
) -> Mapping[str, Any]:
    """Return ``gcp`` and the mean ``ncp`` of each column; NULL for a table without rows.

    losses: of each column what every class loses, float64[m], a suppressed one 1. left_out: rows
    that the release lacks, which lose 1 each. weights: float64[d], of the columns in gcp.
    """
    if not rows:
        return {"gcp": None, "ncp": [None] * len(losses)}
    ncp = [(fsum(sizes * loss) + left_out) / rows for loss in losses]
    return {"gcp": weighted_mean(ncp, weights), "ncp": ncp}


def weighted_mean(values: Sequence[float], weights: npt.NDArray[np.float64]) -> float:
    """Return the mean of one value a column by the weights of the columns, float64[d]."""
    share = weights / weights.max()  # the sum of very large weights is not finite
    return fsum(share * values) / fsum(share)


def of_heights(sizes: Ints, heights: Sequence[npt.NDArray[np.float64]], left_out: int = 0) -> float:
    """Return ``iloss``: what all rows lose in all columns.

    heights: as ``losses`` of ``of_losses``, by ``information_loss``; left_out: as there.
    """
    return fsum(fsum(sizes * height) + left_out for height in heights)
