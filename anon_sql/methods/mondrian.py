"""Mondrian, its strict form along hierarchies, and the greedy top-down method.

- Mondrian: the column of largest span is cut at its median while both sides keep k rows. Source:
  LeFevre, DeWitt and Ramakrishnan 2006, "Mondrian multidimensional k-anonymity". The paper leaves
  open how categories are ordered and to which side equal values go; see ``kernels.mondrian``.
  Departure: if more than k is required, cuts both of whose sides are legal are one of two attempts;
  the other cuts for k alone and merges illegal classes. The attempt of less NCP is kept.
- Basic Mondrian: strict cuts along hierarchies. Source: the same paper, strict partitioning, with
  the categorical cut as M-COF cites it: a node of the hierarchy is replaced by its children, each
  of which has k rows or none. A number is cut at its median, text without a hierarchy into its
  values, NULL from values. The width of a column is the share of leaves below the node, the
  normalized range, or the share of distinct values; the widest column that can be cut is cut.
  Departure: the published Python version tests one half of a cut only.
- Top-down greedy: sets are split between two rows far apart, then sets below k grow to k. Source:
  Xu et al. 2006, "Utility-based anonymization using local recoding", section 4.2. If the paper is
  silent: a row goes to the side whose |E| * NCP(E) grows less; sets below k are treated in the
  order of the tree; the class that lends rows is the nearest that keeps k of its own, and lends the
  rows of least loss together with the set.
"""

from dataclasses import dataclass

from anon_sql import kernels
from anon_sql.core.parameters import Choice, NoOptions, param
from anon_sql.core.table import QuasiTable
from anon_sql.methods.legal_classes import cheapest, merge_until_legal
from anon_sql.methods.method import (
    BY_NODES,
    NO_CHOICE,
    NOT_DROPPED,
    Call,
    Partition,
    method,
)
from anon_sql.methods.suppressed_rows import dense


@dataclass(frozen=True)
class Partitioning:
    """The parameter of cuts."""

    partitioning: str = param(
        "strict",
        Choice(("strict", "relaxed")),
        "'strict' keeps equal values together; 'relaxed' makes classes of k to 2k - 1 rows",
    )


@dataclass(frozen=True)
class Mondrian(Partitioning):
    """The parameters of ``mondrian`` and ``mondrian_partition``."""

    columns: str = param(
        "any",
        Choice(("any", "widest")),
        "'any' tries the next widest column if the widest cannot be cut; 'widest' does not",
    )


@method(
    "mondrian",
    takes=Mondrian,
    what="Cuts the column that spans most at its median, again and again.",
    paper="LeFevre, DeWitt and Ramakrishnan 2006",
    doi="10.1109/ICDE.2006.101",
    cost="n log n",
    notes={"suppressed": NOT_DROPPED, "seed": NO_CHOICE, "hierarchy": BY_NODES},
)
def mondrian(table: QuasiTable, call: Call[Mondrian]) -> Partition:
    """Return legal classes: the attempt that loses least."""
    rules, attempts = call.constraint.rules, []
    for cut_rules in [None] if rules is None else [rules, None]:
        leaves = kernels.mondrian.mondrian_partition(
            table.points,
            table.model,
            call.constraint.smallest,
            cut_rules,
            workers=call.workers,
            partitioning=call.options.partitioning,
            columns=call.options.columns,
        )
        classes = leaves.classes()
        if cut_rules is None:
            classes = merge_until_legal(table, classes, call.constraint, call.workers)
        attempts.append(classes)
    least = 0 if rules is None else cheapest(table, attempts, call.workers)
    return Partition(attempts[least])


@method(
    "basic_mondrian",
    what="Cuts a hierarchy's node into its children and a number at its median.",
    paper="LeFevre, DeWitt and Ramakrishnan 2006",
    doi="10.1109/ICDE.2006.101",
    cost="n log n",
    notes={"suppressed": NOT_DROPPED, "seed": NO_CHOICE},
)
def basic_mondrian(table: QuasiTable, call: Call[NoOptions]) -> Partition:
    """Return classes of at least k rows; a label is the lowest common ancestor of its class."""
    leaves = kernels.basic_mondrian.basic_mondrian(
        table.points, table.model, call.constraint.smallest, call.workers
    )
    return Partition(leaves.classes())


method(
    "mondrian_partition",
    takes=Mondrian,
    only=("k", "quasi", "hierarchy"),
    adds=("class_id",),
)(mondrian)


@method(
    "top_down",
    what="Splits rows between two far apart, then makes classes below k whole.",
    paper="Xu et al. 2006",
    doi="10.1145/1150402.1150504",
    cost="n log n + (n / k)^2",
    quadratic=True,
    notes={"suppressed": NOT_DROPPED, "hierarchy": BY_NODES},
)
def top_down(table: QuasiTable, call: Call[NoOptions]) -> Partition:
    """Return classes of at least k rows. At worst, time grows with the square of the classes."""
    k, points, model = call.constraint.smallest, table.points, table.model
    leaves = kernels.top_down.top_down(points, model, k, seed=call.seed, workers=call.workers)
    return Partition(
        dense(kernels.regrouping.regroup(points, model, leaves.classes(), k, call.workers))
    )
