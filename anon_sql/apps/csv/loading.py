"""Load a CSV file into a table: every line after the header is a row, every column has a type.

Choose the type of each column of texts: one that every text keeps its meaning in, or text. A column
is a number, a date or a time only if all its texts are written as DuckDB would print them, up to
zeros after the decimal point, an exponent with a sign, and a T between date and time. So ``00123``,
``+49``, ``1e5``, ``31.12.2020`` and ``12:00+02`` stay text, with their columns, unless their
notation is declared (``notations``).
"""

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial

import duckdb
import pyarrow as pa
from pyarrow import csv as arrow_csv

from anon_sql.apps.csv import notations
from anon_sql.apps.csv.detection import DELIMITERS
from anon_sql.apps.csv.dialect import Dialect
from anon_sql.apps.csv.header import Header, check_values, header_of
from anon_sql.apps.csv.source import CsvSource
from anon_sql.apps.csv.texts import TEXTS, Texts, drop, gather, total_notice
from anon_sql.core import stopping
from anon_sql.core.names import quote
from anon_sql.errors import Option, Words, joined, listed
from anon_sql.hosts.columns import portions

OF_FILE = ""  # in place of a column, of a sentence about the file
_ASK = 1 << 14  # rows between two looks for a request to stop
_LONGEST = (1 << 31) - 1  # bytes of a field, as for columns of text in Arrow
_END = "unexpected end of data"  # csv's words for a quote that does not close


@dataclass(frozen=True)
class Scanned:
    """What a file holds. first: the fields of its first line. rows: of all lines."""

    first: list[str]
    rows: int


def scan(source: CsvSource) -> Scanned:
    """Return the first line and the number of rows. Raises AnonError that names a wrong line.

    Empty lines are no rows, but in a file of one column they are rows with an empty field.
    """
    with source.lines() as lines, _long_fields():
        reader = csv.reader(lines, **source.dialect.python())
        before = rows = 0
        first: list[str] = []
        try:
            for row in reader:
                if not first:
                    first = row
                    _check_first(source, first)
                    columns = len(first)
                elif len(row) != columns and (row or columns == 1):
                    if row:
                        raise _fields(source, columns, before + 1, len(row))
                    rows += 1
                elif row:
                    rows += 1
                    if not rows % _ASK:
                        stopping.check(source.function)
                before = reader.line_num
        except csv.Error as wrong:
            if not first:
                _check_unread(source)
            raise _unreadable(source, str(wrong), before + 1, reader.line_num) from None
    if not first:
        raise source.error("have a header", "an empty file")
    return Scanned(first, rows + 1)


def line_of(source: CsvSource, row: int) -> int:
    """Return the line in which a row of the file begins; row: from 1, without the header."""
    with source.lines() as lines, _long_fields():
        reader = csv.reader(lines, **source.dialect.python())
        left, before, columns = row + (source.dialect.header is not False), 0, 0
        for fields in reader:
            columns = columns or len(fields)
            left -= bool(fields) or columns == 1
            if not left:
                break
            before = reader.line_num
    return before + 1


def _check_first(source: CsvSource, first: list[str]) -> None:
    """Raise AnonError if the first line is empty or seems to have another delimiter."""
    if not first or (source.dialect.header is not False and not any(map(str.strip, first))):
        raise source.error("begin with a header", "an empty first line")
    if len(first) > 1 or source.delimiter_named:
        return
    for sign, written in DELIMITERS.items():
        if sign in first[0] and sign != (source.dialect.delimiter or ","):  # it is in quotes
            raise _delimiter(source, written, "and no " + _sign(source))


def _check_unread(source: CsvSource) -> None:
    """Raise AnonError if only another delimiter reads the first line, whose fields have quotes."""
    if source.delimiter_named:
        return
    with source.lines() as lines:
        line = next(lines, "")
    for sign, written in DELIMITERS.items():
        with suppress(csv.Error):
            dialect = replace(source.dialect, delimiter=sign)
            if len(next(csv.reader([line], **dialect.python()), [])) > 1:
                raise _delimiter(source, written, "between fields in quotes")


