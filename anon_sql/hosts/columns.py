"""Check the names of a table's columns, for hosts whose tables are frames."""

from collections.abc import Sequence

from anon_sql.core.roles import fold
from anon_sql.errors import AnonError, listed

HELPER = "__anon_"  # prefix of the columns that this package adds


def require_names(function: str, names: Sequence[str]) -> None:
    """Raise AnonError for names that occur twice or are reserved."""
    folded = [fold(name) for name in names]
    twice = [name for name, known in zip(names, folded, strict=True) if folded.count(known) > 1]
    if twice:
        raise AnonError(function, "each column needs a name of its own", listed(twice), "rename")
    helpers = [name for name in names if fold(name).startswith(HELPER)]
    if helpers:
        raise AnonError(function, f"column names must not begin with {HELPER}", listed(helpers))
