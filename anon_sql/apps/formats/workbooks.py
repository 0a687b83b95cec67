"""Read workbooks (.xlsx, .xls and .ods) sheet by sheet, and write .xlsx in constant memory.

A cell of a workbook has a type of its own, so columns are typed by their cells. A formula counts as
the value that was stored with it. Nothing of a workbook is read but the cells of one sheet.
"""

import datetime as dt
import shlex
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import duckdb
import pyarrow as pa

from anon_sql.apps.csv.dialect import Dialect
from anon_sql.apps.csv.header import Header, header_of
from anon_sql.apps.csv.loading import OF_FILE, of_names
from anon_sql.apps.csv.source import CsvSource
from anon_sql.apps.csv.texts import TOTAL_NOTICE, is_total, not_total
from anon_sql.apps.formats.cells import unread_cells
from anon_sql.apps.formats.format import FileSource
from anon_sql.core import stopping
from anon_sql.core.names import quote
from anon_sql.errors import AnonError, Option, Words, joined, listed, not_installed

_ROWS = 10_000  # that are converted at a time
_EXACT = 2**53  # whole numbers below it are exact in a cell
_OFFICE, _ZIP = b"\xd0\xcf\x11\xe0", b"PK\x03\x04"
_SIGNS = {".xlsx": _ZIP, ".ods": _ZIP, ".xls": _OFFICE}
_ROWS_TABLE = "__anon_cells"
TEXT, WHOLE, NUMBER, TRUTH = "text", "whole", "number", "truth"
DATE, MOMENT, TIME, DURATION = "date", "moment", "time", "duration"
_KINDS: dict[type, str] = {
    str: TEXT,
    bool: TRUTH,
    int: WHOLE,
    dt.date: DATE,
    dt.datetime: MOMENT,
    dt.time: TIME,
    dt.timedelta: DURATION,
}
_TYPES: dict[frozenset[str], pa.DataType] = {
    frozenset({WHOLE}): pa.int64(),
    frozenset({NUMBER}): pa.float64(),
    frozenset({WHOLE, NUMBER}): pa.float64(),
    frozenset({TRUTH}): pa.bool_(),
    frozenset({DATE}): pa.date32(),
    frozenset({MOMENT}): pa.timestamp("us"),
    frozenset({DATE, MOMENT}): pa.timestamp("us"),
    frozenset({TIME}): pa.time64("us"),
}
_SAID = {
    WHOLE: "numbers",
    NUMBER: "numbers",
    TRUTH: "true or false",
    DATE: "dates",
    MOMENT: "dates",
    TIME: "times",
    DURATION: "durations",
    TEXT: "texts",
}
Row = list[Any]


@dataclass
class _SheetColumn:
    """What the cells of a column are. kinds: the number of cells of each. first: row of a text."""

    name: str
    kinds: Counter[str] = field(default_factory=Counter)
    first: int = 0

    def count(self, values: Sequence[Any], row: int) -> None:
        """Count some cells, the first of which stands in a row of the sheet."""
        for position, value in enumerate(values, row):
            if value is not None:
                kind = _kind(value)
                self.kinds[kind] += 1
                if kind == TEXT and not self.first:
                    self.first = position

    @property
    def type(self) -> pa.DataType:
        return _TYPES.get(frozenset(self.kinds), pa.string())

    def notice(self) -> Words | None:
        """Return a sentence if the column is text although its cells are something else."""
        if not self.kinds or self.type != pa.string() or frozenset(self.kinds) == {TEXT}:
            return None
        name, texts, count = listed([self.name]), self.kinds[TEXT], self.kinds.total()
        others = " and ".join(sorted({_SAID[kind] for kind in self.kinds if kind != TEXT}))
        if not texts:
            return joined("", [f"{name} is text, since its values are {others}"])
        return (
            f"{name} is text, since {texts:,} of its {count:,} values are not {others}, "
            f"the first in row {self.first:,}; "
            + Option("--null", verb="")
            + " names texts that are NULL"
        )


def _kind(value: Any) -> str:
    if isinstance(value, float):
        return WHOLE if value.is_integer() and abs(value) < _EXACT else NUMBER
    return _KINDS[type(value)]


