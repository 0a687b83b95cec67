"""Check a DataFrame and a call on it, describe its columns, and pack its rows into bytes.

Pack rows into bytes that Spark moves as one value, and unpack them. Spark converts each row between
its own form and Arrow's at every step in Python, and shuffles rows one by one. Packed rows are
converted once on their way in and once on their way out.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql import kernels
from anon_sql.core.printing import sql_types
from anon_sql.core.roles import fold
from anon_sql.errors import AnonError, Parameter, Python, listed, not_installed
from anon_sql.hosts.columns import require_names
from anon_sql.pipeline.partition import refuse_in_parts
from anon_sql.pipeline.request import Relation, Request, arguments, checked

PACKED, ROWS = "packed", "rows"  # the columns of packed rows, and of their number
BATCH = 50_000  # rows that go back to Spark at a time
_OPTIONS = pa.ipc.IpcWriteOptions(compression="lz4")


def grouped(
    rows: pa.Table, of_row: npt.NDArray[np.int32], groups: int
) -> Iterator[tuple[int, pa.Table]]:
    """Return the number and the rows of each group that has any, in their order.

    of_row: int32[n], the group of each row.
    """
    order, starts = kernels.hashing.group(of_row, groups)
    sorted_rows = rows.take(pa.array(order)).combine_chunks()
    return (
        (number, sorted_rows.slice(start, end - start))
        for number, (start, end) in enumerate(pairwise(starts.tolist()))
        if end > start
    )


def packed(rows: pa.Table) -> bytes:
    """Return rows as one value."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema, options=_OPTIONS) as writer:
        writer.write_table(rows)
    stream: bytes = sink.getvalue().to_pybytes()
    return stream


def unpacked(batch: pa.RecordBatch) -> Iterator[pa.Table]:
    """Give the packed rows of a batch of Spark."""
    for value in batch.column(PACKED).drop_null():
        with pa.ipc.open_stream(value.as_buffer()) as reader:
            yield reader.read_all()


