"""Audit the sizes of classes and the sensitive values in them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.audit import persons
from anon_sql.audit.compared import (
    TOO_MANY,
    Compared,
    Hashed,
    Marks,
    Property,
    Raw,
    is_at_least,
    is_at_most,
    named,
    weighed,
    with_added_rows,
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

BLOCK_ROWS = 1_000_000  # rows that are counted at a time


@dataclass(frozen=True)
class SensitiveValues:
    """One sensitive column. If people are counted, each value counts once per person.

    values: the value of each key of ``table``, if a hierarchy needs it. foreign: whether the
    release has a value that the raw table lacks.
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
    if not len(distinct):  # no model needs the order of values
        marks = np.sort(raw_marks)
        keys = pa.array([mark.tobytes() if mark else NULL for mark in marks], pa.binary())
    order = pc.sort_indices(keys)
    keys, marks = keys.take(order), marks[integers(order)]
    foreign = np.setdiff1d(released_marks[np.unique(released_places)], marks)
    all_marks = np.append(marks, foreign)
    foreign_keys = pa.array([b"\xff" + mark.tobytes() for mark in foreign], keys.type)
    place = np.argsort(all_marks)
    released_code, raw_code = (
        place[np.searchsorted(all_marks, column_marks, sorter=place)]
        for column_marks in (released_marks, raw_marks)
    )
    counted_blocks = []
    for rows in _blocks(np.bincount(compared.class_of, minlength=len(compared.sizes))):
        codes = (
            compared.class_of[rows].astype(np.int64) * len(all_marks)
            + released_code[released_places[rows]]
        )
        weights = compared.released.weights[rows]
        counted_blocks.append(_counted(codes, weights, None if whose is None else whose[rows]))
    groups, counts = (np.concatenate(column) for column in zip(*counted_blocks, strict=True))
    if whose is None:
        often = np.zeros(len(keys), np.int64)
        often[raw_code] = weighed(raw_places, compared.raw.weights, len(raw_code))
    else:
        owners = compared.raw_marks(str(compared.request.entity))
        _, often = _counted(raw_code[raw_places], compared.raw.weights, owners)
    return SensitiveValues(
        ClassValues(
            groups // len(all_marks),
            groups % len(all_marks),
            pa.concat_arrays([keys, foreign_keys]),
            counts,
        ),
        TableValues(keys, often),
        values.take(order) if len(distinct) else None,
        bool(len(foreign)),
    )


def _blocks(sizes: Ints) -> Iterator[slice]:
    """Yield slices of whole classes, each of about ``BLOCK_ROWS`` rows or of one class."""
    ends = np.cumsum(sizes)
    if not len(ends):
        yield slice(0, 0)
        return
    wanted = np.arange(BLOCK_ROWS, ends[-1] + BLOCK_ROWS, BLOCK_ROWS)
    last = ends[np.minimum(np.searchsorted(ends, wanted), len(ends) - 1)]
    first = 0
    for end in np.unique(last).tolist():
        yield slice(first, end)
        first = end


def _counted(codes: Ints, weights: npt.NDArray[np.int32], whose: Marks | None) -> tuple[Ints, Ints]:
    """Return the distinct codes, ascending, and the number of rows or people that have each."""
    if whose is None:
        once, places = np.unique(codes, return_inverse=True)
        return once, weighed(places.reshape(-1), weights, len(once))
    order = np.lexsort((whose, codes))
    codes, whose = codes[order], whose[order]
    new = (np.diff(codes, prepend=-1) != 0) | np.append(True, whose[1:] != whose[:-1])[: len(codes)]
    once, counts = np.unique(codes[new], return_counts=True)
    return once, counts


_SUPPRESSED = "suppressed_rows"
WHOSE = "the release does not say whose rows are in"
_NOBODY = f"{WHOSE} a class"
FOREIGN = "values that the raw table lacks"
_EMPTY = "The release has no rows."


