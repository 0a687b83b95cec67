"""Check a release as a whole within its plan: Spark adds up the class counts of all regions.

No row of a release is returned before all of it has passed: rows are joined, still packed, with the
one row of the check, which Spark computes first. Both read the same shuffle of what the regions
have sent.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.core.arrow import integers
from anon_sql.core.printing import evaluated, sql_types
from anon_sql.core.table import Domain
from anon_sql.errors import Argument
from anon_sql.hosts.spark.frame import PACKED, ROWS, SPARK, sql_functions
from anon_sql.pipeline.compute import most_left_out
from anon_sql.pipeline.request import Request
from anon_sql.pipeline.table import label_hash
from anon_sql.privacy.class_values import ClassValues, Ground, TableValues, class_values
from anon_sql.privacy.constraint import satisfy
from anon_sql.regions.sql import sort_keys

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
    (values,) = evaluated(labels, sql_types(list(labels.values())), [label_hash(request)])
    hashes: npt.NDArray[np.uint64] = integers(values).astype(np.uint64)
    return hashes


def class_counts(
    released: pa.Table, request: Request, classes: npt.NDArray[np.uint64], slices: int
) -> pa.Table:
    """Return the counts of the classes of released rows, which have the entity if there is one."""
    persons = {}
    if request.entity is not None:
        persons[PERSON] = _keys(released, request.entity)
    count_tables = []
    for column, name in enumerate([None, *request.protected]):
        values = {} if name is None else {VALUE: _keys(released, name)}
        rows = pa.table({CLASS: classes.view(np.int64), **values, **persons})
        counted = rows.group_by(rows.column_names, use_threads=False).aggregate([([], "count_all")])
        counted = counted.rename_columns([*rows.column_names, ROWS])
        count_tables.append(
            counted.append_column(COLUMN, pa.array([column] * len(counted), pa.int32()))
        )
    counts = pa.concat_tables(count_tables, promote_options="default")
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


def checked(sent: Any, request: Request, domain: Domain, named: Mapping[str, Any]) -> Any:
    """Return what the regions sent, which fails in Spark as an AnonError would unless all is legal.

    sent: a shuffle of rows with the columns of ``count_schema``. named: columns with a
    hierarchy.
    """
    sql = sql_functions(request.function)
    classes = _classes(sent, request)
    totals = classes.agg(
        sql.count_if(sql.col("size") < request.k).alias("illegal"),
        sql.coalesce(sql.sum("rows"), sql.lit(0)).alias("rows"),
        sql.coalesce(sql.sum("packed"), sql.lit(0)).alias("packed"),
        sql.sum("used").alias("used"),
    )
    all_rows = sql.col("rows") == domain.rows
    if request.suppressed == "drop":
        all_rows = sql.col("rows") <= domain.rows
    all_rows = all_rows & (sql.col("packed") == sql.col("rows")) & (sql.col("used") >= 0)
    same = "have the rows of the table, which must be the same each time that Spark reads it"
    passed = totals.where(_required(request, all_rows, same)).where(
        _required(request, sql.col("illegal") == 0, "have k rows in every class")
    )
    if request.suppressed == "drop":
        most = most_left_out(request, domain.rows)
        least = 1 if most is None else max(1, domain.rows - most)
        enough_rows = sql.col("rows") >= least
        keep = Argument("suppressed", "keep").spelled(SPARK)
        rule = f"have at least {least:,} of {domain.rows:,} rows; {keep} shows all"
        passed = passed.where(_required(request, enough_rows, rule))
    checks = [passed.select()]
    if request.protected:
        test = _Legal(request, domain, frozenset(named))
        wrong = classes.select("held", "used").mapInArrow(test, "illegal long")
        legal = sql.coalesce(sql.sum("illegal"), sql.lit(0)) == 0
        rule = f"{satisfy(request.models)} in every class"
        verdict = wrong.agg(legal.alias("legal")).where(_required(request, sql.col("legal"), rule))
        checks.append(verdict.select())
    for check in checks:
        sent = sent.crossJoin(sql.broadcast(check))
    return sent


def _classes(sent: Any, request: Request) -> Any:
    """Return each class: its size in rows or people, its rows, and the values that it holds.

    The rows that are packed are a class without a name. ``used`` is 0 and read from columns that
    nothing else reads, so that all checks share one shuffle: Spark would otherwise shuffle the
    columns of each check by themselves, and release all regions once for each of these shuffles.
    """
    sql = sql_functions(request.function)
    rows, column = sql.sum(ROWS), sql.col(COLUMN)
    unread = sql.least(sql.coalesce(sql.length(PACKED), sql.col(SLICE)), sql.col(ROWS), sql.lit(0))
    counted = rows if request.entity is None else sql.count_distinct(PERSON)
    cells = sent.groupBy(CLASS, COLUMN, VALUE).agg(
        rows.alias("rows"), counted.alias("count"), sql.sum(unread).alias("used")
    )
    cell = sql.struct(column, sql.col(VALUE), sql.col("count"))
    return cells.groupBy(CLASS).agg(
        sql.max(sql.when(column == 0, sql.col("count"))).alias("size"),
        sql.sum(sql.when(column == 0, sql.col("rows"))).alias("rows"),
        sql.sum(sql.when(column.isNull(), sql.col("rows"))).alias("packed"),
        sql.sum("used").alias("used"),
        *(
            [sql.collect_list(sql.when(column > 0, cell)).alias("held")]
            if request.protected
            else []
        ),
    )


def _required(request: Request, condition: Any, rule: str) -> Any:
    """Return a condition that is true or fails."""
    sql = sql_functions(request.function)
    text = f"{request.function}: the release must {rule}; nothing was released"
    return sql.when(condition, sql.lit(True)).otherwise(
        sql.raise_error(sql.lit(text)).cast("boolean")
    )


@dataclass(frozen=True)
class _Legal:
    """A function that Spark calls with classes, and that counts those that are illegal."""

    request: Request
    domain: Domain
    named: frozenset[str]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the number of illegal classes of each batch."""
        for batch in batches:
            yield pa.record_batch({"illegal": pa.array([self._illegal(batch)], pa.int64())})

    def _illegal(self, batch: pa.RecordBatch) -> int:
        classes = batch.column("held")
        if len(classes) == 0:
            return 0
        class_of = np.repeat(np.arange(len(classes)), np.diff(integers(classes.offsets)))
        cells = classes.flatten()
        column, keys = integers(cells.field(COLUMN)), cells.field(VALUE)
        counts = integers(cells.field("count")).astype(np.int64)
        illegal = 0
        for number, name in enumerate(self.request.protected, start=1):
            places = np.flatnonzero(column == number)
            _, dense = np.unique(class_of[places], return_inverse=True)
            illegal += self._wrong(
                name, class_values(dense, keys.take(pa.array(places)), counts[places])
            )
        return illegal

    def _wrong(self, name: str, values: ClassValues) -> int:
        """Return the number of classes whose values of a protected column are illegal."""
        request, raw_values = self.request, self.domain.sensitive[name]
        ordered = request.protected[name] and name not in self.named and not raw_values.nulls
        table = TableValues(raw_values.keys, raw_values.counts, Ground(ordered))
        fails = [model.fails(model.measure(values, table)) for model in request.models]
        wrong = np.any(fails, axis=0)
        wrong[values.class_of[values.places(table) < 0]] = True  # a value that the table lacks
        return int(wrong.sum())
