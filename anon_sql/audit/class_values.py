"""The sensitive values of every class beside those of the raw table, by their marks."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.audit.compared import Compared, named
from anon_sql.audit.hashed import Hashed, Marks
from anon_sql.core.arrow import integers
from anon_sql.core.labels.coverage import Ints
from anon_sql.measures.spread import NULL, Held, Spread

BLOCK = 1_000_000  # rows that are counted at a time


@dataclass(frozen=True)
class ClassValues:
    """One sensitive column; of persons, each value counts once for each.

    values: what each key of ``held`` stands for, where a hierarchy asks for it. lacking: whether
    the release has a value that the raw table lacks.
    """

    spread: Spread
    held: Held
    values: pa.Array | None
    lacking: bool


def class_values(given: Compared, name: str, whose: Marks | None) -> ClassValues:
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
    return ClassValues(
        Spread(
            groups // len(every), groups % len(every), pa.concat_arrays([keys, unknown]), counts
        ),
        Held(keys, often),
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