def rows(compared: Compared) -> Property:
    """Compare the numbers of rows. Missing rows cannot be told from suppressed ones."""
    required, row_count, lost = (
        compared.rows + compared.request.synthetic,
        compared.released_rows,
        compared.left_out,
    )
    perhaps = lost and compared.request.suppressed == "drop"
    passed = None if perhaps else required == row_count
    sentence, difference = f"The release has {many(row_count, 'row')}", abs(required - row_count)
    if perhaps:
        meaning = f"{sentence}; {lost:,} more {_are(lost)} left out, suppressed or lost."
    elif passed:
        added = " and the added ones" if compared.request.synthetic else ""
        meaning = f"{sentence}, as many as the raw table{added}."
    else:
        off = "missing" if lost else "too many"
        meaning = (
            f"{sentence}; there must be {required:,}, so {difference:,} {_are(difference)} {off}."
        )
    return Property(
        "rows", required, row_count, passed, meaning, f"{lost:,} left out" if lost else None
    )


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def suppressed(compared: Compared) -> Property:
    """Count the suppressed rows, shown or left out."""
    row_count = int(compared.sizes[compared.suppressed].sum()) + _missing(compared)
    k = compared.request.k
    passed = True if not row_count else None if k is None else row_count >= k
    if not row_count:
        dropped = compared.request.suppressed == "drop"
        meaning = "No suppressed row is shown." if dropped else "No row is suppressed."
    else:
        left_out = " or left out" if _missing(compared) else ""
        limit = "no k was required" if k is None else f"if any are, at least {k:,} must be"
        meaning = f"{many(row_count, 'row')} {_are(row_count)} suppressed{left_out}; {limit}."
    return Property(_SUPPRESSED, k, row_count, passed, meaning)


def _missing(compared: Compared) -> int:
    """Return the number of missing rows that count as suppressed.

    Dropped rows and rows of waiting people are not published, so they are not a class.
    """
    published = compared.request.suppressed == "keep" and not compared.request.series
    return compared.left_out if published else 0


def anonymity(compared: Compared, true: Truth) -> Property:
    """Return k, counted in people with ``entity`` and in rows otherwise.

    Suppressed rows are one class.
    """
    k = compared.request.k
    bounds = _persons(compared, true)
    if not compared.released_rows:
        return unmeasured("k", k, _EMPTY)
    if bounds is None:
        return unmeasured("k", k, f"The persons of a class were not counted: {TOO_MANY}.", TOO_MANY)
    low, high = (bound[~compared.suppressed] for bound in bounds)
    class_ids = np.flatnonzero(~compared.suppressed)
    least = (
        [(int(low.min()), compared.where(class_ids[low == low.min()]))] if len(class_ids) else []
    )
    most = [int(high.min())] if len(class_ids) else []
    if compared.suppressed.any() or _missing(compared):
        fewest, all_ = _suppressed_persons(compared, bounds)
        least.append((fewest, _SUPPRESSED))
        most.append(all_)
    count, example = min(least, key=lambda pair: pair[0])
    passed = None if k is None or count < k <= min(most) else count >= k
    if count < min(most):
        example = f"at least; {WHOSE} {example}"
    noun = "row" if compared.request.entity is None else "person"
    row = Property("k", k, count, passed, KAnonymity.meaning(k, count, passed, noun), example)
    return with_added_rows(row, unless_failed=True) if compared.request.synthetic else row


def _persons(compared: Compared, true: Truth) -> tuple[Ints, Ints] | None:
    """Return bounds of the number of rows or people per class; None if they are unknown."""
    entity = compared.request.entity
    if entity is None:
        return compared.sizes, compared.sizes
    if persons.shows_entity(compared):
        count = persons.distinct_owners(
            compared.class_of, compared.marks(entity), len(compared.sizes)
        )
        return count, count
    return (
        None
        if true.possible_owners is None
        else persons.person_bounds(true.possible_owners, compared.sizes)
    )


