"""Print values, cast texts and evaluate expressions as DuckDB does, in a private database.

The database is in memory, is opened once per process, has no tables and is separate from the
connections of the user. Its statements contain only names made here; values are passed to it as
registered Arrow columns.
"""

import atexit
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql import system
from anon_sql.core import forks
from anon_sql.core.arrow import one_array, valid
from anon_sql.core.names import quote

_opening = forks.ForkLock()
_VARCHAR = ("VARCHAR", "ENUM")
_WHOLE = {
    "VARCHAR": pa.string(),
    "TINYINT": pa.int8(),
    "SMALLINT": pa.int16(),
    "INTEGER": pa.int32(),
    "BIGINT": pa.int64(),
    "UTINYINT": pa.uint8(),
    "USMALLINT": pa.uint16(),
    "UINTEGER": pa.uint32(),
    "UBIGINT": pa.uint64(),
}


def printed(columns: Sequence[pa.Array], types: Sequence[str]) -> list[pa.Array]:
    """Return the values of each column as DuckDB prints them, type ``string``; NULL stays NULL.

    columns: Arrow values as DuckDB exports them; types: their SQL types, of structs that of their
    fields. Timestamps with time zone are printed in UTC.
    """
    sent = [_wide(values, kind) for values, kind in zip(columns, types, strict=True)]
    return _evaluate_each(
        sent,
        [_as_text if _prints_as_duckdb(values.type) else None for values in sent],
        ["CAST({} AS VARCHAR)"] * len(sent),
    )


def cast(texts: Sequence[pa.Array], types: Sequence[str], time_zone: str = "UTC") -> list[pa.Array]:
    """Return texts cast to SQL types; NULL if the cast fails.

    VARCHAR and ENUM give text. time_zone: time zone of timestamps that are written without one.
    """
    kinds = ["VARCHAR" if kind.startswith(_VARCHAR) else kind for kind in types]
    arrow_kinds = [_WHOLE.get(kind) for kind in kinds]
    return _evaluate_each(
        texts,
        [None if kind is None else partial(_as_integers, kind=kind) for kind in arrow_kinds],
        [f"TRY_CAST({{}} AS {kind})" for kind in kinds],
        time_zone,
    )


def _prints_as_duckdb(kind: pa.DataType) -> bool:
    """Return whether a cast to text in Arrow gives the same result as in DuckDB."""
    return bool(pa.types.is_integer(kind) or pa.types.is_string(kind))


def _as_text(values: pa.Array) -> pa.Array:
    return values.cast(pa.string())


def _as_integers(values: pa.Array, kind: pa.DataType) -> pa.Array | None:
    """Return texts as integers; None if Arrow cannot cast all of them."""
    try:
        return values.cast(kind)
    except pa.ArrowInvalid:
        return None


def sql_types(columns: Sequence[pa.Array]) -> list[str]:
    """Return the SQL type that DuckDB assigns to each Arrow array."""
    nulls = [pa.nulls(1, values.type) for values in columns]
    selected = ", ".join(f"typeof(c{i}) AS r{i}" for i in range(len(nulls)))
    return [name[0].as_py() for name in _selected(nulls, f"SELECT {selected} FROM given", "UTC")]


def evaluated(
    columns: Mapping[str, pa.Array],
    types: Sequence[str],
    expressions: Sequence[str],
    time_zone: str = "UTC",
) -> list[pa.Array]:
    """Return the value of each SQL expression for every row of columns of equal length.

    columns: by their names in the expressions; they are cast to the SQL types, NULL if a cast
    fails. expressions: SQL text made by this package, or text of the user only after it was parsed,
    found to contain nothing but comparisons of columns with constants, and printed from the parse
    tree. time_zone: time zone of timestamps that an expression writes without one. Raises
    ValueError if DuckDB rejects an expression.
    """
    names, pairs = list(columns), zip(columns.values(), types, strict=True)
    sent = [_wide(values, kind) for values, kind in pairs]
    typed = ", ".join(
        f"TRY_CAST(c{i} AS {kind}) AS {quote(names[i])}" for i, kind in enumerate(types)
    )
    selected = ", ".join(f"{text} AS r{i}" for i, text in enumerate(expressions))
    try:
        return _selected(sent, f"SELECT {selected} FROM (SELECT {typed} FROM given)", time_zone)
    except duckdb.Error:
        raise ValueError("an expression that cannot be evaluated") from None


