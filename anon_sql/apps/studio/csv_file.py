"""Say how a CSV file is written: what the first screen states, and what its beginning shows."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from anon_sql.apps import files
from anon_sql.apps.csv.dialect import UTF_8, UTF_16, WINDOWS, Dialect, dialect
from anon_sql.core.names import literal

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
QUOTES = {'"': 'double, "', "'": "single, '", "": "none"}
HEADERS = {"yes": "yes, line 1 has the names", "no": "no, line 1 is a row"}
ENCODINGS = {
    UTF_8: "UTF-8",
    WINDOWS: "Windows-1252 (Western Europe)",
    "iso-8859-1": "ISO-8859-1 (Latin 1)",
    "iso-8859-15": "ISO-8859-15 (Latin 9)",
    "windows-1250": "Windows-1250 (Central Europe)",
    "windows-1251": "Windows-1251 (Cyrillic)",
    UTF_16: "UTF-16",
}
TYPED = {"yes": "yes, by their values", "no": "no, leave them as text"}
FORM = {  # of the first screen, before anything is said
    "delimiter": "",
    "quote": '"',
    "header": "",
    "null": "",
    "encoding": "",
    "typed": "yes",
}
LINES = 5  # that are shown
_LONGEST = 200  # signs of a line that are shown
_HEAD = 1 << 18  # bytes that are looked at
_COMPARED = 200  # lines that must have one number of fields
_MARKS = (b"\xff\xfe", b"\xfe\xff")  # of UTF-16
_OF_DUCKDB = {
    "decimal": "decimal_separator",
    "thousands": "thousands",
    "date_format": "dateformat",
    "timestamp_format": "timestampformat",
}
_IN_DUCKDB = {UTF_8: "utf-8", UTF_16: "utf-16", "iso-8859-1": "latin-1"}


def stated(form: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the fields of the first screen say; None for what is to be detected."""
    said = {name: str(form.get(name, known)) for name, known in FORM.items()}
    return {
        "delimiter": said["delimiter"] if said["delimiter"] in DELIMITERS else None,
        "quote": said["quote"] if said["quote"] in QUOTES else '"',
        "header": {"yes": True, "no": False}.get(said["header"]),
        "nulls": ["", *said["null"].split()],
        "encoding": said["encoding"] if said["encoding"] in ENCODINGS else None,
        "typed": said["typed"] != "no",
    }


@dataclass(frozen=True)
class Look:
    """What the beginning of a file shows.

    dialect: as the file is read. detected: the fields that the file decided. offer: an encoding in
    which a file that is not UTF-8 may be; nothing tells one of them from another, so none is taken.
    """

    dialect: Dialect
    detected: Sequence[str] = ()
    offer: str | None = None


def look(path: Path, said: Mapping[str, Any]) -> Look:
    """Return how a file is written. said: as ``stated`` returns it."""
    known = {"delimiter": None, "quote": '"', "header": None, "nulls": [""], **said}
    known.pop("typed", None)
    head = _head(path)
    encoding, offer = known.get("encoding"), None
    if encoding is None:
        encoding, offer = _encoding(head)
    found = dialect("studio", **{**known, "encoding": encoding})
    detected = [name for name in ("header", "encoding") if known.get(name) is None]
    if known["delimiter"] is None:
        text = head.decode(offer or encoding, "replace")
        sign = _delimiter(text, found, files.own_delimiter(path), len(head) == _HEAD)
        found = replace(found, delimiter=sign)
        detected.append("delimiter")
    return Look(found, detected, offer)


def _head(path: Path) -> bytes:
    """Return the beginning of a file; nothing of one that the reader will refuse."""
    try:
        with pa.input_stream(str(path), compression=files.packed(path)) as file:
            return bytes(file.read(_HEAD))
    except (pa.ArrowInvalid, OSError):
        return b""


def _encoding(head: bytes) -> tuple[str, str | None]:
    """Return the encoding, and the one that is offered for a beginning that is not UTF-8."""
    if head[:2] in _MARKS:
        return UTF_16, None
    try:
        head.decode(UTF_8)
    except UnicodeDecodeError as wrong:
        cut = len(head) == _HEAD and wrong.start >= len(head) - 3
        return UTF_8, None if cut else WINDOWS
    return UTF_8, None


def _delimiter(text: str, of: Dialect, own: str, cut: bool) -> str | None:
    """Return the only delimiter that gives all lines as many fields; None for that of the name."""
    lines = text.removeprefix("\ufeff").splitlines(keepends=True)
    lines = lines[:-1] if cut else lines
    fitting = [sign for sign in DELIMITERS if _fields(lines, of.named(sign)) > 1]
    return fitting[0] if own not in fitting and len(fitting) == 1 else None


def _fields(lines: Sequence[str], of: Dialect) -> int:
    """Return the number of fields in each of the first lines, 0 if it differs."""
    counts = set()
    try:
        for number, row in enumerate(csv.reader(iter(lines), **of.python())):
            if number == _COMPARED:
                break
            counts |= {len(row)} if row else set()
    except csv.Error:
        return 0
    return counts.pop() if len(counts) == 1 else 0


def first_lines(path: Path, encoding: str) -> list[str]:
    """Return the first lines of a file. They hold values."""
    lines = _head(path).decode(encoding, "replace").removeprefix("\ufeff").splitlines()[:LINES]
    return [each[:_LONGEST] + "…" if len(each) > _LONGEST else each for each in lines]


def described(path: Path, found: Look) -> dict[str, Any]:
    """Return how a file is read, and what of it the file decided."""
    read = asdict(found.dialect.named(files.own_delimiter(path)))
    return {**read, "detected": list(found.detected), "offer": found.offer}


def call_of_duckdb(
    con: duckdb.DuckDBPyConnection, file: Path, shown: str, written_as: Dialect, table: str
) -> str | None:
    """Return a call of ``read_csv`` by which DuckDB alone reads the rows of ``table``.

    shown: the path in the call. None if there is no such call: whatever is returned was tried.
    """
    encoding = _IN_DUCKDB.get(written_as.encoding)
    raw = con.table(table)
    if encoding is None:
        return None
    columns = ", ".join(
        f"{literal(name)}: {literal(str(kind))}"
        for name, kind in zip(raw.columns, raw.types, strict=True)
    )
    said = {
        "auto_detect": "false",
        "header": "false" if written_as.header is False else "true",
        "delim": literal(written_as.named(files.own_delimiter(file)).delimiter or ","),
        "quote": literal(written_as.quote),
        "escape": literal(written_as.quote),
        "nullstr": f"[{', '.join(map(literal, written_as.nulls))}]",
        "encoding": literal(encoding),
        "columns": f"{{{columns}}}",
    }
    for name, _, value in written_as.notations:  # DuckDB takes one for the file
        said[_OF_DUCKDB[name]] = literal(value)
    options = "".join(f", {name} := {value}" for name, value in said.items())
    same = same_rows(con, f"read_csv({literal(str(file))}{options})", table)
    return f"read_csv({literal(shown)}{options})" if same else None


def same_rows(con: duckdb.DuckDBPyConnection, relation: str, table: str) -> bool:
    """Return whether a relation has the columns, types and rows of a table."""
    try:
        read, raw = con.sql(f"FROM {relation}"), con.table(table)
        if (read.columns, read.types) != (raw.columns, raw.types):
            return False
        both = (f"FROM {relation}", f"FROM {table}")
        return not any(
            con.execute(f"SELECT 1 FROM ({one} EXCEPT ALL {other}) LIMIT 1").fetchall()
            for one, other in (both, both[::-1])
        )
    except duckdb.Error:
        return False
