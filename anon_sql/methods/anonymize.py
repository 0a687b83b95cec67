"""Anonymize with the least information loss (NCP) that the effort allows; the project's own method.

The method combines prior work: an order of rows that keeps near ones together and the optimal cut
of that order (Ghinita et al. 2007), greedy orders (after k-member, Byun et al. 2007, and, for
columns with hierarchies, top-down splitting, Xu et al. 2006), and simulated annealing (Kirkpatrick
et al. 1983). If the release shows means or medians of classes, the loss is the sum of squares in
them, see ``microaggregation``. Every class has k to 2k - 1 rows.

l, t and persons are satisfied by a price on what groups fall short of in the cut, and by merging
classes and splitting them again within buckets of like sensitive values (after Cao et al. 2011,
SABRE); then a class may have more rows. A large table that then loses much more than its sample is
also parted within such buckets, and each part made legal by itself. Annealing follows for 'good'
too, with a price on what classes fall short of, and in a table of at most SMALL_ROWS rows in any
case.

No row is suppressed, unless ``suppression_limit`` allows it and all rows together then lose less. A
suppressed row loses everything, so that it pays to suppress a row that costs its class more: it
widens labels of many others. In turns, rows that cost more leave classes that stay legal without
them, and the rows of most cost leave all classes, whereupon the other rows are partitioned anew.
The best of all partitions is kept.
"""

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

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
from anon_sql.methods.ordering import JOB_ROWS, Order, curve_order, cut_order
from anon_sql.methods.searching import better_orders, improve, total_loss, working_time
from anon_sql.methods.searching_few import improve_few
from anon_sql.methods.suppressed_rows import TIE_LOSS, rows_of_share, suppress

Classes = npt.NDArray[np.int32]


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


HARD_FACTOR = 1.5  # times the loss of a cut: if legal classes lose more, other cuts are tried
HOPELESS_FACTOR = 5.0  # the same, from which on only cuts into much larger groups are tried
LARGER_FACTOR = 4  # times the least rows: the first of those groups
PRICED = 0  # in place of the rows of a group: the cut into groups of k with a price
SAMPLE_ROWS, SAMPLE_STRETCHES = 1 << 17, 16  # of a large table, on which cuts are compared
SAMPLE_TOLERANCE = 1.25  # times the sample's loss per row: all rows lose at most
PART_ROWS, AIMED_PARTS = 1 << 15, 32  # least rows of a part of a large table, number of parts
PART_GROUP_FACTOR = 2  # times the least rows: groups of a part
SEARCHED_PIECE_ROWS = 1 << 14  # that are ordered by themselves, if a search follows
SMALL_ROWS = 800  # of a small table, at most, in which 'good' searches at k alone too
LOW_PRICE, HIGH_PRICE = 3.0, 30.0  # of shortfalls, before classes merge and once they are legal
FIRM_PRICE = 300.0  # the same, of classes that no cut makes legal at little loss
GOOD_ROUNDS = 2  # of the search of 'good'
COUNTED_CLASS_ROWS = 1 << 15  # of a class that is searched, at most
SORTED_CLASS_ROWS = 1 << 8  # the same, if sensitive values are many, so that keys are sorted
ROW_PROPOSALS = (6, 32)  # per row in such a round, least and most
AIMED_PROPOSALS = 1_400_000  # of all rows in such a round
WIDE_FACTOR = 2  # times as many at most, if classes have more than the least rows
MIN_COMPARED_ROWS = 1 << 9  # with each row in such a round
AIMED_PAIRS = 1 << 26  # of rows that are compared in such a round
SMALL_ROW_PROPOSALS = (32, 512)  # per row of a small table, least and most; else as many as rows


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
    """Return classes of k to 2k - 1 rows, or larger ones if more than k is required.

    'good' cuts the best of a curve and greedy orders, and improves the classes of a small table as
    'best' does all, by simulated annealing. With a suppression_limit stats: most (rows), costly,
    refused, before and lost as in ``Suppression``.
    """
    max_suppressed = rows_of_share(call.options.suppression_limit or 0, table.rows)
    if max_suppressed == 0:
        return Partition(partitioned(table, call)[0])
    if call.one_value:
        raise AnonError(
            call.function,
            Parameter("suppression_limit") + " must be 0 where means or medians are shown",
            Argument("suppression_limit", call.options.suppression_limit),
            "leave it out, or show labels",
        )
    suppression = suppress(table, call, max_suppressed, partitioned)
    stats = {"most": max_suppressed, "costly": suppression.costly, "refused": suppression.refused}
    return Partition(
        suppression.classes, {**stats, "before": suppression.before, "lost": suppression.lost}
    )


