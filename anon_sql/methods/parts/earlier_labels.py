"""Read the labels of the earlier release that ``like`` names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from anon_sql.core.labels.grammar import STAR
from anon_sql.core.roles import fold
from anon_sql.errors import AnonError, listed


@dataclass(frozen=True)
class Shown:
    """What a column of an earlier release shows: distinct labels in the order of their bytes.

    null: whether NULL is among them.
    """

    labels: tuple[str, ...]
    null: bool


@dataclass(frozen=True)
class Earlier:
    """What an earlier release shows by folded name of the column, but in its suppressed rows."""

    labels: Mapping[str, Shown]

    def of(self, function: str, names: Sequence[str]) -> dict[str, Shown]:
        """Return the labels by column. Raises AnonError if the release lacks a column."""
        lacking = [name for name in names if fold(name) not in self.labels]
        if lacking:
            raise AnonError(
                function,
                "like must be a release with the same quasi-identifiers",
                f"one without {listed(lacking)}",
            )
        return {name: self.labels[fold(name)] for name in names}


@dataclass(frozen=True)
class EarlierRelease:
    """NULL, or the rows of an earlier release; its name where no SQL function has read them."""

    def read(self, function: str, name: str, value: Any) -> Earlier | str | None:
        if value is None or isinstance(value, str):
            return value
        if not isinstance(value, list) or not value:
            got = "one without rows" if value == [] else type(value).__name__
            raise AnonError(function, f"{name} must name an earlier release", got)
        rows = [row for row in value if any(label != STAR for label in row.values())] or value
        return Earlier({fold(column): _shown({row[column] for row in rows}) for column in value[0]})


def _shown(labels: set[str | None]) -> Shown:
    known = {label for label in labels if label is not None}
    return Shown(tuple(sorted(known, key=str.encode)), None in labels)


def required(function: str, given: Earlier | str) -> Earlier:
    """Return the earlier release. Raises AnonError if only its name is known."""
    if isinstance(given, str):
        raise AnonError(
            function,
            "like must be a parameter of the function itself",
            "an option of another function",
            f"write FROM {function}(…, like := …)",
        )
    return given
