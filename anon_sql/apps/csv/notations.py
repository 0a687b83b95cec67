"""Read columns of texts in the notation that options or a recipe declare.

Texts are rewritten as DuckDB prints numbers, dates and timestamps, and then typed as all others. A
text that is written otherwise is an error with its line, never NULL.
"""

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import duckdb

from anon_sql.apps.csv.source import CsvSource
from anon_sql.core.names import quote
from anon_sql.core.notation import MISSING, Notation, fits, recognize, with_unit
from anon_sql.core.roles import fold
from anon_sql.errors import AnonError, Option, Words, did_you_mean, listed
from anon_sql.hosts.columns import portions

PARAMETERS = ("decimal", "thousands", "date_format", "timestamp_format")
SIGNS = {"decimal": (",", "."), "thousands": (".", ",", " ", "'")}
_SAMPLED = 100  # columns that are read at once
_SAMPLE = 2_000  # rows that say which columns are written so
Declared = tuple[tuple[str, str | None, str], ...]


def declared(function: str, options: Mapping[str, Sequence[str]]) -> Declared:
    """Return what options declare: parameter, column or None for the file, and value.

    given: by parameter its texts, VALUE or COLUMN=VALUE. Raises AnonError for other values.
    """
    settings = []
    for name in PARAMETERS:
        for text in options.get(name) or ():
            column, sign, value = text.rpartition("=")
            settings.append((name, column if sign else None, value))
    return checked(function, settings, lambda name: Option(_flag(name), verb=""))


def of_recipe(function: str, source: Mapping[str, object]) -> Declared:
    """Return what [source] of a recipe declares: a text for the file, or a table by column."""
    settings: list[tuple[str, str | None, str]] = []
    for name in PARAMETERS:
        stated = source.get(name)
        if isinstance(stated, Mapping):
            settings += [(name, column, str(value)) for column, value in stated.items()]
        elif stated is not None:
            settings.append((name, None, str(stated)))
    return checked(function, settings, lambda name: f"{name} in [source]")


def as_recipe(settings: Declared) -> dict[str, str | dict[str, str]]:
    """Return declared notations as [source] of a recipe has them."""
    tables: dict[str, str | dict[str, str]] = {}
    for name, column, value in settings:
        if column is None:
            tables[name] = value
        elif isinstance(table := tables.setdefault(name, {}), dict):
            table[column] = value
    return tables


def as_options(settings: Declared) -> Iterator[tuple[str, str]]:
    """Give declared notations as options, each with its value."""
    for name, column, value in settings:
        yield _flag(name), value if column is None else f"{column}={value}"


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def checked(
    function: str,
    settings: Sequence[tuple[str, str | None, str]],
    spelled: Callable[[str], str | Words],
) -> Declared:
    """Return settings. Raises AnonError for signs and formats that cannot be."""
    seen: set[tuple[str, str | None]] = set()
    for name, column, value in settings:
        what, key = spelled(name), (name, None if column is None else fold(column))
        if key in seen:
            where = "the file" if column is None else f"column {listed([column])}"
            raise AnonError(function, what + f" must be given once for {where}", "twice")
        seen.add(key)
        if column is None and any(n == name and c is not None for n, c, _ in settings):
            rule = what + " must be for the file or for columns"
            raise AnonError(function, rule, None, "name every column")
        if (signs := SIGNS.get(name)) is not None:
            if value not in signs:
                allowed = ", ".join(f"'{sign}'" for sign in signs)
                raise AnonError(function, what + f" must be one of {allowed}", f"'{value}'")
            continue
        _check_format(function, what, value, date=name == "date_format")
    _check_signs(function, settings)
    return tuple(settings)


def _check_format(function: str, what: str | Words, value: str, *, date: bool) -> None:
    hint: str | Words = "write '%d.%m.%Y' or '%m/%d/%Y %H:%M'"
    try:
        with duckdb.connect() as con:
            con.execute("SELECT try_strptime('', ?)", [value])
    except duckdb.Error:
        rule = what + " must be a format of strptime"
        raise AnonError(function, rule, "another text", hint) from None
    if "%" not in value:
        raise AnonError(function, what + " must be a format of strptime", "another text", hint)
    if date and Notation(value).sql_type != "DATE":
        rule = what + " must be a date without time"
        raise AnonError(
            function, rule, f"'{value}'", Option("--timestamp-format", verb="") + " reads times"
        )


def _check_signs(function: str, settings: Sequence[tuple[str, str | None, str]]) -> None:
    for column in dict.fromkeys(column for _, column, _ in settings):
        values = _of_column(settings, column)
        if values.get("decimal", ".") == values.get("thousands"):
            rule = "the signs of decimals and of thousands must differ"
            hint = Option("--decimal", ",", "write") + " and " + Option("--thousands", ".", "")
            raise AnonError(function, rule, f"'{values['thousands']}' for both", hint)