def _suppressed_persons(compared: Compared, bounds: tuple[Ints, Ints]) -> tuple[int, int]:
    """Return bounds of the number of people whose rows are suppressed.

    A missing row can belong to anyone, and so can a suppressed row that is shown.
    """
    size = int(compared.sizes[compared.suppressed].sum()) + _missing(compared)
    if compared.request.entity is None:
        return size, size
    if not _missing(compared):
        low, high = (int(bound[compared.suppressed].sum()) for bound in bounds)
        return low, high
    return persons.bounds_among(compared.raw_marks(compared.request.entity), size)


def people(compared: Compared, all_identifiers: list[Identifier], workers: Workers) -> Property:
    """Return the least number of people in a class, by identifiers that have several rows.

    Nothing is counted if no identifier repeats, if k already counts people by ``entity``, or if the
    unit is a row. NULLs are one person, as with ``entity``. If the release lacks the identifier,
    the number is a lower bound, so the property passes only if it certainly holds. known:
    the result of ``identifiers``.
    """
    request = compared.request
    counted, k = _several(compared, all_identifiers), request.k
    if counted is None:
        meaning = f"The entity is {request.entity}, so k counts people."
        return Property(PEOPLE, k, None, True, meaning)
    key = person_key(counted)
    chance = [
        identifier.name
        for identifier in all_identifiers
        if identifier.repeats and identifier not in counted
    ]
    if key is None:
        why = (
            "No identifier has several rows per person"
            if all_identifiers
            else "No identifier is known"
        )
        sentence = f"{why}, so each row counts as a person"
        if chance:
            repeats = "repeats" if len(chance) == 1 else "repeat"
            sentence += f"; {listed(chance)} {repeats}, but people may share a value"
        return Property(PEOPLE, k, None, True, f"{sentence}.")
    if request.unit == ROW:
        meaning = (
            f"The unit is a row, so k counts rows; {key.name} has {key.values:,} values in "
            f"{key.rows:,} rows."
        )
        return Property(PEOPLE, k, None, True, meaning, key.name)
    measured = [
        (identifier, _counted_by(compared, identifier.name, workers)) for identifier in counted
    ]
    if not all(row.found is not None for _, row in measured):
        return unmeasured(
            PEOPLE, k, f"The people of a class were not counted: {TOO_MANY}.", TOO_MANY
        )
    identifier, row = min(measured, key=lambda pair: pair[1].found or 0)
    count = int(row.found or 0)
    passed = None if k is None else count >= k
    many_people = f"{count:,} {'person' if count == 1 else 'people'}"
    if passed:
        meaning = f"Each class has at least {many_people} by {identifier.name}, which repeats."
    else:
        meaning = (
            f"A class may have only {many_people} by {identifier.name}, which repeats; name "
            f"{key.name} as entity, or state the unit row if each row is a person of its own."
        )
    return Property(PEOPLE, k, count, passed, meaning, key.name)


def _several(compared: Compared, all_identifiers: list[Identifier]) -> list[Identifier] | None:
    """Return the identifiers by which people have several rows; None if k counts people."""
    entity = compared.request.entity
    if entity is None:
        return several_rows(all_identifiers)
    entity_identifier = next(
        (identifier for identifier in all_identifiers if identifier.name == entity), None
    )
    if entity_identifier is None or entity_identifier.repeats or entity_identifier.kind == PERSON:
        return None
    return [identifier for identifier in several_rows(all_identifiers) if identifier.kind == PERSON]


def person_rows(compared: Compared, all_identifiers: list[Identifier]) -> tuple[Raw, Marks] | None:
    """Return raw rows and a hash of the owner of each; None if each row counts as a person.

    all_identifiers: the result of ``identifiers``.
    """
    counted = _several(compared, all_identifiers)
    if counted is None:
        return compared.raw, compared.raw_marks(str(compared.request.entity))
    key = person_key(counted)
    if key is None or compared.request.unit == ROW:
        return None
    if key.name in compared.raw.identifiers:
        raw = compared.raw.apart(key.name)
        return raw, raw.marks[key.name].hashes()
    return compared.raw, compared.raw_marks(key.name)


