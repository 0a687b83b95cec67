"""What it costs to open a database with the functions, beside a sum of hashes on one thread.

    python benchmarks/opening.py

The unit is ``SELECT sum(hash(range)) FROM range(5000000)`` on one thread, measured before each way.
The table gives the least time of each way as a multiple of its unit and in milliseconds, of wall
and of processor time. Each but the last comes after a first connection of the process, which may
have to make the file of stored macros; the last is a new process, without the start of Python.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb

import anon_sql

RUNS = 7
UNIT = "SELECT sum(hash(range)) FROM range(5000000)"
STARTED = """
import time
wall, cpu = time.perf_counter(), time.process_time()
import anon_sql
anon_sql.connect()
print(time.perf_counter() - wall, time.process_time() - cpu)
"""
Times = tuple[float, float]


def timed(call: Callable[[], object]) -> Times:
    """Return the seconds of a call, of wall and of processor time."""
    wall, cpu = time.perf_counter(), time.process_time()
    call()
    return time.perf_counter() - wall, time.process_time() - cpu


def connect(path: str = ":memory:") -> Times:
    """Open a database with the functions."""
    return timed(lambda: anon_sql.connect(path))


def register() -> Times:
    """Register the functions on an open database in memory."""
    con = duckdb.connect()
    return timed(lambda: anon_sql.register(con))


def register_again() -> Times:
    """Register the functions on a cursor of a database that has them."""
    cursor = anon_sql.connect().cursor()
    return timed(lambda: anon_sql.register(cursor))


def start() -> Times:
    """Import the package and open a database, in a new process."""
    command = [sys.executable, "-c", STARTED]
    wall, cpu = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return float(wall), float(cpu)


def least(times: list[Times]) -> Times:
    """Return the least wall and the least processor time."""
    return min(wall for wall, _ in times), min(cpu for _, cpu in times)


def main() -> None:
    """Print the table."""
    alone = duckdb.connect(config={"threads": 1})
    connect()
    print("way                     / unit       ms   / unit, cpu   ms, cpu")
    with tempfile.TemporaryDirectory() as folder:
        ways = {
            "connect, in memory": connect,
            "connect, a file": lambda: connect(str(Path(folder) / "file.duckdb")),
            "register": register,
            "register, again": register_again,
            "import and connect": start,
        }
        for name, way in ways.items():
            units, times = [], []
            for _ in range(RUNS):
                units.append(timed(lambda: alone.execute(UNIT).fetchall()))
                times.append(way())
            (unit, unit_cpu), (wall, cpu) = least(units), least(times)
            print(
                f"{name:<20}{wall / unit:10.2f}{wall * 1000:9.0f}"
                f"{cpu / unit_cpu:14.2f}{cpu * 1000:10.0f}"
            )


if __name__ == "__main__":
    main()