def _evaluate_each(
    columns: Sequence[pa.Array],
    shortcuts: Sequence[Callable[[pa.Array], pa.Array | None] | None],
    expressions: Sequence[str],
    time_zone: str = "UTC",
) -> list[pa.Array]:
    """Evaluate one expression for every value of each column; columns may differ in length.

    shortcuts: for each column a function that computes the same without DuckDB, or returns None if
    it cannot; None for no shortcut.
    """
    results = [
        None if shortcut is None else shortcut(values)
        for values, shortcut in zip(columns, shortcuts, strict=True)
    ]
    unfinished = [i for i, values in enumerate(results) if values is None]
    if not unfinished:
        return results
    longest = max(1, *(len(columns[i]) for i in unfinished))
    padded = [
        pa.concat_arrays([columns[i], pa.nulls(longest - len(columns[i]), columns[i].type)])
        if len(columns[i]) < longest
        else columns[i]
        for i in unfinished
    ]
    selected = ", ".join(
        expressions[i].format(f"c{position}") + f" AS r{position}"
        for position, i in enumerate(unfinished)
    )
    answers = _selected(padded, f"SELECT {selected} FROM given", time_zone)
    for i, values in zip(unfinished, answers, strict=True):
        results[i] = values.slice(0, len(columns[i]))
    return results


def _selected(columns: Sequence[pa.Array], query: str, time_zone: str) -> list[pa.Array]:
    """Return the columns of a query on the relation ``given``.

    columns: the columns c0, c1, ... of ``given``, of equal length.
    """
    table = pa.table(list(columns), names=[f"c{i}" for i in range(len(columns))])
    cursor = _database().cursor()
    try:
        if time_zone != "UTC":
            cursor.execute("SET TimeZone = ?", [time_zone])
        cursor.register("given", table)
        result = cursor.sql(query).to_arrow_table()
    except (duckdb.FatalException, duckdb.InternalException):
        _open.cache_clear()  # DuckDB refuses all statements after such an error
        raise
    finally:
        cursor.close()
    return [one_array(values) for values in result.columns]


def _wide(values: pa.Array, kind: str) -> pa.Array:
    """Return 128-bit integers, alone or in structs, as text, and any other values unchanged.

    DuckDB exports them as decimals, which it reads back wrongly above 2^127 and cannot print at
    the minimum.
    """
    if kind not in ("HUGEINT", "UHUGEINT"):
        return values
    if pa.types.is_struct(values.type):
        fields = [_wide(field, kind) for field in values.flatten()]
        names = [field.name for field in values.type]
        return pa.StructArray.from_arrays(fields, names=names, mask=pc.invert(values.is_valid()))
    if not pa.types.is_decimal(values.type):
        return values
    pairs = np.frombuffer(values.buffers()[1], dtype=np.uint64).reshape(-1, 2)
    pairs = pairs[values.offset : values.offset + len(values)].tolist()
    present = valid(values).tolist()
    limit = 1 << 127 if kind == "HUGEINT" else 1 << 128
    texts = [
        str(_signed(high << 64 | low, limit)) if is_present else None
        for (low, high), is_present in zip(pairs, present, strict=True)
    ]
    return pa.array(texts, pa.string())


def _signed(bits: int, limit: int) -> int:
    return bits if bits < limit else bits - (1 << 128)


def _database() -> Any:
    with _opening:
        return _open()


@cache
def _open() -> Any:
    """Open the private database; it preserves the order of rows, on which its callers rely."""
    con = duckdb.connect(":memory:", config={"preserve_insertion_order": "true"})
    con.execute("SET GLOBAL TimeZone = 'UTC'")
    _opened.append(con)
    return con


_opened: list[Any] = []


@atexit.register
def _close() -> None:
    """Close what this process has opened."""
    for con in _opened:
        con.close()


def _leave() -> None:
    """Open another database in a child, and leave the parent's as it is."""
    for con in _opened:
        forks.leave(con)
    _opened.clear()
    _open.cache_clear()


system.after_fork_in_child(_leave)


def use_threads(count: int) -> None:
    """Set the number of threads of the private database, for processes that share a machine."""
    _database().execute(f"SET threads = {int(count)}")
