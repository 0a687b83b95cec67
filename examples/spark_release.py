"""From a Spark table to a measured release, in tasks: python spark_release.py

Needs pip install 'anon-sql[spark]' and Java. On a cluster, anon_sql must be installed where the
tasks run.
"""

from pathlib import Path

from pyspark.sql import SparkSession

import anon_sql.spark

spark = SparkSession.builder.master("local[2]").appName("release").getOrCreate()

# Roles are written into the comments of a table's columns, as in DuckDB, or passed in the call.
spark.sql("DROP TABLE IF EXISTS patients")
spark.sql(
    """
    CREATE TABLE patients (
        patient_id bigint COMMENT 'anon:identifier',
        age int COMMENT 'In years. anon:quasi',
        city string COMMENT 'anon:quasi',
        admitted date COMMENT 'anon:quasi',
        illness string COMMENT 'anon:sensitive'
    ) USING parquet
    """
)
spark.sql(
    """
    INSERT INTO patients
    SELECT
        id,
        18 + id * 37 % 71,
        element_at(array('Accra', 'Bonn', 'Cape Town'), cast(1 + id % 3 AS int)),
        date_add(date'2026-01-01', cast(id * 11 % 300 AS int)),
        element_at(array('asthma', 'flu', 'gout', 'none'), cast(1 + id * id / 7 % 4 AS int))
    FROM range(500)
    """
)
patients = spark.table("patients")

# The parts are planned now; their rows are released when the result is written.
release = anon_sql.spark.anonymize(patients, k=5, l=2, part_rows=200)
folder = str(Path("patients_release").absolute())
release.write.mode("overwrite").parquet(folder)

stored = spark.read.parquet(folder)
stored.show(5, truncate=False)
anon_sql.spark.utility(patients, stored, k=5).show(vertical=True)
print("smallest class:", anon_sql.spark.k_anonymity(patients, stored))

# In SQL one task releases all rows of a table, and roles are parameters.
anon_sql.spark.register(spark)
spark.sql(
    """
    SELECT * FROM anonymize(
        TABLE(patients), k => 5, quasi => array('age', 'city', 'admitted'),
        sensitive => 'illness', identifiers => 'patient_id')
    """
).show(5, truncate=False)