@dataclass(frozen=True)
class Unpacking:
    """A function that Spark calls with packed rows, and that returns the rows.

    schema: of the rows.
    """

    schema: pa.Schema

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of every packed value."""
        for batch in batches:
            for rows in unpacked(batch):
                yield from rows.cast(self.schema).to_batches(BATCH)


@dataclass(frozen=True)
class SparkFrame:
    """The columns of a DataFrame.

    arrow: their Arrow types, as workers receive them. types: the SQL type of each by name, as
    DuckDB reads these. comments: the comments in the catalog by folded name, which columns keep
    until they are computed anew.
    """

    arrow: pa.Schema
    types: dict[str, str]
    comments: dict[str, str]

    @property
    def names(self) -> list[str]:
        return list(self.types)


def described(function: str, df: Any) -> SparkFrame:
    """Return the columns of a DataFrame without reading a row.

    Raises AnonError for what is not a DataFrame, for names that occur twice or begin with
    ``__anon_``, and for types that Arrow does not have.
    """
    if not (hasattr(df, "mapInArrow") and hasattr(df, "schema")):
        raise AnonError(function, "the table must be a Spark DataFrame", type(df).__name__)
    require_names(function, list(df.columns))
    comments = {
        fold(field.name): field.metadata["comment"]
        for field in df.schema.fields
        if isinstance(field.metadata.get("comment"), str)
    }
    return frame_of(function, _arrow(function, df), comments)


def frame_of(function: str, arrow: pa.Schema, comments: dict[str, str]) -> SparkFrame:
    """Return the columns of an Arrow schema, whose names are checked."""
    require_names(function, arrow.names)
    kinds = sql_types([pa.nulls(0, field.type) for field in arrow]) if len(arrow) else []
    return SparkFrame(arrow, dict(zip(arrow.names, kinds, strict=True)), comments)


def _arrow(function: str, df: Any) -> pa.Schema:
    """Return the Arrow schema of a DataFrame, from a query of no rows."""
    from pyspark.errors import PySparkException

    try:
        return df.limit(0).toArrow().schema
    except (PySparkException, pa.ArrowException):
        wrong = [field for field in df.schema.fields if not _has_arrow(df, field.name)]
        if not wrong:
            raise
    text = ", ".join(
        f"{listed([field.name])} of type {field.dataType.typeName()}" for field in wrong
    )
    raise AnonError(
        function, "every column must have a type that Arrow has", text, "cast or drop it"
    ) from None


def _has_arrow(df: Any, name: str) -> bool:
    from pyspark.errors import PySparkException

    try:
        df.select(column_of(name)).limit(0).toArrow()
    except (PySparkException, pa.ArrowException):
        return False
    return True


def column_of(name: str) -> Any:
    """Return the column of a name, whatever dots and backticks it has."""
    from pyspark.sql.functions import col

    return col("`" + name.replace("`", "``") + "`")


SPARK = Python()  # without comments, which Spark writes with other statements
ROLES = ("quasi", "sensitive", "identifiers", "keep", "exclude")
_LISTS = ("attribute", "value", "level", "label")


def requested(
    function: str, frame: SparkFrame, parameters: Mapping[str, Any], time_zone: str
) -> Request:
    """Return the request of a call.

    parameters: the arguments of the call by name. time_zone: of the session. Raises AnonError for
    names that the function does not take, and as ``checked`` does.
    """
    listed_ = {name: _listed(value) for name, value in arguments(function, parameters).items()}
    relation = Relation(frame.types, frame.comments, time_zone=time_zone)
    request = checked(function, relation, listed_)
    refuse_in_parts(request)
    return request


def hierarchy_rows(function: str, hierarchy: Any) -> pa.StructArray | None:
    """Return the rows of a hierarchy that have a value and a label; None without a hierarchy.

    hierarchy: a DataFrame of Spark or pandas or an Arrow table with the columns attribute, value,
    level and label. Raises AnonError for anything else.
    """
    if hierarchy is None:
        return None
    table = hierarchy.toArrow() if hasattr(hierarchy, "toArrow") else hierarchy
    if hasattr(table, "to_dict") and not isinstance(table, pa.Table):
        table = pa.Table.from_pandas(table, preserve_index=False)
    if not isinstance(table, pa.Table) or not {*_LISTS} <= {*table.column_names}:
        raise AnonError(
            function,
            Parameter("hierarchy") + " must be a DataFrame with attribute, value, level and label",
            "columns without them" if isinstance(table, pa.Table) else type(hierarchy).__name__,
        )
    kinds = (pa.string(), pa.string(), pa.int32(), pa.string())
    parts = [
        table.column(name).combine_chunks().cast(kind)
        for name, kind in zip(_LISTS, kinds, strict=True)
    ]
    rows = pa.StructArray.from_arrays(parts, names=list(_LISTS))
    return rows.filter(pc.and_(parts[1].is_valid(), parts[3].is_valid()))


def _listed(value: Any) -> Any:
    """Return a tuple as a list, in which the core takes names."""
    return list(value) if isinstance(value, tuple) else value


OLDEST = (4, 1)  # the first version with repartitionById


def sql_functions(function: str) -> Any:
    """Return the module ``pyspark.sql.functions``, of the classic or of the Connect client."""
    try:
        import pyspark
        from pyspark.sql import functions
    except ImportError as missing:
        raise not_installed(
            function, "pyspark 4.1 or newer must be installed", missing.name or "none", "spark"
        ) from None
    version = tuple(int(part) for part in pyspark.__version__.split(".")[:2])
    if version < OLDEST:
        raise not_installed(
            function, "pyspark 4.1 or newer must be installed", pyspark.__version__, "spark"
        )
    return functions


def sql_types_of_spark(function: str) -> Any:
    """Return the module ``pyspark.sql.types``."""
    sql_functions(function)
    from pyspark.sql import types

    return types


def spark_schema(function: str, schema: pa.Schema) -> Any:
    """Return the types of an Arrow schema in Spark."""
    sql_types_of_spark(function)
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(schema)
