"""anonymize: the least loss (NCP) that the time allows; this project's own.

Prior work put together: rows in an order that keeps near ones together and the optimal cut of
that order (Ghinita et al. 2007), a greedy order (after k-member, Byun et al. 2007), and large
neighbourhood search. Every class has k to 2k - 1 rows; no row is suppressed.
"""

import time

from anon_sql.improving import improve
from anon_sql.methods import Call, Facts, Partition, method
from anon_sql.options import Choice, OrNull, Positive, Whole
from anon_sql.ordering import curve_order, cut_order, window_order
from anon_sql.table import QuasiTable


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
    """Classes by effort: 'fast' cuts a curve, 'good' the better of it and a greedy order, 'best'
    goes on from there."""
    k, workers, chosen = call.constraint.smallest, call.workers, call.options
    started = time.monotonic()
    order = curve_order(table, workers)
    classes, loss = cut_order(table, order, k, workers)
    if chosen["effort"] == "fast":
        return Partition(classes)
    moved, less = cut_order(table, window_order(table, order, k, workers), k, workers)
    if less < loss:
        classes = moved
    if chosen["effort"] == "best":
        rounds = chosen["rounds"]  # where they are given, no clock decides what comes out
        left = chosen["time_limit"] - (time.monotonic() - started)
        seconds = max(left, 0.0) if rounds is None else None
        improved = improve(
            table, classes, k, seed=call.seed, workers=workers, rounds=rounds, seconds=seconds
        )
        classes = improved.classes
    return Partition(classes)
