"""Full-domain generalization: one level per column for all rows, the best of all combinations.

A combination is a node of a lattice. Sources: Samarati 2001, "Protecting respondents' identities in
microdata release" (the lattice of levels, least height with suppression up to a limit); El Emam et
al. 2009, "A globally optimal k-anonymity method for the de-identification of health data" (OLA,
least loss, predictive tagging); Kohlmayer et al. 2012, "Flash: efficient, stable and optimal
k-anonymity" (binary search along greedy paths from specific to general nodes). Not every node is
judged. Departures:

- The order of the paths is that of a lower bound of what is minimized, and a node is pruned if its
  bound is not below the best value so far. The bound of GCP is exact without suppression: the loss
  of a node is then a sum over columns. Suppression only adds to it, and by no less in every more
  specific node, as there the same rows and more are in groups that are too small.
- Each column is searched alone first, with all others at their highest level; levels of a column
  that suppress too many rows there are illegal everywhere (as in Incognito, LeFevre et al. 2005).

Both prune only what cannot be better, so that the chosen node is the best of all legal ones. Where
the sources are silent:

- NULL is a value of its own below the last level. Columns without a hierarchy have the levels of
  ``global_recoding``.
- l, t, beta, delta and persons are required of each group; what is not monotone is not pruned by.
- Suppressed rows that are shown are a legal class: the rows of the smallest groups join them, and
  count towards the limit.
- The loss of a range of numbers without a hierarchy is that of all values of the table in it. Its
  label is the range of the released ones, which loses no more.
- A column in ``strata`` stays at its lowest level.

With ``like``, a table is recoded by the bins of an earlier release, so that both can be laid side
by side. In the earlier release every value of a column has one label. A row is suppressed if its
value lies in no label of its column, even if the labels are values. A NULL is suppressed if the
earlier release shows none, except below ``*``. Rows that are then not legal are suppressed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, prod
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.core import stopping
from anon_sql.core.columns import Categories, Numbers
from anon_sql.core.common_parameters import Weights
from anon_sql.core.hierarchy.column import Hierarchical
from anon_sql.core.hierarchy.generated import not_global
from anon_sql.core.labels.grammar import AS_CLASS, STAR, STARRED
from anon_sql.core.labels.reading import read_sets
from anon_sql.core.parameters import Choice, Number, param
from anon_sql.core.roles import fold
from anon_sql.core.running import Progress
from anon_sql.core.table import Column, QuasiTable
from anon_sql.errors import AnonError, Argument, Parameter, listed
from anon_sql.methods.global_recoding import (
    LEVEL_GCP,
    MINIMIZE,
    Judge,
    Level,
    Levels,
    Node,
    NodeVerdict,
    Records,
    level_of_nodes,
    levels_of,
)
from anon_sql.methods.method import NO_CHOICE, NO_COHORTS, Call, Partition, method
from anon_sql.methods.suppressed_rows import rows_of_share

Bools = npt.NDArray[np.bool_]


RECODES_GLOBALLY = "generalizes a column alike in all rows"


@dataclass(frozen=True)
class EarlierLabels:
    """A column of an earlier release: its distinct labels in the order of their bytes.

    null: whether NULL is among them.
    """

    labels: tuple[str, ...]
    null: bool


@dataclass(frozen=True)
class Earlier:
    """The labels of an earlier release, except those of suppressed rows, by folded name of the
    column."""

    labels: Mapping[str, EarlierLabels]

    def of(self, function: str, names: Sequence[str]) -> dict[str, EarlierLabels]:
        """Return the labels by column. Raises AnonError if the release lacks a column."""
        missing = [name for name in names if fold(name) not in self.labels]
        if missing:
            raise AnonError(
                function,
                Parameter("like") + " must be a release with the same quasi-identifiers",
                f"one without {listed(missing)}",
            )
        return {name: self.labels[fold(name)] for name in names}


@dataclass(frozen=True)
class EarlierRelease:
    """NULL, or the rows of an earlier release; its name where no SQL function has read them."""

    def read(self, function: str, name: str, value: Any) -> Earlier | str | None:
        if value is None or isinstance(value, str):
            return value
        if not isinstance(value, list) or not value:
            got = "one without rows" if value == [] else type(value).__name__
            raise AnonError(function, Parameter(name) + " must name an earlier release", got)
        rows = [row for row in value if any(label != STAR for label in row.values())] or value
        return Earlier(
            {fold(column): _earlier_labels({row[column] for row in rows}) for column in value[0]}
        )


def _earlier_labels(labels: set[str | None]) -> EarlierLabels:
    texts = {label for label in labels if label is not None}
    return EarlierLabels(tuple(sorted(texts, key=str.encode)), None in labels)


def required(function: str, earlier: Earlier | str) -> Earlier:
    """Return the earlier release. Raises AnonError if only its name is known."""
    if isinstance(earlier, str):
        raise AnonError(
            function,
            Parameter("like") + " must be a parameter of the function itself",
            "an option of another function",
            f"write FROM {function}(…, " + Argument("like", ...) + ")",
        )
    return earlier


@dataclass(frozen=True)
class Like:
    """An earlier release whose labels a table is recoded by."""

    like: Any = param(
        None,
        EarlierRelease(),
        "earlier release by full_domain or datafly, in labels; rows are recoded with its labels "
        "and no others. A row is suppressed if one of its values or NULLs has no such label, or "
        "if its class is not legal",
        null="none",
        relation=True,
    )


@dataclass(frozen=True)
class FullDomain(Like):
    """The parameters of ``full_domain``."""

    suppression_limit: float = param(
        0, Number(0, 1), "largest allowed share of suppressed rows, 0…1"
    )
    minimize: str = param(
        "gcp",
        Choice(MINIMIZE),
        "what to minimize: 'gcp' (information loss), 'dm' (discernibility) or 'height' (the sum "
        "of the levels; ties go to the least information loss)",
    )


def recoded_as_earlier(table: QuasiTable, call: Call[Any], limit: int) -> Partition:
    """Return the classes under the bins of the earlier release; stats: suppressed.

    Raises AnonError if more than ``limit`` rows would be suppressed, and for an earlier release
    that does not give every value one label.

    limit: rows that may be suppressed.
    """
    earlier = required(call.function, call.options.like)
    if call.one_value:
        raise AnonError(
            call.function,
            Parameter("like") + " must go without " + Argument("format", "mean") + " and 'median'",
            "means or medians, which the earlier release does not show",
        )
    labels = earlier.of(call.function, [column.name for column in table.columns])
    recoded = [_recoded(table, column, labels[column.name], call) for column in table.columns]
    records = Records([levels for levels, _ in recoded])
    judge = Judge(records, call.constraint, limit, call.suppressed_released)
    groups = records.groups((0,) * len(recoded))
    rare = judge.illegal(groups)
    for codes, (_, covered) in zip(records.codes, recoded, strict=True):
        rare |= ~covered[codes[groups.one]]
    suppressed, legal = judge.left_out(groups, rare)
    if not legal:
        raise AnonError(
            call.function,
            f"at most {limit:,} rows may be suppressed under the bins of " + Parameter("like"),
            f"{int(groups.sizes[suppressed].sum()):,}",
            "raise " + Parameter("suppression_limit") + ", or release without " + Parameter("like"),
        )
    return records.partition(groups, suppressed)


def _recoded(
    table: QuasiTable, column: Column, earlier: EarlierLabels, call: Call[FullDomain]
) -> tuple[Levels, Bools]:
    """Return a column with the only level that the labels ask for, and which values they cover."""
    column_levels = levels_of(table, column)
    covered = np.ones(len(column_levels.rows), np.bool_)
    if earlier.labels == (STAR,):
        level = column_levels.levels[-1]
    elif STAR in earlier.labels:
        raise not_global(call.function, column.name)
    elif isinstance(column, Hierarchical):
        level, covered = _of_nodes(column, column_levels, earlier, call.function)
    else:
        level, covered = (
            column_levels.levels[0],
            _of_values(table, column, column_levels, earlier, call.function),
        )
    if column.name in call.fixed and len(np.unique(level.group[covered])) < covered.sum():
        raise AnonError(
            call.function,
            Parameter("strata")
            + " must be columns that "
            + Parameter("like")
            + " does not generalize",
            listed([column.name]),
        )
    return replace(column_levels, levels=(level,)), covered


def _of_nodes(
    column: Hierarchical, column_levels: Levels, earlier: EarlierLabels, function: str
) -> tuple[Level, Bools]:
    """Return the nodes of a hierarchy that have the labels as a level, and which values are below
    them.
    """
    tree = column.tree
    unknown = sum(label not in tree.node_of for label in earlier.labels)
    if unknown:
        raise AnonError(
            function,
            Parameter("like") + " must be a release by the same hierarchy",
            f"{unknown} of {listed([column.name])} that it lacks",
        )
    nodes = np.array([tree.node_of[label] for label in earlier.labels], dtype=np.int64)
    nodes = nodes[np.argsort(tree.first[nodes])]
    if (tree.first[nodes][1:] <= tree.last[nodes][:-1]).any():
        raise not_global(function, column.name)
    node_of_leaf = np.full(tree.leaves + 1, STARRED, dtype=np.int32)
    node_of_leaf[-1] = AS_CLASS if earlier.null else STARRED
    for node in nodes:
        node_of_leaf[tree.first[node] : tree.last[node] + 1] = node
    value_nodes = node_of_leaf[column_levels.levels[0].nodes]
    return level_of_nodes(tree, value_nodes), value_nodes != STARRED


def _of_values(
    table: QuasiTable,
    column: Numbers | Categories,
    column_levels: Levels,
    earlier: EarlierLabels,
    function: str,
) -> Bools:
    """Return which values of a column without a hierarchy are labels themselves.

    A column of numbers has none here: with labels it has them as its hierarchy.
    """
    if isinstance(column, Numbers):
        of_row = ~column.present[table.order] & earlier.null
    else:
        sets = read_sets(pa.array(earlier.labels, pa.string())).words
        words = {values[0] for values in sets if values is not None and len(values) == 1}
        if len(words) < len(sets):
            raise not_global(function, column.name)
        is_label = [value in words for value in column.values.to_pylist()]
        of_row = np.array([*is_label, earlier.null])[column.codes[table.order]]
    covered = np.zeros(len(column_levels.rows), np.bool_)
    covered[column_levels.codes] = of_row
    return covered


MAX_NODES = 1 << 22  # of a lattice
Position = tuple[int, ...]


class Search:
    """A search of the lattice of some columns.

    judge: returns the verdict on a node.
    tops: the highest level of each column.

    Afterwards ``seen`` has the verdicts in the order in which they were made, ``best`` the best
    legal one.
    """

    def __init__(
        self,
        function: str,
        columns: Sequence[Levels],
        tops: Node,
        judge: Callable[[Node], NodeVerdict],
        minimize: str,
    ) -> None:
        self.minimize, self._judge = minimize, judge
        self.seen: dict[Node, NodeVerdict] = {}
        self.best: NodeVerdict | None = None
        self._low = tuple(self._lowest(column, tops) for column in range(len(tops)))
        shape = [top - low + 1 for low, top in zip(self._low, tops, strict=True)]
        if prod(shape) > MAX_NODES:
            raise AnonError(
                function,
                f"the levels of the columns must have at most {MAX_NODES:,} combinations",
                f"{prod(shape):,}",
                "pass hierarchies with fewer levels, or fewer quasi-identifiers",
            )
        self._free = [column for column, levels in enumerate(shape) if levels > 1]
        self._base = self._sums(columns, tops)
        self._bound = self._base.copy()
        self._open = np.ones(self._base.shape, np.bool_)
        for verdict in list(self.seen.values()):
            self._learn(verdict)
        while (start := self._least()) is not None:
            self._along(self._path(start))

    @property
    def _value(self) -> float:
        return inf if self.best is None else self.best.value(self.minimize)

    def _lowest(self, column: int, tops: Node) -> int:
        """Return the lowest level of a column that passes with the others at their highest."""
        low, high = 0, tops[column]
        while low < high:
            middle = (low + high) // 2
            node = (*tops[:column], middle, *tops[column + 1 :])
            verdict = self.seen.get(node) or self._seen(node)
            low, high = (low, middle) if verdict.passes else (middle + 1, high)
        return low

    def _sums(self, columns: Sequence[Levels], tops: Node) -> npt.NDArray[np.float64]:
        """Return a lower bound of what is minimized at each node."""
        rows = max(int(columns[0].rows.sum()), 1)
        total: npt.NDArray[np.float64] = np.full((1,) * len(self._free), 0.0)
        for c, column in enumerate(columns):
            levels = np.arange(self._low[c], tops[c] + 1)
            lost = column.losses()[self._low[c] : tops[c] + 1] / (rows * len(columns))
            if self.minimize == "dm":
                lost = np.zeros(len(lost))
            else:
                lost = lost / 2 + levels if self.minimize == "height" else lost + LEVEL_GCP * levels
            shape = [-1 if c == free else 1 for free in self._free]
            total = total + (lost.reshape(shape) if c in self._free else lost[0])
        return np.asarray(total)

    def _seen(self, node: Node) -> NodeVerdict:
        """Judge a node, and keep the verdict."""
        verdict = self._judge(node)
        self.seen[node] = verdict
        if verdict.legal and verdict.value(self.minimize) < self._value:
            self.best = verdict
        return verdict

    def _learn(self, verdict: NodeVerdict) -> None:
        """Close nodes and raise bounds by the verdict on a node."""
        position = tuple(verdict.node[c] - self._low[c] for c in self._free)
        if any(level < low for level, low in zip(verdict.node, self._low, strict=True)):
            return
        more_specific = tuple(slice(0, c + 1) for c in position)
        self._open[more_specific if not verdict.passes else position] = False
        bound: Any = self._base[more_specific] + verdict.extra / (
            2 if self.minimize == "height" else 1
        )
        if self.minimize == "dm":
            more_general = tuple(slice(c, None) for c in position)
            self._bound[more_general] = np.maximum(self._bound[more_general], verdict.squares)
            bound = np.float64(float(verdict.few) ** 2)
        self._bound[more_specific] = np.maximum(self._bound[more_specific], bound)

    def _least(self) -> Position | None:
        """Return the open node of least bound, None if no node can be better than the best."""
        self._open &= self._bound < self._value
        if not self._open.any():
            return None
        index = int(np.argmin(np.where(self._open, self._bound, inf)))
        return tuple(map(int, np.unravel_index(index, self._open.shape)))

    def _path(self, start: Position) -> list[Position]:
        """Return a path of open nodes, each time to the successor of least bound."""
        path = [start]
        while True:
            successors = [
                (*path[-1][:c], path[-1][c] + 1, *path[-1][c + 1 :])
                for c in range(len(start))
                if path[-1][c] + 1 < self._open.shape[c]
            ]
            successors = [successor for successor in successors if self._open[successor]]
            if not successors:
                return path
            path.append(min(successors, key=lambda successor: self._bound[successor]))

    def _along(self, path: list[Position]) -> None:
        """Judge nodes of a path to find the first that passes, by halves."""
        low, high = 0, len(path) - 1
        while low <= high:
            middle = (low + high) // 2
            node = list(self._low)
            for c, level in zip(self._free, path[middle], strict=True):
                node[c] += level
            verdict = self.seen.get(tuple(node)) or self._seen(tuple(node))
            self._learn(verdict)
            low, high = (low, middle - 1) if verdict.passes else (middle + 1, high)


@method(
    "full_domain",
    takes=FullDomain,
    what="Takes whole columns up their hierarchies to the levels of least loss of all.",
    paper="Samarati 2001; El Emam et al. 2009; Kohlmayer et al. 2012",
    doi="10.1109/69.971193; 10.1197/jamia.M3144; 10.1109/SocialCom-PASSAT.2012.52",
    cost="n + nodes of the lattice",
    needs_all_rows=RECODES_GLOBALLY,
    across_strata=True,
    without=(Weights,),
    notes={
        "suppressed": "Suppressed rows that are shown must be a legal class: if they are too few, "
        "the rows of the smallest classes are suppressed too. 'drop' never leaves out all rows.",
        "seed": NO_CHOICE,
        "series": NO_COHORTS,
        "hierarchy": "Without a hierarchy, numbers, dates and times are generalized to ranges of "
        "doubling width and then to *, and text directly to *.",
    },
)
def full_domain(table: QuasiTable, call: Call[FullDomain]) -> Partition:
    """Return combinations of nodes as classes, those that are not legal suppressed.

    stats: nodes (that were judged), generalizations (levels), suppressed.
    """
    if call.options.like is not None:
        limit = rows_of_share(call.options.suppression_limit, table.rows)
        return recoded_as_earlier(table, call, limit)
    judge, search = searched(table, call)
    if search.best is None:  # only where suppressed rows, and so the highest node, are left out
        raise AnonError(
            call.function,
            f"a combination of levels must be legal with at most {judge.limit:,} rows suppressed",
            None,
            "raise "
            + Parameter("suppression_limit")
            + ", or let "
            + Argument("suppressed", "keep")
            + " show them as *",
        )
    node = search.best.node
    groups = judge.records.groups(node)
    suppressed, _ = judge.left_out(groups, judge.illegal(groups))
    stats = {"nodes": len(search.seen), "generalizations": sum(node)}
    return judge.records.partition(groups, suppressed, **stats)


def searched(table: QuasiTable, call: Call[FullDomain]) -> tuple[Judge, Search]:
    """Return the search of the lattice of a table, with what judged the nodes."""
    columns = [levels_of(table, column) for column in table.columns]
    limit = rows_of_share(call.options.suppression_limit, table.rows)
    judge = Judge(Records(columns), call.constraint, limit, call.suppressed_released)

    tops = tuple(0 if c.name in call.fixed else len(c.levels) - 1 for c in columns)
    with Progress(call.function, None) as progress:

        def verdict(node: Node) -> NodeVerdict:
            stopping.check(call.function)
            progress.advance(1)
            return judge.verdict(node)

        return judge, Search(call.function, columns, tops, verdict, call.options.minimize)


def lattice_nodes(table: QuasiTable, call: Call[FullDomain]) -> list[dict[str, Any]]:
    """Return a row for each node, in the order in which they were judged."""
    _, search = searched(table, call)
    names = [column.name for column in table.columns]
    return [
        {
            "levels": list(zip(names, verdict.node, strict=True)),
            "loss": verdict.gcp,
            "suppressed": verdict.suppressed,
            "classes": verdict.classes,
            "legal": verdict.legal,
            "best": verdict is search.best,
        }
        for verdict in search.seen.values()
    ]
