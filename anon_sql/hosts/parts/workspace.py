"""The private folder of a release in parts, and the table, file or folder that it is written to.

The private folder that holds routed rows and finished regions until the release is written. Its
name follows from the target, so that a later call finds what an interrupted one has left.
"""

import hashlib
import json
import os
import shutil
import stat
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, TextIO

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql import kernels, system
from anon_sql.core import stopping
from anon_sql.core.names import quote, split
from anon_sql.errors import AnonError, Parameter
from anon_sql.hosts.files import (
    atomic_file,
    atomic_folder,
    means_folder,
    remove_temporary,
    require_new_folder,
    stored,
    temporary_folder,
    write_files,
)
from anon_sql.hosts.parquet import ArrowRows, write_parquet

_LOCK, _STATE = "lock", "state.json"
_MAX_FOLDERS = 100  # folders of one name


@dataclass(frozen=True)
class Place:
    """Where the folder of a call lies.

    parent: a folder on the disk of the target. target: what tells the target from others. shared:
    whether several targets are called so, and calls at the same time have folders of their own.
    """

    parent: Path
    target: str
    shared: bool = False

    @staticmethod
    def beside(target: Path) -> "Place":
        """Return the place beside a file."""
        final = target.resolve()
        return Place(final.parent, final.name)

    def folders(self) -> list[Path]:
        """Return the possible folders: first those that are there, then those to be made."""
        digest = hashlib.sha256(os.fsencode(self.target)).hexdigest()[:16]
        first = self.parent / f".anon-sql-{digest}-parts"
        further = range(2, _MAX_FOLDERS + 1) if self.shared else ()
        folders = [first, *(first.with_name(f"{first.name}-{number}") for number in further)]
        return sorted(folders, key=lambda folder: not folder.exists())


class Workspace:
    """A folder that one call uses at a time, readable by its owner only."""

    def __init__(self, place: Place):
        self.place = place
        self.folder = place.parent
        self.run = b""
        self._lock: TextIO | None = None

    def open(self, *, resume: bool) -> None:
        """Make the folder; empty it unless ``resume``. Raises AnonError if another uses it."""
        for folder in self.place.folders():
            self.folder, self._lock = folder, _locked(folder)
            if self._lock is not None:
                break
        else:
            rule = "one call at a time may write a target"
            raise AnonError("release", rule, "another that does")
        self.clear(but=(self.spill, self.done, self.folder / _STATE) if resume else ())

    def clear(self, but: Container[Path] = ()) -> None:
        """Remove what the folder holds, but for some paths."""
        for path in self.folder.iterdir():
            if path.name != _LOCK and path not in but:
                shutil.rmtree(path) if _is_folder(path) else path.unlink()

    def close(self, *, keep: bool) -> None:
        """Release the folder and, unless ``keep``, remove it."""
        if self._lock is None:
            return
        if not keep:
            with suppress(OSError):  # a call that waits for the folder has it again
                self.clear()
                (self.folder / _LOCK).unlink()
                self.folder.rmdir()
        self._lock.close()
        self._lock = None

    @property
    def temporary(self) -> Path:
        """Return the folder for DuckDB's temporary files."""
        return self.folder / "temporary"

    @property
    def spill(self) -> Path:
        """Return the folder of the routed rows."""
        return self.folder / "rows"

    @property
    def done(self) -> Path:
        """Return the folder of finished regions."""
        return self.folder / "done"

    def state(self) -> dict[str, Any] | None:
        """Return what ``remember`` has stored; None if there is nothing, or if it is damaged."""
        if not (_is_folder(self.spill) and _is_folder(self.done)):
            return None
        with suppress(OSError, ValueError):
            with os.fdopen(system.open_itself(self.folder / _STATE), "rb") as file:
                stored = json.load(file)
            state = stored.get("state") if isinstance(stored, dict) else None
            if isinstance(state, dict) and stored.get("sha256") == _digest(state):
                self.run = bytes.fromhex(stored["sha256"])
                return state
        return None

    def remember(self, state: dict[str, Any]) -> None:
        """Store the state of a call whose rows are all routed; its hash is ``run``."""
        aside, digest = self.folder / "state.tmp", _digest(state)
        aside.write_text(json.dumps({"state": state, "sha256": digest}), "utf-8")
        aside.replace(self.folder / _STATE)
        self.run = bytes.fromhex(digest)


