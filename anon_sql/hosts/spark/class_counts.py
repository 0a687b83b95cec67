"""Count the classes of a released region, so that Spark can check those of all regions together."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.core.arrow import integers
from anon_sql.core.printing import evaluated, sql_types
from anon_sql.hosts.spark.packed_rows import PACKED, ROWS
from anon_sql.pipeline.release_table import label_hash
from anon_sql.pipeline.request import Request
from anon_sql.routing.whole_table import sort_keys

SLICE, CLASS, COLUMN, VALUE, PERSON = "slice", "class", "column", "value", "person"


def count_schema(request: Request) -> pa.Schema:
    """Return the columns of what a released region sends: its rows packed, and its counts.

    ``SLICE`` numbers the partition that the rows go to, by their class. Packed rows are values of
    ``PACKED`` with their number in ``ROWS``. All others are counts of rows: of the class ``CLASS``,
    a hash of its labels, if ``COLUMN`` is 0, and else also of the value ``VALUE`` of this protected
    column, from 1. With an entity they are of one ``PERSON``.
    """
    fields = [(SLICE, pa.int32()), (PACKED, pa.binary()), (CLASS, pa.int64())]
    fields += [(COLUMN, pa.int32()), (VALUE, pa.binary()), (ROWS, pa.int64())]
    return pa.schema(fields + ([] if request.entity is None else [(PERSON, pa.binary())]))


def class_of(released: pa.Table, request: Request) -> npt.NDArray[np.uint64]:
    """Return the class of each released row, a hash of its labels, uint64[n]."""
    labels = {name: released.column(name).combine_chunks() for name in request.quasi}
    (found,) = evaluated(labels, sql_types(list(labels.values())), [label_hash(request)])
    hashes: npt.NDArray[np.uint64] = integers(found).astype(np.uint64)
    return hashes


def class_counts(
    released: pa.Table, request: Request, classes: npt.NDArray[np.uint64], slices: int
) -> pa.Table:
    """Return the counts of the classes of released rows, which have the entity if there is one."""
    persons = {}
    if request.entity is not None:
        persons[PERSON] = _keys(released, request.entity)
    found = []
    for column, name in enumerate([None, *request.protected]):
        values = {} if name is None else {VALUE: _keys(released, name)}
        rows = pa.table({CLASS: classes.view(np.int64), **values, **persons})
        counted = rows.group_by(rows.column_names, use_threads=False).aggregate([([], "count_all")])
        counted = counted.rename_columns([*rows.column_names, ROWS])
        found.append(counted.append_column(COLUMN, pa.array([column] * len(counted), pa.int32())))
    counts = pa.concat_tables(found, promote_options="default")
    of_row = integers(counts.column(CLASS).combine_chunks()).view(np.uint64)
    number = pa.array((of_row % np.uint64(slices)).astype(np.int32))
    counts = counts.append_column(SLICE, number).append_column(
        PACKED, pa.nulls(len(counts), pa.binary())
    )
    if VALUE not in counts.column_names:
        counts = counts.append_column(VALUE, pa.nulls(len(counts), pa.binary()))
    schema = count_schema(request)
    return counts.select(schema.names).cast(schema)


def _keys(released: pa.Table, name: str) -> pa.Array:
    return sort_keys(released.column(name).combine_chunks()).cast(pa.binary())
