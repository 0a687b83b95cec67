"""Release a Parquet file of your own: python examples/own_file.py [IN OUT COLUMN...]

Without arguments it creates a small file and releases it. `anon-sql release` does the same from
the command line.
"""

import sys
import tempfile
from pathlib import Path

import anon_sql

con = anon_sql.connect()
if len(sys.argv) > 3:
    source, target, *quasi = sys.argv[1:]
else:
    folder = Path(tempfile.mkdtemp())
    source, target, quasi = (
        str(folder / "staff.parquet"),
        str(folder / "release.parquet"),
        ["age", "unit"],
    )
    con.execute(
        f"COPY (SELECT 20 + i * 7 % 45 AS age, ['IT', 'Sales'][1 + i % 2] AS unit "
        f"FROM range(200) AS made(i)) TO '{source}'"
    )

# The first argument is a path instead of a table name. Files have no roles, so pass them.
con.execute(
    "CREATE TABLE release AS FROM anonymize(?, k := 10, qids := ?, format := 'typed')",
    [source, quasi],
)
con.table("release").write_parquet(target)
con.sql("FROM release LIMIT 5").show()

con.execute("SET VARIABLE source = ?", [source])
con.execute("SET VARIABLE quasi = ?", [quasi])
con.sql(
    "FROM utility(getvariable('source'), 'release', k := 10, qids := getvariable('quasi'))"
).show()
print(f"{source} released as {target}")
