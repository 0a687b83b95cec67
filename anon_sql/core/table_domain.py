"""Describe a whole table, so that the release of a part of its rows is measured against all rows.

Information loss is normalized by the table's domain, and t-closeness compares with the table's
distribution. A part that is released with the ``Domain`` of its table is treated in both respects
like rows of the table.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.core.columns import NULL_POINT, Categories, Numbers
from anon_sql.errors import AnonError

if TYPE_CHECKING:
    from anon_sql.core.table import Column

_NONE: Mapping[str, "Distribution"] = MappingProxyType({})


@dataclass(frozen=True)
class Distribution:
    """The values of a sensitive column in the whole table.

    keys: binary[m], distinct sort keys in ascending order, the empty key for NULL. counts:
    int64[m], rows of each value, or persons that have it if persons are counted.
    """

    keys: pa.Array
    counts: npt.NDArray[np.int64]

    @property
    def nulls(self) -> bool:
        """Return whether NULL is among the values."""
        return len(self.keys) > 0 and len(self.keys[0].as_py()) == 0


@dataclass(frozen=True)
class Domain:
    """The domain of a whole table.

    rows: its number of rows. widths: largest minus smallest value of each quasi-identifier of
    numbers, dates or times, in the unit of ``Numbers.width``. distinct: distinct values of each
    quasi-identifier of text, NULL counted as one. sensitive: distribution of each column that l or
    t applies to.
    """

    rows: int
    widths: Mapping[str, float]
    distinct: Mapping[str, int]
    sensitive: Mapping[str, Distribution] = field(default_factory=lambda: _NONE)

    def placed(self, column: "Column") -> "Column":
        """Return a column of some rows, with its loss normalized by the domain of the table."""
        if isinstance(column, Categories):
            return replace(column, table_distinct=self.distinct[column.name])
        if not isinstance(column, Numbers):
            return column  # the leaves of a hierarchy are the domain
        width = self.widths[column.name]
        share = column.width / width if width > 0 else 0.0
        points = np.where(column.present, column.points * min(share, 1.0), NULL_POINT)
        return replace(column, points=points, width=width)

    def codes(self, function: str, name: str, keys: pa.Array) -> npt.NDArray[np.int32]:
        """Return the codes of the distinct sort keys of a sensitive column, int32[m].

        Codes are in the order of the table's values, from 0, NULL last. Raises AnonError for a
        value that the table did not have when it was counted.
        """
        held = self.sensitive[name]
        at = pc.index_in(keys.cast(pa.binary()), held.keys)
        if at.null_count:
            raise AnonError(
                function,
                "the table must not change while it is released",
                f"values of {name} that were not there before",
                "nothing was released; run it again",
            )
        found = at.to_numpy(zero_copy_only=False)
        codes: npt.NDArray[np.int32] = found.astype(np.int32) - np.int32(held.nulls)
        codes[codes < 0] = len(held.keys) - 1
        return codes
