"""Summarize the quasi-identifiers of a DataFrame: the tasks of Spark by runs, Spark all of them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.core.columns import is_number
from anon_sql.hosts.spark.pyspark_parts import sql_functions, sql_types_of_spark
from anon_sql.pipeline.request import Request
from anon_sql.routing.runs import runs

_RUN_ROWS, _RUN_BYTES = 100_000, 64 << 20  # rows that a task holds at a time, at most
_WORDS = 200_000  # distinct values of a column that a task holds, at most


def summary(df: Any, request: Request) -> pa.Table:
    """Return what ``whole_table.summary_select`` would, from one job.

    df: the quasi-identifiers. Each task finds the ends of numbers and the distinct values of text
    in its rows, so that Spark groups few values instead of every row once for each column of text.
    """
    sql, types = sql_functions(request.function), sql_types_of_spark(request.function)
    task = _Summary(request)
    schema = types.StructType().add("at", types.IntegerType()).add("word", types.StringType())
    schema = schema.add("rows", types.LongType())
    for at in task.numbers:
        for end in ("low", "high"):
            schema = schema.add(f"{end}_{at}", df.schema.fields[at].dataType)
    few = df.toDF(*(f"c{at}" for at in range(len(df.columns)))).mapInArrow(task, schema)
    missing = sql.max(sql.col("word").isNull().cast("int"))
    ends = [
        fold(sql.col(f"{end}_{at}")).alias(f"{end}_{at}")
        for at in task.numbers
        for end, fold in (("low", sql.min), ("high", sql.max))
    ]
    distinct = (sql.count_distinct(sql.col("word")) + missing).alias("distinct")
    found = few.groupBy("at").agg(distinct, sql.sum("rows").alias("rows"), *ends).toArrow()
    ends_of = found.filter(pc.equal(found.column("at"), _ENDS))
    counts = dict(zip(*(found.column(name).to_pylist() for name in ("at", "distinct")), strict=True))
    rows = ends_of.column("rows")[0].as_py() if ends_of.num_rows else 0
    summed = {"rows": pa.array([rows], pa.int64())}
    for at in range(len(df.columns)):
        if at in task.numbers:
            for name in (f"low_{at}", f"high_{at}"):
                held = ends_of.column(name).combine_chunks()
                summed[name] = held if len(held) else pa.nulls(1, held.type)
        else:
            summed[f"distinct_{at}"] = pa.array([counts.get(at, 0)], pa.int64())
    return pa.table(summed)


_ENDS = -1  # the number of rows that hold ends instead of values of a column


@dataclass(frozen=True)
class _Summary:
    """A function that Spark calls with rows, and that summarizes them.

    It returns the ends of numbers in rows with ``_ENDS``, and each distinct value of text with the
    number of its column, some of them repeatedly.
    """

    request: Request

    @property
    def numbers(self) -> list[int]:
        """Return the quasi-identifiers that are numbers, dates or times."""
        asked = self.request
        kinds = enumerate(asked.quasi.items())
        return [at for at, (name, kind) in kinds if is_number(asked.function, name, kind)]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the summaries of runs, and values of text as soon as they are too many to hold."""
        pa.set_cpu_count(1)
        numbers = self.numbers
        held: dict[int, pa.Array] = {}
        schema: pa.Schema | None = None
        for run in runs(batches, _RUN_ROWS, _RUN_BYTES):
            schema = schema or _schema(run.schema, numbers)
            ends: dict[str, Any] = {"at": [_ENDS], "rows": [run.num_rows]}
            for at, column in enumerate(run.columns):
                if at in numbers:
                    ends[f"low_{at}"], ends[f"high_{at}"] = _ends(column)
                    continue
                words = column.unique().cast(pa.string())
                words = pa.chunked_array([words, *([held[at]] if at in held else [])]).unique()
                if len(words) > _WORDS:
                    yield _batch(schema, {"at": [at] * len(words), "word": words})
                    words = words.slice(0, 0)
                held[at] = words
            yield _batch(schema, ends)
        for at, words in held.items():
            assert schema is not None
            yield _batch(schema, {"at": [at] * len(words), "word": words})


def _schema(read: pa.Schema, numbers: list[int]) -> pa.Schema:
    fields = [("at", pa.int32()), ("word", pa.string()), ("rows", pa.int64())]
    fields += [(f"{e}_{at}", read.field(at).type) for at in numbers for e in ("low", "high")]
    return pa.schema(fields)


def _batch(schema: pa.Schema, given: dict[str, Any]) -> pa.RecordBatch:
    """Return rows of a schema; columns that are not given are NULL."""
    many = len(given["at"])
    columns = [
        pa.nulls(many, field.type)
        if field.name not in given
        else pa.array(given[field.name], field.type)
        if not isinstance(given[field.name], pa.Array)
        else given[field.name].cast(field.type)
        for field in schema
    ]
    return pa.record_batch(columns, schema=schema)


def _ends(values: pa.ChunkedArray) -> tuple[pa.Array, pa.Array]:
    """Return the smallest and the largest value, one of them NaN if any value is."""
    found = pc.min_max(values)
    low, high = (pa.array([found[end].as_py()], values.type) for end in ("min", "max"))
    if pa.types.is_floating(values.type) and pc.any(pc.is_nan(values)).as_py():
        high = pa.array([float("nan")], values.type)
    return low, high
