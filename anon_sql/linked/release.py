"""Release linked tables: classes, slots, labels and new keys, checked before they are written."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql import kernels
from anon_sql.core.labels.types import arrow_type
from anon_sql.core.table import QuasiTable
from anon_sql.errors import AnonError
from anon_sql.linked.bin_width import cut_rows
from anon_sql.linked.bins import least_surplus
from anon_sql.linked.diversity import merge_classes, place_diverse, require_values
from anon_sql.linked.folds import require_folds
from anon_sql.linked.options import LinkedCall
from anon_sql.linked.partition import LinkedPoints, bins_of_persons, classes_of, points_of
from anon_sql.linked.rows import (
    Hashes,
    Ints,
    LinkedRows,
    TableRows,
    counts_of,
    free,
    numbered,
    several,
    tie,
)
from anon_sql.linked.schema import Node, Schema
from anon_sql.linked.unlinked import unlinked_classes
from anon_sql.methods.searching import total_loss
from anon_sql.pipeline.compute import release as release_rows
from anon_sql.pipeline.request import Relation, Request, Source, checked
from anon_sql.pipeline.table import of_rows, shown

Codes = npt.NDArray[np.int32]
CLASSES = "class"


@dataclass(frozen=True)
class TableCounts:
    """The counts of one released table.

    raw: rows of the table. rows: released and linked. unlinked: released without a link. orphans:
    left out because their foreign key has no match. least: for a table directly below the root, the
    smallest surplus of any classes. gcp: mean loss of the labels of linked rows, None without them.
    """

    raw: int
    rows: int
    unlinked: int
    orphans: int
    least: int
    gcp: float | None

    @property
    def left_out(self) -> int:
        return self.raw - self.rows - self.unlinked


@dataclass(frozen=True)
class ReleasedTables:
    """A release: the tables, where their rows come from, their counts and their classes."""

    tables: dict[str, pa.Table]
    assemblies: Mapping[str, "Assembly"]
    counts: Mapping[str, TableCounts]
    smallest: int
    classes: int


@dataclass(frozen=True)
class Assembly:
    """The data from which a host assembles the m released rows of a table.

    position: int32[m], the position of each row among those that were read. linked: bool[m].
    labels: of each quasi-identifier and each added number of rows, the distinct printed labels, and
    int32[m], the label of each row.
    """

    position: Ints
    linked: npt.NDArray[np.bool_]
    labels: Mapping[str, tuple[pa.Array, Codes]]


@dataclass(frozen=True)
class Plan:
    """The slots and new keys of all rows.

    groups: by table, int32[n], the rows with the same labels, -1 for rows that are left out.
    linked: bool[n]. keys: int64[n], new keys.
    """

    tied: dict[str, LinkedRows]
    groups: Mapping[str, Ints]
    linked: Mapping[str, npt.NDArray[np.bool_]]
    keys: Mapping[str, Ints]
    points: dict[str, LinkedPoints | None] = field(default_factory=dict)

    def let_go(self, name: str) -> None:
        """Forget the values of a table that is released."""
        self.points.pop(name, None)
        self.tied[name] = self.tied[name].bare()


def plan(call: LinkedCall, schema: Schema, sources: dict[str, TableRows]) -> Plan:
    """Return the classes, slots and new keys of a release; empties ``sources``.

    Raises AnonError if no release is possible.
    """
    options = call.options
    cut_rows(call, sources)
    tied = tie(call.function, schema, sources, options.orphans, call.k)
    require_values(call.function, schema, tied, options.l)
    points = {
        name: points_of(call, schema, tied, node)
        for name, node in schema.nodes.items()
        if schema.is_countable(name)
    }
    free()
    bins = bins_of_persons(call, schema, tied)
    merged = partial(
        merge_classes, schema, tied, points[schema.root], l=options.l, function=call.function
    )
    classes = merged(classes_of(call, schema, tied, points, merged(bins)))
    free()
    placed = place_diverse(call, schema, tied, points, classes)
    groups, linked = {}, {}
    for name, places in placed.items():
        linked[name] = places.slot >= 0
        groups[name] = places.slot
        if options.surplus == "unlink" and places.owner == name and name != schema.root:
            extra = unlinked_classes(call, tied[name], points[name], places.surplus)
            top = int(places.slot.max(initial=-1)) + 1
            groups[name] = np.where(extra >= 0, extra + top, places.slot).astype(np.int32)
    for name, rows in tied.items():
        tied[name] = replace(rows, order=np.zeros(0, np.uint64), codes={})
    keys = {name: new_keys(tied[name].count) for name, node in schema.nodes.items() if node.keys}
    return Plan(tied, groups, linked, keys, points)


def new_keys(count: int) -> Ints:
    """Return different random numbers of 63 bits from the operating system, int64[n]."""
    keys = random_numbers(count)
    while several(keys):
        keys = random_numbers(count)
    return keys


def random_numbers(count: int) -> Ints:
    """Return random numbers of 63 bits from the operating system, int64[n]."""
    drawn = np.frombuffer(os.urandom(8 * count), np.uint64) >> np.uint64(1)
    return drawn.astype(np.int64)


def in_random_order(hashes: Hashes) -> Ints:
    """Return the order of hashes, equal ones in a random order of the operating system."""
    order: Ints = kernels.orders.by_hash(random_numbers(len(hashes)).view(np.uint64))
    order = order[kernels.orders.by_hash(hashes[order])]
    return order


def release(call: LinkedCall, schema: Schema, sources: dict[str, TableRows]) -> ReleasedTables:
    """Return the released tables, whose folds were checked; empties ``sources``.

    Tables are released from the lowest up. The values of each are then freed, because the tables
    above need only its links. Raises AnonError, with no result.
    """
    raw = {name: table_rows.values.num_rows for name, table_rows in sources.items()}
    made = plan(call, schema, sources)
    free()
    both, counted = {}, {}
    for name, node in reversed(list(schema.nodes.items())):
        both[name] = released(call, schema, made, node)
        free()
        counted[name] = _counted(call, schema, made, node, raw[name])
        made.let_go(name)
        free()
    tables = {name: both[name][0] for name in schema.nodes}
    shown_rows = {name: both[name][1] for name in schema.nodes}
    counts = {name: counted[name] for name in schema.nodes}
    persons = made.tied[schema.root].count
    del made, both  # the check of folds needs the memory
    free()
    folded = require_folds(call.function, schema, tables, call.k, call.options.l)
    sizes = np.bincount(folded.fold[schema.root])
    _require_all(call, schema, persons, tables, counts)
    return ReleasedTables(tables, shown_rows, counts, int(sizes.min()), len(sizes))


def _require_all(
    call: LinkedCall,
    schema: Schema,
    persons: int,
    tables: Mapping[str, pa.Table],
    counts: Mapping[str, TableCounts],
) -> None:
    """Raise AnonError unless every person and every row of the plan is released."""
    for name, count in counts.items():
        wrong = tables[name].num_rows != count.rows + count.unlinked
        if wrong or (name == schema.root and count.rows != persons):
            hint = "nothing was released; please report this"
            raise AnonError(call.function, "every row of the plan must be released", name, hint)


def released(call: LinkedCall, schema: Schema, made: Plan, node: Node) -> tuple[pa.Table, Assembly]:
    """Return one released table, its labels checked, and how it was put together.

    Rows are ordered by hashes of their released values. Rows that differ only in keys are in a
    random order of the operating system, because an order that follows from raw rows would disclose
    keys.
    """
    rows, group, linked = made.tied[node.name], made.groups[node.name], made.linked[node.name]
    released_rows = np.flatnonzero(group >= 0).astype(np.int32)
    points = made.points.get(node.name)
    columns: dict[str, pa.Array] = {}
    printed: dict[str, tuple[pa.Array, Codes]] = {}
    if points is not None:
        position, columns, printed = _labelled(
            call, points, rows, group[released_rows], linked[released_rows], released_rows
        )
    else:
        hidden = np.where(
            linked[released_rows], rows.source.kept[released_rows], np.uint64(2**64 - 1)
        )
        position = released_rows[in_random_order(hidden)]
    positions, shown_linked = pa.array(position), linked[position]
    mask = pa.array(~shown_linked)
    for name in node.kept:
        columns[name] = _without(rows.source.column(name).take(positions), mask)
    for name in node.renewed:
        values = _renewed(schema, made, node, name)[position]
        own_link = node.link is not None and name in node.link.columns
        columns[name] = pa.array(values, mask=~shown_linked) if own_link else pa.array(values)
    names = [name for name in node.table.types if name in columns]
    for child, counted, weight in schema.added(node):
        columns[weight] = _weights(schema, made, node, child)[position]
        columns[weight] = pa.array(columns[weight], mask=np.isnan(columns[weight]))
        names += [counted, weight]
    table = pa.table({name: columns[name] for name in names})
    return table, Assembly(rows.source.read[position], shown_linked, printed)


def _without(values: pa.Array, unlinked: pa.Array) -> pa.Array:
    """Return values with NULL where rows are unlinked."""
    if not unlinked.true_count:
        return values
    places = np.arange(len(values))
    return values.take(pa.array(places, mask=unlinked.to_numpy(zero_copy_only=False)))


def _renewed(schema: Schema, made: Plan, node: Node, column: str) -> Ints:
    """Return the new keys that a column of a key or a link shows, int64[n]."""
    row_of = np.arange(made.tied[node.name].count)
    while node.link is not None and column in node.link.columns:
        column = node.link.keys[node.link.columns.index(column)]
        row_of = made.tied[node.name].parent[row_of]
        node = schema.parent(node)
    return made.keys[node.name][row_of]


class _LabelledRows(NamedTuple):
    """position: the released rows in order. columns: their labels as released, by name. printed: as
    in ``Assembly``."""

    position: Ints
    columns: dict[str, pa.Array]
    printed: dict[str, tuple[pa.Array, Codes]]


def _labelled(
    call: LinkedCall,
    points: LinkedPoints,
    rows: LinkedRows,
    group: Ints,
    linked: npt.NDArray[np.bool_],
    released_rows: Ints,
) -> _LabelledRows:
    """Return the order of released rows and their labels, which ``generalize`` checks.

    The labels are returned as they are released, and as ``Assembly`` has them.
    """
    request = request_of(call, points.types, points.bin_width)
    if len(released_rows) == 0:
        none = {
            name: pa.nulls(0, arrow_type(request.released_type(name), values.type))
            for name, values in points.columns.items()
        }
        empty = pa.array([], pa.string()), np.zeros(0, np.int32)
        return _LabelledRows(released_rows, none, dict.fromkeys(none, empty))
    hashes = np.where(linked, rows.source.kept[released_rows], np.uint64(2**64 - 1))
    place = in_random_order(hashes)
    free()
    released_rows = released_rows[place]
    positions = pa.array(released_rows)
    source = Source(
        {name: values.take(positions) for name, values in points.columns.items()},
        pa.array(hashes[place]),
        {},
        pa.array(group[place].astype(np.int64)),
    )
    generalized = release_rows(source, request, call.paths, between=free)
    labels, printed = {}, {}
    for name, column in generalized.labels.items():
        label = column.label_of[generalized.class_of]
        labels[name] = of_rows(shown(request, name, column), label)
        printed[name] = column.printed, label
    return _LabelledRows(released_rows[generalized.position], labels, printed)


def request_of(
    call: LinkedCall, types: Mapping[str, str], bin_width: Mapping[str, Decimal] | None = None
) -> Request:
    """Return the request by which columns of some types are labelled; bin_width: of those cut."""
    try:
        return checked(
            "generalize",
            Relation({**types, CLASSES: "BIGINT"}, {}, call.threads, call.time_zone),
            call.arguments(
                quasi=list(types),
                classes=CLASSES,
                format=call.options.format,
                bin_width=bin_width,
            ),
        )
    except AnonError as error:
        raise AnonError(call.function, error.rule, error.got, error.hint) from None


def _weights(schema: Schema, made: Plan, node: Node, child: Node) -> npt.NDArray[np.float64]:
    """Return, per row above, the rows of its class / the released ones, NaN if there are none."""
    rows, group = made.tied[child.name], made.groups[node.name]
    above = np.where(made.linked[node.name], group, -1)
    class_of = above[rows.parent]
    size = int(above.max(initial=-1)) + 1
    true = np.bincount(class_of[class_of >= 0], minlength=size)
    shown_rows = np.bincount(class_of[(class_of >= 0) & made.linked[child.name]], minlength=size)
    with np.errstate(divide="ignore", invalid="ignore"):
        weight = np.where(shown_rows > 0, true / shown_rows, np.nan)
    weights = np.full(len(group), np.nan)
    weights[above >= 0] = weight[above[above >= 0]]
    return weights


def _counted(call: LinkedCall, schema: Schema, made: Plan, node: Node, raw: int) -> TableCounts:
    rows, linked = made.tied[node.name], made.linked[node.name]
    unlinked = int(((made.groups[node.name] >= 0) & ~linked).sum())
    least = 0
    if node.link is not None and node.link.parent == schema.root and node.role == "quasi":
        least = least_surplus(counts_of(rows.parent, made.tied[schema.root].count), call.k)
    points = made.points.get(node.name)
    gcp = None
    if points is not None and node.quasi and linked.any():
        linked_rows = np.flatnonzero(linked)
        gcp = loss(points.table(linked_rows), node.quasi, made.groups[node.name][linked_rows])
    return TableCounts(raw, int(linked.sum()), unlinked, rows.orphans, least, gcp)


def loss(table: QuasiTable, names: list[str], group: Ints) -> float:
    """Return the mean normalized certainty penalty (NCP) of labels, over rows and columns, 0…1.

    group: int64[n], the class of labels of each row.
    """
    columns = tuple(column for column in table.columns if column.name in names)
    named = QuasiTable(columns, table.order, workers=table.workers)
    return total_loss(named, numbered(group), table.workers) / (table.rows * len(names))
