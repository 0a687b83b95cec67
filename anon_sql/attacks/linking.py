"""An attacker who knows every quasi-identifier of a person."""

from typing import Any

import numpy as np
import pyarrow as pa

from anon_sql.attacks.matches import matches
from anon_sql.attacks.people import People

LINKED = pa.struct(
    [
        ("attribute", pa.string()),
        ("persons", pa.int64()),
        ("linked", pa.float64()),
        ("linked_share", pa.float64()),
        ("disclosed", pa.int64()),
        ("disclosed_share", pa.float64()),
    ]
)


def linking(known: People, left_out: int, sample: Any, seed: Any, threads: int) -> pa.Table:
    """Return a row of ``LINKED`` for each sensitive column, or raise AnonError.

    left_out: rows that the release leaves out. Each may be anybody's: it counts among the matching
    rows, but shows no sensitive value.
    """
    persons, _ = known.drawn(sample, seed)
    every = np.broadcast_to(np.arange(len(known.columns)), (len(persons), len(known.columns)))
    found = matches(known, persons, every.copy(), threads)
    rows = found.rows + max(left_out, 0)
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
    return pa.Table.from_pylist(told, pa.schema(list(LINKED)))
