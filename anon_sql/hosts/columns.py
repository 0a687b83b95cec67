"""Check the names of a table's columns, and divide the columns of wide tables."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TypeVar

from anon_sql.core.roles import fold
from anon_sql.errors import AnonError, listed

Item = TypeVar("Item")
AT_ONCE = 8  # columns of a query; its time and memory grow faster than their number
HELPER = "__anon_"  # prefix of the columns that this package adds


def require_names(function: str, names: Sequence[str]) -> None:
    """Raise AnonError for names that occur twice or are reserved."""
    counts = Counter(map(fold, names))
    twice = [name for name in names if counts[fold(name)] > 1]
    if twice:
        raise AnonError(function, "each column needs a name of its own", listed(twice), "rename")
    helpers = [name for name in names if fold(name).startswith(HELPER)]
    if helpers:
        raise AnonError(function, f"column names must not begin with {HELPER}", listed(helpers))


def portions(columns: Sequence[Item], at_once: int = AT_ONCE) -> Iterator[Sequence[Item]]:
    """Yield columns, a few at a time, so that queries over all cost as much as the columns."""
    for begin in range(0, len(columns), at_once):
        yield columns[begin : begin + at_once]
