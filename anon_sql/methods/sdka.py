"""SDkA: synthetic records for rare sensitive values, then clusters of real and synthetic rows.

Source: Majeed and Hwang 2025, SDkA, steps 4 and 5; step 3 is ``pipeline.synthesize``. Departures:

- A cluster below k, or with one sensitive value, joins the nearest one. The authors join it to the
  largest and then fit k-means again, which undoes the repair.
- k, l and t count real rows alone, and a label is made of the real rows of its class.
- A number becomes the range of its class (``numbers := 'range'``); the paper takes the centre,
  which does not contain the values of its rows.
- A value that is dominant in the table is shown if a class agrees on it, and remains a
  quasi-identifier of a class of k real rows. The paper claims that such a value poses no risk; no
  guarantee depends on that claim.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anon_sql import kernels
from anon_sql.core.bin_width import BinWidth
from anon_sql.core.common_parameters import StrataColumns, Weights
from anon_sql.core.hierarchy.column import Hierarchical
from anon_sql.core.parameters import Choice, Number, Whole, param
from anon_sql.core.running import Progress
from anon_sql.core.stopping import check
from anon_sql.core.table import QuasiTable
from anon_sql.errors import AnonError
from anon_sql.methods.clusters import join_clusters
from anon_sql.methods.generators.bootstrap import Bootstrap, Generator, Positions, RealRows
from anon_sql.methods.generators.ctgan import Ctgan
from anon_sql.methods.legal_classes import merge_until_legal
from anon_sql.methods.method import BY_NODES, NOT_DROPPED, Call, Partition, method
from anon_sql.methods.microaggregation import k_means, standardized

GENERATORS: Mapping[str, Callable[[str, RealRows, int, int], Generator]] = {
    "ctgan": Ctgan,
    "bootstrap": Bootstrap,
}
_MAX_DRAWS = 50  # for a value, before it is given up
_DRAW_RECORDS = 500  # per draw, at least, since few may be new


def generate(
    function: str, kind: str, real: RealRows, counts: Mapping[int, int], seed: int, epochs: int
) -> Positions:
    """Return as many records of each sensitive value as are asked for, int32[sum, d].

    They are in the order of ``counts``; a record has by column the position of the real row whose
    value it takes. Raises AnonError if the generator is not installed, on Ctrl-C, and if too few
    records differ from real rows.

    function: name of the function, for errors.
    kind: one of ``GENERATORS``.
    real: the real rows.
    counts: how many records of each sensitive value, by its code.
    seed: of the generator.
    epochs: duration of the training.
    """
    maker = GENERATORS[kind](function, real, seed, epochs)
    accepted: list[Positions] = []
    with Progress(function, sum(counts.values())) as progress:
        progress.note = "drawing records"
        for value, count in counts.items():
            missing = count
            for attempt in range(_MAX_DRAWS):
                if missing == 0:
                    break
                check(function)
                records = maker.draw(value, max(2 * missing, _DRAW_RECORDS), attempt)
                records = records[real.new(records)][:missing]
                accepted.append(records)
                missing -= len(records)
                progress.advance(len(records))
            if missing:
                raise AnonError(
                    function,
                    f"{count:,} synthetic records of a value must differ from every real row",
                    f"{count - missing:,} that do",
                    maker.hint,
                )
    none = np.zeros((0, len(real.columns)), dtype=np.int32)
    return np.concatenate([none, *accepted])


Nodes = npt.NDArray[np.int32]
SHARE_TOLERANCE = 1e-9  # tolerance of a share


@dataclass(frozen=True)
class Sdka:
    """The parameters of ``sdka``."""

    generator: str = param(
        "ctgan",
        Choice(tuple(GENERATORS)),
        "'ctgan' (extra ctgan, under the Business Source License) or 'bootstrap', which mixes "
        "real rows",
    )
    epochs: int = param(10, Whole(1), "number of epochs for which CTGAN trains")
    target_ratio: float = param(
        2.0,
        Number(1),
        "synthetic records of a sensitive value are added until the most frequent value has at "
        "most this many times its rows",
    )
    dominant: float = param(
        0.9,
        Number(0, 1),
        "a value that all rows of a class share is shown only if at least this share of the real "
        "rows has it; a rarer value is generalized by at least one level of its hierarchy. 0 "
        "shows every shared value",
    )
    numbers: str = param(
        "range",
        Choice(("range", "centre")),
        "label of a number: 'range' of the real rows of the class, or 'centre', the value nearest "
        "to their mean, which most rows do not have",
    )


@method(
    "sdka",
    takes=Sdka,
    what="Adds synthetic rows of rare sensitive values, then k-means of all rows.",
    paper="Majeed and Hwang 2025",
    cost="n^2 / k, and training",
    perturbative=True,
    quadratic=True,
    needs_all_rows="makes synthetic rows from all rows",
    without=(StrataColumns, Weights, BinWidth),
    defaults={"l": 2},
    notes={
        "k": "Synthetic rows do not count.",
        "l": "Only real rows count, also for t, beta and delta.",
        "format": "'mean' and 'median' are refused because the method adds rows.",
        "suppressed": NOT_DROPPED,
        "hierarchy": BY_NODES,
    },
)
def sdka(table: QuasiTable, call: Call[Sdka]) -> Partition:
    """Return legal classes of at least k real rows, with their nodes; stats: clusters, merged."""
    real = np.ones(table.rows, dtype=np.bool_) if call.real is None else call.real
    features = standardized(table)
    count = max(int(real.sum()) // call.constraint.smallest, 1)
    clusters = k_means(features, count, call.seed, call.workers)
    joined, merged = join_clusters(call.function, features, clusters, real, call.constraint)
    real_table = table.only(real)
    legal = merge_until_legal(real_table, joined[real], call.constraint, call.workers)
    becomes = np.zeros(int(joined.max()) + 1, dtype=np.int32)
    becomes[joined[real]] = legal
    classes = becomes[joined]
    remaining = len(np.unique(legal))
    stats = {
        "clusters": int(clusters.max()) + 1,
        "merged": merged + int(joined.max()) + 1 - remaining,
    }
    return Partition(classes, stats, _nodes(real_table, legal, call.options.dominant)[classes])


def _nodes(real_table: QuasiTable, classes: Nodes, dominant: float) -> Nodes:
    """Return the node of each class in each column, int32[m, d].

    -1 for NULL alone and if the column has no hierarchy, the root if it has NULL and values.

    real_table: the real rows.
    classes: int32[n], class of each.
    dominant: share of the real rows from which a value is shown.
    """
    order, starts = kernels.hashing.group(classes, int(classes.max()) + 1)
    nodes = np.full((len(starts) - 1, len(real_table.columns)), -1, dtype=np.int32)
    for i, column in enumerate(real_table.columns):
        if not isinstance(column, Hierarchical):
            continue
        codes = real_table.points[:, i].astype(np.int64)
        low, high, nulls = kernels.hashing.extremes(order, starts, codes, codes < column.null_code)
        tree = column.tree
        has_values = low >= 0
        node = tree.ancestor(codes[low[has_values]], codes[high[has_values]])
        share = np.bincount(codes, minlength=tree.leaves) / real_table.rows
        leaf = node < tree.leaves
        rare = leaf.copy()
        rare[leaf] = share[node[leaf]] < dominant - SHARE_TOLERANCE
        node[rare] = tree.parent[node[rare]]
        node[nulls[has_values] > 0] = tree.root
        nodes[has_values, i] = node
    return nodes
