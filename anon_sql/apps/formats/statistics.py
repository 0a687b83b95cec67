"""Read files of SPSS (.sav, .zsav, .por), SAS (.sas7bdat, .xpt) and Stata (.dta).

A column whose values all have a label becomes text, the labels. Codes that a file declares missing
become NULL. A number whose values have labels only in part stays a number, unless its measure is
nominal.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any

import duckdb
import pyarrow as pa

from anon_sql.apps.csv.dialect import UTF_8, Dialect
from anon_sql.apps.formats import dictionary
from anon_sql.apps.formats.dictionary import Variable, spelled
from anon_sql.apps.formats.format import Source
from anon_sql.apps.formats.missing_codes import condition, declared, require_numbers
from anon_sql.apps.formats.moments import Moment, moment_of
from anon_sql.core import stopping
from anon_sql.core.names import literal, quote
from anon_sql.core.roles import fold
from anon_sql.errors import AnonError, Option, Words, did_you_mean, joined, listed, not_installed
from anon_sql.hosts.columns import require_names

READERS = {
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".por": "read_por",
    ".dta": "read_dta",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}
_CELLS = 2_000_000  # that are read at a time
_CODED = "__anon_coded"
_AGGREGATED = 200  # columns of one query
_EXACT = 2**53


def read(con: duckdb.DuckDBPyConnection, source: Source, table: str) -> dict[str, Words]:
    """Create a table from a statistics file. Raises AnonError for one that cannot be read.

    Returns a sentence for each column of durations, which becomes a number of seconds.
    """
    dialect = source.dialect or Dialect()
    file = _File.of(source, dialect)
    _load(con, source, file)
    try:
        columns = _decided(con, file.columns(source, dialect))
        said = ", ".join(f"{each.sql()} AS {quote(each.name)}" for each in columns)
        con.execute(f"CREATE TABLE {quote(table)} AS SELECT {said} FROM {_CODED}")
    except duckdb.ConversionException:
        raise source.error("have dates that DuckDB can hold", "a date far outside them") from None
    finally:
        con.execute(f"DROP TABLE IF EXISTS {_CODED}")
    said_of = [each.variable for each in columns]
    dictionary.store(con, table, said_of, labels=dialect.variable_labels)
    return {each.name: each.notice() for each in columns if each.is_duration}


@dataclass
class _Column:
    """A column of a file. at: its position in the table of codes; trim: as in ``Dialect``.

    text: whether its codes are texts. missing: condition in SQL on {x}. whole, labelled, in_day:
    whether all values are whole numbers, have labels, and are seconds of a day.
    """

    name: str
    at: int
    text: bool
    labels: Mapping[float | str, str]
    measure: str
    moment: Moment | None
    missing: Sequence[str]
    variable_label: str
    trim: bool
    whole: bool = False
    labelled: bool = False
    in_day: bool = True

    @property
    def x(self) -> str:
        """Return the SQL of its codes, NULL for those that mean a missing value."""
        x = f"nullif(f{self.at}, '')" if self.text else f"f{self.at}"
        if self.text and self.trim:
            x = f"nullif(__anon_trimmed({x}), '')"
        tests = [condition(x, each, text=self.text) for each in self.missing]
        return f"CASE WHEN {' OR '.join(tests)} THEN NULL ELSE {x} END" if tests else x

    @property
    def is_duration(self) -> bool:
        """Return whether its values are seconds, more than a day has."""
        return self.moment is not None and self.moment.is_time and not self.in_day

    @property
    def is_category(self) -> bool:
        """Return whether its values are texts, the labels of its codes."""
        return bool(self.labels) and (self.labelled or self.measure == "nominal")

    @property
    def variable(self) -> Variable:
        return Variable(self.name, self.variable_label, self.labels, self.missing)

    def sql(self) -> str:
        """Return the SQL of its values."""
        x = self.x
        if self.is_category:
            codes = ", ".join(_literal(code) for code in self.labels)
            labels = ", ".join(literal(label) for label in self.labels.values())
            kind = "VARCHAR" if self.text else "DOUBLE"
            found = f"list_extract([{labels}], list_position([{codes}]::{kind}[], {x}))"
            return f"coalesce({found}, {_printed(x, self.text)})"
        if self.moment is not None and not self.is_duration:
            return self.moment.sql(x)
        return f"CAST({x} AS BIGINT)" if self.whole else x

    def asked(self) -> tuple[str, str, str]:
        """Return the SQL of ``whole``, ``labelled`` and ``in_day``."""
        x = self.x
        whole, in_day = "false", "true"
        if not self.text:
            whole = f"coalesce(bool_and({x} = trunc({x}) AND abs({x}) < {_EXACT}), false)"
            if self.moment is not None and self.moment.is_time:
                in_day = f"coalesce(bool_and({self.moment.in_day(x)}), true)"
        labelled = "false"
        if self.labels:
            codes = ", ".join(_literal(code) for code in self.labels)
            labelled = f"coalesce(bool_and({x} IN ({codes})), true)"
        return whole, labelled, in_day

    def notice(self) -> Words:
        """Return a sentence about a column of durations."""
        name = listed([self.name])
        return joined("", [f"{name} is a number, of seconds, because its times exceed a day"])


def _literal(code: float | str) -> str:
    return literal(code) if isinstance(code, str) else repr(float(code))


def _printed(x: str, text: bool) -> str:
    """Return the SQL of a code without a label, as text."""
    whole = f"abs({x}) < {_EXACT} AND {x} = trunc({x})"
    return x if text else f"CASE WHEN {whole} THEN {x}::BIGINT::VARCHAR ELSE {x}::VARCHAR END"


@dataclass(frozen=True)
class _File:
    """A file, by the package that reads it. reader: its function; options: of each call."""

    source: Source
    reader: Any
    options: Mapping[str, Any]
    said: Any

    @classmethod
    def of(cls, source: Source, dialect: Dialect) -> "_File":
        """Return what a file says. Raises AnonError without pyreadstat, and for another file."""
        try:
            import pyreadstat
        except ModuleNotFoundError as error:
            rule = f"pyreadstat must be installed to read a {source.ending} file"
            raise not_installed(source.called[0], rule, f"no {error.name}", "stats") from None
        _require_content(source)
        reader = getattr(pyreadstat, READERS[source.ending])
        options: dict[str, Any] = {}
        if dialect.encoding != UTF_8:
            options["encoding"] = dialect.encoding
        if source.ending in (".sav", ".zsav"):
            options["user_missing"] = True
        file = cls(source, reader, options, None)
        _, said = file.call(metadataonly=True)
        require_names(source.called[0], said.column_names)
        if not said.column_names:
            raise source.error("have columns", "a file without any")
        return cls(source, reader, options, said)

    def call(self, **more: Any) -> tuple[dict[str, list[Any]], Any]:
        """Read some of the file. Raises AnonError for one that is not whole."""
        from pyreadstat import PyreadstatError, ReadstatError

        try:
            found: tuple[dict[str, list[Any]], Any] = self.reader(
                str(self.source.path),
                output_format="dict",
                disable_datetime_conversion=True,
                **self.options,
                **more,
            )
        except (ReadstatError, PyreadstatError, UnicodeError, ValueError, OSError) as error:
            raise self._unreadable(str(error)) from None
        return found

    def _unreadable(self, why: str) -> AnonError:
        rule = f"be a whole {self.source.ending} file"
        if "encoding" in why or "convert" in why or "codec" in why:
            hint = Option("--encoding", "…") + " with the encoding that its texts have"
            return self.source.error(rule, "texts in another encoding", hint)
        return self.source.error(rule, "something else or a part of one")

    def columns(self, source: Source, dialect: Dialect) -> list[_Column]:
        """Return the columns. Raises AnonError for missing codes of a column that is not there."""
        names = {fold(name): name for name in self.said.column_names}
        stated = {}
        for name, codes in dialect.missing:
            if fold(name) not in names:
                hint = did_you_mean(name, self.said.column_names)
                raise source.error(f"have the column {listed([name])}", "no such column", hint)
            stated[names[fold(name)]] = codes
        return [
            self._column(at, name, stated.get(name), dialect.trim)
            for at, name in enumerate(self.said.column_names)
        ]

    def _column(self, at: int, name: str, stated: Sequence[str] | None, trim: bool) -> _Column:
        said = self.said
        text = said.readstat_variable_types[name] == "string"
        missing = declared(said.missing_ranges.get(name, ())) if stated is None else stated
        if not text:
            require_numbers(self.source.called[0], name, missing)
        return _Column(
            name,
            at,
            text,
            _labels(said.variable_value_labels.get(name, {}), text),
            said.variable_measure.get(name, "unknown"),
            None if text else moment_of(self.source.ending, said.original_variable_types[name]),
            missing,
            (said.column_names_to_labels.get(name) or "").strip(),
            trim,
        )

    def batches(self, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """Give the rows in parts. Raises AnonError if there are fewer than the file says."""
        rows, limit = 0, max(1, _CELLS // len(schema))
        while True:
            stopping.check(self.source.called[0])
            found, _ = self.call(row_offset=rows, row_limit=limit)
            columns = list(found.values())
            count = len(columns[0]) if columns else 0
            if count:
                arrays = [
                    pa.array(_codes(values, kind), kind)
                    for values, kind in zip(columns, schema.types, strict=True)
                ]
                yield pa.RecordBatch.from_arrays(arrays, schema=schema)
            rows += count
            if count < limit:
                break
        if self.said.number_rows not in (None, -1, rows):
            got = f"{rows:,} of its {self.said.number_rows:,} rows"
            raise self.source.error(f"be a whole {self.source.ending} file", got)


def _codes(values: Sequence[Any], kind: pa.DataType) -> Sequence[Any]:
    """Return values as Arrow takes them; NaN, and a letter among numbers, mean missing."""
    if kind == pa.string():
        return [None if value is None else str(value) for value in values]
    return [
        None if value is None or isinstance(value, str) or isnan(value) else float(value)
        for value in values
    ]


def _load(con: duckdb.DuckDBPyConnection, source: Source, file: _File) -> None:
    """Create the table of codes, whose columns are f0, f1, …"""
    kinds = file.said.readstat_variable_types
    schema = pa.schema(
        [
            pa.field(f"f{at}", pa.string() if kinds[name] == "string" else pa.float64())
            for at, name in enumerate(file.said.column_names)
        ]
    )
    columns = ", ".join(
        f"f{at} {'VARCHAR' if k == pa.string() else 'DOUBLE'}" for at, k in enumerate(schema.types)
    )
    con.execute(f"CREATE OR REPLACE TABLE {_CODED} ({columns})")
    for batch in file.batches(schema):
        rows = pa.Table.from_batches([batch])
        con.register("__anon_batch", rows)
        con.execute(f"INSERT INTO {_CODED} FROM __anon_batch")
        con.unregister("__anon_batch")


def _decided(con: duckdb.DuckDBPyConnection, columns: list[_Column]) -> list[_Column]:
    """Look at the values of columns, and set what all of them are."""
    for start in range(0, len(columns), _AGGREGATED):
        some = columns[start : start + _AGGREGATED]
        asked = ", ".join(sql for each in some for sql in each.asked())
        ((_, *found),) = con.execute(f"SELECT count(*), {asked} FROM {_CODED}").fetchall()
        for at, each in enumerate(some):
            each.whole, each.labelled, each.in_day = found[3 * at : 3 * at + 3]
    return columns


def _labels(said: Mapping[Any, str], text: bool) -> dict[float | str, str]:
    """Return the label of each code; labels that two codes share are told apart by their codes."""
    known = {
        (str(code) if text else float(code)): label.strip()
        for code, label in said.items()
        if text or not isinstance(code, str)  # letters among numbers mean missing
    }
    known = {code: label for code, label in known.items() if label}
    several = {label for label, count in Counter(known.values()).items() if count > 1}
    found = {
        code: f"{label} ({spelled(code)})" if label in several else label
        for code, label in known.items()
    }
    return dict(sorted(found.items()))


_STARTS = {
    ".sav": (b"$FL2", b"$FL3"),
    ".zsav": (b"$FL3", b"$FL2"),
    ".xpt": (b"HEADER RECORD*******LIB",),
    ".dta": (b"<stata_dta>", *(bytes([version]) for version in range(0x69, 0x74))),
    ".sas7bdat": (b"\0" * 12 + b"\xc2\xea\x81\x60",),
}


def _require_content(source: Source) -> None:
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
