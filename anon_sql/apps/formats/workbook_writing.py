"""Write the rows of a query as an .xlsx workbook: one sheet, in constant memory.

The workbook holds the rows and nothing else: no author, no date, and no cell that is a formula.
The same rows give the same bytes.
"""

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import duckdb

from anon_sql.apps.formats.capacity import Capacity, columns_of, require
from anon_sql.core import stopping
from anon_sql.core.names import quote
from anon_sql.errors import not_installed

_SHEET = "release"
_BATCH = 10_000  # rows
_MOST_ROWS, _MOST_COLUMNS = 1_048_575, 16_384
_CORE = "docProps/core.xml"
_PROPERTIES = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<cp:coreProperties xmlns:cp='
    '"http://schemas.openxmlformats.org/package/2006/metadata/core-properties"/>'
)
# SQL of what a cell holds of a column {x}, and of what makes the whole column text
_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
_CELLS = {
    **dict.fromkeys(_WHOLE, ("{x}", "abs({x}::HUGEINT) > 999999999999999")),
    "BOOLEAN": ("{x}", "false"),
    **dict.fromkeys(("FLOAT", "DOUBLE"), ("{x}::DOUBLE", "NOT isfinite({x})")),
    "DATE": ("{x}", "{x} < DATE '1900-03-01' OR {x} > DATE '9999-12-31'"),
    "TIMESTAMP": (
        "{x}",
        "{x} < TIMESTAMP '1900-03-01' OR {x} >= TIMESTAMP '9999-12-31' "
        "OR epoch_us({x}) % 1000 <> 0",
    ),
    "TIME": ("{x}", "epoch_us({x}) % 1000 <> 0"),
}
_DECIMAL = re.compile(r"DECIMAL\((\d+),\d+\)")
_DIGITS = 15  # that a number of a cell keeps


def write(con: duckdb.DuckDBPyConnection, select: str, path: Path, ending: str) -> None:
    """Write the rows of a query. Raises AnonError for what a workbook cannot hold."""
    try:
        from openpyxl import Workbook
        from openpyxl.cell import WriteOnlyCell
        from openpyxl.writer.excel import ExcelWriter
    except ModuleNotFoundError as error:
        rule = "openpyxl must be installed to write a workbook"
        raise not_installed("release", rule, f"no {error.name}", "excel") from None
    columns = columns_of(con, select)
    capacity = Capacity(ending, _MOST_ROWS, _MOST_COLUMNS, longest=32_767, controls=True)
    require(con, select, columns, capacity)
    cells = [_cell(con, select, name, kind) for name, kind in columns.items()]
    book = Workbook(write_only=True)
    sheet = book.create_sheet(_SHEET)

    def text(value: str) -> Any:
        cell = WriteOnlyCell(sheet, value)
        cell.data_type = "s"  # openpyxl would make a formula of "=1", and an error of "#N/A"
        return cell

    sheet.append([text(name) for name in columns])
    for row in _rows(con, f"SELECT {', '.join(cells)} FROM ({select})", text):
        sheet.append(row)
    with _Fixed(path, "w", ZIP_DEFLATED, allowZip64=True) as archive:
        ExcelWriter(book, archive).save()


def _cell(con: duckdb.DuckDBPyConnection, select: str, name: str, kind: str) -> str:
    """Return the SQL of the cells of a column: values as they are, or text that loses nothing."""
    x = quote(name)
    if (decimal := _DECIMAL.fullmatch(kind)) and int(decimal[1]) <= _DIGITS:
        return f"{x}::DOUBLE AS {x}"
    exact, other = _CELLS.get(kind, ("{x}", "true"))
    ((text,),) = con.execute(
        f"SELECT coalesce(bool_or({other.format(x=x)}), false) FROM ({select})"
    ).fetchall()
    return f"CAST({x} AS VARCHAR) AS {x}" if text else f"{exact.format(x=x)} AS {x}"


def _rows(
    con: duckdb.DuckDBPyConnection, query: str, text: Callable[[str], Any]
) -> Iterator[list[Any]]:
    result = con.execute(query)
    while rows := result.fetchmany(_BATCH):
        stopping.check("release")
        for row in rows:
            yield [text(value) if isinstance(value, str) else value for value in row]


class _Fixed(ZipFile):
    """An archive without times, and without what openpyxl says about who wrote it and when."""

    def writestr(self, zinfo_or_arcname: Any, data: Any, *_: Any, **__: Any) -> None:
        if zinfo_or_arcname == _CORE:
            data = _PROPERTIES
        super().writestr(_entry(zinfo_or_arcname), data)

    def write(self, filename: Any, arcname: Any = None, *_: Any, **__: Any) -> None:
        with (
            open(filename, "rb") as file,
            self.open(_entry(arcname), "w", force_zip64=True) as part,
        ):
            shutil.copyfileobj(file, part)


def _entry(name: str) -> ZipInfo:
    entry = ZipInfo(name)  # of the year 1980
    entry.compress_type = ZIP_DEFLATED
    return entry