def _of_column(
    settings: Sequence[tuple[str, str | None, str]], column: str | None
) -> dict[str, str]:
    """Return the values for a column: its own, and those of the file for signs."""
    of_column = {
        n: v for n, c, v in settings if c is not None and column and fold(c) == fold(column)
    }
    of_file = {n: v for n, c, v in settings if c is None}
    if column is None:
        return of_file
    return ({n: v for n, v in of_file.items() if n in SIGNS} | of_column) if of_column else {}


def _notations(values: Mapping[str, str]) -> list[Notation]:
    """Return the notations that values describe, dates and times first."""
    formats = [Notation(v) for n, v in values.items() if n not in SIGNS]
    signs = {n: v for n, v in values.items() if n in SIGNS}
    return formats + ([Notation("", **signs)] if signs else [])


class OtherTexts(NamedTuple):
    """Texts of a column that are written otherwise than the rest.

    rows, all_texts: their number, and that of all texts. first_row: from 1; 0 for none.
    """

    rows: int
    all_texts: int
    first_row: int


@dataclass(frozen=True)
class ColumnTexts:
    """Columns of a relation as texts.

    expressions: SQL of each. row: SQL of the number of a row from 0, if the relation has one.
    """

    con: duckdb.DuckDBPyConnection
    relation: str
    expressions: Sequence[str]
    row: str = "NULL"

    def bare(self, position: int) -> str:
        """Return the SQL of a text without blanks around it, NULL if nothing is left."""
        return f"nullif(trim({self.expressions[position]}), '')"

    def samples(self, rows: int = _SAMPLE) -> list[list[str]]:
        """Return texts of each column, from as many of the first rows."""
        texts: list[list[str]] = []
        for some in portions(self.expressions, _SAMPLED):
            sql = f"SELECT {', '.join(some)} FROM {self.relation} LIMIT {rows}"
            rows_of = self.con.execute(sql).fetchall()
            columns = zip(*rows_of, strict=True) if rows_of else ([] for _ in some)
            texts += [[text for text in column if text is not None] for column in columns]
        return texts

    def others(self, position: int, notation: Notation) -> OtherTexts:
        """Count the texts of a column that are not written in a notation."""
        x = self.bare(position)
        other = f"{x} IS NOT NULL AND {notation.sql(x)} IS NULL"
        ((rows, count, first),) = self.con.execute(
            f"SELECT count(*) FILTER ({other}), count({x}), min({self.row}) FILTER ({other}) "
            f"FROM {self.relation}"
        ).fetchall()
        return OtherTexts(rows, count, 0 if first is None else int(first) + 1)


def of_file(con: duckdb.DuckDBPyConnection, table: str, columns: int) -> ColumnTexts:
    """Return the texts of a file: a table with the columns f0, f1, …"""
    return ColumnTexts(
        con, quote(table), [quote(f"f{position}") for position in range(columns)], "rowid"
    )


def rewrite(
    con: duckdb.DuckDBPyConnection,
    source: CsvSource,
    table: str,
    names: Sequence[str],
    place: Callable[[int], str],
) -> None:
    """Write texts of declared notations as DuckDB prints them.

    table: of texts, with the columns f0, f1, …. place: where a row stands, from 1. Raises AnonError
    with the place of a text that is written otherwise, for a column that the file lacks, and for a
    format that no column has.
    """
    settings = source.dialect.notations
    if not settings:
        return
    texts, by_fold = of_file(con, table, len(names)), {fold(name): name for name in names}
    for _, column, _ in settings:
        if column is not None and fold(column) not in by_fold:
            rule = f"have the column {listed([column])}, whose notation is declared"
            raise source.error(rule, "no column of that name", did_you_mean(column, names))
    samples, in_file = texts.samples(), _notations(_of_column(settings, None))
    chosen: dict[int, Notation] = {}
    for position, name in enumerate(names):
        stated = _notations(_of_column(settings, name))
        if len([each for each in stated if each.format]) > 1 or (
            stated
            and stated[0].format
            and any(n in SIGNS and c for n, c, _ in settings if c == name)
        ):
            rule = f"have numbers, dates or times in {listed([name])}"
            raise source.error(rule, "more than one of them declared", "declare one")
        fitting = stated[:1] or [
            e for e in in_file if fits(with_unit(e, samples[position]), samples[position])
        ]
        if fitting:
            chosen[position] = with_unit(fitting[0], samples[position])
    for notation in in_file:
        if notation.format and notation not in chosen.values():
            got = "no column of them"
            raise source.error(f"have {notation.says()}", got, "leave the format out")
    for position, notation in chosen.items():
        others = texts.others(position, notation)
        if others.rows:
            raise source.error(
                f"have {notation.says()} in every row of {listed([names[position]])}",
                f"another text in {place(others.first_row)}",
                Option("--null", verb="") + " names texts that are NULL",
            )
    if chosen:
        kept = ", ".join(
            f"{chosen[position].sql(texts.bare(position))} AS f{position}"
            if position in chosen
            else f"f{position}"
            for position in range(len(names))
        )
        con.execute(f"CREATE OR REPLACE TABLE {quote(table)} AS SELECT {kept} FROM {quote(table)}")


