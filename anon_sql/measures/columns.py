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
    shared, added = given.asked["shared"], given.asked["added"]
    loose = [name for name in given.asked["loose"] if name in shared]
    left_in = none_of("identifiers", [n for n in given.asked["identifiers"] if n in shared])
    seen = {
        name: _distinct(given, name, held[fold(name)]["held"])
        for name in [*shared, *added]
        if name in loose or name in added or held[fold(name)]["consecutive"]
    }
    telling = [name for name in seen if seen[name] > (given.asked["k"] or 1)]
    nearly, numbers = [], []
    for name in telling:
        values = held[fold(name)]
        if (name in loose or name in added) and seen[name] >= NEARLY * values["held"]:
            nearly.append(name)
        ordered = values["consecutive"] or (name in loose and fold(name) in ascending)
        if ordered and seen[name] == values["held"]:
            numbers.append(name)
    return [
        none_of("added columns", added),
        left_in if given.asked["identifiers"] else untold(left_in),
        none_of("identifying columns", nearly),
        none_of("row numbers", numbers),
    ]


def _distinct(given: Release, name: str, held: int) -> int:
    """Values that differ, NULL not among them."""
    marks = len(np.unique(given.marks(name)))
    return marks - (held < given.shown)
