"""Import the parts of pyspark that a call needs, or say which extra installs them."""

from typing import Any

import pyarrow as pa

from anon_sql.errors import not_installed

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
    known = tuple(int(part) for part in pyspark.__version__.split(".")[:2])
    if known < OLDEST:
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
