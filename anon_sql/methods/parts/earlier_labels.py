"""Read the labels of the earlier release that ``like`` names."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from anon_sql.core.labels.grammar import STAR
from anon_sql.core.roles import fold
from anon_sql.errors import AnonError, listed


@dataclass(frozen=True)
class Earlier:
    """The labels of an earlier release: distinct ones by column, but those of suppressed rows.

    labels: by folded name of the column, in the order of their bytes, NULL left out.
    """

    labels: Mapping[str, tuple[str, ...]]

    def of(self, function: str, names: list[str]) -> dict[str, tuple[str, ...]]:
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
        return Earlier(
            {
                fold(column): tuple(sorted({row[column] for row in rows} - {None}, key=str.encode))
                for column in value[0]
            }
        )


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
