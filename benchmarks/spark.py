"""What a release costs in Spark beside Spark's own orderBy of the same rows, in the same session.

    python benchmarks/spark.py [--region-rows N] [--folder DIR] [--executors N] [rows …]

The table is Adult-like, 9 columns, a Parquet file that DuckDB writes. In one local session of two
threads, or of --executors, which has read and sorted the table once before, in turn

    df.orderBy(<quasi-identifiers>).write.parquet(…)
    anon_sql.spark.anonymize(df, k=10, …).write.parquet(…)

Printed are the seconds and the CPU seconds of the process tree (JVM and Python workers), their
ratios, the seconds of the part that runs at once, the largest worker of Python, and gcp. Absolute
times are of one machine on one day; the ratios are what is claimed.
"""

import argparse
import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anon_sql
import anon_sql.spark
from anon_sql import datasets

ROWS = [1_000_000]
TICK = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")


def tree() -> dict[int, list[str]]:
    """The fields of /proc/*/stat of this process and all below it."""
    found = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = path.read_text()
        except OSError:
            continue
        found[int(path.parent.name)] = [
            text.split("(")[1].split(")")[0],
            *text.rsplit(")")[-1].split(),
        ]
    kept, added = {os.getpid()}, True
    while added:
        new = {pid for pid, stat in found.items() if int(stat[2]) in kept} - kept
        kept, added = kept | new, bool(new)
    return {pid: found[pid] for pid in kept if pid in found}


class Watched:
    """CPU seconds of the tree and the largest Python worker, sampled while a block runs."""

    def __enter__(self) -> "Watched":
        self.cpu: dict[int, float] = {}
        self.before = {pid: cpu(stat) for pid, stat in tree().items()}
        self.worker, self.going, self.started = 0, True, time.perf_counter()
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()
        return self

    def watch(self) -> None:
        while self.going:
            self.look()
            time.sleep(0.2)

    def look(self) -> None:
        for pid, stat in tree().items():
            self.cpu[pid] = cpu(stat) - self.before.get(pid, 0.0)
            if pid != os.getpid() and stat[0].startswith("python"):
                self.worker = max(self.worker, int(stat[22]) * PAGE)

    def __exit__(self, *_: Any) -> None:
        self.seconds = time.perf_counter() - self.started
        self.going = False
        self.thread.join()
        self.look()
        self.total = sum(self.cpu.values())


def cpu(stat: list[str]) -> float:
    """CPU seconds of a process itself."""
    return (int(stat[12]) + int(stat[13])) / TICK


def session(folder: Path, executors: int) -> Any:
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    made = SparkSession.builder.master(f"local[{executors}]").config("spark.ui.enabled", "false")
    made = made.config("spark.driver.memory", "4g").config("spark.local.dir", str(folder))
    made = made.config("spark.driver.host", "127.0.0.1").config("spark.log.level", "ERROR")
    return made.config("spark.sql.warehouse.dir", str(folder / "warehouse")).getOrCreate()


def measure(spark: Any, folder: Path, rows: int, region_rows: int) -> None:
    source = folder / f"adult_{rows}.parquet"
    if not source.is_file():
        with anon_sql.connect() as con:
            datasets.adult(con, rows, table="adult_like", seed=42, roles=False)
            con.execute(f"COPY adult_like TO '{source}'")
    df = spark.read.parquet(str(source))
    roles = {"qids": datasets.QUASI, "sensitive": datasets.SENSITIVE, "keep": ["*"]}
    out = str(folder / "out")

    def write(made: Callable[[], Any]) -> Watched:
        with Watched() as watched:
            made().write.mode("overwrite").parquet(out)
        return watched

    planned = 0.0

    def release() -> Any:
        nonlocal planned
        started = time.perf_counter()
        made = anon_sql.spark.anonymize(df, k=10, region_rows=region_rows, **roles)
        planned = time.perf_counter() - started
        return made

    write(lambda: df.orderBy(*datasets.QUASI))
    few = df.limit(50_000)
    write(lambda: anon_sql.spark.anonymize(few, k=10, region_rows=20_000, **roles))
    sort = write(lambda: df.orderBy(*datasets.QUASI))
    made = write(release)
    loss = anon_sql.spark.gcp(df, spark.read.parquet(out), qids=datasets.QUASI)
    print(
        f"{rows:12,}{sort.seconds:10.1f}{sort.total:9.1f}{made.seconds:11.1f}{made.total:9.1f}"
        f"{made.seconds / sort.seconds:8.2f}{made.total / sort.total:8.2f}{planned:10.1f}"
        f"{made.worker / 1e6:10,.0f}  {loss:.5f}",
        flush=True,
    )


def main() -> None:
    asked = argparse.ArgumentParser()
    asked.add_argument("rows", nargs="*", type=int, default=ROWS)
    asked.add_argument("--region-rows", type=int, default=anon_sql.spark.REGION_ROWS)
    asked.add_argument("--folder", type=Path)
    asked.add_argument("--executors", type=int, default=2)
    given = asked.parse_args()
    folder = given.folder or Path(tempfile.mkdtemp())
    spark = session(folder, given.executors)
    print(
        "        rows    sort s    CPU s  release s    CPU s   ratio     CPU planned s worker MB  gcp"
    )
    for rows in given.rows:
        measure(spark, folder, rows, given.region_rows)
    if given.folder is None:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
