"""Check released tables as they are about to be written: keys, links, k and l over folds.

The fold of a row is its labels and, for each child table of known number, the multiset of the folds
of its rows. Folds are computed from the released values alone, and know nothing of classes and
slots by which a release was made.
"""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from anon_sql.core.arrow import integers, valid
from anon_sql.errors import AnonError
from anon_sql.linked.rows import MISSING, Ints, free, holders, numbered, places_of, several
from anon_sql.linked.schema import Node, Schema

_HINT = "nothing was released; please report this"


@dataclass(frozen=True)
class Folded:
    """The folds of released tables.

    parent: by table, int32[n], the row above, -1 for unlinked rows. fold: int32[n].
    """

    parent: Mapping[str, Ints]
    person: Mapping[str, Ints]
    fold: Mapping[str, Ints]


def codes_of(column: pa.Array) -> Ints:
    """Return a number for each value, equal for equal values; NULL is a value."""
    kind = column.type
    if pa.types.is_struct(kind):
        parts = [codes_of(column.field(i)) for i in range(kind.num_fields)]
        return _together([*parts, valid(column).astype(np.int64)])
    if pa.types.is_list(kind):
        return _listed_codes(column)
    if not pa.types.is_dictionary(kind):
        coded = column.dictionary_encode()
        return np.where(valid(coded), integers(coded.indices) + 1, 0).astype(np.int32)
    words = codes_of(column.dictionary)  # equal ones may be there twice
    return np.where(valid(column.indices), words[integers(column.indices)], 0)


def _listed_codes(column: pa.Array) -> Ints:
    """Return a number for each list of texts."""
    numbers: dict[object, int] = {}
    texts = column.to_pylist()
    keys = [None if items is None else tuple(items) for items in texts]
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.int64)


def _together(parts: list[Ints]) -> Ints:
    """Return a number for each combination of numbers."""
    numbers = parts[0]
    for part in parts[1:]:
        high = int(part.max(initial=0)) + 1
        numbers = numbered(numbers.astype(np.int64) * high + part)
    return numbers


def label_columns(schema: Schema, node: Node) -> list[str]:
    """Return the columns of a released table that its fold holds, added ones included."""
    added = [name for _, *names in schema.added(node) for name in names]
    return [*node.quasi, *added]


def fold(function: str, schema: Schema, tables: Mapping[str, pa.Table]) -> Folded:
    """Return the folds of released tables. Raises AnonError for keys twice and for orphans."""
    parents: dict[str, Ints] = {}
    for node in schema.nodes.values():
        parents[node.name] = _parents(function, node, tables)
    folds: dict[str, Ints] = {}
    for node in reversed(list(schema.nodes.values())):
        table = tables[node.name]
        codes = np.zeros(table.num_rows, np.int32)
        for name in label_columns(schema, node):
            codes = _together([codes, codes_of(_whole(table, name))])
        for child in schema.children(node.name, "quasi"):
            many = _multiset(folds[child.name], parents[child.name], table.num_rows)
            codes = _together([codes, *many])
        folds[node.name] = codes
    persons: dict[str, Ints] = {}
    for node in schema.nodes.values():
        parent = parents[node.name]
        if node.link is None:
            persons[node.name] = np.arange(len(parent), dtype=np.int32)
        else:
            persons[node.name] = np.where(parent < 0, -1, persons[node.link.parent][parent])
    return Folded(parents, persons, folds)


def _whole(table: pa.Table, name: str) -> pa.Array:
    values = table.column(name)
    return values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values


def _parents(function: str, node: Node, tables: Mapping[str, pa.Table]) -> Ints:
    """Return the row above each row, -1 where the whole link is NULL."""
    table = tables[node.name]
    for key in node.keys:
        column = table.column(key)
        if column.null_count or several(column.to_numpy()):
            if node.link is not None and key in node.link.columns:
                continue  # a part of a key that is a link too
            got = f"NULL or equal keys in {node.name}"
            raise AnonError(function, "new keys must be different", got, _HINT)
    if node.link is None:
        return np.full(table.num_rows, -1, np.int32)
    above = tables[node.link.parent]
    columns = [_whole(table, name) for name in node.link.columns]
    key_columns = [_whole(above, name) for name in node.link.keys]
    missing = np.logical_and.reduce([~valid(values) for values in columns])
    if len(columns) == 1:
        row_above = places_of(columns[0], key_columns[0])
    else:
        pairs = zip(key_columns, columns, strict=True)
        codes = _together([codes_of(pa.concat_arrays(pair)) for pair in pairs])
        keys, named = codes[: above.num_rows], codes[above.num_rows :]
        row_above = places_of(pa.array(named), pa.array(keys))
    parent = np.where(missing, np.int32(-1), row_above)
    orphans = int(((parent < 0) & ~missing).sum())
    if orphans:
        got = f"{orphans:,} of {node.name} below none"
        raise AnonError(function, "every released row must be below one", got, _HINT)
    return parent


