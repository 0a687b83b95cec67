"""Load a CSV file into a table: every line after the header is a row."""

from collections.abc import Iterator, Sequence

import duckdb
import pyarrow as pa
from pyarrow import csv as arrow_csv

from anon_sql.apps.csv_files import column_types, header_line
from anon_sql.apps.csv_files.csv_source import CsvSource
from anon_sql.apps.csv_files.scanning import scan
from anon_sql.core.names import quote
from anon_sql.errors import listed

_TEXTS = "__anon_texts"
_BLOCKS = [1 << 23, 1 << 27, (1 << 31) - 1]  # bytes; a row must lie in two neighbouring blocks
_TOO_SHORT = "straddling object"  # Arrow's words for blocks that are too short for a row


def load(
    con: duckdb.DuckDBPyConnection, source: CsvSource, table: str, *, labels: bool = False
) -> dict[str, str]:
    """Create a table from a CSV file. Raises AnonError that names a line of the file.

    Returns a sentence for each column that is text for the sake of a few texts that are no numbers.
    labels: the file is a release, which is text whatever it looks like; an empty field is NULL
    and an empty field in quotes is the empty text. Otherwise both are NULL by default.
    """
    scanned = scan(source)
    names = header_line.column_names(source, scanned.first)
    header = source.dialect.header is not False
    rows = scanned.rows - header
    texts = ", ".join(f"f{at} VARCHAR" for at in range(len(names)))
    con.execute(f"CREATE OR REPLACE TABLE {quote(_TEXTS)} ({texts})")
    for block in _BLOCKS if rows else ():
        try:
            _load_texts(con, source, len(names), block, header=header, labels=labels)
            break
        except (pa.ArrowInvalid, duckdb.Error) as wrong:
            if _TOO_SHORT not in str(wrong):
                raise
            if block == _BLOCKS[-1]:
                raise source.error("be readable", "a row of more than 2 GiB") from None
    try:
        count = con.execute(f"SELECT count(*) FROM {quote(_TEXTS)}").fetchall()
        if count != [(rows,)]:
            hint = "nothing was read; please report this"
            raise source.error(f"have its {rows:,} rows read", f"{count[0][0]:,}", hint)
        kinds = ["VARCHAR"] * len(names)
        if not labels:
            kinds = column_types.types(con, _TEXTS, len(names))
            header_line.check_values(con, source, _TEXTS, names, kinds)
        columns = ", ".join(
            f"{column_types.typed(at, kind)} AS {quote(name)}"
            for at, (name, kind) in enumerate(zip(names, kinds, strict=True))
        )
        con.execute(f"CREATE TABLE {quote(table)} AS SELECT {columns} FROM {quote(_TEXTS)}")
        return {} if labels else _nearly_numbers(con, names, kinds)
    finally:
        con.execute(f"DROP TABLE IF EXISTS {quote(_TEXTS)}")


def _nearly_numbers(
    con: duckdb.DuckDBPyConnection, names: Sequence[str], kinds: Sequence[str]
) -> dict[str, str]:
    found = {}
    for at, (name, kind) in enumerate(zip(names, kinds, strict=True)):
        if kind == "VARCHAR":
            wrong, count, first = column_types.nearly_numbers(con, _TEXTS, at)
            if first:
                found[name] = (
                    f"{listed([name])} is text, since {wrong:,} of its {count:,} values are not "
                    f"plain numbers, the first in row {first:,}; --null names texts that are NULL"
                )
    return found


def _load_texts(
    con: duckdb.DuckDBPyConnection,
    source: CsvSource,
    columns: int,
    block: int,
    *,
    header: bool,
    labels: bool,
) -> None:
    """Create the table of texts, with columns f0, f1, …, from the lines after the header."""
    kinds = {f"f{at}": pa.string() for at in range(columns)}
    with source.bytes() as file:
        reader = arrow_csv.open_csv(
            file,
            arrow_csv.ReadOptions(autogenerate_column_names=True, block_size=block),
            source.dialect.arrow(columns),
            arrow_csv.ConvertOptions(
                column_types=kinds,
                null_values=list(source.dialect.nulls),
                strings_can_be_null=True,
                quoted_strings_can_be_null=not labels,
            ),
        )
        batches = _after(reader, header)
        given = pa.RecordBatchReader.from_batches(reader.schema, batches)
        con.register("__anon_lines", given)
        try:
            con.execute(f"CREATE OR REPLACE TABLE {quote(_TEXTS)} AS FROM __anon_lines")
        finally:
            con.unregister("__anon_lines")


def _after(reader: arrow_csv.CSVStreamingReader, skip: int) -> Iterator[pa.RecordBatch]:
    """Yield the batches of a reader without the first ``skip`` rows."""
    for batch in reader:
        left = batch.slice(skip)
        skip = max(0, skip - batch.num_rows)
        yield left
