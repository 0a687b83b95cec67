"""Tell frames apart, read them as Arrow, and make a result of the kind that was given."""

import os
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import duckdb
import narwhals.dependencies as frames
import pyarrow as pa
import pyarrow.parquet as pq

from anon_sql.core.arrow import occurring, one_array
from anon_sql.core.running import Workers
from anon_sql.errors import AnonError, Argument, Parameter, listed
from anon_sql.hosts.arrow.frame import Frame, Positions, in_own_types
from anon_sql.hosts.arrow.rows import ArrowColumns, comments_of, of_arrow, of_relation, unreadable
from anon_sql.hosts.columns import require_names
from anon_sql.hosts.contents import (
    by_recipe,
    kind_of,
    require_csv,
    require_parquet,
    require_unrenamed,
)
from anon_sql.hosts.kept import depth

_BY_RECIPE = (
    "write a recipe for it with 'anon-sql roles FILE --recipe PATH', and release it with "
    "anon_sql.recipe or 'anon-sql release'"
)


class PandasFrame(Frame):
    """A DataFrame of pandas."""

    def from_table(self, table: pa.Table) -> Any:
        return table.to_pandas()

    def warn(self) -> None:
        index = self.native.index
        if type(index).__name__ != "RangeIndex" or index.name is not None:
            warnings.warn(
                "the index of a DataFrame is left out of its release; reset_index() makes it a "
                "column",
                stacklevel=depth(),
            )

    def assembled(
        self,
        rows: pa.Table,
        positions: Mapping[str, Positions],
        labels: Mapping[str, Callable[[], pa.Array]],
        workers: Workers,
    ) -> Any:
        import pandas as pd

        shown = pa.table({name: make() for name, make in labels.items()}).to_pandas()
        kept = {
            n: _of_pandas(self.native[n].array.take(indices)) for n, indices in positions.items()
        }
        columns = {
            name: kept[name] if name in kept else shown[name].array
            for name in self.columns.types
            if name in kept or name in labels
        }
        return pd.DataFrame(columns, copy=False)

    def sent(self, assembled: Any, types: Mapping[str, pa.DataType]) -> pa.Table:
        schema = pa.schema([(name, types[name]) for name in assembled.columns])
        return pa.Table.from_pandas(assembled, schema, preserve_index=False)


def _of_pandas(values: Any) -> Any:
    """Return released values without categories that do not occur; see ``occurring``."""
    import pandas as pd

    if isinstance(values.dtype, pd.CategoricalDtype):
        kept = values.remove_unused_categories()
        if kept.ordered:
            return kept
        first = pd.unique(kept.codes[kept.codes >= 0])
        return kept.reorder_categories(kept.categories.take(first))
    if isinstance(values.dtype, pd.ArrowDtype):
        return type(values)(occurring(one_array(values.__arrow_array__())))
    return values


@dataclass(frozen=True)
class PolarsFrame(Frame):
    """A DataFrame of Polars; native: of a LazyFrame that which it gives. lazy: whether it was."""

    lazy: bool

    def from_table(self, table: pa.Table) -> Any:
        import polars as pl

        return self._kind(pl.from_arrow(table))

    def assembled(
        self,
        rows: pa.Table,
        positions: Mapping[str, Positions],
        labels: Mapping[str, Callable[[], pa.Array]],
        workers: Workers,
    ) -> Any:
        import polars as pl

        columns = {name: pl.from_arrow(make()).alias(name) for name, make in labels.items()}
        for name, indices in positions.items():  # of several chunks, gather takes ten times as long
            columns[name] = _of_polars(self.native[name].rechunk().gather(indices))
        return pl.DataFrame([columns[n] for n in self.columns.types if n in columns])

    def sent(self, assembled: Any, types: Mapping[str, pa.DataType]) -> pa.Table:
        return assembled.to_arrow()

    def finished(self, assembled: Any, casts: Mapping[str, str | None]) -> Any:
        return self._kind(assembled)

    def _kind(self, frame: Any) -> Any:
        return frame.lazy() if self.lazy else frame


