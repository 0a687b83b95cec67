"""How the time of composition grows with persons, beside sorting the same rows.

    python benchmarks/composition.py [persons …]

Five releases by mondrian, each with another k, of a table made here: four
quasi-identifiers (three numbers, one text), a sensitive column of twenty values and a kept one of
fifty. A row a number of persons: seconds of composition by values and by whole tuples, and of audit
with four earlier releases beside audit alone; seconds of ORDER BY over the five releases together,
the ratio of composition by values to it; and the persons known from one release at most, from all
by values, and from all by tuples.
"""

import sys
import time

import anon_sql

MADE = """
CREATE OR REPLACE TABLE persons AS
SELECT
    i AS person, 18 + hash(i) % 70 AS age, 1000 + hash(i, 1) % 9000 AS postcode,
    hash(i, 2) % 40 * 500 AS income, 'job ' || hash(i, 3) % 30 AS job,
    'ill ' || hash(i, 4) % 20 AS ill, 'ward ' || hash(i, 5) % 50 AS ward
FROM range(?) AS made(i)
"""
SIZES = [3, 5, 8, 10, 15]
QUASI = "quasi := ['age', 'postcode', 'income', 'job'], sensitive := 'ill'"


def timed(con, text: str) -> tuple[float, list[tuple]]:
    started = time.perf_counter()
    rows = con.sql(text).fetchall()
    return time.perf_counter() - started, rows


def main(many: list[int]) -> None:
    con = anon_sql.connect()
    print("persons  values  tuples  audit  alone  order by  ratio  alone  values  tuples")
    for persons in many:
        con.execute(MADE, [persons])
        names = []
        for k in SIZES:
            names.append(f"release_{k}")
            con.execute(
                f"CREATE OR REPLACE TABLE release_{k} AS FROM mondrian('persons', k := {k}, {QUASI}, "
                "identifiers := ['person'], keep := 'ward')"
            )
        call = f"FROM composition('persons', {names}, id := 'person', {QUASI}"
        by_values, rows = timed(con, f"{call})")
        by_tuples, whole = timed(con, f"{call}, keep := 'ward')")
        audit = f"FROM audit('persons', '{names[0]}', entity := 'person', {QUASI}, keep := 'ward'"
        alone, _ = timed(con, f"{audit})")
        together, _ = timed(con, f"{audit}, previous := {names[1:]})")
        union = " UNION ALL ".join(f"FROM {name}" for name in names)
        con.execute(f"CREATE OR REPLACE TABLE all_rows AS {union}")
        started = time.perf_counter()
        con.execute("CREATE OR REPLACE TABLE sorted AS FROM all_rows ORDER BY ALL")
        sort = time.perf_counter() - started
        known = max(row[5] for row in rows[:-1])
        print(
            f"{persons:7,}  {by_values:6.2f}  {by_tuples:6.2f}  {together:5.2f}  {alone:5.2f}  "
            f"{sort:8.3f}  {by_values / sort:5.1f}  {known:5}  {rows[-1][5]:6}  {whole[-1][5]:6}"
        )


if __name__ == "__main__":
    main([int(size) for size in sys.argv[1:]] or [10_000, 30_000, 100_000])