def noticed(
    con: duckdb.DuckDBPyConnection, table: str, names: Sequence[str], columns: Sequence[int]
) -> dict[str, Words]:
    """Return a sentence for each of some columns whose texts are numbers, dates or times.

    table: of texts, with the columns f0, f1, …
    """
    texts = of_file(con, table, len(names))
    sentences: dict[str, Words] = {}
    samples = texts.samples() if columns else []
    for position in columns:
        recognized, name = recognize(samples[position]), listed([names[position]])
        if recognized is None:
            continue
        others = texts.others(position, recognized.notation)
        says = recognized.says()
        if others.rows and recognized.certain:
            sentences[names[position]] = (
                f"{name} is text, since {others.rows:,} of its {others.all_texts:,} values are not "
                f"{says}, the first in row {others.first_row:,}; "
                + Option("--null", verb="")
                + " names texts that are NULL"
            )
        elif not (recognized.certain and recognized.notation.plain):
            text = f"{name} is text, but its values are {says}; "
            either = text + _options(names[position], recognized.notation)
            if recognized.rival:
                either = either + " or " + _options(names[position], recognized.rival, verb="")
            sentences[names[position]] = either
    return sentences


def _options(name: str, notation: Notation, verb: str = "pass") -> Words:
    """Return the options that declare the notation of a column."""
    settings = tuple((n, name, value) for n, value in notation.settings().items())
    first, *others = [Option(option, shlex.quote(v), verb) for option, v in as_options(settings)]
    options: Words = first
    for each in others:
        options = options + " and " + replace(each, verb="")
    return options


_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT")


def proposed(con: duckdb.DuckDBPyConnection, relation: str) -> Declared:
    """Return the notation of each column that certainly is in one, in every row.

    relation: a table, of which columns of texts and whole numbers are looked at.
    """
    columns = con.execute(f"DESCRIBE {quote(relation)}").fetchall()
    names = [name for name, kind, *_ in columns if kind in ("VARCHAR", *_WHOLE)]
    texts = ColumnTexts(con, quote(relation), [f"CAST({quote(name)} AS VARCHAR)" for name in names])
    settings: list[tuple[str, str | None, str]] = []
    for position, sample in enumerate(texts.samples()):
        seen = recognize(sample)
        if seen is None or not seen.certain or seen.notation.plain:
            continue
        if texts.others(position, seen.notation).rows == 0:
            settings += [
                (name, names[position], value) for name, value in seen.notation.settings().items()
            ]
    return tuple(settings)


_PLAIN_MARKERS = ("na", "n/a", "n.a.", "nan", "null", "?", ".")  # which are no words of a language
_MARKERS, _NUMBERS = 5, 3  # most markers of a column, and least different numbers


def missing(con: duckdb.DuckDBPyConnection, relation: str) -> dict[str, list[str]]:
    """Return the markers of missing values in columns that are numbers or dates but for them.

    A word such as none is no marker if another column has it too. relation: a table. Returns the
    columns that have a marker, by marker.
    """
    columns = con.execute(f"DESCRIBE {quote(relation)}").fetchall()
    names = [name for name, kind, *_ in columns if kind == "VARCHAR"]
    texts = ColumnTexts(con, quote(relation), list(map(quote, names)))
    by_marker: dict[str, list[str]] = {}
    for position, sample in enumerate(texts.samples()):
        x, seen = texts.bare(position), recognize(sample)
        as_recognized = "NULL" if seen is None or not seen.certain else seen.notation.sql(x)
        plain = f"try_cast({x} AS DOUBLE)::VARCHAR, try_cast({x} AS DATE)::VARCHAR"
        value = f"coalesce({plain}, {as_recognized})"
        read = f"SELECT {x} AS x, {value} AS value FROM {quote(relation)} WHERE {x} IS NOT NULL"
        ((numbers, others),) = con.execute(
            f"SELECT count(DISTINCT value), list(DISTINCT x) FILTER (value IS NULL) FROM ({read})"
        ).fetchall()
        others = sorted(others or ())
        if numbers < _NUMBERS or not 0 < len(others) <= _MARKERS:
            continue
        if all(text.lower() in MISSING for text in others):
            for text in others:
                by_marker.setdefault(text, []).append(names[position])
    return {
        text: marked
        for text, marked in sorted(by_marker.items())
        if text.lower() in _PLAIN_MARKERS or not _is_elsewhere(texts, names, text, marked)
    }


def _is_elsewhere(
    texts: ColumnTexts, names: Sequence[str], text: str, columns: Sequence[str]
) -> bool:
    """Return whether a column besides its own has a text."""
    others = [texts.bare(position) for position, name in enumerate(names) if name not in columns]
    if not others:
        return False
    has = f"SELECT 1 FROM {texts.relation} WHERE $text IN ({', '.join(others)}) LIMIT 1"
    return bool(texts.con.execute(has, {"text": text}).fetchall())
