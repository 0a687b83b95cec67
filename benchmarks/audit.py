"""What an audit costs beside DuckDB's own ORDER BY of the same table, in the same process.

    python benchmarks/audit.py [rows …]

The table is Adult-like with a column that tells nearly every row (``unique``) or without one
(``alike``: income alone is kept, so that many rows have the same kept values, the worst case). In
turn three times, after one run of each that is not counted,

    CREATE TABLE … AS FROM adult_like ORDER BY ALL
    FROM audit('adult_like', 'release', 10)
    FROM audit('adult_like', 'release', 10, l := 1, t := 1)

and the least CPU time of each on one thread, the ratios to the first and what ``matching`` found. Absolute
times are of one machine on one day; the ratios are what is claimed.
"""

import sys
import time

import anon_sql
from anon_sql.apps import adult
from anon_sql.apps.demo import make_adult_like

ROWS = [30_000, 1_000_000]
RUNS = 3


def measure(rows: int, kept: str) -> str:
    con = anon_sql.connect()
    con.execute("SET threads = 1")
    make_adult_like(con, "adult_like", rows=rows, seed=42)
    anon_sql.declare(con, "adult_like", quasi=adult.QUASI, sensitive=adult.SENSITIVE)
    if kept == "unique":
        con.execute("ALTER TABLE adult_like ADD COLUMN weight DOUBLE")
        con.execute("UPDATE adult_like SET weight = hash(rowid) / 1e10")
        anon_sql.declare(con, "adult_like", keep=["weight"])
    con.execute("CREATE TABLE release AS FROM anonymize('adult_like', k := 10, effort := 'fast')")
    sort = "CREATE OR REPLACE TABLE sorted AS FROM adult_like ORDER BY ALL"
    audit = "FROM audit('adult_like', 'release', 10)"
    asked = "FROM audit('adult_like', 'release', 10, l := 1, t := 1)"
    least = {}
    for run in range(RUNS + 1):
        for statement in (sort, audit, asked):
            started = time.process_time()
            found = con.execute(statement).fetchall()
            spent = time.process_time() - started
            if run:
                least[statement] = min(spent, least.get(statement, spent))
    matching = next(row[2] for row in found if row[0] == "matching")
    told = "".join(
        f"{least[each]:10.2f}{least[each] / least[sort]:8.1f}" for each in (audit, asked)
    )
    return f"{kept:8}{rows:10,}{least[sort]:13.2f}{told}  {matching}"


def main() -> None:
    print("kept          rows  ORDER BY s   audit s   ratio   l, t s   ratio  matching")
    for rows in [int(rows) for rows in sys.argv[1:]] or ROWS:
        for kept in ("unique", "alike"):
            print(measure(rows, kept), flush=True)


if __name__ == "__main__":
    main()
