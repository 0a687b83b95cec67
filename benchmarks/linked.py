"""What a release of linked tables costs beside DuckDB's own join of them, and what it loses.

    python benchmarks/linked.py [persons] [k]

The tables are the generated hospital: persons, visits and diagnoses. The yardstick is

    COPY (FROM person JOIN visit … JOIN diagnosis … ORDER BY ALL) TO '….parquet'

Printed are the least seconds of three runs, of the release and of linked_audit without labels as
multiples of it; the most memory that the release held above what was held before, as a multiple of
the raw tables in Arrow; the loss of each table; and the surplus beside its lower bound. Absolute
times are of one machine on one day; the ratios are what is claimed.
"""

import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
from peak import peak

import anon_sql
from anon_sql import datasets
from anon_sql.core.arrow import return_memory
from anon_sql.linked.bins import least_surplus

PERSONS, K, RUNS = 20_000, 5, 3
JOINED = "FROM person JOIN visit USING (person_id) JOIN diagnosis USING (visit_id) ORDER BY ALL"
COUNTS = (
    "SELECT count(visit_id) AS n FROM person LEFT JOIN visit USING (person_id) "
    "GROUP BY person.person_id"
)
AUDIT = "FROM linked_audit('person', 'safe.person', k := $k, l := $l, truth := false)"


def least_seconds(work) -> float:
    seconds = []
    for _ in range(RUNS):
        started = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - started)
    return min(seconds)


def measure(con, rows, settings, yardstick: float) -> None:
    """Print the time, memory, loss and surplus of a release."""

    def release():
        return anon_sql.release_linked(con, "person", into="safe", overwrite=True, **settings)

    def audit():
        return con.execute(AUDIT, {"k": settings["k"], "l": settings.get("l", 1)}).fetchall()

    seconds = least_seconds(release)
    pa.default_memory_pool().release_unused()  # or what earlier runs have left would be used again
    return_memory()
    before, most = peak(release)
    raw = sum(table.nbytes for table in rows.values()) / 2**20
    failed = [row[0] for row in audit() if row[3] is False]
    print(
        f"{settings}: {seconds:.2f} s, {seconds / yardstick:.1f} x; audit "
        f"{least_seconds(audit) / yardstick:.1f} x, failed {failed}; memory {(most - before) / raw:.1f} x"
    )
    for name, table in release().tables.items():
        lost = table.left_out / max(1, rows[name].num_rows)
        gcp = "" if table.gcp is None else f", gcp {table.gcp:.3f}"
        print(
            f"    {name}: {table.rows:,} rows, {table.unlinked:,} unlinked, {lost:.2%} left out{gcp}"
        )


def main(persons: int, k: int) -> None:
    con = anon_sql.connect()
    datasets.hospital(con, persons)
    rows = {name: con.sql(f"FROM {name}").to_arrow_table() for name in datasets.HOSPITAL}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "joined.parquet"
        yardstick = least_seconds(lambda: con.execute(f"COPY ({JOINED}) TO '{file}'"))
    counts = np.array([n for (n,) in con.execute(COUNTS).fetchall()], np.int64)
    bound = least_surplus(counts, k) / max(1, int(counts.sum()))
    print(f"{persons:,} persons, k = {k}: the join takes {yardstick:.2f} s")
    print(f"least surplus of visits {bound:.2%}")
    for settings in ({"k": k}, {"k": k, "l": 2}, {"k": k, "surplus": "unlink"}):
        measure(con, rows, settings, yardstick)


if __name__ == "__main__":
    given = [int(each) for each in sys.argv[1:]]
    main(*given, *(PERSONS, K)[len(given) :])
