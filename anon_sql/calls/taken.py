"""Rows handed over while DuckDB reads them, and where they are kept until they are released."""

from typing import Any

import numpy as np
import pyarrow as pa

from anon_sql import intake
from anon_sql.arrow import first
from anon_sql.registry import udf


@udf("__anon_open", "BIGINT", volatile=True, owned=True)
def start(database: str, plans: Any, connections: Any, statements: Any) -> pa.Array:
    """The number under which a release keeps its rows."""
    plan = first(plans)
    statement = intake.Statement(database, first(connections), first(statements))
    number = intake.start(plan["function"], statement, plan["rows"], plan["too_large"])
    return pa.array([number], pa.int64())


@udf("__anon_take", "INTEGER", volatile=True)
def take(numbers: Any, rows: Any) -> pa.Array:
    """When each row came: from 0, without a gap, whichever thread brings it."""
    if not len(rows):
        return pa.array([], pa.int32())
    came = intake.add(first(numbers), rows)
    return pa.array(np.arange(came, came + len(rows), dtype=np.int32))