def identifiers(compared: Compared) -> list[Identifier]:
    """Describe the identifiers of the raw table and the kept columns that number people."""
    raw, kinds = compared.raw, compared.request.kinds
    result = []
    for name, marks in raw.identifiers.items():
        rows, values = values_of(marks)
        identifier = Identifier(name, kinds[name], rows, values)
        if identifier.repeats:
            quasi = [raw.places[column][raw.row_of] for column in compared.columns]
            identifier = replace(identifier, alike=alike(marks, quasi))
        result.append(identifier)
    request = compared.request
    for name in request.shared:
        if name not in kinds and name not in request.values and name != request.entity:
            marks = np.repeat(compared.raw_marks(name), raw.weights)
            quasi = [np.repeat(raw.places[column], raw.weights) for column in compared.columns]
            if tells_people_apart(marks, quasi):
                rows, values = values_of(marks)
                result.append(Identifier(name, KEY, rows, values, alike(marks, quasi)))
    return result


def _counted_by(compared: Compared, name: str, workers: Workers) -> Property:
    """Return k, counted by the values of an identifier."""
    request = replace(compared.request, entity=name)
    is_identifier = name in compared.raw.identifiers
    by_identifier = replace(
        compared, request=request, raw=compared.raw.apart(name) if is_identifier else compared.raw
    )
    return anonymity(
        by_identifier,
        Truth() if persons.shows_entity(by_identifier) else truth(by_identifier, workers),
    )


def of_values(
    compared: Compared,
    model: ValueModel,
    values: Mapping[str, SensitiveValues],
    trees: Mapping[str, pa.StructArray],
    owners_known: bool,
) -> Property:
    """Return the level of a model, counted in people with ``entity``.

    owners_known: whether the owner of each released row is known.
    """
    name, required = model.name, model.level
    if not (owners_known or model.same_for_persons):
        return unmeasured(name, required, f"{name} was not measured: {_NOBODY}.", _NOBODY)
    if model.compares and any(column_values.foreign for column_values in values.values()):
        meaning = f"{name} was not measured: the release has {FOREIGN}."
        return unmeasured(name, required, meaning, FOREIGN)
    measured = {}
    for column, column_values in values.items():
        table = column_values.table
        if model.by_distance:
            table = with_ground(
                NAME,
                column,
                compared.request.values[column],
                table,
                column_values.values,
                trees.get(column),
                column in compared.request.ordered,
            )
        measured[column] = model.measure(column_values.classes, table)
    if not compared.released_rows:
        return unmeasured(name, required, _EMPTY)
    if not measured:
        return unmeasured(name, required, "No column is declared as sensitive.")
    level, example = _worst(compared, measured, min if model.at_least else max)
    reached = (is_at_least if model.at_least else is_at_most)(required, level)
    passed = reached or not model.required  # the default requires nothing, as in a release
    row = Property(name, required, level, passed, model.meaning(level, passed), example)
    return with_added_rows(row) if compared.request.synthetic else row


def unmeasured(name: str, required: float | None, why: str, example: str | None = None) -> Property:
    """Return a property without a level; why: the reason, a sentence."""
    return Property(name, required, None, None, why, example)


def _worst(
    compared: Compared,
    measures_by_column: Mapping[str, Floats],
    pick: Callable[[Iterable[float]], float],
) -> tuple[float, str]:
    """Return the worst level of all classes, with its sensitive column and the class's labels."""
    worst = pick(pick(measures) for measures in measures_by_column.values())
    name = min(name for name, measures in measures_by_column.items() if (measures == worst).any())
    return float(
        worst
    ), f"{name} in {compared.where(np.flatnonzero(measures_by_column[name] == worst))}"
