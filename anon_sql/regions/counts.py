"""Count rows, persons and sensitive values of each region, and test whether it is legal."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql import kernels
from anon_sql.core.arrow import integers
from anon_sql.core.hierarchy.tree import rows_of
from anon_sql.core.table import Domain
from anon_sql.errors import AnonError, Argument, Parameter
from anon_sql.pipeline.partition import in_table
from anon_sql.pipeline.request import Request
from anon_sql.privacy.constraint import Constraint, constraint, satisfy
from anon_sql.regions.sql import sort_keys

MAX_CELLS = 100_000_000  # most counts of a sensitive value in a region that are held in memory
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Tally:
    """The counts of one region.

    rows, persons: their numbers; persons are rows if the request has no entity. counts: for each
    protected column int64[v], rows or persons with each value of the table.
    """

    rows: int
    persons: int
    counts: tuple[Counts, ...]


def joined(tallies: Sequence[Tally]) -> Tally:
    """Return the counts of several regions as one.

    With an entity they are bounds, since persons may have rows in several regions: ``persons`` is
    the largest number, and ``counts`` the sum.
    """
    return Tally(
        sum(tally.rows for tally in tallies),
        max(tally.persons for tally in tallies),
        tuple(np.sum(counts, axis=0) for counts in zip(*(t.counts for t in tallies), strict=True)),
    )


def counted_regions(
    request: Request,
    domain: Domain,
    regions: int,
    counts_of: Callable[[str | None], pa.Table],
) -> list[Tally]:
    """Return the counts of each region.

    counts_of: returns what ``sql.count_select`` counts for a protected column, or for None.
    Raises AnonError if the values of sensitive columns are too many, or not those of the domain.
    """
    rows = counts_of(None)
    counts, persons = np.zeros(regions, np.int64), np.zeros(regions, np.int64)
    region_of = _region_of(request, rows, regions)
    counts[region_of] = integers(rows.column("rows").combine_chunks())
    persons[region_of] = integers(rows.column("persons").combine_chunks())
    value_counts = [
        _value_counts(request, domain, regions, name, counts_of(name)) for name in request.protected
    ]
    return [
        Tally(
            int(counts[region]),
            int(persons[region]),
            tuple(of_value[region] for of_value in value_counts),
        )
        for region in range(regions)
    ]


def _region_of(request: Request, table: pa.Table, regions: int) -> npt.NDArray[np.int64]:
    region_of: npt.NDArray[np.int64] = integers(table.column("region").combine_chunks()).astype(
        np.int64
    )
    if table.column("region").null_count or (
        len(region_of) and not 0 <= region_of.min() <= region_of.max() < regions
    ):
        raise AnonError(request.function, "every row must have one part", "a row that has none")
    return region_of


def _value_counts(
    request: Request, domain: Domain, regions: int, name: str, table: pa.Table
) -> Counts:
    """Return the counts of each value of a protected column in each region, int64[r, v]."""
    values = len(domain.sensitive[name].keys) + 1
    if regions * values > MAX_CELLS:
        raise AnonError(
            request.function,
            Parameter("l")
            + " and "
            + Parameter("t")
            + f" need a table in memory of {name} by part",
            f"{values - 1:,} values in {regions:,} parts",
            "release fewer parts, or round the column",
        )
    coded = sort_keys(table.column("value").combine_chunks()).dictionary_encode()
    codes = domain.codes(request.function, name, coded.dictionary)[integers(coded.indices)]
    counts = np.zeros((regions, values), np.int64)
    region_of = _region_of(request, table, regions)
    np.add.at(counts, (region_of, codes), integers(table.column("count").combine_chunks()))
    return counts


class Limits:
    """What every region must satisfy as a whole, so that it can be released by itself."""

    def __init__(self, request: Request, domain: Domain, paths: pa.StructArray | None):
        named = rows_of(paths, dict.fromkeys(request.protected, "VARCHAR"), request.time_zone)
        none = np.zeros(0, np.int32)
        protected = [
            in_table(name, none, domain, ordered and name not in named)
            for name, ordered in request.protected.items()
        ]
        self.constraint: Constraint = constraint(request.k, protected, None, request.models)
        self.requirement = self.constraint.requirement
        if request.entity is not None and self.constraint.rules is None:
            self.requirement = satisfy(())  # k counts persons

    def shortfall(self, tally: Tally) -> float:
        """Return how far a region is from legal, per row: 0.0 if and only if it is."""
        limits = self.constraint
        if tally.rows == 0:
            return 0.0
        shortfall = float(max(limits.k - tally.persons, limits.smallest - tally.rows, 0))
        if limits.rules is None:
            return shortfall

        for attribute, counts in enumerate(tally.counts):
            values = np.flatnonzero(counts).astype(np.int32)
            shortfall += (
                kernels.legality.short_of_values(limits.rules, attribute, values, counts[values])
                / tally.rows
            )
        return shortfall

    def refuse(self, function: str, total: Tally) -> AnonError:
        """Return the error for a whole table that is not legal."""
        if total.rows < self.constraint.k:
            rule = Parameter("k") + f" must be at most the number of rows, {total.rows}"
            return AnonError(function, rule, Argument("k", self.constraint.k))
        return self.constraint.refusal(function, total.persons)
