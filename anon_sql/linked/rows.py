"""The rows of linked tables as arrays, with their parents, their owners and a canonical order."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql import kernels
from anon_sql.core.arrow import integers, return_memory, valid
from anon_sql.errors import AnonError, Argument
from anon_sql.linked.schema import Link, Node, Schema

Ints = npt.NDArray[np.signedinteger[Any]]
Hashes = npt.NDArray[np.uint64]
Bools = npt.NDArray[np.bool_]
_GOLDEN, _MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)


@dataclass(frozen=True)
class TableRows:
    """The rows of a table as a host reads them.

    values: the columns of the table that have a role. kept: uint64[n], a hash of the columns that
    are released unchanged. quasi, whole: uint64[n] each, a hash of the quasi-identifiers, and of
    all columns except keys and links. marks: uint64[n], hashes of each sensitive column, NULL for
    NULL. read: int32[n], the position of each row among those that the host has read. raw: the
    uncut values of each column whose values are cut to bins. Once rows are tied, quasi, whole and
    marks are empty, and values lack the keys and links that get new values.
    """

    node: Node
    values: pa.Table
    kept: Hashes
    quasi: Hashes
    whole: Hashes
    marks: Mapping[str, pa.Array]
    read: Ints
    raw: Mapping[str, pa.Array] = field(default_factory=dict)

    def column(self, name: str) -> pa.Array:
        """Return a column as one array."""
        values = self.values.column(name)
        return values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values


@dataclass(frozen=True)
class LinkedRows:
    """The n rows of a table of the tree.

    parent: int32[n], the row above, -1 in the root. person: int32[n], the row of the root. order:
    uint64[n], the position of the row in canonical order (``_orders``). codes: int32[n] by
    sensitive column. orphans: number of rows that were left out because their foreign key has no
    match.
    """

    source: TableRows
    parent: Ints
    person: Ints
    order: Hashes
    codes: Mapping[str, Ints]
    orphans: int = 0

    @property
    def count(self) -> int:
        return len(self.parent)

    def bare(self) -> "LinkedRows":
        """Return the rows without their values, so that these can be freed."""
        none = np.zeros(0, np.uint64)
        values = self.source.values.schema.empty_table()
        source = replace(self.source, values=values, kept=none, raw={})
        return replace(self, source=source, order=none)


class _Tied(NamedTuple):
    """Rows before their order is known; the fields are those of ``LinkedRows``."""

    source: TableRows
    parent: Ints
    person: Ints
    orphans: int


def mixed(values: Hashes) -> Hashes:
    """Return hashes of hashes."""
    hashes = values.astype(np.uint64, copy=True) + _GOLDEN
    hashes ^= hashes >> np.uint64(30)
    hashes *= _MIX
    hashes ^= hashes >> np.uint64(27)
    hashes *= np.uint64(0x94D049BB133111EB)
    hashes ^= hashes >> np.uint64(31)
    return hashes


def free() -> None:
    """Return the memory that a step no longer needs, so that it does not add to that of others."""
    pa.default_memory_pool().release_unused()
    return_memory()


def tie(
    function: str, schema: Schema, sources: dict[str, TableRows], orphans: str, k: int
) -> dict[str, LinkedRows]:
    """Return the rows of every table of the tree with their parents; empties ``sources``.

    orphans: 'error', or 'drop' to leave out rows whose foreign key has no match. Raises AnonError
    for keys that are NULL or not unique, for orphans, and for fewer than k persons.
    """
    for node in schema.nodes.values():
        _require_keys(function, schema, sources[node.name])
    persons = sources[schema.root].values.num_rows
    if persons < k:
        got = f"{persons:,} row{'' if persons == 1 else 's'} of {schema.root}"
        raise AnonError(function, f"there must be at least {k} persons", got)
    tied: dict[str, _Tied] = {}
    for node in schema.nodes.values():
        table_rows = sources.pop(node.name)
        if node.link is None:
            none = np.full(persons, -1, np.int32)
            tied[node.name] = _Tied(table_rows, none, np.arange(persons, dtype=np.int32), 0)
            continue
        above = tied[node.link.parent]
        parent = rows_above(node.link, table_rows, above.source)
        orphan_count = int((parent < 0).sum())
        if orphan_count and orphans != "drop":
            raise AnonError(
                function,
                "every row must be below one of its parent",
                f"{orphan_count:,} row{'' if orphan_count == 1 else 's'} of {node.name} that "
                f"{'is' if orphan_count == 1 else 'are'} below none or have no link ({node.link})",
                Argument("orphans", "drop") + " leaves them out",
            )
        if orphan_count:
            linked = np.flatnonzero(parent >= 0)
            table_rows, parent = _only(table_rows, linked), parent[linked]
        tied[node.name] = _Tied(table_rows, parent, above.person[parent], orphan_count)
        free()
    order = _orders(schema, tied)
    rows = {}
    for name in schema.nodes:
        table_rows, parent, person, orphan_count = tied.pop(name)
        values = table_rows.values.drop_columns(table_rows.node.renewed)
        none = np.zeros(0, np.uint64)
        lean = replace(table_rows, values=values, quasi=none, whole=none, marks={})
        rows[name] = LinkedRows(lean, parent, person, order[name], _codes(table_rows), orphan_count)
    free()
    return rows


def _only(table_rows: TableRows, positions: Ints) -> TableRows:
    indices = pa.array(positions)
    marks, raw = (
        {name: values.take(indices) for name, values in columns.items()}
        for columns in (table_rows.marks, table_rows.raw)
    )
    return replace(
        table_rows,
        values=table_rows.values.take(indices),
        kept=table_rows.kept[positions],
        quasi=table_rows.quasi[positions],
        whole=table_rows.whole[positions],
        marks=marks,
        read=table_rows.read[positions],
        raw=raw,
    )


def _codes(table_rows: TableRows) -> dict[str, Ints]:
    """Return each sensitive value as a number, by order of marks; NULL is a value, 0."""
    codes = {}
    for name, marks in table_rows.marks.items():
        coded = marks.dictionary_encode()
        rank = np.empty(len(coded.dictionary) + 1, np.int32)
        rank[np.argsort(integers(coded.dictionary))] = np.arange(1, len(rank))
        rank[-1] = 0
        codes[name] = rank[np.where(valid(coded), integers(coded.indices), -1)]
    return codes


def numbered(values: npt.NDArray[Any]) -> Ints:
    """Return a number for each of n numbers, int32[n] from 0 without gaps, equal for equal ones."""
    return firsts(values)[1]


def firsts(values: npt.NDArray[Any]) -> tuple[Ints, Ints]:
    """Return where each number comes first, int32[u], and the number of each, int32[n].

    Different numbers have different hashes.
    """
    first, number_of = kernels.hashing.number(mixed(values))
    return first, number_of


def several(values: npt.NDArray[Any]) -> int:
    """Count the numbers that repeat an earlier one."""
    return len(values) - len(firsts(values)[0])


def lexical(*keys: npt.NDArray[Any]) -> Ints:
    """Return the order of rows by integer keys, the first one first, as int32[n]; it is stable."""
    order = np.arange(len(keys[0]), dtype=np.int32)
    for key in reversed(keys):
        whole = key.astype(np.uint64)  # a copy
        if key.dtype.kind == "i":
            whole ^= np.uint64(2**63)
        order = order[
            kernels.orders.order_between(whole[order], np.uint64(0), np.uint64(2**64 - 1), True)
        ]
    return order


MISSING = -1  # the code of NULL, which is not a value for l


def holders(group: Ints, code: Ints, person: Ints) -> tuple[Ints, Ints]:
    """Return, for each pair of a group and a code that occurs, the group and its number of people.

    ``MISSING`` is not a code.
    """
    non_null = np.flatnonzero(code != MISSING)
    if not len(non_null):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    group, code, person = group[non_null], code[non_null], person[non_null]
    first, pair = firsts(group.astype(np.int64) * (int(code.max()) + 1) + code)
    first_triples, _ = firsts(pair.astype(np.int64) * (int(person.max()) + 1) + person)
    return group[first].astype(np.int64), np.bincount(pair[first_triples], minlength=len(first))


def _require_keys(function: str, schema: Schema, table_rows: TableRows) -> None:
    """Raise AnonError for keys that are NULL or name several rows."""
    node = table_rows.node
    below = {node_.link.keys for node_ in schema.children(node.name) if node_.link}
    for keys in sorted(below):
        if len(keys) == 1:
            column = plain_values(table_rows.column(keys[0]))
            missing = column.null_count
            if _are_whole(column):
                twice = several(integers(pc.drop_null(column)))
            else:
                unique = pc.count_distinct(column, mode="only_valid").as_py()
                twice = len(column) - missing - unique
        else:
            codes, present = _combined([table_rows.column(key) for key in keys])
            missing, present_codes = int((~present).sum()), codes[present]
            twice = several(present_codes)
        if missing or twice:
            got = [f"{missing:,} without one"] if missing else []
            got += [f"{twice:,} with that of another"] if twice else []
            listed = ", ".join(keys)
            raise AnonError(
                function,
                f"the key {listed} of {node.name} must name each row once",
                "rows: " + " and ".join(got),
                "release a view without them, or name another column in links",
            )


def _combined(columns: list[pa.Array], like: list[pa.Array] | None = None) -> tuple[Ints, Bools]:
    """Return a number of the values of several columns, int64[n], and whether each row has one.

    like: columns whose values are numbered; rows with other values have no number.
    """
    codes = np.zeros(len(columns[0]), np.int64)
    present = np.ones(len(columns[0]), np.bool_)
    for i, column in enumerate(columns):
        words = pc.drop_null(pc.unique(plain_values(column if like is None else like[i])))
        indices = pc.index_in(plain_values(column), words)
        present &= valid(indices)
        codes = codes * (len(words) + 1) + integers(indices)
    return codes, present


def plain_values(column: pa.Array) -> pa.Array:
    """Return values that Arrow can look up: text of an ENUM, and other types as they are."""
    if pa.types.is_dictionary(column.type):
        return column.cast(column.type.value_type)
    return column


def _are_whole(*columns: pa.Array) -> bool:
    """Return whether columns have whole numbers of one type."""
    return pa.types.is_integer(columns[0].type) and len({column.type for column in columns}) == 1


def places_of(named: pa.Array, keys: pa.Array) -> Ints:
    """Return the position of each named key among the keys, int32[n]; -1 if there is none.

    The keys are distinct and not NULL.
    """
    if not _are_whole(named, keys):
        indices = pc.index_in(named, keys, skip_nulls=True)
        return np.where(valid(indices), integers(indices), -1).astype(np.int32)
    number_of = numbered(np.concatenate((integers(keys), integers(named))))
    place = np.full(int(number_of.max(initial=-1)) + 1, -1, np.int32)
    place[number_of[: len(keys)]] = np.arange(len(keys), dtype=np.int32)
    return np.where(valid(named), place[number_of[len(keys) :]], np.int32(-1))


def rows_above(link: Link, table_rows: TableRows, above: TableRows) -> Ints:
    """Return the parent row that each row names, int32[n]; -1 if there is none."""
    columns = [above.column(key) for key in link.keys]
    if len(columns) == 1:
        return places_of(plain_values(table_rows.column(link.columns[0])), plain_values(columns[0]))
    keys, _ = _combined(columns)
    named, present = _combined([table_rows.column(name) for name in link.columns], columns)
    return places_of(pa.array(named, mask=~present), pa.array(keys))


def _orders(schema: Schema, tied: Mapping[str, _Tied]) -> dict[str, Hashes]:
    """Return the position of each row in an order that does not depend on the source, by table.

    Rows are sorted by a hash of the quasi-identifiers of the row and of all rows below it. Other
    columns, sensitive ones included, only decide between rows that are equal in these, so that bins
    and classes do not depend on them. Rows that are equal in everything have one position.
    """
    quasi = _with_all_below(schema, tied, {name: rows.source.quasi for name, rows in tied.items()})
    whole = _with_all_below(schema, tied, {name: rows.source.whole for name, rows in tied.items()})
    return {name: _places(quasi.pop(name), whole.pop(name)) for name in schema.nodes}


def _places(first: Hashes, then: Hashes) -> Hashes:
    """Return the rank of each row by two hashes, uint64[n]; equal rows have equal ranks."""
    order = lexical(first, then)
    differs = (np.diff(first[order]) != 0) | (np.diff(then[order]) != 0)
    places = np.empty(len(order), np.uint64)
    places[order] = np.append(0, np.cumsum(differs))[: len(order)]
    return places


def _with_all_below(
    schema: Schema, tied: Mapping[str, _Tied], hashes: Mapping[str, Hashes]
) -> dict[str, Hashes]:
    """Return a hash of each row and of all rows below it, from a hash of each row by table."""
    folded: dict[str, Hashes] = {}
    for node in reversed(list(schema.nodes.values())):
        value = mixed(hashes[node.name])
        for i, child in enumerate(schema.children(node.name)):
            total = np.zeros(len(value), np.uint64)
            np.add.at(total, tied[child.name].parent, mixed(folded[child.name]))
            value = mixed(value ^ mixed(total + np.uint64(i + 1)))
        folded[node.name] = value
    return folded


def counts_of(parent: Ints, rows: int) -> Ints:
    """Count the rows below each of ``rows`` rows; parent: -1 for a row without a parent."""
    return np.bincount(parent[parent >= 0], minlength=rows).astype(np.int64)
