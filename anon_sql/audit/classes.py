"""Audit the sizes of classes and the sensitive values in them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.audit import persons
from anon_sql.audit.compared import (
    MANY,
    Compared,
    Hashed,
    Marks,
    Property,
    Raw,
    named,
    reaches,
    weighed,
    with_added_rows,
    within,
)
from anon_sql.audit.parameters import NAME, PEOPLE
from anon_sql.audit.rows import Truth, truth
from anon_sql.core.arrow import integers
from anon_sql.core.common_parameters import ROW
from anon_sql.core.labels.reading import Ints
from anon_sql.core.running import Workers
from anon_sql.errors import listed
from anon_sql.measures.person_keys import (
    KEY,
    PERSON,
    Identifier,
    alike,
    person_key,
    several_rows,
    tells_people_apart,
    values_of,
)
from anon_sql.privacy.class_values import NULL, ClassValues, Floats, TableValues
from anon_sql.privacy.k_anonymity import KAnonymity
from anon_sql.privacy.model import ValueModel, many
from anon_sql.privacy.t_closeness import with_ground

BLOCK = 1_000_000  # rows that are counted at a time


@dataclass(frozen=True)
class SensitiveValues:
    """One sensitive column; of persons, each value counts once for each.

    values: what each key of ``table`` stands for, where a hierarchy asks for it. foreign: whether
    the release has a value that the raw table lacks.
    """

    classes: ClassValues
    table: TableValues
    values: pa.Array | None
    foreign: bool


def sensitive_values(compared: Compared, name: str, whose: Marks | None) -> SensitiveValues:
    """Return the values of a column; whose: a mark of the person of each released row, or None."""
    raw: Hashed = named(compared.raw.marks, name)
    released: Hashed = named(compared.released.marks, name)
    (raw_marks, raw_places), (released_marks, released_places) = raw.coded(), released.coded()
    distinct = named(compared.raw.distinct, name)
    marks = integers(distinct.field("mark"))
    keys, values = distinct.field("key"), distinct.field("value")
    if not len(distinct):  # no order is asked for
        marks = np.sort(raw_marks)
        keys = pa.array([mark.tobytes() if mark else NULL for mark in marks], pa.binary())
    order = pc.sort_indices(keys)
    keys, marks = keys.take(order), marks[integers(order)]
    foreign = np.setdiff1d(released_marks[np.unique(released_places)], marks)
    every = np.append(marks, foreign)
    unknown = pa.array([b"\xff" + mark.tobytes() for mark in foreign], keys.type)
    place = np.argsort(every)
    released_code, raw_code = (
        place[np.searchsorted(every, known, sorter=place)] for known in (released_marks, raw_marks)
    )
    found = []
    for rows in _blocks(np.bincount(compared.class_of, minlength=len(compared.sizes))):
        codes = (
            compared.class_of[rows].astype(np.int64) * len(every)
            + released_code[released_places[rows]]
        )
        weights = compared.released.weights[rows]
        found.append(_counted(codes, weights, None if whose is None else whose[rows]))
    groups, counts = (np.concatenate(column) for column in zip(*found, strict=True))
    if whose is None:
        often = np.zeros(len(keys), np.int64)
        often[raw_code] = weighed(raw_places, compared.raw.weights, len(raw_code))
    else:
        who = compared.raw_marks(str(compared.request.entity))
        _, often = _counted(raw_code[raw_places], compared.raw.weights, who)
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


def _counted(codes: Ints, weights: npt.NDArray[np.int32], whose: Marks | None) -> tuple[Ints, Ints]:
    """Return each code once, ascending, and how many rows or persons have it."""
    if whose is None:
        once, places = np.unique(codes, return_inverse=True)
        return once, weighed(places.reshape(-1), weights, len(once))
    order = np.lexsort((whose, codes))
    codes, whose = codes[order], whose[order]
    new = (np.diff(codes, prepend=-1) != 0) | np.append(True, whose[1:] != whose[:-1])[: len(codes)]
    once, counts = np.unique(codes[new], return_counts=True)
    return once, counts


_SUPPRESSED = "suppressed_rows"
_NOBODY = "the release does not say whose rows are in a class"
FOREIGN = "values that the raw table lacks"
_EMPTY = "The release has no rows."


def rows(compared: Compared) -> Property:
    """Compare the number of rows. Lost rows look like suppressed rows that are left out."""
    required, found, lost = (
        compared.rows + compared.request.synthetic,
        compared.released_rows,
        compared.left_out,
    )
    perhaps = lost and compared.request.suppressed == "drop"
    passed = None if perhaps else required == found
    said, other = f"The release has {many(found, 'row')}", abs(required - found)
    if perhaps:
        meaning = f"{said}; {lost:,} more {_are(lost)} left out, suppressed or lost."
    elif passed:
        added = " and the added ones" if compared.request.synthetic else ""
        meaning = f"{said}, as many as the raw table{added}."
    else:
        off = "missing" if lost else "too many"
        meaning = f"{said}; there must be {required:,}, so {other:,} {_are(other)} {off}."
    return Property(
        "rows", required, found, passed, meaning, f"{lost:,} left out" if lost else None
    )


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def suppressed(compared: Compared) -> Property:
    found = int(compared.sizes[compared.suppressed].sum()) + _missing(compared)
    k = compared.request.k
    passed = True if not found else None if k is None else found >= k
    if not found:
        dropped = compared.request.suppressed == "drop"
        meaning = "No suppressed row is shown." if dropped else "No row is suppressed."
    else:
        left_out = " or left out" if _missing(compared) else ""
        limit = "no k was required" if k is None else f"if any are, at least {k:,} must be"
        meaning = f"{many(found, 'row')} {_are(found)} suppressed{left_out}; {limit}."
    return Property(_SUPPRESSED, k, found, passed, meaning)


def _missing(compared: Compared) -> int:
    """Rows left out that count as suppressed.

    Dropped ones, and those of persons who wait, publish nothing and are no class.
    """
    published = compared.request.suppressed == "keep" and not compared.request.series
    return compared.left_out if published else 0


def anonymity(compared: Compared, true: Truth) -> Property:
    """k, of persons where ``entity`` tells them apart; suppressed rows are one class."""
    k = compared.request.k
    bounds = _persons(compared, true)
    if not compared.released_rows:
        return unmeasured("k", k, _EMPTY)
    if bounds is None:
        return unmeasured("k", k, f"The persons of a class were not counted: {MANY}.", MANY)
    low, high = (bound[~compared.suppressed] for bound in bounds)
    at = np.flatnonzero(~compared.suppressed)
    least = [(int(low.min()), compared.where(at[low == low.min()]))] if len(at) else []
    most = [int(high.min())] if len(at) else []
    if compared.suppressed.any() or _missing(compared):
        fewest, all_ = _suppressed_persons(compared, bounds)
        least.append((fewest, _SUPPRESSED))
        most.append(all_)
    count, example = min(least, key=lambda pair: pair[0])
    passed = None if k is None or count < k <= min(most) else count >= k
    if count < min(most):
        example = f"at least; the release does not say whose rows are in {example}"
    noun = "row" if compared.request.entity is None else "person"
    row = Property("k", k, count, passed, KAnonymity.meaning(k, count, passed, noun), example)
    return with_added_rows(row, unless_failed=True) if compared.request.synthetic else row


def _persons(compared: Compared, true: Truth) -> tuple[Ints, Ints] | None:
    """Bounds of the rows or persons in each class."""
    entity = compared.request.entity
    if entity is None:
        return compared.sizes, compared.sizes
    if persons.shows(compared):
        count = persons.counted(compared.class_of, compared.marks(entity), len(compared.sizes))
        return count, count
    return None if true.holders is None else persons.between(true.holders, compared.sizes)


def _suppressed_persons(compared: Compared, bounds: tuple[Ints, Ints]) -> tuple[int, int]:
    """Rows left out may be anybody's; so may those shown beside them."""
    size = int(compared.sizes[compared.suppressed].sum()) + _missing(compared)
    if compared.request.entity is None:
        return size, size
    if not _missing(compared):
        low, high = (int(bound[compared.suppressed].sum()) for bound in bounds)
        return low, high
    return persons.among(compared.raw_marks(compared.request.entity), size)


