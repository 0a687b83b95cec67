"""Read the files of earlier releases as relations that can be compared with the raw table."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import duckdb

from anon_sql.apps import console, files, manifest
from anon_sql.apps.one_value_columns import form_of
from anon_sql.core.columns import is_number
from anon_sql.core.labels.one_value import type_of
from anon_sql.core.names import quote
from anon_sql.core.roles import fold


def read_earlier(
    con: duckdb.DuckDBPyConnection,
    function: str,
    previous: Sequence[Path],
    roles: Mapping[str, Sequence[str]],
) -> dict[str, Path]:
    """Return the files of earlier releases by the name of their relation.

    roles: column names by role. Sensitive columns get the types of ``raw``. So do columns of a CSV
    that could be means: ``composition`` refuses means, but cannot tell them from labels in text.
    """
    types = _types(con, "raw")
    found = {}
    for at, path in enumerate(previous):
        table = f"earlier_{at}"
        files.read(con, path, table, labels=True, called=(function, "--previous"))
        wanted = {fold(name): types.get(fold(name)) for name in roles["sensitive"]}
        if files.kind(path)[0] == "csv" and not _shows_labels(path):
            wanted |= _perhaps_means(con, table, {n: types.get(fold(n)) for n in roles["qids"]})
        found[_cast(con, table, wanted)] = path
    return found


def with_files(previous: Sequence[Path], text: str) -> str:
    """Return the text of an error with files in place of the relations of ``read_earlier``."""
    for at, path in enumerate(previous):
        text = text.replace(f"earlier_{at}_cast", console.visible(str(path)))
    return text


def in_types_of_raw(con: duckdb.DuckDBPyConnection, table: str, sensitive: Sequence[str]) -> str:
    """Return a view of a release read from a file, with columns in the types of ``raw``.

    What is no value of the type becomes NULL. Without columns it is the relation itself.
    """
    if not sensitive:
        return table
    types = _types(con, "raw")
    return _cast(con, table, {fold(name): types.get(fold(name)) for name in sensitive}, "TRY_CAST")


def _types(con: duckdb.DuckDBPyConnection, table: str) -> dict[str, str]:
    held = con.table(table)
    return {fold(name): str(kind) for name, kind in zip(held.columns, held.types, strict=True)}


def _shows_labels(path: Path) -> bool:
    """Return whether the manifest beside a released file says that it shows labels."""
    beside = manifest.beside(path)
    return beside.is_file() and form_of(manifest.read("release", beside)) is None


def _perhaps_means(
    con: duckdb.DuckDBPyConnection, table: str, kinds: Mapping[str, str | None]
) -> dict[str, str | None]:
    """Return the types of means for the columns of numbers in which no row shows a range."""
    held = _types(con, table)
    found: dict[str, str | None] = {}
    for name, kind in kinds.items():
        if kind is None or fold(name) not in held or not is_number("release", name, kind):
            continue
        wanted = type_of(kind, "mean")
        own = next(column for column in con.table(table).columns if fold(column) == fold(name))
        only = f"bool_and({quote(own)} IS NULL OR TRY_CAST({quote(own)} AS {wanted}) IS NOT NULL)"
        if con.sql(f"SELECT {only} FROM {quote(table)}").fetchall() == [(True,)]:
            found[fold(name)] = wanted
    return found


def _cast(
    con: duckdb.DuckDBPyConnection,
    table: str,
    types: Mapping[str, str | None],
    cast: str = "CAST",
) -> str:
    """Make a view of a table with columns cast to types by folded name, None to leave them out."""
    held = {name: types.get(fold(name)) for name in con.table(table).columns}
    replaced = ", ".join(
        f"{cast}({quote(n)} AS {kind}) AS {quote(n)}" for n, kind in held.items() if kind
    )
    shown = f"* REPLACE ({replaced})" if replaced else "*"
    con.execute(f"CREATE VIEW {quote(table + '_cast')} AS SELECT {shown} FROM {quote(table)}")
    return f"{table}_cast"
