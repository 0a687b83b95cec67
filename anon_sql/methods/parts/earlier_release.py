"""Recode a table by the bins of an earlier release, so that both can be laid side by side.

In the earlier release every value of a column has one label. Where its labels are nodes of one
level of the hierarchy, that level recodes every value. Otherwise a value that lies in no label is
suppressed. NULL stays NULL below the root. What is then not legal is suppressed.
"""

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.core.columns import Categories
from anon_sql.core.hierarchy.binned import not_global
from anon_sql.core.hierarchy.hierarchical import Hierarchical
from anon_sql.core.labels.bins import AS_CLASS, STARRED
from anon_sql.core.labels.grammar import STAR
from anon_sql.core.labels.read import read_sets
from anon_sql.core.table import Column, QuasiTable
from anon_sql.errors import AnonError, listed
from anon_sql.methods import Call, Partition
from anon_sql.methods.parts.column_levels import (
    Level,
    Levels,
    level_of_nodes,
    levels_of,
)
from anon_sql.methods.parts.earlier_labels import required
from anon_sql.methods.parts.node_verdict import Judge
from anon_sql.methods.parts.recoding import Records

Bools = npt.NDArray[np.bool_]


def recoded_alike(table: QuasiTable, call: Call, limit: int) -> Partition:
    """Return the classes under the bins of the earlier release.

    limit: rows that may be suppressed. stats: suppressed. Raises AnonError for more, and for an
    earlier release that does not give every value one label.
    """
    earlier = required(call.function, call.options["like"])
    labels = earlier.of(call.function, [column.name for column in table.columns])
    found = [_recoded(table, column, labels[column.name], call) for column in table.columns]
    records = Records([levels for levels, _ in found])
    judge = Judge(records, call.constraint, limit, call.shown)
    groups = records.groups((0,) * len(found))
    rare = judge.illegal(groups)
    for codes, (_, covered) in zip(records.codes, found, strict=True):
        rare |= ~covered[codes[groups.one]]
    left, legal = judge.left_out(groups, rare)
    if not legal:
        raise AnonError(
            call.function,
            f"at most {limit:,} rows may be suppressed under the bins of like",
            f"{int(groups.sizes[left].sum()):,}",
            "raise suppression_limit, or release without like",
        )
    return records.partition(groups, left)


def _recoded(
    table: QuasiTable, column: Column, labels: tuple[str, ...], call: Call
) -> tuple[Levels, Bools]:
    """Return a column with the only level that the labels ask for, and which values it covers."""
    own = levels_of(table, column)
    covered = np.ones(len(own.rows), np.bool_)
    if labels == (STAR,):
        level = own.levels[-1]
    elif STAR in labels:
        raise not_global(call.function, column.name)
    elif not isinstance(column, Hierarchical):
        if isinstance(column, Categories) and any(
            words is None or len(words) != 1 for words in read_sets(pa.array(labels)).words
        ):
            raise not_global(call.function, column.name)
        level = own.levels[0]
    else:
        level, covered = _of_nodes(column, own, labels, call.function)
    if column.name in call.fixed and level.size < len(own.rows):
        raise AnonError(
            call.function,
            "strata must be columns that like does not generalize",
            listed([column.name]),
        )
    return replace(own, levels=(level,)), covered


def _of_nodes(
    column: Hierarchical, own: Levels, labels: tuple[str, ...], function: str
) -> tuple[Level, Bools]:
    """Return the level of a hierarchy that has the labels, or their nodes as a level."""
    tree = column.tree
    unknown = sum(label not in tree.node_of for label in labels)
    if unknown:
        raise AnonError(
            function,
            "like must be a release by the same hierarchy",
            f"{unknown} of {listed([column.name])} that it lacks",
        )
    nodes = np.array(sorted(tree.node_of[label] for label in labels), dtype=np.int64)
    for level, held in zip(own.levels, tree.levels, strict=True):
        if np.isin(nodes, held).all():
            return level, np.ones(len(own.rows), np.bool_)
    nodes = nodes[np.argsort(tree.first[nodes])]
    if (tree.first[nodes][1:] <= tree.last[nodes][:-1]).any():
        raise not_global(function, column.name)
    of_leaf = np.full(tree.leaves + 1, STARRED, dtype=np.int32)
    of_leaf[-1] = AS_CLASS
    for node in nodes:
        of_leaf[tree.first[node] : tree.last[node] + 1] = node
    chosen = of_leaf[own.levels[0].nodes]
    return level_of_nodes(tree, chosen), chosen != STARRED
