"""Mondrian: the column that spans most is cut at its median, as often as both sides keep k rows.

Source: LeFevre, DeWitt and Ramakrishnan 2006, "Mondrian multidimensional k-anonymity". The paper
leaves open how categories are ordered and where equal values go; ``kernels.mondrian`` says what is
done here. Where more than k is asked, cuts both of whose sides satisfy it are one of two tries; the
other cuts for k alone and merges what is then illegal. The one of less NCP is kept.
"""

from anon_sql.merging import cheapest, merge_until_legal
from anon_sql.methods import Call, Facts, Partition, method
from anon_sql.options import Choice
from anon_sql.table import QuasiTable


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
    """Classes of at least k rows."""
    from anon_sql.kernels.mondrian import mondrian_partition

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
