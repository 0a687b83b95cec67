"""Keep what a statistics file says about its columns, beside the table that was read from it.

A release takes labels of values from it, and only of those values that it holds. The tables are
not temporary ones, which cursors of a connection do not share.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import duckdb

from anon_sql.core.names import literal, quote
from anon_sql.core.roles import fold, without_tags
from anon_sql.hosts.duckdb.roles import comments_on

_CODES, _VARIABLES = "__anon_codes", "__anon_variables"
_TABLES = (
    f"CREATE TABLE IF NOT EXISTS {_CODES} "
    "(relation VARCHAR, name VARCHAR, position INTEGER, code VARCHAR, label VARCHAR)",
    f"CREATE TABLE IF NOT EXISTS {_VARIABLES} "
    "(relation VARCHAR, name VARCHAR, label VARCHAR, missing VARCHAR[])",
)


@dataclass(frozen=True)
class Variable:
    """What a file says about a column.

    label: of the column, '' without one. codes: label by code; a code is a number or a text.
    missing: codes that mean a missing value, as texts, and ranges such as '90 to HI'.
    """

    name: str
    label: str = ""
    codes: Mapping[float | str, str] = field(default_factory=dict)
    missing: Sequence[str] = ()


def store(
    con: duckdb.DuckDBPyConnection, table: str, variables: Sequence[Variable], *, labels: bool
) -> None:
    """Store what a file says about the columns of a table, and comment on them with their labels.

    labels: whether a release keeps the labels of columns. A label declares no role.
    """
    for statement in _TABLES:
        con.execute(statement)
    for name in (_CODES, _VARIABLES):
        con.execute(f"DELETE FROM {name} WHERE relation = ?", [table])
    codes = [
        (table, each.name, position, spelled(code), label)
        for each in variables
        for position, (code, label) in enumerate(each.codes.items())
    ]
    _insert(con, _CODES, codes)
    kept = [(table, e.name, e.label if labels else "", list(e.missing)) for e in variables]
    _insert(con, _VARIABLES, kept)
    for each in variables:
        if text := without_tags(each.label).strip():
            column = f"{quote(table)}.{quote(each.name)}"
            con.execute(f"COMMENT ON COLUMN {column} IS {literal(text)}")


def _insert(con: duckdb.DuckDBPyConnection, table: str, rows: Sequence[tuple[object, ...]]) -> None:
    if rows:
        columns = list(map(list, zip(*rows, strict=True)))
        lists = ", ".join(f"unnest(${position})" for position in range(1, len(columns) + 1))
        con.execute(f"INSERT INTO {table} SELECT {lists}", columns)


def spelled(code: float | str) -> str:
    """Return a code as text: a whole number without a point."""
    if isinstance(code, str):
        return code
    return str(int(code)) if float(code).is_integer() else repr(float(code))


def codes(con: duckdb.DuckDBPyConnection, table: str) -> dict[str, dict[str, str]]:
    """Return the label of each code, as text, of the columns of a table."""
    labels: dict[str, dict[str, str]] = {}
    if _is_there(con):
        query = f"SELECT name, code, label FROM {_CODES} WHERE relation = ? ORDER BY name, position"
        for name, code, label in con.execute(query, [table]).fetchall():
            labels.setdefault(name, {})[code] = label
    return labels


def kept_labels(con: duckdb.DuckDBPyConnection, table: str) -> dict[str, str]:
    """Return the labels of columns that a release of a table keeps."""
    if not _is_there(con):
        return {}
    query = f"SELECT name, label FROM {_VARIABLES} WHERE relation = ? AND label <> ''"
    return dict(con.execute(query, [table]).fetchall())


def column_labels(con: duckdb.DuckDBPyConnection, relation: str) -> dict[str, str]:
    """Return what each column of a relation is called besides its name, as its comment says.

    A file of SPSS, SAS or Stata has a label for each column, and a database may have comments.
    """
    texts = comments_on(con, relation)
    columns = con.table(relation).columns
    labels = {name: without_tags(texts.get(fold(name))).strip() for name in columns}
    return {name: text for name, text in labels.items() if text}


def missing(con: duckdb.DuckDBPyConnection, table: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the codes that mean a missing value in the columns of a table that have any."""
    if not _is_there(con):
        return ()
    query = f"SELECT name, missing FROM {_VARIABLES} WHERE relation = ? AND len(missing) > 0"
    return tuple((name, tuple(codes)) for name, codes in con.execute(query, [table]).fetchall())


def _is_there(con: duckdb.DuckDBPyConnection) -> bool:
    query = "SELECT count(*) FROM duckdb_tables() WHERE table_name = ?"
    return con.execute(query, [_VARIABLES]).fetchall() == [(1,)]


def labels_of_both(con: duckdb.DuckDBPyConnection, raw: str, released: str) -> dict[str, str]:
    """Return the labels of the columns of a raw file that its release has, too."""
    kept = {fold(name) for name in con.table(released).columns}
    return {name: text for name, text in column_labels(con, raw).items() if fold(name) in kept}
