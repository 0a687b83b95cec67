"""Datafly: full-domain generalization, column by column, until few rows are rare.

Source: Sweeney 1998, "Datafly: a system for providing anonymity in medical data", and 2002,
"Achieving k-anonymity privacy protection using generalization and suppression", figure 4. While
more rows than the limit are in combinations rarer than k, the column of most distinct values is
generalized by one level; the rows left over are suppressed. Ties go to the column named first.
Where the source is silent: a column at its root is skipped, NULL is a value of its own below the
root, with l or t a combination is rare unless it satisfies them, and strata share the limit of k
rows by their sizes.
"""

from dataclasses import dataclass

import numpy as np

from anon_sql.core.columns import distinct_rows
from anon_sql.core.common_parameters import Weights
from anon_sql.core.hierarchy.column import Hierarchical
from anon_sql.core.parameters import Number, OrNull, param
from anon_sql.core.table import QuasiTable
from anon_sql.errors import AnonError
from anon_sql.methods.full_domain import RECODES_GLOBALLY, Like, recoded_as_earlier
from anon_sql.methods.global_recoding import node_levels
from anon_sql.methods.method import NO_CHOICE, NO_COHORTS, Call, Partition, method
from anon_sql.methods.suppressed_rows import rows_of_share


@dataclass(frozen=True)
class Datafly(Like):
    """The parameters of ``datafly``."""

    suppression_limit: float | None = param(
        None,
        OrNull(Number(0, 1)),
        "largest allowed share of suppressed rows, 0…1",
        null="k rows",
    )


@method(
    "datafly",
    takes=Datafly,
    what="Takes whole columns up their hierarchies until few rows are rare; suppresses them.",
    paper="Sweeney 1998 and 2002",
    doi="10.1142/S021848850200165X",
    cost="n log n",
    needs="hierarchy for each quasi-identifier",
    columns=(Hierarchical,),
    needs_all_rows=RECODES_GLOBALLY,
    suppresses_k=True,
    without=(Weights,),
    notes={
        "suppressed": "'drop' is refused if more rows are suppressed than suppression_limit "
        "allows. If the shown rows are too few for a class, the rows of the smallest classes "
        "are suppressed too.",
        "seed": NO_CHOICE,
        "series": NO_COHORTS,
    },
)
def datafly(table: QuasiTable, call: Call[Datafly]) -> Partition:
    """Return combinations of nodes as classes, rare ones suppressed.

    stats: generalizations, suppressed. Raises AnonError that names the quasi-identifiers without a
    hierarchy.
    """
    columns = [column for column in table.columns if isinstance(column, Hierarchical)]
    if len(columns) < len(table.columns):
        no_hierarchy = [c.name for c in table.columns if not isinstance(c, Hierarchical)]
        raise AnonError(
            call.function,
            "every quasi-identifier needs a hierarchy",
            f"no hierarchy for {', '.join(no_hierarchy)}",
            "add one, or use basic_mondrian, which takes columns without",
        )
    share, k = call.options.suppression_limit, call.constraint.k
    share_of_rows = 1.0 if call.rows is None else table.rows / call.rows  # of a stratum
    limit = rows_of_share(share_of_rows, k) if share is None else rows_of_share(share, table.rows)
    if call.options.like is not None:
        return recoded_as_earlier(table, call, limit)
    codes = np.column_stack([column.codes[table.order] for column in columns])
    first, record_of = distinct_rows(call.function, codes)
    records = codes[first]
    rows = np.bincount(record_of)
    levels = [node_levels(column) for column in columns]
    level = [0] * len(columns)
    while True:
        nodes = np.column_stack([levels[c][level[c]][records[:, c]] for c in range(len(columns))])
        _, group_of = distinct_rows(call.function, nodes)
        rare = ~call.constraint.legal(group_of[record_of].astype(np.int32), int(group_of.max()) + 1)
        rare_rows = int(rows[rare[group_of]].sum())
        distinct = [
            len(np.unique(nodes[:, c])) if level[c] < len(levels[c]) - 1 else 0
            for c in range(len(columns))
        ]
        if rare_rows <= limit or not any(distinct):
            break
        level[int(np.argmax(distinct))] += 1
    classes = np.where(rare[group_of], -1, group_of)[record_of].astype(np.int32)
    stats = {"generalizations": sum(level), "suppressed": rare_rows}
    return Partition(classes, stats, nodes[record_of])
