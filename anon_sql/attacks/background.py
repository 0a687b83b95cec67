"""An attacker who knows some of a person's quasi-identifiers."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.attacks.majority import majority
from anon_sql.attacks.matches import matches
from anon_sql.attacks.people import People
from anon_sql.core.labels.coverage import Ints
from anon_sql.core.options import Choice, Whole
from anon_sql.errors import AnonError

GUESSED = pa.struct(
    [
        ("attribute", pa.string()),
        ("persons", pa.int64()),
        ("guessed", pa.float64()),
        ("guessed_share", pa.float64()),
        ("baseline", pa.float64()),
    ]
)
MODE = Choice(("matching", "majority"))


def background(
    people: People, known: Any, sample: Any, seed: Any, mode: Any, threads: int
) -> pa.Table:
    """Return a row of ``GUESSED`` for each sensitive column, or raise AnonError.

    known: how many quasi-identifiers the attacker knows of each person, drawn by ``seed``. mode:
    'matching', or 'majority' for an attacker who knows the class (see ``majority``).
    """
    asked = MODE.read(people.function, "mode", mode)
    many, columns = Whole(0).read(people.function, "known", known), len(people.columns)
    if many > columns:
        rule = "known must be at most the number of quasi-identifiers"
        raise AnonError(people.function, rule, f"{many} of {columns}")
    persons, draw = people.drawn(sample, seed)
    if asked == "majority":
        return _told(people, int(people.sizes.sum()), *majority(people))
    chosen = draw.random((len(persons), columns)).argsort(axis=1)[:, :many]
    found = matches(people, persons, np.ascontiguousarray(chosen), threads)
    right = (found.mine > 0) & (found.mine == found.most)
    guessed = (right / np.maximum(found.ties, 1)).sum(axis=0)
    return _told(people, len(persons), guessed, _baseline(people, persons))


def _told(
    people: People, persons: int, guessed: npt.NDArray[np.float64], baseline: Sequence[float] | Ints
) -> pa.Table:
    told = [
        {
            "attribute": name,
            "persons": persons,
            "guessed": float(guessed[at]),
            "guessed_share": guessed[at] / persons if persons else None,
            "baseline": baseline[at] / persons if persons else None,
        }
        for at, name in enumerate(people.sensitive)
    ]
    return pa.Table.from_pylist(told, pa.schema(list(GUESSED)))


def _baseline(people: People, persons: Ints) -> list[float]:
    """By sensitive column how many persons have the value that is the most frequent of all."""
    shown, found = people.shown, []
    for at, own in enumerate(people.own[persons].T):
        of = np.where(people.column_of == at, shown, 0)
        common = np.flatnonzero((of == of.max(initial=0)) & (of > 0))
        found.append(float(np.isin(own, common).sum() / max(len(common), 1)))
    return found
