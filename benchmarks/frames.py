"""What a release of a frame costs beside DuckDB's own ORDER BY of the same rows, in one process.

    python benchmarks/frames.py [rows …]

For each number of rows a fresh process makes an Adult-like table of 14 columns, 8 of which are quasi-
identifiers, on two threads, takes it as a PyArrow table, and runs

    CREATE TABLE … AS SELECT * FROM adult_like ORDER BY <quasi-identifiers>
    anon_sql.anonymize(table, k=10, quasi=<quasi-identifiers>, keep=['*'], effort='fast')

in turn five times after one run of each that is not counted, and prints the least of each, the median
of their ratios, the same of processor time, where the time goes, and the most memory that the first
release took above what the process held before, the table in memory included (Linux alone). Absolute
times are of one machine on one day; the ratio is what is claimed.
"""

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from peak import peak
from release import PHASES, QUASI, phases, spent, timed

THREADS = 2
RUNS = 5
METHODS = {
    "fast": ("anonymize", {"effort": "fast"}),
    "good": ("anonymize", {"effort": "good"}),
    "rayden": ("rayden", {}),
}


def clocks() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


def in_turn(
    release: Callable[[], Any], ordered: Callable[[], None], runs: int
) -> tuple[list[tuple[float, ...]], Any]:
    """Run both in turn; return the seconds and the processor seconds of each, and a release."""
    found, made = [], None
    for _ in range(runs):
        first = clocks()
        made = release()
        second = clocks()
        ordered()
        third = clocks()
        found.append(
            [b - a for a, b in zip(first, second, strict=True)]
            + [b - a for a, b in zip(second, third, strict=True)]
        )
    return list(zip(*found, strict=True)), made


def measure(method: str, rows: int) -> dict[str, Any]:
    """Seconds of both, phases and peak memory, in this process."""
    import anon_sql
    from anon_sql import datasets, frames
    from anon_sql.methods.method import _methods, find_method

    con = anon_sql.connect()
    con.execute(f"SET threads = {THREADS}")
    datasets.adult(con, rows, table="made", seed=42, roles=False)
    kept = [
        f"hash(age, occupation, {number}) % 1000 AS kept_{number}"
        if number % 2
        else f"'kept ' || hash(race, age, {number}) % 90 AS kept_{number}"
        for number in range(14 - len(con.sql("FROM made").columns))
    ]
    con.execute(f"CREATE TABLE adult_like AS SELECT *, {', '.join(kept)} FROM made")
    con.execute("DROP TABLE made")
    function, options = METHODS[method]
    table = con.sql("FROM adult_like").to_arrow_table()
    small = table.slice(0, 20_000)

    def release(of: Any) -> Any:
        call = getattr(frames, function)
        return call(of, k=10, quasi=QUASI, keep=["*"], threads=THREADS, **options)

    def ordered() -> None:
        order = ", ".join(QUASI)
        con.execute(f"CREATE OR REPLACE TABLE ordered AS FROM adult_like ORDER BY {order}")

    method_of = find_method(function)
    _methods[function] = replace(method_of, run=timed("method", method_of.run))
    release(small)  # loads kernels
    before, most = peak(lambda: release(table))
    ordered()
    spent.clear()
    with phases():
        (wall, cpu, sort_wall, sort_cpu), _ = in_turn(lambda: release(table), ordered, RUNS)
    return {
        "columns": table.num_columns,
        "release": min(wall),
        "sort": min(sort_wall),
        "ratio": statistics.median(a / b for a, b in zip(wall, sort_wall, strict=True)),
        "cpu": statistics.median(a / b for a, b in zip(cpu, sort_cpu, strict=True)),
        "phases": {name: spent[name] / RUNS for name in PHASES},
        "peak": most - before,
    }


def main() -> None:
    for rows in [int(each) for each in sys.argv[1:]] or [1_000_000]:
        print(f"{rows:,} rows, {THREADS} threads")
        for method in METHODS:
            done = subprocess.run(
                [sys.executable, __file__, "--one", method, str(rows)],
                check=True,
                capture_output=True,
                text=True,
            )
            got = json.loads(done.stdout.splitlines()[-1])
            where = ", ".join(f"{name} {seconds:.2f}" for name, seconds in got["phases"].items())
            print(
                f"  {method:8} {got['release']:.2f} s, sort {got['sort']:.2f} s, ratio "
                f"{got['ratio']:.2f}, of processor time {got['cpu']:.2f}; {where}; "
                f"{got['peak'] / 1024:.2f} GB above the table"
            )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(measure(sys.argv[2], int(sys.argv[3]))))
    else:
        main()
