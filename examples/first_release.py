"""Declare roles, release a table, measure its loss: python examples/first_release.py"""

import anon_sql

con = anon_sql.connect()  # or anon_sql.register(duckdb.connect("warehouse.duckdb"))
con.execute(
    """
    CREATE TABLE patients AS
    SELECT
        i AS patient_id,
        18 + i * 37 % 71 AS age,
        ['Accra', 'Bonn', 'Cape Town'][1 + i % 3] AS city,
        DATE '2026-01-01' + (i * 11 % 300)::INTEGER AS admitted,
        ['asthma', 'flu', 'gout', 'none'][1 + i * i // 7 % 4] AS illness
    FROM range(500) AS made(i)
    """
)

# Write the roles into the comments of the columns, beside the text of the comments.
anon_sql.declare(
    con,
    "patients",
    identifier=["patient_id"],
    quasi=["age", "city", "admitted"],
    sensitive=["illness"],
)
con.sql("FROM anon_roles('patients')").show()

# Store the release: a view repeats the work on every read.
con.execute("CREATE TABLE patients_release AS FROM anonymize('patients', k := 5)")
con.sql("FROM patients_release LIMIT 5").show()

con.sql("FROM utility('patients', 'patients_release', k := 5)").show()
con.sql("FROM attribute_loss('patients', 'patients_release')").show()
