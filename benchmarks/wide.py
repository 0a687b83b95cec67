"""What a wide table costs: time and peak memory of each command, by the number of columns.

    python benchmarks/wide.py [--rows 1000] [--columns 50,200,800,3000] [--limit 300] [command …]

The table resembles a survey: six quasi-identifiers and an identifier, then answers as small whole
numbers, decimal numbers, words and dates, some missing. Each command runs in a process of its own,
on a CSV file of the table. The commands are those of COMMANDS; SQL runs in a database. A command
that needs another one's files runs it before, without measuring it. A command that takes more
processor time than the limit is stopped.

The yardstick is DuckDB alone, which reads the CSV file, tests the types of its columns and writes
it again. Ratios are of processor time, which other work on the machine changes less than seconds.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

QUASI = ["age", "zip", "sex", "born", "job", "region"]
ROLES = ["--quasi", ",".join(QUASI), "--identifier", "id", "--keep", "*"]
RELEASE = [
    "release",
    "wide.csv",
    "out.csv",
    *ROLES,
    "--effort",
    "fast",
    "--overwrite",
]
YARDSTICK = "read and write"
COMMANDS = {
    YARDSTICK: "COPY (FROM read_csv('wide.csv', sample_size = -1)) TO 'again.csv'",
    "roles": ["roles", "wide.csv"],
    "recipe": ["roles", "wide.csv", "--recipe", "wide.toml", "--overwrite"],
    "release": RELEASE,
    "with manifest": [*RELEASE, "--manifest"],
    "verify": ["verify", "out.csv", "--raw", "wide.csv"],
    "report": ["report", "wide.csv", "out.csv", "-o", "report.html", "--overwrite"],
    "audit": ["audit", "wide.csv", "--quasi", ",".join(QUASI)],
    "suggest_roles": "FROM suggest_roles('wide')",
    "anonymize": "CREATE OR REPLACE TABLE safe AS "
    f"FROM anonymize('wide', quasi := {QUASI}, identifiers := ['id'], keep := ['*'])",
    "audit (SQL)": "FROM audit('wide', 'safe', 5, quasi := "
    f"{QUASI}, identifiers := ['id'], keep := ['*'])",
}
BEFORE = {"verify": "with manifest", "report": "with manifest", "audit (SQL)": "anonymize"}


def make(rows: int, columns: int) -> None:
    """Write ``wide.csv``, and a database with the same table."""
    import duckdb

    kinds = [
        "(hash(i * {n} + 1) % {m})::INTEGER",
        "((hash(i * {n} + 2) % 1000) / 10)::DECIMAL(4, 1)",
        "if(hash(i * {n} + 3) % 5 = 0, NULL, 'answer ' || hash(i * {n} + 4) % {m})",
        "DATE '2020-01-01' + (hash(i * {n} + 5) % 5)::INTEGER",
        "if(hash(i * {n} + 6) % 9 = 0, NULL, 1 + hash(i * {n} + 7) % 5)",
    ]
    answers = "".join(
        f", {kinds[n % len(kinds)].format(n=n + 1, m=2 + n % 7)} AS c{n:04}"
        for n in range(columns - len(QUASI) - 1)
    )
    with duckdb.connect("wide.duckdb") as con:
        con.execute(
            "CREATE TABLE wide AS SELECT 'P' || lpad(i::VARCHAR, 7, '0') AS id, "
            "20 + (hash(i) % 60)::INTEGER AS age, lpad((hash(i + 7) % 300 * 31)::VARCHAR, 5, '0') "
            "AS zip, ['f', 'm'][1 + (hash(i + 1) % 2)::INTEGER] AS sex, DATE '1940-01-01' + "
            "(hash(i + 2) % 20000)::INTEGER AS born, 'job ' || hash(i + 3) % 25 AS job, "
            f"'region ' || hash(i + 4) % 4 AS region{answers} FROM range({rows}) AS r(i)"
        )
        con.execute("COPY wide TO 'wide.csv'")


def run(command: str) -> None:
    """Run a command in this process."""
    call = COMMANDS[command]
    if isinstance(call, str):
        import anon_sql

        with anon_sql.connect("wide.duckdb") as con:
            con.execute(call).fetchall()
    else:
        from anon_sql.apps.main import main

        sys.argv = ["anon-sql", *call]
        main()


def measured(command: str, limit: int) -> tuple[float, float, float, int]:
    """Return seconds, processor seconds, peak memory in GB and exit code of a command.

    It runs in its own process. limit: of its processor seconds.
    """
    started = time.perf_counter()
    with open("said.txt", "w") as said:
        process = subprocess.Popen(
            [sys.executable, __file__, "--limit", str(limit), "--one", command],
            stdout=said,
            stderr=said,
        )
        _, status, used = os.wait4(process.pid, 0)
    return (
        time.perf_counter() - started,
        used.ru_utime + used.ru_stime,
        used.ru_maxrss / 1e6,
        os.waitstatus_to_exitcode(status),
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000)
    parser.add_argument("--columns", default="50,200,800,3000")
    parser.add_argument("--limit", type=int, default=300)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("commands", nargs="*")
    asked = parser.parse_args()
    if asked.one:
        resource.setrlimit(resource.RLIMIT_CPU, (asked.limit, asked.limit))
        run(asked.one)
        return
    commands = [YARDSTICK, *(asked.commands or list(COMMANDS)[1:])]
    print(f"{'command':15}{'rows':>9}{'columns':>9}{'seconds':>9}{'CPU':>8}{'ratio':>8}{'GB':>7}")
    for columns in map(int, asked.columns.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            make(asked.rows, columns)
            done, yardstick = set(), 0.0
            for command in commands:
                first = BEFORE.get(command)
                if first and first not in done:
                    measured(first, asked.limit)
                    done.add(first)
                seconds, processor, peak, code = measured(command, asked.limit)
                done.add(command)
                yardstick = yardstick or processor
                failed = "" if code == 0 else f"  exit code {code}"
                line = f"{command:15}{asked.rows:9,}{columns:9,}{seconds:9.1f}{processor:8.1f}"
                line += f"{processor / yardstick:8.1f}{peak:7.2f}"
                print(line + failed, flush=True)
                if code:
                    print(Path("said.txt").read_text()[-500:])
            os.chdir("/")


if __name__ == "__main__":
    main()
