"""Recode a table by the bins of an earlier release, so that both can be laid side by side.

In the earlier release every value of a column has one label. A row with a value that lies in no
label of its column is suppressed, also where the labels are values; so is NULL where the earlier
release shows none, but below ``*``. What is then not legal is suppressed.
"""

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.core.columns import Categories, Numbers
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
from anon_sql.methods.parts.earlier_labels import Shown, required
from anon_sql.methods.parts.node_verdict import Judge
from anon_sql.methods.parts.recoding import Records

Bools = npt.NDArray[np.bool_]


def recoded_alike(table: QuasiTable, call: Call, limit: int) -> Partition:
    """Return the classes under the bins of the earlier release.

    limit: rows that may be suppressed. stats: suppressed. Raises AnonError for more, and for an
    earlier release that does not give every value one label.
    """
    earlier = required(call.function, call.options["like"])
    if call.one_value:
        raise AnonError(
            call.function,
            "like must come with format := 'label' or 'typed'",
            "means or medians, which the earlier release does not show",
        )
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


def _recoded(table: QuasiTable, column: Column, shown: Shown, call: Call) -> tuple[Levels, Bools]:
    """Return a column with the only level that the labels ask for, and which values they cover."""
    own = levels_of(table, column)
    covered = np.ones(len(own.rows), np.bool_)
    if shown.labels == (STAR,):
        level = own.levels[-1]
    elif STAR in shown.labels:
        raise not_global(call.function, column.name)
    elif isinstance(column, Hierarchical):
        level, covered = _of_nodes(column, own, shown, call.function)
    else:
        level, covered = own.levels[0], _of_values(table, column, own, shown, call.function)
    if column.name in call.fixed and len(np.unique(level.group[covered])) < covered.sum():
        raise AnonError(
            call.function,
            "strata must be columns that like does not generalize",
            listed([column.name]),
        )
    return replace(own, levels=(level,)), covered


def _of_nodes(
    column: Hierarchical, own: Levels, shown: Shown, function: str
) -> tuple[Level, Bools]:
    """Return the nodes of a hierarchy that have the labels as a level, and what lies below them."""
    tree = column.tree
    unknown = sum(label not in tree.node_of for label in shown.labels)
    if unknown:
        raise AnonError(
            function,
            "like must be a release by the same hierarchy",
            f"{unknown} of {listed([column.name])} that it lacks",
        )
    nodes = np.array([tree.node_of[label] for label in shown.labels], dtype=np.int64)
    nodes = nodes[np.argsort(tree.first[nodes])]
    if (tree.first[nodes][1:] <= tree.last[nodes][:-1]).any():
        raise not_global(function, column.name)
    of_leaf = np.full(tree.leaves + 1, STARRED, dtype=np.int32)
    of_leaf[-1] = AS_CLASS if shown.null else STARRED
    for node in nodes:
        of_leaf[tree.first[node] : tree.last[node] + 1] = node
    chosen = of_leaf[own.levels[0].nodes]
    return level_of_nodes(tree, chosen), chosen != STARRED


def _of_values(
    table: QuasiTable, column: Numbers | Categories, own: Levels, shown: Shown, function: str
) -> Bools:
    """Return which values of a column without a hierarchy are labels themselves.

    A column of numbers has none here: with labels it has them as its hierarchy.
    """
    if isinstance(column, Numbers):
        of_row = ~column.present[table.order] & shown.null
    else:
        sets = read_sets(pa.array(shown.labels, pa.string())).words
        words = {values[0] for values in sets if values is not None and len(values) == 1}
        if len(words) < len(sets):
            raise not_global(function, column.name)
        held = [value in words for value in column.values.to_pylist()]
        of_row = np.array([*held, shown.null])[column.codes[table.order]]
    covered = np.zeros(len(own.rows), np.bool_)
    covered[own.codes] = of_row
    return covered