def _digest(state: object) -> str:
    return hashlib.sha256(json.dumps(state, sort_keys=True).encode()).hexdigest()


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _locked(folder: Path) -> TextIO | None:
    """Return the lock of a folder, which is made if there is none; None if another call has it."""
    rule = "the folder of unfinished parts must be the caller's own"
    while True:
        try:
            folder.mkdir(mode=0o700)
        except FileExistsError:
            pass
        except OSError:
            place = "the folder of the target must be one that can be written"
            raise AnonError("release", place, f"'{folder.parent}'") from None
        with suppress(FileNotFoundError):  # the call that had the folder removes it just now
            there = folder.lstat()
            if not stat.S_ISDIR(there.st_mode) or not system.is_owned(there):
                raise AnonError("release", rule, f"'{folder}' of another", "remove it")
            folder.chmod(0o700)
            try:
                lock = os.fdopen(system.open_itself(folder / _LOCK, os.O_WRONLY | os.O_CREAT), "w")
            except FileNotFoundError:
                raise
            except OSError:
                got = f"'{folder}' with a lock that is no file"
                raise AnonError("release", rule, got, "remove it") from None
            try:
                free = system.lock(lock.fileno())
            except OSError:  # a file system without locks
                free = False
            if not free:
                lock.close()
                return None
            if os.fstat(lock.fileno()).st_nlink:
                return lock
            lock.close()


_FORMATS = {".parquet": "FORMAT parquet", ".csv": "FORMAT csv, HEADER true"}


class Target:
    """The target of a release: a folder, a file by its ending, or else a table.

    A name without '/' and such an ending is a table's, even if there is a folder of that name.
    """

    def __init__(self, con: duckdb.DuckDBPyConnection, into: str, overwrite: bool):
        self.con, self.into, self.overwrite = con, str(into), overwrite
        named = Path(self.into).suffix.lower() in _FORMATS
        self.folder = (system.has_folder(self.into) or named) and means_folder(self.into)
        self.path = Path(self.into) if self.folder or named else None

    def require_new(self) -> None:
        """Raise AnonError for a target that exists, unless it may be replaced.

        What killed processes have left of a file or folder is removed.
        """
        into, hint = Parameter("into"), "overwrite=True replaces it"
        if self.path is None:
            there = self.con.execute(
                "SELECT count(*) FROM duckdb_tables() WHERE lower(table_name) = lower(?)",
                [split(self.into)[-1]],
            ).fetchall()[0][0]
            if there and not self.overwrite:
                raise AnonError("release", into + " must be a new table", f"'{self.into}'", hint)
            return
        if not self.path.parent.is_dir():
            got = f"'{self.into}'"
            raise AnonError("release", into + " must be in a directory that exists", got)
        remove_temporary(self.path)
        if self.folder:
            require_new_folder(into, self.path, self.overwrite, hint)
        elif self.path.exists() and not self.overwrite:
            raise AnonError("release", into + " must be a new file", f"'{self.into}'", hint)

    def place(self) -> Place:
        """Return where a folder may lie on the disk of the target."""
        if self.path is not None:
            return Place.beside(self.path)
        (file,) = self.con.execute(
            "SELECT path FROM duckdb_databases() WHERE database_name = current_database()"
        ).fetchall()[0]
        if file is None:  # a database in memory, of which there may be many
            parent = temporary_folder("release")
            return Place(parent, f"{system.user()} memory {self.into}", shared=True)
        return Place(Path(file).resolve().parent, f"{Path(file).name} {self.into}")

    def write(self, select: str, parameters: Mapping[str, Any]) -> int:
        """Write the rows of a query, in their order, and return their number."""
        if not self.folder:
            return self._write(select, parameters)
        with stored(self.con, select, parameters) as stored_rows:
            self.write_each(stored_rows.files, stored_rows.rows)
        return stored_rows.rows

    @property
    def is_parquet(self) -> bool:
        """Return whether rows are written to Parquet files."""
        return self.folder or (self.path is not None and self.path.suffix.lower() == ".parquet")

    def write_each(self, contents: Sequence[str | ArrowRows], rows: int) -> None:
        """Write the rows of each file, of a query or of Arrow; rows: of all."""
        if self.folder:
            assert self.path is not None
            with atomic_folder(self.path) as temporary:
                write_files(self.con, contents, temporary, rows)
            return
        (content,) = contents
        if isinstance(content, str):
            self._write(content, {})
            return
        assert self.path is not None
        with atomic_file(self.path) as temporary:
            write_parquet(self.con, content, temporary, {})
            stopping.check("release")

    def _write(self, select: str, parameters: Mapping[str, Any]) -> int:
        with self.opened() as write:
            return write(select, parameters)

    @contextmanager
    def opened(self) -> Iterator[Callable[[str, Mapping[str, Any]], int]]:
        """Give what writes the rows of a query to a table or file; a file gets its name at the end.

        It takes the query and its parameters, and returns the number of rows.
        """
        if self.path is None:
            yield self._create
            return
        with atomic_file(self.path) as temporary:
            yield partial(self._copy, temporary)
            stopping.check("release")

    def _create(self, select: str, parameters: Mapping[str, Any]) -> int:
        create = "CREATE OR REPLACE TABLE" if self.overwrite else "CREATE TABLE"
        name = ".".join(map(quote, split(self.into)))
        created = self.con.execute(f"{create} {name} AS {select}", parameters)
        return int(created.fetchall()[0][0])

    def _copy(self, temporary: Path, select: str, parameters: Mapping[str, Any]) -> int:
        assert self.path is not None
        options = _FORMATS[self.path.suffix.lower()]
        copy = f"COPY ({select}) TO $target ({options}, USE_TMP_FILE false)"
        return int(
            self.con.execute(copy, {**parameters, "target": str(temporary)}).fetchall()[0][0]
        )


