"""What a release of linked tables reads of each table, and the rows as the core takes them."""

from collections.abc import Collection, Mapping

import numpy as np
import pyarrow as pa

from anon_sql.core.arrow import integers
from anon_sql.core.duckdb_internals.hashing import mark, row_hash
from anon_sql.core.names import quote
from anon_sql.linked.rows import TableRows
from anon_sql.linked.schema import Node

REPEATED = 4  # rows per text, from which on a dictionary takes less memory
_COLUMN, _MARK = "column_", "mark_"
_KEPT, _QUASI, _WHOLE = "kept", "quasi", "whole"


def read_columns(node: Node) -> list[str]:
    """Return the columns of a table that are read: all but identifiers that are no keys."""
    roles = node.table.roles
    return [
        name
        for name in node.table.types
        if name in node.renewed or roles[name] not in (None, "identifier")
    ]


def field_of(node: Node, column: str) -> str:
    """Return the field of a column that is read."""
    return f"{_COLUMN}{read_columns(node).index(column)}"


def expressions(node: Node, bin_width: Collection[str] = ()) -> dict[str, str]:
    """Return what is read of each row, SQL by field.

    bin_width: columns whose values will be cut, so that the hashes of the row are without them.
    """
    types = node.table.types
    sql_by_field = {field_of(node, name): quote(name) for name in read_columns(node)}
    sql_by_field[_KEPT] = row_hash({quote(name): types[name] for name in node.kept})
    quasi = [name for name in node.quasi if name not in bin_width]
    for field, names in ((_QUASI, quasi), (_WHOLE, [*quasi, *node.kept])):
        sql_by_field[field] = row_hash({quote(name): types[name] for name in names})
    for number, name in enumerate(node.sensitive):
        sql_by_field[f"{_MARK}{number}"] = mark(quote(name), types[name])
    return sql_by_field


def rows_from(node: Node, fields: Mapping[str, pa.Array | pa.ChunkedArray]) -> TableRows:
    """Return rows whose fields are those of ``expressions``."""
    kept = integers(_copied(fields[_KEPT]))
    return TableRows(
        node,
        pa.table({name: _column(node, name, fields) for name in read_columns(node)}),
        kept,
        integers(_copied(fields[_QUASI])),
        integers(_copied(fields[_WHOLE])),
        {name: _copied(fields[f"{_MARK}{number}"]) for number, name in enumerate(node.sensitive)},
        np.arange(len(kept), dtype=np.int32),
    )


def _column(node: Node, name: str, fields: Mapping[str, pa.Array | pa.ChunkedArray]) -> pa.Array:
    """Return a column; texts that repeat as a dictionary, which takes less memory."""
    values = fields[field_of(node, name)]
    if name in node.renewed or not pa.types.is_string(values.type):
        return _copied(values)
    chunks = values.chunks if isinstance(values, pa.ChunkedArray) else [values]
    coded = pa.chunked_array(chunks, values.type).dictionary_encode().unify_dictionaries()
    texts = _copied(coded)
    return texts if REPEATED * len(texts.dictionary) < len(texts) else _copied(values)


def _copied(values: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return a copy: what DuckDB sends is freed only together, and the columns one by one."""
    chunks = values.chunks if isinstance(values, pa.ChunkedArray) else [values]
    return pa.concat_arrays([*chunks, pa.array([], values.type)])
