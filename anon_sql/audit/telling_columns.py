"""Columns that a release should not have: added ones, identifiers, row numbers."""

from dataclasses import dataclass

from anon_sql.audit.compared import Compared
from anon_sql.audit.properties import Property, none_of, untold
from anon_sql.measures.uniqueness import counts

NEARLY = 0.9  # distinct values of those that are there, from which on they look identifying


@dataclass(frozen=True)
class Look:
    """What a kept column of the release holds: how many values that are not NULL, whether they are
    as many whole numbers as lie between the least and the greatest, and whether all of them look as
    ``anon_pseudonym`` makes them."""

    held: int
    consecutive: bool
    hashed: bool


def telling_columns(given: Compared) -> list[Property]:
    """Return what an audit says of added, identifying and ascending columns."""
    asked, k = given.asked, given.asked.k or 1
    free = {*asked.loose, *asked.added}
    nearly, numbers = [], []
    for name in [*asked.shared, *asked.added]:
        look = given.released.look(name)
        if name not in free and not look.consecutive:
            continue
        distinct = counts(given.marks(name).copy())[1] - (look.held < given.shown)
        if distinct <= k:
            continue
        if name in free and distinct >= NEARLY * look.held:
            nearly.append(name)
        ascending = name in asked.loose and given.raw.ascends(name)
        if (look.consecutive or ascending) and distinct == look.held:
            numbers.append(name)
    left_in = none_of("identifiers", asked.leftover)
    return [
        none_of("added columns", asked.added),
        left_in if asked.identifiers else untold(left_in),
        none_of("identifying columns", nearly),
        none_of("row numbers", numbers),
    ]
