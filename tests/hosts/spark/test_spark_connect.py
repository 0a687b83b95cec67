"""The same calls work on a client of Spark Connect, which cannot share a process with Spark."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = """
import anon_sql.spark
from pyspark.sql import SparkSession
from tests.hosts.spark.conftest import ROLES, SELECT

spark = SparkSession.builder.remote("sc://127.0.0.1:{port}").getOrCreate()
people = spark.sql(SELECT)
released = anon_sql.spark.mondrian(people, k=5, l=2, part_rows=200, **ROLES)
released.write.parquet({folder!r} + "/released")
stored = spark.read.parquet({folder!r} + "/released")
print(type(spark).__module__, anon_sql.spark.utility(people, stored, quasi=ROLES["quasi"]).collect())
anon_sql.spark.register(spark)
people.createOrReplaceTempView("people")
asked = "k => 5, quasi => array('age'), identifiers => 'person_id', keep => array('*')"
print(spark.sql(f"SELECT * FROM mondrian(TABLE(people), {{asked}})").count())
spark.stop()
"""


def connected(spark):
    """Return the port on which the session's process serves clients of Spark Connect from now on."""
    services = spark._jvm.org.apache.spark.sql.connect.service
    services.SparkConnectService.start(spark._jsc.sc())
    return getattr(getattr(services, "SparkConnectService$"), "MODULE$").localPort()


def test_a_client_of_spark_connect(spark, tmp_path):
    for package in ("grpc", "grpc_status", "zstandard"):
        pytest.importorskip(package, reason="needs pip install 'pyspark[connect]'")
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(port=connected(spark), folder=str(tmp_path))],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])},
    )
    assert done.returncode == 0, done.stderr
    assert "pyspark.sql.connect" in done.stdout
    assert "rows=600, released_rows=600" in done.stdout
    assert done.stdout.split()[-1] == "600"
