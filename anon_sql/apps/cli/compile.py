"""``anon-sql compile``: compile the kernels before the first release needs them."""

import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated, Any

import typer

import anon_sql
from anon_sql import kernels
from anon_sql.apps.cli import console
from anon_sql.errors import AnonError, did_you_mean
from anon_sql.hosts.files import temporary_folder

PEOPLE = """
    CREATE TABLE people AS
    SELECT
        (18 + i * 37 % 60)::INTEGER AS age,
        ['Accra', 'Bonn', 'Cape Town', 'Delhi'][1 + i // 3 % 4] AS city,
        ['asthma', 'flu', 'none'][1 + i % 3] AS illness
    FROM range(60) AS made(i);
"""
RELEASE = """
    CREATE TABLE release AS
    SELECT '[18, 77]' AS age, '{Accra, Bonn, ''Cape Town'', Delhi}' AS city, illness FROM people;
"""
TABLES = f"""
    {PEOPLE}
    CREATE TABLE people_hierarchy AS
    FROM numeric_hierarchy('people', 'age', widths := [10, 20])
    UNION ALL
    SELECT 'city', city, level, if(level = 2, '*', left(city, 1))
    FROM (SELECT DISTINCT city FROM people), range(1, 3) AS made(level);
    {RELEASE}
"""
METHODS = [
    *("anonymize", "rayden", "mondrian", "top_down", "k_member", "dop", "oka", "canon"),
    *("mondrian_cof", "basic_mondrian", "datafly", "full_domain"),
]
ALL_KINDS = "k := 3, quasi := ['age', 'city'], sensitive := ['illness']"
BY_TREE = f"{ALL_KINDS}, hierarchy := 'people_hierarchy'"
OWN = {  # what a method needs
    "canon": "k := 3, quasi := ['age'], keep := ['city'], sensitive := ['illness']",
    "basic_mondrian": BY_TREE,
    "datafly": BY_TREE,
}
UNDER_RULES = [
    f"FROM {name}('people', {OWN.get(name, ALL_KINDS)}, l := 2, t := 0.5)" for name in METHODS
]
BY_TREES = [f"FROM {name}('people', {BY_TREE})" for name in reversed(METHODS) if name != "canon"]
CALLS = [  # with options that take kernels of their own; at first two that share few kernels
    UNDER_RULES[0],
    *BY_TREES,
    *UNDER_RULES[1:],
    f"FROM sdka('people', {ALL_KINDS}, generator := 'bootstrap')",
    f"FROM anonymize('people', {ALL_KINDS}, effort := 'best', rounds := 1)",
    f"FROM anonymize('people', {ALL_KINDS}, effort := 'best', rounds := 2, l := 2)",
    f"FROM rayden('people', {ALL_KINDS}, repair := 'merge', vantage := 'farthest', "
    "cut := 'aligned')",
    f"FROM mondrian('people', {ALL_KINDS}, partitioning := 'relaxed')",
    f"FROM dop('people', {ALL_KINDS}, noise := 'split')",
    "FROM anonymize('people', k := 3, l := 2, quasi := ['age'], sensitive := ['illness'], "
    "entity := 'city')",
    *(f"FROM {name}('people', {OWN.get(name, ALL_KINDS)})" for name in METHODS),
]
DEMO = [  # the second process compiles what the first one needs last
    f"FROM anonymize('people', {ALL_KINDS})",
    "FROM audit('people', 'release', 3, quasi := ['age', 'city'], sensitive := 'illness')",
    f"FROM anonymize('people', {ALL_KINDS}, effort := 'fast')",
]

EXTRAS = {"dop": ("sklearn", "ml")}  # a module that a method imports, and the extra with it

_shared: dict[str, Any] = {}  # the connection of a process


def known_functions() -> list[str]:
    """Return the names of the functions whose calls are known."""
    return sorted({_function(call) for call in CALLS})


def _lacking() -> list[str]:
    """Return the functions that need an extra which is not installed."""
    return [name for name, (module, _) in EXTRAS.items() if find_spec(module) is None]


def calls_of(names: Sequence[str]) -> list[str]:
    """Return the calls of release functions; 'demo' stands for those of the demonstration."""
    demo = DEMO if "demo" in names else []
    return [*demo, *(call for call in CALLS if _function(call) in names)]


