"""Choose surplus rows that are released as labels alone, without link and values.

Each set of equal labels has rows of at least k persons, none of whom has more than 1/k of them.
"""

import numpy as np
import pyarrow as pa

from anon_sql.linked.options import Asked
from anon_sql.linked.partition import Points
from anon_sql.linked.rows import Bools, Ints, Rows
from anon_sql.pipeline.partition import in_source_order, legal_partition, prepare
from anon_sql.pipeline.request import Relation, Source, checked

_PERSON = "person"


def unlinked_classes(asked: Asked, rows: Rows, points: Points | None, surplus: Bools) -> Ints:
    """Return the class of each surplus row that may be released unlinked, int64[n]; else -1."""
    found = np.full(rows.count, -1, np.int64)
    own = np.flatnonzero(surplus)
    own = own[np.lexsort((rows.order[own],))]
    if len(np.unique(rows.person[own])) < asked.k:
        return found
    classes = _cut(asked, rows, points, own)
    for at in np.unique(classes):
        mine = own[classes == at]
        found[mine[capped(rows.person[mine], asked.k)]] = at
    return found


def capped(person: Ints, k: int) -> Bools:
    """Return which of m rows are kept so that no person has more than 1/k of those kept.

    The first rows of each person are kept, as many as possible; there are at least k persons.
    """
    _, code, many = np.unique(person, return_inverse=True, return_counts=True)
    most = int(many.max())
    while k * most > int(np.minimum(many, most).sum()):
        most -= 1
    code = code.reshape(-1)
    order = np.argsort(code, kind="stable")
    place = np.empty(len(person), np.int64)
    place[order] = np.arange(len(person)) - np.repeat(np.r_[0, many.cumsum()[:-1]], many)
    return place < most


def _cut(asked: Asked, rows: Rows, points: Points | None, own: Ints) -> Ints:
    node = rows.given.node
    names = [] if points is None else node.quasi
    if not names:
        return np.zeros(len(own), np.int64)
    types = {f"{at}": node.table.types[name] for at, name in enumerate(names)}
    request = checked(
        "anonymize",
        Relation({**types, _PERSON: "BIGINT"}, {}, asked.threads, asked.time_zone),
        asked.arguments(quasi=list(types), entity=_PERSON),
    )
    at = pa.array(own)
    persons, code = np.unique(rows.person[own], return_inverse=True)
    words = pa.array(
        [int(each + 1).to_bytes(8, "big") for each in range(len(persons))], pa.binary()
    )
    keys = pa.DictionaryArray.from_arrays(pa.array(code.reshape(-1).astype(np.int32)), words)
    source = Source(
        {f"{place}": rows.given.column(name).take(at) for place, name in enumerate(names)},
        pa.array(rows.order[own]),
        {_PERSON: keys},
    )
    prepared = prepare(source, request, None)
    found = legal_partition(prepared.table, prepared.call, request.method)
    return in_source_order(prepared.table, found.classes).astype(np.int64)
