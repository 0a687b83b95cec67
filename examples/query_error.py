"""How far queries and a classifier are off on a release: python query_error.py

Asks two releases a hundred random queries, one of them a query of its own with bounds, and predicts
the income from the raw table and from the release. The classifier needs pip install 'anon-sql[ml]'.
"""

import anon_sql
from anon_sql import datasets

QUASI = ["age", "workclass", "education_num", "marital_status", "sex"]
KEEP = ["occupation", "race", "native_country"]

con = anon_sql.connect()
datasets.adult(con, 5_000, table="people", roles=False)
anon_sql.declare(con, "people", quasi=QUASI, sensitive=["income"], keep=KEEP)

con.execute(
    "SET VARIABLE asked = (SELECT list(query) FROM query_workload('people', n := 100, "
    "attributes := 2, selectivity := 0.1))"
)
print("100 random queries:")
for k in (5, 25):
    con.execute(f"CREATE OR REPLACE TABLE released AS FROM anonymize('people', k := {k})")
    con.sql(
        f"SELECT {k} AS k, * FROM workload_error('people', 'released', getvariable('asked'))"
    ).show()

print("One query, its estimate, and the bounds of the true answer:")
con.sql(
    """
    SELECT "group"['race'] AS race, actual, estimate, lower, upper
    FROM query_error('people', 'released', [
        $$SELECT race, count(*) FROM people WHERE age > 50 AND sex = 'Male' GROUP BY race$$])
    """
).show()

print("Income, predicted from the quasi-identifiers:")
con.sql("FROM classification('people', 'released', target := 'income', model := 'knn')").show()
