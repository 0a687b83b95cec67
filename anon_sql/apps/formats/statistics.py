"""Read files of SPSS (.sav, .zsav, .por), SAS (.sas7bdat, .xpt) and Stata (.dta).

A column whose values all have a label becomes text, the labels. Codes that a file declares missing
become NULL. A number whose values have labels only in part stays a number, unless its measure is
nominal.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa

from anon_sql.apps.csv.dialect import Dialect
from anon_sql.apps.formats import dictionary
from anon_sql.apps.formats.dictionary import Variable, spelled
from anon_sql.apps.formats.format import FileSource
from anon_sql.apps.formats.missing_codes import condition, declared, require_numbers
from anon_sql.apps.formats.moments import Moment, moment_of
from anon_sql.apps.formats.reader import StatisticsFile, opened
from anon_sql.core.names import literal, quote
from anon_sql.core.roles import fold
from anon_sql.errors import Option, Words, did_you_mean, joined, listed

_CODED = "__anon_coded"
_AGGREGATED = 200  # columns of one query
_EXACT = 2**53
SCALE = "scale"  # the measure of numbers


def read_statistics(
    con: duckdb.DuckDBPyConnection, source: FileSource, table: str
) -> dict[str, Words]:
    """Create a table from a statistics file. Raises AnonError for one that cannot be read.

    Returns a sentence for each column of durations, which becomes a number of seconds, and for each
    one of ordered labels.
    """
    dialect = source.dialect or Dialect()
    try:
        with opened(source, dialect) as file:
            columns = _columns(file, dialect)
            _load(con, file)
        _decide(con, columns)
        selected = ", ".join(f"{each.sql()} AS {quote(each.name)}" for each in columns)
        con.execute(f"CREATE TABLE {quote(table)} AS SELECT {selected} FROM {_CODED}")
    except duckdb.ConversionException:
        raise source.error("have dates that DuckDB can hold", "a date far outside them") from None
    finally:
        con.execute(f"DROP TABLE IF EXISTS {_CODED}")
    variables = [each.variable for each in columns]
    dictionary.store(con, table, variables, labels=dialect.variable_labels)
    return {each.name: notice for each in columns if (notice := each.notice())}


class _Conditions(NamedTuple):
    """SQL of what the values of a variable decide: see ``_CodedColumn``."""

    whole: str
    labelled: str
    in_day: str


@dataclass
class _CodedColumn:
    """A column of a file. position: that in the table of codes; trim: as in ``Dialect``.

    text: whether its codes are texts. missing: condition in SQL on {x}. whole, labelled, in_day:
    whether all values are whole numbers, have labels, and are seconds of a day. as_codes: whether
    its codes are its values.
    """

    name: str
    position: int
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
    as_codes: bool = False

    @property
    def x(self) -> str:
        """Return the SQL of its codes, NULL for those that mean a missing value."""
        x = f"nullif(f{self.position}, '')" if self.text else f"f{self.position}"
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
        described = self.labelled or self.measure == "nominal"
        return bool(self.labels) and described and not self.as_codes

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
            label_of_code = f"list_extract([{labels}], list_position([{codes}]::{kind}[], {x}))"
            return f"coalesce({label_of_code}, {_printed(x, self.text)})"
        if self.moment is not None and not self.is_duration:
            return self.moment.sql(x)
        return f"CAST({x} AS BIGINT)" if self.whole else x

    def conditions(self) -> _Conditions:
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
        return _Conditions(whole, labelled, in_day)

    def notice(self) -> Words | None:
        """Return a sentence about a column of durations, or one of ordered labels."""
        name = listed([self.name])
        if self.is_category and self.measure == "ordinal" and not self.text:
            return (
                f"{name} is text, the labels of ordered codes; "
                + Option("--as-codes", self.name)
                + " for ranges of codes"
            )
        if not self.is_duration:
            return None
        return joined("", [f"{name} is a number, of seconds, because its times exceed a day"])


def _literal(code: float | str) -> str:
    return literal(code) if isinstance(code, str) else repr(float(code))


def _printed(x: str, text: bool) -> str:
    """Return the SQL of a code without a label, as text."""
    whole = f"abs({x}) < {_EXACT} AND {x} = trunc({x})"
    return x if text else f"CASE WHEN {whole} THEN {x}::BIGINT::VARCHAR ELSE {x}::VARCHAR END"


def _columns(file: StatisticsFile, dialect: Dialect) -> list[_CodedColumn]:
    """Return the columns. Raises AnonError for missing codes of a column that is not there."""
    names = {fold(each["name"]): each["name"] for each in file.columns}
    for name in (*dialect.as_codes, *(name for name, _ in dialect.missing)):
        if fold(name) not in names:
            hint = did_you_mean(name, list(names.values()))
            raise file.source.error(f"have the column {listed([name])}", "no such column", hint)
    stated = {names[fold(name)]: codes for name, codes in dialect.missing}
    described = [
        _column(file.source, position, each, stated.get(each["name"]), dialect.trim)
        for position, each in enumerate(file.columns)
    ]
    as_codes = {fold(name) for name in dialect.as_codes}
    for each in described:  # a release says that a column has numbers by its measure
        is_scale = file.source.labels and each.measure == SCALE
        each.as_codes = fold(each.name) in as_codes or is_scale
    return described


def _column(
    source: FileSource,
    position: int,
    description: Mapping[str, Any],
    stated: Sequence[str] | None,
    trim: bool,
) -> _CodedColumn:
    name, text = description["name"], description["text"]
    missing = declared(description["missing"]) if stated is None else stated
    if not text:
        require_numbers(source.called[0], name, missing)
    return _CodedColumn(
        name,
        position,
        text,
        _labels(description["codes"], text),
        description["measure"],
        None if text else moment_of(source.ending, description["format"]),
        missing,
        description["label"].strip(),
        trim,
    )


def _load(con: duckdb.DuckDBPyConnection, file: StatisticsFile) -> None:
    """Create the table of codes, whose columns are f0, f1, …"""
    columns = ", ".join(
        f"f{position} {'VARCHAR' if each['text'] else 'DOUBLE'}"
        for position, each in enumerate(file.columns)
    )
    con.execute(f"CREATE OR REPLACE TABLE {_CODED} ({columns})")
    for batch in file.batches():
        con.register("__anon_batch", pa.Table.from_batches([batch]))
        con.execute(f"INSERT INTO {_CODED} FROM __anon_batch")
        con.unregister("__anon_batch")


def _decide(con: duckdb.DuckDBPyConnection, columns: Sequence[_CodedColumn]) -> None:
    """Look at the values of columns, and set what all of them are."""
    for start in range(0, len(columns), _AGGREGATED):
        some = columns[start : start + _AGGREGATED]
        by_kind = zip(*(each.conditions() for each in some), strict=True)
        conditions = ", ".join(sql for each in by_kind for sql in each)
        ((_, *holds),) = con.execute(f"SELECT count(*), {conditions} FROM {_CODED}").fetchall()
        for position, each in enumerate(some):
            each.whole, each.labelled, each.in_day = holds[position :: len(some)]


def _labels(pairs: Sequence[tuple[Any, str]], text: bool) -> dict[float | str, str]:
    """Return the label of each code; labels that two codes share are told apart by their codes."""
    labels = {
        (str(code) if text else float(code)): label.strip()
        for code, label in pairs
        if text or not isinstance(code, str)  # letters among numbers mean missing
    }
    labels = {code: label for code, label in labels.items() if label}
    several = {label for label, count in Counter(labels.values()).items() if count > 1}
    distinct = {
        code: f"{label} ({spelled(code)})" if label in several else label
        for code, label in labels.items()
    }
    return dict(sorted(distinct.items()))
