"""Compile the kernels before the tests run, in two processes: ``python -m tests.kernel_caches``.

numba keeps what it compiles in ``__pycache__`` and notices a change of a kernel's own file only, not
of a kernel that it calls. So what was compiled of a file that has changed, or that imports one that
has, is removed first. Nothing is done where nothing has changed since the last time.

``--into FOLDER`` gives what is compiled to the package that is installed in a folder.
"""

import ast
import fcntl
import hashlib
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher

from tests.example_tables import LEDGER, PEOPLE, write_files

KERNELS = Path(__file__).resolve().parents[1] / "anon_sql" / "kernels"
RECORD = KERNELS / "__pycache__" / "compiled.json"
RELEASE = """
    CREATE TABLE release AS SELECT '[18, 77]' AS age,
        '{Accra, Bonn, ''Cape Town'', Delhi}' AS city, illness FROM people;
    CREATE TABLE classed AS SELECT *, 1 AS class_id FROM people;
"""
METHODS = [
    *("anonymize", "rayden", "mondrian", "top_down", "k_member", "dop", "oka", "canon"),
    *("mondrian_cof", "basic_mondrian", "datafly", "full_domain"),
]
ALL_KINDS = "k := 3, qids := ['age', 'city'], sensitive := ['illness']"
BY_TREE = f"{ALL_KINDS}, hierarchy := 'people_hierarchy'"
OWN = {  # what a method needs for one call, and options that take kernels of their own
    "canon": "k := 3, qids := ['age'], keep := ['city'], sensitive := ['illness']",
    "basic_mondrian": BY_TREE,
    "datafly": BY_TREE,
}
CALLS = [
    *(f"FROM {name}('people', {OWN.get(name, ALL_KINDS)}, l := 2, t := 0.5)" for name in METHODS),
    f"FROM sdka('people', {ALL_KINDS}, generator := 'bootstrap')",
    f"FROM anonymize('people', {ALL_KINDS}, effort := 'best', rounds := 1)",
    f"FROM anonymize('people', {ALL_KINDS}, effort := 'best', rounds := 2, l := 2)",
    f"FROM rayden('people', {ALL_KINDS}, repair := 'merge', vantage := 'farthest', cut := 'aligned')",
    f"FROM mondrian('people', {ALL_KINDS}, partitioning := 'relaxed')",
    f"FROM dop('people', {ALL_KINDS}, noise := 'split')",
    "FROM anonymize('people', k := 3, l := 2, qids := ['age'], sensitive := ['illness'], "
    "entity := 'city')",
    *(f"FROM {name}('people', {BY_TREE})" for name in METHODS if name not in OWN),
    *(f"FROM {name}('people', {OWN.get(name, ALL_KINDS)})" for name in METHODS),
]

_shared = {}  # the connection of a process


def closures() -> dict[str, str]:
    """Return, by the kernel files' names, a hash of each with all that it imports of the others."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(KERNELS.rglob("*.py"))}
    modules = {
        ".".join(path.relative_to(KERNELS.parents[1]).with_suffix("").parts): path for path in texts
    }
    imports = {path: _imported(text, modules) for path, text in texts.items()}
    found = {}
    for path in texts:
        seen, new = set(), {path}
        while new:
            seen |= new
            new = set().union(*(imports[each] for each in new)) - seen
        whole = "".join(texts[each] for each in sorted(seen))
        parts = (whole, version("numba"), version("numpy"), sys.version)
        found[str(path.relative_to(KERNELS))] = hashlib.sha256(repr(parts).encode()).hexdigest()
    return found


def _imported(text: str, modules: dict[str, Path]) -> set[Path]:
    """Return the files of the kernels that the text of one imports."""
    names = {
        name
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ImportFrom) and node.module
        for name in (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))
    }
    return {modules[name] for name in names if name in modules}


def remove_stale(known: dict[str, str], now: dict[str, str]) -> bool:
    """Remove what was compiled of files that are not as known; return whether there are any."""
    stale = [name for name in now if known.get(name) != now[name]]
    for name in stale:
        path = KERNELS / name
        for cached in (path.parent / "__pycache__").glob(f"{path.stem}.*.nb[ic]"):
            cached.unlink()
    return bool(stale)


def compile_what_no_other_does(locks: Path) -> None:
    """Let this process wait for a kernel that the other one compiles, and read what that wrote."""
    alone, held = Dispatcher.compile, set()

    @contextmanager
    def locked(name: str) -> Iterator[None]:
        if name in held:  # a kernel that calls itself
            yield
            return
        with (locks / name).open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            held.add(name)
            try:
                yield
            finally:
                held.remove(name)

    def compile_(kernel: Dispatcher, signature: Any) -> Any:
        function = kernel.py_func
        with global_compiler_lock, locked(f"{function.__module__}.{function.__qualname__}"):
            return alone(kernel, signature)

    Dispatcher.compile = compile_


def prepare(locks: Path) -> None:
    """Give this process a connection with the tables of the examples."""
    import anon_sql

    compile_what_no_other_does(locks)
    folder = Path(tempfile.mkdtemp())
    write_files(folder)
    os.chdir(folder)
    _shared["con"] = con = anon_sql.connect()
    con.execute("SET threads = 1")
    con.execute(PEOPLE + RELEASE + LEDGER)


def call(sql: str) -> float:
    """Run a statement and return the seconds that it took."""
    started = time.monotonic()
    _shared["con"].execute(sql).fetchall()
    return time.monotonic() - started


def give(package: Path) -> None:
    """Copy what is compiled to another installation of the package, where its files are equal.

    numba reads what it compiled for a source of the same time and size.
    """
    for path in KERNELS.rglob("*.py"):
        other = package / "kernels" / path.relative_to(KERNELS)
        if other.read_bytes() == path.read_bytes():
            shutil.copystat(path, other)
            caches = other.parent / "__pycache__"
            caches.mkdir(exist_ok=True)
            for cached in (path.parent / "__pycache__").glob(f"{path.stem}.*.nb[ic]"):
                shutil.copy2(cached, caches)


def main() -> None:
    """Compile what is not compiled, or copy it."""
    from anon_sql.hosts.duckdb import headers

    if "--into" in sys.argv:
        give(Path(sys.argv[-1]))
        return
    known = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    now = closures()
    if not remove_stale(known, now):
        return
    sys.stderr.write("Compiling the kernels, once ...\n")
    statements = [*CALLS, *(entry.example for entry in headers.entries())]
    with (
        tempfile.TemporaryDirectory() as locks,
        ProcessPoolExecutor(2, get_context("spawn"), prepare, (Path(locks),)) as pool,
    ):
        futures = {pool.submit(call, sql): sql for sql in statements}
        for future in as_completed(futures):
            seconds = future.result()
            if "-v" in sys.argv:
                sys.stderr.write(f"{seconds:7.2f} s  {futures[future]}\n")
    RECORD.parent.mkdir(exist_ok=True)
    RECORD.write_text(json.dumps(now, indent=1))


if __name__ == "__main__":
    main()
