"""What a process still holds after many calls, connections and failures: it should be nothing.

    python -m benchmarks.soak [--calls 20000] [--connections 2000] [--failures 500] [--tolerance 32]

Three rounds run in one process, each after a few runs of the same kind that are not counted:
``--calls`` calls on one connection, the example of every function in turn; ``--connections``
connections that are opened, release a table of 60 rows and are closed; ``--failures`` statements on
one connection that fail, at each of their steps in turn (``FAILURES``). Each prints memory (RSS),
file descriptors, threads and temporary files before and after it.

The exit code is 1 where one of the last three differs, where rows or keys are still held, or where
memory grew by more than ``--tolerance`` MiB: what malloc keeps for later differs by some MiB from
run to run, and a leak of one row group or plan for each call would be hundreds. Needs Linux.
"""

import argparse
import gc
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path

import duckdb

import anon_sql
from anon_sql.core import pseudonyms
from anon_sql.core.arrow import return_memory
from anon_sql.hosts.duckdb import register, rows, sql_files
from tests.example_tables import LEDGER, SERIES, TABLES, write_files

ROLES = "quasi := ['age', 'city'], keep := ['illness']"
KEY = "0123456789abcdef"
VIEWS = """
    CREATE TABLE many AS SELECT i % 60 AS age, 'city ' || i % 4 AS city, i AS illness FROM range(5000) r(i);
    CREATE VIEW broken_first AS SELECT age, city, error('the first row') AS illness FROM many;
    CREATE VIEW broken_last AS
    SELECT age, city, if(illness < 4900, illness, error('a late row')) AS illness FROM many;
    CREATE TABLE wrong AS SELECT '[' || age AS age, city, illness FROM people;
    CREATE VIEW wrong_last AS
    SELECT age, city, if(illness < 4900, illness, error('a late row')) AS illness
    FROM (SELECT '[0, 59]' AS age, city, illness FROM many);
    CREATE TABLE bad_hierarchy(attribute VARCHAR, value VARCHAR, level INTEGER, label VARCHAR);
    INSERT INTO bad_hierarchy VALUES ('city', 'Bonn', 1, 'a'), ('city', 'Bonn', 1, 'b');
"""
FAILURES = {  # the step at which a statement fails
    "names are bound": f"FROM rayden('nobody', k := 5, {ROLES})",
    "parameters are read": f"FROM rayden('people', k := 0, {ROLES})",
    "roles are determined": "FROM rayden('people', k := 5, quasi := ['age'])",
    "the first row is read": f"FROM rayden('broken_first', k := 5, {ROLES})",
    "a late row is read": f"FROM rayden('broken_last', k := 5, {ROLES})",
    "the hierarchy is read": f"FROM rayden('people', k := 5, {ROLES}, hierarchy := 'bad_hierarchy')",
    "the request meets the rows": f"FROM rayden('people', k := 61, {ROLES})",
    "classes are made": f"FROM full_domain('people', k := 5, {ROLES}, like := 'wrong')",
    "rows go back": (
        f"SELECT if(illness = 4321, error('on the way back'), age) "
        f"FROM rayden('many', k := 5, {ROLES})"
    ),
    "an audit reads its parameters": f"FROM audit('people', 'release', 0, {ROLES})",
    "an audit reads raw rows": f"FROM audit('broken_last', 'wrong_last', 5, {ROLES})",
    "an audit reads released rows": f"FROM audit('many', 'wrong_last', 5, {ROLES})",
    "a measure reads labels": "SELECT gcp('people', 'wrong', quasi := ['age', 'city'])",
    "a key is read": "SELECT anon_pseudonym(city, 'env:NO_SUCH_KEY') FROM people",
    "a value is hashed": f"SELECT anon_pseudonym(age::DOUBLE, '{KEY}') FROM people",
    "a label is read": "SELECT anon_min(age) FROM wrong",
}


@dataclass(frozen=True)
class State:
    """What a process holds. memory: RSS in MiB; kept: rows and keys that the package holds."""

    memory: float
    files: int
    threads: int
    temporary: int
    kept: int

    @classmethod
    def now(cls) -> "State":
        """Return the state after garbage was collected and ended threads have left the system."""
        gc.collect()
        time.sleep(0.5)
        return_memory()
        status = Path("/proc/self/status").read_text("ascii")
        (resident,) = [line.split()[1] for line in status.splitlines() if line.startswith("VmRSS:")]
        return cls(
            int(resident) / 1024,
            len(os.listdir("/proc/self/fd")),
            len(os.listdir("/proc/self/task")),
            sum(len(found) for _, *found in map(_names, os.walk(tempfile.gettempdir()))),
            len(rows._open) + len(pseudonyms._keys) + len(register._connections),
        )

    def faults(self, before: "State", tolerance: float) -> list[str]:
        """Return what is more, or less, than before."""
        grown = self.memory - before.memory
        found = [f"{grown:.0f} MiB of memory"] if grown > tolerance else []
        for name in ("files", "threads", "temporary", "kept"):
            more = getattr(self, name) - getattr(before, name)
            found += [f"{more:+} {name}"] if more else []
        return found


