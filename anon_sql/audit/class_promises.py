"""What an audit says of the sizes of classes and of the sensitive values in them."""

from collections.abc import Callable, Iterable, Mapping

import numpy as np
import pyarrow as pa

from anon_sql.audit import persons
from anon_sql.audit.asked import NAME
from anon_sql.audit.class_values import ClassValues
from anon_sql.audit.compared import Compared
from anon_sql.audit.properties import MANY, Property, at_least, at_most, untold
from anon_sql.audit.truth import Truth
from anon_sql.core.labels.coverage import Ints
from anon_sql.measures.closeness import closeness as distances
from anon_sql.measures.closeness import ground
from anon_sql.measures.diversity import diversity as levels
from anon_sql.measures.spread import Floats, Held, Spread

_SUPPRESSED = "suppressed rows"
_NOBODY = "the release does not say whose rows are in a class"


def rows(given: Compared) -> Property:
    """Whether rows left out are lost nobody can tell, where suppressed ones are left out."""
    required, found, lost = given.rows + given.asked.synthetic, given.shown, given.left_out
    perhaps = lost and given.asked.suppressed == "drop"
    passed = None if perhaps else required == found
    return Property("rows", required, found, passed, f"{lost:,} left out" if lost else None)


def suppressed(given: Compared) -> Property:
    found = int(given.sizes[given.starred].sum()) + _missing(given)
    k = given.asked.k
    passed = True if not found else None if k is None else found >= k
    return Property(_SUPPRESSED, k, found, passed, None)


def _missing(given: Compared) -> int:
    """Rows left out that count as suppressed: dropped ones publish nothing and are no class."""
    return 0 if given.asked.suppressed == "drop" else given.left_out


def anonymity(given: Compared, told: Truth) -> Property:
    """k, of persons where ``entity`` tells them apart; suppressed rows are one class."""
    k = given.asked.k
    bounds = _persons(given, told)
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
    row = Property("k", k, count, passed, example)
    return untold(row, unless_failed=True) if given.asked.synthetic else row


def _persons(given: Compared, told: Truth) -> tuple[Ints, Ints] | None:
    """Bounds of the rows or persons in each class."""
    entity = given.asked.entity
    if entity is None:
        return given.sizes, given.sizes
    if persons.shows(given):
        count = persons.counted(given.class_of, given.marks(entity), len(given.sizes))
        return count, count
    return None if told.holders is None else persons.between(told.holders, given.sizes)


def _suppressed_persons(given: Compared, bounds: tuple[Ints, Ints]) -> tuple[int, int]:
    """Rows left out may be anybody's; so may those shown beside them."""
    size = int(given.sizes[given.starred].sum()) + _missing(given)
    if given.asked.entity is None:
        return size, size
    if not _missing(given):
        low, high = (int(bound[given.starred].sum()) for bound in bounds)
        return low, high
    return persons.among(given.raw_marks(given.asked.entity), size)


def diversity(given: Compared, values: Mapping[str, ClassValues], told: bool) -> Property:
    """Return l, of persons where ``entity`` tells them apart. told: whether it is known whose the
    rows are; distinct values are as many either way."""
    asked = given.asked
    if asked.l is None:
        return Property("l", None, None, None, None)
    if asked.l_kind != "distinct" and not told:
        return Property("l", asked.l, None, None, _NOBODY)
    found = {n: levels(each.spread, asked.l_kind, asked.c) for n, each in values.items()}
    least, example = _worst(given, found, min)
    said = at_least("l", asked.l, least, example)
    return untold(said) if asked.synthetic else said


def closeness(
    given: Compared,
    values: Mapping[str, ClassValues],
    trees: Mapping[str, pa.StructArray],
    told: bool,
) -> Property:
    """Return t, of persons where ``entity`` tells them apart."""
    asked = given.asked
    if asked.t is None:
        return Property("t", None, None, None, None)
    if not told:
        return Property("t", asked.t, None, None, _NOBODY)
    by = {
        name: ground(NAME, name, asked.values[name], each.held, each.values, trees.get(name))
        for name, each in values.items()
    }
    return _at_most(given, "t", asked.t, values, lambda n, each: distances(*each, by[n]))


def of_shares(
    given: Compared,
    name: str,
    required: float | None,
    values: Mapping[str, ClassValues],
    measure: Callable[[Spread, Held], Floats],
    told: bool,
) -> list[Property]:
    """Return β or δ if it is required, of persons where ``entity`` tells them apart."""
    if required is None:
        return []
    if not told:
        return [Property(name, required, None, None, _NOBODY)]
    return [_at_most(given, name, required, values, lambda _, each: measure(*each))]


def _at_most(
    given: Compared,
    name: str,
    required: float,
    values: Mapping[str, ClassValues],
    measure: Callable[[str, tuple[Spread, Held]], Floats],
) -> Property:
    """Return the property that a measure of each class is at most what is required."""
    if any(each.lacking for each in values.values()):
        return Property(name, required, None, None, "values that the raw table lacks")
    found = {n: measure(n, (each.spread, each.held)) for n, each in values.items()}
    most, example = _worst(given, found, max)
    said = at_most(name, required, most, example)
    return untold(said) if given.asked.synthetic else said


def _worst(
    given: Compared, found: Mapping[str, Floats], pick: Callable[[Iterable[float]], float]
) -> tuple[float | None, str | None]:
    """The worst of each class's measure, with a sensitive column and the labels of a class."""
    if not found or not given.shown:
        return None, None
    worst = pick(pick(measures) for measures in found.values())
    name = min(name for name, measures in found.items() if (measures == worst).any())
    return float(worst), f"{name} in {given.where(np.flatnonzero(found[name] == worst))}"