def missing(calls: Sequence[str]) -> list[str]:
    """Return the calls whose kernels are not known to be compiled on this machine."""
    compiled = _compiled()
    return [call for call in calls if call not in compiled]


def compile_calls(calls: Sequence[str], tables: str = TABLES) -> Iterator[tuple[str, float]]:
    """Run calls, each kernel compiled by one of two processes; yield them with seconds.

    Where numba does not let processes share the work, there is one.

    tables: SQL that makes the tables of the calls. Raises AnonError where a process ends.
    """
    with tempfile.TemporaryDirectory(dir=temporary_folder("compile")) as locks:
        started = (locks, tables)
        count = kernels.parallel.processes()
        with ProcessPoolExecutor(count, get_context("spawn"), _prepare, started) as pool:
            futures = {pool.submit(_call, call): call for call in calls}
            try:
                for future in as_completed(futures):
                    yield futures[future], future.result()
            except BrokenProcessPool:
                rule = "the processes that compile must run to their end"
                raise AnonError("compile", rule, "one that ended") from None
            finally:
                pool.shutdown(wait=True, cancel_futures=True)
    if record := _record():
        done = sorted(_compiled().union(calls))
        text = json.dumps({"of": kernels.parallel.fingerprint(), "calls": done})
        record.write_text(text, encoding="utf-8")


def _function(call: str) -> str:
    return call.removeprefix("FROM ").partition("(")[0]


def _record() -> Path | None:
    """Return the file that lists the compiled calls, None if the folder of kernels is not known.

    Raises AnonError where it cannot be.
    """
    try:
        folder = kernels.parallel.cache_folder()
    except (OSError, RuntimeError):  # RuntimeError: numba found no folder at all
        rule = "there must be a folder for compiled kernels that can be written"
        raise AnonError("compile", rule, None, "set NUMBA_CACHE_DIR") from None
    return None if folder is None else folder / "compiled_calls.json"


def _compiled() -> set[str]:
    """Return the calls whose kernels were compiled by this version on this machine."""
    record = _record()
    try:
        listed = json.loads(record.read_text(encoding="utf-8")) if record else None
    except (OSError, json.JSONDecodeError):
        return set()
    return (
        set(listed["calls"]) if listed and listed["of"] == kernels.parallel.fingerprint() else set()
    )


def _prepare(locks: str, tables: str) -> None:
    """Give this process a connection with the tables; its own notices are not shown."""
    kernels.parallel.compile_what_no_other_does(Path(locks))
    _shared["con"] = con = anon_sql.connect()
    con.execute("SET threads = 1; SET enable_progress_bar = false")
    con.execute(tables)
    sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - as long as the process


def _call(sql: str) -> float:
    """Run a call and return the seconds that it took."""
    started = time.monotonic()
    _shared["con"].execute(sql).fetchall()
    return time.monotonic() - started


def compile_kernels(
    functions: Annotated[
        list[str] | None, typer.Argument(help="Release methods, or demo. Default: all.")
    ] = None,
) -> None:
    """Compile the kernels ahead of the first release, once per machine.

    Two processes share the work. Kernels that are already compiled are kept.

    Example: anon-sql compile anonymize rayden
    """
    with console.one_sentence():
        functions_known = known_functions()
        for name in functions or ():
            if name not in [*functions_known, "demo"]:
                rule = "a function must be one that releases a table, or demo"
                raise AnonError("compile", rule, f"'{name}'", did_you_mean(name, functions_known))
        left_out = [] if functions else _lacking()
        for name in left_out:
            typer.echo(
                f"anon_sql: {name} is left out; pip install 'anon-sql[{EXTRAS[name][1]}]' brings "
                "what it needs",
                err=True,
            )
        calls = missing(
            calls_of(functions or [name for name in functions_known if name not in left_out])
        )
        if not calls:
            typer.echo("anon_sql: the kernels are compiled", err=True)
            return
        typer.echo("anon_sql: compiling the kernels, once on this machine …", err=True)
        started = time.monotonic()
        for _ in compile_calls(calls):
            pass
        typer.echo(f"anon_sql: compiled in {time.monotonic() - started:.0f} s", err=True)
