"""What measures of a large release cost beside DuckDB's own ORDER BY of the raw table.

    python benchmarks/measures.py [rows …]

A fresh process for each number of rows (default a million) makes an Adult-like table and its
release (k = 10), and runs ORDER BY and each measure in turn three times after one run that is not
counted: least seconds, ratio, and the most memory that the process held during these four runs, in
MiB above what it held before them (Linux alone).
"""

import json
import subprocess
import sys
import time
from typing import Any

from peak import peak

QUASI = [
    *("age", "workclass", "education_num", "marital_status"),
    *("occupation", "race", "sex", "native_country"),
]
CALLS = {
    "gcp": "SELECT gcp('adult_like', 'release', quasi := {0})",
    "utility": "FROM utility('adult_like', 'release', k := 10, quasi := {0})",
    "k_anonymity": "SELECT k_anonymity('adult_like', 'release', quasi := {0})",
    "t_closeness": "SELECT t_closeness('adult_like', 'release', quasi := {0}, sensitive := 'income')",
    "audit": "FROM audit('adult_like', 'release', k := 10, quasi := {0}, sensitive := 'income')",
}


def measure(rows: int) -> dict[str, Any]:
    """Return seconds of ORDER BY and of each measure, and MiB, of this process."""
    import anon_sql
    from anon_sql import datasets

    con = anon_sql.connect()
    datasets.adult(con, rows, table="adult_like", seed=42, roles=False)
    con.execute(
        "CREATE TABLE release AS FROM anonymize('adult_like', k := 10, effort := 'fast', "
        f"quasi := {QUASI}, sensitive := 'income')"
    )
    statements = {
        "ORDER BY": f"CREATE OR REPLACE TABLE s AS FROM adult_like ORDER BY {', '.join(QUASI)}"
    }
    statements |= {name: call.format(QUASI) for name, call in CALLS.items()}
    found: dict[str, Any] = {}
    for name, statement in statements.items():
        taken: list[float] = []

        def run(statement: str = statement, taken: list[float] = taken) -> None:
            for _ in range(4):
                started = time.perf_counter()
                con.execute(statement).fetchall()
                taken.append(time.perf_counter() - started)

        before, most = peak(run)
        found[name] = [min(taken[1:]), most - before]
    return found


def main() -> None:
    """Print the table."""
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(measure(int(sys.argv[2]))))
        return
    print("rows       measure         s   ratio   MiB above")
    for rows in [int(rows) for rows in sys.argv[1:]] or [1_000_000]:
        one = [sys.executable, __file__, "--one", str(rows)]
        found = json.loads(subprocess.run(one, capture_output=True, text=True, check=True).stdout)
        for name, (seconds, held) in found.items():
            ratio = seconds / found["ORDER BY"][0]
            print(f"{rows:<11,}{name:<12}{seconds:7.3f}{ratio:8.1f}{held:12,.0f}")


if __name__ == "__main__":
    main()
