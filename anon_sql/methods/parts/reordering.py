"""Find better orders than the curve, for ``anonymize`` with more effort.

Jobs are divided at fixed positions, so that the result does not depend on the number of threads.
"""

import numpy as np

from anon_sql.core.table import QuasiTable
from anon_sql.core.workers import Workers
from anon_sql.methods.parts.ordering import JOB, Order, pieces, window_order

PART = 1 << 14  # rows that are split by themselves
TRIES = 8  # most splits of which the best is taken
TRIALS = 1 << 18  # rows times tries that 'good' aims at
GROWTH = 1 << 28  # rows times those from which a group grows that 'good' aims at
WAITING = (1 << 10, 1 << 13)  # least and most rows from which a group grows; fewer gain nothing


def better_orders(table: QuasiTable, order: Order, k: int, workers: Workers) -> list[Order]:
    """Return the orders that 'good' tries besides the curve; in a table of many rows only one.

    The loss of a column with a hierarchy goes by common ancestors, of which a range says little:
    where such columns prevail the rows are halved repeatedly, and in smaller tables groups are
    grown.
    """
    from anon_sql.kernels.loss.ncp import TREE

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
    """Return the largest number of codes of a text or hierarchy column, NULL included."""
    from anon_sql.kernels.loss.ncp import NUMBER

    return int(table.model.null[table.model.kind != NUMBER].max(initial=0)) + 1


def halved_order(table: QuasiTable, order: Order, workers: Workers) -> Order:
    """Return the order by repeated halving at the least loss, within pieces of PART rows."""
    from anon_sql.kernels.order.split_order import split_order

    tries = int(np.clip(TRIALS // max(len(order), 1), 1, TRIES))
    parts = pieces(len(order), PART)
    jobs = [(table.points, order[a:b], table.model, tries) for a, b in parts]
    halved: Order = np.concatenate(workers.map(split_order, jobs, [b - a for a, b in parts]))
    return halved


def grown_groups(table: QuasiTable, order: Order, width: int, k: int, workers: Workers) -> Order:
    """Return the order in groups of k, grown from ``width`` rows, within pieces of JOB rows."""
    from anon_sql.kernels.order.grown_order import grown_order

    parts = pieces(len(order), JOB)
    jobs = [(table.points, order[a:b], table.model, width, k) for a, b in parts]
    grown: Order = np.concatenate(workers.map(grown_order, jobs, [b - a for a, b in parts]))
    return grown