def _sign(source: CsvSource) -> str:
    return DELIMITERS[source.dialect.delimiter or ","]


def _delimiter(source: CsvSource, written: str, how: str) -> Exception:
    """Return the error for a first line that has another delimiter."""
    sign = _sign(source)
    other = Option("--delimiter", sign, "") + " if there is one column"
    hint = Option("--delimiter", written) + ", or " + other
    return source.error(f"have fields between {sign}", f"{written} {how} in line 1", hint)


def _fields(source: CsvSource, columns: int, line: int, fields: int) -> Exception:
    rule = f"have as many fields in every line as in the first, {columns:,}"
    hint = "a field that holds the delimiter must stand in quotes" if fields > columns else None
    return source.error(rule, f"{fields:,} in line {line:,}", hint)


def _unreadable(source: CsvSource, wrong: str, first: int, last: int) -> Exception:
    """Return the error for a record that csv refuses, by the lines that it stands in."""
    where = f"line {first:,}" if first >= last else f"lines {first:,} to {last:,}"
    none = Option("--quote", "''") + " if quotes are text"
    hint = "write a quote inside a field twice, or " + none
    if wrong == _END:
        return source.error("close every quote", f"one open from line {first:,} to the end", hint)
    got = f"a quote inside a field in {where}"
    return source.error("have quotes around whole fields only", got, hint)


@contextmanager
def _long_fields() -> Iterator[None]:
    before = csv.field_size_limit(_LONGEST)
    try:
        yield
    finally:
        csv.field_size_limit(before)


_SAMPLE = 200  # rows that say which types are worth a look at all rows
_PLAIN = r"-?(0|[1-9]\d*)?(\.\d+)?"
_DOUBLE = r"-?(0|[1-9]\d{0,14})?(\.\d+)?([eE][+-]\d{1,3})?"
_DIGITS = 17  # significant digits that a DOUBLE keeps apart
_MOSTLY = 10  # a column of numbers has at most one text that is none in so many
_WIDEST = 38  # digits of a DECIMAL
_TIMESTAMP = r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d{1,6})?)?)?"  # a date is midnight
_PRINTED = "coalesce(TRY_CAST({x} AS {kind})::VARCHAR = {x}, false)"
_MANTISSA = "ltrim(regexp_replace(lower({x}), 'e.*|[.-]', '', 'g'), '0')"
_CONDITIONS = {
    "BOOLEAN": _PRINTED,
    "BIGINT": _PRINTED,
    "HUGEINT": _PRINTED,
    "DOUBLE": "(coalesce(isfinite(TRY_CAST({x} AS DOUBLE)), false) "
    f"AND regexp_full_match({{x}}, '{_DOUBLE}') AND CASE WHEN length({{x}}) <= {_DIGITS} THEN true "
    f"ELSE length({_MANTISSA}) <= {_DIGITS} END)",
    "DECIMAL": f"(regexp_full_match({{x}}, '{_PLAIN}') AND {{x}} NOT IN ('-', ''))",
    "DATE": _PRINTED,
    "TIME": _PRINTED,
    "TIMESTAMP": "(TRY_CAST({x} AS TIMESTAMP) IS NOT NULL "
    f"AND regexp_full_match({{x}}, '{_TIMESTAMP}'))",
}
_SHAPES = {  # of texts that can meet a condition
    "BOOLEAN": re.compile("true|false"),
    **dict.fromkeys(("BIGINT", "HUGEINT"), re.compile(r"-?\d+")),
    "DOUBLE": re.compile(_DOUBLE),
    "DECIMAL": re.compile(_PLAIN),
    "DATE": re.compile(r"\d+-\d\d-\d\d( \(BC\))?|-?infinity"),
    "TIME": re.compile(r"\d\d:\d\d:\d\d(\.\d+)?"),
    "TIMESTAMP": re.compile(_TIMESTAMP),
}
_FIRST = next(iter(_CONDITIONS))  # what a column without values would become


