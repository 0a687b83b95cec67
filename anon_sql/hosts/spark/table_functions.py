"""Register the release methods as table functions of Spark SQL."""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from anon_sql.core.printing import sql_types
from anon_sql.errors import AnonError
from anon_sql.hosts.spark.compiled_once import compiled_once
from anon_sql.hosts.spark.frame import Frame
from anon_sql.hosts.spark.pyspark_parts import sql_functions
from anon_sql.hosts.spark.requesting import requested
from anon_sql.release.release_table import release_table

CHUNK = 50_000  # rows that wait to be Arrow arrays


def register(spark: Any) -> Any:
    """Register every release method as a table function of a session, and return the session.

    ``SELECT * FROM anonymize(TABLE(people), k => 10, qids => array('age', 'city'))``. All rows of
    the table are released by one task, because a table function of Spark cannot run the queries
    that divide a table into regions. Roles are parameters; a hierarchy cannot be given.
    """
    raise NotImplementedError
