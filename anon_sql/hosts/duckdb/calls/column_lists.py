"""Arguments of SQL calls as arrays by column name, and results as lists."""

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from anon_sql.core.arrow import lists, one_list, plain, whole
from anon_sql.core.roles import fold


def columns_of(argument: Any) -> dict[str, pa.Array]:
    """Return the lists of a one-row struct by field name, empty for those of an empty relation."""
    return {
        name: plain(pa.array([], argument.type.field(name).type.value_type))
        if values is None
        else values
        for name, values in lists(argument).items()
    }


def listed(found: pa.Table) -> pa.Array:
    """Return the rows of a table as a single list of structs."""
    return one_list(whole(found.to_struct_array()), pa.struct(list(found.schema)))


def by_name(columns: Mapping[str, Any], name: str) -> Any:
    """Return the column of a name that may be spelt in another way."""
    return next(values for known, values in columns.items() if fold(known) == fold(name))
