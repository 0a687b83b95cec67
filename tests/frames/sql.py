"""Write the SQL call that a call on frames stands for."""

from collections.abc import Mapping
from typing import Any

from anon_sql.errors import SQL


def as_sql(function: str, table: str, arguments: Mapping[str, Any]) -> str:
    """Return the statement of a call; arguments: by name, without its tables."""
    given = "".join(f', "{name}" := {_text(value)}' for name, value in arguments.items())
    return f"FROM {function}('{table}'{given})"


def _text(value: Any) -> str:
    return "NULL" if value is None else SQL.value(value)