def partitioned(
    table: QuasiTable, call: Call[Anonymize], given_order: Order | None = None
) -> tuple[Classes, Order]:
    """Return legal classes, none suppressed, and the order that was cut.

    given_order: the order to cut; None to look for one.
    """
    started = working_time()
    effort, k = call.options.effort, call.constraint.smallest
    order = curve_order(table, call.workers) if given_order is None else given_order
    x = points_of(table, k) if call.one_value else None
    orders = [order]
    if (
        effort != "fast"
        and given_order is None
        and (x is None or call.constraint.rules is not None)
    ):
        piece = JOB_ROWS if call.constraint.rules is None else SEARCHED_PIECE_ROWS
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
    legal_cut, best = from_cuts(table, orders, call)
    starts = [legal_cut]
    if is_small(table, call):
        improved = improve_few(table, cut_into(table, call, best, PRICED), k, call.workers)
        starts.append(made_legal(table, improved, call, order))
    ends = [
        replace(made_legal(table, polished(table, start, call), call, order), price=start.price)
        for start in starts
    ]
    legal_cut = of_least_loss([*starts, *ends])
    if effort == "best":
        first = cut_into(table, call, best, PRICED)
        searched = search(table, first, call, started, 0.5, LOW_PRICE)
        legal_cut = of_least_loss([legal_cut, made_legal(table, searched, call, order)])
        class_rows = widest(legal_cut.classes, call)
        searched_again = search(
            table, legal_cut.classes, call, started, 1.0, legal_cut.price, class_rows
        )
        legal_cut = of_least_loss([legal_cut, made_legal(table, searched_again, call, order)])
    return legal_cut.classes, best


def is_small(table: QuasiTable, call: Call[Anonymize]) -> bool:
    """Return whether the whole table has at most SMALL_ROWS rows, so that a search is short."""
    return (table.rows if call.rows is None else call.rows) <= SMALL_ROWS


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
        of_least_ncp = from_price(table, orders[0], call)
    else:
        of_least_ncp = from_cuts(table, orders, call)[0].classes
    candidates = [legal(table, classes, call, orders[0]), of_least_ncp]
    return min(candidates, key=lambda classes: sum_of_squares(x, classes))


def cut(table: QuasiTable, orders: list[Order], k: int, workers: Workers) -> tuple[Classes, Order]:
    """Return the classes of least loss that some orders are cut into, and their order."""
    cuts = [(*cut_order(table, order, k, workers), order) for order in orders]
    classes, _, best = min(cuts, key=lambda cut: cut[1])
    return classes, best


@dataclass(frozen=True)
class LegalClasses:
    """Legal classes, none suppressed, and their loss.

    classes: int32[n].
    lost: the sum of |E| * NCP(E).
    price: of shortfalls in the search that follows.
    """

    classes: Classes
    lost: float
    price: float = HIGH_PRICE


def from_price(table: QuasiTable, order: Order, call: Call[Anonymize]) -> Classes:
    """Return legal classes from the cut of an order with a price, those of 'fast'."""
    return legal(table, cut_into(table, call, order, PRICED), call, order)


def from_cuts(
    table: QuasiTable, orders: list[Order], call: Call[Anonymize]
) -> tuple[LegalClasses, Order]:
    """Return legal classes from the best cut of the best of some orders, and that order.

    Some rows of a large table determine which cut is best. If all rows then lose much more than
    those, every cut is tried, or, if groups much larger than k were best, ``part_by_part``.
    """
    k, curve = call.constraint.smallest, orders[0]
    plain, best = cut(table, orders, k, call.workers)
    sampled = stretches(table, call, best, curve) if table.rows > 2 * SAMPLE_ROWS else None
    if sampled is None:
        return best_cut(table, call, plain, best, curve)[0], best
    sample, sample_call, sample_best, sample_curve = sampled
    sample_cut = cut_into(sample, sample_call, sample_best, k)
    sample_classes, size = best_cut(sample, sample_call, sample_cut, sample_best, sample_curve)
    groups = plain if size == k else cut_into(table, call, best, size)
    whole = made_legal(table, groups, call, curve)
    if whole.lost / table.rows <= SAMPLE_TOLERANCE * sample_classes.lost / sample.rows:
        return whole, best
    if size >= LARGER_FACTOR * k:
        return of_least_loss([whole, part_by_part(table, call, best, curve)]), best
    return best_cut(table, call, plain, best, curve)[0], best


