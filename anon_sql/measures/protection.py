"""What an audit says of the sizes of classes and of the sensitive values in them."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from anon_sql.measures import persons
from anon_sql.measures.properties import MANY, Property, at_least, at_most, untold
from anon_sql.measures.readings import Ints
from anon_sql.measures.release import Release
from anon_sql.measures.stems import Slots, Stems

_SUPPRESSED = "suppressed rows"
_NOBODY = "the release does not say whose rows are in a class"


def rows(given: Release) -> Property:
    """Whether rows left out are lost nobody can tell, where suppressed ones are left out."""
    required, found, lost = given.rows + given.asked["synthetic"], given.shown, given.left_out
    perhaps = lost and given.asked["suppressed"] == "drop"
    passed = None if perhaps else required == found
    return Property("rows", required, found, passed, f"{lost:,} left out" if lost else None)


def suppressed(given: Release) -> Property:
    found = int(given.sizes[given.starred].sum()) + _missing(given)
    k = given.asked["k"]
    passed = True if not found else None if k is None else found >= k
    return Property(_SUPPRESSED, k, found, passed, None)


def _missing(given: Release) -> int:
    """Rows left out that count as suppressed: dropped ones publish nothing and are no class."""
    return 0 if given.asked["suppressed"] == "drop" else given.left_out


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
    if given.starred.any() or _missing(given):
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
    if persons.shows(given):
        count = persons.counted(given.class_of, given.marks(entity), len(given.sizes))
        return count, count
    if known is None or known.rows is None:
        return None
    return persons.between(found, known, given.raw_marks(entity), given.sizes)


def _suppressed_persons(given: Release, bounds: tuple[Ints, Ints]) -> tuple[int, int]:
    """Rows left out may be anybody's; so may those shown beside them."""
    size = int(given.sizes[given.starred].sum()) + _missing(given)
    if given.asked["entity"] is None:
        return size, size
    if not _missing(given):
        low, high = (int(bound[given.starred].sum()) for bound in bounds)
        return low, high
    return persons.among(given.raw_marks(given.asked["entity"]), size)


def diversity(given: Release, varied: Mapping[str, Any], told: bool) -> Property:
    """told: whether it is known whose the rows are, over whom l and t are counted; distinct values
    are as many either way."""
    level = given.asked["l"]
    if level is not None and given.asked["l_kind"] != "distinct" and not _whose(given, told):
        return Property("l", level, None, None, _NOBODY)
    found = at_least("l", level, varied["value"], _worst(given, varied))
    return untold(found) if given.asked["synthetic"] else found


def closeness(given: Release, far: Mapping[str, Any], told: bool) -> Property:
    if given.asked["t"] is not None and not _whose(given, told):
        return Property("t", given.asked["t"], None, None, _NOBODY)
    found = at_most("t", given.asked["t"], far["value"], _worst(given, far))
    return untold(found) if given.asked["synthetic"] else found


def _whose(given: Release, told: bool) -> bool:
    return told or given.asked["entity"] is None or not given.shown


def _worst(given: Release, worst: Mapping[str, Any]) -> str | None:
    """A sensitive column and the labels of the class where it is worst, or why none is known."""
    if worst["value"] is None:
        return "values that the raw table lacks" if worst.get("lacking") else None
    name = min(worst["columns"])
    pairs = zip(worst["classes"], worst["columns"], strict=True)
    labels = given.where([given.numbers[number] for number, of in pairs if of == name])
    return f"{name} in {labels}"
