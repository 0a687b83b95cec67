"""Better orders than the curve: what ``anonymize`` tries with more effort.

Jobs are cut at fixed places, so that the number of threads never shows.
"""

import numpy as np

from anon_sql.ordering import JOB, Order, pieces, window_order
from anon_sql.table import QuasiTable
from anon_sql.workers import Workers

PART = 1 << 14  # rows that are split by themselves
TRIES = 8  # most splits of which the best is taken
TRIALS = 1 << 18  # rows times tries that 'good' aims at
GROWTH = 1 << 28  # rows times those from which a group grows that 'good' aims at
WAITING = (1 << 10, 1 << 13)  # least and most rows from which a group grows; fewer gain nothing


def better_orders(table: QuasiTable, order: Order, k: int, workers: Workers) -> list[Order]:
    """What 'good' tries beside the curve, in a table of many rows one order only.

    Where columns have hierarchies, whose loss goes by common ancestors, a range says little: there
    the rows are halved, and of few rows groups grow.
    """
    from anon_sql.kernels.ncp import TREE

    width = min(GROWTH // max(len(order), 1), WAITING[1])
    trees, many = int((table.model.kind == TREE).sum()), width < WAITING[0]
    mostly = 2 * trees >= len(table.model.kind)
    found = []
    if not (many and mostly):
        found.append(window_order(table, order, k, workers))
    if mostly or (trees and not many):
        found.append(halved_order(table, order, workers))
        if max(WAITING[0], most_codes(table)) <= width:
            found.append(grown_groups(table, found[-1], width, k, workers))
    return found


def most_codes(table: QuasiTable) -> int:
    """Codes of the column that has most of them, NULL among them."""
    from anon_sql.kernels.ncp import NUMBER

    return int(table.model.null[table.model.kind != NUMBER].max(initial=0)) + 1


def halved_order(table: QuasiTable, order: Order, workers: Workers) -> Order:
    """The order again, halved where that loses least, within pieces of PART rows."""
    from anon_sql.kernels.split_order import split_order

    tries = int(np.clip(TRIALS // max(len(order), 1), 1, TRIES))
    parts = pieces(len(order), PART)
    jobs = [(table.points, order[a:b], table.model, tries) for a, b in parts]
    halved: Order = np.concatenate(workers.map(split_order, jobs, [b - a for a, b in parts]))
    return halved


def grown_groups(table: QuasiTable, order: Order, width: int, k: int, workers: Workers) -> Order:
    """The order again, in groups of k that grow from ``width`` rows, within pieces of JOB rows."""
    from anon_sql.kernels.grown_order import grown_order

    parts = pieces(len(order), JOB)
    jobs = [(table.points, order[a:b], table.model, width, k) for a, b in parts]
    grown: Order = np.concatenate(workers.map(grown_order, jobs, [b - a for a, b in parts]))
    return grown
