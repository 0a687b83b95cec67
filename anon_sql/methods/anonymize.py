"""Anonymize with the least information loss (NCP) that the effort allows; the project's own method.

Rows are suppressed where the others then lose less than the suppressed rows lose. A suppressed row
loses everything. So it pays to suppress a row that costs its class more: it widens labels of many
others. In turns, rows that cost more leave classes that stay legal without them, and the rows of
most cost leave all classes, whereupon the other rows are partitioned anew. The best of all that was
seen is kept. Source: this project.

The method combines prior work: an order of rows that keeps near ones together and the optimal cut
of that order (Ghinita et al. 2007), greedy orders (after k-member, Byun et al. 2007, and, for
columns with hierarchies, top-down splitting, Xu et al. 2006), and simulated annealing (Kirkpatrick
et al. 1983). Where the release shows means or medians of classes, the loss is the sum of squares in
them, see ``microaggregation``. Every class has k to 2k - 1 rows. l, t and persons are satisfied by
a price on what groups fall short of in the cut, and by merging classes and splitting them again
within buckets of like sensitive values (after Cao et al. 2011, SABRE); then a class may have more
rows. A large table that then loses much more than its sample is also parted within such buckets,
and each part made legal by itself. Annealing follows for 'good' too, with a price on what classes
fall short of, and in a table of at most SMALL rows in any case. No row is suppressed, unless
``suppression_limit`` allows it and all rows together then lose less (below).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from anon_sql import kernels
from anon_sql.core.parameters import Choice, Number, OrNull, Positive, Whole, param
from anon_sql.core.running import Workers, silent
from anon_sql.core.table import QuasiTable
from anon_sql.errors import AnonError, Argument, Parameter
from anon_sql.methods.legal_classes import merge_until_legal, split_classes
from anon_sql.methods.method import Call, Partition, method
from anon_sql.methods.microaggregation import microaggregate, points_of, sum_of_squares
from anon_sql.methods.ordering import JOB, Order, curve_order, cut_order
from anon_sql.methods.searching import better_orders, improve, total_loss, working_time
from anon_sql.methods.searching_few import improve_few
from anon_sql.methods.suppressed_rows import costs_of, dearest, fits, loss_of, peel, rows_of_share

TURNS = 4  # partitions that are made besides the first; more gain nothing on Adult
EQUAL = 1e-6  # losses that differ by less are the same

Classes = npt.NDArray[np.int32]
Again = Callable[[QuasiTable, Call[Any], Order | None], tuple[Classes, Order]]


@dataclass(frozen=True)
class Anonymize:
    """The parameters of ``anonymize``."""

    effort: str = param(
        "good",
        Choice(("good", "fast", "best")),
        "search effort: 'fast', 'good' (about three times as long) or 'best' (continues "
        "from the result of 'good'). A higher effort loses less information",
    )
    time_limit: float = param(
        30,
        Positive(),
        "seconds that 'best' may search, not counting the compilation of kernels",
    )
    rounds: int | None = param(
        None,
        OrNull(Whole(0)),
        "number of rounds that 'best' searches, without a time limit, so that the same call gives "
        "the same release",
        null="as many as time_limit allows",
    )
    suppression_limit: float | None = param(
        None,
        OrNull(Number(0, 1)),
        "largest share of rows to suppress, 0…1, where that lowers the loss of all rows (a "
        "suppressed row loses 1); anonymize_stats shows what it saved",
        null="none",
    )


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


def suppress(table: QuasiTable, call: Call[Anonymize], most: int, again: Again) -> Suppression:
    """Return the partition of least loss of which at most ``most`` rows are suppressed.

    again: partitions some rows into legal classes, see ``partitioned``. Rows are chosen with the
    effort 'good'; 'best' then searches without and with suppressed rows, in half of the time each.
    """
    if call.options.effort != "best":
        return _turns(table, call, most, again)
    found = _turns(table, _with(call, effort="good"), most, again)
    kept = found.classes >= 0
    half = call if kept.all() else _with(call, time_limit=call.options.time_limit / 2)
    plain, _ = again(table, half, None)
    before = total_loss(table, plain, call.workers)
    if kept.all():
        return replace(found, classes=plain, lost=before, before=before)
    classes = found.classes.copy()
    own = replace(half, constraint=call.constraint.only(kept))
    classes[kept], _ = again(table.only(kept), own, None)
    lost = loss_of(table, classes, call.workers)
    better = classes if lost < before else plain
    return replace(found, classes=better, lost=min(lost, before), before=before)


def _with(call: Call[Anonymize], **options: Any) -> Call[Anonymize]:
    return replace(call, options=replace(call.options, **options))


def _turns(table: QuasiTable, call: Call[Anonymize], most: int, again: Again) -> Suppression:
    """Return the best of some partitions of which more and more rows are suppressed.

    The first finds the order that the others cut, without the rows that they suppress. Ends where
    a turn gains nothing, or where rows cost less than they would lose.
    """
    full_loss, limits = float(table.model.weight.sum()), call.constraint
    classes, order = again(table, call, None)
    lost = before = total_loss(table, classes, call.workers)
    costs = costs_of(table, classes, call.workers)
    best, refused, costly = classes, 0, int((costs > full_loss).sum())
    for turn in range(TURNS + 1):
        peeled = peel(table, classes, call, most, costs)
        suppresses = bool((peeled < 0).any())
        found = loss_of(table, peeled, call.workers) if suppresses else before
        gains = found < lost - EQUAL
        if gains:
            fitting = fits(peeled, call)
            refused += not fitting
            best, lost = (peeled, found) if fitting else (best, lost)
        suppressed = int((classes < 0).sum())
        least = 0 if suppressed else limits.smallest  # fewer are no class
        quota = min(max(-(-most // TURNS), least), most - suppressed)
        removed = dearest(costs, full_loss, quota, least) & (classes >= 0)
        kept = (classes >= 0) & ~removed
        saved = float(costs[removed].sum()) - full_loss * max(int(removed.sum()), least)
        if turn == TURNS or (turn and not gains) or saved <= 0:
            break
        if not limits.allows(np.flatnonzero(kept)):
            break
        own = replace(call, constraint=limits.only(kept))
        place = np.cumsum(kept, dtype=np.int32) - np.int32(1)
        classes = np.full(table.rows, -1, np.int32)
        classes[kept], _ = again(table.only(kept), own, place[order[kept[order]]])
        costs = costs_of(table, classes, call.workers)
    return Suppression(best, lost, before, costly, refused)


HARD = 1.5  # times the loss of a cut: of legal classes, from which on other cuts are tried
HOPELESS = 5.0  # the same, from which on only cuts into much larger groups are
LARGER = 4  # times the least rows: the first of those groups
PRICED = 0  # rows of a group: stands for the cut into groups of k with a price
TRIED, STRETCHES = 1 << 17, 16  # rows of a large table that tell which cut is best
ALIKE = 1.25  # times their loss a row: all rows then lose at most
PART, PARTS = 1 << 15, 32  # least rows of a part of a large table, and about how many parts
GROUPS = 2  # times the least rows: groups of a part
PIECE = 1 << 14  # rows that are ordered by themselves, where a search follows
SMALL = 800  # most rows of a small table, in which 'good' searches at k alone too
LOW, HIGH = 3.0, 30.0  # price of shortfalls, before classes merge and once they are legal
FIRM = 300.0  # the same, of classes that no cut makes legal at little loss
ROUNDS = 2  # of the search of 'good'
MOST = (1 << 15, 1 << 8)  # rows of classes that are searched; where values are many, fewer
PROPOSALS = (6, 32, 1_400_000)  # least and most a row in such a round, and how many it aims at
WIDE = 2  # times as many at most where classes have more than the least rows
COMPARED = (1 << 9, 1 << 26)  # rows compared with each there: at least, and with all of them
FEW = (32, 512)  # least and most a row in a small table, where they are as many as the rows


@method(
    "anonymize",
    takes=Anonymize,
    what="Orders of near rows, cut where the loss is least, then improved by a search.",
    paper="This project's own, after Ghinita et al. 2007 and Byun et al. 2007",
    cost="n log n + n k",
    notes={
        "suppressed": "'drop' is refused if more rows are suppressed than suppression_limit "
        "allows.",
        "seed": "Only effort 'best' makes any; with 'mean' or 'median', every effort does.",
        "hierarchy": "Columns in it are labelled by its nodes and scored by the leaves below them.",
    },
)
def anonymize(table: QuasiTable, call: Call[Anonymize]) -> Partition:
    """Return classes of k to 2k - 1 rows, or larger ones where more than k is required.

    'good' cuts the best of a curve and greedy orders, and improves the classes of a small table as
    'best' does all, by simulated annealing. With a suppression_limit stats: most (rows), costly,
    refused, before and lost as in ``Suppression``.
    """
    most = rows_of_share(call.options.suppression_limit or 0, table.rows)
    if most == 0:
        return Partition(partitioned(table, call)[0])
    if call.one_value:
        raise AnonError(
            call.function,
            Parameter("suppression_limit") + " must be 0 where means or medians are shown",
            Argument("suppression_limit", call.options.suppression_limit),
            "leave it out, or show labels",
        )
    found = suppress(table, call, most, partitioned)
    stats = {"most": most, "costly": found.costly, "refused": found.refused}
    return Partition(found.classes, {**stats, "before": found.before, "lost": found.lost})


def partitioned(
    table: QuasiTable, call: Call[Anonymize], known: Order | None = None
) -> tuple[Classes, Order]:
    """Return legal classes, none suppressed, and the order that was cut.

    known: the order to cut; None to look for one.
    """
    started = working_time()
    effort, k = call.options.effort, call.constraint.smallest
    order = curve_order(table, call.workers) if known is None else known
    x = points_of(table, k) if call.one_value else None
    orders = [order]
    if effort != "fast" and known is None and (x is None or call.constraint.rules is not None):
        piece = JOB if call.constraint.rules is None else PIECE
        orders += better_orders(table, order, k, call.workers, piece)
    if x is not None:
        return of_means(table, x, orders, call, started), order
    if call.constraint.rules is None:
        classes, best = cut(table, orders, k, call.workers)
        if effort != "fast" and is_small(table, call):
            classes = improve_few(table, classes, k, call.workers)
        return search(table, classes, call, started, 1.0) if effort == "best" else classes, best
    if effort == "fast":
        return from_price(table, order, call), order
    found, best = from_cuts(table, orders, call)
    starts = [found]
    if is_small(table, call):
        few = improve_few(table, cut_into(table, call, best, PRICED), k, call.workers)
        starts.append(made_legal(table, few, call, order))
    ends = [
        replace(made_legal(table, polished(table, start, call), call, order), price=start.price)
        for start in starts
    ]
    found = least([*starts, *ends])
    if effort == "best":
        first = cut_into(table, call, best, PRICED)
        before = search(table, first, call, started, 0.5, LOW)
        found = least([found, made_legal(table, before, call, order)])
        most = widest(found.classes, call)
        after = search(table, found.classes, call, started, 1.0, found.price, most)
        found = least([found, made_legal(table, after, call, order)])
    return found.classes, best


def is_small(table: QuasiTable, call: Call[Anonymize]) -> bool:
    """Return whether the whole table has at most SMALL rows, so that a search takes little time."""
    return (table.rows if call.rows is None else call.rows) <= SMALL


def of_means(
    table: QuasiTable,
    x: "kernels.microaggregation.Points",
    orders: list[Order],
    call: Call[Anonymize],
    started: float,
) -> Classes:
    """Return the classes of least SSE of ``x``; with l, t or persons also those of least NCP."""
    k, rounds, limit = call.constraint.smallest, call.options.rounds, call.options.time_limit
    until = started + limit if rounds is None else None
    classes = microaggregate(x, orders[0], k, call, until)
    if call.constraint.rules is None:
        return classes
    if call.options.effort == "fast":
        other = from_price(table, orders[0], call)
    else:
        other = from_cuts(table, orders, call)[0].classes
    found = [legal(table, classes, call, orders[0]), other]
    return min(found, key=lambda classes: sum_of_squares(x, classes))


def cut(table: QuasiTable, orders: list[Order], k: int, workers: Workers) -> tuple[Classes, Order]:
    """Return the classes of least loss that some orders are cut into, and their order."""
    found = [(*cut_order(table, each, k, workers), each) for each in orders]
    classes, _, best = min(found, key=lambda cut: cut[1])
    return classes, best


@dataclass(frozen=True)
class Found:
    """Legal classes, int32[n], none suppressed, and the sum of |E| * NCP(E).

    price: of shortfalls in the search that follows.
    """

    classes: Classes
    lost: float
    price: float = HIGH


def from_price(table: QuasiTable, order: Order, call: Call[Anonymize]) -> Classes:
    """Return legal classes from the cut of an order with a price, those of 'fast'."""
    return legal(table, cut_into(table, call, order, PRICED), call, order)


def from_cuts(table: QuasiTable, orders: list[Order], call: Call[Anonymize]) -> tuple[Found, Order]:
    """Return legal classes from the best cut of the best of some orders, and that order.

    Which cut is best, some rows of a large table tell. Where all rows then lose much more than
    those, every cut is tried, or where groups much larger than k were best, ``part_by_part``.
    """
    k, curve = call.constraint.smallest, orders[0]
    plain, best = cut(table, orders, k, call.workers)
    part = stretches(table, call, best, curve) if table.rows > 2 * TRIED else None
    if part is None:
        return best_cut(table, call, plain, best, curve)[0], best
    few, few_call, few_best, few_curve = part
    own = cut_into(few, few_call, few_best, k)
    told, size = best_cut(few, few_call, own, few_best, few_curve)
    groups = plain if size == k else cut_into(table, call, best, size)
    found = made_legal(table, groups, call, curve)
    if found.lost / table.rows <= ALIKE * told.lost / few.rows:
        return found, best
    if size >= LARGER * k:
        return least([found, part_by_part(table, call, best, curve)]), best
    return best_cut(table, call, plain, best, curve)[0], best


def part_by_part(table: QuasiTable, call: Call[Anonymize], best: Order, curve: Order) -> Found:
    """Return legal classes of a table whose parts, legal ones, are cut and merged by themselves.

    Where rows of rare values need many others, merging takes in half of a large table at last, and
    uses up what the rules leave free. Cuts within buckets leave it to each part.
    """
    size, threads = GROUPS * call.constraint.smallest, call.workers
    whole, rows = np.zeros(table.rows, np.int32), max(PART, table.rows // PARTS)
    parts = split_classes(table, whole, call.constraint, threads, rows, plain=False)
    count = int(parts.max()) + 1
    if count == 1:
        return made_legal(table, cut_into(table, call, best, size), call, curve)
    order, starts = kernels.hashing.group(parts, count)
    place = np.empty(table.rows, np.int32)  # of each row in its part
    place[order] = np.arange(table.rows) - np.repeat(starts[:-1], np.diff(starts))
    own_best, own_curve = (
        place[each[kernels.hashing.group(parts[each], count)[0]]] for each in (best, curve)
    )

    def classes_of(first: int, end: int) -> Classes:
        own = table.only(order[first:end])
        limits = call.constraint.only(order[first:end])
        own_call = replace(call, constraint=limits, workers=Workers(call.function, 1))
        with silent():
            groups = cut_into(own, own_call, own_best[first:end], size)
            return legal(own, groups, own_call, own_curve[first:end])

    classes, used, jobs = np.empty(table.rows, np.int32), 0, list(pairwise(starts.tolist()))
    made = threads.map(classes_of, jobs, np.diff(starts).tolist())
    for (first, end), found in zip(jobs, made, strict=True):
        classes[order[first:end]] = found + np.int32(used)
        used += int(found.max()) + 1
    return Found(classes, total_loss(table, classes, threads), FIRM)


def best_cut(
    table: QuasiTable, call: Call[Anonymize], plain: Classes, best: Order, curve: Order
) -> tuple[Found, int]:
    """Return the legal classes of least loss, and the least rows of the groups they come from.

    plain: the cut into groups of k. Where merging adds much to the loss of the cut with a price,
    plain cuts are tried, into groups of k, 2k and more, and where it multiplies the loss from 4k
    on: larger groups need less merging, and a price tells little where no group can be legal.
    """
    k, size = call.constraint.smallest, PRICED
    found = made_legal(table, cut_into(table, call, best, PRICED), call, curve)
    least = total_loss(table, plain, call.workers)
    more = k if found.lost < HOPELESS * least else LARGER * k
    while found.lost > HARD * least and more <= table.rows:
        groups = plain if more == k else cut_into(table, call, best, more)
        other = made_legal(table, groups, call, curve)
        if other.lost < found.lost - EQUAL:
            found, size = other, more
        elif more > k:
            break
        more *= 2
    return found, size


def cut_into(table: QuasiTable, call: Call[Anonymize], order: Order, size: int) -> Classes:
    """Return an order cut into groups of at least ``size`` rows; PRICED: of k, with a price."""
    k, rules = call.constraint.smallest, call.constraint.rules
    if size == PRICED:
        return cut_order(table, order, k, call.workers, rules)[0]
    return cut_order(table, order, size, call.workers)[0]


def stretches(
    table: QuasiTable, call: Call[Anonymize], best: Order, curve: Order
) -> tuple[QuasiTable, Call[Anonymize], Order, Order] | None:
    """Return TRIED rows of a table, in STRETCHES of its best order, their call and their orders.

    None if they cannot be legal.
    """
    starts = np.arange(STRETCHES)[:, None] * (table.rows // STRETCHES)
    kept = np.zeros(table.rows, np.bool_)
    kept[best[starts + np.arange(TRIED // STRETCHES)]] = True
    if not call.constraint.allows(np.flatnonzero(kept)):
        return None
    place = np.cumsum(kept, dtype=np.int32) - np.int32(1)
    few_best, few_curve = (place[order[kept[order]]] for order in (best, curve))
    own = replace(call, constraint=call.constraint.only(kept))
    return table.only(kept), own, few_best, few_curve


def legal(table: QuasiTable, classes: Classes, call: Call[Anonymize], order: Order) -> Classes:
    """Return classes merged until legal and split again where the parts stay legal."""
    merged = merge_until_legal(table, classes, call.constraint, call.workers, order)
    return split_classes(table, merged, call.constraint, call.workers)


def made_legal(table: QuasiTable, classes: Classes, call: Call[Anonymize], order: Order) -> Found:
    """Return the same and what they lose."""
    found = legal(table, classes, call, order)
    return Found(found, total_loss(table, found, call.workers))


def least(found: list[Found]) -> Found:
    """Return the classes of least loss, the first of equals."""
    return min(found, key=lambda each: round(each.lost, 9))


def widest(classes: Classes, call: Call[Anonymize]) -> int:
    """Return the rows of the largest class whose rows are exchanged once classes are legal."""
    rules = call.constraint.rules
    assert rules is not None
    limit = MOST[0] if kernels.guard.few_values(rules) and not rules.pairs else MOST[1]
    return max(2 * call.constraint.smallest - 1, min(int(np.bincount(classes).max()), limit))


def polished(table: QuasiTable, start: Found, call: Call[Anonymize]) -> Classes:
    """Return the classes after a short search, which depends on no seed and no clock."""
    few, many, aim = PROPOSALS
    least = call.constraint.smallest * (int(start.classes.max()) + 1)
    aim = round(aim * min(table.rows / least, WIDE))  # wide classes have more to gain
    row = (
        np.clip(table.rows, *FEW)
        if is_small(table, call)
        else np.clip(aim // table.rows, few, many)
    )
    found = improve(
        table,
        start.classes,
        call.constraint.smallest,
        seed=0,
        workers=call.workers,
        rounds=ROUNDS,
        rules=call.constraint.rules,
        price=start.price,
        most=widest(start.classes, call),
        lost=start.lost,
        effort=(int(row),),
        compared=max(COMPARED[0], COMPARED[1] // max(table.rows, 1)),
    )
    return found.classes


def search(
    table: QuasiTable,
    classes: Classes,
    call: Call[Anonymize],
    started: float,
    share: float,
    price: float = 0.0,
    most: int | None = None,
) -> Classes:
    """Return the classes after simulated annealing.

    share: the part of the time limit, counted from ``started``, at which the search ends. Where
    rounds are given, no clock decides the result.
    """
    rounds, limit = call.options.rounds, call.options.time_limit
    found = improve(
        table,
        classes,
        call.constraint.smallest,
        seed=call.seed,
        workers=call.workers,
        rounds=None if rounds is None else -(-rounds // 2) if price else rounds,
        seconds=max(limit * share - (working_time() - started), 0.0) if rounds is None else None,
        rules=call.constraint.rules,
        price=price,
        most=most,
    )
    return found.classes
