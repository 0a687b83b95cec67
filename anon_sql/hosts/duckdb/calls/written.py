"""Write a call as SQL text, so that ``query`` can repeat it with relations as text."""

from decimal import Decimal
from typing import Any

import pyarrow as pa

from anon_sql.core.arrow import first
from anon_sql.core.names import quote
from anon_sql.hosts.duckdb.registry import udf


@udf("__anon_written", "VARCHAR")
def written(function: Any, arguments: Any) -> pa.Array:
    """Return the call of a function as SQL; arguments: struct of values by parameter name."""
    values: dict[str, Any] = first(arguments)
    named = ", ".join(f"{quote(name)} := {_written(value)}" for name, value in values.items())
    return pa.array([f"{first(function)}({named})"])


def _written(value: Any) -> str:
    """Return a value as a SQL literal."""
    if value is None:
        return "NULL"
    if isinstance(value, (bool, int, float, Decimal)):
        return str(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_written, value))}]"
    if isinstance(value, dict):
        fields = (f"{_written(name)}: {_written(field)}" for name, field in value.items())
        return f"{{{', '.join(fields)}}}"
    return "'" + str(value).replace("'", "''") + "'"
