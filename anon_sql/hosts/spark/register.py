"""Register the release methods as table functions of Spark SQL, for tables that fit one task."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from anon_sql.errors import COMPARISONS, AnonError, Parameter, SpelledAs, Spelling, listed
from anon_sql.hosts.spark.frame import SparkFrame, frame_of, requested, sql_functions
from anon_sql.hosts.spark.release import in_regions, looked_at_rows, released_types
from anon_sql.hosts.spark.routing import compiled_once
from anon_sql.pipeline.request import Request
from anon_sql.pipeline.table import release_table


class SparkSql(Spelling):
    """The spelling of SQL in Spark."""

    has = frozenset({COMPARISONS})

    def argument(self, name: str, value: Any) -> str:
        return f"{name} =>" if value is None else f"{name} => {self.value(value)}"

    def value(self, value: Any) -> str:
        if isinstance(value, (list, tuple)):
            return f"array({', '.join(map(self.value, value))})"
        if isinstance(value, Mapping):
            pairs = (part for pair in value.items() for part in pair)
            return f"map({', '.join(map(self.value, pairs))})"
        return super().value(value)


SPARK_SQL = SparkSql()
CHUNK = 50_000  # rows of a task that wait as Python objects


def register(spark: Any) -> Any:
    """Register every release method as a table function of a session, and return the session.

    ``SELECT * FROM anonymize(TABLE(people), k => 10, quasi => array('age', 'city'))``. One task
    releases all rows of the table, because a table function of Spark cannot run the queries that
    divide a table into regions; the functions of ``anon_sql.spark`` do. A hierarchy cannot be
    given, and comments on columns do not reach the function, so roles are parameters.
    """
    sql = sql_functions("register")
    for name in in_regions():
        spark.udtf.register(name, sql.udtf(_handler(name)))
    return spark


def _handler(function: str) -> type:
    """Return the class by which Spark calls a release method."""
    from pyspark.sql.udtf import AnalyzeArgument, AnalyzeResult

    @dataclass
    class Analyzed(AnalyzeResult):  # type: ignore[misc]
        """What the analysis of a call passes to its task."""

        request: Request | None = None
        arrow: pa.Schema | None = None

    class ReleaseHandler:
        """Collects the rows of a table, and yields their release after the last one."""

        def __init__(self, analyzed: Any) -> None:
            self._request, self._arrow = analyzed.request, analyzed.arrow
            self._chunks: list[pa.Table] = []
            self._rows: list[Any] = []

        @staticmethod
        @SpelledAs(SPARK_SQL)
        def analyze(table: AnalyzeArgument, **arguments: AnalyzeArgument) -> AnalyzeResult:
            values = {
                name: _constant(function, name, argument) for name, argument in arguments.items()
            }
            if not table.isTable:
                hint = "write TABLE(people), and parameters as k => 10"
                raise AnonError(function, "the first argument must be a table", "a value", hint)
            frame = _frame(function, table.dataType)
            request = requested(function, frame, values, "UTC")
            schema, _ = released_types(table.dataType.fields, frame, request)
            return Analyzed(
                schema=schema, withSinglePartition=True, request=request, arrow=frame.arrow
            )

        def eval(self, row: Any, **_: Any) -> Iterator[tuple[Any, ...]]:
            self._rows.append(row)
            if len(self._rows) == CHUNK:
                self._pack()
            yield from ()

        def terminate(self) -> Iterator[tuple[Any, ...]]:
            self._pack()
            with (
                SpelledAs(SPARK_SQL),
                compiled_once(function, f"{function} {self._request.options}"),
            ):
                rows = pa.concat_tables(self._chunks)
                released = release_table(rows, looked_at_rows(rows, self._request))
            self._chunks.clear()
            for batch in released.to_batches(CHUNK):
                yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)

        def _pack(self) -> None:
            self._chunks.append(_arrow_rows(self._rows, self._arrow))
            self._rows.clear()

    return ReleaseHandler


def _arrow_rows(rows: Sequence[Any], schema: pa.Schema) -> pa.Table:
    """Return rows of Spark as Arrow; timestamps arrive in local time without time zone."""
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    arrays = []
    for values, field in zip(columns, schema, strict=True):
        zoned = pa.types.is_timestamp(field.type) and field.type.tz is not None
        column = [None if v is None else v.astimezone() for v in values] if zoned else values
        arrays.append(pa.array(column, field.type))
    return pa.table(arrays, schema=pa.schema([pa.field(f.name, f.type) for f in schema]))


def _frame(function: str, types: Any) -> SparkFrame:
    """Return the columns of a table argument. Raises AnonError for types that SQL cannot pass."""
    from pyspark.sql.pandas.types import to_arrow_schema

    try:
        arrow = to_arrow_schema(types, timezone="UTC")
    except TypeError:  # Spark 4.1 has no such parameter
        arrow = to_arrow_schema(types)
    wrong = [field.name for field in arrow if not _passes(field.type)]
    if wrong:
        raise AnonError(
            function,
            "a table function takes neither maps nor timestamps within other types",
            listed(wrong),
            "leave them out, or call anon_sql.spark in Python",
        )
    return frame_of(function, arrow, {})


def _passes(kind: pa.DataType, *, within: bool = False) -> bool:
    """Return whether values of a type reach a table function as they are."""
    if pa.types.is_map(kind) or (within and pa.types.is_timestamp(kind)):
        return False
    return all(
        _passes(kind.field(position).type, within=True) for position in range(kind.num_fields)
    )


def _constant(function: str, name: str, argument: Any) -> Any:
    """Return the value of a parameter. Raises AnonError for one that depends on rows."""
    if not argument.isConstantExpression:
        raise AnonError(function, Parameter(name) + " must be a constant", "an expression of rows")
    return argument.value
