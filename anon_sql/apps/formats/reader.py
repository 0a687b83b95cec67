"""Open a statistics file in a process of its own, and read its rows from there."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow as pa

from anon_sql.apps.csv.dialect import UTF_8, Dialect
from anon_sql.apps.formats.format import FileSource
from anon_sql.core import stopping
from anon_sql.errors import AnonError, Option, not_installed
from anon_sql.hosts.columns import require_names
from anon_sql.system import APART

READERS = {
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".por": "read_por",
    ".dta": "read_dta",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}
_PROGRAM = Path(__file__).with_name("reading_process.py")
_STARTS = {
    ".sav": (b"$FL2", b"$FL3"),
    ".zsav": (b"$FL3", b"$FL2"),
    ".xpt": (b"HEADER RECORD*******LIB",),
    ".dta": (b"<stata_dta>", *(bytes([version]) for version in range(0x69, 0x74))),
    ".sas7bdat": (b"\0" * 12 + b"\xc2\xea\x81\x60",),
}


@dataclass(frozen=True)
class StatisticsFile:
    """An open file. columns: what it says about each, as ``reading_process`` describes it."""

    source: FileSource
    columns: list[Mapping[str, Any]]
    rows: int | None
    process: "subprocess.Popen[bytes]"

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Give the rows in parts, as numbers and texts. Raises AnonError for a part of a file."""
        count = 0
        try:
            with pa.ipc.open_stream(self.process.stdout) as stream:
                for batch in stream:
                    stopping.check(self.source.called[0])
                    count += batch.num_rows
                    yield batch
        except (pa.ArrowException, OSError):
            raise unreadable(self.source, "") from None
        if self.process.wait():
            raise unreadable(self.source, "")
        if self.rows not in (None, -1, count):
            rule = f"be a whole {self.source.ending} file"
            raise self.source.error(rule, f"{count:,} of its {self.rows:,} rows")


@contextmanager
def opened(source: FileSource, dialect: Dialect) -> Iterator[StatisticsFile]:
    """Open a file. Raises AnonError without pyreadstat, and for another file or a part of one."""
    if find_spec("pyreadstat") is None:
        rule = f"pyreadstat must be installed to read a {source.ending} file"
        raise not_installed(source.called[0], rule, "no pyreadstat", "stats")
    _require_content(source)
    pipe = subprocess.PIPE
    call = [sys.executable, "-P", str(_PROGRAM)]
    with subprocess.Popen(
        call, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, **APART
    ) as process:
        try:
            description = _answer(process, source, dialect)
            require_names(source.called[0], [each["name"] for each in description["columns"]])
            if not description["columns"]:
                raise source.error("have columns", "a file without any")
            yield StatisticsFile(source, description["columns"], description["rows"], process)
        finally:
            process.kill()


def _answer(
    process: "subprocess.Popen[bytes]", source: FileSource, dialect: Dialect
) -> Mapping[str, Any]:
    """Return what a file says. Raises AnonError for one that cannot be read."""
    options: dict[str, Any] = {}
    if dialect.encoding != UTF_8:
        options["encoding"] = dialect.encoding
    if source.ending in (".sav", ".zsav"):
        options["user_missing"] = True
    path = str(source.path.absolute())
    request = {"reader": READERS[source.ending], "path": path, "options": options}
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(json.dumps(request).encode() + b"\n")
        process.stdin.flush()
        answer: Mapping[str, Any] = json.loads(process.stdout.readline())
    except (OSError, ValueError):  # the process has ended
        raise unreadable(source, "") from None
    if "error" in answer:
        raise unreadable(source, answer["error"])
    return answer


def unreadable(source: FileSource, why: str) -> AnonError:
    """Return the error for a file that cannot be read. why: what the library says."""
    rule = f"be a whole {source.ending} file"
    if any(word in why for word in ("encoding", "convert", "codec", "Unicode")):
        hint = Option("--encoding", "…") + " with the encoding that its texts have"
        return source.error(rule, "texts in another encoding", hint)
    return source.error(rule, "something else or a part of one")


def _require_content(source: FileSource) -> None:
    """Raise AnonError for a file that does not begin as one of its kind does."""
    with source.path.open("rb") as file:
        head = file.read(512)
    rule = f"be a whole {source.ending} file"
    if not head:
        raise source.error(rule, "an empty file")
    if b"ENCRYPTED" in head[:64]:
        raise source.error(rule, "one with a password", "save it without a password in SPSS")
    starts = _STARTS.get(source.ending)
    if starts and not head.startswith(starts):
        raise source.error(rule, "other content")
    size = source.path.stat().st_size
    if source.ending == ".xpt" and size % 80:
        raise source.error(rule, "a part of one")
