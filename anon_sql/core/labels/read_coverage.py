"""Read the labels of a column beside its values."""

from itertools import chain

import numpy as np
import pyarrow as pa

from anon_sql.core.arrow import integers, valid
from anon_sql.core.columns import Categories, categories, is_number, numeric_keys, require_finite
from anon_sql.core.exact import approximate
from anon_sql.core.hierarchy.hierarchical import Hierarchical, hierarchical
from anon_sql.core.labels.check_one_value import ROUNDING
from anon_sql.core.labels.coverage import LEAST, MOST, Coverage, Ints
from anon_sql.core.labels.one_value import shows_values
from anon_sql.core.labels.read import Bools, Said, read_nodes, read_ranges, read_sets
from anon_sql.core.printing import printed


def coverage(
    function: str,
    name: str,
    sql_type: str,
    values: pa.Array,
    shown: pa.Array,
    rows: pa.StructArray | None,
) -> Coverage:
    """Read the labels of one column beside its values; rows: of its hierarchy, or None.

    Raises AnonError for values that no label can stand for.
    """
    number = is_number(function, name, sql_type)
    labels, label_of = distinct(shown)
    if number and shows_values(shown):
        require_finite(function, name, values)
        return _of_values(sql_type, values, shown)
    if rows is not None:
        column = hierarchical(function, name, sql_type, values, rows)
        return _of_tree(column, sql_type, labels, label_of)
    if number:
        require_finite(function, name, values)
        return _of_ranges(sql_type, values, labels, label_of)
    return _of_sets(categories(name, values), labels, label_of)


def distinct(shown: pa.Array) -> tuple[pa.Array, Ints]:
    """Return labels without repeats and which one each class has; structs and lists as they are."""
    if pa.types.is_nested(shown.type):
        return shown, np.arange(len(shown))
    coded = shown.cast(pa.string()).dictionary_encode()  # an ENUM has labels that no class has
    labels = coded.dictionary
    if coded.null_count:
        labels = pa.concat_arrays([labels, pa.nulls(1, pa.string())])
    places: Ints = integers(coded.indices.fill_null(len(labels) - 1).cast(pa.int64()))
    return labels, places


def _of_values(sql_type: str, values: pa.Array, shown: pa.Array) -> Coverage:
    """Return what means or medians cover: every value but NULL, since they tell of no single row.

    NULL stands for anything; a value outside the range of the column is unknown and covers nothing.
    """
    codes, present, star = numeric_keys(sql_type, values), valid(values), ~valid(shown)
    if len(codes) and codes.min() == LEAST:  # the code of NULL
        codes = np.unique(codes, return_inverse=True)[1].reshape(-1).astype(np.int64)
    own, one = approximate(sql_type, values)[present], approximate(sql_type, shown)
    least, most = (own.min(), own.max()) if len(own) else (np.inf, -np.inf)
    slack = ROUNDING * np.abs(own).max(initial=0.0)
    unknown = ~star & ((one < least - slack) | (one > most + slack))
    lowest, highest = (codes[present].min(), codes[present].max()) if len(own) else (MOST, LEAST)
    low, high = np.where(unknown, MOST, lowest), np.where(unknown, LEAST, highest)
    none = np.zeros(len(shown), np.bool_)
    return _stretches(
        np.where(present, codes, LEAST),
        np.arange(len(shown)),
        shown,
        low,
        high,
        unknown,
        None,
        Said(star, none, none),
    )


def _of_ranges(sql_type: str, values: pa.Array, labels: pa.Array, label_of: Ints) -> Coverage:
    said = read_ranges(sql_type, labels)
    ends = [end.cast(values.type) for end in (said.low, said.high)]  # its time zone may differ
    keys = numeric_keys(sql_type, pa.concat_arrays([values, *ends]))
    if len(keys) and keys.min() == LEAST:  # the code of NULL
        keys = np.unique(keys, return_inverse=True)[1].reshape(-1).astype(np.int64)
    codes, low, high = np.split(keys, [len(values), len(values) + len(labels)])
    codes = np.where(valid(values), codes, LEAST)
    unknown = np.zeros(len(labels), np.bool_)
    return _stretches(codes, label_of, labels, low, high, unknown, None, said)


def _of_sets(column: Categories, labels: pa.Array, label_of: Ints) -> Coverage:
    said = read_sets(labels)
    known = {word: code for code, word in enumerate(column.values.to_pylist())}
    sets = [sorted({known[w] for w in words or () if w in known}) for words in said.words]
    size = np.array([len(codes) for codes in sets], dtype=np.int64)
    low = np.array([codes[0] if codes else MOST for codes in sets], dtype=np.int64)
    high = np.array([codes[-1] if codes else LEAST for codes in sets], dtype=np.int64)
    unknown = np.array([any(w not in known for w in words or ()) for words in said.words], np.bool_)
    gaps = (size > 0) & (high - low + 1 > size)
    end = np.cumsum(np.where(gaps, size, 0))
    start = end - np.where(gaps, size, 0)
    listed = (codes for codes, gap in zip(sets, gaps.tolist(), strict=True) if gap)
    flat = (start, end, np.fromiter(chain.from_iterable(listed), np.int64))
    return _stretches(_coded(column), label_of, labels, low, high, unknown, column, said, flat)


def _of_tree(column: Hierarchical, sql_type: str, labels: pa.Array, label_of: Ints) -> Coverage:
    tree = column.tree
    if pa.types.is_struct(labels.type):
        ends = read_ranges(sql_type, labels)
        texts = printed([ends.low, ends.high], [sql_type, sql_type])
        low, high = (np.array([tree.leaf_of.get(x, -1) for x in t.to_pylist()]) for t in texts)
        said: Said = ends
    else:
        nodes = read_nodes(tree, sql_type, labels)
        low, high = (np.append(leaves, -1)[nodes.node] for leaves in (tree.first, tree.last))
        said = nodes
    unknown = (low < 0) | (high < low)
    low, high = np.where(unknown, MOST, low), np.where(unknown, LEAST, high)
    return _stretches(_coded(column), label_of, labels, low, high, unknown, column, said)


def _coded(column: Categories | Hierarchical) -> Ints:
    codes: Ints = column.codes.astype(np.int64)
    codes[column.codes == column.null_code] = LEAST
    return codes


def _stretches(
    codes: Ints,
    label_of: Ints,
    shown: pa.Array,
    low: Ints,
    high: Ints,
    unknown: Bools,
    column: Categories | Hierarchical | None,
    said: Said,
    flat: tuple[Ints, Ints, Ints] | None = None,
) -> Coverage:
    """flat: start, end and the codes of the sets with gaps; None where there is none."""
    low = np.where(said.star | said.empty, LEAST, np.where(said.malformed, MOST, low))
    high = np.where(said.star, MOST, np.where(said.malformed | said.empty, LEAST, high))
    none = np.zeros(len(low), dtype=np.int64)
    unknown = unknown & ~said.star & ~said.empty
    listed = flat or (none, none, none[:0])
    return Coverage(codes, label_of, shown, low, high, *listed, unknown, column, said)
