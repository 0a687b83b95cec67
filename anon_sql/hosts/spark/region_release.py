"""Release a DataFrame region by region: plan on the driver, release in the tasks of Spark."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from anon_sql import methods
from anon_sql.core.columns import is_number
from anon_sql.core.hierarchy.rows import rows_of
from anon_sql.core.options import Whole
from anon_sql.hosts.spark.check_in_plan import checked
from anon_sql.hosts.spark.class_counts import SLICE, count_schema
from anon_sql.hosts.spark.frame import Frame, column_of, described
from anon_sql.hosts.spark.packed_rows import Unpacking
from anon_sql.hosts.spark.pyspark_parts import spark_schema, sql_functions, sql_types_of_spark
from anon_sql.hosts.spark.region_task import RegionTask
from anon_sql.hosts.spark.requesting import hierarchy_rows, requested
from anon_sql.hosts.spark.routed_rows import Rows
from anon_sql.pipeline.request import Request

REGION_ROWS = 500_000  # rows of a region: a worker needs about 1 kB for each
SLICES = 200  # partitions of the released rows, at most; there are no more than regions


def in_regions() -> list[str]:
    """Return the names of the methods that release a DataFrame."""
    return [name for name, method in methods.releases().items() if method.facts.in_regions]  # type: ignore[union-attr]


def released(
    function: str, df: Any, k: int, region_rows: int, hierarchy: Any, given: Mapping[str, Any]
) -> Any:
    """Return the release of a DataFrame, which Spark computes when it is read.

    Jobs run at once: those that count rows, the domain of each quasi-identifier and the values of
    protected columns, that draw the sample, and that count the rows of each region unless the
    sample shows enough. region_rows: rows of a region. given: the parameters of the SQL function by
    name.
    """
    sql_functions(function)
    wanted = Whole(1).read(function, "region_rows", region_rows)
    frame = described(function, df)
    zone = df.sparkSession.conf.get("spark.sql.session.timeZone")
    request = requested(function, frame, {**given, "k": k}, zone)
    paths = hierarchy_rows(function, hierarchy)
    source = _source(df, frame, request)
    asked = replace(request, kept=_hashable(source, request.kept))
    rows = Rows(source, asked, paths)
    domain = rows.domain()
    schema, arrow = released_types(source.schema.fields, frame, request)
    if domain.rows == 0:
        return df.sparkSession.createDataFrame([], schema)
    regions = rows.regions(domain, wanted)
    slices = min(regions.count, SLICES)
    task = RegionTask(request, paths, domain, regions.rows, slices)
    sent = rows.packed(regions).mapInArrow(task, spark_schema(function, count_schema(request)))
    named = rows_of(paths, dict.fromkeys(request.protected, "VARCHAR"), zone)
    sent = sent.repartitionById(slices, column_of(SLICE))
    whole = checked(sent, request, domain, named)
    return whole.mapInArrow(Unpacking(arrow), schema)


def _source(df: Any, frame: Frame, request: Request) -> Any:
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


def _hashable(source: Any, kept: tuple[str, ...]) -> tuple[str, ...]:
    """Return the columns that Spark can hash: none with maps or variants."""
    kinds = {field.name: field.dataType.simpleString() for field in source.schema.fields}
    return tuple(
        name for name in kept if not any(part in kinds[name] for part in ("map<", "variant"))
    )


def released_types(source: Sequence[Any], frame: Frame, request: Request) -> tuple[Any, pa.Schema]:
    """Return the types of the released columns, in Spark and in Arrow; source: the fields read."""
    types = sql_types_of_spark(request.function)
    fields, arrow = [], []
    for field in source:
        name, kind, held = field.name, field.dataType, frame.arrow.field(field.name).type
        if name in request.quasi:
            if request.value_type(name) is not None:
                if request.value_type(name) == "DOUBLE":
                    kind, held = types.DoubleType(), pa.float64()
            elif not request.typed:
                kind, held = types.StringType(), pa.string()
            elif is_number(request.function, name, request.quasi[name]):
                held = pa.struct([("min", held), ("max", held)])
                kind = types.StructType().add("min", kind).add("max", kind)
            else:
                kind, held = types.ArrayType(types.StringType()), pa.list_(pa.string())
        elif name not in request.kept:
            continue
        fields.append(types.StructField(name, kind, True))
        arrow.append(pa.field(name, held))
    return types.StructType(fields), pa.schema(arrow)