def types(con: duckdb.DuckDBPyConnection, texts: str, columns: int) -> list[str]:
    """Return the type of each column of the table ``texts``, whose columns are f0, f1, …"""
    samples = notations.of_file(con, texts, columns).samples(_SAMPLE)
    left = {position: _possible(sample) for position, sample in enumerate(samples)}
    type_of = dict.fromkeys(range(columns), "VARCHAR")
    while left := {position: kinds for position, kinds in left.items() if kinds}:
        hold = _all_hold(
            con, quote(texts), {position: kinds[:1] for position, kinds in left.items()}
        )
        for (position, kind), fits in hold.items():
            if fits:
                type_of[position] = kind
                del left[position]
            else:
                left[position] = left[position][1:]
    decimals = [position for position, kind in type_of.items() if kind == "DECIMAL"]
    type_of |= {position: _decimal(con, texts, position) for position in decimals}
    for position in [
        position
        for position, kind in type_of.items()
        if kind == _FIRST and not _has_values(con, texts, position)
    ]:
        type_of[position] = "VARCHAR"
    return [type_of[position] for position in range(columns)]


def _possible(sample: Iterable[str]) -> list[str]:
    """Return the types that a column of such texts may have: every one that it has, and others."""
    kinds = [*_CONDITIONS]
    for text in {text.strip(" ") for text in sample} - {""}:
        kinds = [kind for kind in kinds if _SHAPES[kind].fullmatch(text)]
    return kinds


def nearly_numbers(
    con: duckdb.DuckDBPyConnection, texts: str, position: int
) -> notations.OtherTexts:
    """Count the texts of a column that are not numbers.

    Their first row is 0 if most texts are not numbers, or all are.
    """
    x = _bare(position)
    other = f"{x} IS NOT NULL AND NOT {_CONDITIONS['DOUBLE'].replace('{x}', x)}"
    row = con.execute(
        f"SELECT count(*) FILTER ({other}), count({x}), min(rowid) FILTER ({other}) "
        f"FROM {quote(texts)}"
    ).fetchone()
    rows, count, first = row or (0, 0, None)
    is_numeric = first is not None and rows * _MOSTLY <= count
    return notations.OtherTexts(rows, count, int(first) + 1 if is_numeric else 0)


def typed(position: int, kind: str) -> str:
    """Return the SQL of a column of texts, cast to a type that all of them have.

    TRY_CAST gives NULL for an empty text. To ask for it costs the square of the columns: DuckDB
    looks for expressions that occur twice, and nullif is one.
    """
    x = quote(f"f{position}")
    return x if kind == "VARCHAR" else f"TRY_CAST(trim({x}) AS {kind})"


def _bare(position: int) -> str:
    """Return the SQL of a text without blanks around it, NULL if nothing is left."""
    return f"nullif(trim({quote(f'f{position}')}), '')"


def _all_hold(
    con: duckdb.DuckDBPyConnection, relation: str, wanted: dict[int, list[str]]
) -> dict[tuple[int, str], bool]:
    """Return whether all texts of a column can have a type, by column and type."""
    holds: dict[tuple[int, str], bool] = {}
    for some in portions(list(wanted)):
        pairs = [(position, kind) for position in some for kind in wanted[position]]
        sql = ", ".join(_holds(_bare(position), kind) for position, kind in pairs)
        row = con.execute(f"SELECT {sql} FROM {relation}").fetchone() or ()
        holds |= dict(zip(pairs, row, strict=True))
    return holds


def _holds(text: str, kind: str) -> str:
    condition = _CONDITIONS[kind].replace("{x}", text).replace("{kind}", kind)
    return f"coalesce(bool_and({condition}) FILTER ({text} IS NOT NULL), true)"


