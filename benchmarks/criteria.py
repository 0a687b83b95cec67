"""What isolation, linkage and inference cost beside a sort of the same columns.

    python benchmarks/criteria.py [ROWS]

The table is like Adult, half of it released by mondrian, half of it the control. The seconds are the least
of three; the last column is the ratio to CREATE TABLE … AS … ORDER BY of the released columns.
"""

import sys
import time

import anon_sql
from anon_sql import datasets

QUASI = ["age", "workclass", "education_num", "marital_status", "race", "sex"]


def seconds(call) -> float:
    """Return the least seconds of three calls."""
    least = float("inf")
    for _ in range(3):
        started = time.perf_counter()
        call()
        least = min(least, time.perf_counter() - started)
    return least


def main() -> None:
    """Print a line per function."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    con = anon_sql.connect()
    con.execute("SET enable_progress_bar = false")
    datasets.adult(con, 2 * rows, table="everybody", seed=1, roles=False)
    con.execute(f"CREATE TABLE people AS FROM everybody LIMIT {rows}")
    con.execute(f"CREATE TABLE control AS FROM everybody LIMIT {rows} OFFSET {rows}")
    named = f"quasi := {QUASI}"
    con.execute(f"CREATE TABLE release AS FROM mondrian('people', k := 10, keep := 'occupation', "
                f"exclude := '*', {named})")  # fmt: skip
    columns = ", ".join([*QUASI, "occupation"])
    order = f"CREATE OR REPLACE TABLE ordered AS SELECT {columns} FROM people ORDER BY {columns}"
    by_order = seconds(lambda: con.execute(order))
    print(f"{'ORDER BY':<12}{by_order:8.2f} s")
    for name, more in (
        ("isolation", ""),
        ("linkage", ""),
        ("inference", "secret := 'occupation', "),
    ):
        call = f"FROM {name}('people', 'release', control := 'control', {more}{named})"
        spent = seconds(lambda call=call: con.execute(call).fetchall())
        print(f"{name:<12}{spent:8.2f} s {spent / by_order:6.1f} x")


if __name__ == "__main__":
    main()
