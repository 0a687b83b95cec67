"""A planted fault: one step of a release that is broken through a seam, and who finds it.

A seam is a function that the release calls and looks up when it calls it, or a public method of a
class. A fault replaces it; everything else is the release as users call it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

QUASI = ["age", "city", "born"]
TABLE = """
    CREATE TABLE t AS SELECT i AS id, i % 60 AS person, 20 + i * 7919 % 60 AS age,
        if(i % 23 = 0, NULL, ['Accra', 'Bonn', 'Delhi'][1 + i * i % 3]) AS city,
        DATE '1990-01-01' + (i * 104729 % 9000)::INTEGER AS born,
        if(i % 4 = 3, NULL, ['flu', 'gout', 'none'][1 + i * 13 % 3]) AS illness, i * 31 % 997 AS weight
    FROM range(120) AS made(i)"""
HIERARCHY = """
    CREATE TABLE tree AS FROM numeric_hierarchy('t', 'age', [10, 30]) UNION ALL
    FROM date_hierarchy('t', 'born') UNION ALL FROM (VALUES ('city', 'Accra', 1, 'south'),
        ('city', 'Bonn', 1, 'north'), ('city', 'Delhi', 1, 'south')
    ) AS made(attribute, value, level, label)"""
CITIES = "CREATE TABLE cities AS FROM tree WHERE attribute = 'city'"
CALL = {"k": 5, "quasi": QUASI, "sensitive": ["illness"], "identifiers": ["id", "person"]}
CALL |= {"keep": ["weight"]}


@dataclass(frozen=True)
class Fault:
    """A fault and its verdict.

    plant: replaces a seam, of a pytest.MonkeyPatch. method, call: the release, whose other
    arguments are ``CALL``. refused: words of the sentence with which the release refuses itself;
    None if it passes, and then found: the properties of ``audit`` that fail, all of them. audit:
    what the audit is told beside ``CALL``.
    """

    plant: Callable[[Any], None]
    refused: str | None = None
    found: frozenset[str] = frozenset()
    method: str = "mondrian"
    call: Mapping[str, Any] = field(default_factory=dict)
    audit: Mapping[str, Any] = field(default_factory=dict)

    @property
    def arguments(self) -> dict[str, Any]:
        return {**CALL, **self.call}

    def failed(self, con: Any) -> set[str]:
        """Return the properties of the release ``r`` of ``t`` that an audit finds false."""
        told = {**CALL, "unique_share": 1, "unit": "row", **self.audit}
        found = con.execute(
            f"SELECT property FROM audit('t', 'r', {listed(told)}) WHERE passed = false"
        )
        return {name for (name,) in found.fetchall()}


def listed(arguments: Mapping[str, Any]) -> str:
    """Return arguments as SQL."""
    return ", ".join(f"{name} := {value!r}" for name, value in arguments.items())


def after(room: Any, name: str, change: Callable[..., Any]) -> Callable[[Any], None]:
    """Return what plants a step whose result is changed; change: takes it, and the
    arguments by position."""

    def plant(patch: Any) -> None:
        real = getattr(room, name)
        patch.setattr(room, name, lambda *given, **more: change(real(*given, **more), *given))

    return plant


def before(room: Any, name: str, change: Callable[..., Any]) -> Callable[[Any], None]:
    """Return what plants a step whose arguments by position are changed; change: returns them."""

    def plant(patch: Any) -> None:
        real = getattr(room, name)
        patch.setattr(room, name, lambda *given, **more: real(*change(*given), **more))

    return plant
