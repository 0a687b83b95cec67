"""Compile the kernels before the tests run, in two processes: ``python -m tests.kernel_caches``.

numba keeps what it compiles in ``__pycache__``, or in the folder NUMBA_CACHE_DIR, and notices a
change of a kernel's own file only, not of a kernel that it calls. So what was compiled of a file that
has changed, or that imports one that has, is removed first. Nothing is done where nothing has changed
since the last time.

``--into FOLDER`` gives what is compiled to the package that is installed in a folder.
"""

import ast
import contextlib
import hashlib
import json
import os
import shutil
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

from anon_sql.apps.cli.compile import CALLS, DEMO, RELEASE, compile_calls
from tests.example_tables import LEDGER, PEOPLE, PLAN, SERIES, write_files

KERNELS = Path(__file__).resolve().parents[1] / "anon_sql" / "kernels"
CACHES = Path(os.environ.get("NUMBA_CACHE_DIR") or KERNELS / "__pycache__")
RECORD = CACHES / "compiled.json"
CLASSED = "CREATE TABLE classed AS SELECT *, 1 AS class_id FROM people;"


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


def remove_stale(known: dict[str, str], now: dict[str, str], caches: Path = CACHES) -> bool:
    """Remove what was compiled of files that are not as known; return whether there are any.

    caches: a folder with numba's folders, or numba's folder.
    """
    stale = [name for name in now if known.get(name) != now[name]]
    if stale:
        from anon_sql.kernels.numba_internals import files_of

        for name in stale:
            for cached in files_of(caches, Path(name).stem):
                cached.unlink()
    return bool(stale)


def give(package: Path) -> None:
    """Copy what is compiled to another installation of the package, where its files are equal.

    numba reads what it compiled for a source of the same time and size.
    """
    from anon_sql.kernels.numba_internals import files_of

    for path in KERNELS.rglob("*.py"):
        other = package / "kernels" / path.relative_to(KERNELS)
        if other.read_bytes() == path.read_bytes():
            shutil.copystat(path, other)
            caches = other.parent / "__pycache__"
            caches.mkdir(exist_ok=True)
            for cached in files_of(path.parent / "__pycache__", path.stem):
                shutil.copy2(cached, caches)


def main() -> None:
    """Compile what is not compiled, or copy it."""
    from anon_sql.hosts.duckdb import sql_files

    if "--into" in sys.argv:
        give(Path(sys.argv[-1]))
        return
    known = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    now = closures()
    if not remove_stale(known, now):
        return
    sys.stderr.write("Compiling the kernels, once ...\n")
    # this attack takes a release as its call makes it, which the one below is not
    examples = [e.example for e in sql_files.entries() if e.name != "attack_minimality"]
    statements = [*CALLS, *DEMO, *examples]
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        write_files(Path(folder))
        for sql, seconds in compile_calls(
            statements, PEOPLE + RELEASE + CLASSED + PLAN + LEDGER + ";" + SERIES
        ):
            if "-v" in sys.argv:
                sys.stderr.write(f"{seconds:7.2f} s  {sql}\n")
    RECORD.parent.mkdir(exist_ok=True)
    RECORD.write_text(json.dumps(now, indent=1))


if __name__ == "__main__":
    main()
