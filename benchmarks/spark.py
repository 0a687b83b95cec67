"""What a release costs in Spark beside Spark's own orderBy of the same rows, in the same session.

    python benchmarks/spark.py [--part-rows N] [--folder DIR] [--executors N …] [rows …]

The table is Adult-like, 9 columns, a Parquet file that DuckDB writes. In one local session of two
threads that has read and sorted the table once before, in turn

    df.orderBy(<quasi-identifiers>).write.parquet(…)
    anon_sql.spark.anonymize(df, k=10, …).write.parquet(…)

With --executors, such as 1 2 4, the session is a cluster on this machine: as many executors,
processes of one task at a time. Printed are the seconds and the CPU seconds of the process tree
(JVMs and Python workers), their ratios, the seconds of the part that runs at once, the largest
worker of Python, and gcp; then each stage of Spark, from its event log, with the CPU seconds of the
process tree meanwhile, and what a model makes of them:

    seconds on n cores = seconds without a task + sum over stages of CPU seconds / min(n, tasks)

where stages that read the table have as many tasks as there are cores. Absolute times are of one
machine on one day; the ratios are what is claimed.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import anon_sql
import anon_sql.spark
from anon_sql import datasets

ROWS = [1_000_000]
CORES = (1, 2, 4, 8, 16)
MEGABYTES = 2048  # memory of an executor
DOES = {"write": "WriteFiles", "route or release": "MapInArrow"}  # by a part of a stage
HEADER = (
    "        rows    sort s    CPU s  release s    CPU s   ratio     CPU planned s worker MB  gcp"
)
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
        self.trace = [(time.time(), 0.0)]
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
        self.trace.append((time.time(), sum(self.cpu.values())))

    def __exit__(self, *_: Any) -> None:
        self.seconds = time.perf_counter() - self.started
        self.going = False
        self.thread.join()
        self.look()
        self.total = sum(self.cpu.values())


def cpu(stat: list[str]) -> float:
    """CPU seconds of a process itself."""
    return (int(stat[12]) + int(stat[13])) / TICK


def session(folder: Path, executors: int | None) -> Any:
    """Return a session of two threads, or of executors of one thread each."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    (folder / "events").mkdir(exist_ok=True)
    master = "local[2]" if executors is None else f"local-cluster[{executors},1,{MEGABYTES}]"
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "4g",
        "spark.executor.memory": f"{MEGABYTES}m",
        "spark.executorEnv.PYTHONPATH": str(Path(anon_sql.__file__).parents[1]),
        "spark.local.dir": str(folder),
        "spark.driver.host": "127.0.0.1",
        "spark.log.level": "ERROR",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": f"file://{folder / 'events'}",
        "spark.eventLog.compress": "false",
        "spark.eventLog.rolling.enabled": "false",
    }
    made = SparkSession.builder.master(master)
    for name, value in settings.items():
        made = made.config(name, value)
    return made.getOrCreate()


@dataclass(frozen=True)
class Stage:
    """A stage of Spark: what it does, its tasks, its seconds, and CPU seconds of the process tree.

    reads: whether it reads the table.
    """

    does: str
    tasks: int
    seconds: float
    cpu: float
    reads: bool


def stages(log: Path, watched: Watched) -> tuple[list[Stage], float]:
    """The stages while a block ran, and its seconds without a stage."""
    times, used = map(np.array, zip(*watched.trace, strict=True))
    found, ends = [], [(times[0], times[0]), (times[-1], times[-1])]
    for line in log.read_text().splitlines():
        event = json.loads(line)
        if event["Event"] != "SparkListenerStageCompleted":
            continue
        stage = event["Stage Info"]
        began, ended = stage["Submission Time"] / 1000, stage["Completion Time"] / 1000
        if not times[0] <= began <= ended <= times[-1]:
            continue
        scopes = {json.loads(rdd["Scope"])["name"] for rdd in stage["RDD Info"] if "Scope" in rdd}
        spent = float(np.diff(np.interp([began, ended], times, used))[0])
        reads = any(name.startswith("Scan") for name in scopes)
        does = next((text for text, scope in DOES.items() if scope in scopes), "shuffle")
        does = f"read, {does}" if reads else does
        found.append(Stage(does, stage["Number of Tasks"], ended - began, spent, reads))
        ends.append((began, ended))
    idle, until = 0.0, times[0]
    for began, ended in sorted(ends):
        idle, until = idle + max(0.0, began - until), max(until, ended)
    return found, float(idle)


