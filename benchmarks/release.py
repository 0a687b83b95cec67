"""What a release costs beside DuckDB's own ORDER BY of the same table, in the same process.

    python benchmarks/release.py [--kept N] [rows …]

For each number of rows and threads a fresh process makes an Adult-like table with N more columns
that are kept (default 2, and the one that the table has), runs

    CREATE TABLE … AS SELECT * FROM adult_like ORDER BY <quasi-identifiers>
    CREATE TABLE … AS SELECT * FROM anonymize('adult_like', k := 10, effort := 'fast')

in turn three times after one run of each that is not counted, and prints the least of each, their
ratio, which part of the time goes where, the most memory that the process held during its first
release, the source table in memory included, and how much it held before (Linux alone).
Absolute times are of one machine on one day; the ratio is what is claimed.
"""

import json
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from peak import peak

ROWS = [30_000, 100_000, 1_000_000]
QUASI = [
    *("age", "workclass", "education_num", "marital_status"),
    *("occupation", "race", "sex", "native_country"),
]
NUMERIC = ["age", "education_num", "hours", "gain"]
RUNS = 3
PHASES = ("arrays", "method", "labels", "check")
METHODS = {
    "fast": "anonymize({}, effort := 'fast')",
    "good": "anonymize({}, effort := 'good')",
    "rayden": "rayden({})",
    "mondrian": "mondrian({})",
    "canon": "canon({})",
}
spent: dict[str, float] = defaultdict(float)


def timed(phase: str, call: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, its time booked under a phase."""

    def run(*args: Any, **named: Any) -> Any:
        started = time.perf_counter()
        try:
            return call(*args, **named)
        finally:
            spent[phase] += time.perf_counter() - started

    return run


@contextmanager
def phases() -> Any:
    """Books the parts of a release that run in Python; the rest is DuckDB's."""
    from anon_sql.pipeline import compute, partition

    steps = [(partition, "read_table", "arrays"), (compute, "make_labels", "labels")]
    steps += [
        (compute, "require_true", "check"),
        (compute, "check", "check"),
        (compute, "check_rows", "check"),
    ]
    known = [(room, name, getattr(room, name)) for room, name, _ in steps]
    for room, name, phase in steps:
        setattr(room, name, timed(phase, getattr(room, name)))
    try:
        yield
    finally:
        for room, name, step in known:
            setattr(room, name, step)


def measure(method: str, rows: int, threads: int, kept: int) -> dict[str, Any]:
    """Seconds of both statements, phases and peak memory, in this process."""
    import anon_sql
    from anon_sql import datasets
    from anon_sql.methods.method import _methods, find_method

    con = anon_sql.connect()
    con.execute(f"SET threads = {threads}")
    datasets.adult(con, rows, table="adult_like", seed=42, roles=False)
    for number in range(kept):
        kind = (
            "hash(age, occupation, {0}) % 1000"
            if number % 2
            else "'kept ' || hash(race, age, {0}) % 90"
        )
        con.execute(
            f"ALTER TABLE adult_like ADD COLUMN kept_{number} {'BIGINT' if number % 2 else 'VARCHAR'}"
        )
        con.execute(f"UPDATE adult_like SET kept_{number} = {kind.format(number)}")
    quasi = NUMERIC if method == "canon" else QUASI
    if method == "canon":
        con.execute("ALTER TABLE adult_like ADD COLUMN hours INTEGER")
        con.execute("ALTER TABLE adult_like ADD COLUMN gain INTEGER")
        con.execute(
            "UPDATE adult_like SET hours = hash(age, occupation) % 80, gain = hash(race, age) % 5000"
        )
    rest = [name for name in QUASI if name not in quasi]
    keep = ["income", *rest] + [f"kept_{n}" for n in range(kept)]
    sort = f"CREATE OR REPLACE TABLE sorted AS SELECT * FROM adult_like ORDER BY {', '.join(quasi)}"
    arguments = f"'adult_like', k := 10, quasi := {quasi}, keep := {keep}"
    release = f"CREATE OR REPLACE TABLE release AS FROM {METHODS[method].format(arguments)}"
    found = find_method(METHODS[method].partition("(")[0])
    _methods[found.name] = replace(found, run=timed("method", found.run))
    sorts, releases = [], []
    small = release.replace("'adult_like'", "'few'")
    con.execute("CREATE TABLE few AS FROM adult_like LIMIT 1000")
    con.execute(small)  # kernels compiled or loaded
    before, most = peak(lambda: con.execute(release))
    with phases():
        for run in range(RUNS + 1):
            if run == 1:
                spent.clear()
            for statement, seconds in ((sort, sorts), (release, releases)):
                started = time.perf_counter()
                con.execute(statement)
                seconds.append(time.perf_counter() - started)
    total = sum(releases[1:])
    return {
        "sort": min(sorts[1:]),
        "release": min(releases[1:]),
        "share": {phase: spent[phase] / total for phase in PHASES},
        "before": before,
        "peak": most,
    }


def main() -> None:
    if sys.argv[1:2] == ["--one"]:
        method, rows, threads, kept = sys.argv[2], *map(int, sys.argv[3:6])
        print(json.dumps(measure(method, rows, threads, kept)))
        return
    given = sys.argv[1:]
    kept = given[given.index("--kept") + 1] if "--kept" in given else "2"
    sizes = [int(each) for at, each in enumerate(given) if "--kept" not in (each, given[at - 1])]
    print(
        "method       rows  threads  ORDER BY s  release s  ratio  arrays  method  labels   check  DuckDB  peak MiB  before"
    )
    for method in METHODS:
        for rows in sizes or ROWS:
            for threads in (1, 2):
                one = [sys.executable, __file__, "--one", method, str(rows), str(threads), kept]
                row = json.loads(
                    subprocess.run(one, capture_output=True, text=True, check=True).stdout
                )
                share = [row["share"][phase] for phase in PHASES]
                shares = "".join(f"{part:8.0%}" for part in [*share, 1 - sum(share)])
                print(
                    f"{method:9}{rows:9,}{threads:9}{row['sort']:12.3f}{row['release']:11.3f}"
                    f"{row['release'] / row['sort']:7.1f}{shares}{row['peak']:10,.0f}{row['before']:8,.0f}"
                )


if __name__ == "__main__":
    main()
