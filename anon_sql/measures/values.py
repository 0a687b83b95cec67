"""Measure the loss of replacing each number by a mean or median of its class, column by column.

SSE / SST: the sum of squared distances between values and replacements / from the column's mean.
IL1s: the mean distance between the two, in units of sqrt(2) standard deviations (Mateo-Sanz,
Domingo-Ferrer and Sebé 2005, Probabilistic information loss measures in confidentiality
protection of continuous microdata).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.core.arrow import valid
from anon_sql.core.labels.types import ONE_VALUE
from anon_sql.core.parameters import Choice, Columns, OrNull, declare, param
from anon_sql.errors import AnonError, Argument
from anon_sql.measures.loss import doubles
from anon_sql.measures.pair import PairColumns

LOSS = pa.struct([("attribute", pa.string()), ("sse_sst", pa.float64()), ("il1s", pa.float64())])
NEAR = 1e-9  # of a standard deviation: how near the means of a column and of its means are
ROUNDED = {"DATE": 0.5, "TIMESTAMP_S": 5e5, "TIMESTAMP_MS": 5e2}  # likewise, as ``doubles``
Floats = npt.NDArray[np.float64]
NAME = "value_loss"


@dataclass(frozen=True)
class ValueLoss:
    """The parameters of ``value_loss``."""

    id: Any = param(
        None,
        Columns(one=True),
        "kept column that identifies the rows of both relations, so that each row is compared "
        "with its own replacement",
        null="none: il1s is NULL, and so is sse_sst unless format is 'mean'",
    )
    format: str | None = param(
        None,
        OrNull(Choice(ONE_VALUE)),
        "the format that the release was made with. Without id, sse_sst follows from means alone; "
        "it is NULL for other formats, for columns with NULLs or suppressed rows, and if the "
        "values cannot be means",
        null="unknown",
    )


declare(NAME, ValueLoss, PairColumns, without=("hierarchy",))


def value_loss(
    name: str,
    sql_type: str,
    raw: pa.Array,
    released: pa.Array,
    rows: Any | None,
    *,
    means: bool = False,
) -> dict[str, object]:
    """Return a row of ``LOSS`` for one column.

    raw, released: its values in either relation. rows: as of ``row_pairs``, None without an id.
    means: whether the released values are means of classes. Medians of a few integers can have the
    mean of the column by chance, so the values alone do not show it.
    """
    has_raw, present = valid(raw), valid(released)
    values, replaced = doubles(sql_type, raw)[has_raw], doubles(sql_type, released)
    scale = float(np.abs(values).max(initial=0.0)) or 1.0
    values, replaced = values / scale, replaced / scale
    middle = values.mean() if len(values) else 0.0
    total = float(((values - middle) ** 2).sum())
    if total <= 0.0:
        return {"attribute": name, "sse_sst": None, "il1s": None}
    if rows is None:
        complete = means and present.all() and has_raw.all()
        slack = ROUNDED.get(sql_type, 0.0) / scale
        lost = _of_means(values, replaced, middle, total, slack) if complete else None
        return {"attribute": name, "sse_sst": lost, "il1s": None}
    stands = np.append(np.where(present, replaced, middle), middle)  # the last for a row left out
    beside = stands[rows][has_raw]
    away = np.abs(values - beside)
    unit = np.sqrt(2 * total / max(len(values) - 1, 1))
    return {
        "attribute": name,
        "sse_sst": float((away**2).sum()) / total,
        "il1s": float(away.mean() / unit),
    }


def _of_means(
    values: Floats, means: Floats, middle: float, total: float, slack: float
) -> float | None:
    """Return SSE / SST of classes whose rows show their means; None if they are not means of
    classes.

    slack: how much rounding can change the mean of the means. The squares within classes are all
    squares less those of the means.
    """
    spread = np.sqrt(total / len(values))
    if len(means) != len(values) or abs(means.mean() - middle) > NEAR * spread + slack:
        return None
    return max(0.0, 1 - float(((means - middle) ** 2).sum()) / total)


def require_values(function: str, labelled: Sequence[str]) -> None:
    """Raise AnonError where columns of numbers are shown as labels."""
    if labelled:
        raise AnonError(
            function,
            "a release must show one value of each class",
            f"labels of {', '.join(labelled)}",
            "make it with "
            + Argument("format", "mean")
            + " or 'median'; gcp and attribute_loss measure labels",
        )
