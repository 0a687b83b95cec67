"""Read JSON lines (.jsonl, .ndjson), an object per line, and write them.

Values become texts, which are typed as those of a CSV file are. Python's parser reads each line, so
that every line is a row, and a fault is named by its line.
"""

import json
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import duckdb
import pyarrow as pa

from anon_sql.apps.csv.dialect import Dialect
from anon_sql.apps.csv.header import Header, numbered
from anon_sql.apps.csv.loading import of_names, typed_table
from anon_sql.apps.csv.source import CsvSource
from anon_sql.apps.csv.texts import TEXTS, drop, gather
from anon_sql.apps.formats.format import FileSource, nested_columns
from anon_sql.core import stopping
from anon_sql.core.names import quote
from anon_sql.errors import Words
from anon_sql.hosts.files import PACKED

ENDINGS = tuple(f"{kind}{packed}" for packed in PACKED for kind in (".jsonl", ".ndjson"))
_ROWS = 10_000  # that are converted at a time
_LINES = "__anon_objects"
Row = dict[str, Any]


class _TwiceError(ValueError):
    """A key that an object has twice."""


def read_json_lines(
    con: duckdb.DuckDBPyConnection, source: FileSource, table: str
) -> dict[str, Words]:
    """Create a table from JSON lines. Raises AnonError that names a line, or a nested column."""
    stated = (source.dialect or Dialect()).named(",")
    packing = PACKED.get(source.ending[source.ending.rindex(".") :])
    files = [
        CsvSource(path, packing, stated, True, *source.called, source.is_pattern)
        for path in source.files
    ]
    try:
        texts = gather(con, files, partial(_texts_of, con), _line_of)
        if not source.labels:
            return typed_table(con, files[0], texts, table, is_header=False)
        names = texts.header.names
        columns = ", ".join(f"f{position} AS {quote(name)}" for position, name in enumerate(names))
        con.execute(f"CREATE TABLE {quote(table)} AS SELECT {columns} FROM {quote(TEXTS)}")
        return of_names(texts.header)
    finally:
        drop(con)


def _texts_of(con: duckdb.DuckDBPyConnection, file: CsvSource) -> tuple[Header, int]:
    """Fill the table of texts with the rows of a file; return its columns and their number."""
    keys: dict[str, None] = {}
    nested: dict[str, None] = {}
    rows = 0
    for _, row in _rows(file):
        rows += 1
        for key, value in row.items():
            keys[key] = None
            if isinstance(value, (dict, list)):
                nested[key] = None
    if not keys:
        raise file.error("have a JSON object per line", "none")
    if nested:
        raise nested_columns(file, [*nested])
    header = numbered([key.strip() or f"column_{position}" for position, key in enumerate(keys, 1)])
    schema = pa.schema([pa.field(f"f{position}", pa.string()) for position in range(len(keys))])
    con.register(_LINES, pa.RecordBatchReader.from_batches(schema, _batches(file, [*keys], schema)))
    try:
        con.execute(f"CREATE OR REPLACE TABLE {quote(TEXTS)} AS FROM {_LINES}")
    finally:
        con.unregister(_LINES)
    return header, rows


def write(con: duckdb.DuckDBPyConnection, select: str, path: Any, ending: str) -> None:
    """Write the rows of a query, an object per line."""
    packing = PACKED.get(ending[ending.rindex(".") :]) or "none"
    options = f"USE_TMP_FILE false, FORMAT json, COMPRESSION {packing}"
    con.execute(f"COPY ({select}) TO ? ({options})", [str(path)])


def _rows(file: CsvSource) -> Iterator[tuple[int, Row]]:
    """Yield the number of each line and its object. Empty lines are none."""
    with file.lines(is_csv=False) as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            if not number % _ROWS:
                stopping.check(file.function)
            try:
                row = _DECODER.decode(line)
            except _TwiceError:
                got = f"a key twice in line {number:,}"
                raise file.error("have each key once in an object", got) from None
            except (ValueError, RecursionError):
                got = f"something else in line {number:,}"
                hint = "write each object on a line of its own"
                raise file.error("have a JSON object per line", got, hint) from None
            if not isinstance(row, dict):
                got = f"another value in line {number:,}"
                raise file.error("have a JSON object per line", got)
            yield number, row


def _line_of(file: CsvSource, row: int) -> int:
    return next(line for position, (line, _) in enumerate(_rows(file), 1) if position == row)


def _once(pairs: list[tuple[str, Any]]) -> Row:
    row = dict(pairs)
    if len(row) != len(pairs):
        raise _TwiceError
    return row


def _number(text: str) -> str:
    """Return a number as DuckDB prints it: without an exponent that needs none."""
    return repr(float(text)) if "e" in text.lower() else text


def _no_constant(text: str) -> Any:
    raise ValueError(text)


_DECODER = json.JSONDecoder(
    object_pairs_hook=_once, parse_float=_number, parse_int=str, parse_constant=_no_constant
)


def _batches(file: CsvSource, keys: Sequence[str], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Yield the texts of the rows, column by column."""
    rows: list[Row] = []

    def batch() -> pa.RecordBatch:
        texts = [[_text(row.get(key)) for row in rows] for key in keys]
        return pa.RecordBatch.from_arrays([pa.array(t, pa.string()) for t in texts], schema=schema)

    for _, row in _rows(file):
        rows.append(row)
        if len(rows) == _ROWS:
            yield batch()
            rows = []
    yield batch()


def _text(value: Any) -> str | None:
    return str(value).lower() if isinstance(value, bool) else value