def _of_polars(values: Any) -> Any:
    """Return released values without categories that do not occur, and alone in their memory.

    Polars shares the memory of text: a file or a pickle could hold that of other rows. See
    ``occurring``, too.
    """
    import polars as pl

    if isinstance(values.dtype, pl.Enum):
        return values.cast(_narrowed(values))
    if values.dtype.is_nested() or values.dtype in (pl.String, pl.Binary):
        copied = pl.from_arrow(pa.table({values.name: occurring(values.to_arrow())}))
        return copied.to_series().cast(_narrowed(values))
    return values


def _narrowed(values: Any) -> Any:
    """Return the type of a Polars series whose Enums, also within, have no other categories."""
    import polars as pl

    kind = values.dtype
    if isinstance(kind, pl.Enum):
        used = set(values.unique().to_list())
        return pl.Enum([category for category in kind.categories if category in used])
    if isinstance(kind, pl.Struct):
        inner = {field.name: _narrowed(values.struct.field(field.name)) for field in kind.fields}
        return pl.Struct(inner)
    if isinstance(kind, pl.List) and isinstance(kind.inner, (pl.Enum, pl.List, pl.Struct)):
        return pl.List(_narrowed(values.explode()))
    return kind


def _restored(rows: Any, columns: ArrowColumns, casts: Mapping[str, str | None]) -> Any:
    """Return a relation of released rows in their SQL types."""
    return rows.project(in_own_types(rows.columns, columns, casts))


@dataclass(frozen=True)
class FileFrame(Frame):
    """A file. scratch: a connection of this package's own."""

    scratch: duckdb.DuckDBPyConnection

    def finished(self, assembled: Any, casts: Mapping[str, str | None]) -> Any:
        """Return the table as DuckDB makes one of it."""
        if not self.columns.carried.intersection(assembled.column_names) - casts.keys():
            return assembled
        return _restored(self.scratch.from_arrow(assembled), self.columns, casts).to_arrow_table()


@dataclass(frozen=True)
class RelationFrame(Frame):
    """A relation of DuckDB. function: of the call. connection: its connection, if it is known."""

    casts: ClassVar[bool] = True
    function: str
    connection: duckdb.DuckDBPyConnection | None

    def from_table(self, table: pa.Table) -> Any:
        return _of_connection(self, table)

    def finished(self, assembled: Any, casts: Mapping[str, str | None]) -> Any:
        return _restored(self.from_table(assembled), self.columns, casts)


def _of_connection(frame: RelationFrame, __anon_frame: pa.Table) -> Any:
    """Return a table as a relation of the connection of one that was given.

    ``query`` finds the table by the name of the parameter.
    """
    if frame.connection is not None:
        return frame.connection.from_arrow(__anon_frame)
    try:
        return frame.native.query("__anon_given", "FROM __anon_frame")
    except duckdb.Error:
        raise AnonError(
            frame.function,
            "a relation must tell its connection",
            "one that does not find the rows of a frame",
            "pass its connection as " + Argument("connection"),
        ) from None
    finally:
        with suppress(duckdb.Error):  # DuckDB 1.5 leaves the view
            frame.native.query("__anon_given", "DROP VIEW IF EXISTS __anon_given")


def as_frame(
    function: str,
    parameter: str,
    data: Any,
    scratch: duckdb.DuckDBPyConnection,
    connection: duckdb.DuckDBPyConnection | None,
) -> Frame:
    """Return a frame of any kind that was given as a parameter.

    scratch: a connection of this package's own. connection: of the user. Raises AnonError for
    anything else, for a file that is none, and for names and values that cannot be read.
    """
    if isinstance(data, (str, os.PathLike)):
        return _file(function, parameter, Path(data), scratch)
    if frames.is_pyarrow_table(data):
        require_names(function, data.column_names)
        return Frame(data, of_arrow(function, data, scratch))
    if isinstance(data, duckdb.DuckDBPyRelation):
        require_names(function, data.columns)
        require_unrenamed(function, data.columns)
        return RelationFrame(data, of_relation(function, data, scratch), function, connection)
    if frames.is_pandas_dataframe(data):
        return PandasFrame(data, of_arrow(function, _from_pandas(function, data), scratch))
    if frames.is_polars_lazyframe(data):
        return _from_polars(function, _collected(function, data), scratch, lazy=True)
    if frames.is_polars_dataframe(data):
        return _from_polars(function, data, scratch, lazy=False)
    hint = None
    if type(data).__module__.startswith("pyspark."):
        hint = "anon_sql.spark releases it"
    elif isinstance(data, (dict, list, tuple)):
        hint = "anon_sql.release_linked releases tables that belong together"
    raise AnonError(
        function,
        Parameter(parameter)
        + " must be a pandas, Polars or PyArrow table, a relation of DuckDB, or the path of a "
        "Parquet or CSV file",
        "None" if data is None else f"a {type(data).__module__.split('.')[0]} {_name(data)}",
        hint,
    )


