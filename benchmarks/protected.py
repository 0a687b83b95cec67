"""What protection costs: releases of frames with l, t, beta, delta, entity and others, beside ORDER BY.

    python benchmarks/protected.py [--adult] [--k K] [--only WORD] [rows …]

For each option a fresh process makes an Adult-like table of 10 columns on two threads, takes it as a
PyArrow table, and runs

    CREATE TABLE … AS SELECT * FROM adult_like ORDER BY <quasi-identifiers>
    anon_sql.anonymize(table, k=10, quasi=<quasi-identifiers>, sensitive=…, <option>)

in turn RUNS times after a release of some of its rows that is not counted. A line shows the least
seconds of each, their ratio, the same of processor time, and the loss: the GCP, or where means are shown
the mean SSE / SST (of medians it is not known without an id). The first line of each group is the plain
release of the same columns. --adult takes the complete rows of Adult, of the folder ../shared/data,
instead; --only, options whose name contains the word. Absolute times are of one machine on one day; the
ratio is what is claimed.
"""

import argparse
import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

from frames import in_turn
from release import QUASI

ADULT = Path(__file__).resolve().parents[2] / "shared" / "data" / "adult.parquet"
THREADS = 2
RUNS = 3
SMALL = 20_000  # rows of the release that loads the kernels
INCOME, WORK = {"sensitive": ["income"]}, {"sensitive": ["occupation"]}
FAST, MEAN = {"effort": "fast"}, {"format": "mean"}
OPTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "plain good": ("anonymize", {}),
    "l = 2": ("anonymize", {**INCOME, "l": 2}),
    "l = 2, t = .3": ("anonymize", {**INCOME, "l": 2, "t": 0.3}),
    "entropy l = 1.5": ("anonymize", {**INCOME, "l": 1.5, "l_kind": "entropy"}),
    "delta = 1": ("anonymize", {**INCOME, "delta": 1}),
    "entity": ("anonymize", {"entity": "person"}),
    "entity, l = 2": ("anonymize", {**INCOME, "entity": "person", "l": 2}),
    "plain good, 7 columns": ("anonymize", {**WORK}),
    "l = 3, t = .4": ("anonymize", {**WORK, "l": 3, "t": 0.4}),
    "recursive l = 3": ("anonymize", {**WORK, "l": 3, "l_kind": "recursive"}),
    "beta = 1": ("anonymize", {**WORK, "beta": 1}),
    "plain fast": ("anonymize", {**FAST}),
    "l = 2, t = .3 fast": ("anonymize", {**INCOME, **FAST, "l": 2, "t": 0.3}),
    "suppression_limit = .01": ("anonymize", {"suppression_limit": 0.01}),
    "mean": ("anonymize", {**MEAN}),
    "median": ("anonymize", {"format": "median"}),
    "mean, l = 2": ("anonymize", {**MEAN, **INCOME, "l": 2}),
    **{
        name + more: (method, options)
        for method in ("rayden", "mondrian", "top_down")
        for name, more, options in (
            (method, "", {}),
            (method, ", l = 2, t = .3", {**INCOME, "l": 2, "t": 0.3}),
        )
    },
}


def measure(option: str, rows: int, k: int, runs: int) -> dict[str, float]:
    """Least seconds and processor seconds of both, and the loss, in this process."""
    import anon_sql
    from anon_sql import datasets, frames

    con = anon_sql.connect()
    con.execute(f"SET threads = {THREADS}")
    if rows:
        datasets.adult(con, rows, table="made", seed=42, roles=False)
    else:
        complete = "workclass IS NOT NULL AND occupation IS NOT NULL AND native_country IS NOT NULL"
        con.execute(f"CREATE TABLE made AS FROM '{ADULT}' WHERE split = 'train' AND {complete}")
    columns = ", ".join([*QUASI, "income"])
    con.execute(
        f"CREATE TABLE adult_like AS SELECT {columns}, hash(rid) % (n // 2) AS person "
        "FROM (SELECT *, row_number() OVER () AS rid, count(*) OVER () AS n FROM made)"
    )
    function, options = OPTIONS[option]
    table = con.sql("FROM adult_like").to_arrow_table()
    hidden = [*options.get("sensitive", []), options.get("entity")]
    quasi = [name for name in QUASI if name not in hidden]
    keep = [name for name in table.column_names if name not in [*quasi, *hidden]]

    def release(of: Any) -> Any:
        return getattr(frames, function)(
            of, k=k, quasi=quasi, keep=keep, threads=THREADS, **options
        )

    def ordered() -> None:
        con.execute(
            f"CREATE OR REPLACE TABLE ordered AS FROM adult_like ORDER BY {', '.join(quasi)}"
        )

    release(table.slice(0, SMALL))
    ordered()
    found, released = in_turn(lambda: release(table), ordered, runs)
    if options.get("format") in ("mean", "median"):
        shown = frames.value_loss(table, released, quasi=quasi, format=options["format"])
        losses = [each for each in shown["sse_sst"].to_pylist() if each is not None]
        loss = sum(losses) / len(losses) if losses else math.nan
    else:
        loss = frames.gcp(table, released, quasi=quasi)
    wall, cpu, sort_wall, sort_cpu = (min(each) for each in found)
    return {"wall": wall, "cpu": cpu, "sort": sort_wall, "sort_cpu": sort_cpu, "loss": loss}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("rows", nargs="*", type=int)
    parser.add_argument("--adult", action="store_true")
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--only", default="")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        print(json.dumps(measure(asked.one, asked.rows[0], asked.k, asked.runs)))
        return
    for rows in [0] if asked.adult else asked.rows or [100_000, 1_000_000]:
        print(f"{f'{rows:,} rows' if rows else 'Adult'}, k = {asked.k}, {THREADS} threads")
        for option in OPTIONS:
            if asked.only not in option:
                continue
            given = ["--one", option, str(rows), "--k", str(asked.k), "--runs", str(asked.runs)]
            done = subprocess.run(
                [sys.executable, __file__, *given], check=True, capture_output=True, text=True
            )
            got = json.loads(done.stdout.splitlines()[-1])
            print(
                f"  {option:26} {got['wall']:7.2f} s, sort {got['sort']:.3f} s, "
                f"ratio {got['wall'] / got['sort']:6.2f}, of processor time "
                f"{got['cpu'] / got['sort_cpu']:6.2f} ({got['cpu']:.2f} s), loss {got['loss']:.5f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
