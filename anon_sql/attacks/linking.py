"""An attacker who knows every quasi-identifier of a person."""

from typing import Any

import numpy as np
import pyarrow as pa

from anon_sql.arrow import first
from anon_sql.attacks.matches import matches
from anon_sql.attacks.people import People
from anon_sql.measures.checked import types_of
from anon_sql.registry import udf

_FUNCTION = "attack_linking"


@udf(
    "__anon_attack_linking",
    "STRUCT(attribute VARCHAR, persons BIGINT, linked DOUBLE, linked_share DOUBLE, "
    "disclosed BIGINT, disclosed_share DOUBLE)[]",
)
def linking(call: Any, types: Any, people: Any, shows: Any, counted: Any, trees: Any) -> pa.Array:
    """A row a sensitive column, or an AnonError.

    A row that the release leaves out may be anybody's: it counts among the matching rows, but
    shows no sensitive value.
    """
    asked = first(call)
    known = People(_FUNCTION, asked, types_of(types), people, shows, counted, trees)
    persons, _ = known.drawn(asked["sample"], asked["seed"])
    every = np.broadcast_to(np.arange(len(known.columns)), (len(persons), len(known.columns)))
    found = matches(known, persons, every.copy(), asked["threads"])
    rows = found.rows + max(asked["rows"] - asked["shown"], 0)
    linked = float((1 / rows[rows > 0]).sum())
    disclosed = ((found.varied == 1) & (found.mine > 0)).sum(axis=0)
    many = len(persons)
    told = [
        {
            "attribute": name,
            "persons": many,
            "linked": linked,
            "linked_share": linked / many if many else None,
            "disclosed": int(disclosed[at]),
            "disclosed_share": disclosed[at] / many if many else None,
        }
        for at, name in enumerate(known.sensitive)
    ]
    return pa.array([told])
