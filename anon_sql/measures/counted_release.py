"""A release as measures of information loss take it: its labels and class sizes, counted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.core.arrow import true
from anon_sql.core.labels.grammar import STAR
from anon_sql.measures.domain import Domain
from anon_sql.measures.penalties import Penalties
from anon_sql.measures.readable import read_penalties, require_no_more_rows

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Labels:
    """The labels of one quasi-identifier; rows, classes: int64[m], how many show each label."""

    shown: pa.Array
    rows: Ints
    classes: Ints


@dataclass(frozen=True)
class Sizes:
    """The classes of a release by their size.

    size: int64[s], in rows; classes: int64[s], how many are of that size; suppressed: bool[s],
    whether these are suppressed in every quasi-identifier.
    """

    size: Ints
    classes: Ints
    suppressed: npt.NDArray[np.bool_]

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
    domains: Sequence[Domain]
    labels: Mapping[str, Labels]
    sizes: Sizes

    @property
    def released_rows(self) -> int:
        """How many rows the release has."""
        return int(self.sizes.rows.sum())

    def penalties(self, form: str) -> dict[str, Penalties]:
        """Return the NCP of the labels of each quasi-identifier, see ``read_penalties``."""
        shown = {name: labels.shown for name, labels in self.labels.items()}
        classes = {name: labels.classes for name, labels in self.labels.items()}
        whole = self.rows == self.released_rows
        return read_penalties(self.function, self.domains, shown, classes, form, whole=whole)

    def require_no_more_rows(self) -> None:
        """Raise AnonError where the release has more rows than the raw table."""
        require_no_more_rows(self.function, self.rows, self.released_rows)


def counted_release(
    function: str,
    rows: int,
    domains: Sequence[Domain],
    shown: Mapping[str, pa.Array],
    sizes: Ints,
) -> CountedRelease:
    """Return a release of which each class is given.

    shown: of each quasi-identifier what every class shows, as text. sizes: int64[m], the rows of
    each class.
    """
    ones = np.ones_like(sizes)
    stars = [true(pc.equal(labels, STAR)) for labels in shown.values()]
    labels = {name: Labels(each, sizes, ones) for name, each in shown.items()}
    of_sizes = Sizes(sizes, ones, np.logical_and.reduce(stars))
    return CountedRelease(function, rows, domains, labels, of_sizes)
