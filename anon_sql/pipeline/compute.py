"""Compute a release: prepare, partition, make it legal, label its classes, check the labels.

``suppressed := 'drop'`` leaves out only the rows that a parameter asks for, at most. A row is
suppressed if it is ``*`` in every quasi-identifier, the columns of ``strata`` included. It makes no
difference whether the method suppressed it, or whether a class can be shown in no other way.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import is_not
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql import kernels
from anon_sql.core.bin_width import require_ends
from anon_sql.core.columns import unsigned
from anon_sql.core.hierarchy.column import Hierarchical
from anon_sql.core.labels.checking import midpoints, printed_hashes, require_true
from anon_sql.core.labels.reading import read_ranges
from anon_sql.core.labels.types import MIDPOINT
from anon_sql.core.labels.writing import ClassRows, Labels, make_labels
from anon_sql.core.table import Domain, QuasiTable
from anon_sql.errors import AnonError, Argument, Parameter
from anon_sql.methods.legal_classes import merge_until_legal
from anon_sql.methods.method import Call, Partition
from anon_sql.methods.suppressed_rows import rows_of_share
from anon_sql.pipeline.partition import (
    Prepared,
    classes_and_nodes,
    constraint_of,
    each_stratum,
    in_source_order,
    legal_partition,
    prepare,
    require_earlier,
)
from anon_sql.pipeline.request import Request, Source

Ids = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Checked:
    """What was checked of the r rows of a release.

    hashes: uint64[r], the hash of the kept values of each row; class_of: int32[r], its class.
    labels: of every class, by name of the quasi-identifier.
    """

    hashes: npt.NDArray[np.uint64]
    class_of: Ids
    labels: Mapping[str, Labels]


@dataclass(frozen=True)
class Release:
    """The r rows of a release.

    position: int32[r], the position in the source of each released row, from 0.
    class_of, labels: int32[r], its class, and the labels of every class by name of the column.
    suppressed: bool[n], the rows of the table that are suppressed, shown or left out.
    checked: what the rows must be once a host has put them together, None before they were checked.
    """

    position: Ids
    class_of: Ids
    labels: dict[str, Labels]
    suppressed: Bools
    checked: Checked | None = None


def release(
    source: Source,
    request: Request,
    paths: pa.StructArray | None = None,
    domain: Domain | None = None,
    between: Callable[[], None] = lambda: None,
) -> Release:
    """Return a release of the source's rows, after verifying its printed labels.

    Rows are partitioned into classes that satisfy k, l and t. Labels are printed in the requested
    format and parsed again: every value must lie in its label, and the groups of rows with equal
    printed labels must satisfy k, l and t. Classes with equal labels form one group; if it is not
    legal, it is merged with others and labels are made anew.

    Rows are ordered by a hash of their labels, then by ``source.hashes``, which hides the order of
    the source. Raises AnonError if the request cannot be satisfied or a check fails.

    paths: the rows of the hierarchy.
    domain: of the whole table, if the source has a part of its rows.
    between: is called between the steps, so that each can return its memory before the next.
    """
    with kernels.ahead.beside(request.function, bool(request.protected)):
        prepared = prepare(source, request, paths, domain)
        between()
        partition = legal_partition(prepared.table, prepared.call, request.method)
        return labelled(prepared, partition, between)


def labelled(
    prepared: Prepared, partition: Partition, between: Callable[[], None] = lambda: None
) -> Release:
    """Return the release of a partition whose classes are legal; see ``release``."""
    labelling = label(prepared, partition)
    between()
    check(prepared, partition, labelling)
    arranged = labelling.release(prepared.request, prepared.source)
    return replace(arranged, checked=check_rows(prepared, labelling, arranged))


@dataclass(frozen=True)
class Labelled:
    """The classes of n rows in source order, and their labels.

    class_of: int32[n], the class of each row; the suppressed rows are the last class.
    labels: of every class, by quasi-identifier.
    group_of: int32[m], the group of each of m classes: those with equal labels form a group.
    suppressed_classes: bool[m], classes that are * in every quasi-identifier.
    dropped: bool[g], groups that are left out of the release.
    """

    class_of: Ids
    labels: Sequence[Labels]
    group_of: Ids
    suppressed_classes: Bools
    dropped: Bools

    @cached_property
    def row_group(self) -> Ids:
        """Return the group of each row, int32[n]."""
        return self.group_of[self.class_of]

    @cached_property
    def suppressed(self) -> Bools:
        """Return the rows that are * in every quasi-identifier, bool[n], shown or left out."""
        return np.isin(self.row_group, self.group_of[self.suppressed_classes])

    def left_out(self, request: Request) -> Bools:
        """Return the rows that the release leaves out, bool[n]."""
        if request.suppressed == "drop":
            return self.suppressed
        return np.zeros(len(self.class_of), np.bool_)

    def release(self, request: Request, source: Source) -> Release:
        """Return the released rows in their order."""
        hashes = source.hashes.to_numpy(zero_copy_only=False)
        order, starts = kernels.hashing.group(self.row_group, len(self.dropped))
        position: Ids = kernels.hashing.arrange(order, starts, hashes)
        if self.dropped.any():
            position = position[~self.dropped[self.row_group[position]]]
        labels = dict(zip(request.quasi, self.labels, strict=True))
        return Release(position, self.class_of[position], labels, self.suppressed)


def label(prepared: Prepared, partition: Partition) -> Labelled:
    """Return the labels of a partition, each of which covers the values of its class.

    The labels are those of ``like`` if it is given, and show the ends of the bins of ``bin_width``.
    Classes are merged and labelled anew until each group of equal labels is legal. Midpoints are
    made from labels that were checked, and classes that show the same ones form a group. Raises
    AnonError for a label that, read as it is printed, does not cover a value of its class.
    """
    request, source, table = prepared.request, prepared.source, prepared.table
    types = list(request.quasi.values())
    values = [
        unsigned(source.quasi[name]) if name in prepared.cuts else source.quasi[name]
        for name in request.quasi
    ]
    workers = prepared.call.workers
    of_labels = request.format == MIDPOINT
    form = "label" if of_labels else request.format
    unlabelled: tuple[Ids, Ids | None] | None = classes_and_nodes(table, partition)
    while unlabelled is not None:
        of_row, nodes = unlabelled
        classes = _classes(of_row, source.real)
        labels = make_labels(
            request.function,
            table.columns,
            types,
            values,
            classes,
            nodes,
            workers,
            form=form,
            centred=request.centred,
            cuts=prepared.cuts,
        )
        suppressed_classes = require_true(
            request.function,
            table.columns,
            types,
            values,
            labels,
            classes.of_row,
            len(classes.starts) - 1,
            workers,
            form=form,
            centred=request.centred,
        )
        require_earlier(request, labels)
        _require_steps(prepared, labels)
        if of_labels:
            labels, suppressed_classes = midpoints(
                request.function, table.columns, types, labels, classes.of_row, prepared.trees
            )
        group_of, dropped = equal_labels(request, printed_hashes(labels), suppressed_classes)
        unlabelled = merge_equal_labels(prepared, group_of[of_row], dropped, nodes)
    return Labelled(of_row, labels, group_of, suppressed_classes, dropped)


def _classes(of_row: Ids, real: Bools | None) -> ClassRows:
    """Return the classes, with the suppressed rows (-1) as the last one.

    real: bool[n], the rows that are counted, None for all. Modifies ``of_row`` in place.
    """
    count = int(of_row.max()) + 1
    suppressed = bool((of_row < 0).any())
    total = count + suppressed
    of_row[of_row < 0] = count
    if real is None:
        order, starts = kernels.hashing.group(of_row, total)
        return ClassRows(of_row, order, starts, suppressed)
    counted = np.where(real, of_row, np.int32(total))
    order, starts = kernels.hashing.group(counted, total + 1)
    return ClassRows(counted, order[: starts[total]], starts[: total + 1], suppressed)


def equal_labels(
    request: Request, printed: npt.NDArray[np.uint64], suppressed_classes: Bools
) -> tuple[Ids, Bools]:
    """Return the group of each class, int32[m], and whether each group is left out, bool[g].

    Classes with equal hashes of their labels, ``printed``, form a group.
    """
    _, inverse = np.unique(printed, return_inverse=True)
    group_of = inverse.astype(np.int32)
    dropped = np.zeros(int(group_of.max()) + 1, dtype=np.bool_)
    if request.suppressed == "drop":
        dropped[group_of[suppressed_classes]] = True
    return group_of, dropped


def merge_equal_labels(
    prepared: Prepared, groups: Ids, dropped: Bools, nodes: Ids | None
) -> tuple[Ids, Ids | None] | None:
    """Return new classes int32[n] and nodes int32[n, d], or None if every group is legal.

    The union of legal classes can be illegal only if persons are counted instead of rows. Groups
    are then merged, within their strata, until each is legal. If that is impossible without the
    dropped rows, a whole stratum becomes one class. Rows are in source order.

    groups: int32[n], the group of each row; rows with equal labels form a group.
    dropped: bool[m], groups that are left out of the release.
    nodes: int32[n, d] that the method chose, or None.
    """
    table, call, limits = prepared.table, prepared.call, prepared.call.constraint
    if limits.rules is None or not limits.rules.persons:
        return None
    kept = np.where(dropped[groups], np.int32(-1), groups)[table.order]
    if (limits.legal(kept if call.real is None else kept[call.real], len(dropped)) | dropped).all():
        return None
    classes = np.full(table.rows, -1, np.int32)
    for rows, part in each_stratum(call, table.rows):
        merged = _merge_groups(table.only(rows), part, kept[rows], len(dropped))
        classes[rows] = np.where(merged < 0, np.int32(-1), merged + classes.max() + 1)
    class_of = in_source_order(table, classes)
    return class_of, None if nodes is None else common_nodes(table, class_of, nodes)


def _merge_groups(table: QuasiTable, call: Call[Any], kept: Ids, groups: int) -> Ids:
    """Return classes int32[n] of the groups int32[n] merged until legal, or one class of all rows.

    Both are in canonical order; -1 stays.
    """
    real = np.ones(table.rows, np.bool_) if call.real is None else call.real
    real_groups = kept[real]
    merged = merge_until_legal(table.only(real), real_groups, call.constraint, call.workers)
    if not call.constraint.legal(merged, int(merged.max()) + 1).all():
        return np.zeros(table.rows, np.int32)
    becomes = np.full(groups, -1, np.int32)
    becomes[real_groups[real_groups >= 0]] = merged[real_groups >= 0]
    return np.where(kept < 0, np.int32(-1), becomes[kept])


def common_nodes(table: QuasiTable, classes: Ids, nodes: Ids) -> Ids:
    """Return for each row the lowest common ancestor of the nodes in its class, int32[n, d].

    The root is returned if a class has NULL (-1) and other nodes. classes: int32[n], from 0 without
    gaps, -1 for suppressed rows; nodes: int32[n, d], -1 also in columns without a hierarchy.
    """
    result, kept = nodes.copy(), np.flatnonzero(classes >= 0)
    order, starts = kernels.hashing.group(classes[kept], int(classes.max()) + 1)
    rows, first = kept[order], starts[:-1]
    for i, column in enumerate(table.columns):
        if not isinstance(column, Hierarchical) or len(rows) == 0:
            continue
        tree, column_nodes = column.tree, nodes[rows, i]
        low = np.minimum.reduceat(
            np.where(column_nodes < 0, tree.leaves, tree.first[column_nodes]), first
        )
        high = np.maximum.reduceat(np.where(column_nodes < 0, -1, tree.last[column_nodes]), first)
        node = np.maximum.reduceat(column_nodes, first).astype(np.int64)
        while (below := (node >= 0) & ((tree.first[node] > low) | (tree.last[node] < high))).any():
            node[below] = tree.parent[node[below]]
        node[(node >= 0) & (np.minimum.reduceat(column_nodes, first) < 0)] = tree.root
        result[rows, i] = np.repeat(node, np.diff(starts))
    return result


def check(prepared: Prepared, partition: Partition, labelling: Labelled) -> None:
    """Raise AnonError unless the labels may be released.

    They may if no more rows are left out than asked for, every group of equal labels is legal, and
    none crosses strata.
    """
    by_method = in_source_order(prepared.table, partition.classes < 0)
    require_few_left_out(prepared.request, labelling.suppressed, by_method, prepared.domain)
    _require_legal(prepared, labelling)
    _require_strata(prepared, labelling)


def _require_legal(prepared: Prepared, labelling: Labelled) -> None:
    """Raise AnonError for a group that is not legal, counted anew from the source."""
    source, request, groups = prepared.source, prepared.request, len(labelling.dropped)
    counted = None if source.real is None else np.flatnonzero(source.real).astype(np.int32)
    limits = constraint_of(source, request, prepared.paths, counted, prepared.domain)
    counted_groups = labelling.row_group if counted is None else labelling.row_group[counted]
    illegal = int((~limits.legal(counted_groups, groups) & ~labelling.dropped).sum())
    if illegal:
        raise AnonError(
            request.function,
            f"every class of labels must {limits.requirement}",
            f"{illegal} that {'does' if illegal == 1 else 'do'} not",
            "nothing was released; please report this",
        )


def _require_steps(prepared: Prepared, labels: Sequence[Labels]) -> None:
    """Raise AnonError unless labels of values that are cut show the ends of their bins."""
    request = prepared.request
    labels_of = dict(zip(request.quasi, labels, strict=True))
    for name, bins in prepared.cuts.items():
        kind = request.quasi[name]
        require_ends(request.function, name, kind, bins, read_ranges(kind, labels_of[name].printed))


def _require_strata(prepared: Prepared, labelling: Labelled) -> None:
    """Raise AnonError if a group of rows with equal labels crosses strata.

    Suppressed rows may: they show no value.
    """
    call, group_of = prepared.call, labelling.row_group
    if call.strata is None:
        return
    strata = in_source_order(prepared.table, call.strata)
    first = np.empty(len(labelling.dropped), np.int32)
    first[group_of] = strata
    crossing = np.unique(group_of[(strata != first[group_of]) & ~labelling.suppressed])
    if len(crossing):
        raise AnonError(
            call.function,
            "no class of labels may cross strata",
            f"{len(crossing)} that {'does' if len(crossing) == 1 else 'do'}",
            "nothing was released; please report this",
        )


def check_rows(prepared: Prepared, labelling: Labelled, arranged: Release) -> Checked:
    """Return what was checked: that a release has the rows, once each, in the order of hashes.

    Raises AnonError otherwise. Groups are in the order of a hash of their labels, and the rows of a
    group in the order of their hashes.
    """
    request = prepared.request
    _require_checked(request, labelling, arranged)
    group = labelling.row_group[arranged.position]
    hashes = prepared.source.hashes.to_numpy(zero_copy_only=False)[arranged.position]
    require_hash_order(request.function, group, hashes)
    labels = dict(zip(request.quasi, labelling.labels, strict=True))
    return Checked(hashes, labelling.class_of[arranged.position], labels)


def require_hash_order(
    function: str, groups: npt.NDArray[Any], hashes: npt.NDArray[np.uint64]
) -> None:
    """Raise AnonError unless rows ascend by group, and within a group by hash, uint64[n] each."""
    before, after = groups[:-1], groups[1:]
    early = int(((after < before) | ((after == before) & (hashes[1:] < hashes[:-1]))).sum())
    if early:
        raise AnonError(
            function,
            "released rows must be in the order of hashes, which does not show that of the table",
            f"{early:,} that {'is' if early == 1 else 'are'} not",
            "nothing was released; please report this",
        )


def _require_checked(request: Request, labelling: Labelled, arranged: Release) -> None:
    """Raise AnonError unless rows, classes and labels of a release are those that were checked."""
    position, is_released = arranged.position, ~labelling.left_out(request)
    if len(position) and not 0 <= position.min() <= position.max() < len(is_released):
        got = "rows that the table lacks"
    elif wrong := int((np.bincount(position, minlength=len(is_released)) != is_released).sum()):
        got = f"{wrong:,} of the table that {'is' if wrong == 1 else 'are'} not"
    elif not np.array_equal(arranged.class_of, labelling.class_of[position]):
        got = "rows beside the labels of another class"
    elif any(map(is_not, arranged.labels.values(), labelling.labels)):
        got = "labels of another column"
    else:
        return
    raise unchecked(request.function, got)


def unchecked(function: str, got: str) -> AnonError:
    """Return the error for released rows that are not those that were checked."""
    return AnonError(
        function,
        "the rows that were checked must be released once each, beside their labels",
        got,
        "nothing was released; please report this",
    )


KEEP = Argument("suppressed", "keep") + " shows them"


def most_left_out(request: Request, rows: int) -> int | None:
    """Return the number of rows that may be left out.

    None if the call asks for the rows one by one and not by their number: rows whose class is NULL,
    or those that an option tells the method to suppress.
    """
    method = request.method
    assert method is not None
    if method.takes_classes or "suppress" in vars(request.options).values():
        return None
    share = request.option("suppression_limit")
    if share is None:
        return request.k if method.suppresses_k else 0
    return rows_of_share(share, rows)


def require_few_left_out(
    request: Request, suppressed: Bools, by_method: Bools, domain: Domain | None = None
) -> None:
    """Raise AnonError if more rows are left out than may be, or all of them.

    suppressed: bool[n], rows that are suppressed in the release.
    by_method: bool[n], those that the method suppressed.
    domain: of the whole table, if these are a part of its rows; the limit is that of all parts.
    """
    if request.suppressed != "drop":
        return
    left_out, rows = int(suppressed.sum()), len(suppressed)
    limit = most_left_out(request, rows if domain is None else domain.rows)
    if limit is None:
        limit = left_out - int((suppressed & ~by_method).sum())
    _require_few(request, left_out, limit)
    if domain is None:
        _require_some(request, left_out < rows)


def require_all_parts(request: Request, rows: int, released: int) -> None:
    """Raise AnonError if more of a table is left out of all its parts than may be, or everything.

    rows: of the table; released: rows of the release of all parts, each of which was checked.
    """
    if request.suppressed != "drop":
        return
    limit = most_left_out(request, rows)
    if limit is not None:
        _require_few(request, rows - released, limit)
    _require_some(request, released > 0)


def _require_few(request: Request, left_out: int, limit: int) -> None:
    if left_out > limit:
        may = "no row" if limit == 0 else f"at most {limit:,} row{'' if limit == 1 else 's'}"
        limited = hasattr(request.options, "suppression_limit")
        raise AnonError(
            request.function,
            Argument("suppressed", "drop") + f" may leave out {may}",
            f"{left_out:,} that {'is' if left_out == 1 else 'are'} * in every quasi-identifier",
            "raise " + Parameter("suppression_limit") + ", or " + KEEP if limited else KEEP,
        )


def _require_some(request: Request, some: bool) -> None:
    if not some:
        raise AnonError(
            request.function,
            "a release must have a row of the table that is not suppressed",
            None,
            KEEP,
        )
