"""Choose surplus rows that are released as labels alone, without link and values.

Each set of equal labels has rows of at least k persons, none of whom has more than 1/k of them.
"""

import numpy as np
import pyarrow as pa

from anon_sql.linked.options import LinkedCall
from anon_sql.linked.partition import LinkedPoints
from anon_sql.linked.rows import Bools, Ints, LinkedRows
from anon_sql.pipeline.partition import in_source_order, legal_partition, prepare
from anon_sql.pipeline.request import Relation, Source, checked

_PERSON = "person"


def unlinked_classes(
    call: LinkedCall, rows: LinkedRows, points: LinkedPoints | None, surplus: Bools
) -> Ints:
    """Return the class of each surplus row that may be released unlinked, int64[n]; -1 for
    others."""
    class_of = np.full(rows.count, -1, np.int64)
    surplus_rows = np.flatnonzero(surplus)
    surplus_rows = surplus_rows[np.lexsort((rows.order[surplus_rows],))]
    if len(np.unique(rows.person[surplus_rows])) < call.k:
        return class_of
    classes = _cut(call, rows, points, surplus_rows)
    for class_id in np.unique(classes):
        rows_of_class = surplus_rows[classes == class_id]
        class_of[rows_of_class[capped(rows.person[rows_of_class], call.k)]] = class_id
    return class_of


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


def _cut(
    call: LinkedCall, rows: LinkedRows, points: LinkedPoints | None, surplus_rows: Ints
) -> Ints:
    node = rows.source.node
    names = [] if points is None else node.quasi
    if not names:
        return np.zeros(len(surplus_rows), np.int64)
    types = {f"{c}": node.table.types[name] for c, name in enumerate(names)}
    request = checked(
        "anonymize",
        Relation({**types, _PERSON: "BIGINT"}, {}, call.threads, call.time_zone),
        call.arguments(quasi=list(types), entity=_PERSON),
    )
    positions = pa.array(surplus_rows)
    persons, code = np.unique(rows.person[surplus_rows], return_inverse=True)
    words = pa.array(
        [int(person + 1).to_bytes(8, "big") for person in range(len(persons))], pa.binary()
    )
    keys = pa.DictionaryArray.from_arrays(pa.array(code.reshape(-1).astype(np.int32)), words)
    source = Source(
        {f"{c}": rows.source.column(name).take(positions) for c, name in enumerate(names)},
        pa.array(rows.order[surplus_rows]),
        {_PERSON: keys},
    )
    prepared = prepare(source, request, None)
    partition = legal_partition(prepared.table, prepared.call, request.method)
    return in_source_order(prepared.table, partition.classes).astype(np.int64)
