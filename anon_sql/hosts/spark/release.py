"""Release a DataFrame region by region: plan on the driver, release in the tasks of Spark."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from anon_sql.core.hierarchy.tree import rows_of
from anon_sql.core.labels.types import LABEL, SET, arrow_type, is_range
from anon_sql.core.parameters import Whole
from anon_sql.core.printing import use_threads
from anon_sql.core.table import Domain
from anon_sql.errors import AnonError, SpelledAs
from anon_sql.hosts.arrow.database import Settings, cursor
from anon_sql.hosts.arrow.release import looked_at
from anon_sql.hosts.arrow.rows import of_arrow
from anon_sql.hosts.spark.checking import SLICE, checked, class_counts, class_of, count_schema
from anon_sql.hosts.spark.frame import (
    BATCH,
    PACKED,
    ROWS,
    SPARK,
    SparkFrame,
    Unpacking,
    column_of,
    described,
    grouped,
    hierarchy_rows,
    packed,
    requested,
    spark_schema,
    sql_functions,
    sql_types_of_spark,
    unpacked,
)
from anon_sql.hosts.spark.routing import SparkRows, compiled_once
from anon_sql.methods.method import release_methods
from anon_sql.pipeline.request import Request
from anon_sql.pipeline.table import release_table
from anon_sql.regions.rows import MAX_DICTIONARY_SHARE, few_coded, joined_runs
from anon_sql.regions.sql import REGION


@dataclass(frozen=True)
class RegionTask:
    """A function that Spark calls with the packed rows of one region.

    paths: the rows of the hierarchy. domain: of the whole table. rows: the number of rows of each
    region when they were counted, empty if they were not. slices: into which released rows are
    divided by their class.
    """

    request: Request
    paths: pa.StructArray | None
    domain: Domain
    rows: tuple[int, ...]
    slices: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the released rows packed, and the counts of classes, as ``count_schema`` says.

        Raises AnonError unless the rows are one region as counted.
        """
        pa.set_cpu_count(1)
        use_threads(1)
        table = self._region(batches)
        if table is None:
            return
        request = self.request
        if request.entity is not None:  # its values come back beside the labels, to be counted
            request = replace(request, kept=tuple(dict.fromkeys([*request.kept, request.entity])))
        with SpelledAs(SPARK), compiled_once(request.function, self._kernels):
            released = release_table(table, request, self.paths, self.domain, coded=True)
        del table
        yield from self.sent(released)

    def sent(self, released: pa.Table) -> Iterator[pa.RecordBatch]:
        """Give released rows, with the entity if there is one, as they are sent to Spark."""
        request, schema = self.request, count_schema(self.request)
        classes = class_of(released, request)
        yield from class_counts(released, request, classes, self.slices).to_batches(BATCH)
        names = [n for n in released.column_names if n in {*request.quasi, *request.kept}]
        rows = few_coded(
            released.select(names), released.num_rows / self.slices * MAX_DICTIONARY_SHARE
        )
        numbers = (classes % np.uint64(self.slices)).astype(np.int32)
        with compiled_once(request.function, "packing"):
            groups = grouped(rows, numbers, self.slices)
        if released.num_rows == 0:  # Spark skips the check of a release of which nothing is sent
            yield _one_row({SLICE: 0, ROWS: 0}, schema)
        del released, rows
        for number, slice_rows in groups:
            yield _one_row(
                {SLICE: number, PACKED: packed(slice_rows), ROWS: slice_rows.num_rows}, schema
            )

    @property
    def _kernels(self) -> str:
        """Return a text that differs where a release calls other kernels."""
        request = self.request
        kinds = sorted({*request.quasi.values()})
        rules = (bool(request.protected), request.entity is not None, self.paths is not None)
        models = [type(model).__name__ for model in request.models]
        return f"{request.function} {request.options} {models} {request.format} {kinds} {rules}"

    def _region(self, batches: Iterator[pa.RecordBatch]) -> pa.Table | None:
        """Return the rows of the region; None for a task without rows.

        Columns of text may have a dictionary.
        """
        tables: list[pa.Table] = []
        count, region = 0, None
        for batch in batches:
            for number, rows in zip(batch.column(REGION).to_pylist(), unpacked(batch), strict=True):
                region = number if region is None else region
                count += rows.num_rows
                if self.rows and (number != region or count > self.rows[region]):
                    raise self._changed()
                tables.append(rows)
        if region is None:
            return None
        if self.rows and count != self.rows[region]:
            raise self._changed()
        return joined_runs(tables, tables[0].column_names)

    def _changed(self) -> AnonError:
        return AnonError(
            self.request.function,
            "the DataFrame must have the same rows each time that Spark reads it",
            "a part with other rows than were counted",
            "nothing was released; store the DataFrame first, as a table or by checkpoint()",
        )


