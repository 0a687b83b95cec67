"""The sensitive values of every class beside those of the raw table, by their marks."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.audit.compared import Compared, Marks, named
from anon_sql.core.arrow import integers
from anon_sql.core.labels.coverage import Ints
from anon_sql.measures.spread import NULL, Held, Spread


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
    raw, shown = given.raw_marks(name), given.marks(name)
    distinct = named(given.raw.distinct, name)
    marks = integers(distinct.field("mark"))
    keys, values = distinct.field("key"), distinct.field("value")
    if not len(distinct):  # no order is asked for
        marks = np.unique(raw)
        keys = pa.array([mark.tobytes() if mark else NULL for mark in marks], pa.binary())
    order = pc.sort_indices(keys)
    keys, marks = keys.take(order), marks[integers(order)]
    foreign = np.setdiff1d(shown, marks)
    every = np.append(marks, foreign)
    unknown = pa.array([b"\xff" + mark.tobytes() for mark in foreign], keys.type)
    place = np.argsort(every)
    code_of = place[np.searchsorted(every, shown, sorter=place)]
    held_of = place[np.searchsorted(every, raw, sorter=place)]
    who = None if whose is None else given.raw_marks(str(given.asked.entity))
    groups, counts = _counted(given.class_of.astype(np.int64) * len(every) + code_of, whose)
    _, often = _counted(held_of, who)
    return ClassValues(
        Spread(
            groups // len(every), groups % len(every), pa.concat_arrays([keys, unknown]), counts
        ),
        Held(keys, often),
        values.take(order) if len(distinct) else None,
        bool(len(foreign)),
    )


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
