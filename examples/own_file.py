"""Release your own Parquet file: python own_file.py [IN OUT COLUMN...]

The columns are the quasi-identifiers. Without arguments it writes a small file of generated people
and releases that. `anon-sql release` does the same from the command line.
"""

import sys
import tempfile
from pathlib import Path

import anon_sql
from anon_sql import datasets

con = anon_sql.connect()
if len(sys.argv) > 3:
    source, target, *quasi = sys.argv[1:]
else:
    folder = Path(tempfile.mkdtemp())
    source, target = str(folder / "people.parquet"), str(folder / "release.parquet")
    quasi = ["age", "city"]
    datasets.people(con).project("age, city").write_parquet(source)

# The first argument is a path instead of a table name. Files have no roles, so pass them.
con.execute(
    "CREATE TABLE release AS FROM anonymize(?, k := 10, quasi := ?, format := 'typed')",
    [source, quasi],
)
con.table("release").write_parquet(target)
con.sql("FROM release LIMIT 5").show()

con.execute("SET VARIABLE source = ?", [source])
con.execute("SET VARIABLE quasi = ?", [quasi])
con.sql(
    "FROM utility(getvariable('source'), 'release', k := 10, quasi := getvariable('quasi'))"
).show()
print(f"{source} released as {target}")
