"""Say how a CSV file is written: what the first screen states, and what its beginning shows."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from anon_sql.apps import files
from anon_sql.apps.csv import detection
from anon_sql.apps.csv.dialect import UTF_8, UTF_16, Dialect, dialect
from anon_sql.core.names import literal

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
QUOTES = {'"': 'double, "', "'": "single, '", "": "none"}
HEADERS = {"yes": "yes, line 1 has the names", "no": "no, line 1 is a row"}
ENCODINGS = {
    UTF_8: "UTF-8",
    **detection.ENCODINGS,
    "iso-8859-1": "ISO-8859-1 (Latin 1)",
    **detection.OTHERS,
    UTF_16: "UTF-16",
    f"{UTF_16}-le": "UTF-16, little-endian",
    f"{UTF_16}-be": "UTF-16, big-endian",
}
TOTAL = {"no": "no, every row is a person", "yes": "yes, leave it out"}
TYPED = {"yes": "yes, by their values", "no": "no, leave them as text"}
FORM = {  # of the first screen, before anything is said
    "delimiter": "",
    "quote": '"',
    "header": "",
    "null": "",
    "encoding": "",
    "typed": "yes",
    "total": "no",
}
LINES = 5  # that are shown
_LONGEST = 200  # signs of a line that are shown
_HEAD = 1 << 14  # bytes whose lines are shown
_OF_DUCKDB = {
    "decimal": "decimal_separator",
    "thousands": "thousands",
    "date_format": "dateformat",
    "timestamp_format": "timestampformat",
}
_IN_DUCKDB = {UTF_8: "utf-8", UTF_16: "utf-16", "iso-8859-1": "latin-1"}


def stated(form: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the fields of the first screen say; None for what is to be detected."""
    fields = {name: str(form.get(name, default)) for name, default in FORM.items()}
    return {
        "delimiter": fields["delimiter"] if fields["delimiter"] in DELIMITERS else None,
        "quote": fields["quote"] if fields["quote"] in QUOTES else '"',
        "header": {"yes": True, "no": False}.get(fields["header"]),
        "nulls": ["", *fields["null"].split()],
        "encoding": fields["encoding"] if fields["encoding"] in ENCODINGS else None,
        "typed": fields["typed"] != "no",
        "without_total_row": fields["total"] == "yes",
    }


@dataclass(frozen=True)
class Look:
    """What the beginning of a file shows.

    dialect: as the file is read. detected: the fields that the file decided. offer: the encoding
    that a file probably has which is not UTF-8; it is chosen in its field, and not yet read.
    """

    dialect: Dialect
    detected: Sequence[str] = ()
    offer: str | None = None


def look(path: Path, fields: Mapping[str, Any]) -> Look:
    """Return how a file is written. fields: as ``stated`` returns it."""
    settings = {"delimiter": None, "quote": '"', "header": None, "nulls": [""], **fields}
    settings.pop("typed", None)
    without_total_row = bool(settings.pop("without_total_row", False))
    stated = dialect("studio", **{**settings, "encoding": settings.get("encoding") or UTF_8})
    stated = replace(stated, without_total_row=without_total_row)
    free = settings.get("encoding") is None
    detected, _ = files.detected(path, stated, ("studio", "FILE"), propose=free)
    offer = None
    if free and detected.encoding not in (UTF_8, UTF_16):  # a person must look at the letters first
        detected, offer = replace(detected, encoding=UTF_8), detected.encoding
    names = ("header", "encoding", "delimiter")
    return Look(detected, [name for name in names if settings.get(name) is None], offer)


def _head(path: Path) -> bytes:
    """Return the beginning of a file; nothing of one that the reader will refuse."""
    try:
        with pa.input_stream(str(path), compression=files.packed(path)) as file:
            return bytes(file.read(_HEAD))
    except (pa.ArrowInvalid, OSError):
        return b""


def first_lines(path: Path, encoding: str) -> list[str]:
    """Return the first lines of a file. They hold values."""
    lines = _head(path).decode(encoding, "replace").removeprefix("\ufeff").splitlines()[:LINES]
    return [each[:_LONGEST] + "…" if len(each) > _LONGEST else each for each in lines]


def described(path: Path, look: Look) -> dict[str, Any]:
    """Return how a file is read, and what of it the file decided."""
    read = asdict(look.dialect.named(files.own_delimiter(path)))
    return {**read, "detected": list(look.detected), "offer": look.offer}


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
    settings = {
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
        settings[_OF_DUCKDB[name]] = literal(value)
    options = "".join(f", {name} := {value}" for name, value in settings.items())
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
