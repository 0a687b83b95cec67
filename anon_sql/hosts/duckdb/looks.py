"""Look at the columns of a relation, as the rules of suggestions see them.

DuckDB compares the expressions of a query in pairs, and binds a query on a relation twice. A query
here therefore names few columns, and those alone.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.core import stopping
from anon_sql.core.arrow import first, integers, one_array, plain
from anon_sql.core.duckdb_internals.hashing import hashed
from anon_sql.core.names import literal, quote
from anon_sql.suggest.combinations import Marks
from anon_sql.suggest.roles import Shape, shape_of, suggest_roles

ROW = "__anon_row"  # the hash of a row, by which a sample of rows is taken
_HASHES = "__anon_row_hashes"
_TOGETHER = 100  # columns of one query
_LONGEST = 200  # characters of a text that are looked at
_SAMPLED = re.compile(  # types whose values are looked at
    r"(?s)U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)|FLOAT|DOUBLE|DECIMAL.*|VARCHAR|JSON|ENUM\(.*\)"
)


def shape_in(name: str, kind: str, view: Any, *, one_more: bool = False) -> Shape:
    """Return a column as the rules for suggestions see it.

    view: of ``__anon_looked``. one_more: whether one entry is no row; its mark is that of NULL.
    """
    nulls, span = first(view.field("nulls")), first(view.field("span"))
    sample = plain(view.field("sample").flatten()) if _SAMPLED.fullmatch(kind) else pa.array([])
    texts = pc.utf8_slice_codeunits(sample.cast(pa.string()), 0, _LONGEST).to_pylist()
    marks, blanks = marks_in(view.field("marks")), first(view.field("blanks"))
    if one_more:
        marks = np.delete(marks, np.flatnonzero(marks == 0)[:1])
    return shape_of(name, kind, marks, nulls, texts, span, blanks)


def marks_in(lists: Any) -> Marks:
    """Return a list of hashes as uint64[n]; NULL, of a table without rows, is none."""
    hashes: Marks = integers(plain(lists.flatten()))
    return hashes


def shapes_of(
    con: duckdb.DuckDBPyConnection, types: Mapping[str, str], relation: str, most: int | None = None
) -> list[Shape]:
    """Return columns of a relation as the rules of suggestions see them.

    con: with the functions of the package. types: SQL type by column. relation: in SQL, with these
    columns. most: how many of its first rows are looked at; None for all, of which a sample is
    taken by their hashes.
    """
    shapes: list[Shape] = []
    with _sampled(con, [*types], relation, most) as rows:
        for start in range(0, len(types), _TOGETHER):
            group = [*types][start : start + _TOGETHER]
            looked = ", ".join(f"__anon_looked({quote(name)}, {ROW})" for name in group)
            looks = con.sql(f"SELECT {looked} FROM {rows(_columns(group))}").to_arrow_table()
            views = map(one_array, looks.columns)
            shapes += [shape_in(n, types[n], view) for n, view in zip(group, views, strict=True)]
            stopping.check()
    return shapes


def suggestions(con: duckdb.DuckDBPyConnection, relation: str) -> list[dict[str, Any]]:
    """Return the rows of ``suggest_roles``; con: with the functions of the package.

    relation: its name, as SQL writes it. Raises AnonError as ``suggest_roles``.
    """
    name = literal(relation)
    ((types,),) = con.execute(f"SELECT __anon_types FROM __anon_types({name})").fetchall()
    con.execute(f"FROM __anon_fits('suggest_roles', {name})").fetchall()  # none without rows
    rows = f"query_table({name})"
    shapes = shapes_of(con, types, rows)
    marked = ", ".join(f"__anon_audit_mark({quote(column)})" for column in types)
    marks = con.sql(f"SELECT {marked} FROM {rows}").to_arrow_table()
    stopping.check("suggest_roles")
    hashes = [integers(one_array(column)) for column in marks.columns]
    suggested: list[dict[str, Any]] = suggest_roles(shapes, hashes).to_pylist()
    return suggested


def _columns(names: Sequence[str]) -> str:
    return ", ".join(map(quote, names))


@contextmanager
def _sampled(
    con: duckdb.DuckDBPyConnection, names: Sequence[str], relation: str, most: int | None
) -> Iterator[Callable[[str], str]]:
    """Yield a function that returns SQL of some columns with ``ROW``.

    The hash of a row is of all columns, so it is computed once for several groups of them.
    """
    if most is not None:
        yield lambda some: f"(SELECT {some}, 0 AS {ROW} FROM {relation} LIMIT {most})"
        return
    rows = hashed(f"(SELECT {_columns(names)} FROM {relation})")
    if len(names) <= _TOGETHER:
        yield lambda _: rows
        return
    con.execute(f"CREATE OR REPLACE TEMP TABLE {_HASHES} AS SELECT {ROW} FROM {rows}")
    try:
        yield lambda some: f"(SELECT {some} FROM {relation}) POSITIONAL JOIN temp.{_HASHES}"
    finally:
        con.execute(f"DROP TABLE temp.{_HASHES}")
