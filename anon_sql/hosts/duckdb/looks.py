"""Look at the columns of a relation, as the rules of suggestions see them.

DuckDB compares the expressions of a query in pairs, and binds a query on a relation twice. A query
here therefore names few columns, and those alone. To plan the aggregates of ``__anon_looked`` takes
far longer than to read some thousand values, so those of many columns of few rows are read instead.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.core import stopping
from anon_sql.core.arrow import first, integers, one_array, plain, valid
from anon_sql.core.duckdb_internals.hashing import hash_of, hashed
from anon_sql.core.names import literal, quote
from anon_sql.suggest.combinations import Marks
from anon_sql.suggest.kinds import is_integer
from anon_sql.suggest.roles import MAX_FLAG_VALUES, Shape, shape_of, suggest_roles

ROW = "__anon_row"  # the hash of a row, by which a sample of rows is taken
_HASHES = "__anon_row_hashes"
_TOGETHER = 100  # columns of one query
_FEW_ROWS = 122_880  # whose values are read; more are aggregated
_SAMPLE = 2_000  # values of a sample, as in ``__anon_looked``
_LONGEST = 200  # characters of a text that are looked at
_SHORT = 1_000_000  # whole numbers below it print without an exponent in every type
_BLANKS = "SELECT '^' || __anon_blank() || '|' || __anon_blank() || '$'"
_READ = re.compile(  # types whose values are read
    r"U?(TINYINT|SMALLINT|INTEGER|BIGINT)|FLOAT|DOUBLE|DECIMAL\((1[0-8]|[1-9]),.*|VARCHAR|BOOLEAN|DATE"
    r"|TIMESTAMP"
)
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
    shapes: dict[str, Shape] = {}
    with _sampled(con, [*types], relation, most) as (rows, few):
        for group in _groups([n for n, kind in types.items() if few and _READ.fullmatch(kind)]):
            shapes |= _shapes_of_values(con, {n: types[n] for n in group}, rows(_columns(group)))
        for group in _groups([name for name in types if name not in shapes]):
            looked = ", ".join(f"__anon_looked({quote(name)}, {ROW})" for name in group)
            looks = con.sql(f"SELECT {looked} FROM {rows(_columns(group))}").to_arrow_table()
            views = map(one_array, looks.columns)
            shapes |= {n: shape_in(n, types[n], view) for n, view in zip(group, views, strict=True)}
            stopping.check()
    return [shapes[name] for name in types]


def _groups(names: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(names), _TOGETHER):
        yield names[start : start + _TOGETHER]


def _shapes_of_values(
    con: duckdb.DuckDBPyConnection, types: Mapping[str, str], rows: str
) -> dict[str, Shape]:
    """Return what ``shape_in`` does, from the values of the columns.

    types: of ``_READ``. rows: SQL of these columns with ``ROW``. Columns are missing in the result
    if DuckDB has to print their values or to compute their span.
    """
    wanted = []
    for name, kind in types.items():
        column = quote(name)
        wanted.append(hash_of([f"system.main.encode({column})" if kind == "VARCHAR" else column]))
        wanted.append(column if _SAMPLED.fullmatch(kind) else f"nullif({column} IS NULL, true)")
    table = con.sql(f"SELECT {ROW}, {', '.join(wanted)} FROM {rows}").to_arrow_table()
    stopping.check()
    row_hashes, *arrays = map(one_array, table.columns)
    order = np.argsort(integers(row_hashes), kind="stable")
    ((blanks,),) = con.execute(_BLANKS).fetchall()
    shapes = {}
    for (name, kind), marks, values in zip(types.items(), arrays[::2], arrays[1::2], strict=True):
        shape = _shape_of_values(name, kind, integers(marks), plain(values), order, blanks)
        if shape is not None:
            shapes[name] = shape
    return shapes


def _shape_of_values(
    name: str, kind: str, marks: Marks, values: pa.Array, order: npt.NDArray[np.intp], blanks: str
) -> Shape | None:
    """Return a column as the rules of suggestions see it; None if DuckDB has to look at it.

    values: those of the column if its type is of ``_SAMPLED``, else only as many NULLs. order: the
    rows by their hashes. blanks: a regular expression of texts with blanks around them.
    """
    texts, span, with_blanks = None, None, None
    if _SAMPLED.fullmatch(kind):
        texts = _texts(kind, values.take(pa.array(order[valid(values)[order]][:_SAMPLE])))
        if texts is None:
            return None
    if is_integer(kind) and values.null_count < len(values):
        ends = pc.min_max(values).as_py()
        span = float(ends["max"]) - float(ends["min"]) + 1
    if kind == "VARCHAR":
        with_blanks = pc.sum(pc.match_substring_regex(values, blanks)).as_py()
    sample = [] if texts is None else texts.to_pylist()
    shape = shape_of(name, kind, marks, values.null_count, sample, span, with_blanks or 0)
    numbered = shape.values == shape.non_null > MAX_FLAG_VALUES
    return None if numbered and shape.sample and span is None else shape


def _texts(kind: str, values: pa.Array) -> pa.Array | None:
    """Return values as text; None if DuckDB has to print them. Fractions are rounded."""
    if kind == "VARCHAR":
        return pc.utf8_slice_codeunits(values.cast(pa.string()), 0, _LONGEST)
    if is_integer(kind):
        return values.cast(pa.string())
    numbers = values.cast(pa.float64()).to_numpy(zero_copy_only=False)
    if (numbers != np.floor(numbers)).any():
        return pa.array(numbers).cast(pa.string())
    if (np.abs(numbers) >= _SHORT).any() or np.signbit(numbers[numbers == 0]).any():
        return None
    return pa.array(numbers.astype(np.int64)).cast(pa.string())


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
) -> Iterator[tuple[Callable[[str], str], bool]]:
    """Yield a function that returns SQL of some columns with ``ROW``, and whether rows are few.

    The hash of a row is of all columns, so it is computed once for several groups of them. Whether
    rows are few is only asked for several groups.
    """
    if most is not None:
        few = len(names) > _TOGETHER and most <= _FEW_ROWS
        yield lambda some: f"(SELECT {some}, 0 AS {ROW} FROM {relation} LIMIT {most})", few
        return
    rows = hashed(f"(SELECT {_columns(names)} FROM {relation})")
    if len(names) <= _TOGETHER:
        yield lambda _: rows, False
        return
    con.execute(f"CREATE OR REPLACE TEMP TABLE {_HASHES} AS SELECT {ROW} FROM {rows}")
    try:
        ((count,),) = con.execute(f"SELECT count(*) FROM temp.{_HASHES}").fetchall()
        yield (
            lambda some: f"(SELECT {some} FROM {relation}) POSITIONAL JOIN temp.{_HASHES}",
            count <= _FEW_ROWS,
        )
    finally:
        con.execute(f"DROP TABLE temp.{_HASHES}")
