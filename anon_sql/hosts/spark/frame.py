"""Check a DataFrame and describe its columns as the core expects them."""

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from anon_sql.core.printing import sql_types
from anon_sql.core.roles import fold
from anon_sql.errors import AnonError, listed

HELPER = "__anon_"  # prefix of the columns that plans of this package add


@dataclass(frozen=True)
class Frame:
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


def described(function: str, df: Any) -> Frame:
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


def frame_of(function: str, arrow: pa.Schema, comments: dict[str, str]) -> Frame:
    """Return the columns of an Arrow schema, whose names are checked."""
    require_names(function, arrow.names)
    kinds = sql_types([pa.nulls(0, field.type) for field in arrow]) if len(arrow) else []
    return Frame(arrow, dict(zip(arrow.names, kinds, strict=True)), comments)


def require_names(function: str, names: list[str]) -> None:
    """Raise AnonError for names that occur twice or are reserved."""
    folded = [fold(name) for name in names]
    twice = [name for name, known in zip(names, folded, strict=True) if folded.count(known) > 1]
    if twice:
        raise AnonError(function, "each column needs a name of its own", listed(twice), "rename")
    helpers = [name for name in names if fold(name).startswith(HELPER)]
    if helpers:
        raise AnonError(function, f"column names must not begin with {HELPER}", listed(helpers))


def _arrow(function: str, df: Any) -> pa.Schema:
    """Return the Arrow schema of a DataFrame, from a query of no rows."""
    from pyspark.errors import PySparkException

    try:
        return df.limit(0).toArrow().schema
    except (PySparkException, pa.ArrowException):
        wrong = [field for field in df.schema.fields if not _has_arrow(df, field.name)]
        if not wrong:
            raise
    shown = ", ".join(f"{listed([each.name])} of type {each.dataType.typeName()}" for each in wrong)
    raise AnonError(
        function, "every column must have a type that Arrow has", shown, "cast or drop it"
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