def predicted(parts: list[Stage], idle: float, cores: int) -> float:
    """Seconds on so many cores by the model."""
    return idle + sum(
        each.cpu / (cores if each.reads else min(cores, each.tasks)) for each in parts
    )


def show(name: str, parts: list[Stage], idle: float) -> None:
    """Print the stages, and what the model makes of them."""
    print(f"  {name}: {idle:.1f} s without a task, CPU {sum(each.cpu for each in parts):.1f} s")
    for each in parts:
        print(f"    {each.does:24}{each.tasks:5} tasks{each.seconds:8.1f} s{each.cpu:8.1f} CPU s")
    told = (f"{n}: {predicted(parts, idle, n):.1f} s" for n in CORES)
    print("    model, by cores:", ", ".join(told), flush=True)


def measure(spark: Any, folder: Path, rows: int, part_rows: int) -> dict[str, Watched]:
    """Print what a sort and a release cost, and return both."""
    source = folder / f"adult_{rows}.parquet"
    if not source.is_file():
        with anon_sql.connect() as con:
            datasets.adult(con, rows, table="adult_like", seed=42, roles=False)
            con.execute(f"COPY adult_like TO '{source}'")
    df = spark.read.parquet(str(source))
    roles = {"quasi": datasets.QUASI, "sensitive": datasets.SENSITIVE, "keep": ["*"]}
    out = str(folder / "out")

    def write(made: Callable[[], Any]) -> Watched:
        with Watched() as watched:
            made().write.mode("overwrite").parquet(out)
        return watched

    planned = 0.0

    def release() -> Any:
        nonlocal planned
        started = time.perf_counter()
        made = anon_sql.spark.anonymize(df, k=10, part_rows=part_rows, **roles)
        planned = time.perf_counter() - started
        return made

    write(lambda: df.orderBy(*datasets.QUASI))
    few = df.limit(50_000)
    write(lambda: anon_sql.spark.anonymize(few, k=10, part_rows=20_000, **roles))
    sort = write(lambda: df.orderBy(*datasets.QUASI))
    made = write(release)
    loss = anon_sql.spark.gcp(df, spark.read.parquet(out), quasi=datasets.QUASI)
    print(
        f"{rows:12,}{sort.seconds:10.1f}{sort.total:9.1f}{made.seconds:11.1f}{made.total:9.1f}"
        f"{made.seconds / sort.seconds:8.2f}{made.total / sort.total:8.2f}{planned:10.1f}"
        f"{made.worker / 1e6:10,.0f}  {loss:.5f}",
        flush=True,
    )
    return {f"sort {rows:,}": sort, f"release {rows:,}": made}


def main() -> None:
    asked = argparse.ArgumentParser()
    asked.add_argument("rows", nargs="*", type=int, default=ROWS)
    asked.add_argument("--part-rows", type=int, default=anon_sql.spark.PART_ROWS)
    asked.add_argument("--folder", type=Path)
    asked.add_argument("--executors", nargs="+", type=int, default=[None])
    given = asked.parse_args()
    folder = given.folder or Path(tempfile.mkdtemp())
    for executors in given.executors:
        spark = session(folder, executors)
        print("local[2]" if executors is None else f"executors: {executors}")
        print(HEADER)
        ran: dict[str, Watched] = {}
        for rows in given.rows or ROWS:
            ran |= measure(spark, folder, rows, given.part_rows)
        log = folder / "events" / spark.sparkContext.applicationId
        spark.stop()
        for name, watched in ran.items():
            show(name, *stages(log, watched))
    if given.folder is None:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