def people(compared: Compared, known: list[Identifier], workers: Workers) -> Property:
    """Return the least number of people in a class, by identifiers that have several rows.

    Nothing is counted if no identifier has, if ``entity`` has them counted as k, or if the unit is
    a row. NULLs are one person, as with ``entity``. Where the release does not show the identifier,
    the number is a bound from below, so that the property fails unless it is sure to hold. known:
    the result of ``identifiers``.
    """
    request = compared.request
    counted, k = _several(compared, known), request.k
    if counted is None:
        meaning = f"The entity is {request.entity}, so k counts people."
        return Property(PEOPLE, k, None, True, meaning)
    key = person_key(counted)
    chance = [one.name for one in known if one.repeats and one not in counted]
    if key is None:
        why = "No identifier has several rows per person" if known else "No identifier is known"
        said = f"{why}, so each row counts as a person"
        if chance:
            repeats = "repeats" if len(chance) == 1 else "repeat"
            said += f"; {listed(chance)} {repeats}, but people may share a value"
        return Property(PEOPLE, k, None, True, f"{said}.")
    if request.unit == ROW:
        meaning = (
            f"The unit is a row, so k counts rows; {key.name} has {key.values:,} values in "
            f"{key.rows:,} rows."
        )
        return Property(PEOPLE, k, None, True, meaning, key.name)
    found = [(one, _counted_by(compared, one.name, workers)) for one in counted]
    if not all(row.found is not None for _, row in found):
        return unmeasured(PEOPLE, k, f"The people of a class were not counted: {MANY}.", MANY)
    one, row = min(found, key=lambda each: each[1].found or 0)
    count = int(row.found or 0)
    passed = None if k is None else count >= k
    many_people = f"{count:,} {'person' if count == 1 else 'people'}"
    if passed:
        meaning = f"Each class has at least {many_people} by {one.name}, which repeats."
    else:
        meaning = (
            f"A class may have only {many_people} by {one.name}, which repeats; name {key.name} as "
            "entity, or state the unit row if each row is a person of its own."
        )
    return Property(PEOPLE, k, count, passed, meaning, key.name)