def _decimal(con: duckdb.DuckDBPyConnection, texts: str, position: int) -> str:
    """Return the DECIMAL that holds all digits of a column of plain numbers, or VARCHAR."""
    x = f"ltrim({_bare(position)}, '-')"
    integer, part = f"length(split_part({x}, '.', 1))", f"length(split_part({x}, '.', 2))"
    row = con.execute(f"SELECT max({integer}), max({part}) FROM {quote(texts)}").fetchone()
    digits, scale = row or (0, 0)
    width = (digits or 0) + (scale or 0)
    return f"DECIMAL({width}, {scale})" if 0 < width <= _WIDEST else "VARCHAR"


def _has_values(con: duckdb.DuckDBPyConnection, texts: str, position: int) -> bool:
    return con.execute(f"SELECT count({_bare(position)}) > 0 FROM {quote(texts)}").fetchall() == [
        (True,)
    ]


_BLOCKS = [1 << 23, 1 << 27, (1 << 31) - 1]  # bytes; a row must lie in two neighbouring blocks
_TOO_SHORT = "straddling object"  # Arrow's words for blocks that are too short for a row


def load(
    con: duckdb.DuckDBPyConnection,
    sources: Sequence[CsvSource],
    table: str,
    *,
    labels: bool = False,
) -> dict[str, Words]:
    """Create a table from CSV files. Raises AnonError that names a line of a file.

    Returns a sentence for each column that is text although its values are numbers or dates: for
    the sake of a few others, or since they are written in a notation that was not declared.
    labels: the file is a release, which is text whatever it looks like; an empty field is NULL
    and an empty field in quotes is the empty text. Otherwise both are NULL by default.
    """
    try:
        texts = gather(con, sources, partial(_texts_of, con, labels=labels), line_of)
        if labels:
            _create(con, table, texts.header.names, ["VARCHAR"] * len(texts.header.names))
            return of_names(texts.header)
        is_header = sources[0].dialect.header is not False
        return typed_table(con, sources[0], texts, table, is_header=is_header)
    finally:
        drop(con)


def _texts_of(
    con: duckdb.DuckDBPyConnection, source: CsvSource, *, labels: bool
) -> tuple[Header, int]:
    """Fill the table of texts with the rows of a file; return its columns and their number."""
    scanned = scan(source)
    header = header_of(source, scanned.first)
    names, has_header = header.names, source.dialect.header is not False
    rows = scanned.rows - has_header
    columns = ", ".join(f"f{position} VARCHAR" for position in range(len(names)))
    con.execute(f"CREATE OR REPLACE TABLE {quote(TEXTS)} ({columns})")
    for block in _BLOCKS if rows else ():
        try:
            _load_texts(con, source, len(names), block, header=has_header, labels=labels)
            break
        except (pa.ArrowInvalid, duckdb.Error) as wrong:
            if _TOO_SHORT not in str(wrong):
                raise
            if block == _BLOCKS[-1]:
                raise source.error("be readable", "a row of more than 2 GiB") from None
    count = con.execute(f"SELECT count(*) FROM {quote(TEXTS)}").fetchall()
    if count != [(rows,)]:
        hint = "nothing was read; please report this"
        raise source.error(f"have its {rows:,} rows read", f"{count[0][0]:,}", hint)
    return header, rows


def typed_table(
    con: duckdb.DuckDBPyConnection,
    source: CsvSource,
    texts: Texts,
    table: str,
    *,
    is_header: bool,
) -> dict[str, Words]:
    """Create a table from ``TEXTS``, whose columns get types; return what ``load`` returns.

    source: the first file. is_header: whether the names are a line that may be a row.
    """
    header = texts.header
    of_total = total_notice(con, texts)
    _clean(con, source.dialect, len(header.names))
    notations.rewrite(con, source, TEXTS, header.names, texts.place)
    kinds = types(con, TEXTS, len(header.names))
    if is_header:
        check_values(con, source, TEXTS, header.written, kinds)
    _create(con, table, header.names, kinds)
    sentences: list[str | Words] = [*of_names(header).values(), *_odd_rows(con, of_total, kinds)]
    of_file = {OF_FILE: joined("; ", sentences)} if sentences else {}
    return of_file | _nearly_typed(con, header.names, kinds)


