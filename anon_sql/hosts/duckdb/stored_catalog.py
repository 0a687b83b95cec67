"""The macros in a database file of the machine, from which a database in memory copies them.

To parse them takes ten times as long. DuckDB leaves out their comments when it copies. The file is
made once for each version, text of the macros and version of DuckDB, whole or not at all. Its name
has the digest of its content, and it is in a folder that only its owner can write, so that neither
a damaged file nor one that somebody else has put there is read. Who can write there can also change
the compiled kernels beside it.

Without such a folder, or where DuckDB may not read it, macros are parsed.
"""

import os
import shutil
import stat
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path

import duckdb
from platformdirs import user_cache_path

from anon_sql import system
from anon_sql.core.names import literal, quote
from anon_sql.hosts.duckdb import macros

_ENDING, _HALF_MADE = ".macros", ".new-"
_OLD = 3600  # seconds after which a half-made file is left by a process that was killed
_gave_up: list[str] = []  # why this process has made no file


def folders() -> Iterator[Path]:
    """Yield the folders for the file: beside compiled kernels, and in the user's cache."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        yield Path(chosen).absolute() / "anon_sql_macros"
    yield Path(__file__).resolve().parent / "__pycache__" / "macros"
    cache = user_cache_path("anon_sql", appauthor=False)
    if cache.is_absolute():  # there is a home
        yield cache


def _package_owner() -> int:
    """Return the user who can change the package anyway."""
    return Path(__file__).stat().st_uid


@cache
def _beginning() -> str:
    """Return what the name of the file begins with, before the digest of its content.

    It has a digest of how macros are marked too, since the file holds their mark.
    """
    marked = sha256(Path(macros.__file__).read_bytes()).hexdigest()[:16]
    return f"{macros.stamp().replace(' ', '-')}-{marked}-duckdb-{duckdb.__version__}-"


def _owned(status: os.stat_result) -> bool:
    """Return whether only its owner can write, who is this user or that of the package."""
    return system.is_owned(status, _package_owner()) and not system.others_can_write(status)


def _private(folder: Path) -> bool:
    """Return whether no other user can write into a folder or replace it."""
    try:
        itself, parent = folder.lstat(), folder.parent.stat()
    except OSError:
        return False
    replaceable = parent.st_mode & stat.S_IWOTH and not parent.st_mode & stat.S_ISVTX
    return stat.S_ISDIR(itself.st_mode) and _owned(itself) and not replaceable


def _whole(path: Path) -> bool:
    """Return whether a file has the content that its name promises, and no log beside it."""
    try:
        with open(system.open_itself(path), "rb") as file:
            content = file.read() if _owned(os.fstat(file.fileno())) else b""
    except OSError:
        return False
    digest = path.name.removeprefix(_beginning()).removesuffix(_ENDING)
    return sha256(content).hexdigest() == digest and not any(path.parent.glob(f"{path.name}.*"))


def find() -> Path | None:
    """Return a file that can be trusted, or None."""
    for folder in folders():
        if _private(folder):
            for path in sorted(folder.glob(f"{_beginning()}*{_ENDING}")):
                if _whole(path):
                    return path
    return None


def make(prepare: Callable[[duckdb.DuckDBPyConnection], None]) -> Path | None:
    """Make the file and return it; None where that is not possible, which is tried once.

    prepare: adds what the macros call to a connection.
    """
    if _gave_up:
        return None
    for folder in folders():
        with suppress(OSError):
            folder.mkdir(mode=0o755, parents=True, exist_ok=True)
        if not _private(folder) or not os.access(folder, os.W_OK):
            continue
        try:
            return _make(folder, prepare)
        except (OSError, duckdb.Error) as error:  # a disk that is full
            _gave_up.append(type(error).__name__)
            return None
    _gave_up.append("no folder")
    return None


def _make(folder: Path, prepare: Callable[[duckdb.DuckDBPyConnection], None]) -> Path:
    for left in folder.glob(f"{_HALF_MADE}*"):
        with suppress(OSError):
            if time.time() - left.stat().st_mtime > _OLD:
                shutil.rmtree(left)
    with tempfile.TemporaryDirectory(prefix=_HALF_MADE, dir=folder) as half_made:
        path = Path(half_made) / "macros"
        # older storage forgets which steps are to be evaluated once
        with duckdb.connect(str(path), config={"storage_compatibility_version": "latest"}) as con:
            prepare(con)
            con.execute(macros.script(commented=()))
            con.execute(macros.mark(con))
            con.execute(f"DROP MACRO {macros.DATABASE}")
        path.chmod(0o644)
        digest = sha256(path.read_bytes()).hexdigest()
        target = folder / f"{_beginning()}{digest}{_ENDING}"
        os.replace(path, target)
        return target


def copied(con: duckdb.DuckDBPyConnection, database: str, path: Path) -> bool:
    """Copy the macros of a file into a database without any of their names.

    No transaction may be open. Returns whether they were copied: all or none are.
    """
    name = quote(f"__anon_{uuid.uuid4().hex}")
    try:
        con.execute(f"ATTACH {literal(str(path))} AS {name} (READ_ONLY, TYPE duckdb)")
    except duckdb.Error:  # such as a database that may read no files
        return False
    try:
        with macros.transaction(con):
            con.execute(f"COPY FROM DATABASE {name} TO {quote(database)} (SCHEMA)")
            con.execute(macros.database())
    except duckdb.Error:
        return False
    finally:
        con.execute(f"DETACH {name}")
    return True