def _names(found: tuple[str, list[str], list[str]]) -> tuple[str, *tuple[str, ...]]:
    folder, folders, files = found
    return folder, *folders, *files


@contextmanager
def opened() -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a database with the tables of the examples and of ``FAILURES``."""
    con = anon_sql.connect()
    try:
        for script in (TABLES, LEDGER, SERIES, VIEWS):
            con.execute(script)
        yield con
    finally:
        con.close()


def call(con: duckdb.DuckDBPyConnection, statement: str) -> None:
    """Read all rows of a statement."""
    con.execute(statement).fetchall()


def fail(con: duckdb.DuckDBPyConnection, statement: str) -> None:
    """Run a statement that fails. Raises RuntimeError if it does not."""
    try:
        call(con, statement)
    except duckdb.Error:
        return
    raise RuntimeError(f"this must fail: {statement}")


def calls(count: int) -> None:
    """Run the examples of all functions in turn on one connection, and keys that differ."""
    examples = [entry.example for entry in sql_files.entries()]
    with opened() as con:
        for at, statement in enumerate(islice(cycle(examples), count)):
            call(con, statement)
            call(con, f"SELECT anon_pseudonym('one', '{KEY}{at}')")


def connections(count: int) -> None:
    """Open connections, each with a cursor that fails while rows are read, and close them."""
    for at in range(count):
        con = anon_sql.connect()
        con.execute(
            TABLES.partition("CREATE TABLE people_hierarchy")[0]
            + VIEWS.partition("CREATE TABLE wrong")[0]
        )
        call(con, f"FROM rayden('people', k := 5, {ROLES})")
        call(con, f"SELECT anon_pseudonym('one', '{KEY}{at}')")
        fail(con.cursor(), FAILURES["a late row is read"])
        con.close()


def failures(count: int) -> None:
    """Fail at each step in turn, on one connection; then be stopped, and release a table."""
    with opened() as con:
        for statement in islice(cycle(FAILURES.values()), count):
            fail(con, statement)
        stop = threading.Timer(0.05, con.interrupt)
        stop.start()
        fail(con, "SELECT count(*) FROM range(100000000000)")
        stop.join()
        call(con, f"FROM rayden('people', k := 5, {ROLES})")


def held(name: str, work: Callable[[int], None], count: int, warm: int, tolerance: float) -> bool:
    """Run some work twice, the first time to warm up; print and return whether it left nothing."""
    work(min(warm, count))
    before, started = State.now(), time.monotonic()
    work(count)
    after, seconds = State.now(), time.monotonic() - started
    for when, state in (("before", before), ("after", after)):
        print(
            f"{name if when == 'before' else '':<12}{count if when == 'before' else '':>8} {when:<7}"
            f"{state.memory:8.1f}{state.files:8}{state.threads:9}{state.temporary:11}{state.kept:6}"
        )
    faults = after.faults(before, tolerance)
    print(f"{'':21}{seconds:.0f} s; left behind: {', '.join(faults) or 'nothing'}", flush=True)
    return not faults


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; return the exit code."""
    parser = argparse.ArgumentParser(description="What is still held after many calls.")
    parser.add_argument("--calls", type=int, default=20_000)
    parser.add_argument("--connections", type=int, default=2_000)
    parser.add_argument("--failures", type=int, default=500)
    parser.add_argument("--tolerance", type=float, default=32.0, help="MiB")
    given = parser.parse_args(arguments)
    kinds = len(sql_files.entries())
    rounds = (
        ("calls", calls, given.calls, kinds),
        ("connections", connections, given.connections, 10),
        ("failures", failures, given.failures, len(FAILURES)),
    )
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        tempfile.tempdir = str(Path(folder, "temporary"))
        Path(tempfile.tempdir).mkdir()
        os.chdir(folder)
        write_files(Path(folder))
        print(f"DuckDB {duckdb.__version__}; tolerance {given.tolerance:g} MiB")
        print(
            f"{'round':<12}{'count':>8} {'':7}{'MiB':>8}{'files':>8}{'threads':>9}{'temporary':>11}{'kept':>6}"
        )
        try:
            good = [
                held(name, work, count, warm, given.tolerance)
                for name, work, count, warm in rounds
                if count
            ]
        finally:
            os.chdir(here)
            tempfile.tempdir = None
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