def part_by_part(
    table: QuasiTable, call: Call[Anonymize], best: Order, curve: Order
) -> LegalClasses:
    """Return legal classes of a table whose parts, legal ones, are cut and merged by themselves.

    If rows of rare values need many others, merging takes in half of a large table at last, and
    uses up what the rules leave free. Cuts within buckets leave it to each part.
    """
    size, workers = PART_GROUP_FACTOR * call.constraint.smallest, call.workers
    whole, rows = np.zeros(table.rows, np.int32), max(PART_ROWS, table.rows // AIMED_PARTS)
    parts = split_classes(table, whole, call.constraint, workers, rows, plain=False)
    count = int(parts.max()) + 1
    if count == 1:
        return made_legal(table, cut_into(table, call, best, size), call, curve)
    order, starts = kernels.hashing.group(parts, count)
    position = np.empty(table.rows, np.int32)  # of each row in its part
    position[order] = np.arange(table.rows) - np.repeat(starts[:-1], np.diff(starts))
    part_best, part_curve = (
        position[order_[kernels.hashing.group(parts[order_], count)[0]]] for order_ in (best, curve)
    )

    def classes_of(first: int, end: int) -> Classes:
        part = table.only(order[first:end])
        limits = call.constraint.only(order[first:end])
        part_call = replace(call, constraint=limits, workers=Workers(call.function, 1))
        with silent():
            groups = cut_into(part, part_call, part_best[first:end], size)
            return legal(part, groups, part_call, part_curve[first:end])

    classes, used, jobs = np.empty(table.rows, np.int32), 0, list(pairwise(starts.tolist()))
    part_classes = workers.map(classes_of, jobs, np.diff(starts).tolist())
    for (first, end), local_classes in zip(jobs, part_classes, strict=True):
        classes[order[first:end]] = local_classes + np.int32(used)
        used += int(local_classes.max()) + 1
    return LegalClasses(classes, total_loss(table, classes, workers), FIRM_PRICE)


def best_cut(
    table: QuasiTable, call: Call[Anonymize], plain: Classes, best: Order, curve: Order
) -> tuple[LegalClasses, int]:
    """Return the legal classes of least loss, and the least rows of the groups they come from.

    If merging adds much to the loss of the cut with a price, plain cuts are tried, into groups of
    k, 2k and more, and if it multiplies the loss, from 4k on: larger groups need less merging, and
    a price has little effect if no group can be legal.

    plain: the cut into groups of k.
    """
    k, size = call.constraint.smallest, PRICED
    cheapest = made_legal(table, cut_into(table, call, best, PRICED), call, curve)
    cut_loss = total_loss(table, plain, call.workers)
    size_tried = k if cheapest.lost < HOPELESS_FACTOR * cut_loss else LARGER_FACTOR * k
    while cheapest.lost > HARD_FACTOR * cut_loss and size_tried <= table.rows:
        groups = plain if size_tried == k else cut_into(table, call, best, size_tried)
        candidate = made_legal(table, groups, call, curve)
        if candidate.lost < cheapest.lost - TIE_LOSS:
            cheapest, size = candidate, size_tried
        elif size_tried > k:
            break
        size_tried *= 2
    return cheapest, size


def cut_into(table: QuasiTable, call: Call[Anonymize], order: Order, size: int) -> Classes:
    """Return an order cut into groups of at least ``size`` rows; PRICED: of k, with a price."""
    k, rules = call.constraint.smallest, call.constraint.rules
    if size == PRICED:
        return cut_order(table, order, k, call.workers, rules)[0]
    return cut_order(table, order, size, call.workers)[0]


class TableSample(NamedTuple):
    """Rows of a table, with the call for them, and the best order and the curve restricted to
    them."""

    table: QuasiTable
    call: Call[Anonymize]
    best: Order
    curve: Order


def stretches(
    table: QuasiTable, call: Call[Anonymize], best: Order, curve: Order
) -> TableSample | None:
    """Return SAMPLE_ROWS rows, in SAMPLE_STRETCHES of the best order, their call and orders.

    None if they cannot be legal.
    """
    starts = np.arange(SAMPLE_STRETCHES)[:, None] * (table.rows // SAMPLE_STRETCHES)
    kept = np.zeros(table.rows, np.bool_)
    kept[best[starts + np.arange(SAMPLE_ROWS // SAMPLE_STRETCHES)]] = True
    if not call.constraint.allows(np.flatnonzero(kept)):
        return None
    position = np.cumsum(kept, dtype=np.int32) - np.int32(1)
    sample_best, sample_curve = (position[order[kept[order]]] for order in (best, curve))
    sample_call = replace(call, constraint=call.constraint.only(kept))
    return TableSample(table.only(kept), sample_call, sample_best, sample_curve)


def legal(table: QuasiTable, classes: Classes, call: Call[Anonymize], order: Order) -> Classes:
    """Return classes merged until legal and split again where the parts stay legal."""
    merged = merge_until_legal(table, classes, call.constraint, call.workers, order)
    return split_classes(table, merged, call.constraint, call.workers)


def made_legal(
    table: QuasiTable, classes: Classes, call: Call[Anonymize], order: Order
) -> LegalClasses:
    """Return classes merged until legal and split again, and their loss."""
    legal_ids = legal(table, classes, call, order)
    return LegalClasses(legal_ids, total_loss(table, legal_ids, call.workers))


def of_least_loss(candidates: list[LegalClasses]) -> LegalClasses:
    """Return the classes of least loss, the first of equals."""
    return min(candidates, key=lambda candidate: round(candidate.lost, 9))


def widest(classes: Classes, call: Call[Anonymize]) -> int:
    """Return the rows of the largest class whose rows are exchanged once classes are legal."""
    rules = call.constraint.rules
    assert rules is not None
    limit = (
        COUNTED_CLASS_ROWS
        if kernels.guard.few_values(rules) and not rules.pairs
        else SORTED_CLASS_ROWS
    )
    return max(2 * call.constraint.smallest - 1, min(int(np.bincount(classes).max()), limit))


def polished(table: QuasiTable, start: LegalClasses, call: Call[Anonymize]) -> Classes:
    """Return the classes after a short search, which depends on no seed and no clock."""
    aimed = AIMED_PROPOSALS
    fewest_rows = call.constraint.smallest * (int(start.classes.max()) + 1)
    aimed = round(
        aimed * min(table.rows / fewest_rows, WIDE_FACTOR)
    )  # wide classes have more to gain
    row_proposals = (
        np.clip(table.rows, *SMALL_ROW_PROPOSALS)
        if is_small(table, call)
        else np.clip(aimed // table.rows, *ROW_PROPOSALS)
    )
    improved = improve(
        table,
        start.classes,
        call.constraint.smallest,
        seed=0,
        workers=call.workers,
        rounds=GOOD_ROUNDS,
        rules=call.constraint.rules,
        price=start.price,
        max_rows=widest(start.classes, call),
        initial_loss=start.lost,
        effort=(int(row_proposals),),
        compared=max(MIN_COMPARED_ROWS, AIMED_PAIRS // max(table.rows, 1)),
    )
    return improved.classes


def search(
    table: QuasiTable,
    classes: Classes,
    call: Call[Anonymize],
    started: float,
    share: float,
    price: float = 0.0,
    class_rows: int | None = None,
) -> Classes:
    """Return the classes after simulated annealing.

    If the option ``rounds`` is set, no clock decides the result.

    share: the part of the time limit, counted from ``started``, at which the search ends.
    price: of a shortfall; 0.0 without rules.
    class_rows: rows of the largest class that is changed; None for 2k - 1.
    """
    rounds, limit = call.options.rounds, call.options.time_limit
    improved = improve(
        table,
        classes,
        call.constraint.smallest,
        seed=call.seed,
        workers=call.workers,
        rounds=None if rounds is None else -(-rounds // 2) if price else rounds,
        seconds=max(limit * share - (working_time() - started), 0.0) if rounds is None else None,
        rules=call.constraint.rules,
        price=price,
        max_rows=class_rows,
    )
    return improved.classes
