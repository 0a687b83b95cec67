"""One property of a release as a row of ``audit``: what was asked, what was found, where."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import pyarrow as pa

ROW = pa.struct(
    [
        ("property", pa.string()),
        ("required", pa.float64()),
        ("found", pa.float64()),
        ("passed", pa.bool_()),
        ("example", pa.string()),
    ]
)
MANY = "too many rows share their kept values"


@dataclass(frozen=True)
class Property:
    """required, found: numbers; passed: None where it cannot be told; example: labels, names of
    columns and counts, never an identifier or a sensitive value."""

    property: str
    required: float | None
    found: float | None
    passed: bool | None
    example: str | None

    def row(self) -> dict[str, object]:
        return asdict(self)


def at_least(
    name: str, required: float | None, found: float | None, example: str | None = None
) -> Property:
    """Passed where what was found is as much as required, but for rounding."""
    if required is None or found is None:
        return Property(name, required, found, None, example)
    return Property(name, required, found, found >= required * (1 - 1e-9), example)


def at_most(
    name: str, required: float | None, found: float | None, example: str | None = None
) -> Property:
    """Passed where what was found is no more than required, but for rounding."""
    if required is None or found is None:
        return Property(name, required, found, None, example)
    return Property(name, required, found, found <= required + 1e-9, example)


def none_of(name: str, columns: Sequence[str]) -> Property:
    """Columns of which there should be none."""
    return at_most(name, 0, len(columns), ", ".join(columns) or None)


def untold(given: Property, *, unless_failed: bool = False) -> Property:
    """The same, but nobody can tell whether it holds."""
    return given if unless_failed and given.passed is False else replace(given, passed=None)
