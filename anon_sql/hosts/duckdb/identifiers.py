"""Find the identifiers of a relation that people may have several rows by."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from anon_sql.core import stopping
from anon_sql.core.arrow import first, integers, one_array, plain
from anon_sql.core.names import quote
from anon_sql.core.roles import fold
from anon_sql.measures.person_keys import Identifier
from anon_sql.suggest.combinations import Marks
from anon_sql.suggest.roles import Shape, kind_of, shape_of, suggested

FIRST = 2_000  # rows that identifiers are looked for in
_TOGETHER = 100  # columns of one query


def kinds_of(
    types: Mapping[str, str], labelled: Collection[str], identifiers: Collection[str], firsts: Any
) -> dict[str, str]:
    """Return the kind of each column that is an identifier, or whose first rows look like one.

    types: SQL type by column. labelled: quasi-identifiers and sensitive columns, which are none.
    identifiers: columns with this role. firsts: a struct of what ``__anon_looked`` says of the
    first rows of each other column.
    """
    without, with_role = ({fold(name) for name in names} for names in (labelled, identifiers))
    kinds = {}
    for name, kind in types.items():
        if fold(name) in without:
            continue
        shape = shape_in(name, kind, firsts.field(name))
        suggestion = suggested(shape)
        if fold(name) in with_role or (suggestion is not None and suggestion.role == "identifier"):
            kinds[name] = kind_of(shape)
    return kinds


def shape_in(name: str, kind: str, view: Any, *, one_more: bool = False) -> Shape:
    """Return a column as the rules for suggestions see it.

    view: of ``__anon_looked``. one_more: whether one entry is no row; its mark is that of NULL.
    """
    nulls, sample = first(view.field("nulls")), first(view.field("sample"))
    texts = [text for text in sample or [] if text is not None]
    span = first(view.field("span"))
    marks, blanks = marks_in(view.field("marks")), first(view.field("blanks"))
    if one_more:
        marks = np.delete(marks, np.flatnonzero(marks == 0)[:1])
    return shape_of(name, kind, marks, nulls, texts, span, blanks)


def marks_in(lists: Any) -> Marks:
    """Return a list of hashes as uint64[n]; NULL, of a table without rows, is none."""
    hashes: Marks = integers(plain(lists.flatten()))
    return hashes


def looks_of(con: duckdb.DuckDBPyConnection, columns: Iterable[str], rows: str) -> pa.StructArray:
    """Return a struct of what ``__anon_looked`` returns for each column.

    con: with the functions of this package. rows: SQL of a relation of the columns and of
    ``__anon_row``. DuckDB compares the expressions of a query in pairs, so each query has few.
    """
    names = list(columns)
    looks: list[pa.Array] = []
    for start in range(0, len(names), _TOGETHER):
        group = map(quote, names[start : start + _TOGETHER])
        looked = ", ".join(f"__anon_looked({name}, __anon_row)" for name in group)
        table = con.sql(f"SELECT {looked} FROM {rows}").to_arrow_table()
        looks += map(one_array, table.columns)
        stopping.check()
    return pa.StructArray.from_arrays(looks, names)


def identifiers_of(
    con: duckdb.DuckDBPyConnection,
    table: str,
    labelled: Collection[str],
    identifiers: Collection[str],
) -> list[Identifier]:
    """Return the identifiers of a relation; arguments: as in ``kinds_of``.

    con: with the functions of this package. How alike rows with one value are is not measured.
    """
    relation = con.table(table)
    types = dict(zip(relation.columns, map(str, relation.types), strict=True))
    without = {fold(name) for name in labelled}
    types = {name: kind for name, kind in types.items() if fold(name) not in without}
    if not types:
        return []
    rows = f"(SELECT *, 0 AS __anon_row FROM {quote(table)} LIMIT {FIRST})"
    kinds = kinds_of(types, (), identifiers, looks_of(con, types, rows))
    measured = []
    for name, kind in kinds.items():
        counted = f"SELECT count({quote(name)}), count(DISTINCT {quote(name)}) FROM {quote(table)}"
        ((filled, values),) = con.execute(counted).fetchall()
        measured.append(Identifier(name, kind, filled, values))
    return measured