def read_workbook(
    con: duckdb.DuckDBPyConnection, source: FileSource, table: str
) -> dict[str, Words]:
    """Create a table from a sheet of a workbook. Raises AnonError for one that cannot be read.

    Returns a sentence for each column that is text although its cells are something else, and one
    about cells with errors.
    """
    with _as_sentence(source):
        sheet = _Sheet.of(source)
        columns = [_SheetColumn(name) for name in sheet.header.names]
        for row, cells in sheet.cells():
            for column, values in zip(columns, cells, strict=True):
                column.count(values, row)
    schema = pa.schema(
        [pa.field(f"f{position}", each.type) for position, each in enumerate(columns)]
    )
    batches = (
        pa.RecordBatch.from_arrays(
            [
                pa.array(_converted(v, kind), kind)
                for v, kind in zip(cells, schema.types, strict=True)
            ],
            schema=schema,
        )
        for _, cells in sheet.cells()
    )
    con.register(_ROWS_TABLE, pa.RecordBatchReader.from_batches(schema, batches))
    try:
        selected = ", ".join(
            f"{_trimmed(f'f{position}', sheet.dialect, each.type)} AS {quote(each.name)}"
            for position, each in enumerate(columns)
        )
        con.execute(f"CREATE TABLE {quote(table)} AS SELECT {selected} FROM {_ROWS_TABLE}")
    finally:
        con.unregister(_ROWS_TABLE)
    notices = {each.name: notice for each in columns if (notice := each.notice())}
    of_file = [*of_names(sheet.header).values()]
    if (last := sheet.last()) is not None and is_total(last[1]):
        of_file.append(TOTAL_NOTICE)
    return notices | ({OF_FILE: joined("; ", of_file)} if of_file else {})


def _trimmed(name: str, dialect: Dialect, kind: pa.DataType) -> str:
    return f"nullif(__anon_trimmed({name}), '')" if dialect.trim and kind == pa.string() else name


def _converted(values: Sequence[Any], kind: pa.DataType) -> Sequence[Any]:
    """Return values as Arrow takes them for a type."""
    if kind == pa.string():
        return [None if value is None else _printed(value) for value in values]
    if kind == pa.int64():
        return [None if value is None else int(value) for value in values]
    if pa.types.is_timestamp(kind):
        return [_moment(value) for value in values]
    return values


def _moment(value: dt.date | None) -> dt.datetime | None:
    """Return a date as the beginning of its day."""
    if value is None or isinstance(value, dt.datetime):
        return value
    return dt.datetime.combine(value, dt.time())


