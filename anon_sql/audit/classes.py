"""Audit the sizes of classes and the sensitive values in them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.audit import persons
from anon_sql.audit.compared import (
    MANY,
    Compared,
    Hashed,
    Marks,
    Property,
    at_least,
    at_most,
    named,
    untold,
)
from anon_sql.audit.parameters import NAME
from anon_sql.audit.rows import Truth
from anon_sql.core.arrow import integers
from anon_sql.core.labels.reading import Ints
from anon_sql.privacy.class_values import NULL, ClassValues, Floats, TableValues
from anon_sql.privacy.model import ValueModel
from anon_sql.privacy.t_closeness import with_ground

BLOCK = 1_000_000  # rows that are counted at a time


@dataclass(frozen=True)
class SensitiveValues:
    """One sensitive column; of persons, each value counts once for each.

    values: what each key of ``table`` stands for, where a hierarchy asks for it. lacking: whether
    the release has a value that the raw table lacks.
    """

    classes: ClassValues
    table: TableValues
    values: pa.Array | None
    lacking: bool


def sensitive_values(given: Compared, name: str, whose: Marks | None) -> SensitiveValues:
    """Return the values of a column; whose: a mark of the person of each released row, or None."""
    raw: Hashed = named(given.raw.marks, name)
    shown: Hashed = named(given.released.marks, name)
    (raw_marks, raw_places), (shown_marks, shown_places) = raw.coded(), shown.coded()
    distinct = named(given.raw.distinct, name)
    marks = integers(distinct.field("mark"))
    keys, values = distinct.field("key"), distinct.field("value")
    if not len(distinct):  # no order is asked for
        marks = np.sort(raw_marks)
        keys = pa.array([mark.tobytes() if mark else NULL for mark in marks], pa.binary())
    order = pc.sort_indices(keys)
    keys, marks = keys.take(order), marks[integers(order)]
    foreign = np.setdiff1d(shown_marks[np.unique(shown_places)], marks)
    every = np.append(marks, foreign)
    unknown = pa.array([b"\xff" + mark.tobytes() for mark in foreign], keys.type)
    place = np.argsort(every)
    code_of, held_of = (
        place[np.searchsorted(every, known, sorter=place)] for known in (shown_marks, raw_marks)
    )
    found = []
    for rows in _blocks(given.sizes):
        codes = given.class_of[rows].astype(np.int64) * len(every) + code_of[shown_places[rows]]
        found.append(_counted(codes, None if whose is None else whose[rows]))
    groups, counts = (np.concatenate(column) for column in zip(*found, strict=True))
    if whose is None:
        often = np.zeros(len(keys), np.int64)
        for first in range(0, given.rows, BLOCK):
            codes = held_of[raw_places[first : first + BLOCK]]
            often += np.bincount(codes, minlength=len(keys))
    else:
        who = given.raw_marks(str(given.asked.entity))
        _, often = _counted(held_of[raw_places], who)
    return SensitiveValues(
        ClassValues(
            groups // len(every), groups % len(every), pa.concat_arrays([keys, unknown]), counts
        ),
        TableValues(keys, often),
        values.take(order) if len(distinct) else None,
        bool(len(foreign)),
    )


def _blocks(sizes: Ints) -> Iterator[slice]:
    """Yield the rows of some classes, which are about ``BLOCK`` or one class, class by class."""
    ends = np.cumsum(sizes)
    if not len(ends):
        yield slice(0, 0)
        return
    wanted = np.arange(BLOCK, ends[-1] + BLOCK, BLOCK)
    last = ends[np.minimum(np.searchsorted(ends, wanted), len(ends) - 1)]
    first = 0
    for end in np.unique(last).tolist():
        yield slice(first, end)
        first = end


def _counted(codes: Ints, whose: Marks | None) -> tuple[Ints, Ints]:
    """Return each code once, ascending, and how many rows or persons have it."""
    if whose is not None:
        order = np.lexsort((whose, codes))
        codes, whose = codes[order], whose[order]
        new = (np.diff(codes, prepend=-1) != 0) | np.append(True, whose[1:] != whose[:-1])[
            : len(codes)
        ]
        codes = codes[new]
    once, counts = np.unique(codes, return_counts=True)
    return once, counts


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


def of_values(
    given: Compared,
    model: ValueModel,
    values: Mapping[str, SensitiveValues],
    trees: Mapping[str, pa.StructArray],
    told: bool,
) -> Property:
    """Return the level of a model, of persons where ``entity`` tells them apart.

    told: whether it is known whose the rows are.
    """
    name, required = model.name, model.level
    if not (told or model.same_for_persons):
        return Property(name, required, None, None, _NOBODY)
    if model.compares and any(each.lacking for each in values.values()):
        return Property(name, required, None, None, "values that the raw table lacks")
    found = {}
    for column, each in values.items():
        table = each.table
        if model.by_distance:
            kind = given.asked.values[column]
            table = with_ground(NAME, column, kind, table, each.values, trees.get(column))
        found[column] = model.measure(each.classes, table)
    level, example = _worst(given, found, min if model.at_least else max)
    said = (at_least if model.at_least else at_most)(name, required, level, example)
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