def _odd_rows(
    con: duckdb.DuckDBPyConnection, of_total: Words | None, kinds: Sequence[str]
) -> Iterator[str | Words]:
    """Yield the sentence about a total, and one if the first row looks like a second header."""
    if of_total is not None:
        yield of_total
    if all(kind == "VARCHAR" for kind in kinds):
        samples = notations.of_file(con, TEXTS, len(kinds)).samples(_SAMPLE)
        typed_below = sum(
            bool(len(sample) > 1 and _possible(sample[1:]) and not _possible(sample[:1]))
            for sample in samples
        )
        if typed_below > 1:
            yield (
                f"its first row looks like a second header, since {typed_below:,} columns are "
                "numbers or dates but for it; remove that line"
            )


def _create(
    con: duckdb.DuckDBPyConnection, table: str, names: Sequence[str], kinds: Sequence[str]
) -> None:
    columns = ", ".join(
        f"{typed(position, kind)} AS {quote(name)}"
        for position, (name, kind) in enumerate(zip(names, kinds, strict=True))
    )
    con.execute(f"CREATE TABLE {quote(table)} AS SELECT {columns} FROM {quote(TEXTS)}")


def of_names(header: Header) -> dict[str, Words]:
    """Return a sentence about the file if columns were numbered."""
    sentences = [
        f"{len(same)} columns have one name and are called {listed(same)}"
        for same in header.numbered
    ]
    return {OF_FILE: joined("; ", sentences)} if sentences else {}


def _clean(con: duckdb.DuckDBPyConnection, written_as: Dialect, columns: int) -> None:
    """Make texts that are NULL but for blanks around them NULL too, and trim texts if asked to."""
    nulls = [text.strip() for text in written_as.nulls if text.strip()]
    if not nulls and not written_as.trim:
        return
    names = [f"f{position}" for position in range(columns)]
    kept = [f"nullif(__anon_trimmed({name}), '')" for name in names] if written_as.trim else names
    cleaned = ", ".join(
        f"if(trim({text}) IN $nulls, NULL, {text}) AS {name}"
        for text, name in zip(kept, names, strict=True)
    )
    con.execute(
        f"CREATE OR REPLACE TABLE {quote(TEXTS)} AS SELECT {cleaned} FROM {quote(TEXTS)}",
        {"nulls": nulls},
    )


def _nearly_typed(
    con: duckdb.DuckDBPyConnection, names: Sequence[str], kinds: Sequence[str]
) -> dict[str, Words]:
    texts = [position for position, kind in enumerate(kinds) if kind == "VARCHAR"]
    sentences = notations.noticed(con, TEXTS, names, texts)
    for position in texts:
        if (name := names[position]) not in sentences:
            others = nearly_numbers(con, TEXTS, position)
            if others.first_row:
                sentences[name] = (
                    f"{listed([name])} is text, since {others.rows:,} of its "
                    f"{others.all_texts:,} values are not plain numbers, the first in row "
                    f"{others.first_row:,}; "
                    + Option("--null", verb="")
                    + " names texts that are NULL"
                )
    return sentences


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
    kinds = {f"f{position}": pa.string() for position in range(columns)}
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
        lines = pa.RecordBatchReader.from_batches(reader.schema, batches)
        con.register("__anon_lines", lines)
        try:
            con.execute(f"CREATE OR REPLACE TABLE {quote(TEXTS)} AS FROM __anon_lines")
        finally:
            con.unregister("__anon_lines")


def _after(reader: arrow_csv.CSVStreamingReader, skip: int) -> Iterator[pa.RecordBatch]:
    """Yield the batches of a reader without the first ``skip`` rows."""
    for batch in reader:
        left = batch.slice(skip)
        skip = max(0, skip - batch.num_rows)
        yield left