def _printed(value: Any) -> str:
    """Return a value of a column of several kinds as DuckDB prints it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and _kind(value) == WHOLE:
        return str(int(value))
    return str(value)


@dataclass(frozen=True)
class _Sheet:
    """The rows of a sheet below its headings. start: the row of the sheet that is the first."""

    source: FileSource
    dialect: Dialect
    rows: Callable[[], Iterator[Row]]
    start: int
    header: Header
    used: list[int]

    @classmethod
    def of(cls, source: FileSource) -> "_Sheet":
        """Return the sheet of a source. Raises AnonError for one that is not clear."""
        dialect = source.dialect or Dialect(header=True if source.labels else None)
        book = _open(source)
        name = _chosen(source, book, dialect.sheet)
        sheet = book.get_sheet_by_name(name)
        above = dialect.first_row - 1
        _require_unmerged(source, sheet, above)
        _require_values(source, name, dialect)
        rows = list(islice(sheet.iter_rows(), above, above + 1))
        if not rows:
            raise source.error("have headings in a sheet", "an empty sheet")
        header = dialect.header is not False
        width = len(rows[0])
        filled = [False] * width
        for row in islice(sheet.iter_rows(), above, None):
            if all(filled):
                break
            for position, value in enumerate(row):
                filled[position] = filled[position] or value != ""
        used = [position for position in range(width) if filled[position]]
        if not used or (header and all(rows[0][position] == "" for position in used)):
            hint = Option("--first-row", "3") + " if the headings are in row 3"
            raise source.error("begin with headings", f"an empty row {dialect.first_row:,}", hint)
        of_csv = CsvSource(source.path, None, dialect, True, *source.called)
        names = header_of(of_csv, [_printed(rows[0][position]) for position in used])
        start = above + header
        made = cls(
            source, dialect, lambda: islice(sheet.iter_rows(), start, None), start, names, used
        )
        return made.without_total() if dialect.without_total_row else made

    def last(self) -> tuple[int, Row] | None:
        """Return the last row that has a value, and how many rows stand before it."""
        filled = (
            (number, [row[position] for position in self.used])
            for number, row in enumerate(self.rows())
            if any(row[position] != "" for position in self.used)
        )
        return next(iter(deque(filled, maxlen=1)), None)

    def without_total(self) -> "_Sheet":
        """Return the sheet without its last row. Raises AnonError unless that is a total."""
        last = self.last()
        if last is None or not is_total(last[1]):
            raise not_total(self.source, last is not None)
        return replace(self, rows=lambda: islice(self.rows(), last[0]))

    def cells(self) -> Iterator[tuple[int, list[list[Any]]]]:
        """Give the cells of some rows at a time, by column, and the number of the first row.

        Rows without any value are no rows.
        """
        rows, number = self.rows(), self.start + 1
        nulls = {text.strip() for text in self.dialect.nulls} | {""}
        while block := list(islice(rows, _ROWS)):
            stopping.check(self.source.called[0])
            kept = [
                [_cell(row[position], nulls) for position in self.used]
                for row in block
                if any(row[position] != "" for position in self.used)
            ]
            if kept:
                yield number, list(map(list, zip(*kept, strict=True)))
            number += len(block)


def _cell(value: Any, nulls: set[str]) -> Any:
    return None if isinstance(value, str) and value.strip() in nulls else value


@contextmanager
def _as_sentence(source: FileSource) -> Iterator[None]:
    """Raise AnonError for whatever the reader raises about a damaged workbook."""
    try:
        yield
    except (AnonError, duckdb.Error, KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:  # Rust ends with a PanicException, which is no Exception
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        hint = "open it in a spreadsheet program, and save it without a password"
        rule = f"be a whole {source.ending} workbook"
        raise source.error(rule, "a part of one, or one with a password", hint) from None


def _open(source: FileSource) -> Any:
    """Open a workbook. Raises AnonError for anything else, and without python-calamine."""
    try:
        import python_calamine
    except ModuleNotFoundError as error:
        rule = "python-calamine must be installed to read a workbook"
        raise not_installed(source.called[0], rule, f"no {error.name}", "excel") from None
    with source.path.open("rb") as file:
        head = file.read(8)
    rule, ending = f"be a whole {source.ending} workbook", source.ending
    if not head:
        raise source.error(rule, "an empty file")
    if ending != ".xls" and head.startswith(_OFFICE):
        hint = "save it without a password, or let its name end in .xls"
        raise source.error(rule, "one with a password, or one of another kind", hint)
    if not head.startswith(_SIGNS[ending]):
        raise source.error(rule, "other content")
    return python_calamine.load_workbook(str(source.path))


def sheets(source: FileSource) -> dict[str, bool]:
    """Return the sheets of a workbook that have rows, and whether each is hidden.

    Raises AnonError for a workbook that cannot be read.
    """
    with _as_sentence(source):
        book = _open(source)
        hidden = _hidden(book)
        return {name: hidden[name] for name in _filled(book)}


def _hidden(book: Any) -> dict[str, bool]:
    return {each.name: not str(each.visible).endswith(".Visible") for each in book.sheets_metadata}


def _tables(book: Any) -> list[str]:
    """Return the sheets of cells; others are charts."""
    return [each.name for each in book.sheets_metadata if "WorkSheet" in str(each.typ)]


def _filled(book: Any) -> list[str]:
    return [name for name in _tables(book) if book.get_sheet_by_name(name).height]


def _chosen(source: FileSource, book: Any, wanted: str | None) -> str:
    """Return the name of the sheet that is read. Raises AnonError unless there is one."""
    hidden, tables = _hidden(book), _tables(book)
    if wanted is not None:
        if wanted in tables:
            return wanted
        rule = f"have the sheet '{wanted}'"
        raise source.error(rule, _listed(tables, hidden))
    filled = _filled(book)
    if not filled:
        raise source.error("have rows in a sheet", "empty sheets alone")
    if len(filled) > 1:
        hint = Option("--sheet", shlex.quote(filled[0]))
        raise source.error("have one sheet with rows, or name it", _listed(filled, hidden), hint)
    return filled[0]


def _listed(names: Sequence[str], hidden: dict[str, bool]) -> str:
    shown = [f"'{name}' (hidden)" if hidden[name] else f"'{name}'" for name in names]
    return f"the sheets {', '.join(shown)}" if shown else "no sheet"


def _require_unmerged(source: FileSource, sheet: Any, above: int) -> None:
    """Raise AnonError if cells are merged in the headings or below them."""
    merged = [start for start, end in sheet.merged_cell_ranges or () if end[0] >= above]
    if merged:
        row = min(row for row, _ in merged) + 1
        hint: str | Words = "separate them in the workbook"
        if row <= above + 1:
            hint = "write one heading per column, or " + Option("--first-row", f"{row + 1}")
        raise source.error("have no merged cells", f"merged cells in row {row:,}", hint)


def _require_values(source: FileSource, sheet: str, dialect: Dialect) -> None:
    """Raise AnonError for cells of an .xlsx sheet whose values a reader would lose."""
    if source.ending != ".xlsx":
        return
    unread = unread_cells(source.path, sheet, dialect.first_row)
    if unread.formulas:
        got = f"{unread.formulas:,} formulas whose results are not stored"
        hint = "open it in a spreadsheet program, and save it again"
        raise source.error("have a stored result for every formula", got, hint)
    errors = {text: count for text, count in unread.errors.items() if text not in dialect.nulls}
    if errors:
        got = ", ".join(f"{count:,} of {text}" for text, count in errors.items())
        null = Option("--null", shlex.quote(next(iter(errors)))) + " to read them as NULL"
        raise source.error("have no cells with errors", got, null)
