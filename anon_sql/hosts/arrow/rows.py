"""Carry the columns of a table as Arrow, and restore those of types that Arrow lacks."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.core import stopping
from anon_sql.core.arrow import is_misread
from anon_sql.core.columns import is_nested, shown_type
from anon_sql.core.names import quote
from anon_sql.core.ordered import enum_of
from anon_sql.core.roles import fold
from anon_sql.errors import AnonError, listed
from anon_sql.hosts.duckdb.errors import error_text

_TRUE = "__anon_true_"  # columns that say whether text stands for every value of a nested one
_MOST_CATEGORIES = 1000  # of an ordered categorical that is an ENUM, whose type lists them all


@dataclass(frozen=True)
class ArrowColumns:
    """The columns of a table, whose rows are read when they are asked for.

    types: SQL type by name, in the order of the table. comments: by folded name, of columns that
    have one. read: returns the rows of columns. carried: the columns that travel as text, since
    Arrow lacks their type.
    """

    types: Mapping[str, str]
    read: Callable[[Sequence[str]], pa.Table]
    comments: Mapping[str, str | None] = field(default_factory=dict)
    carried: frozenset[str] = frozenset()

    def restored(self, rows: Any, names: Sequence[str]) -> Any:
        """Return a relation of rows with columns of their own SQL types.

        rows: a relation of what ``read`` has returned for the names.
        """
        return rows.project(", ".join(map(self.cast, names)))

    def cast(self, name: str) -> str:
        """Return a column in its own SQL type, as SQL."""
        quoted = quote(name)
        return (
            f"CAST({quoted} AS {self.types[name]}) AS {quoted}" if name in self.carried else quoted
        )


def of_relation(
    function: str,
    relation: duckdb.DuckDBPyRelation,
    scratch: duckdb.DuckDBPyConnection,
    comments: Mapping[str, str | None] | None = None,
) -> ArrowColumns:
    """Return the columns of a relation of DuckDB.

    scratch: a connection of this package's own, which is asked what Arrow makes of a type.
    """
    types = {name: str(kind) for name, kind in zip(relation.columns, relation.types, strict=True)}
    try:
        sent = relation.limit(0).to_arrow_table()
    except duckdb.Error as error:
        raise unreadable(function, error) from None
    back = scratch.from_arrow(without_extensions(sent)).types
    carried = frozenset(
        name
        for (name, kind), same in zip(types.items(), map(str, back), strict=True)
        if same != kind
    )

    def read(names: Sequence[str]) -> pa.Table:
        nested = [name for name in names if name in carried and _may_change(types[name])]
        wanted = [
            f"CAST({quote(n)} AS VARCHAR) AS {quote(n)}" if n in carried else quote(n)
            for n in names
        ]
        wanted += [
            f"coalesce(TRY_CAST(CAST({quote(n)} AS VARCHAR) AS {types[n]}) "
            f"IS NOT DISTINCT FROM {quote(n)}, false) AS {quote(_TRUE + n)}"
            for n in nested
        ]
        try:
            rows = relation.project(", ".join(wanted)).to_arrow_table()
        except duckdb.InterruptException:
            stopping.check(function)
            raise
        except duckdb.Error as error:
            raise unreadable(function, error) from None
        for name in nested:
            if pc.all(rows[_TRUE + name]).as_py() is False:
                raise AnonError(
                    function,
                    "every column must have a type that Arrow or text can hold",
                    f"{listed([name])} of type {shown_type(types[name])}",
                    "cast it, for instance to VARCHAR",
                )
        return rows.select(list(names))

    return ArrowColumns(types, read, comments or {}, carried)


def of_arrow(function: str, table: pa.Table, scratch: duckdb.DuckDBPyConnection) -> ArrowColumns:
    """Return the columns of a PyArrow table, with the comments in the metadata of its fields."""
    if misread := [each for each in table.schema if is_misread(each.type)]:
        raise AnonError(
            function,
            "lists of fixed size, runs and unions must hold no categories",
            ", ".join(f"{listed([each.name])} of type {each.type}" for each in misread),
            "cast them to text or drop the column",
        )
    comments, table = comments_of(table.schema), without_extensions(table)
    try:
        types = [str(kind) for kind in scratch.from_arrow(table.slice(0, 0)).types]
    except duckdb.Error:
        wrong = [each for each in table.schema if not _is_known(each.type, scratch)]
        got = ", ".join(f"{listed([each.name])} of type {each.type}" for each in wrong)
        rule = "every column must have a type that DuckDB has"
        raise AnonError(function, rule, got, "cast or drop it") from None
    ordered = {
        name: kind for name in table.column_names if (kind := _enum_of(table[name])) is not None
    }
    return ArrowColumns(
        dict(zip(table.column_names, types, strict=True)) | ordered,
        lambda names: table.select(list(names)),
        comments,
        frozenset(ordered),
    )


def _may_change(kind: str) -> bool:
    """Return whether a value of a SQL type may be another one once it was text."""
    return is_nested(kind) or kind.startswith("GEOMETRY")


def without_extensions(table: pa.Table) -> pa.Table:
    """Return a table whose fields do not name extension types: a release loses such names.

    DuckDB marks GEOMETRY and VARIANT so, and would hash released values as those of other types.
    """
    return pa.table(table.columns, names=table.column_names)


def _enum_of(values: pa.ChunkedArray) -> str | None:
    """Return the ENUM of an ordered categorical, which DuckDB reads as text; None for another."""
    kind = values.type
    if not pa.types.is_dictionary(kind) or not kind.ordered or not values.num_chunks:
        return None
    words = values.unify_dictionaries().chunk(0).dictionary
    is_text = pa.types.is_string(words.type) or pa.types.is_large_string(words.type)
    if not is_text or words.null_count or not 0 < len(words) <= _MOST_CATEGORIES:
        return None
    return enum_of(words.to_pylist())


def _is_known(kind: pa.DataType, scratch: duckdb.DuckDBPyConnection) -> bool:
    try:
        return bool(scratch.from_arrow(pa.table([pa.nulls(0, kind)], names=["x"])).types)
    except duckdb.Error:
        return False


def comments_of(schema: pa.Schema) -> dict[str, str]:
    """Return the text under ``comment`` in the metadata of fields, by folded name."""
    texts = {each.name: (each.metadata or {}).get(b"comment") for each in schema}
    return {
        fold(name): text.decode("utf-8", "replace")
        for name, text in texts.items()
        if text is not None
    }


def unreadable(function: str, error: duckdb.Error | str) -> AnonError:
    """Return what is said of an error of DuckDB's, without values."""
    return AnonError(function, "the rows must be readable", error_text(error))
