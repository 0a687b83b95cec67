"""The loss of ``anonymize`` beside a proven lower bound of the loss of any k-anonymous release.

    python benchmarks/bound.py [k …] [--rows N] [--columns D …] [--seconds S] [--rare]
    python benchmarks/bound.py --check

Prints GCP, counted by the SQL function of that name, on every (30,162 / N)th complete row of Adult
where the folder ../shared/data is there, else on N rows of made numbers. partition_bound.py states
the proof of the bound. ``lp`` is the value at which the linear programme ended, which no bound of
this kind exceeds; ``found`` is the best partition known, that of ``best`` or one of groups that the
programme looked at, which integer programming chose. The best possible loss is between ``bound``
and ``found``. S limits the seconds of the programme, and a third of S those of the choice. --rare:
with l = 2 of a value that 6 % of the rows have, drawn at random or only of persons of 55 and more.
--check compares the bounds with plain enumeration on tiny tables. scipy comes with
``anon-sql[ml]``.
"""

import argparse
import time
from functools import cache, partial
from itertools import combinations
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
from partition_bound import (
    Floats,
    Groups,
    Lowered,
    best_groups,
    chosen_partition,
    duals,
    loss,
    lower_bound,
    made_feasible,
    nearest,
    scaled,
    start_groups,
)
from rare_bound import Bools, made_feasible_with_rare, nearest_with_rare, start_with_rare

import anon_sql

ADULT = Path(__file__).resolve().parents[2] / "shared" / "data" / "adult.parquet"
NUMBERS = ["age", "fnlwgt", "hours_per_week", "capital_gain", "capital_loss"]
RARE = {
    "6 %": "row_number() OVER (ORDER BY hash(rid)) <= 0.06 * count(*) OVER ()",
    "older": "row_number() OVER (ORDER BY age < 55, hash(rid)) <= 0.06 * count(*) OVER ()",
}
EFFORTS = {"fast": "'fast'", "good": "'good'", "best": "'best', rounds := 200"}


def make(con: duckdb.DuckDBPyConnection, rows: int) -> None:
    """Create the table: ``rows`` rows of numbers, and rid, their position."""
    if not ADULT.is_file():
        made = np.random.default_rng(1).lognormal(size=(len(NUMBERS), rows)) * 100
        con.register("made", pa.table(dict(zip(NUMBERS, made.astype(int), strict=True))))
        con.execute("CREATE TABLE small AS SELECT *, row_number() OVER () - 1 AS rid FROM made")
        return
    complete = "workclass IS NOT NULL AND occupation IS NOT NULL AND native_country IS NOT NULL"
    con.execute(
        f"CREATE TABLE small AS WITH complete AS (SELECT *, row_number() OVER () - 1 AS place, "
        f"count(*) OVER () AS total FROM '{ADULT}' WHERE split = 'train' AND {complete}) "
        f"SELECT {', '.join(NUMBERS)}, place * {rows} // total AS rid FROM complete "
        f"WHERE place * {rows} % total < {rows} ORDER BY rid"
    )


def released(
    con: duckdb.DuckDBPyConnection, columns: list[str], k: int, effort: str, rare: str
) -> tuple[float, list[list[int]]]:
    """Return the GCP of a release and its classes, as rows; without l none has 2 k rows or more."""
    picked = ", ".join(columns)
    con.execute(f"CREATE OR REPLACE TABLE raw AS SELECT {picked}, rid, {rare} AS rare FROM small")
    l = "sensitive := ['rare'], l := 2" if rare != "NULL" else "identifiers := ['rare']"  # noqa: E741
    call = f"'raw', k := {k}, quasi := {columns}, keep := ['rid'], effort := {effort}, {l}"
    con.execute(f"CREATE OR REPLACE TABLE released AS FROM anonymize({call})")
    gcp = con.sql(f"SELECT gcp('raw', 'released', quasi := {columns})").fetchall()[0][0]
    alike = con.sql(f"SELECT list(rid) FROM released GROUP BY {picked}").fetchall()
    if rare != "NULL":
        return gcp, [rows for (rows,) in alike]
    classes = []
    for (rows,) in alike:  # classes of the same labels are one here
        cuts = range(k, len(rows) - k + 1, k)
        classes += [part.tolist() for part in np.split(np.array(rows), cuts)]
    return gcp, classes


