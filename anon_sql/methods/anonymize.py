"""Anonymize with the least information loss (NCP) that the time allows; this project's own method.

It combines prior work: an order of rows that keeps near ones together and the optimal cut of that
order (Ghinita et al. 2007), greedy orders (after k-member, Byun et al. 2007, and, for columns with
hierarchies, top-down splitting, Xu et al. 2006), and simulated annealing (Kirkpatrick et al. 1983).
Every class has k to 2k - 1 rows; no row is suppressed. l, t and persons are satisfied by merging
classes and splitting them again within strata of like sensitive values (after Cao et al. 2011,
SABRE); then a class may have more rows.
"""

import numpy as np
import numpy.typing as npt

from anon_sql.core.options import Choice, Flag, OrNull, Positive, Relations, Whole
from anon_sql.core.table import QuasiTable
from anon_sql.methods import Call, Facts, Partition, method
from anon_sql.methods.parts.improving import improve, working_time
from anon_sql.methods.parts.merging import cheapest, merge_until_legal
from anon_sql.methods.parts.ordering import Order, curve_order, cut_order
from anon_sql.methods.parts.reordering import better_orders
from anon_sql.methods.parts.splitting import split_classes

Classes = npt.NDArray[np.int32]
LOW, HIGH = 3.0, 10.0  # price of shortfalls, before classes merge and once they are legal


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
    invariant=Flag(),
    previous=Relations(),
)
def anonymize(table: QuasiTable, call: Call) -> Partition:
    """Return classes of k to 2k - 1 rows, or larger ones where more than k is required.

    effort: 'fast' cuts the order of a curve, 'good' the best of that and greedy orders, 'best'
    improves the result by simulated annealing.
    """
    started = working_time()
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
    """Return the classes of least loss of the curve and, with more effort, of better orders."""
    orders = [order]
    if call.options["effort"] != "fast":
        orders += better_orders(table, order, k, call.workers)
    found = [cut_order(table, each, k, call.workers) for each in orders]
    return min(found, key=lambda cut: cut[1])[0]


def legal(table: QuasiTable, classes: Classes, call: Call) -> Classes:
    """Return classes merged until legal and split again where the parts stay legal."""
    merged = merge_until_legal(table, classes, call.constraint, call.workers)
    return split_classes(table, merged, call.constraint, call.workers)


def least(table: QuasiTable, found: list[Classes], call: Call) -> Classes:
    """Return the classes of least loss, the first of equals."""
    return found[cheapest(table, found, call.workers)]


def search(
    table: QuasiTable,
    classes: Classes,
    call: Call,
    started: float,
    share: float,
    price: float = 0.0,
) -> Classes:
    """Return the classes after simulated annealing.

    share: the part of the time limit, counted from ``started``, at which the search ends. Where
    rounds are given, no clock decides the result.
    """
    rounds, limit = call.options["rounds"], call.options["time_limit"]
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
    )
    return found.classes
