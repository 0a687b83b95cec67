"""From raw rows to a measured release: python first_release.py

Declares the roles of a table's columns, releases it so that each row looks like at least four
others, and shows what the release has lost.
"""

import anon_sql
from anon_sql import datasets

con = anon_sql.connect()  # or anon_sql.register(duckdb.connect("warehouse.duckdb"))
datasets.stays(con, 500)  # generated: no row is a real person
con.execute("CREATE TABLE patients AS SELECT * EXCLUDE (arrival, cost) FROM stays")

# Write the roles into the comments of the columns, beside the text of the comments.
anon_sql.declare(
    con,
    "patients",
    identifier=["name", "email"],
    quasi=["born", "postcode", "sex", "ward"],
    sensitive=["diagnosis"],
)
con.sql("FROM anon_roles('patients')").show()

# Store the release: a view repeats the work on every read.
con.execute("CREATE TABLE patients_release AS FROM anonymize('patients', k := 5)")
con.sql("FROM patients_release LIMIT 5").show()

con.sql("FROM utility('patients', 'patients_release', k := 5)").show()
con.sql("FROM attribute_loss('patients', 'patients_release')").show()
