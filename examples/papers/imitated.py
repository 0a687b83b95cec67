"""The papers' kind of methods: the plain Mondrian, and M-COF and RAYDEN without a guard.

Without a guard means that outliers leave their class whatever its size, as in the pseudo-code of
both papers. Many classes then have fewer than k rows: such a release protects nobody, and its
measures are shown only beside the share of these classes. All steps but the plain Mondrian are the
building blocks in SQL.
"""

from functools import partial

import plain_mondrian
import released
from released import Columns, Imitated

from anon_sql.core.names import literal


def plain(con, table: str, k: int, seed: int, columns: Columns, relaxed: bool = False) -> None:
    values = plain_mondrian.numbered(released.arrays(con, table, columns.quasi))
    released.classed(con, table, plain_mondrian.partition(values, k, relaxed))


def own(con, table: str, k: int, seed: int, columns: Columns) -> None:
    con.execute(
        f"CREATE OR REPLACE TABLE classed AS FROM mondrian_partition({literal(table)}, k := {k}, "
        f"{columns})"
    )


def literal_tree(con, table: str, k: int, seed: int, columns: Columns) -> None:
    """Create the classes of RAYDEN's algorithm 1, which cuts until a set has fewer than k rows.

    A side may have half of k rows, so that a set of k rows is cut but hardly any smaller one is.
    """
    con.execute(
        f"CREATE OR REPLACE TABLE classed AS FROM vp_partition({literal(table)}, "
        f"k := {max(k // 2, 1)}, cut := 'median', tries := 1, seed := {seed}, {columns})"
    )


def without_guard(partition, rule: str, con, table: str, k: int, seed: int, columns: Columns):
    """Create the classes of a partition and those of its outliers, which are taken out.

    Fewer than k outliers have no class, and are suppressed.
    """
    partition(con, table, k, seed, columns)
    con.execute(
        f"CREATE OR REPLACE TABLE scored AS FROM cof_score('classed', k := {k}, {rule}, {columns})"
    )
    kept = "* EXCLUDE (cof, outlier)"
    con.execute(f"CREATE OR REPLACE TABLE inliers AS SELECT {kept} FROM scored WHERE NOT outlier")
    con.execute(
        "CREATE OR REPLACE TABLE outlying AS SELECT * EXCLUDE (class_id, cof, outlier) "
        "FROM scored WHERE outlier"
    )
    if con.sql("FROM outlying").count("*").fetchall()[0][0] >= k:
        partition(con, "outlying", k, seed, columns)
    else:
        con.execute(
            "CREATE OR REPLACE TABLE classed AS SELECT *, NULL::INTEGER AS class_id FROM outlying"
        )
    con.execute(
        "CREATE OR REPLACE TABLE classed AS FROM inliers UNION ALL BY NAME "
        "SELECT * REPLACE (-1 - class_id AS class_id) FROM classed"
    )


PLAIN = Imitated("Mondrian, plain", plain)
PLAIN_RELAXED = Imitated("Mondrian relaxed, plain", partial(plain, relaxed=True))
COF_UNGUARDED = Imitated("M-COF, no guard", partial(without_guard, plain, "threshold := 1.0"))
COF_UNGUARDED_OWN = Imitated(
    "M-COF, no guard, on Mondrian", partial(without_guard, own, "threshold := 1.0")
)
RAYDEN_UNGUARDED = Imitated(
    "RAYDEN, algorithm 1, no guard",
    partial(without_guard, literal_tree, "alpha := 2.0"),
    drawn=True,
)
