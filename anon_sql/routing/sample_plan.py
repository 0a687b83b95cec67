"""Plan regions by the sample alone where it shows that they are legal: no row is counted."""

from dataclasses import replace

import numpy as np
import pyarrow as pa

from anon_sql.core.table_domain import Domain
from anon_sql.pipeline.request import Request
from anon_sql.routing.leaf_rows import LeafRows
from anon_sql.routing.planning import plan
from anon_sql.routing.region_counts import Tally
from anon_sql.routing.regions import Regions
from anon_sql.routing.route_tree import Tree
from anon_sql.routing.sampling import WEIGHT

ENOUGH = 400  # sampled rows of a region, so that its size is known to some 5 %


def shown_regions(
    request: Request, domain: Domain, tree: Tree, sample: pa.Table, many: int, wanted: int
) -> Regions | None:
    """Return regions that are legal because the sampled rows in each of them are.

    sample: of ``sampling.sample_select``, one row in ``many``. Sampled rows are rows of the table,
    so a region that has k of them has at least k rows. Returns None, and regions must be counted,
    if the request asks for more than k rows in each class or has strata, if the sample says too
    little about the sizes of regions, or if a region must be spread.
    """
    weights = sample.column(WEIGHT).to_numpy()
    sampled = int(weights.sum())
    part = wanted * sampled // max(domain.rows, 1)
    if request.protected or request.entity is not None or request.strata or part == 0:
        return None
    if sampled < domain.rows:
        alike = (weights.astype(np.float64) ** 2).sum() / sampled  # rows that are sampled together
        if min(part, sampled) < ENOUGH * max(alike, request.k / 10):
            return None
        if abs(sampled * many - domain.rows) > wanted:  # many rows that are alike are not sampled
            return None
    columns = {name: sample.column(f"quasi_{at}") for at, name in enumerate(request.quasi)}
    leaf = LeafRows(request, tree).of({n: held.combine_chunks() for n, held in columns.items()})
    counts = np.bincount(leaf, weights, tree.leaves).astype(np.int64).tolist()
    tallies = [Tally(rows, rows, ()) for rows in counts]
    shown = plan(
        request,
        replace(domain, rows=sampled),
        tree,
        lambda _: tallies,
        wanted=part,
        most=sampled,  # so that no region is spread, and the counts are those of leaves
    )
    return None if max(shown.rows) > 2 * part else replace(shown, rows=())
