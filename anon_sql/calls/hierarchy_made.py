"""What the functions that make a hierarchy are given, checked before a row is made."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pyarrow as pa

from anon_sql.arrow import first
from anon_sql.calls.binding import HELPER
from anon_sql.errors import AnonError, did_you_mean
from anon_sql.registry import udf
from anon_sql.roles import fold

_PERIODS = ("day", "month", "quarter", "year", "decade", "century")


@udf("__anon_require_column", "BOOLEAN")
def require_column(function: Any, types: Any, column: Any) -> pa.Array:
    """True, or an AnonError where the relation has no such column."""
    names = [name for name in first(types) if name != HELPER + "zero"]
    wanted = first(column)
    if not isinstance(wanted, str) or fold(wanted) not in {fold(name) for name in names}:
        got = f"'{wanted}'" if isinstance(wanted, str) else "none"
        hint = did_you_mean(str(wanted), names)
        raise AnonError(
            first(function), "the hierarchy must be for a column of the table", got, hint
        )
    return pa.array([True])


@udf("__anon_widths", "BOOLEAN")
def widths(function: Any, given: Any) -> pa.Array:
    """True, or an AnonError for widths whose ranges do not lie within each other."""
    listed = _listed(first(given))
    fits = all(w > 0 for w in listed) and all(
        wide > narrow and abs(wide / narrow - round(wide / narrow)) < 1e-9
        for narrow, wide in pairwise(listed)
    )
    return _fits(
        first(function),
        fits and bool(listed),
        "widths must be positive, ascending and multiples of the one before",
        listed,
    )


@udf("__anon_lengths", "BOOLEAN")
def lengths(function: Any, given: Any) -> pa.Array:
    """True, or an AnonError for lengths that do not descend."""
    listed = _listed(first(given))
    fits = all(n >= 1 and n == int(n) for n in listed) and all(a > b for a, b in pairwise(listed))
    return _fits(
        first(function),
        fits and bool(listed),
        "lengths must be whole numbers that descend to at least 1",
        listed,
    )


@udf("__anon_date_levels", "BOOLEAN")
def date_levels(function: Any, given: Any) -> pa.Array:
    """True, or an AnonError for periods that do not lie within each other."""
    listed = first(given)
    listed = listed if isinstance(listed, list) else [listed]
    known = [_PERIODS.index(level) if level in _PERIODS else -1 for level in listed]
    fits = bool(known) and min(known) >= 0 and known == sorted(set(known))
    return _fits(
        first(function),
        fits,
        f"levels must be some of {', '.join(_PERIODS)}, in this order",
        listed,
    )


def _listed(given: Any) -> list[float]:
    listed = given if isinstance(given, list) else []
    return [-1 if item is None else item for item in listed]


def _fits(function: str, fits: bool, rule: str, got: Sequence[Any]) -> pa.Array:
    if not fits:
        raise AnonError(function, rule, ", ".join(map(str, got)) or "none")
    return pa.array([True])