_STARTS = b"starts"
_COMPRESSED = pa.ipc.IpcWriteOptions(compression="lz4")


def write_groups(
    file: Path, columns: Mapping[str, pa.Array], of_row: npt.NDArray[np.int32], groups: int
) -> None:
    """Write rows sorted by group; of_row: int32[n], the group of each row, below ``groups``."""
    order, starts = kernels.hashing.group(of_row, groups)
    rows = pa.array(order)
    batch = pa.RecordBatch.from_pydict(
        {name: values.take(rows) for name, values in columns.items()}
    )
    schema = batch.schema.with_metadata({_STARTS: starts.tobytes()})
    with (
        pa.OSFile(str(file), "wb") as out,
        pa.ipc.new_file(out, schema, options=_COMPRESSED) as writer,
    ):
        for start, end in pairwise(starts):
            writer.write_batch(batch.slice(start, end - start))


@contextmanager
def open_groups(
    file: Path, columns: Sequence[int] = (), end: int | None = None
) -> Iterator[pa.RecordBatchFileReader]:
    """Give the reader of a file; its batch i is group i.

    columns: those to read, all if (). end: number of bytes, if others follow.
    """
    options = pa.ipc.IpcReadOptions(included_fields=list(columns))
    with (
        pa.memory_map(str(file)) as mapped,
        pa.ipc.open_file(mapped, footer_offset=end, options=options) as reader,
    ):
        yield reader


def starts_of(reader: pa.RecordBatchFileReader) -> npt.NDArray[np.int64]:
    """Return int64[groups + 1], the row at which each group begins."""
    return np.frombuffer(reader.schema.metadata[_STARTS], np.int64)


def read_groups(reader: pa.RecordBatchFileReader, groups: Iterable[int]) -> pa.Table:
    """Return the rows of some groups."""
    batches = [reader.get_batch(group) for group in groups]
    return pa.Table.from_batches(batches, reader.schema).replace_schema_metadata()


SEAL = 32  # bytes
_BLOCK_BYTES = 1 << 20


def seal(file: Path, run: bytes) -> None:
    """Append a checksum of a file's content, of its name without ending, and of its run."""
    digest = _sha256(file, end=None, suffix=run + file.stem.encode())
    with file.open("ab") as out:
        out.write(digest)


def is_sealed(file: Path, run: bytes) -> bool:
    """Return whether a path is a regular file with the seal of its content, name and run."""
    try:
        digest = _sha256(file, end=end(file), suffix=run + file.stem.encode())
        with file.open("rb") as stream:
            stream.seek(end(file))
            return stream.read() == digest
    except (OSError, ValueError):
        return False


def end(file: Path) -> int:
    """Return the number of bytes before the seal, which is negative without one."""
    return file.stat().st_size - SEAL


def checksum(file: Path) -> str | None:
    """Return the SHA-256 of a regular file; None for anything else."""
    try:
        return _sha256(file, end=None).hex()
    except OSError:
        return None


def _sha256(file: Path, *, end: int | None, suffix: bytes = b"") -> bytes:
    """Return the SHA-256 of a regular file up to a byte, or of all, and of ``suffix``.

    Raises OSError for anything else.
    """
    hashed, block = hashlib.sha256(), memoryview(bytearray(_BLOCK_BYTES))
    with os.fdopen(system.open_itself(file), "rb", buffering=0) as stream:
        left = os.fstat(stream.fileno()).st_size if end is None else end
        while left > 0 and (read := stream.readinto(block[: min(left, _BLOCK_BYTES)])):
            hashed.update(block[:read])
            left -= read
    hashed.update(suffix)
    return hashed.digest()
