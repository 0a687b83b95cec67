"""Mondrian: the column of largest span is cut at its median while both sides keep k rows.

Source: LeFevre, DeWitt and Ramakrishnan 2006, "Mondrian multidimensional k-anonymity". The paper
leaves open how categories are ordered and to which side equal values go; see
``kernels.tree.mondrian``. Departure: where more than k is required, cuts both of whose sides are
legal are one of two attempts; the other cuts for k alone and merges illegal classes. The attempt of
less NCP is kept.
"""

from anon_sql.core.options import Choice
from anon_sql.core.table import QuasiTable
from anon_sql.methods import Call, Facts, Partition, method
from anon_sql.methods.parts.merging import cheapest, merge_until_legal


@method(
    "mondrian",
    facts=Facts(
        what="Cuts the column that spans most at its median, again and again.",
        paper="LeFevre, DeWitt and Ramakrishnan 2006",
        cost="n log n",
    ),
    partitioning=Choice(("strict", "relaxed")),
    columns=Choice(("any", "widest")),
)
def mondrian(table: QuasiTable, call: Call) -> Partition:
    """Return legal classes."""
    from anon_sql.kernels.tree.mondrian import mondrian_partition

    rules, found = call.constraint.rules, []
    for asked in [None] if rules is None else [rules, None]:
        leaves = mondrian_partition(
            table.points,
            table.model,
            call.constraint.smallest,
            asked,
            workers=call.workers,
            **call.options,
        )
        found.append(merge_until_legal(table, leaves.classes(), call.constraint, call.workers))
    best = 0 if rules is None else cheapest(table, found, call.workers)
    return Partition(found[best])
