"""Plan the regions: merge leaves until every region is legal, and spread those too large.

Leaves are merged within a pool of the tree, that is within a stratum where there are strata. Leaves
that hold whole strata are legal, since each stratum is, and are put together up to a region's size.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import ceil, sqrt

import numpy as np
import pyarrow as pa

from anon_sql.core.table import Domain
from anon_sql.errors import AnonError, Parameter
from anon_sql.pipeline.partition import refused
from anon_sql.pipeline.request import Request
from anon_sql.regions.counts import Limits, Tally, joined
from anon_sql.regions.rows import Group, LeafRows, Regions, each_leaf, one_group
from anon_sql.regions.sql import WEIGHT, is_k_alone
from anon_sql.regions.tree import Leaf, RegionTree, RoutingCut, leaves_below

MAX_NEIGHBOURS = 100  # regions on either side that an illegal region may merge with
Count = Callable[[Regions], Sequence[Tally]]


@dataclass(frozen=True)
class _Part:
    """A group of leaves and its counts.

    short: how far it is from legal; 0.0 for whole strata.
    """

    group: Group
    tally: Tally
    short: float


def plan(
    request: Request,
    domain: Domain,
    tree: RegionTree,
    count: Count,
    *,
    wanted: int,
    most: int | None = None,
    paths: pa.StructArray | None = None,
) -> Regions:
    """Return regions that are legal as a whole, with their exact numbers of rows.

    count: returns the exact counts of the regions it is given. wanted: rows of a region. most:
    largest number of rows of a region, twice ``wanted`` by default. Raises AnonError if no regions
    of at most ``most`` rows are legal.
    """
    pool_of = {leaf: i for i, pool in enumerate(tree.pools) for leaf in leaves_below(pool)}
    limits = Limits(request, domain, paths)
    plans = _Planning(request, limits, pool_of, wanted, most or 2 * wanted)
    regions = each_leaf(tree)
    tallies = count(regions)
    leaves = plans.parts(regions, tallies)
    additive = request.entity is None  # with persons, counts of leaves are no counts of regions
    # Leaves that are far apart may have to be one region.
    mixed = any(model.mixes for model in request.models)
    merged = plans.anywhere if mixed else plans.below
    parts = [part for pool in tree.pools for part in plans.filled(merged(pool, leaves))]
    whole_strata = [leaf for i, leaf in enumerate(leaves) if i not in pool_of]
    groups = plans.spread([*parts, *plans.filled(whole_strata)])
    while True:
        if groups != regions.groups:
            regions = Regions(tree, groups)
            summable = additive and all(group.parts == 1 for group in groups)
            tallies = [_sum(leaves, group) for group in groups] if summable else count(regions)
        groups = plans.better(regions, tallies)
        if groups == regions.groups:
            break
    counted = sum(tally.rows for tally in tallies)
    if counted != domain.rows:
        raise AnonError(
            request.function,
            "the table must not change while it is released",
            f"{counted:,} rows after {domain.rows:,}",
            "nothing was released; run it again",
        )
    return replace(regions, rows=tuple(tally.rows for tally in tallies))


def _sum(leaves: Sequence[_Part], group: Group) -> Tally:
    """Return the counts of leaves together, where persons are rows."""
    tally = joined([leaves[number].tally for number in group.leaves])
    return replace(tally, persons=tally.rows)


@dataclass(frozen=True)
class _Planning:
    """The steps of a plan; pool_of: number of the pool of each leaf that is in one."""

    request: Request
    limits: Limits
    pool_of: Mapping[int, int]
    wanted: int
    most: int

    def parts(self, regions: Regions, tallies: Sequence[Tally]) -> list[_Part]:
        """Return each group with what its regions hold together; persons are in one part each."""
        parts, first = [], 0
        for group in regions.groups:
            tallies_of_group = tallies[first : first + group.parts]
            tally = replace(
                joined(tallies_of_group), persons=sum(region.persons for region in tallies_of_group)
            )
            parts.append(self.part(group, tally))
            first += group.parts
        return parts

    def part(self, group: Group, tally: Tally) -> _Part:
        short = 0.0 if self.pool(group) is None else self.limits.shortfall(tally)
        return _Part(group, tally, short)

    def pool(self, group: Group) -> int | None:
        """Return the pool of a group, None for whole strata."""
        return self.pool_of.get(group.leaves[0])

    def below(self, node: RoutingCut | Leaf, leaves: Sequence[_Part]) -> list[_Part]:
        """Return the leaves below a node as groups that are legal, or as one that is not."""
        if isinstance(node, Leaf):
            return [leaves[node.number]]
        pool = [part for side in (node.yes, node.no) for part in self.below(side, leaves)]
        if sum(part.tally.rows for part in pool) <= self.wanted:
            return [self.union(pool)]
        return self.merged(pool)

    def anywhere(self, node: RoutingCut | Leaf, leaves: Sequence[_Part]) -> list[_Part]:
        """Return the leaves below a node as legal groups, or as one, wherever they lie.

        Leaves on opposite sides of the tree together often have the distribution of the table,
        where those below one node have not.
        """
        return self.merged([leaves[number] for number in leaves_below(node)])

    def filled(self, parts: Sequence[_Part]) -> list[_Part]:
        """Return groups of consecutive parts that have at most the rows wanted."""
        groups: list[_Part] = []
        for part in parts:
            if groups and groups[-1].tally.rows + part.tally.rows <= self.wanted:
                groups[-1] = self.union([groups[-1], part])
            else:
                groups.append(part)
        return groups

    def union(self, pool: Sequence[_Part]) -> _Part:
        tally = joined([part.tally for part in pool])
        return self.part(one_group([part.group for part in pool]), tally)

    def merged(self, pool: Sequence[_Part]) -> list[_Part]:
        """Return groups merged until all are legal or one is left.

        The smallest illegal group joins a near one: the smallest with which it is legal, or else
        the one with which it is nearest to legal.
        """
        groups = list(pool)
        while len(groups) > 1 and any(part.short for part in groups):
            illegal = (i for i, part in enumerate(groups) if part.short)
            smallest = min(illegal, key=lambda i: (groups[i].tally.rows, i))
            neighbours = range(
                max(smallest - MAX_NEIGHBOURS, 0), min(smallest + MAX_NEIGHBOURS + 1, len(groups))
            )
            unions = {
                i: self.union([groups[smallest], groups[i]]) for i in neighbours if i != smallest
            }
            best = min(unions, key=lambda i: (unions[i].short, unions[i].tally.rows, i))
            groups[min(smallest, best)] = unions[best]
            del groups[max(smallest, best)]
        return groups

    def spread(self, parts: Sequence[_Part]) -> tuple[Group, ...]:
        """Return the groups, those of too many rows in parts.

        Dealing makes parts of about equal size: the largest is some standard deviations above the
        mean, each the root of the mean.
        """
        largest_mean = max(1.0, (sqrt(9 + self.most) - 3) ** 2)  # mean + 6 * sqrt(mean) = most
        mean = min(self.wanted, largest_mean)
        return tuple(
            replace(part.group, parts=ceil(part.tally.rows / mean))
            if part.tally.rows > self.most and self.pool(part.group) is not None
            else part.group
            for part in parts
        )

    def better(self, regions: Regions, tallies: Sequence[Tally]) -> tuple[Group, ...]:
        """Return the same groups if every region is legal and small enough, or better ones.

        Every change leaves fewer groups or fewer parts. Raises AnonError if none are better.
        """
        fewer, first = [], 0
        for group in regions.groups:
            tallies_of_group = tallies[first : first + group.parts]
            illegal = group.parts > 1 and any(map(self.limits.shortfall, tallies_of_group))
            fewer.append(replace(group, parts=group.parts // 2) if illegal else group)
            first += group.parts
        if tuple(fewer) != regions.groups:
            return tuple(fewer)
        parts = self.parts(regions, tallies)
        if any(part.short for part in parts):
            kept = {part.group for part in parts}
            merged: list[_Part] = []
            for _, pool in groupby(parts, lambda part: self.pool(part.group)):
                within = list(pool)
                if len(within) == 1 and within[0].short:
                    raise self.refusal(within[0].tally)
                merged += self.merged(within)
            new = [part for part in merged if part.group not in kept]
            again = dict(zip((part.group for part in new), self.spread(new), strict=True))
            return tuple(again.get(part.group, part.group) for part in merged)
        return self.small_enough(regions, tallies)

    def refusal(self, tally: Tally) -> AnonError:
        """Return the error for the table, or for a stratum, if it is not legal as a whole."""
        if self.request.strata:
            return refused(self.request.function, self.limits.requirement, 1, tally.rows)
        return self.limits.refuse(self.request.function, tally)

    def small_enough(self, regions: Regions, tallies: Sequence[Tally]) -> tuple[Group, ...]:
        """Return the groups, or raise AnonError if a region is too large."""
        largest = max((tally.rows for tally in tallies), default=0)
        if largest > self.most:
            raise AnonError(
                self.request.function,
                f"a part must have at most {self.most:,} rows",
                f"one of {largest:,} that cannot be divided into legal ones",
                "allow larger parts or more memory, or ask for less of "
                + Parameter("l")
                + " and "
                + Parameter("t"),
            )
        return regions.groups


MIN_SAMPLED_ROWS = 64  # sampled rows of a region, so that its size is known to some 12 %


def sampled_regions(
    request: Request, domain: Domain, tree: RegionTree, sample: pa.Table, many: int, wanted: int
) -> Regions | None:
    """Return regions that are legal because the sampled rows in each of them are.

    sample: of ``sql.sample_select``, one row in ``many``. Sampled rows are rows of the table,
    so a region that has k of them has at least k rows. Returns None, and regions must be counted,
    if the request asks for more than k rows in each class or has strata, if the sample says too
    little about the sizes of regions, or if a region must be spread.
    """
    weights = sample.column(WEIGHT).to_numpy()
    sampled = int(weights.sum())
    part = wanted * sampled // max(domain.rows, 1)
    if not is_k_alone(request) or part == 0:
        return None
    if sampled < domain.rows:
        # rows that are sampled together
        together = (weights.astype(np.float64) ** 2).sum() / sampled
        if min(part, sampled) < MIN_SAMPLED_ROWS * max(together, request.k / 10):
            return None
        if abs(sampled * many - domain.rows) > wanted:  # many rows that are alike are not sampled
            return None
    columns = {name: sample.column(f"quasi_{c}") for c, name in enumerate(request.quasi)}
    leaf = LeafRows(request, tree).leaves_of(
        {n: values.combine_chunks() for n, values in columns.items()}
    )
    counts = np.bincount(leaf, weights, tree.leaves).astype(np.int64).tolist()
    tallies = [Tally(rows, rows, ()) for rows in counts]
    regions = plan(
        request,
        replace(domain, rows=sampled),
        tree,
        lambda _: tallies,
        wanted=part,
        most=sampled,  # so that no region is spread, and the counts are those of leaves
    )
    return None if max(regions.rows) > 2 * part else replace(regions, rows=())
