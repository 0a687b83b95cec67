"""Generate hierarchies: ranges of numbers, periods of time, prefixes, earlier bins."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal, InvalidOperation
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.core.arrow import valid
from anon_sql.core.columns import comparable, shown_type
from anon_sql.core.hierarchy.column import Hierarchical
from anon_sql.core.hierarchy.tree import STAR, HierarchyTree
from anon_sql.core.labels.reading import read_ranges
from anon_sql.core.parameters import Anything, declare, param
from anon_sql.core.printing import evaluated, printed
from anon_sql.errors import AnonError, Argument, Parameter, Words, listed

Places = npt.NDArray[np.int64]


def binned(
    function: str, name: str, sql_type: str, values: pa.Array, labels: Sequence[str]
) -> Hierarchical:
    """Return the column with the labels as nodes, which keep their text.

    The leaves are the values and the ends of the ranges; a value in no label has the root above it.
    Raises AnonError for labels that are not values or ranges, or that overlap.

    labels: distinct, at least one, other than ``*`` and NULL.
    """
    ranges = read_ranges(sql_type, pa.array(labels, pa.string()))
    if ranges.malformed.any():
        count = int(ranges.malformed.sum())
        raise AnonError(
            function,
            Parameter("like") + " must be a release in labels",
            f"{count} of {listed([name])} that {'is' if count == 1 else 'are'} no value or range",
            "it needs " + Argument("format", "label") + " and the same hierarchy",
        )
    keys, low, high = comparable(sql_type, [values, ranges.low, ranges.high])
    in_order = np.argsort(low)
    if (low[in_order][1:] <= high[in_order][:-1]).any():
        raise not_global(function, name)
    present = valid(values)
    distinct, ranks = np.unique(np.concatenate([keys[present], low, high]), return_inverse=True)
    ranks = ranks.reshape(-1)
    ends = ranks[present.sum() :].reshape(2, -1)[:, in_order]
    codes = np.full(len(keys), len(distinct), dtype=np.int32)
    codes[present] = ranks[: present.sum()]
    first = np.empty(len(distinct), np.int64)
    first[ranks[::-1]] = np.arange(len(ranks) - 1, -1, -1)
    leaf_columns = [values.filter(pa.array(present)), ranges.low, ranges.high]
    leaf_values = pa.concat_arrays([column.cast(values.type) for column in leaf_columns])
    texts = printed([leaf_values.take(pa.array(first))], [sql_type])[0].to_pylist()
    node_labels = [labels[i] for i in in_order]
    for leaf, last, label in zip(*ends.tolist(), node_labels, strict=True):
        if leaf == last:
            texts[leaf] = label
    return Hierarchical(name, codes, _tree(texts, node_labels, ends))


def _tree(texts: Sequence[str], labels: Sequence[str], ends: Places) -> HierarchyTree:
    """Return the tree of leaves and disjoint bins.

    texts: of the leaves.
    labels: of the bins.
    ends: int64[2, b], the first and the last leaf of each bin.
    """
    leaves, wide = len(texts), np.flatnonzero(ends[0] < ends[1])
    names = (*texts, STAR, *(labels[i] for i in wide.tolist()))
    parent = np.full(len(names), leaves, dtype=np.int64)
    for node, i in enumerate(wide, leaves + 1):
        parent[ends[0, i] : ends[1, i] + 1] = node
    all_leaves = np.arange(leaves)
    first = np.concatenate([all_leaves, [0], ends[0, wide]])
    last = np.concatenate([all_leaves, [leaves - 1], ends[1, wide]])
    levels = np.stack([all_leaves, np.full(leaves, leaves)]).astype(np.int32)
    return HierarchyTree(names, names, parent, first, last, levels, intervals=True)


def not_global(function: str, name: str) -> AnonError:
    """Return the error for an earlier release whose labels of a column overlap."""
    return AnonError(
        function,
        Parameter("like") + " must be a release in which every value of a column has one label",
        f"labels of {listed([name])} that overlap",
        "full_domain and datafly make such releases",
    )


PATH = pa.struct(
    [
        ("attribute", pa.string()),
        ("value", pa.string()),
        ("level", pa.int32()),
        ("label", pa.string()),
    ]
)
_ERA = "if(year(d) < 1, ' (BC)', '')"
_YEAR = "if(year(d) < 1, 1 - year(d), year(d))"
_MONTH = "lpad(month(d)::VARCHAR, 2, '0')"
_PERIODS = {
    "day": "d::VARCHAR",
    "month": f"{_YEAR} || '-' || {_MONTH} || {_ERA}",
    "quarter": f"{_YEAR} || '-Q' || quarter(d) || {_ERA}",
    "year": f"{_YEAR} || {_ERA}",
    "decade": f"{_YEAR} // 10 * 10 || 's' || {_ERA}",
    "century": f"{_YEAR} // 100 * 100 || ' to ' || ({_YEAR} // 100 * 100 + 99) || {_ERA}",
}
_DAY = "TRY_CAST(regexp_extract(x, '^[0-9]+-[0-9]{2}-[0-9]{2}( \\(BC\\))?') AS DATE)"
_WHOLE = (
    *("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"),
    *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"),
)
_DECIMAL = ("FLOAT", "DOUBLE", "DECIMAL")  # types of numbers that need not be whole
_EXACT = Context(prec=100)  # digits; no number of DuckDB has so many
_INT64 = 1 << 62  # smaller numbers are computed as int64


@dataclass(frozen=True)
class Widths:
    """The parameters of ``numeric_hierarchy``."""

    widths: Any = param(
        (5, 10, 20),
        Anything(),
        "widths of the ranges, in ascending order, each a multiple of the one before. Ranges "
        "start at multiples of their width",
    )


@dataclass(frozen=True)
class Periods:
    """The parameters of ``date_hierarchy``."""

    levels: Any = param(
        ("month", "quarter", "year"),
        Anything(),
        "any of 'day', 'month', 'quarter', 'year', 'decade' and 'century', in this order. "
        "Centuries begin with a decade: 2000 to 2099",
    )


@dataclass(frozen=True)
class Lengths:
    """The parameters of ``prefix_hierarchy``."""

    lengths: Any = param(
        (4, 3, 2, 1),
        Anything(),
        "number of leading characters kept at each level, in descending order. Shorter codes stay "
        "unchanged",
    )


declare("numeric_hierarchy", Widths)
declare("date_hierarchy", Periods)
declare("prefix_hierarchy", Lengths)


def by_widths(
    name: str, sql_type: str, values: pa.Array, widths: pa.Array, width_type: str
) -> pa.StructArray:
    """Return a hierarchy of ranges that begin at multiples of their width, in exact arithmetic.

    Binary fractions count as the number that they print, so that 4.35 is in 4.35 to below 4.36. A
    value that is not finite has the root alone. Raises AnonError for other widths and for values
    that are not numbers.

    values: distinct, without NULL, in their SQL type.
    widths: ascending, each a multiple of the one before, in theirs.
    """
    function = "numeric_hierarchy"
    whole = sql_type in _WHOLE
    if not whole and not sql_type.startswith(_DECIMAL):
        got = f"{name} of type {shown_type(sql_type)}"
        raise AnonError(function, "the column must hold numbers", got, "cast it first")
    texts_of_widths = printed([widths], [width_type])[0].to_pylist()
    listed = _numbers(texts_of_widths)
    digits = max(map(_digits, listed), default=0)
    steps = [_units(width, digits) for width in listed]
    fits = all(width > 0 for width in steps) and all(
        wide > narrow and wide % narrow == 0 for narrow, wide in pairwise(steps)
    )
    rule = Parameter("widths") + " must be positive, ascending and multiples of the one before"
    _require(function, fits and bool(listed), rule, texts_of_widths)
    texts = printed([values], [sql_type])[0]
    numbers = [Decimal(text) for text in texts.to_pylist()]
    finite = np.array([number.is_finite() for number in numbers], np.bool_)
    units = np.array([_units(n, digits) for n in numbers if n.is_finite()], object)
    if len(units) and max(steps[-1], abs(units).max()) < _INT64:
        units = units.astype(np.int64)
    labels = []
    for step, width in zip(steps, listed, strict=True):
        starts, ranks = np.unique(units // step * step, return_inverse=True)
        range_labels = _range_labels(starts.tolist(), step, digits, _digits(width), whole)
        indices = np.zeros(len(numbers), np.int64)
        indices[finite] = ranks.reshape(-1)
        labels.append(pa.array(range_labels, pa.string()).take(pa.array(indices, mask=~finite)))
    return _rows(function, name, texts, labels)


def _range_labels(
    starts: Sequence[int], step: int, digits: int, shown: int, whole: bool
) -> list[str]:
    """Return the labels of ranges that begin at ``starts``; all in units of 10**-digits.

    shown: digits after the decimal point of their ends. whole: whether the values are whole.
    """
    unit = 10 ** (digits - shown)
    if whole and not shown:
        return [f"{low // unit} to {(low + step) // unit - 1}" for low in starts]
    ends = ((_written(low // unit, shown), _written((low + step) // unit, shown)) for low in starts)
    return [" to below ".join(pair) for pair in ends]


def _written(number: int, digits: int) -> str:
    """Return a number of units of 10**-digits with all its digits."""
    if not digits:
        return str(number)
    text = str(abs(number)).zfill(digits + 1)
    return f"{'-' if number < 0 else ''}{text[:-digits]}.{text[-digits:]}"


def _digits(number: Decimal) -> int:
    """Return the digits after the decimal point of a number, without zeros at its end."""
    exponent = number.normalize(_EXACT).as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def _units(number: Decimal, digits: int) -> int:
    """Return a number in units of 10**-digits, rounded down; 0 for one that is not finite."""
    if not number.is_finite():
        return 0
    return int(number.scaleb(digits, _EXACT).to_integral_value(ROUND_FLOOR))


def by_periods(name: str, sql_type: str, values: pa.Array, levels: Any) -> pa.StructArray:
    """Return a hierarchy of the periods of dates, timestamps or texts that begin with a date.

    Instants are in UTC. Raises AnonError for other levels and for values that are not finite dates.

    values: distinct, without NULL.
    levels: names of periods.
    """
    function = "date_hierarchy"
    listed = levels if isinstance(levels, list) else [levels]
    periods = list(_PERIODS)
    places = [periods.index(level) if level in periods else -1 for level in listed]
    fits = bool(places) and min(places) >= 0 and places == sorted(set(places))
    _require(function, fits, f"levels must be some of {', '.join(periods)}, in this order", listed)
    texts = printed([values], [sql_type])[0]
    days = evaluated({"x": texts}, ["VARCHAR"], [_DAY])[0]
    if days.null_count:
        rule = "the column must hold dates or timestamps that are finite"
        raise AnonError(function, rule, None, "cast it first")
    labels = evaluated({"d": days}, ["DATE"], [_PERIODS[level] for level in listed])
    return _rows(function, name, texts, labels)


def by_prefixes(name: str, sql_type: str, values: pa.Array, lengths: pa.Array) -> pa.StructArray:
    """Return a hierarchy of the prefixes of printed values; shorter values are left as they are.

    Raises AnonError for other lengths.

    values: distinct, without NULL.
    lengths: of the prefixes, descending.
    """
    function, items = "prefix_hierarchy", lengths.to_pylist()
    listed = _numbers(items)
    fits = all(n >= 1 and n == int(n) for n in listed) and all(a > b for a, b in pairwise(listed))
    rule = Parameter("lengths") + " must be whole numbers that descend to at least 1"
    _require(function, fits and bool(listed), rule, items)
    texts = printed([values], [sql_type])[0]
    long = [pc.greater_equal(pc.utf8_length(texts), int(length)) for length in listed]
    cut = [pc.utf8_slice_codeunits(texts, 0, int(length)) for length in listed]
    star = pa.scalar(STAR)
    labels = [
        pc.if_else(enough, pc.binary_join_element_wise(part, star, ""), None)
        for enough, part in zip(long, cut, strict=True)
    ]
    return _rows(function, name, texts, labels)


def _rows(function: str, name: str, texts: pa.Array, labels: Sequence[pa.Array]) -> pa.StructArray:
    """Return a row of ``PATH`` for each value and label that is not NULL, the root last.

    Raises AnonError if a value is the label of another one, so that there is no tree.
    """
    count, height = len(texts), len(labels) + 1
    all_labels = pa.concat_arrays([*labels, pa.array([STAR] * count, pa.string())])
    by_value = np.arange(count * height).reshape(height, count).T.ravel()
    path = all_labels.take(pa.array(by_value))
    kept = valid(path)
    level = np.cumsum(kept.reshape(count, height), axis=1, dtype=np.int32).ravel()
    value = texts.take(pa.array(np.repeat(np.arange(count), height)))
    is_above = pc.or_(pc.not_equal(path, value), pa.array(level > 1))
    shared = pc.and_(pc.is_in(path, texts), is_above)
    conflicts = pc.count_distinct(path.filter(shared)).as_py()
    if conflicts:
        rule = "a value of the column must not be the label of another value"
        hint = "leave that level out, or write such values differently"
        raise AnonError(function, rule, f"{conflicts:,} of {listed([name])}", hint)
    columns = [pa.array([name] * len(path), pa.string()), value, pa.array(level), path]
    return pa.StructArray.from_arrays(columns, fields=list(PATH)).filter(pa.array(kept))


def _numbers(items: Sequence[Any]) -> list[Decimal]:
    """Return numbers as they print; -1, which is never accepted, for NULL and for other values."""
    numbers = []
    for item in items:
        try:
            number = Decimal(str(item))
        except InvalidOperation:
            number = Decimal("nan")
        numbers.append(number if number.is_finite() else Decimal(-1))
    return numbers


def _require(function: str, fits: bool, rule: str | Words, got: Sequence[Any]) -> None:
    if not fits:
        texts = ("NULL" if item is None else str(item) for item in got)
        raise AnonError(function, rule, ", ".join(texts) or "none")
