"""Make classes that disclose no more than the definition allows, even to an attacker who knows the
algorithm.

Source: this project; the attacker is that of Xiao, Tao and Koudas (2010), who define transparent
anonymization. Rows are divided into groups that are legal, and classes are unions of groups, made
from quasi-identifiers alone. Within a group, every row is equally likely to have each value of the
group, even for an attacker who knows the groups, the method and all parameters except the key.

Proof. Consider the assignments of values to rows that give the same groups with the same values in
each. ``kernels.halving`` divides a node by quasi-identifiers into equal parts, and asks only
whether all parts are legal.

1. If they are, each part is a node. The values of the parts follow from those of the groups, so the
   answer is the same for every such assignment.
2. If they are not, each unit of a part is joined with one unit of every other part. To exchange the
   values of joined units, in all pairs at once, leaves the answer "not all are legal" true. It
   leaves the values of every later part and group as they are, because joined units stay together.
   Later exchanges take whole units to whole units, each row to the row at the same place, so they
   change no earlier part.
3. If the number of units is odd, a secret random choice of some is split off. To permute the units
   of the node changes no probability: every choice is equally likely.

So every such exchange takes an assignment to another one of the same probability. Together they
take each row of a group to every other row of it: joined units by step 2, and the units of a group
in any order, since no part of a group was ever asked about. So all rows of a group have the same
distribution of values, which is that of the group.

Legal groups satisfy the constraint, so the attacker's belief about each row does. A class is a
union of groups that follows from the groups and the quasi-identifiers. The belief of an attacker
who sees only classes is a mean of the beliefs by groups. It satisfies the constraint too, as the
mean of shares that are at most 1/l is at most 1/l, and as t, beta, delta and entropy have the same
property.

Departure from the design for a series (``series/placement.py``): there cohorts have different
values, and who does not fit waits. Here every row is released.
"""

from dataclasses import replace
from hashlib import blake2b
from math import ceil
from typing import Any

import numpy as np
import numpy.typing as npt

from anon_sql import kernels
from anon_sql.core.table import QuasiTable
from anon_sql.errors import AnonError
from anon_sql.methods.method import Call, Partition
from anon_sql.methods.ordering import curve_order, window_order
from anon_sql.methods.unions import Plain, union_classes
from anon_sql.privacy.constraint import Constraint

BLOCK_FACTOR = 16  # rows of a block, in units of the least rows of a group
MIN_NEAR_ROWS = 4  # by which the order keeps near ones together
MAX_ATTEMPTS = 100  # random sets of rows, so that blocks divide the others
ROW_DRAWS = 4  # random numbers per row
SIZE_GROWTH = 1.05  # of the size of classes that are tried


def transparent_partition(table: QuasiTable, call: Call[Any], plain: Plain) -> Partition:
    """Return classes that are unions of groups; ``plain`` makes classes of k rows."""
    groups = exchangeable_groups(table, call)
    return Partition(union_classes(table, call, plain, groups)[groups])


def of_least_size(table: QuasiTable, call: Call[Any], plain: Plain) -> Partition:
    """Return classes of k' or more rows, made from quasi-identifiers and k' alone.

    k' is the first size, from k up to the whole table, at which all classes satisfy the constraint.
    Sizes grow by a twentieth. So classes disclose only k' about sensitive values.
    """
    size = call.constraint.k
    while size < table.rows:
        sized = replace(call, constraint=Constraint(size), secret=None)
        classes = plain(table, sized)
        count = int(classes.max()) + 1
        if (classes >= 0).all() and call.constraint.legal(classes, count).all():
            return Partition(classes)
        size = max(size + 1, ceil(size * SIZE_GROWTH))
    return Partition(np.zeros(table.rows, np.int32))


def exchangeable_groups(table: QuasiTable, call: Call[Any]) -> npt.NDArray[np.int64]:
    """Return the group of each row, int64[n]; see above.

    The rows beyond a multiple of a block are a random set, whose choice is secret.
    """
    limits = call.constraint.with_k(1)
    assert limits.rules is not None
    least = max(limits.smallest, 2)
    block = BLOCK_FACTOR * least
    remainder = table.rows % block
    remainder += block if 0 < remainder < 2 * least else 0
    if table.rows < block + remainder:
        remainder, block = 0, table.rows
    random = _secret(table, call)
    apart, others = _set_apart(table, call, remainder, random)
    groups = np.full(table.rows, -1, np.int64)
    for rows, size in ((others, block), (apart, remainder)):
        if not len(rows):
            continue
        part = table.only(rows)
        order = curve_order(part, call.workers)
        if size == block:
            order = window_order(part, order, max(least, MIN_NEAR_ROWS), call.workers)
        rules = limits.only(rows).rules
        numbers = random.integers(0, 2**64, ROW_DRAWS * len(rows) + MAX_ATTEMPTS, np.uint64)
        local_groups = kernels.halving.divide(
            part.points, part.model.weight, rules, order, size, least, numbers
        )
        groups[rows] = local_groups + groups.max() + 1
    return groups


def _secret(table: QuasiTable, call: Call[Any]) -> np.random.Generator:
    """Return random numbers that depend on the key, and on the quasi-identifiers of a row.

    Every stratum has numbers of its own, because its rows have other quasi-identifiers.
    """
    assert call.secret is not None
    row = table.points[0].tobytes()
    digest = blake2b(row, key=call.secret, digest_size=32, person=b"transparent").digest()
    return np.random.default_rng(int.from_bytes(digest))


def _set_apart(
    table: QuasiTable, call: Call[Any], count: int, random: np.random.Generator
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return the positions of some random rows, and of the others; both sets are legal.

    count: how many rows are set apart.
    random: secret random numbers.
    """
    limits = call.constraint.with_k(1)
    for _ in range(MAX_ATTEMPTS if count else 0):
        chosen = np.zeros(table.rows, np.bool_)
        chosen[random.permutation(table.rows)[:count]] = True
        apart, others = np.flatnonzero(chosen), np.flatnonzero(~chosen)
        if limits.allows(apart) and limits.allows(others):
            return apart, others
    if count:
        raise AnonError(
            call.function,
            "a transparent release must divide the table into parts that satisfy the constraints",
            "a table in which one value is almost too frequent for that",
            "lower l, or leave out the constraint that the table barely satisfies",
        )
    return np.zeros(0, np.intp), np.arange(table.rows)