def _one_row(values: Mapping[str, Any], schema: pa.Schema) -> pa.RecordBatch:
    """Return one row, with NULL for columns without a value."""
    columns = [pa.array([values.get(field.name)], field.type) for field in schema]
    return pa.record_batch(columns, schema=schema)


PART_ROWS = 500_000  # rows of a region: a worker needs about 1 kB for each
LOOKED_AT = 100_000  # rows in which identifiers are looked for, if a * releases columns
SLICES = 200  # partitions of the released rows, at most; there are no more than regions


def in_regions() -> list[str]:
    """Return the names of the methods that release a DataFrame."""
    return [name for name, method in release_methods().items() if method.in_regions]


@SpelledAs(SPARK)
def released(
    function: str, df: Any, k: int, part_rows: int, hierarchy: Any, parameters: Mapping[str, Any]
) -> Any:
    """Return the release of a DataFrame, which Spark computes when it is read.

    Jobs run at once: those that count rows, the domain of each quasi-identifier and the values of
    protected columns, that draw the sample, and that count the rows of each region unless the
    sample shows enough. part_rows: rows of a region. parameters: those of the SQL function by
    name.
    """
    sql_functions(function)
    wanted = Whole(1).read(function, "part_rows", part_rows)
    frame = described(function, df)
    zone = df.sparkSession.conf.get("spark.sql.session.timeZone")
    request = requested(function, frame, {**parameters, "k": k}, zone)
    paths = hierarchy_rows(function, hierarchy)
    source = _source(df, frame, request)
    request = _looked_at(source, request)
    hashable = replace(request, kept=_hashable(source, request.kept))
    rows = SparkRows(source, hashable, paths)
    domain, many = rows.domain()
    schema, arrow = released_types(source.schema.fields, frame, request)
    if domain.rows == 0:
        return df.sparkSession.createDataFrame([], schema)
    regions = rows.regions(domain, many, wanted)
    slices = min(regions.count, SLICES)
    task = RegionTask(request, paths, domain, regions.rows, slices)
    sent = rows.packed(regions).mapInArrow(task, spark_schema(function, count_schema(request)))
    named = rows_of(paths, dict.fromkeys(request.protected, "VARCHAR"), zone)
    sent = sent.repartitionById(slices, column_of(SLICE))
    legal = checked(sent, request, domain, named)
    return legal.mapInArrow(Unpacking(arrow), schema)


def _source(df: Any, frame: SparkFrame, request: Request) -> Any:
    """Return the columns that are read; text in a collation of its own as plain text."""
    read = {*request.quasi, *request.kept, *filter(None, [request.entity])}
    return df.select(
        *(
            column_of(field.name).cast("string").alias(field.name)
            if field.dataType.simpleString().startswith("string collate")
            else column_of(field.name)
            for field in df.schema.fields
            if field.name in read
        )
    )


def _looked_at(source: Any, request: Request) -> Request:
    """Return a request after a look at the columns that only a ``*`` releases, in some rows.

    Raises AnonError if one of them looks like an identifier.
    """
    if not request.rest:
        return request
    sample = source.select(*map(column_of, request.rest)).limit(LOOKED_AT)
    return looked_at_rows(sample.toArrow(), request)


def looked_at_rows(rows: pa.Table, request: Request) -> Request:
    """Return a request after a look at the columns that only a ``*`` releases, in Arrow rows.

    Raises AnonError if one of them looks like an identifier.
    """
    if not request.rest:
        return request
    rest_rows, settings = rows.select(list(request.rest)), Settings(1, "UTC")
    with cursor(settings, request.function) as scratch:
        columns = of_arrow(request.function, rest_rows, scratch)
    return looked_at(request, columns, rest_rows, settings)


def _hashable(source: Any, kept: tuple[str, ...]) -> tuple[str, ...]:
    """Return the columns that Spark can hash: none with maps or variants."""
    kinds = {field.name: field.dataType.simpleString() for field in source.schema.fields}
    return tuple(
        name for name in kept if not any(part in kinds[name] for part in ("map<", "variant"))
    )


def released_types(
    source: Sequence[Any], frame: SparkFrame, request: Request
) -> tuple[Any, pa.Schema]:
    """Return the types of the released columns, in Spark and in Arrow; source: the fields read."""
    types = sql_types_of_spark(request.function)
    fields, arrow = [], []
    for field in source:
        name, kind, sent = field.name, field.dataType, frame.arrow.field(field.name).type
        if name in request.quasi:
            released = request.released_type(name)
            sent = arrow_type(released, sent)
            if is_range(released):
                kind = types.StructType().add("min", kind).add("max", kind)
            else:
                shown = {
                    LABEL: types.StringType(),
                    SET: types.ArrayType(types.StringType()),
                    "DOUBLE": types.DoubleType(),
                }
                kind = shown.get(released, kind)
        elif name not in request.kept:
            continue
        fields.append(types.StructField(name, kind, True))
        arrow.append(pa.field(name, sent))
    return types.StructType(fields), pa.schema(arrow)
