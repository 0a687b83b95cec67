"""An attacker who knows some of a person's quasi-identifiers."""

from typing import Any

import numpy as np
import pyarrow as pa

from anon_sql.arrow import first
from anon_sql.attacks.matches import Counts, matches
from anon_sql.attacks.people import People
from anon_sql.errors import AnonError
from anon_sql.measures.checked import types_of
from anon_sql.options import Whole
from anon_sql.registry import udf

_FUNCTION = "attack_background"


@udf(
    "__anon_attack_background",
    "STRUCT(attribute VARCHAR, persons BIGINT, guessed DOUBLE, guessed_share DOUBLE, "
    "baseline DOUBLE)[]",
)
def background(
    call: Any, types: Any, people: Any, shows: Any, counted: Any, trees: Any
) -> pa.Array:
    """A row a sensitive column, or an AnonError."""
    asked = first(call)
    known = People(_FUNCTION, asked, types_of(types), people, shows, counted, trees)
    many = Whole(0).read(_FUNCTION, "known", asked["known"])
    if many > len(asked["quasi"]):
        rule = "known must be at most the number of quasi-identifiers"
        raise AnonError(_FUNCTION, rule, f"{many} of {len(asked['quasi'])}")
    persons, draw = known.drawn(asked["sample"], asked["seed"])
    chosen = draw.random((len(persons), len(known.columns))).argsort(axis=1)[:, :many]
    found = matches(known, persons, np.ascontiguousarray(chosen), asked["threads"])
    right = (found.mine > 0) & (found.mine == found.most)
    guessed = (right / np.maximum(found.ties, 1)).sum(axis=0)
    baseline = _baseline(known, persons)
    told = [
        {
            "attribute": name,
            "persons": len(persons),
            "guessed": float(guessed[at]),
            "guessed_share": guessed[at] / len(persons) if len(persons) else None,
            "baseline": baseline[at] / len(persons) if len(persons) else None,
        }
        for at, name in enumerate(known.sensitive)
    ]
    return pa.array([told])


def _baseline(known: People, persons: Counts) -> list[float]:
    """By sensitive column how many persons have the value that is the most frequent of all."""
    total = np.bincount(known.values, known.counts, minlength=len(known.column_of))
    found = []
    for at, own in enumerate(known.own[persons].T):
        of = np.where(known.column_of == at, total, 0)
        common = np.flatnonzero((of == of.max(initial=0)) & (of > 0))
        found.append(float(np.isin(own, common).sum() / max(len(common), 1)))
    return found
