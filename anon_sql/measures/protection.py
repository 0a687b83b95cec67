"""What an audit says of the sizes of classes and of the sensitive values in them."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from anon_sql.measures import persons
from anon_sql.measures.properties import MANY, Property, at_least, at_most, untold
from anon_sql.measures.readings import Ints
from anon_sql.measures.release import Release
from anon_sql.measures.stems import Slots, Stems
from anon_sql.roles import fold

_SUPPRESSED = "suppressed rows"


def rows(given: Release) -> Property:
    """A release shows suppressed rows or leaves them out, and then k of them at least."""
    required, found, lost = given.rows + given.asked["synthetic"], given.shown, given.left_out
    k = given.asked["k"]
    perhaps = lost and not given.starred.any() and not (k and lost < k)
    passed = None if perhaps else required == found
    return Property("rows", required, found, passed, f"{lost:,} left out" if lost else None)


def suppressed(given: Release) -> Property:
    found = int(given.sizes[given.starred].sum()) + given.left_out
    k = given.asked["k"]
    passed = True if not found else None if k is None else found >= k
    return Property(_SUPPRESSED, k, found, passed, None)


def anonymity(given: Release, found: Slots, known: Stems | None) -> Property:
    """k, of persons where ``entity`` tells them apart; suppressed rows are one class."""
    k = given.asked["k"]
    bounds = _persons(given, found, known)
    if bounds is None or not given.shown:
        return Property("k", k, None, None, MANY if given.shown else None)
    low, high = (bound[~given.starred] for bound in bounds)
    at = np.flatnonzero(~given.starred)
    least = [(int(low.min()), given.where(at[low == low.min()]))] if len(at) else []
    most = [int(high.min())] if len(at) else []
    if given.starred.any() or given.left_out:
        fewest, all_ = _suppressed_persons(given, bounds)
        least.append((fewest, _SUPPRESSED))
        most.append(all_)
    count, example = min(least, key=lambda pair: pair[0])
    passed = None if k is None or count < k <= min(most) else count >= k
    if count < min(most):
        example = f"at least; the release does not say whose rows are in {example}"
    told = Property("k", k, count, passed, example)
    return untold(told, unless_failed=True) if given.asked["synthetic"] else told


def _persons(given: Release, found: Slots, known: Stems | None) -> tuple[Ints, Ints] | None:
    """Bounds of the rows or persons in each class."""
    entity = given.asked["entity"]
    if entity is None:
        return given.sizes, given.sizes
    if fold(entity) in map(fold, given.asked["shared"]):
        count = persons.counted(given.class_of, given.marks(entity), len(given.sizes))
        return count, count
    if known is None or known.rows is None:
        return None
    return persons.between(found, known, given.raw_marks(entity), given.sizes)


def _suppressed_persons(given: Release, bounds: tuple[Ints, Ints]) -> tuple[int, int]:
    """Rows left out may be anybody's; so may those shown beside them."""
    size = int(given.sizes[given.starred].sum()) + given.left_out
    if given.asked["entity"] is None:
        return size, size
    if not given.left_out:
        low, high = (int(bound[given.starred].sum()) for bound in bounds)
        return low, high
    return persons.among(given.raw_marks(given.asked["entity"]), size)


def diversity(given: Release, varied: Mapping[str, Any]) -> Property:
    told = at_least("l", given.asked["l"], varied["value"], _worst(given, varied))
    return untold(told) if given.asked["synthetic"] else told


def closeness(given: Release, far: Mapping[str, Any]) -> Property:
    told = at_most("t", given.asked["t"], far["value"], _worst(given, far))
    return untold(told) if given.asked["synthetic"] else told


def _worst(given: Release, worst: Mapping[str, Any]) -> str | None:
    """A sensitive column and the labels of the class where it is worst, or why none is known."""
    if worst["value"] is None:
        return "values that the raw table lacks" if worst.get("lacking") else None
    name = min(worst["columns"])
    pairs = zip(worst["classes"], worst["columns"], strict=True)
    labels = given.where([given.numbers[number] for number, of in pairs if of == name])
    return f"{name} in {labels}"
