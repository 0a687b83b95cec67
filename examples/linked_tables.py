"""Persons, their visits and diagnoses, released together: python linked_tables.py

Makes a hospital, counts the persons whom the raw tables single out, releases all tables so that
they still join, checks the release, and joins it.
"""

import anon_sql
from anon_sql import datasets

con = anon_sql.connect()
datasets.hospital(con, 1_000)  # generated: no row is a real person; roles are declared

con.sql("FROM linked_risk('person', k := 5)").show()

made = anon_sql.release_linked(con, "person", into="safe", k=5, l=2)
for name, table in made.tables.items():
    print(f"{name}: {table.rows:,} rows, {table.left_out:,} left out")

con.sql("FROM linked_risk('safe.person', k := 5, raw := 'person')").show()
con.sql("FROM linked_audit('person', 'safe.person', k := 5, l := 2) WHERE required > 0").show()
con.sql(
    "SELECT born, visited, ward, code FROM safe.person JOIN safe.visit USING (person_id) "
    "JOIN safe.diagnosis USING (visit_id) LIMIT 5"
).show()
