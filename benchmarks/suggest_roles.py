"""What suggest_roles costs beside one SUMMARIZE of the same table by DuckDB, in the same process.

    python benchmarks/suggest_roles.py [rows …]

The table has 20 columns: codes, texts, e-mail addresses, numbers, dates, NULLs. In turn three times,
after one run of each that is not counted,

    SUMMARIZE people
    FROM suggest_roles('people')

and the least time of each on all threads, and the ratio, which is what is claimed: at most 10 for a
million rows.
"""

import sys
import time

import anon_sql

ROWS = [1_000_000]
RUNS = 3
TABLE = """
    CREATE OR REPLACE TEMP MACRO h(i, n) AS hash(i || '-' || n);
    CREATE OR REPLACE TABLE people AS
    SELECT
        i AS person_id, 'p' || hash(i) AS code, 'n' || i || '@example.org' AS email,
        18 + h(i, 1) % 70 AS age, if(h(i, 2) % 2 = 0, 'f', 'm') AS sex,
        10000 + h(i, 3) % 8000 AS zip, 'city ' || h(i, 4) % 300 AS city,
        DATE '1930-01-01' + (h(i, 5) % 30000)::INTEGER AS born,
        (h(i, 6) % 100000) / 100 AS score, h(i, 7) / 1e10 AS weight,
        h(i, 8) % 2 = 0 AS flag, if(h(i, 9) % 10 = 0, NULL, h(i, 10) % 5) AS ward,
        'job ' || h(i, 11) % 40 AS job, h(i, 12) % 200000 AS income,
        TIMESTAMP '2020-01-01' + to_seconds((h(i, 13) % 100000000)::BIGINT) AS seen,
        'drug ' || h(i, 14) % 1000 AS drug, h(i, 15) % 4 AS q1, h(i, 16) % 6 AS q2,
        h(i, 17) % 3 AS q3, if(h(i, 18) % 50 = 0, 'a' || i, NULL) AS rare
    FROM range({}) AS made(i)
"""


def measure(rows: int) -> str:
    con = anon_sql.connect()
    con.execute(TABLE.format(rows))
    least: dict[str, float] = {}
    for run in range(RUNS + 1):
        for statement in ("SUMMARIZE people", "FROM suggest_roles('people')"):
            started = time.perf_counter()
            con.execute(statement).fetchall()
            spent = time.perf_counter() - started
            if run:
                least[statement] = min(spent, least.get(statement, spent))
    summarize, suggest = least.values()
    return f"{rows:10,}{summarize:13.2f}{suggest:17.2f}{suggest / summarize:8.1f}"


def main() -> None:
    print("      rows  SUMMARIZE s  suggest_roles s   ratio")
    for rows in [int(rows) for rows in sys.argv[1:]] or ROWS:
        print(measure(rows), flush=True)


if __name__ == "__main__":
    main()