def _multiset(folds: Ints, parent: Ints, rows: int) -> list[Ints]:
    """Return two numbers for the multiset of the folds below each row, equal for equal multisets.

    They are two sums of random 64-bit numbers of the folds, which cannot be foreseen.
    """
    rng = np.random.default_rng(secrets.randbits(128))
    kept = np.flatnonzero(parent >= 0)
    numbers_of_rows = []
    for _ in range(2):
        numbers = rng.integers(0, 2**64, int(folds.max(initial=0)) + 1, np.uint64)
        total = np.zeros(rows, np.uint64)
        np.add.at(total, parent[kept], numbers[folds[kept]])
        numbers_of_rows.append(numbered(total))
    return numbers_of_rows


def require_folds(
    function: str,
    schema: Schema,
    tables: Mapping[str, pa.Table],
    k: int,
    l: int,  # noqa: E741
) -> Folded:
    """Return the folds of released tables after k and l were found in them, or raise AnonError."""
    folded = fold(function, schema, tables)
    free()
    classes = folded.fold[schema.root]
    sizes = np.bincount(classes)
    small = int((sizes < k).sum())
    if small:
        rule = f"every class of folded records must have at least {k} persons"
        raise AnonError(function, rule, f"{small} that have fewer", _HINT)
    if l > 1:
        _require_l(function, schema, tables, folded, l)
    return folded


def _require_l(
    function: str,
    schema: Schema,
    tables: Mapping[str, pa.Table],
    folded: Folded,
    l: int,  # noqa: E741
) -> None:
    """Raise AnonError for a value that too many persons have in a slot or over all slots."""
    classes = folded.fold[schema.root]
    sizes = np.bincount(classes)
    paths: dict[str, Ints] = {}
    for node in schema.nodes.values():
        parent, folds = folded.parent[node.name], folded.fold[node.name]
        if node.link is None:
            paths[node.name] = classes
            continue
        above = np.where(parent < 0, -1, paths[node.link.parent][parent])
        is_countable = schema.is_countable(node.name)
        paths[node.name] = _together([above + 1, folds]) if is_countable else above
    for node in schema.nodes.values():
        table, person = tables[node.name], folded.person[node.name]
        linked_rows = np.flatnonzero(person >= 0)
        groups = {"slot": paths[node.name][linked_rows], "table": classes[person[linked_rows]]}
        for name in node.sensitive:
            column = _whole(table, name)
            codes = np.where(valid(column), codes_of(column), MISSING)[linked_rows]
            what = f"{node.name}.{name}"
            _require_spread(function, what, groups, codes, person[linked_rows], classes, sizes, l)
        if node.role == "sensitive" and node.link is not None:
            parent = folded.parent[node.name]
            above = tables[node.link.parent]
            counts = np.bincount(parent[parent >= 0], minlength=above.num_rows)
            owner = folded.person[node.link.parent]
            rows_with_person = np.flatnonzero(owner >= 0)
            groups = {
                "slot": paths[node.link.parent][rows_with_person],
                "table": classes[owner[rows_with_person]],
            }
            what = f"the number of {node.name}"
            _require_spread(
                function,
                what,
                groups,
                counts[rows_with_person],
                owner[rows_with_person],
                classes,
                sizes,
                l,
            )


def _require_spread(
    function: str,
    what: str,
    groups: Mapping[str, Ints],
    codes: Ints,
    person: Ints,
    classes: Ints,
    sizes: Ints,
    l: int,  # noqa: E741
) -> None:
    for place, group in groups.items():
        if len(group) == 0:
            continue
        size = np.zeros(int(group.max()) + 1, np.int64)
        size[group] = sizes[classes[person]]
        pair_group, holder_counts = holders(group, codes, person)
        wrong = int((holder_counts > size[pair_group] - (l - 1)).sum())
        if place == "slot":
            values = np.bincount(pair_group, minlength=len(size))
            non_empty = np.bincount(group, minlength=len(size)) > 0
            wrong += int(((values < l) & non_empty).sum())
        if wrong:
            rule = f"every value of {what} must be lacked by at least {l - 1} persons of a class"
            raise AnonError(function, rule, f"{wrong:,} that are not, in a {place}", _HINT)