def _several(compared: Compared, known: list[Identifier]) -> list[Identifier] | None:
    """Return the identifiers by which people have several rows, None with ``entity``."""
    entity = compared.request.entity
    if entity is None:
        return several_rows(known)
    own = next((one for one in known if one.name == entity), None)
    if own is None or own.repeats or own.kind == PERSON:
        return None
    return [one for one in several_rows(known) if one.kind == PERSON]


def person_rows(compared: Compared, known: list[Identifier]) -> tuple[Raw, Marks] | None:
    """Return raw rows and a mark of the person of each; None if each row counts as a person.

    known: the result of ``identifiers``.
    """
    counted = _several(compared, known)
    if counted is None:
        return compared.raw, compared.raw_marks(str(compared.request.entity))
    key = person_key(counted)
    if key is None or compared.request.unit == ROW:
        return None
    if key.name in compared.raw.identifiers:
        own = compared.raw.apart(key.name)
        return own, own.marks[key.name].at()
    return compared.raw, compared.raw_marks(key.name)


def identifiers(compared: Compared) -> list[Identifier]:
    """Return what is known of identifiers of the raw table, and of kept columns that number
    people."""
    raw, kinds = compared.raw, compared.request.kinds
    found = []
    for name, marks in raw.identifiers.items():
        rows, values = values_of(marks)
        one = Identifier(name, kinds[name], rows, values)
        if one.repeats:
            quasi = [raw.places[column][raw.held] for column in compared.columns]
            one = replace(one, alike=alike(marks, quasi))
        found.append(one)
    request = compared.request
    for name in request.shared:
        if name not in kinds and name not in request.values and name != request.entity:
            marks = np.repeat(compared.raw_marks(name), raw.weights)
            quasi = [np.repeat(raw.places[column], raw.weights) for column in compared.columns]
            if tells_people_apart(marks, quasi):
                rows, values = values_of(marks)
                found.append(Identifier(name, KEY, rows, values, alike(marks, quasi)))
    return found


def _counted_by(compared: Compared, name: str, workers: Workers) -> Property:
    """Return k, counted by the values of an identifier."""
    request = replace(compared.request, entity=name)
    held = name in compared.raw.identifiers
    own = replace(compared, request=request, raw=compared.raw.apart(name) if held else compared.raw)
    return anonymity(own, Truth() if persons.shows(own) else truth(own, workers))


def of_values(
    compared: Compared,
    model: ValueModel,
    values: Mapping[str, SensitiveValues],
    trees: Mapping[str, pa.StructArray],
    owners_known: bool,
) -> Property:
    """Return the level of a model, of persons where ``entity`` tells them apart.

    owners_known: whether it is known whose the rows are.
    """
    name, required = model.name, model.level
    if not (owners_known or model.same_for_persons):
        return unmeasured(name, required, f"{name} was not measured: {_NOBODY}.", _NOBODY)
    if model.compares and any(each.foreign for each in values.values()):
        meaning = f"{name} was not measured: the release has {FOREIGN}."
        return unmeasured(name, required, meaning, FOREIGN)
    found = {}
    for column, each in values.items():
        table = each.table
        if model.by_distance:
            kind = compared.request.values[column]
            table = with_ground(NAME, column, kind, table, each.values, trees.get(column))
        found[column] = model.measure(each.classes, table)
    if not compared.released_rows:
        return unmeasured(name, required, _EMPTY)
    if not found:
        return unmeasured(name, required, "No column is declared as sensitive.")
    level, example = _worst(compared, found, min if model.at_least else max)
    passed = (reaches if model.at_least else within)(required, level)
    said = Property(name, required, level, passed, model.meaning(level, passed), example)
    return with_added_rows(said) if compared.request.synthetic else said


def unmeasured(name: str, required: float | None, why: str, example: str | None = None) -> Property:
    """Return the property of a level that is not known; why: a sentence."""
    return Property(name, required, None, None, why, example)


def _worst(
    compared: Compared, found: Mapping[str, Floats], pick: Callable[[Iterable[float]], float]
) -> tuple[float, str]:
    """The worst of each class's measure, with a sensitive column and the labels of a class."""
    worst = pick(pick(measures) for measures in found.values())
    name = min(name for name, measures in found.items() if (measures == worst).any())
    return float(worst), f"{name} in {compared.where(np.flatnonzero(found[name] == worst))}"
