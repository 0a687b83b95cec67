"""Classes that are unions of units, sets of rows that stay together.

A release method makes classes of one row per counted row: the middle row of the unit that it
belongs to. A unit joins the class of most of its rows, and units of classes that are too small join
other classes where that costs least. Classes of ``anonymize`` are then improved by simulated
annealing, which moves and exchanges units. Only quasi-identifiers have a part in it. Source: this
project.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from anon_sql import kernels
from anon_sql.core.running import Workers
from anon_sql.core.table import QuasiTable
from anon_sql.methods.anonymize import Anonymize
from anon_sql.methods.method import Call
from anon_sql.privacy.constraint import Constraint

Classes = npt.NDArray[np.int32]
Positions = npt.NDArray[np.int64]
Plain = Callable[[QuasiTable, Call[Any]], Classes]  # classes of k rows; -1 for suppressed ones
GROUP_UNITS = 1500  # in a group of near units
PROPOSALS = {"fast": 20, "good": 65, "best": 650}  # moves tried per unit and round, by effort
ROUNDS = ((0.4, 0.1), (0.15, 0.02))  # first and last temperature, in rows times NCP


def union_classes(
    table: QuasiTable,
    call: Call[Any],
    plain: Plain,
    unit_of: Positions,
    counted: npt.NDArray[np.bool_] | None = None,
) -> Classes:
    """Return the class of each unit, int32[u].

    call: whose k classes must have.
    plain: the release method.
    unit_of: int64[n], the unit of each row, in canonical order.
    counted: bool[n], the rows that count for k; the others only widen labels. None: all. Each unit
        has a counted row.
    """
    if counted is None:
        counted = np.ones(table.rows, np.bool_)
    k, units = call.constraint.k, int(unit_of.max()) + 1
    size = np.bincount(unit_of[counted], minlength=units)
    if size.sum() < 2 * k:
        return np.zeros(units, np.int32)
    middle = middles(table, unit_of, counted, size)
    home, count = _by_middles(table, replace(call, constraint=Constraint(k)), plain, middle, size)
    places = kernels.units.layout(table.model)
    order, starts = kernels.hashing.group(unit_of.astype(np.int32), units)
    box = kernels.units.boxes(table.points, table.model, places, starts, order)
    kernels.units.place(box, table.model, places, size, home, count)
    if count > 1 and isinstance(call.options, Anonymize):
        for number, heat in enumerate(ROUNDS):
            round_call = replace(call, seed=call.seed + number)  # divides units into other groups
            _anneal(box, table, places, size, home, table.points[middle], round_call, heat)
    return home


def _anneal(
    box: tuple[Any, ...],
    table: QuasiTable,
    places: "kernels.units.Layout",
    size: Positions,
    home: Classes,
    points: npt.NDArray[np.float64],
    call: Call[Anonymize],
    heat: tuple[float, float],
) -> None:
    """Anneal the classes of units in place: those of each group of near units by themselves.

    box: the boxes of the units, from ``kernels.units.boxes``.
    places: where boxes have their columns.
    size: int64[u], the rows of a unit that count.
    home: int32[u], the class of each unit, changed.
    points: float64[u, d], the middle of each unit.
    heat: the first and the last temperature.
    """
    workers = Workers(call.function, call.workers.threads)
    proposals = PROPOSALS[call.options.effort]
    tree = kernels.vp_tree.vp_partition(
        points,
        min(GROUP_UNITS, len(points)),
        metric="gower",
        vantage="max_spread",
        seed=call.seed,
        weights=table.model.weight,
        workers=workers,
    )
    group = np.empty(len(points), np.int64)
    group[tree.order] = np.repeat(np.arange(len(tree.starts) - 1), np.diff(tree.starts))
    votes = np.zeros((int(home.max()) + 1, len(tree.starts) - 1), np.int64)
    np.add.at(votes, (home, group), 1)
    group_of = votes.argmax(1)[home]
    parts = [
        units
        for units in (np.flatnonzero(group_of == g) for g in range(votes.shape[1]))
        if len(units)
    ]
    seed = call.seed % 2**64

    def annealed(units: Positions) -> Classes:
        class_ids, local = np.unique(home[units], return_inverse=True)
        near = kernels.k_member.near_in_group(
            points[units], table.model, np.random.default_rng([seed, units[0]])
        )
        local = local.astype(np.int32)
        kernels.units.anneal(
            tuple(values[units] for values in box), table.model, places, size[units], local,
            len(class_ids), call.constraint.k, near, proposals * len(units), *heat, np.uint64(seed),
        )  # fmt: skip
        return class_ids[local].astype(np.int32)

    annealed_classes = workers.map(
        annealed, [(units,) for units in parts], [proposals * len(part) for part in parts]
    )
    for units, classes in zip(parts, annealed_classes, strict=True):
        home[units] = classes


def middles(
    table: QuasiTable, unit_of: Positions, counted: npt.NDArray[np.bool_], size: Positions
) -> Positions:
    """Return for each unit the position of the counted row nearest to the mean of numbers."""
    rows = np.flatnonzero(counted)
    row_units = unit_of[rows]
    numbers = np.minimum(table.points[rows][:, table.model.kind != kernels.loss.SET], 2.0)
    mean = np.zeros((len(size), numbers.shape[1]))
    np.add.at(mean, row_units, numbers)
    mean /= size[:, None]
    distance = np.abs(numbers - mean[row_units]).sum(1)
    by_distance = np.lexsort((distance, row_units))
    firsts = np.searchsorted(row_units[by_distance], np.arange(len(size)))
    return rows[by_distance[firsts]]


def _by_middles(
    table: QuasiTable, call: Call[Any], plain: Plain, middle: Positions, size: Positions
) -> tuple[Classes, int]:
    """Return the class of each unit by the release method, -1 for none, and their number.

    The method gets a row per counted row: the middle of its unit, in canonical order.
    """
    units = np.argsort(middle, kind="stable")
    units_of_rows = np.repeat(units, size[units])
    if isinstance(call.options, Anonymize):  # annealing does better than its further steps
        call = replace(call, options=Anonymize(effort="fast"))
    classes = plain(table.only(middle[units_of_rows]), replace(call, rows=None, real=None))
    pairs, votes = np.unique(np.column_stack([units_of_rows, classes]), axis=0, return_counts=True)
    by_votes = np.lexsort((pairs[:, 1], -votes, pairs[:, 0]))
    firsts = by_votes[np.searchsorted(pairs[by_votes, 0], np.arange(len(size)))]
    home = pairs[firsts, 1]
    total = np.bincount(home[home >= 0], weights=size[home >= 0], minlength=int(home.max()) + 1)
    legal = total >= call.constraint.k
    if not legal.any():
        return np.zeros(len(size), np.int32), 1
    becomes = np.where(legal, np.cumsum(legal) - 1, -1)
    return np.where(home < 0, -1, becomes[home]).astype(np.int32), int(legal.sum())
