"""Map the values of a column to the leaves of its generalization hierarchy.

Numbers, dates and times are compared with leaves in the column's type, so that '39' and '39.0' both
are the leaf of the integer 39; text is compared byte by byte.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.core.arrow import integers, valid
from anon_sql.core.columns import numeric_keys
from anon_sql.core.hierarchy.tree import HierarchyTree, Row, grow
from anon_sql.core.stopping import check, watched
from anon_sql.errors import AnonError


@dataclass(frozen=True)
class Hierarchical:
    """A column with a hierarchy.

    codes: int32[n], the leaf of each row; NULL has the code tree.leaves.
    """

    name: str
    codes: npt.NDArray[np.int32]
    tree: HierarchyTree

    @property
    def null_code(self) -> int:
        return self.tree.leaves


def hierarchical(
    function: str,
    name: str,
    sql_type: str,
    values: pa.Array,
    listed: pa.StructArray,
    *,
    hidden: bool = False,
) -> Hierarchical:
    """Return the column with the leaf of each value.

    Raises AnonError if the rows do not form a tree or do not cover every value.

    listed: the rows of its hierarchy as ``rows_of`` returns them.
    hidden: whether error messages must not contain labels, because the column is sensitive.
    """
    tree = tree_of(function, name, sql_type, listed, hidden=hidden)
    code_of = {leaf: code for code, leaf in enumerate(tree.names[: tree.leaves])}
    present = valid(values)
    codes, missing = _codes(sql_type, values, listed, code_of)
    if missing:
        raise AnonError(
            function,
            f"the hierarchy must cover every value of {name}",
            f"{missing:,} value{'' if missing == 1 else 's'} that it lacks",
            "check_hierarchy() lists them",
        )
    return Hierarchical(name, np.where(present, codes, len(code_of)).astype(np.int32), tree)


def tree_of(
    function: str, name: str, sql_type: str, listed: pa.StructArray, *, hidden: bool = False
) -> HierarchyTree:
    """Return the tree of a column, with siblings in the order of the column's values.

    listed, hidden: as in ``hierarchical``. Raises AnonError if the rows do not form a tree.
    """
    rank = None
    if _is_numeric(listed):
        keys, present = numeric_keys(sql_type, listed.field("leaf")), valid(listed.field("leaf"))
        texts = leaf_texts(listed)
        order = np.flatnonzero(present)[np.argsort(keys[present], kind="stable")]
        rank = {
            leaf: position
            for position, leaf in enumerate(dict.fromkeys(texts[row] for row in order))
        }
    rows = tree_rows(function, name, listed)
    return grow(function, name, rows, rank, like_values(listed), hidden=hidden)


def tree_rows(function: str, name: str, listed: pa.StructArray) -> list[Row]:
    """Return the rows of a hierarchy, with leaves printed as the column prints its values.

    Raises AnonError for a level that is NULL.
    """
    check(function)
    value, level, label = (listed.field(n).to_pylist() for n in ("value", "level", "label"))
    if None in level:
        raise AnonError(function, f"levels of the hierarchy of {name} must be numbers", "NULL")
    rows = watched(zip(leaf_texts(listed), value, level, label, strict=True))
    return [Row(*row) for row in rows]


def like_values(listed: pa.StructArray) -> frozenset[str]:
    """Return the labels that can be cast to the type of a column of numbers, dates or times.

    Such labels are printed in quotes, which distinguishes them from values. Empty for other types.
    """
    marked = listed.field("label").filter(listed.field("castable")).unique().to_pylist()
    return frozenset(marked) if _is_numeric(listed) else frozenset()


def leaf_texts(listed: pa.StructArray) -> list[str]:
    """Return the value of each row as the column prints it.

    A value that cannot be cast to the column's type is returned as it is written in the hierarchy.
    """
    pairs = zip(listed.field("value").to_pylist(), listed.field("shown").to_pylist(), strict=True)
    return [written if text is None else text for written, text in pairs]


def _is_numeric(listed: pa.StructArray) -> bool:
    """Return whether the column holds numbers, dates or times."""
    kind = listed.field("leaf").type
    return not (
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_dictionary(kind)
    )


def uncovered(sql_type: str, values: pa.Array, listed: pa.StructArray) -> pa.Array:
    """Return the distinct values of a column that are not leaves of its hierarchy."""
    distinct = values.drop_null()
    if pa.types.is_dictionary(distinct.type):
        distinct = distinct.cast(pa.string())
    if pa.types.is_boolean(distinct.type):
        distinct = pc.if_else(distinct, "true", "false")
    code_of = dict.fromkeys(leaf_texts(listed), 0)
    codes, _ = _codes(sql_type, distinct, listed, code_of)
    return distinct.filter(pa.array(codes < 0)).unique()


def _codes(
    sql_type: str, values: pa.Array, listed: pa.StructArray, code_of_text: dict[str, int]
) -> tuple[npt.NDArray[np.int64], int]:
    """Return the code of each value's leaf, int64[n], and how many distinct values have no leaf.

    The code is -1 for NULL and for values without a leaf.

    code_of_text: code of each leaf by its text.
    """
    if not _is_numeric(listed):
        if pa.types.is_boolean(values.type):
            values = pc.if_else(values, "true", "false")
        coded = values if pa.types.is_dictionary(values.type) else values.dictionary_encode()
        codes_of_words = [
            code_of_text.get(word, -1)
            for word in coded.dictionary.cast(pa.large_string()).to_pylist()
        ]
        places, present = integers(coded.indices.cast(pa.int32())), valid(coded)
        codes = np.array([*codes_of_words, -1], dtype=np.int64)[np.where(present, places, -1)]
        return codes, len(np.unique(places[present & (codes < 0)]))
    leaf, texts = listed.field("leaf"), leaf_texts(listed)
    keys = numeric_keys(sql_type, pa.concat_arrays([values, leaf]))
    keys, leaf_keys = np.split(keys, [len(values)])
    rows = np.flatnonzero(valid(leaf))
    leaf_keys, first = np.unique(leaf_keys[rows], return_index=True)
    code_of = np.array([*(code_of_text[texts[row]] for row in rows[first]), -1], dtype=np.int64)
    position = np.searchsorted(leaf_keys, keys)
    is_leaf = np.append(leaf_keys, 0)[position] == keys
    is_leaf &= position < len(leaf_keys)
    codes = code_of[np.where(is_leaf, position, -1)]
    return codes, len(np.unique(keys[valid(values) & ~is_leaf]))
