"""Check whether a file shows the cohorts of a series, and no other people.

A file does not show which cohort is in which class. All checks except those of the numbers of rows
are therefore necessary conditions. A cohort fits into a class if the labels cover its present
members and the people who wait for it, and if the class shows all its tuples.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

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
from anon_sql.series.next import SeriesTable
from anon_sql.series.state import NOWHERE, State

PROPERTIES = ("series", "cohort_l", "waiting_rows", "former_rows")
MAX_COMPARISONS = 5_000_000_000  # most comparisons of a person with the label of a class


@dataclass(frozen=True)
class SeriesClasses:
    """The c classes of a file. labels: of each quasi-identifier, an array of c. tuples: per class,
    a list of JSON texts as in a state. others: columns whose types differ from those of the
    series."""

    labels: Mapping[str, pa.Array]
    tuples: pa.ListArray
    others: Sequence[str]


@dataclass(frozen=True)
class _NumberedTuples:
    """Tuples of values, numbered below ``count``.

    values: int64[count, s], the sensitive values of each tuple. unit_of_tuple, cohort_tuples:
    int64[r], the cohort and the tuple of each tuple of the u cohorts with present members.
    class_of, row_tuples: int64[m], the class, ascending, and the tuple of each row of the file.
    person_tuples: int64[n], the tuple of each person.
    """

    count: int
    values: Ints
    unit_of_tuple: Ints
    cohort_tuples: Ints
    class_of: Ints
    row_tuples: Ints
    person_tuples: Ints


class _TupleCounts(NamedTuple):
    """One entry per class and tuple that the class shows. tuples: the tuple. fitting: the number of
    tuples of cohorts that fit into the class. rows: the number of rows."""

    tuples: Ints
    fitting: Ints
    rows: Ints


@dataclass(frozen=True)
class _Fits:
    """How u cohorts and n people fit into c classes.

    has_class: bool[u], whether any class fits. least_shown: int64[u], the number of the cohort's
    values that a class shows, in the sensitive column with the fewest and the class with the most.
    persons_per_class: int64[c], present members of cohorts that fit. has_own_class: bool[n],
    whether a class covers the person and shows the person's tuple.
    """

    has_class: Bools
    least_shown: Ints
    persons_per_class: Ints
    tuple_counts: _TupleCounts
    has_own_class: Bools


def series_properties(
    state: State,
    table: SeriesTable,
    shown: SeriesClasses,
    trees: Mapping[str, pa.StructArray],
    k: int | None,
) -> list[Property]:
    """Return the properties of a file that are about its series.

    state: that of the raw table; trees: rows of hierarchies by column; k: None to ask for none.
    """
    cohorts = state.cohort_of(table.persons)
    position = pc.index_in(table.persons.hashes, value_set=state.waiting["person"].combine_chunks())
    cover = integers(state.waiting["cohort"].combine_chunks().take(position))
    present_cohorts = np.unique(cohorts[cohorts != NOWHERE])
    rows = _rows(state, table, shown, present_cohorts)
    present = cohorts != NOWHERE
    units = np.where(present, cohorts, cover)
    unit_of = np.where(
        np.isin(units, present_cohorts),
        np.searchsorted(present_cohorts, units),
        len(present_cohorts),
    )
    if len(shown.tuples) * len(cohorts) > MAX_COMPARISONS:
        return _undecided("The rows are too many to compare all persons with all labels.")
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
    fits = _fits(rows, columns, unit_of, present, len(present_cohorts))
    series_row = _series(rows, fits, k)
    surplus = np.maximum(
        _counts(rows.row_tuples, rows.count) - _counts(rows.cohort_tuples, rows.count), 0
    )
    waits = np.bincount(rows.person_tuples[~present & fits.has_own_class], minlength=rows.count)
    waiting_rows = int(np.minimum(surplus, waits).sum())
    withheld = int(true(pc.is_in(table.persons.hashes, value_set=state.withheld)).sum())
    if shown.others and series_row.passed is False:
        sentence = (
            "Columns have other types than in the series, so their values cannot be compared."
        )
        return _undecided(sentence, ", ".join(shown.others))
    return [
        series_row,
        _companions(fits, np.bincount(unit_of[present], minlength=len(present_cohorts)), state.l),
        _waiting(int((~present).sum()) - withheld, withheld, waiting_rows),
        _former(len(rows.cohort_tuples) - int(present.sum()), int(surplus.sum()) - waiting_rows),
    ]


def _rows(state: State, table: SeriesTable, shown: SeriesClasses, cohorts: Ints) -> _NumberedTuples:
    cohort = integers(state.tuples["cohort"].combine_chunks())
    is_present = np.isin(cohort, cohorts)
    texts = [
        state.tuples["tuple"].combine_chunks().filter(pa.array(is_present)),
        shown.tuples.flatten(),
        table.persons.tuples.dictionary_decode(),
    ]
    coded = pa.concat_arrays(texts).dictionary_encode()
    codes = coded.indices.to_numpy().astype(np.int64)
    cohort_tuples, row_tuples, person_tuples = np.split(
        codes, np.cumsum([len(part) for part in texts])[:-1]
    )
    values = np.empty((len(coded.dictionary), len(table.request.sensitive)), np.int64)
    for column, name in enumerate(table.request.sensitive):
        column_values = [json.loads(text)[name] for text in coded.dictionary.to_pylist()]
        values[:, column] = np.unique([str(value) for value in column_values], return_inverse=True)[
            1
        ]
    class_of = np.repeat(np.arange(len(shown.tuples)), integers(pc.list_value_length(shown.tuples)))
    unit_of_tuple = np.searchsorted(cohorts, cohort[is_present])
    return _NumberedTuples(
        len(values), values, unit_of_tuple, cohort_tuples, class_of, row_tuples, person_tuples
    )


def _counts(codes: Ints, count: int) -> Ints:
    return np.bincount(codes, minlength=count)


def _fits(
    rows: _NumberedTuples, columns: Sequence[Coverage], unit_of: Ints, present: Bools, units: int
) -> _Fits:
    """Compare each class with all people and with the tuples of cohorts.

    unit_of: int64[n], the cohort of each person, or the one that a person waits for; ``units`` if
    there is none.
    """
    classes = len(columns[0].label_of)
    starts = np.searchsorted(rows.class_of, np.arange(classes + 1))
    by_unit = np.argsort(rows.unit_of_tuple, kind="stable")
    cohort_tuples, tuple_starts = (
        rows.cohort_tuples[by_unit],
        np.searchsorted(rows.unit_of_tuple[by_unit], np.arange(units + 1)),
    )
    persons_of = np.bincount(unit_of, minlength=units + 1)
    size = np.bincount(unit_of[present], minlength=units + 1)[:units]
    has_class, least_shown = np.zeros(units, np.bool_), np.zeros(units, np.int64)
    persons, has_own_class = np.zeros(classes, np.int64), np.zeros(len(unit_of), np.bool_)
    counts: list[tuple[Ints, Ints, Ints]] = []
    rows_of_tuple = np.zeros(rows.count, np.int64)  # rows of the class by tuple
    for class_id in range(classes):
        stopping.check(NAME)
        inside = _inside(columns, class_id)
        distinct_tuples, tuple_rows = np.unique(
            rows.row_tuples[starts[class_id] : starts[class_id + 1]], return_counts=True
        )
        rows_of_tuple[distinct_tuples] = tuple_rows
        has_own_class[inside] |= rows_of_tuple[rows.person_tuples[inside]] > 0
        near, inside_count = np.unique(unit_of[inside], return_counts=True)
        covered = near[(inside_count == persons_of[near]) & (near < units)]
        length = tuple_starts[covered + 1] - tuple_starts[covered]
        unit_index = np.repeat(np.arange(len(covered)), length)
        positions = np.repeat(
            tuple_starts[covered] - np.cumsum(length) + length, length
        ) + np.arange(len(unit_index))
        tuples = cohort_tuples[positions]
        shows = rows_of_tuple[tuples] > 0
        whole = np.bincount(unit_index[~shows], minlength=len(covered)) == 0
        has_class[covered[whole]] = True
        persons[class_id] = size[covered[whole]].sum()
        could = np.bincount(
            np.searchsorted(distinct_tuples, tuples[whole[unit_index]]),
            minlength=len(distinct_tuples),
        )
        counts.append((distinct_tuples, could, tuple_rows))
        shown_values = [
            _distinct(unit_index[shows], v, len(covered)) for v in rows.values[tuples[shows]].T
        ]
        least_shown[covered] = np.maximum(least_shown[covered], np.min(shown_values, axis=0))
        rows_of_tuple[distinct_tuples] = 0
    joined = _TupleCounts(*(np.concatenate(column) for column in zip(*counts, strict=True)))
    return _Fits(has_class, least_shown, persons, joined, has_own_class)


def _inside(columns: Sequence[Coverage], number: int) -> Ints:
    """Return which persons the labels of a class cover."""
    first, *others = columns
    persons: Ints = np.flatnonzero(_covers(first, first.codes, int(first.label_of[number])))
    for column in others:
        persons = persons[_covers(column, column.codes[persons], int(column.label_of[number]))]
    return persons


def _distinct(units: Ints, values: Ints, many_units: int) -> Ints:
    """Return the number of distinct values of each unit, int64[many_units]."""
    width = int(values.max(initial=0)) + 1
    return np.bincount(np.unique(units * width + values) // width, minlength=many_units)


def _covers(column: Coverage, codes: Ints, label: int) -> Bools:
    """Return which values of a column a label covers."""
    inside = (codes >= column.low[label]) & (codes <= column.high[label])
    gaps = column.flat[column.start[label] : column.end[label]]
    covered: Bools = inside & np.isin(codes, gaps) if len(gaps) else inside
    return covered


def _undecided(meaning: str, example: str | None = None) -> list[Property]:
    return [Property(name, 0, None, None, meaning, example) for name in PROPERTIES]


def _series(rows: _NumberedTuples, fits: _Fits, k: int | None) -> Property:
    tuples, fitting, shown = fits.tuple_counts
    excess = np.bincount(tuples, np.maximum(shown - fitting, 0), rows.count).astype(np.int64)
    total, in_series = _counts(rows.row_tuples, rows.count), _counts(rows.cohort_tuples, rows.count)
    other = int(np.maximum(excess, total - in_series).clip(0).sum())
    lacking = max(int((~fits.has_class).sum()), int((in_series - total).max(initial=0)))
    thin = 0 if k is None else int((fits.persons_per_class < k).sum())
    units = len(fits.has_class)
    parts = []
    if other:
        parts.append(f"{many(other, 'row')} cannot be of a cohort of the series")
    if lacking:
        parts.append(f"at least {lacking:,} of {many(units, 'cohort')} cannot be whole in a class")
    if thin:
        parts.append(f"{many(thin, 'group')} of equal labels cannot have k = {k} persons present")
    sentence = "; ".join(parts) or (
        f"as far as a file shows it, {many(len(rows.row_tuples), 'row')} are those of "
        f"{many(units, 'cohort')}, each whole in a class"
    )
    violations = other + lacking + thin
    return Property(
        "series", 0, violations, violations == 0, f"{sentence[0].upper()}{sentence[1:]}."
    )


def _companions(fits: _Fits, size: Ints, required: int) -> Property:
    below, persons = int(size[fits.least_shown < required].sum()), int(size.sum())
    if below:
        meaning = (
            f"Of {many(persons, 'person')}, {below:,} in cohorts of which this file cannot show "
            f"l = {required} values."
        )
    else:
        meaning = (
            f"Bound: each of {many(persons, 'person')} shares all classes of all releases of the "
            f"series with persons of at least l = {required} values."
        )
    share = below / persons if persons else 0.0
    return Property("cohort_l", 0, share, not below, meaning, None)


def _waiting(persons: int, withheld: int, rows_of_waiting: int) -> Property:
    sentence = f"{many(persons, 'person')} of the raw table wait{'s' if persons == 1 else ''}"
    sentence += f", and {withheld:,} more had to be withheld" if withheld else ""
    endings = ("no row is theirs", "1 row can only be theirs", "{} rows can only be theirs")
    none, one, more = (f"{sentence}; {ending}." for ending in endings)
    return none_of("waiting_rows", rows_of_waiting, (none, one, more))


def _former(former: int, other: int) -> Property:
    sentence = f"{many(former, 'row')} of former members, of cohorts with somebody present"
    rows = ("", "; 1 more row fits no person", "; {} more rows fit no person")
    none, one, more = (f"{sentence}{ending}." for ending in rows)
    return none_of("former_rows", other, (none, one, more))
