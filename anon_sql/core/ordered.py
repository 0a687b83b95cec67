"""Ordered categories: the values of an ENUM, in the order in which it declares them.

The order of an ENUM means something for grades or stages, and nothing for an ENUM that lists words
as they came. A call therefore names the columns whose order counts. Labels of a quasi-identifier
are then ranges from one value to another, such as ``[low, medium]``; t compares a sensitive column
by the ordered distance.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql import kernels
from anon_sql.core.arrow import integers, valid
from anon_sql.core.columns import NULL_POINT, Numbers, shown_type
from anon_sql.core.names import literal
from anon_sql.core.parameters import Columns, param
from anon_sql.core.roles import fold, named
from anon_sql.errors import AnonError, Parameter

_ENUM = re.compile(r"(?s)ENUM\((?:'(?:[^']|'')*'(?:, )?)*\)")
_VALUE = re.compile(r"(?s)'((?:[^']|'')*)'")


@dataclass(frozen=True)
class OrderedColumns:
    """The columns whose values have an order."""

    ordered: Any = param(
        None,
        Columns(),
        "quasi-identifiers and sensitive columns of type ENUM whose values have an order, that of "
        "the type; labels then are ranges such as [low, medium], and t uses the ordered distance",
        null="none",
    )


@cache
def declared_order(sql_type: str) -> tuple[str, ...]:
    """Return the values of an ENUM in the order of its declaration; none for any other type."""
    if not _ENUM.fullmatch(sql_type):
        return ()
    return tuple(value.replace("''", "'") for value in _VALUE.findall(sql_type))


def order_of(sql_type: str, words: Collection[str]) -> tuple[str, ...]:
    """Return those of some values that an ENUM declares, in its order; none for another type."""
    return tuple(word for word in declared_order(sql_type) if word in words)


def enum_of(values: Sequence[str]) -> str:
    """Return the SQL type of categories in their order."""
    return f"ENUM({', '.join(map(literal, values))})"


def read_ordered(
    function: str, raw: object, types: Mapping[str, str], columns: Collection[str]
) -> tuple[str, ...]:
    """Return the columns that a call declares as ordered, spelled as in the table.

    Raises AnonError for a column without such a role, and for one that is not an ENUM.

    raw: a name or a list of names; None for none.
    types: SQL types by name.
    columns: the quasi-identifiers and the sensitive columns.
    """
    names = {fold(name): name for name in columns}
    what = "quasi-identifiers or sensitive columns"
    ordered = tuple(named(function, "ordered", raw, names, what) or ())
    for name in ordered:
        if not declared_order(types[name]):
            raise AnonError(
                function,
                Parameter("ordered") + " must name columns of type ENUM, which declares the order",
                f"{name} of type {shown_type(types[name])}",
                "cast it to an ENUM of its values in their order; in a data frame, make it an "
                "ordered categorical",
            )
    return ordered


def between(order: Sequence[str], low: str, high: str) -> tuple[str, ...] | None:
    """Return the values of a range, ends included; None if it is not a range of these values."""
    if low not in order or high not in order:
        return None
    first, last = order.index(low), order.index(high)
    return tuple(order[first : last + 1]) if first <= last else None


@dataclass(frozen=True)
class Ordered(Numbers):
    """A column of categories in their order, as the positions of its values in that order.

    keys, points, present, width, values: of the positions, which are an INTEGER.
    words: the values that the ENUM declares, in their order.
    """

    words: tuple[str, ...] = ()

    @property
    def null_code(self) -> int:
        return len(self.words)

    @cached_property
    def codes(self) -> npt.NDArray[np.int32]:
        """Return the position of each value, int32[n]; the code of NULL is ``null_code``."""
        return np.where(self.present, self.keys, self.null_code).astype(np.int32)


def ordered_column(name: str, sql_type: str, values: pa.Array) -> Ordered:
    """Return a column of an ENUM with the positions of its values."""
    words = declared_order(sql_type)
    coded = values if pa.types.is_dictionary(values.type) else values.dictionary_encode()
    position = {word: place for place, word in enumerate(words)}
    places = [position.get(word, -1) for word in coded.dictionary.to_pylist()]  # -1: in no row
    present, indices = valid(coded), integers(coded.indices.fill_null(0))
    keys = np.array([*places, 0], np.int64)[np.where(present, indices, len(places))]
    points, width = kernels.loss.scaled(keys, present, NULL_POINT)
    positions = pa.array(keys.astype(np.int32), mask=~present)
    return Ordered(name, keys, points, present, width, positions, "INTEGER", words)
