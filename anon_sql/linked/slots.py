"""Assign the rows of a table to slots.

A slot is one row of every person of a class, matched by least loss. A class has as many slots as
the member with the fewest rows has rows; the other rows are surplus. One level below, the rows of a
slot are a class. Rows below a link that is not a quasi-identifier have the slots of the nearest
table above.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from anon_sql import kernels
from anon_sql.core.running import Workers
from anon_sql.linked.options import LinkedCall
from anon_sql.linked.partition import LinkedPoints
from anon_sql.linked.rows import Bools, Ints, LinkedRows, lexical
from anon_sql.linked.schema import Schema

JOBS_PER_THREAD = 16  # parts of the matching for each thread


@dataclass
class SlotPlacement:
    """The slots of the n rows of a table.

    slot: int32[n], numbered from 0; -1 for rows without one. surplus: bool[n], rows without a
    slot whose parent is released. class_of: int32[n], the class of the person. owner: the table
    whose slots these are, the table itself if its number of rows is known.
    """

    slot: Ints
    surplus: Bools
    class_of: Ints
    owner: str


def place(
    call: LinkedCall,
    schema: Schema,
    tied: Mapping[str, LinkedRows],
    points: Mapping[str, LinkedPoints | None],
    classes: npt.NDArray[np.int32],
) -> dict[str, SlotPlacement]:
    """Return the places of all rows; classes: int32[n], of the persons."""
    placed: dict[str, SlotPlacement] = {}
    for node in schema.nodes.values():
        rows = tied[node.name]
        class_of = classes[rows.person]
        none = np.zeros(rows.count, np.bool_)
        if node.link is None:
            placed[node.name] = SlotPlacement(class_of, none, class_of, node.name)
            continue
        above = placed[node.link.parent]
        if not schema.is_countable(node.name):
            slot = above.slot[rows.parent]
            placed[node.name] = SlotPlacement(slot, none, class_of, above.owner)
            continue
        slot = _matched(call, rows, tied[node.link.parent], points[node.name], above.slot)
        surplus = (slot < 0) & (above.slot[rows.parent] >= 0)
        placed[node.name] = SlotPlacement(slot, surplus, class_of, node.name)
    return placed


def _matched(
    call: LinkedCall, rows: LinkedRows, above: LinkedRows, points: LinkedPoints | None, groups: Ints
) -> Ints:
    """Return the slot of each row, int32[n]; groups: the slot of each row above."""
    slot = np.full(rows.count, -1, np.int32)
    owners = np.flatnonzero(groups >= 0)
    owners = owners[lexical(groups[owners], above.order[owners])]
    if len(owners) == 0 or rows.count == 0:
        return slot
    rank = np.full(above.count, -1, np.int32)
    rank[owners] = np.arange(len(owners))
    slot_rows = np.flatnonzero(rank[rows.parent] >= 0)
    time = np.zeros(rows.count, np.int64) if points is None else points.time
    slot_rows = slot_rows[
        lexical(rank[rows.parent[slot_rows]], time[slot_rows], rows.order[slot_rows])
    ]
    starts = np.r_[0, np.bincount(rank[rows.parent[slot_rows]], minlength=len(owners)).cumsum()]
    begins = np.r_[np.flatnonzero(np.r_[True, np.diff(groups[owners]) != 0]), len(owners)]
    if points is None:
        array, model = np.zeros((len(slot_rows), 0)), _no_columns()
    else:
        table = points.table(slot_rows)
        array, model = table.points, table.model
        del table
    slot_of = np.full(len(slot_rows), -1, np.int32)
    counts = np.zeros(len(begins) - 1, np.int64)
    _in_parts(call, array, model, starts, begins, slot_of, counts)
    base = np.r_[0, counts.cumsum()[:-1]]
    group = np.repeat(np.arange(len(counts)), np.diff(starts[begins]))
    slot[slot_rows] = np.where(slot_of < 0, -1, base[group] + slot_of)
    return slot


def _in_parts(
    call: LinkedCall,
    array: npt.NDArray[np.float64],
    model: object,
    starts: Ints,
    begins: Ints,
    slot_of: npt.NDArray[np.int32],
    counts: Ints,
) -> None:
    """Match groups in parts of about as much work, on the threads of the call."""
    group_rows = np.diff(starts[begins])
    work = np.r_[0, (group_rows + 1).cumsum()]
    workers = Workers(call.function, call.threads)
    cuts = np.linspace(0, work[-1], JOBS_PER_THREAD * workers.threads + 1)
    edges = np.unique(np.searchsorted(work, cuts))
    edges[0], edges[-1] = 0, len(counts)
    pairs = [(int(a), int(b)) for a, b in pairwise(edges) if a < b]
    jobs = [(array, model, starts, begins, a, b, slot_of, counts) for a, b in pairs]
    sizes = [int(work[b] - work[a]) for a, b in pairs]
    workers.map(kernels.slot_matching.match_groups, jobs, sizes)


def _no_columns() -> object:
    """Return the model of no columns."""
    ints, floats = np.zeros(0, np.int64), np.zeros(0)
    return kernels.loss.LossModel(ints, ints, floats, ints, ints, ints, floats, floats)
