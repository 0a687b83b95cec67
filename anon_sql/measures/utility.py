"""Compute every measure of ``utility`` from the counts of a release."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.core.arrow import true, valid
from anon_sql.core.common_parameters import of_columns
from anon_sql.core.labels.as_printed import counted_as_printed as texts_as_printed
from anon_sql.core.labels.grammar import STAR
from anon_sql.core.parameters import Choice, ColumnWeights, Whole, declare, param
from anon_sql.errors import Argument
from anon_sql.measures.loss import AttributeDomain, Penalties
from anon_sql.measures.pair import (
    PairColumns,
    SensitiveColumns,
    read_penalties,
    require_no_more_rows,
)

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class LabelCounts:
    """The labels of one quasi-identifier; rows, classes: int64[m], the numbers that have each."""

    values: pa.Array
    rows: Ints
    classes: Ints


@dataclass(frozen=True)
class Sizes:
    """The classes of a release by their size.

    size: int64[s], in rows; classes: int64[s], how many are of that size; suppressed: bool[s],
    whether these are suppressed in every quasi-identifier; null: bool[s], whether these show NULL
    in every one.
    """

    size: Ints
    classes: Ints
    suppressed: npt.NDArray[np.bool_]
    null: npt.NDArray[np.bool_]

    @property
    def rows(self) -> Ints:
        """The rows in classes of each size, int64[s]."""
        return self.size * self.classes


@dataclass(frozen=True)
class CountedRelease:
    """One call of a measure, its types checked; its size is that of the labels, not the classes.

    rows: of the raw table. domains: of the quasi-identifiers, in their order; labels: by name.
    """

    function: str
    rows: int
    domains: Sequence[AttributeDomain]
    labels: Mapping[str, LabelCounts]
    sizes: Sizes

    @property
    def released_rows(self) -> int:
        """The number of rows of the release."""
        return int(self.sizes.rows.sum())

    def penalties(self, form: str) -> dict[str, Penalties]:
        """Return the NCP of the labels of each quasi-identifier, see ``read_penalties``."""
        columns = {name: labels.values for name, labels in self.labels.items()}
        classes = {name: labels.classes for name, labels in self.labels.items()}
        all_rows = self.rows == self.released_rows
        return read_penalties(
            self.function, self.domains, columns, classes, form, all_rows=all_rows
        )

    def require_no_more_rows(self) -> None:
        """Raise AnonError if the release has more rows than the raw table."""
        require_no_more_rows(self.function, self.rows, self.released_rows)


def counted_as_printed(
    domains: Sequence[AttributeDomain], labels: Mapping[str, LabelCounts], sizes: Sizes
) -> tuple[dict[str, LabelCounts], Sizes]:
    """Return labels and sizes with values as a release function prints them.

    See ``as_printed``. labels, sizes: as in ``CountedRelease``.
    """
    columns = {name: counts_of_labels.values for name, counts_of_labels in labels.items()}
    raw = {column.name: column.raw for column in domains}
    suppressed_classes = int(sizes.classes[sizes.suppressed].sum())
    counts = {name: counts_of_labels.rows for name, counts_of_labels in labels.items()}
    printed, star_is_suppression, null_gone = texts_as_printed(
        columns, raw, counts, gone=suppressed_classes > 0
    )
    hidden = int(sizes.rows[sizes.suppressed].sum())
    printed_labels = {}
    for name, (values, star) in printed.items():
        rows, classes = labels[name].rows, labels[name].classes
        if (
            star_is_suppression and star.any()
        ):  # other rows than the suppressed ones have the value *
            left = ~star | (classes > suppressed_classes)
            shown = pa.concat_arrays([values.filter(pa.array(left)), pa.array([STAR])])
            printed_labels[name] = LabelCounts(
                shown,
                np.append((rows - star * hidden)[left], hidden),
                np.append((classes - star * suppressed_classes)[left], suppressed_classes),
            )
        else:
            printed_labels[name] = LabelCounts(values, rows, classes)
    suppressed = (sizes.suppressed & star_is_suppression) | (sizes.null & null_gone)
    return printed_labels, replace(sizes, suppressed=suppressed)


def counted_release(
    function: str,
    rows: int,
    domains: Sequence[AttributeDomain],
    released: Mapping[str, pa.Array],
    sizes: Ints,
) -> CountedRelease:
    """Return a release of which each class is given.

    released: of each quasi-identifier what every class shows, as text. sizes: int64[m], the rows of
    each class.
    """
    ones = np.ones_like(sizes)
    stars = [true(pc.equal(labels, STAR)) for labels in released.values()]
    labels = {name: LabelCounts(values, sizes, ones) for name, values in released.items()}
    nulls = [~valid(labels) for labels in released.values()]
    of_sizes = Sizes(sizes, ones, *map(np.logical_and.reduce, (stars, nulls)))
    return CountedRelease(function, rows, domains, labels, of_sizes)


Floats = npt.NDArray[np.float64]
COUNTS = ("rows", "suppressed", "classes", "smallest_class", "dm", "dm_star")
LOST = 0.9  # a column with a larger ncp has hardly any information left
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


@dataclass(frozen=True)
class Utility:
    """The parameters of ``utility``."""

    k: int = param(5, Whole(1), "the k of the release, by which cavg divides")
    ncp: str = param(
        "share",
        Choice(("share", "dop")),
        "loss of text: 'share', or 'dop' for (values - 1) / (values in the raw table - 1)",
    )
    weights: Any = param(
        None,
        ColumnWeights(),
        "importance of each quasi-identifier in gcp, such as "
        + Argument("weights", {"age": 2, "city": 0.5})
        + "; columns left out have weight 1",
    )


declare("utility", Utility, PairColumns, without=("ncp",))
declare("gcp", Utility, PairColumns, without=("k",))
declare("cavg", Utility, PairColumns, without=("ncp", "weights"))
for _name in ("dm", "dm_star", "iloss", "suppression_rate", "attribute_loss"):
    declare(_name, PairColumns)
declare("equivalence_classes", PairColumns, SensitiveColumns)


def utility(
    counted: CountedRelease,
    k: int,
    form: str = "share",
    weights: Mapping[str, float] = MappingProxyType({}),
    *,
    adds: bool = False,
    released_alone: bool = False,
) -> dict[str, Any]:
    """Return the fields of ``UTILITY``.

    Columns that show means or medians have no ncp, and the release then no gcp or iloss. k: of
    cavg. form: of the NCP of texts, see ``set_loss``. weights: of gcp, by column. adds: whether the
    release may have more rows than the raw table, and then no gcp or iloss. released_alone: whether
    to count the rows of the release alone, as if the raw table had as many. Raises AnonError where
    raw and release do not belong together.
    """
    if not adds and not released_alone:
        counted.require_no_more_rows()
    penalties = counted.penalties(form)
    names = [column.name for column in counted.domains]
    column_penalties, counts = (
        [penalties[name] for name in names],
        [counted.labels[name].rows for name in names],
    )
    sizes, released = counted.sizes, counted.released_rows
    rows = released if released_alone else counted.rows
    left_out = rows - released
    suppressed = int(sizes.rows[sizes.suppressed].sum()) + left_out
    losses = [penalty.loss for penalty in column_penalties]
    lost = of_losses(rows, counts, losses, left_out, of_columns(weights, names))
    single = [penalty.one_value for penalty in column_penalties]
    lossy = left_out >= 0 and not any(single)
    kept = ~sizes.suppressed
    measured = of_classes(rows, sizes.size[kept], sizes.classes[kept], suppressed, k)
    return {
        "released_rows": released,
        **measured,
        "smallest_class": measured["smallest_class"] if released else None,
        "gcp": lost["gcp"] if lossy else None,
        "iloss": of_heights(counts, [penalty.height for penalty in column_penalties], left_out)
        if lossy
        else None,
        "attributes": names,
        "ncp": [
            None if is_one_value else ncp
            for is_one_value, ncp in zip(single, lost["ncp"], strict=True)
        ],
    }


def of_classes(rows: int, sizes: Ints, classes: Ints, suppressed: int, k: int) -> Mapping[str, Any]:
    """Return the measures of the sizes of classes, by the names of ``UTILITY``.

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

    heights: of each column the ILoss of every label or class, float64[m], a suppressed one 1.
    counts, left_out: as in ``of_losses``.
    """
    return fsum(_of_rows(counts, heights, left_out))


def _of_rows(counts: Sequence[Ints], losses: Sequence[Floats], left_out: int) -> Sequence[float]:
    """Return what all rows lose in each column."""
    return [fsum(n * loss) + left_out for n, loss in zip(counts, losses, strict=True)]
