"""The public readers of labels, as SQL calls them: each distinct label is read once."""

from typing import Any

import pyarrow as pa

from anon_sql import labels
from anon_sql.registry import udf


def _end(at: int) -> Any:
    def read(label: str) -> str | None:
        ends = labels.bounds(label)
        return None if ends is None else ends[at]

    return read


@udf("__anon_low", "VARCHAR")
def low(shown: Any) -> pa.Array:
    """The printed lower end of each label."""
    return labels.each("anon_min", shown, _end(0), pa.string())


@udf("__anon_high", "VARCHAR")
def high(shown: Any) -> pa.Array:
    """The printed upper end of each label."""
    return labels.each("anon_max", shown, _end(1), pa.string())


@udf("__anon_values", "VARCHAR[]")
def values(shown: Any) -> pa.Array:
    """The text values of each label; NULL for a range and for ``*``."""
    return labels.each("anon_values", shown, labels.values, pa.list_(pa.string()))
