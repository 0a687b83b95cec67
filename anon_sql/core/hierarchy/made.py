"""Generalization hierarchies made for a column: ranges of numbers, periods of time, prefixes."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.core.arrow import valid
from anon_sql.core.columns import shown_type
from anon_sql.core.hierarchy.paths import STAR
from anon_sql.core.printing import evaluated, printed
from anon_sql.errors import AnonError

PATH = pa.struct(
    [
        ("attribute", pa.string()),
        ("value", pa.string()),
        ("level", pa.int32()),
        ("label", pa.string()),
    ]
)
_PERIODS = {
    "day": "d::VARCHAR",
    "month": "year(d) || '-' || lpad(month(d)::VARCHAR, 2, '0')",
    "quarter": "year(d) || '-Q' || quarter(d)",
    "year": "year(d)::VARCHAR",
    "decade": "(decade(d) * 10)::VARCHAR || 's'",
    "century": "'century ' || century(d)",
}
_DAY = "TRY_CAST(regexp_extract(x, '^[0-9]+-[0-9]{2}-[0-9]{2}( \\(BC\\))?') AS DATE)"
_WHOLE = (
    *("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"),
    *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"),
)


def by_widths(
    name: str, sql_type: str, values: pa.Array, widths: pa.Array, width_type: str
) -> pa.StructArray:
    """Return a hierarchy of ranges that begin at multiples of their width.

    values: distinct, without NULL, in their SQL type; widths: ascending, each a multiple of the one
    before, in theirs. Raises AnonError for other widths and for what is no number.
    """
    function, listed = "numeric_hierarchy", _numbers(widths)
    fits = all(width > 0 for width in listed) and all(
        wide > narrow and abs(wide / narrow - round(wide / narrow)) < 1e-9
        for narrow, wide in pairwise(listed)
    )
    rule = "widths must be positive, ascending and multiples of the one before"
    _require(function, fits and bool(listed), rule, listed)
    held = {f"w{at}": pa.repeat(widths[at], len(values)) for at in range(len(listed))}
    types = [sql_type, *[width_type] * len(listed)]
    try:
        labels = evaluated({"x": values, **held}, types, _ranges(sql_type, listed))
    except ValueError:
        rule = "the column must hold numbers"
        got = f"{name} of type {shown_type(sql_type)}"
        raise AnonError(function, rule, got, "cast it first") from None
    return _rows(name, printed([values], [sql_type])[0], labels)


def _ranges(sql_type: str, widths: Sequence[float]) -> list[str]:
    """The label of x at each level, as SQL; w0, w1, ...: the widths."""
    found = []
    for at, width in enumerate(widths):
        wide = f"w{at}"
        start = f"(x - ((x % {wide}) + {wide}) % {wide})"
        if sql_type in ("FLOAT", "DOUBLE"):  # whole ranges of the narrowest width, without rounding
            wide = f"{wide}::DOUBLE"
            ranges = f"floor(floor(x::DOUBLE / w0::DOUBLE) / {round(width / widths[0])})"
            start = f"({ranges} * {wide})"
        if sql_type in _WHOLE:
            found.append(f"{start}::VARCHAR || ' to ' || ({start} + {wide} - 1)::VARCHAR")
        else:
            found.append(f"{start}::VARCHAR || ' to below ' || ({start} + {wide})::VARCHAR")
    return found


def by_periods(name: str, sql_type: str, values: pa.Array, levels: Any) -> pa.StructArray:
    """Return a hierarchy of the periods that dates, timestamps or texts that begin with a date lie
    in; instants in UTC.

    values: distinct, without NULL; levels: names of periods. Raises AnonError for other levels and
    for what is no finite date.
    """
    function = "date_hierarchy"
    listed = levels if isinstance(levels, list) else [levels]
    known = list(_PERIODS)
    places = [known.index(level) if level in known else -1 for level in listed]
    fits = bool(places) and min(places) >= 0 and places == sorted(set(places))
    _require(function, fits, f"levels must be some of {', '.join(known)}, in this order", listed)
    texts = printed([values], [sql_type])[0]
    days = evaluated({"x": texts}, ["VARCHAR"], [_DAY])[0]
    if days.null_count:
        rule = "the column must hold dates or timestamps that are finite"
        raise AnonError(function, rule, "others", "cast it first")
    labels = evaluated({"d": days}, ["DATE"], [_PERIODS[level] for level in listed])
    return _rows(name, texts, labels)


def by_prefixes(name: str, sql_type: str, values: pa.Array, lengths: pa.Array) -> pa.StructArray:
    """Return a hierarchy of what printed values begin with; shorter ones are left as they are.

    values: distinct, without NULL; lengths: of the prefixes, descending. Raises AnonError for other
    lengths.
    """
    listed = _numbers(lengths)
    fits = all(n >= 1 and n == int(n) for n in listed) and all(a > b for a, b in pairwise(listed))
    rule = "lengths must be whole numbers that descend to at least 1"
    _require("prefix_hierarchy", fits and bool(listed), rule, listed)
    texts = printed([values], [sql_type])[0]
    long = [pc.greater_equal(pc.utf8_length(texts), int(length)) for length in listed]
    cut = [pc.utf8_slice_codeunits(texts, 0, int(length)) for length in listed]
    star = pa.scalar(STAR)
    labels = [
        pc.if_else(enough, pc.binary_join_element_wise(part, star, ""), None)
        for enough, part in zip(long, cut, strict=True)
    ]
    return _rows(name, texts, labels)


def _rows(name: str, texts: pa.Array, labels: Sequence[pa.Array]) -> pa.StructArray:
    """Return a row of ``PATH`` for each value and label that is not NULL, the root last."""
    count, height = len(texts), len(labels) + 1
    every = pa.concat_arrays([*labels, pa.array([STAR] * count, pa.string())])
    by_value = np.arange(count * height).reshape(height, count).T.ravel()
    path = every.take(pa.array(by_value))
    kept = valid(path)
    level = np.cumsum(kept.reshape(count, height), axis=1, dtype=np.int32).ravel()
    value = texts.take(pa.array(np.repeat(np.arange(count), height)))
    columns = [pa.array([name] * len(path), pa.string()), value, pa.array(level), path]
    return pa.StructArray.from_arrays(columns, fields=list(PATH)).filter(pa.array(kept))


def _numbers(given: pa.Array) -> list[float]:
    """Numbers as Python has them, -1 for NULL."""
    return [-1 if item is None else float(item) for item in given.to_pylist()]


def _require(function: str, fits: bool, rule: str, got: Sequence[Any]) -> None:
    if not fits:
        shown = (f"{one:g}" if isinstance(one, float) else str(one) for one in got)
        raise AnonError(function, rule, ", ".join(shown) or "none")