def is_file(text: str, *, refused: bool) -> bool:
    """Return whether a text is the path of a Parquet or CSV file, by its ending.

    refused: whether the path of a file that only recipes and commands read counts, too.
    """
    return kind_of(Path(text)) is not None or (refused and by_recipe(Path(text)))


def _name(data: Any) -> str:
    return type(data).__name__


def _from_pandas(function: str, data: Any) -> pa.Table:
    names = list(data.columns)
    if not all(isinstance(name, str) for name in names):
        other = next(name for name in names if not isinstance(name, str))
        rule = "the names of columns must be text"
        raise AnonError(function, rule, f"a {_name(other)}", "rename them")
    require_names(function, names)
    try:
        return pa.Table.from_pandas(data, preserve_index=False)
    except (pa.ArrowException, ValueError, TypeError, OverflowError):
        wrong = [name for name in names if not _has_one_type(data[name])]
    raise AnonError(
        function,
        "the values of a column must be of one type",
        f"several or another in {listed(wrong)}",
        "cast it, for instance with astype(str), or drop it",
    )


def _has_one_type(values: Any) -> bool:
    try:
        return bool(pa.Array.from_pandas(values) is not None)
    except (pa.ArrowException, ValueError, TypeError, OverflowError):
        return False


def _collected(function: str, data: Any) -> Any:
    try:
        return data.collect()
    except Exception as error:
        raise AnonError(
            function,
            "a lazy frame must be one that can be collected",
            f"one that fails with {_name(error)}",
            "call collect() to see why",
        ) from None


def _from_polars(
    function: str, data: Any, scratch: duckdb.DuckDBPyConnection, *, lazy: bool
) -> PolarsFrame:
    require_names(function, data.columns)
    wrong = [name for name, kind in data.schema.items() if str(kind) == "Object"]
    if wrong:
        raise AnonError(
            function,
            "every column must have a type that Arrow has",
            f"{listed(wrong)} of type Object",
            "cast or drop it",
        )
    table = data.to_arrow()
    return PolarsFrame(data, of_arrow(function, table, scratch), lazy)


def _file(
    function: str, parameter: str, path: Path, scratch: duckdb.DuckDBPyConnection
) -> FileFrame:
    """Return a Parquet or CSV file, which DuckDB reads."""
    kind = kind_of(path)
    rule = Parameter(parameter) + " must be the path of a Parquet or CSV file"
    if kind is None:
        hint = _BY_RECIPE if by_recipe(path) else "its name ends in .parquet or .csv"
        raise AnonError(function, rule, f"'{path.name}'", hint)
    if not path.is_file():
        raise AnonError(function, rule, f"'{path.name}', which does not exist")
    require = require_parquet if kind == "parquet" else require_csv
    require(function, Parameter(parameter), path)
    read = scratch.read_parquet if kind == "parquet" else scratch.read_csv
    try:
        relation = read(str(path))
        comments = comments_of(pq.read_schema(path)) if kind == "parquet" else {}
    except duckdb.Error as error:
        raise unreadable(function, str(error).replace(str(path), path.name)) from None
    except pa.ArrowException:
        raise AnonError(function, rule, f"'{path.name}', which cannot be read") from None
    require_names(function, relation.columns)
    if kind == "csv":
        require_unrenamed(function, relation.columns)
    return FileFrame(path, of_relation(function, relation, scratch, comments), scratch)
