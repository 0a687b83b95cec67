"""Make the routing tree of a table: by its strata first, then by a sample of its rows."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.core.hierarchy.rows import rows_of
from anon_sql.core.table import QuasiTable, read
from anon_sql.core.table_domain import Domain
from anon_sql.core.weights import relative
from anon_sql.core.workers import Workers
from anon_sql.methods.parts.ordering import curve_order
from anon_sql.pipeline.request import Request
from anon_sql.routing.cut_choice import axis
from anon_sql.routing.growing import Growing, Orders, Rows
from anon_sql.routing.route_tree import Cut, Leaf, Tree
from anon_sql.routing.sampling import WEIGHT
from anon_sql.routing.table_strata import Strata

FINER = 4  # leaves for each region: their sizes are estimates, and merging evens them out


def grow(
    request: Request,
    domain: Domain,
    sample: pa.Table,
    wanted: int,
    paths: pa.StructArray | None = None,
    strata: Strata | None = None,
) -> Tree:
    """Return the tree that cuts a sample into leaves for regions of ``wanted`` rows.

    sample: as ``sampling.sample_select`` returns it, in any order. paths: the rows of the
    hierarchy. strata: those of the table. Their values are cut first, until a leaf holds a few
    whole strata or the rows of one; what has more rows than a region is cut further. A leaf that no
    quasi-identifier can cut stays as it is.
    """
    if sample.num_rows == 0:
        return Tree(Leaf(0), (), 1, (Leaf(0),))
    values = {
        name: sample.column(f"quasi_{at}").combine_chunks() for at, name in enumerate(request.quasi)
    }
    rows = _sampled(request, domain, sample, values, paths)
    growing, leaf = Growing(), max(1, wanted // FINER)
    if strata is None:
        root = growing.node(rows, rows.orders, leaf * rows.total / max(domain.rows, 1))
        pools: tuple[Cut | Leaf, ...] = (root,)
    else:
        of_row = strata.of_rows(request.function, {name: values[name] for name in strata.types})
        root, pools = _strata_first(growing, request.function, strata, rows, of_row, wanted, leaf)
    return Tree(root, growing.texts(request), growing.leaves, pools)


def _sampled(
    request: Request,
    domain: Domain,
    sample: pa.Table,
    values: Mapping[str, pa.Array],
    paths: pa.StructArray | None,
) -> Rows:
    """Return the rows of a sample; values: its quasi-identifiers by name."""
    table = read(
        request.function,
        request.quasi,
        values,
        pa.array(np.zeros(sample.num_rows, np.uint64)),
        Workers(request.function),
        rows_of(paths, request.quasi, request.time_zone),
        domain,
        relative(request.weights, list(request.quasi)),
    )
    weights = sample.column(WEIGHT).to_numpy().astype(np.int64)
    near = _near(
        request.function, table, max(2, round(request.k * table.rows / max(domain.rows, 1)))
    )
    return Rows(values, [axis(column) for column in table.columns], weights, near)


def _near(function: str, table: QuasiTable, size: int) -> npt.NDArray[np.int32]:
    """Return groups of ``size`` near rows each, numbered, int32[n] as the rows came.

    They resemble the classes of a release of the table: as many of them lie apart as far.
    """
    group = np.empty(table.rows, np.int32)
    along = table.order[curve_order(table, Workers(function))]
    group[along] = np.arange(table.rows) // size
    return group


def _strata_first(
    growing: Growing,
    function: str,
    strata: Strata,
    sample: Rows,
    of_row: npt.NDArray[np.int64],
    wanted: int,
    leaf: int,
) -> tuple[Cut | Leaf, tuple[Cut | Leaf, ...]]:
    """Return the root, and the subtree of each stratum of more than ``wanted`` rows.

    of_row: int64[n], the stratum of each row of the sample. leaf: rows of a leaf, at most.
    """
    hashes = pa.array(np.zeros(len(strata.rows), np.uint64))
    table = read(function, strata.types, strata.values, hashes, Workers(function))
    near = np.arange(table.rows, dtype=np.int32)  # no class lies in two strata
    whole = Rows(strata.values, [axis(column) for column in table.columns], strata.rows, near)
    by = [order[np.argsort(of_row[order], kind="stable")] for order in sample.orders]
    starts = np.searchsorted(of_row[by[0]], np.arange(len(strata.rows) + 1))
    pools: list[Cut | Leaf] = []

    def end(orders: Orders, depth: int) -> Cut | Leaf:
        held = orders[0]
        if len(held) > 1 or strata.rows[held[0]] <= wanted:
            return growing.leaf()
        number = int(held[0])
        own = [order[starts[number] : starts[number + 1]] for order in by]
        share = sample.weight(own) / int(strata.rows[number])
        pools.append(growing.node(sample, own, leaf * share, depth))
        return pools[-1]

    return growing.node(whole, whole.orders, leaf, end=end), tuple(pools)
