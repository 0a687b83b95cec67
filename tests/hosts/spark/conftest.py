"""One local session of Spark for all tests, and a table that has every difficulty at once."""

import os
import shutil
import sys

import pytest

from tests.hosts.spark.session import session

SELECT = """
    SELECT
        id AS person_id,
        if(id % 17 = 0, NULL, cast(18 + (id * 7919) % 60 AS int)) AS age,
        if(id % 23 = 0, NULL, concat('city ', cast((id * id) % 5 AS string))) AS city,
        date_add(date'1990-01-01', cast((id * 104729) % 9000 AS int)) AS born,
        cast((id * 13) % 3 AS string) AS illness,
        (id % 9) / 4.0D AS score
    FROM (SELECT explode(sequence(0L, 599L)) AS id)
"""
ROLES = {
    "quasi": ["age", "city", "born"],
    "sensitive": ["illness"],
    "identifiers": ["person_id"],
    "keep": ["score"],
}


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    """A local session with two threads, in which a failed task is tried again."""
    pytest.importorskip("pyspark", reason="needs pyspark (pip install 'anon-sql[spark]')")
    if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        pytest.skip("needs Java, which Spark runs on")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    made = session(str(tmp_path_factory.mktemp("warehouse")))
    yield made
    made.stop()


@pytest.fixture(scope="session")
def people(spark):
    """600 rows with NULLs and ties."""
    return spark.sql(SELECT)
