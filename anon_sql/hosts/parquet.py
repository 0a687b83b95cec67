"""Write a Parquet file from a query, or from Arrow, which takes a third of the time."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Protocol

import duckdb
import numpy as np
import pyarrow as pa

from anon_sql.core import stopping
from anon_sql.core.arrow import integers, valid
from anon_sql.core.names import literal

ROW_GROUP = 122_880  # rows, as DuckDB's
_SAME = (  # types that a file written from Arrow holds as DuckDB's own does
    *("BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT"),
    *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "FLOAT", "DOUBLE"),
    *("VARCHAR", "BLOB", "DATE", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE"),
)


class ArrowRows(Protocol):
    """Rows in their order, read once; a batch has at most ``ROW_GROUP``."""

    @property
    def schema(self) -> pa.Schema: ...

    def __iter__(self) -> Iterator[pa.RecordBatch]: ...


def holds(kind: str) -> bool:
    """Return whether a file written from Arrow holds a SQL type as DuckDB's own does."""
    return kind in _SAME


def write_parquet(
    con: duckdb.DuckDBPyConnection, rows: str | ArrowRows, file: Path, marks: Mapping[str, str]
) -> int:
    """Write the rows of a query or of Arrow and return their number; marks: metadata by key."""
    if not isinstance(rows, str):
        write_parquet(con, "SELECT 0 LIMIT 0", file, {})  # or DuckDB's settings forbid it
        return _write_arrow(rows, file, marks)
    options = "FORMAT parquet, USE_TMP_FILE false"
    if marks:
        listed = (f"{literal(key)}: {literal(value)}" for key, value in marks.items())
        options += f", KV_METADATA {{{', '.join(listed)}}}"
    made = con.execute(f"COPY ({rows}) TO $target ({options})", {"target": str(file)})
    return int(made.fetchall()[0][0])


def _write_arrow(rows: ArrowRows, file: Path, marks: Mapping[str, str]) -> int:
    from pyarrow.parquet import ParquetWriter

    written = 0
    schema = rows.schema
    with ParquetWriter(file, schema, store_schema=False) as writer:
        for batch in rows:
            stopping.check("release")
            columns = [_needed(column) for column in batch.columns]
            writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=schema), ROW_GROUP)
            written += len(batch)
        if marks:
            writer.add_key_value_metadata(dict(marks))
    return written


def _needed(values: pa.Array) -> pa.Array:
    """Return values whose dictionary has what occurs, in the order in which it first does.

    A file holds all of a dictionary, and its order could tell in which order the rows once came.
    """
    if not pa.types.is_dictionary(values.type):
        return values
    codes, many = integers(values.indices), len(values.dictionary)
    missing = None if values.null_count == 0 else ~valid(values.indices)
    known = codes if missing is None else codes[~missing]
    first = np.full(many, len(known))
    first[known[::-1]] = np.arange(len(known))[::-1]
    used = np.argsort(first)[: np.count_nonzero(first < len(known))]
    place = np.zeros(max(many, 1), values.type.index_type.to_pandas_dtype())
    place[used] = np.arange(len(used))
    return pa.DictionaryArray.from_arrays(
        pa.array(place[codes], mask=missing), values.dictionary.take(pa.array(used))
    )
