"""Choose rows to suppress, where the others then lose less than the suppressed rows lose.

A suppressed row loses everything. So it pays to suppress a row that costs its class more: it widens
labels of many others. In turns, rows that cost more leave classes that stay legal without them, and
the rows of most cost leave all classes, whereupon the other rows are partitioned anew. The best of
all that was seen is kept. Source: this project.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from anon_sql.core.table import QuasiTable
from anon_sql.core.workers import Workers
from anon_sql.methods import Call
from anon_sql.methods.parts.improving import total_loss
from anon_sql.methods.parts.joining import dense
from anon_sql.methods.parts.leaving import costs_of, dearest, peel

TURNS = 4  # partitions that are made besides the first; more gain nothing on Adult
EQUAL = 1e-6  # losses that differ by less are the same

Classes = npt.NDArray[np.int32]
Again = Callable[[QuasiTable, Call], Classes]


@dataclass(frozen=True)
class Suppression:
    """What was found.

    classes: int32[n], -1 for suppressed. lost, before: the sum of |E| * NCP(E), suppressed rows
    included, and that of the partition without suppression. costly: rows that cost their class more
    than they would lose. refused: partitions that lost less, but whose suppressed rows could not
    be shown or whose other rows not be released.
    """

    classes: Classes
    lost: float
    before: float
    costly: int
    refused: int


def suppress(table: QuasiTable, call: Call, most: int, again: Again) -> Suppression:
    """Return the partition of least loss of which at most ``most`` rows are suppressed.

    again: partitions some rows into legal classes. Rows are chosen with the effort 'good'; 'best'
    then searches without and with suppressed rows, in half of the time each.
    """
    if call.options["effort"] != "best":
        return _turns(table, call, most, again)
    found = _turns(table, _with(call, effort="good"), most, again)
    kept = found.classes >= 0
    half = call if kept.all() else _with(call, time_limit=call.options["time_limit"] / 2)
    plain = again(table, half)
    before = total_loss(table, plain, call.workers)
    if kept.all():
        return replace(found, classes=plain, lost=before, before=before)
    classes = found.classes.copy()
    classes[kept] = again(table.only(kept), replace(half, constraint=call.constraint.only(kept)))
    lost = loss_of(table, classes, call.workers)
    better = classes if lost < before else plain
    return replace(found, classes=better, lost=min(lost, before), before=before)


def _with(call: Call, **options: Any) -> Call:
    return replace(call, options={**call.options, **options})


def _turns(table: QuasiTable, call: Call, most: int, again: Again) -> Suppression:
    """Return the best of some partitions of which more and more rows are suppressed."""
    whole, limits = float(table.model.weight.sum()), call.constraint
    classes = again(table, call)
    lost = before = total_loss(table, classes, call.workers)
    costs = costs_of(table, classes, call.workers)
    best, refused, costly = classes, 0, int((costs > whole).sum())
    for turn in range(TURNS + 1):
        peeled = peel(table, classes, call, most, costs)
        found = loss_of(table, peeled, call.workers)
        if found < lost - EQUAL:
            fitting = fits(peeled, call)
            refused += not fitting
            best, lost = (peeled, found) if fitting else (best, lost)
        starred = int((classes < 0).sum())
        least = 0 if starred else limits.smallest  # fewer are no class
        room = min(max(-(-most // TURNS), least), most - starred)
        leaving = dearest(costs, whole, room, least) & (classes >= 0)
        kept = (classes >= 0) & ~leaving
        if turn == TURNS or not leaving.any() or not limits.allows(np.flatnonzero(kept)):
            break
        own = replace(call, constraint=limits.only(kept))
        classes = np.full(table.rows, -1, np.int32)
        classes[kept] = again(table.only(kept), own)
        costs = costs_of(table, classes, call.workers)
    return Suppression(best, lost, before, costly, refused)


def loss_of(table: QuasiTable, classes: Classes, workers: Workers) -> float:
    """Return the sum of |E| * NCP(E); a suppressed row loses every column."""
    kept = classes >= 0
    starred = int((~kept).sum()) * float(table.model.weight.sum())
    return total_loss(table.only(kept), dense(classes[kept]), workers) + starred


def fits(classes: Classes, call: Call) -> bool:
    """Return whether the suppressed rows may be a class, and the others be released.

    Rows that are left out of the release must be k, since ``audit`` counts them as a class.
    """
    starred, limits = np.flatnonzero(classes < 0), call.constraint
    if not limits.allows(np.flatnonzero(classes >= 0)):
        return False
    if call.shown:
        return limits.allows(starred)
    rules = limits.rules
    counted = starred if rules is None or not rules.persons else rules.keys[-1][starred]
    return len(np.unique(counted)) >= limits.k
