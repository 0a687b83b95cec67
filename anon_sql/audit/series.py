"""Check whether a file shows the cohorts of a series, and no other people.

A file does not say which cohort is in which class. All checks but that of the numbers are therefore
necessary conditions: a class can hold a cohort whose present members, and persons who wait for it,
its labels cover, and all of whose tuples it shows.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.audit.compared import Property, none_of
from anon_sql.audit.parameters import NAME
from anon_sql.core import stopping
from anon_sql.core.arrow import integers, true
from anon_sql.core.labels.as_printed import as_printed, values_by_name
from anon_sql.core.labels.reading import Bools, Coverage, Ints, coverage
from anon_sql.privacy.model import many
from anon_sql.series.next import Table
from anon_sql.series.state import NOWHERE, State

PROPERTIES = ("series", "cohort_l", "waiting_rows", "former_rows")
LOOKS = 5_000_000_000  # most comparisons of a person with the label of a class


@dataclass(frozen=True)
class Shown:
    """The c classes of a file. labels: of each quasi-identifier, an array of c. tuples: a list of
    texts a class, JSON as in a state. others: columns of other types than the series has."""

    labels: Mapping[str, pa.Array]
    tuples: pa.ListArray
    others: Sequence[str]


@dataclass(frozen=True)
class _Rows:
    """Tuples as numbers below ``count``. values: int64[count, s], the sensitive ones of each.

    Of the r tuples of u cohorts with somebody present: unit, which cohort; held, which tuple.
    Of the m rows of the file: class_of, ascending; shown, which tuple. own: of the n persons.
    """

    count: int
    values: Ints
    unit: Ints
    held: Ints
    class_of: Ints
    shown: Ints
    own: Ints


@dataclass(frozen=True)
class _Fits:
    """Of u cohorts: somewhere, which fit into a class; most, the values of the sensitive column
    that shows fewest, in the class that shows most. persons: of c classes, those present whose
    cohorts fit. places: of each class and tuple in it, the cohorts that fit, and the rows, beside
    the tuple. alone: which of the n persons have their tuple in a class that covers them."""

    somewhere: Bools
    most: Ints
    persons: Ints
    places: tuple[Ints, Ints, Ints]
    alone: Bools


def series_properties(
    state: State, table: Table, shown: Shown, trees: Mapping[str, pa.StructArray], k: int | None
) -> list[Property]:
    """Return the properties of a file that are about its series.

    state: that of the raw table; trees: rows of hierarchies by column; k: None to ask for none.
    """
    cohorts = state.cohort_of(table.persons)
    at = pc.index_in(table.persons.hashes, value_set=state.waiting["person"].combine_chunks())
    cover = integers(state.waiting["cohort"].combine_chunks().take(at))
    known = np.unique(cohorts[cohorts != NOWHERE])
    rows = _rows(state, table, shown, known)
    present = cohorts != NOWHERE
    units = np.where(present, cohorts, cover)
    unit_of = np.where(np.isin(units, known), np.searchsorted(known, units), len(known))
    if len(shown.tuples) * len(cohorts) > LOOKS:
        return _untold("The rows are too many to compare all persons with all labels.")
    kinds, raw = table.request.quasi, table.source.quasi
    often = dict.fromkeys(kinds, np.ones(len(table.persons.hashes), np.int64))
    labels = as_printed(
        {name: shown.labels[name] for name in kinds},
        values_by_name({name: raw[name] for name in kinds}, trees, often),
        integers(shown.tuples.value_lengths()).astype(np.int64),
    )
    columns = [
        coverage(NAME, name, kind, raw[name], labels[name], trees.get(name))
        for name, kind in kinds.items()
    ]
    fits = _fits(rows, columns, unit_of, present, len(known))
    found = _series(rows, fits, k)
    surplus = np.maximum(_counts(rows.shown, rows.count) - _counts(rows.held, rows.count), 0)
    waits = np.bincount(rows.own[~present & fits.alone], minlength=rows.count)
    theirs = int(np.minimum(surplus, waits).sum())
    withheld = int(true(pc.is_in(table.persons.hashes, value_set=state.withheld)).sum())
    if shown.others and found.passed is False:
        said = "Columns have other types than in the series, so their values cannot be compared."
        return _untold(said, ", ".join(shown.others))
    return [
        found,
        _companions(fits, np.bincount(unit_of[present], minlength=len(known)), state.l),
        _waiting(int((~present).sum()) - withheld, withheld, theirs),
        _former(len(rows.held) - int(present.sum()), int(surplus.sum()) - theirs),
    ]


def _rows(state: State, table: Table, shown: Shown, known: Ints) -> _Rows:
    cohort = integers(state.tuples["cohort"].combine_chunks())
    here = np.isin(cohort, known)
    texts = [
        state.tuples["tuple"].combine_chunks().filter(pa.array(here)),
        shown.tuples.flatten(),
        table.persons.tuples.dictionary_decode(),
    ]
    coded = pa.concat_arrays(texts).dictionary_encode()
    codes = coded.indices.to_numpy().astype(np.int64)
    held, rows, own = np.split(codes, np.cumsum([len(part) for part in texts])[:-1])
    values = np.empty((len(coded.dictionary), len(table.request.sensitive)), np.int64)
    for column, name in enumerate(table.request.sensitive):
        read = [json.loads(text)[name] for text in coded.dictionary.to_pylist()]
        values[:, column] = np.unique([str(one) for one in read], return_inverse=True)[1]
    class_of = np.repeat(np.arange(len(shown.tuples)), integers(pc.list_value_length(shown.tuples)))
    unit = np.searchsorted(known, cohort[here])
    return _Rows(len(values), values, unit, held, class_of, rows, own)


def _counts(codes: Ints, count: int) -> Ints:
    return np.bincount(codes, minlength=count)


def _fits(
    rows: _Rows, columns: Sequence[Coverage], unit_of: Ints, present: Bools, units: int
) -> _Fits:
    """Compare all persons with the labels of each class, and the tuples of cohorts with its own.

    unit_of: int64[n], the cohort of each person, or the one for which a person waits; ``units`` for
    none.
    """
    classes = len(columns[0].label_of)
    starts = np.searchsorted(rows.class_of, np.arange(classes + 1))
    by_unit = np.argsort(rows.unit, kind="stable")
    held, held_from = rows.held[by_unit], np.searchsorted(rows.unit[by_unit], np.arange(units + 1))
    persons_of = np.bincount(unit_of, minlength=units + 1)
    size = np.bincount(unit_of[present], minlength=units + 1)[:units]
    somewhere, most = np.zeros(units, np.bool_), np.zeros(units, np.int64)
    persons, alone = np.zeros(classes, np.int64), np.zeros(len(unit_of), np.bool_)
    places: list[tuple[Ints, Ints, Ints]] = []
    there = np.zeros(rows.count, np.int64)  # rows of the class by tuple
    for number in range(classes):
        stopping.check(NAME)
        inside = _inside(columns, number)
        own, many_of = np.unique(
            rows.shown[starts[number] : starts[number + 1]], return_counts=True
        )
        there[own] = many_of
        alone[inside] |= there[rows.own[inside]] > 0
        near, found = np.unique(unit_of[inside], return_counts=True)
        covered = near[(found == persons_of[near]) & (near < units)]
        length = held_from[covered + 1] - held_from[covered]
        of = np.repeat(np.arange(len(covered)), length)
        at = np.repeat(held_from[covered] - np.cumsum(length) + length, length) + np.arange(len(of))
        tuples = held[at]
        shows = there[tuples] > 0
        whole = np.bincount(of[~shows], minlength=len(covered)) == 0
        somewhere[covered[whole]] = True
        persons[number] = size[covered[whole]].sum()
        could = np.bincount(np.searchsorted(own, tuples[whole[of]]), minlength=len(own))
        places.append((own, could, many_of))
        for_each = [_distinct(of[shows], v, len(covered)) for v in rows.values[tuples[shows]].T]
        most[covered] = np.maximum(most[covered], np.min(for_each, axis=0))
        there[own] = 0
    joined = [np.concatenate([part[at] for part in places]) for at in range(3)]
    return _Fits(somewhere, most, persons, (joined[0], joined[1], joined[2]), alone)


def _inside(columns: Sequence[Coverage], number: int) -> Ints:
    """Return which persons the labels of a class cover."""
    first, *others = columns
    found: Ints = np.flatnonzero(_covers(first, first.codes, int(first.label_of[number])))
    for column in others:
        found = found[_covers(column, column.codes[found], int(column.label_of[number]))]
    return found


def _distinct(units: Ints, values: Ints, many_units: int) -> Ints:
    """Return how many values each of so many units has."""
    most = int(values.max(initial=0)) + 1
    return np.bincount(np.unique(units * most + values) // most, minlength=many_units)


def _covers(column: Coverage, codes: Ints, label: int) -> Bools:
    """Return which values of a column a label covers."""
    inside = (codes >= column.low[label]) & (codes <= column.high[label])
    gaps = column.flat[column.start[label] : column.end[label]]
    covered: Bools = inside & np.isin(codes, gaps) if len(gaps) else inside
    return covered


def _untold(said: str, example: str | None = None) -> list[Property]:
    return [Property(name, 0, None, None, said, example) for name in PROPERTIES]


def _series(rows: _Rows, fits: _Fits, k: int | None) -> Property:
    own, could, there = fits.places
    excess = np.bincount(own, np.maximum(there - could, 0), rows.count).astype(np.int64)
    total, held = _counts(rows.shown, rows.count), _counts(rows.held, rows.count)
    other = int(np.maximum(excess, total - held).clip(0).sum())
    lacking = max(int((~fits.somewhere).sum()), int((held - total).max(initial=0)))
    thin = 0 if k is None else int((fits.persons < k).sum())
    units = len(fits.somewhere)
    parts = []
    if other:
        parts.append(f"{many(other, 'row')} cannot be of a cohort of the series")
    if lacking:
        parts.append(f"at least {lacking:,} of {many(units, 'cohort')} cannot be whole in a class")
    if thin:
        parts.append(f"{many(thin, 'group')} of equal labels cannot have k = {k} persons present")
    said = "; ".join(parts) or (
        f"as far as a file shows it, {many(len(rows.shown), 'row')} are those of "
        f"{many(units, 'cohort')}, each whole in a class"
    )
    found = other + lacking + thin
    return Property("series", 0, found, found == 0, f"{said[0].upper()}{said[1:]}.")


def _companions(fits: _Fits, size: Ints, least: int) -> Property:
    below, persons = int(size[fits.most < least].sum()), int(size.sum())
    if below:
        meaning = (
            f"Of {many(persons, 'person')}, {below:,} in cohorts of which this file cannot show "
            f"l = {least} values."
        )
    else:
        meaning = (
            f"Bound: each of {many(persons, 'person')} shares all classes of all releases of the "
            f"series with persons of at least l = {least} values."
        )
    found = below / persons if persons else 0.0
    return Property("cohort_l", 0, found, not below, meaning, None)


def _waiting(persons: int, withheld: int, theirs: int) -> Property:
    said = f"{many(persons, 'person')} of the raw table wait{'s' if persons == 1 else ''}"
    said += f", and {withheld:,} more had to be withheld" if withheld else ""
    rows = ("no row is theirs", "1 row can only be theirs", "{} rows can only be theirs")
    none, one, more = (f"{said}; {each}." for each in rows)
    return none_of("waiting_rows", theirs, (none, one, more))


def _former(former: int, other: int) -> Property:
    said = f"{many(former, 'row')} of former members, of cohorts with somebody present"
    rows = ("", "; 1 more row fits no person", "; {} more rows fit no person")
    none, one, more = (f"{said}{each}." for each in rows)
    return none_of("former_rows", other, (none, one, more))
