"""Write the rows of a query as a file of SPSS (.sav, .zsav, .por), SAS (.xpt) or Stata (.dta).

Labels, ranges and sets become codes with labels of values. The file has labels of those values
alone that a row holds, no label or note of the raw file, and no time.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from anon_sql.apps.formats import dictionary
from anon_sql.apps.formats.capacity import Capacity, columns_of, require
from anon_sql.apps.formats.dictionary import spelled
from anon_sql.apps.formats.statistics import SCALE
from anon_sql.core.names import quote
from anon_sql.errors import AnonError, listed, not_installed

RAW = "raw"  # the relation whose labels a release takes
_EXACT = 2**53
_INT = 2_000_000_000  # below it Stata has a whole number in four bytes
_LARGEST = 999_999_999  # rows
_SPSS_DATE, _DATE = 12_219_379_200, 315_619_200  # seconds from the first day to 1970


@dataclass(frozen=True)
class _ProgramFormat:
    """How a kind of file is written.

    writer: the function of pyreadstat, with its options. formats: of dates, moments and times.
    first: seconds from the day 0 to 1970; day, second: how many units a date counts in a day, and a
    moment in a second. labels: the longest label of a value in bytes, 0 if the file has none.
    fixed: replaces the time in the first bytes of a file. whole: the format of whole numbers.
    names: how columns may be called.
    """

    writer: str
    options: Mapping[str, Any]
    formats: tuple[str, str, str]
    first: int
    labels: int
    capacity: Capacity
    fixed: Callable[[bytes], bytes]
    names: str
    day: int = 1
    second: int = 1
    whole: str = ""


def _sav(head: bytes) -> bytes:
    return head[:92] + b"01 Jan 7000:00:00" + head[109:]


def _dta(head: bytes) -> bytes:
    return re.sub(rb"<timestamp>\x11.{17}", b"<timestamp>\x1101 Jan 1970 00:00", head, count=1)


def _xpt(head: bytes) -> bytes:
    return re.sub(rb"\d\d[A-Z]{3}\d\d:\d\d:\d\d:\d\d", b"01JAN70:00:00:00", head)


def _por(head: bytes) -> bytes:
    # the lines of a portable file break wherever they are full
    before, mark, rest = head.partition(b"A8/")
    digits = iter(b"197001016/000000")
    keep = (ord("\r"), ord("\n"))
    fixed = bytearray(rest)
    for position, value in enumerate(rest):
        if value in keep:
            continue
        new = next(digits, None)
        if new is None:
            break
        fixed[position] = new
    return before + mark + bytes(fixed)


_OF_SPSS = ("DATE11", "DATETIME23.3", "TIME11.2")
_NAMES = "letters, digits and _ after a letter, at most 32"
_SAV = _ProgramFormat(
    writer="write_sav",
    options={"row_compress": True},
    formats=_OF_SPSS,
    first=_SPSS_DATE,
    day=86_400,
    labels=120,
    capacity=Capacity(".sav", _LARGEST, 32_767, longest=8_000, blanks=True),
    fixed=_sav,
    whole="F8.0",
    names="letters, digits, _ and . after a letter, at most 64 bytes",
)
_KINDS = {
    ".sav": _SAV,
    ".zsav": replace(
        _SAV, options={"compress": True}, capacity=replace(_SAV.capacity, ending=".zsav")
    ),
    ".por": replace(
        _SAV,
        writer="write_por",
        options={},
        formats=("DATE11", "DATETIME20", "TIME8"),
        labels=0,
        capacity=replace(_SAV.capacity, ending=".por", longest=255),
        fixed=_por,
        names="capital letters and digits, at most 8",
    ),
    ".xpt": _ProgramFormat(
        writer="write_xport",
        options={},
        formats=("DATE9", "DATETIME22.3", "TIME8"),
        first=_DATE,
        labels=0,
        capacity=Capacity(".xpt", _LARGEST, 9_999, longest=8_000, blanks=True),
        fixed=_xpt,
        names=_NAMES,
    ),
    ".dta": _ProgramFormat(
        writer="write_dta",
        options={},
        formats=("%td", "%tc", "%tcHH:MM:SS"),
        first=_DATE,
        second=1000,
        labels=32_000,
        capacity=Capacity(".dta", _LARGEST, 32_767, longest=500),
        fixed=_dta,
        names=_NAMES,
    ),
}
ENDINGS = tuple(_KINDS)
_NUMBERS = re.compile(
    r"U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|FLOAT|DOUBLE|BOOLEAN|DECIMAL\(\d+,\d+\)"
)
_WHOLE = re.compile(r"U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|BOOLEAN|DECIMAL\(\d+,0\)")


@dataclass
class _VariableMetadata:
    """What is written beside the rows, by column. codes: label by code."""

    codes: dict[str, dict[float, str]] = field(default_factory=dict)
    formats: dict[str, str] = field(default_factory=dict)
    measures: dict[str, str] = field(default_factory=dict)

    def without_empty(self) -> "_VariableMetadata":
        """Return what is said of columns of which something is said."""
        codes = {name: labels for name, labels in self.codes.items() if labels}
        formats = {name: text for name, text in self.formats.items() if text}
        return _VariableMetadata(codes, formats, self.measures)


def write(con: duckdb.DuckDBPyConnection, select: str, path: Path, ending: str) -> None:
    """Write the rows of a query. Raises AnonError for what the file cannot hold."""
    try:
        import pyreadstat
    except ModuleNotFoundError as error:
        rule = f"pyreadstat must be installed to write a {ending} file"
        raise not_installed("release", rule, f"no {error.name}", "stats") from None
    kind, columns = _KINDS[ending], columns_of(con, select)
    require(con, select, columns, kind.capacity)
    _require_exact(con, select, columns, ending)
    stored = ", ".join(_stored(name, of, kind) for name, of in columns.items())
    rows = con.sql(f"SELECT {stored} FROM ({select})").to_arrow_table()
    frame, written = _frame(con, rows, columns, kind)
    options = dict(kind.options)
    labels = dictionary.kept_labels(con, RAW)
    options["column_labels"] = {name: labels[name] for name in columns if name in labels}
    options["variable_format"] = written.formats
    if kind.labels:
        options["variable_value_labels"] = written.codes
    if kind.writer == "write_sav":
        options["variable_measure"] = written.measures
    try:
        getattr(pyreadstat, kind.writer)(frame, str(path), **options)
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError) as error:
        raise _refused(str(error), ending, kind) from None
    _fix(path, kind)


def _refused(why: str, ending: str, kind: _ProgramFormat) -> AnonError:
    """Return the error for what pyreadstat refuses, without its words: they may hold values."""
    if "name" in why.lower():
        rule = f"columns of a {ending} file must be named with {kind.names}"
        return AnonError("release", rule, "another name", "rename it in the source")
    rule = f"a release in a {ending} file must fit its format"
    got = "texts in another encoding" if "encoding" in why else "a value or label that does not"
    return AnonError("release", rule, got, "name OUT .csv or .parquet")


def _fix(path: Path, kind: _ProgramFormat) -> None:
    """Write a fixed time where the file says when it was made."""
    with path.open("r+b") as file:
        head = file.read(4096)
        fixed = kind.fixed(head)
        assert len(fixed) == len(head)
        file.seek(0)
        file.write(fixed)


def _require_exact(
    con: duckdb.DuckDBPyConnection, select: str, columns: Mapping[str, str], ending: str
) -> None:
    """Raise AnonError for numbers that a file would change: it holds all as DOUBLE."""
    conditions = {}
    for name, kind in columns.items():
        x = quote(name)
        if kind in ("FLOAT", "DOUBLE"):
            conditions[name] = f"coalesce(bool_or(NOT isfinite({x})), false)"
        elif _WHOLE.fullmatch(kind) and kind != "BOOLEAN":
            conditions[name] = f"coalesce(max(abs({x}::HUGEINT)) > {_EXACT}, false)"
    if not conditions:
        return
    (failing,) = con.execute(f"SELECT {', '.join(conditions.values())} FROM ({select})").fetchall()
    wrong = [name for name, is_wrong in zip(conditions, failing, strict=True) if is_wrong]
    if wrong:
        rule = f"a release in a {ending} file must have finite numbers, whole ones below 2^53"
        raise AnonError("release", rule, f"others in {listed(wrong)}", "name OUT .csv or .parquet")


def _stored(name: str, sql_type: str, kind: _ProgramFormat) -> str:
    """Return the SQL of a column as it is stored: a number or text."""
    x = quote(name)
    if _NUMBERS.fullmatch(sql_type):
        return f"{x}::DOUBLE AS {x}"
    if sql_type == "DATE":
        days = kind.first // 86_400
        return f"(datediff('day', DATE '1970-01-01', {x}) + {days}) * {kind.day}::DOUBLE AS {x}"
    if sql_type in ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS"):
        milli = f"(epoch_ms({x}::TIMESTAMP) + {kind.first * 1000})"
        return f"{milli} * {kind.second / 1000!r}::DOUBLE AS {x}"
    if sql_type == "TIME":
        return f"(epoch_us({x}) // 1000) * {kind.second / 1000!r}::DOUBLE AS {x}"
    return f"CAST({x} AS VARCHAR) AS {x}"


def _frame(
    con: duckdb.DuckDBPyConnection, rows: pa.Table, columns: Mapping[str, str], kind: _ProgramFormat
) -> tuple[Any, _VariableMetadata]:
    """Return the rows as pandas has them, and what is written beside them."""
    import pandas as pd

    codes, raw = dictionary.codes(con, RAW), _types(con, RAW)
    written, series = _VariableMetadata(), {}
    for name, sql_type in columns.items():
        values, labels = rows.column(name).combine_chunks(), codes.get(name, {})
        if pa.types.is_floating(values.type):
            if sql_type == "BOOLEAN" and kind.labels:
                labels = {"0": "false", "1": "true"}
            written.codes[name] = _present(values, labels)
            written.formats[name] = _format(sql_type, kind)
            written.measures[name] = "nominal" if sql_type == "BOOLEAN" else SCALE
            series[name] = values.to_pandas()
            continue
        is_text = raw.get(name, "VARCHAR") == "VARCHAR" and not labels
        is_number = _NUMBERS.fullmatch(raw.get(name, "")) is not None
        coded = None if is_text or not kind.labels else _coded(values, labels, is_number)
        if coded and all(len(text.encode()) <= kind.labels for text in coded[1].values()):
            series[name] = pd.Series(coded[0].to_pylist(), dtype="Int32")
            written.codes[name], written.formats[name] = coded[1], kind.whole
            written.measures[name] = "nominal"
        else:
            series[name] = pd.Series(values.to_pylist(), dtype=object).fillna("")
    written = written.without_empty()
    if kind.writer == "write_dta":
        written = _of_whole(series, written)
    else:
        series = {n: v.astype("float64") if v.dtype == "Int32" else v for n, v in series.items()}
    return pd.DataFrame(series), written


def _of_whole(series: dict[str, Any], written: _VariableMetadata) -> _VariableMetadata:
    """Return labels as Stata takes them, of columns of whole numbers, and make them such."""
    codes: dict[str, dict[float, str]] = {}
    for name, labels in written.codes.items():
        values = series[name].dropna()
        if written.measures[name] == SCALE and values.isin(list(labels)).all():
            continue  # a reader could not tell these numbers from codes
        if ((values % 1 == 0) & (values.abs() < _INT)).all():
            series[name] = series[name].astype("Int32")
            codes[name] = {int(code): text for code, text in labels.items() if code % 1 == 0}
    return _VariableMetadata(codes, written.formats, written.measures)


def _types(con: duckdb.DuckDBPyConnection, relation: str) -> dict[str, str]:
    """Return the SQL type of each column of a relation; nothing if there is none."""
    query = "SELECT column_name, data_type FROM duckdb_columns() WHERE table_name = ?"
    return dict(con.execute(query, [relation]).fetchall())


def _format(sql_type: str, kind: _ProgramFormat) -> str:
    position = {"DATE": 0, "TIME": 2}.get(sql_type, 1 if sql_type.startswith("TIMESTAMP") else None)
    if position is not None:
        return kind.formats[position]
    return kind.whole if _WHOLE.fullmatch(sql_type) else ""


def _present(values: pa.Array, labels: Mapping[str, str]) -> dict[float, str]:
    """Return the labels of those numbers that occur."""
    if not labels:
        return {}
    there = {spelled(each) for each in values.unique().to_pylist() if each is not None}
    return {float(code): label for code, label in labels.items() if code in there}


_CODE = re.compile(r"-?\d{1,9}")
_DIGITS = re.compile(r"(?<!\d)-?\d+(?:\.\d+)?")


def _coded(
    values: pa.Array, labels: Mapping[str, str], is_number: bool
) -> tuple[pa.Array, dict[float, str]] | None:
    """Return texts as codes, and the label of each code; None if codes of the raw file are texts.

    A text that labels a code of the raw file has this code. So has a text that is a number, if the
    column was one. Any other has a code that the raw file does not use.
    """
    code_of = {label: code for code, label in labels.items()}
    encoded = values.dictionary_encode()
    texts = encoded.dictionary.to_pylist()
    if is_number:
        code_of |= {text: text for text in texts if _CODE.fullmatch(text)}
    old = {text: code_of[text] for text in texts if text in code_of}
    if not all(map(_CODE.fullmatch, old.values())):
        return None
    number = {text: int(code) for text, code in old.items()}
    used = {*labels, *map(str, number.values())}
    free = (code for code in range(1, 2**31) if str(code) not in used)
    number |= {text: next(free) for text in sorted({*texts} - {*old}, key=_in_order)}
    codes = pa.array([number[text] for text in texts], pa.int32()).take(encoded.indices)
    return codes, dict(sorted((float(code), text) for text, code in number.items()))


def _in_order(text: str) -> tuple[list[float], str]:
    return [float(number) for number in _DIGITS.findall(text)], text
