"""Make every class satisfy k, l and t: merge classes, and split merged ones again."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from anon_sql import kernels
from anon_sql.core.running import Workers
from anon_sql.core.stopping import check
from anon_sql.core.table import QuasiTable
from anon_sql.methods.ordering import Order, curve_order
from anon_sql.methods.searching import blocks_of, total_loss
from anon_sql.methods.suppressed_rows import dense
from anon_sql.privacy.constraint import Constraint

BLOCK_CLASSES = 1 << 12  # that are merged by themselves, at least
CALL_MERGES = 1000  # between two tests for Ctrl-C


def merge_until_legal(
    table: QuasiTable,
    classes: npt.NDArray[np.int32],
    constraint: Constraint,
    workers: Workers,
    order: Order | None = None,
) -> npt.NDArray[np.int32]:
    """Return class ids int32[n], merged until each class is legal; -1 (suppressed) stays.

    Blocks of adjacent classes along the curve are merged by themselves; a class that finds no
    partner there, among all classes. At worst one class is left; it is legal if the rows that are
    not suppressed are.

    classes: int32[n], class of each row.
    order: the curve through the table, if it is known.
    """
    kept = classes >= 0
    if constraint.rules is None or not kept.any():
        return classes
    kept_table, limits = table, constraint
    if not kept.all():
        kept_table, limits, order = table.only(kept), constraint.only(kept), None
    rules = limits.rules
    assert rules is not None
    merged = along(
        dense(classes[kept]), curve_order(kept_table, workers) if order is None else order
    )
    count = int(merged.max()) + 1
    for blocks in sorted({max(count // BLOCK_CLASSES, 1), 1}, reverse=True):
        merged, short = merged_in_blocks(kept_table, merged, rules, blocks, workers)
        if not short:
            break
    result = classes.copy()
    result[kept] = merged
    return result


def merged_in_blocks(
    table: QuasiTable,
    classes: npt.NDArray[np.int32],
    rules: "kernels.legality.Rules",
    blocks: int,
    workers: Workers,
) -> tuple[npt.NDArray[np.int32], int]:
    """Return class ids int32[n] after classes have merged within blocks, and how many are short.

    classes: int32[n], numbered along a curve, as the result is.
    blocks: how many, of equally many classes.
    """
    order, starts = kernels.hashing.group(classes, int(classes.max()) + 1)
    edges = np.linspace(0, len(starts) - 1, blocks + 1).astype(np.int64)
    jobs = [(int(begin), int(end)) for begin, end in pairwise(edges)]

    def state_of(begin: int, end: int) -> Any:
        rows, block_starts = (
            order[starts[begin] : starts[end]],
            starts[begin : end + 1] - starts[begin],
        )
        return kernels.merging.classes_of(table.points, table.model, rules, rows, block_starts)

    def result_of(state: Any, first: int) -> tuple[npt.NDArray[np.int64], int]:
        return state.becomes + first, int((state.shortfall[state.size > 0] > 0).sum())

    def merged(begin: int, end: int) -> tuple[npt.NDArray[np.int64], int]:
        state = state_of(begin, end)
        while kernels.merging.merge(state, table.model, rules, CALL_MERGES):
            check(workers.function)
        return result_of(state, begin)

    if blocks > 1:
        results = workers.map(
            merged, jobs, [int(starts[end] - starts[begin]) for begin, end in jobs]
        )
    else:
        state = state_of(*jobs[0])
        workers.repeat(kernels.merging.merge, (state, table.model, rules, CALL_MERGES), len(starts))
        results = [result_of(state, 0)]
    becomes = np.concatenate([taken_by for taken_by, _ in results])
    while (becomes[becomes] != becomes).any():
        becomes = becomes[becomes]
    return dense(becomes[classes].astype(np.int32)), sum(short for _, short in results)


def cheapest(
    table: QuasiTable, partitions: Sequence[npt.NDArray[np.int32]], workers: Workers
) -> int:
    """Return which of several partitions loses least, the first of equals.

    partitions: class ids int32[n]; all suppress (-1) the same rows.
    """
    kept = partitions[0] >= 0
    kept_table = table if kept.all() else table.only(kept)
    lost = [total_loss(kept_table, dense(classes[kept]), workers) for classes in partitions]
    return int(np.argmin(np.round(lost, 9)))


def along(classes: npt.NDArray[np.int32], order: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """Return the classes, numbered from 0 by the position of their middle rows in an order of
    rows."""
    arranged, starts = kernels.hashing.group(classes[order], int(classes.max()) + 1)
    middle = arranged[(starts[:-1] + starts[1:]) // 2]
    rank = np.empty(len(middle), np.int32)
    rank[np.argsort(middle)] = np.arange(len(middle), dtype=np.int32)
    return rank[classes]


JOB_ROWS = 1 << 14
WIDE_ROWS = 1 << 16  # of a class whose parts become jobs
WIDE_PARTS = 8  # of such a class: a job has an eighth of its rows, at most
COUNTED_BUCKETS = 1 << 16  # that may be counted, however few the rows


def split_classes(
    table: QuasiTable,
    classes: npt.NDArray[np.int32],
    constraint: Constraint,
    workers: Workers,
    until: int = 0,
    plain: bool = True,
) -> npt.NDArray[np.int32]:
    """Return class ids int32[n] of smaller legal classes.

    classes: int32[n], legal, from 0 without gaps.
    until: rows of a class that is not split further, at most.
    plain: whether cuts are tried that do not go by buckets.
    """
    rules = constraint.rules
    assert rules is not None
    order, starts = kernels.hashing.group(classes, int(classes.max()) + 1)
    rank, buckets = table.ranks, buckets_of(constraint)

    def parts_of(edges: npt.NDArray[np.int64], limits: int) -> npt.NDArray[np.int64]:
        """Split some classes, whose rows are copied, since each is visited many times."""
        first, end = int(edges[0]), int(edges[-1])
        rows = order[first:end]
        columns, ranks = (
            np.ascontiguousarray(np.take(values, rows, axis=0).T) for values in (table.points, rank)
        )
        local_rules = rules._replace(keys=np.take(rules.keys, rows, axis=1))
        local = np.arange(len(rows), dtype=np.int32)
        begins: npt.NDArray[np.int64] = kernels.splitting.split(
            columns,
            table.model,
            local_rules,
            ranks,
            buckets[rows],
            local,
            edges - first,
            constraint.smallest,
            limits,
            plain,
        )
        order[first:end] = rows[local]
        return begins + first

    blocks, edges_found = blocks_around(starts, WIDE_ROWS), [starts]
    while blocks:
        blocks.sort(key=lambda edges: int(edges[0] - edges[-1]))  # the longest first
        rows = [int(edges[-1] - edges[0]) for edges in blocks]
        wide = [
            len(edges) == 2 and row_count > WIDE_ROWS
            for edges, row_count in zip(blocks, rows, strict=True)
        ]
        limits = [
            max(row_count // WIDE_PARTS, until) if is_wide else until
            for is_wide, row_count in zip(wide, rows, strict=True)
        ]
        parts = workers.map(parts_of, list(zip(blocks, limits, strict=True)), rows)
        blocks = []
        for edges, limit in zip(parts, limits, strict=True):
            edges_found.append(edges)
            if limit > until:
                new_blocks = blocks_around(edges, min(limit, WIDE_ROWS))
                blocks += [values for values in new_blocks if np.diff(values).max() <= limit]
    sizes = np.diff(np.unique(np.concatenate(edges_found)))
    smaller = np.empty_like(classes)
    smaller[order] = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    return smaller


def blocks_around(edges: npt.NDArray[np.int64], limit: int) -> list[npt.NDArray[np.int64]]:
    """Return where classes begin, block by block; one of more than ``limit`` rows is by itself."""
    wide = np.flatnonzero(np.diff(edges) > limit)
    firsts = [begin for begin, _ in blocks_of(edges - edges[0], JOB_ROWS)]
    cuts = np.unique([*firsts, *wide, *(wide + 1), len(edges) - 1])
    return [edges[begin : end + 1] for begin, end in pairwise(cuts.tolist())]


def buckets_of(constraint: Constraint) -> npt.NDArray[np.int32]:
    """Return the bucket of each row, int32[n]: rows of equal sensitive values share one.

    Buckets are numbered as the first column's values sort.
    """
    rules = constraint.rules
    assert rules is not None
    buckets = np.zeros(rules.keys.shape[1], np.int64)
    for attribute in range(len(constraint.names)):
        values = rules.value[attribute][rules.keys[attribute]]
        buckets = buckets * (int(values.max(initial=0)) + 1) + values
        highest = int(buckets.max(initial=0))
        if highest < 2 * len(buckets) + COUNTED_BUCKETS:
            ranks = np.cumsum(np.bincount(buckets, minlength=1) > 0) - 1
            buckets = ranks[buckets]
        else:
            buckets = np.unique(buckets, return_inverse=True)[1].reshape(-1)
    return buckets.astype(np.int32)


Classes = npt.NDArray[np.int32]


def protect(
    table: QuasiTable, classes: Classes, constraint: Constraint, workers: Workers
) -> Classes:
    """Return class ids int32[n] such that each class is legal; -1 (suppressed) stays.

    A legal class that took in no other stays as the method made it; a merged class is split again
    as far as its parts are legal. The rows that are not suppressed must be legal together.
    """
    if constraint.rules is None or all_legal(classes, constraint, workers):
        return classes
    merged = merge_until_legal(table, classes, constraint, workers)
    changed = mixed(classes, merged)[merged] & (merged >= 0)
    if not changed.any():
        return merged
    parts = split_classes(
        table.only(changed), dense(merged[changed]), constraint.only(changed), workers
    )
    result = merged.copy()
    result[changed] = merged.max() + 1 + parts
    return dense(result)


def all_legal(classes: Classes, constraint: Constraint, workers: Workers) -> bool:
    """Return whether each class is legal; rows of class -1 (suppressed) are in none."""
    kept = np.flatnonzero(classes >= 0).astype(np.int32)
    order, starts = kernels.hashing.group(classes[kept], int(classes.max(initial=-1)) + 1)
    jobs = [
        (
            constraint.rules,
            kept[order[starts[begin] : starts[end]]],
            starts[begin : end + 1] - starts[begin],
        )
        for begin, end in blocks_of(starts, JOB_ROWS)
    ]
    shortfalls = workers.map(kernels.legality.shortfalls, jobs, [len(job[1]) for job in jobs])
    return all((shortfall == 0).all() for shortfall in shortfalls)


def mixed(before: Classes, after: Classes) -> npt.NDArray[np.bool_]:
    """Return whether a class of ``after``, and last -1, has rows of two classes of ``before``."""
    lowest = np.full(int(after.max()) + 2, np.iinfo(np.int32).max)
    highest = np.full(len(lowest), -1)
    np.minimum.at(lowest, after, before)
    np.maximum.at(highest, after, before)
    return np.asarray(lowest < highest)
