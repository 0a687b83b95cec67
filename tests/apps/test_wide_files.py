"""Files of many columns: reading them takes memory that grows with the columns, not their square."""

import json
import subprocess
import sys

COLUMNS, ROWS = 240, 1_000
LIMIT = 1_000_000  # KiB; with one query over all columns and types it was 4,000,000
KINDS = ["BIGINT", "DOUBLE", "VARCHAR", "DATE", "BOOLEAN", "VARCHAR"]
READ = """
import json, resource, sys
from pathlib import Path
import anon_sql
from anon_sql.apps import files
from anon_sql.apps.csv.dialect import Dialect

with anon_sql.connect() as con:
    files.read(con, Path(sys.argv[1]), "wide", dialect=Dialect(), called=("roles", "FILE"))
    kinds = [str(kind) for kind in con.table("wide").types]
    ((rows,),) = con.execute("SELECT count(*) FROM wide").fetchall()
    print(json.dumps([kinds, rows, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss]))
"""


def value(row, column):
    number = (row * (column + 3)) % 97
    texts = [f"{number}", f"{number}.5", f"answer {number % 5}", f"2020-03-{number % 19 + 10}"]
    texts += [("true", "false")[number % 2], "" if number % 3 else f"0{number}"]
    return texts[column % len(KINDS)]


def test_a_file_of_many_columns_is_read_in_little_memory(tmp_path):
    lines = [",".join(f"c{column}" for column in range(COLUMNS))]
    lines += [",".join(value(row, column) for column in range(COLUMNS)) for row in range(ROWS)]
    path = tmp_path / "wide.csv"
    path.write_text("\n".join(lines) + "\n")
    done = subprocess.run(
        [sys.executable, "-c", READ, str(path)], capture_output=True, text=True, check=True
    )
    kinds, rows, peak = json.loads(done.stdout.splitlines()[-1])  # after a progress bar
    assert kinds == KINDS * (COLUMNS // len(KINDS))
    assert rows == ROWS
    assert peak < LIMIT
