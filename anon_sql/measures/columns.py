"""What an audit says of the columns of a release: those that should not be there."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from anon_sql.measures.properties import Property, none_of, untold
from anon_sql.measures.release import Release
from anon_sql.roles import fold

NEARLY = 0.9  # distinct values of those that are there, from which on they look identifying


def properties(
    given: Release, looks: Sequence[Mapping[str, Any]], rising: Sequence[Mapping[str, Any]]
) -> list[Property]:
    """looks: of each column that is no quasi-identifier, as released, how many values there are
    and whether they are consecutive whole numbers; rising: whether the raw column ascends."""
    held = {fold(look["name"]): look["value"] for look in looks}
    ascending = {fold(look["name"]) for look in rising if look["value"]}
    named = {fold(name) for name in given.asked["shared"]}
    asked = {
        key: [name for name in given.asked[key] if fold(name) in named]
        for key in ("loose", "identifiers")
    }
    declared = none_of("identifiers", asked["identifiers"])
    none = not given.asked["identifiers"]
    least = max(given.asked["k"] or 1, 1)
    free = [*asked["loose"], *given.asked["added"]]
    seen = {
        name: (_distinct(given, name, held[fold(name)]["held"]), held[fold(name)])
        for name in [*given.asked["shared"], *given.asked["added"]]
        if name in free or held[fold(name)]["consecutive"]
    }
    many = {name for name, (distinct, _) in seen.items() if distinct > least}
    unique = {name for name in many if seen[name][0] == seen[name][1]["held"]}
    nearly = [n for n in free if n in many and seen[n][0] >= NEARLY * seen[n][1]["held"]]
    numbers = [
        name
        for name in seen
        if name in unique
        and (seen[name][1]["consecutive"] or name in asked["loose"] and fold(name) in ascending)
    ]
    return [
        none_of("added columns", given.asked["added"]),
        untold(declared) if none else declared,
        none_of("identifying columns", nearly),
        none_of("row numbers", numbers),
    ]


def _distinct(given: Release, name: str, held: int) -> int:
    """Values that differ, NULL not among them."""
    marks = len(np.unique(given.marks(name)))
    return marks - (held < given.shown)
