"""anonymize: the least loss (NCP) that the time allows; this project's own.

Prior work put together: rows in an order that keeps near ones together and the optimal cut of that
order (Ghinita et al. 2007), greedy orders (after k-member, Byun et al. 2007, and where columns have
hierarchies top-down splitting, Xu et al. 2006), and simulated annealing (Kirkpatrick et al. 1983).
Every class has k to 2k - 1 rows; no row is suppressed. What l, t and persons ask is met by merging
classes and cutting them again within strata of like sensitive values (after Cao et al. 2011,
SABRE); then a class may have more rows.
"""

import time

import numpy as np
import numpy.typing as npt

from anon_sql.improving import improve
from anon_sql.merging import cheapest, merge_until_legal
from anon_sql.methods import Call, Facts, Partition, method
from anon_sql.options import Choice, OrNull, Positive, Whole
from anon_sql.ordering import Order, curve_order, cut_order
from anon_sql.reordering import better_orders
from anon_sql.splitting import split_classes
from anon_sql.table import QuasiTable

Classes = npt.NDArray[np.int32]
LOW, HIGH = 3.0, 10.0  # price of what classes lack, before they merge and when they are legal


@method(
    "anonymize",
    facts=Facts(
        what="Orders of near rows, cut where the loss is least, then improved by a search.",
        paper="This project's own, after Ghinita et al. 2007 and Byun et al. 2007",
        cost="n log n + n k",
    ),
    effort=Choice(("good", "fast", "best")),
    time_limit=Positive(),
    rounds=OrNull(Whole(0)),
)
def anonymize(table: QuasiTable, call: Call) -> Partition:
    """Classes by effort: 'fast' cuts a curve, 'good' the best of it and greedy orders, 'best'
    goes on from there."""
    started = time.monotonic()
    effort, k = call.options["effort"], call.constraint.smallest
    order = curve_order(table, call.workers)
    if call.constraint.rules is None:
        classes = cut(table, order, k, call)
        return Partition(
            search(table, classes, call, started, 1.0) if effort == "best" else classes
        )
    sizes = [k] if effort == "fast" else [size for size in (k, 2 * k) if size <= table.rows]
    found = [cut(table, order, size, call) for size in sizes]
    classes = least(table, [legal(table, classes, call) for classes in found], call)
    if effort == "best":
        before = legal(table, search(table, found[0], call, started, 0.5, LOW), call)
        better = least(table, [classes, before], call)
        after = legal(table, search(table, better, call, started, 1.0, HIGH), call)
        classes = least(table, [better, after], call)
    return Partition(classes)


def cut(table: QuasiTable, order: Order, k: int, call: Call) -> Classes:
    """The curve, or with more effort a better order if it loses less, cut at the least loss."""
    orders = [order]
    if call.options["effort"] != "fast":
        orders += better_orders(table, order, k, call.workers)
    found = [cut_order(table, each, k, call.workers) for each in orders]
    return min(found, key=lambda cut: cut[1])[0]


def legal(table: QuasiTable, classes: Classes, call: Call) -> Classes:
    """Classes merged until l and t hold, and cut again where they still do."""
    merged = merge_until_legal(table, classes, call.constraint, call.workers)
    return split_classes(table, merged, call.constraint, call.workers)


def least(table: QuasiTable, found: list[Classes], call: Call) -> Classes:
    """The classes that lose least, the first of equals."""
    return found[cheapest(table, found, call.workers)]


def search(
    table: QuasiTable,
    classes: Classes,
    call: Call,
    started: float,
    share: float,
    price: float = 0.0,
) -> Classes:
    """Classes after the search, which has that share of the time from the start, or of the rounds.

    Where rounds are given, no clock decides what comes out.
    """
    rounds, limit = call.options["rounds"], call.options["time_limit"]
    found = improve(
        table,
        classes,
        call.constraint.smallest,
        seed=call.seed,
        workers=call.workers,
        rounds=None if rounds is None else -(-rounds // 2) if price else rounds,
        seconds=max(limit * share - (time.monotonic() - started), 0.0) if rounds is None else None,
        rules=call.constraint.rules,
        price=price,
    )
    return found.classes