def line(
    con: duckdb.DuckDBPyConnection, columns: list[str], k: int, seconds: float, rare: str
) -> str:
    started = time.perf_counter()
    releases = {name: released(con, columns, k, effort, rare) for name, effort in EFFORTS.items()}
    raw = con.sql(f"SELECT {', '.join(columns)}, rare FROM raw ORDER BY rid").fetchnumpy()
    has = raw.pop("rare") == True  # noqa: E712 - masked where there is none
    x, classes = scaled(raw.values()), releases["best"][1]
    if rare == "NULL":
        start, groups = nearest(x, k), start_groups(x, k, classes)
        lowered: Lowered = partial(made_feasible, x, k)
    else:
        start, groups = nearest_with_rare(x, has, k), start_with_rare(x, has, k, classes)
        lowered = partial(made_feasible_with_rare, x, has, k)
    lowered(start, 1.0, 1)  # compiled
    u, lp, groups = lower_bound(start, groups, lowered, seconds)
    ours, least = [gcp for gcp, _ in releases.values()], u.mean()
    found = min(ours[-1], chosen_partition(len(x), groups, seconds / 3) / len(x))
    cells = [start.mean(), least, lp / len(x), found, *ours]
    gap = f"{ours[-1] / least - 1:9.1%} {found / least - 1:9.1%}"
    taken = time.perf_counter() - started
    size = f"{len(x):5} {x.shape[1]:2} {k:3} "
    return size + "".join(f"{cell:9.5f}" for cell in cells) + f"{gap} {len(groups):7} {taken:5.0f}"


def check() -> None:
    """Compare the search and the bounds with plain enumeration on tiny tables."""
    pick = np.random.default_rng(1)
    for trial in range(12):
        n, d, k = 11, 1 + trial % 4, 2 + trial % 3
        x: Floats = scaled(pick.integers(0, 2 + pick.integers(9), (d, n)))
        every = {rows: loss(x, rows) for rows in combinations(range(n), k)}
        u = np.sort(pick.random(n))[::-1].copy()
        bounds, found, _, _ = best_groups(x, u, k, 0.0, 1 << 12)
        for anchor in range(n):
            of = [u[list(rows)].sum() - w for rows, w in every.items() if rows[0] == anchor]
            assert np.allclose([bounds[anchor], found[anchor]], max([0.0, *of]))
        start = [list(range(at, n if at + 2 * k > n else at + k)) for at in range(0, n - k + 1, k)]
        groups, lowered = start_groups(x, k, start), partial(made_feasible, x, k)
        require_bound(nearest(x, k), groups, lowered, every, best_possible(x, k, np.ones(n, bool)))
        rare = pick.permutation(n) < 2
        some = [rows for size in range(k, n + 1) for rows in combinations(range(n), size)]
        every = {rows: loss(x, rows) for rows in some if rare[list(rows)].any()}
        groups = start_with_rare(x, rare, k, [range(n)])
        lowered = partial(made_feasible_with_rare, x, rare, k)
        possible = best_possible(x, k, rare)
        require_bound(nearest_with_rare(x, rare, k), groups, lowered, every, possible)
    print("12 tables: the search finds the best groups, and the bounds are those of all groups")


def require_bound(
    start: Floats,
    groups: Groups,
    lowered: Lowered,
    every: Groups,
    possible: float,
) -> None:
    """Assert that the bound satisfies every condition and is the highest that does."""
    for limit, gap in ((4, 0.5), (64, 1e-3)):
        u, _, _ = lower_bound(start, groups, lowered, 9, gap, limit)
        assert all(u[list(rows)].sum() <= lost + 1e-9 for rows, lost in every.items())
        assert u.sum() <= possible + 1e-9
    assert u.sum() >= (1 - 1e-3) * duals(len(u), every, -np.inf, np.inf).sum() - 1e-9


def best_possible(x: Floats, k: int, rare: Bools) -> float:
    """Return the least loss of all partitions into classes of k rows with a rare one.

    By plain enumeration over the first row's class.
    """

    @cache
    def least(left: tuple[int, ...]) -> float:
        if not left:
            return 0.0
        options = [
            loss(x, (left[0], *others)) + least(tuple(sorted(set(left[1:]) - set(others))))
            for size in range(k - 1, len(left))
            for others in combinations(left[1:], size)
            if rare[[left[0], *others]].any()
        ]
        return min(options, default=np.inf)

    return least(tuple(range(len(x))))


def main() -> None:
    read = argparse.ArgumentParser()
    read.add_argument("ks", nargs="*", type=int, default=[3, 5, 10])
    read.add_argument("--rows", type=int, default=300)
    read.add_argument("--columns", nargs="*", type=int, default=[2, 3, 5])
    read.add_argument("--seconds", type=float, default=60)
    read.add_argument("--rare", action="store_true")
    read.add_argument("--check", action="store_true")
    args = read.parse_args()
    if args.check:
        check()
        return
    con = anon_sql.connect()
    con.execute("SET enable_progress_bar = false")
    make(con, args.rows)
    heads = "nearest bound lp found fast good best".split()
    print("    n  d   k " + "".join(f"{head:>9}" for head in heads), end="")
    print("  best gap found gap groups seconds")
    for d in args.columns:
        for k in args.ks:
            for case, rare in RARE.items() if args.rare else [("", "NULL")]:
                print(line(con, NUMBERS[:d], k, args.seconds, rare), case, flush=True)


if __name__ == "__main__":
    main()
