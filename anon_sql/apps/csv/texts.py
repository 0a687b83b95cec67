"""Gather the texts of one file, or of several as one table, before their columns get types."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import duckdb

from anon_sql.apps.csv.header import Header
from anon_sql.apps.csv.source import CsvSource
from anon_sql.apps.formats.format import NamedFile
from anon_sql.core.names import quote
from anon_sql.core.roles import fold
from anon_sql.errors import AnonError, Option, Words, listed

TEXTS = "__anon_texts"  # its columns are f0, f1, …
_SEVERAL = "__anon_texts_of_several"
_TOTALS = {  # words for a total in languages of Europe
    *("total,totals,sum,grand total,overall,summe,gesamt,gesamtsumme,insgesamt,somme".split(",")),
    *("total général,totaal,som,totale,somma,suma,suma total,total geral,razem,ogółem".split(",")),
    *("celkem,součet,summa,yhteensä,összesen,итого,всего".split(",")),
}
WITHOUT_TOTAL = "--without-total-row"
_LEFT_OUT = " looks like a total, not like a person; " + Option(WITHOUT_TOTAL) + " to leave it out"
TOTAL_NOTICE = "its last row" + _LEFT_OUT


@dataclass(frozen=True)
class Texts:
    """What the table of texts holds: its columns, and each file with the number of its rows.

    line_of: returns the line of a file in which its row begins, from 1.
    """

    header: Header
    files: Sequence[tuple[CsvSource, int]]
    line_of: Callable[[CsvSource, int], int]

    def place(self, row: int) -> str:
        """Return where a row of the table stands, from 1: a line, and its file among several."""
        for source, rows in self.files:
            if row <= rows:
                line = f"line {self.line_of(source, row):,}"
                return line if len(self.files) == 1 else f"{line} of '{source.path.name}'"
            row -= rows
        raise IndexError(row)


def gather(
    con: duckdb.DuckDBPyConnection,
    sources: Sequence[CsvSource],
    read: Callable[[CsvSource], tuple[Header, int]],
    line_of: Callable[[CsvSource, int], int],
) -> Texts:
    """Fill the table of texts with the rows of all files, in their order.

    read: fills it with those of one file, and returns the columns and the number of its rows.
    Raises AnonError for a file that has other columns than the first.
    """
    header, files = None, []
    for source in sources:
        columns, rows = read(source)
        if source.dialect.without_total_row:
            rows = _without_total(con, source, rows)
        files.append((source, rows))
        if header is None:
            header = columns
            if len(sources) > 1:
                con.execute(f"CREATE OR REPLACE TABLE {quote(_SEVERAL)} AS FROM {quote(TEXTS)}")
        else:
            _require_columns(source, columns, sources[0], header)
            con.execute(f"INSERT INTO {quote(_SEVERAL)} FROM {quote(TEXTS)}")
    assert header is not None
    if len(sources) > 1:
        con.execute(f"DROP TABLE {quote(TEXTS)}")
        con.execute(f"ALTER TABLE {quote(_SEVERAL)} RENAME TO {quote(TEXTS)}")
    return Texts(header, files, line_of)


def drop(con: duckdb.DuckDBPyConnection) -> None:
    """Drop the table of texts."""
    for name in (TEXTS, _SEVERAL):
        con.execute(f"DROP TABLE IF EXISTS {quote(name)}")


def _require_columns(source: CsvSource, columns: Header, first: CsvSource, wanted: Header) -> None:
    """Raise AnonError if a file has other columns than the first one, or has them elsewhere."""
    names, folded = [*map(fold, columns.written)], [*map(fold, wanted.written)]
    if names == folded:
        return
    rule = f"have the columns of '{first.path.name}', in their order"
    missing = [name for name in wanted.written if fold(name) not in names]
    if missing:
        raise source.error(rule, f"no column {listed(missing[:1])}")
    added = [name for name in columns.written if fold(name) not in folded]
    if added:
        raise source.error(rule, f"the column {listed(added[:1])} besides")
    pairs = zip(columns.written, folded, strict=False)
    moved = [name for name, other in pairs if fold(name) != other]
    raise source.error(rule, f"{listed(moved[:1]) or 'one of them'} in another place")


def is_total(row: Sequence[object]) -> bool:
    """Return whether some text of a row is a word for a total."""
    texts = [text.strip(" :.").casefold() for text in row if isinstance(text, str)]
    return any(text in _TOTALS for text in texts)


def not_total(source: NamedFile, has_rows: bool) -> AnonError:
    """Return the error for a file whose last row is to be left out, and is not a total."""
    rule = "have a total in its last row for " + Option(WITHOUT_TOTAL, verb="")
    got = "another row" if has_rows else "no row"
    return source.error(rule, got, "leave the option out if every row is a person")


def total_notice(con: duckdb.DuckDBPyConnection, texts: Texts) -> Words | None:
    """Return a sentence if the last row of a file looks like a total."""
    end = 0
    for source, rows in texts.files:
        end += rows
        if rows and is_total(_row(con, end)):
            name = source.path.name if len(texts.files) > 1 else None
            return TOTAL_NOTICE if name is None else f"the last row of '{name}'" + _LEFT_OUT
    return None


def _row(con: duckdb.DuckDBPyConnection, row: int) -> Sequence[object]:
    """Return the texts of a row of the table, from 1."""
    ((texts),) = con.execute(f"FROM {quote(TEXTS)} WHERE rowid = ?", [row - 1]).fetchall()
    return texts


def _without_total(con: duckdb.DuckDBPyConnection, source: CsvSource, rows: int) -> int:
    """Delete the last row, which must be a total; return the number of those that are left."""
    if not rows or not is_total(_row(con, rows)):
        raise not_total(source, rows > 0)
    con.execute(f"DELETE FROM {quote(TEXTS)} WHERE rowid = ?", [rows - 1])
    ((left,),) = con.execute(f"SELECT count(*) FROM {quote(TEXTS)}").fetchall()
    if left != rows - 1:
        hint = "nothing was read; please report this"
        raise source.error(f"have its {rows - 1:,} other rows read", f"{left:,}", hint)
    return rows - 1
