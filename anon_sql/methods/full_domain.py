"""Full-domain generalization: one level per column for all rows, the best of all combinations.

Source: Samarati 2001, "Protecting respondents' identities in microdata release" (the lattice of
levels, least height with suppression up to a limit); El Emam et al. 2009, "A globally optimal
k-anonymity method for the de-identification of health data" (OLA, least loss); Kohlmayer et al.
2012, "Flash: efficient, stable and optimal k-anonymity". ``lattice_search`` says how nodes are
searched, and where that departs. Where the sources are silent:

- NULL is a value of its own below the last level. Columns without a hierarchy have the levels of
  ``column_levels``.
- l, t, beta, delta and persons are required of each group; what is not monotone is not pruned by.
- Suppressed rows that are shown are a legal class: the rows of the smallest groups join them, and
  count towards the limit.
- The loss of a range of numbers without a hierarchy is that of all values of the table in it. Its
  label is the range of the released ones, which loses no more.
- A column in ``strata`` stays at its lowest level.
"""

from anon_sql.core import interrupt
from anon_sql.core.options import Choice, Number
from anon_sql.core.progress import Progress
from anon_sql.core.table import QuasiTable
from anon_sql.errors import AnonError
from anon_sql.methods import Call, Facts, Partition, method
from anon_sql.methods.parts.column_levels import levels_of
from anon_sql.methods.parts.earlier_labels import EarlierRelease
from anon_sql.methods.parts.earlier_release import recoded_alike
from anon_sql.methods.parts.joining import rows_of_share
from anon_sql.methods.parts.lattice_search import Search
from anon_sql.methods.parts.node_verdict import MINIMIZE, Judge, Verdict
from anon_sql.methods.parts.recoding import Node, Records

LIMIT, LOSS = Number(0, 1), Choice(MINIMIZE)


@method(
    "full_domain",
    facts=Facts(
        what="Takes whole columns up their hierarchies to the levels of least loss of all.",
        paper="Samarati 2001; El Emam et al. 2009; Kohlmayer et al. 2012",
        cost="n + nodes of the lattice",
        global_levels=True,
    ),
    across_strata=True,
    suppression_limit=LIMIT,
    minimize=LOSS,
    like=EarlierRelease(),
)
def full_domain(table: QuasiTable, call: Call) -> Partition:
    """Return combinations of nodes as classes, those that are not legal suppressed.

    stats: nodes (that were judged), generalizations (levels), suppressed.
    """
    if call.options["like"] is not None:
        limit = rows_of_share(call.options["suppression_limit"], table.rows)
        return recoded_alike(table, call, limit)
    judge, search = searched(table, call)
    if search.best is None:  # only where suppressed rows, and so the highest node, are left out
        raise AnonError(
            call.function,
            f"a combination of levels must be legal with at most {judge.limit:,} rows suppressed",
            "none",
            "raise suppression_limit, or let suppressed := 'keep' show them as *",
        )
    node = search.best.node
    groups = judge.records.groups(node)
    left, _ = judge.left_out(groups, judge.illegal(groups))
    stats = {"nodes": len(search.seen), "generalizations": sum(node)}
    return judge.records.partition(groups, left, **stats)


def searched(table: QuasiTable, call: Call) -> tuple[Judge, Search]:
    """Return the search of the lattice of a table, with what judged the nodes."""
    columns = [levels_of(table, column) for column in table.columns]
    limit = rows_of_share(call.options["suppression_limit"], table.rows)
    judge = Judge(Records(columns), call.constraint, limit, call.shown)

    tops = tuple(0 if c.name in call.fixed else len(c.levels) - 1 for c in columns)
    with Progress(call.function, None) as progress:

        def verdict(node: Node) -> Verdict:
            interrupt.check(call.function)
            progress.advance(1)
            return judge.verdict(node)

        return judge, Search(call.function, columns, tops, verdict, call.options["minimize"])
