"""Variance lost within classes (SSE / SST) by means of ``anonymize``, beside MDAV, in one run.

    python benchmarks/microaggregation.py [k …]

The tables are made: as many rows and columns as the reference tables Census (1,080 x 13, correlated
and partly skewed) and Tarragona (834 x 13, one skewed size in every column), and normal columns
without correlation. MDAV is a plain version of Domingo-Ferrer and Torra 2005 in numpy; all columns
are standardized before. Prints SSE / SST in percent, its ratio to that of MDAV, and seconds.
"""

import sys
import time

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

import anon_sql

KS = [3, 5, 10]
COLUMNS = [f"c{at}" for at in range(13)]
CALLS = {
    "fast": "effort := 'fast'",
    "good": "effort := 'good'",
    "best": "effort := 'best', rounds := 10",
}
Floats = npt.NDArray[np.float64]


def tables(seed: int) -> dict[str, Floats]:
    """Return standardized columns by name of the table they resemble."""
    pick, d = np.random.default_rng(seed), len(COLUMNS)
    census = pick.normal(size=(1080, 3)) @ pick.normal(size=(3, d))
    census += 0.6 * pick.normal(size=(1080, d))
    census[:, ::2] = np.exp(0.7 * census[:, ::2])
    size = np.exp(1.3 * pick.normal(size=(834, 1)))
    tarragona = size * np.exp(0.8 * pick.normal(size=(834, d)))
    made = {"like Census": census, "like Tarragona": tarragona}
    made["uncorrelated"] = pick.normal(size=(1000, d))
    return {name: (x - x.mean(axis=0)) / x.std(axis=0) for name, x in made.items()}


def mdav(x: Floats, k: int) -> Floats:
    """Return the mean of each row's class by MDAV."""
    left, means = np.arange(len(x)), np.empty_like(x)

    def take(point: Floats, count: int) -> None:
        nonlocal left
        near = np.argsort(((x[left] - point) ** 2).sum(axis=1), kind="stable")
        means[left[near[:count]]] = x[left[near[:count]]].mean(axis=0)
        left = np.sort(left[near[count:]])

    def farthest(point: Floats) -> Floats:
        return x[left[((x[left] - point) ** 2).sum(axis=1).argmax()]].copy()

    while len(left) >= 2 * k:
        first = farthest(x[left].mean(axis=0))
        take(first, k)
        if len(left) >= 2 * k:
            take(farthest(first), k)
    take(x[left[0]], len(left))
    return means


def share(x: Floats, means: Floats) -> float:
    """Return SSE / SST in percent."""
    return float(((x - means) ** 2).sum() / ((x - x.mean(axis=0)) ** 2).sum()) * 100


def released(con: duckdb.DuckDBPyConnection, k: int, options: str) -> Floats:
    call = f"'made', k := {k}, quasi := {COLUMNS}, keep := ['rid'], format := 'mean', {options}"
    found = con.sql(f"SELECT * EXCLUDE (rid) FROM anonymize({call}) ORDER BY rid").fetchnumpy()
    return np.column_stack([found[name] for name in COLUMNS])


def main() -> None:
    """Run every table and k."""
    con = anon_sql.connect()
    for seed in (1, 2):
        for name, x in tables(seed).items():
            rows = pa.table({**dict(zip(COLUMNS, x.T, strict=True)), "rid": np.arange(len(x))})
            con.register("given", rows)
            con.execute("CREATE OR REPLACE TABLE made AS FROM given")
            released(con, 3, CALLS["fast"])  # compiles
            for k in [int(k) for k in sys.argv[1:]] or KS:
                started = time.perf_counter()
                plain = share(x, mdav(x, k))
                line = [f"MDAV {plain:6.2f}          {time.perf_counter() - started:4.1f} s"]
                for effort, options in CALLS.items():
                    started = time.perf_counter()
                    found = share(x, released(con, k, options))
                    seconds = time.perf_counter() - started
                    line.append(f"{effort} {found:6.2f} ({found / plain:.3f}) {seconds:4.1f} s")
                print(f"{name:15} seed {seed} k {k:2}  " + "   ".join(line), flush=True)


if __name__ == "__main__":
    main()
