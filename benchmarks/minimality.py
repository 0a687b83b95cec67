"""What ``attack_minimality`` finds, and its time: how the limits of the rule minimality were chosen.

    python benchmarks/minimality.py [--rows 5000] [--runs N] [--method rayden] [--permuted] [table …]

Generated Adult-like records (``adult``), and the tables of benchmarks/verdict.py from
../shared/data. Of a larger table the first rows by hash are taken. Prints a row for each table,
release and sensitive column: people claimed, the share of them that is right and its baseline, the
gain, the seconds, and the control without the seed. With --permuted, sensitive values are dealt to
the rows at random before the release, so that they do not depend on the quasi-identifiers.
"""

import argparse
import sys
import time
from typing import Any

import duckdb
from verdict import TABLES, hospital

import anon_sql
from anon_sql import datasets
from anon_sql.hosts.duckdb.errors import own_error_text

RELEASES: list[dict[str, Any]] = [
    {"k": 5, "l": 2},
    {"k": 10, "l": 2},
    {"k": 10, "l": 3},
    {"k": 10, "l": 2, "t": 0.3},
    {"k": 10, "max_share": 0.8},
]
ADULT = TABLES["Adult"][1]


def make(
    con: duckdb.DuckDBPyConnection, name: str, rows: int, *, permuted: bool
) -> list[list[str]]:
    """Make the table raw; return its quasi-identifiers and sensitive columns."""
    if name == "adult":
        datasets.adult(con, rows, table="made", roles=False)
        source, quasi, sensitive = "made", ADULT, ["income"]
    else:
        source, quasi, sensitive = TABLES[name]
        if source.startswith("("):
            hospital(con)
    known, hidden = (", ".join(f'"{column}"' for column in each) for each in (quasi, sensitive))
    con.execute(
        f"CREATE TABLE raw AS SELECT {known}, {hidden} FROM (SELECT *, hash(t) AS h "
        f"FROM {source} AS t) ORDER BY h LIMIT {rows}"
    )
    if permuted:
        con.execute(
            f"CREATE OR REPLACE TABLE raw AS FROM (SELECT {known} FROM raw) POSITIONAL JOIN "
            f"(SELECT {hidden} FROM raw ORDER BY hash(rowid))"
        )
    return [quasi, sensitive]


def row_of(
    con: duckdb.DuckDBPyConnection,
    name: str,
    method: str,
    effort: str | None,
    roles: list[list[str]],
    asked: dict[str, Any],
    runs: int | None,
) -> None:
    """Print the rows of one release."""
    call = {**asked, "quasi": roles[0], "sensitive": roles[1]}
    listed = ", ".join(f"{key} := ${key}" for key in call)
    words = ", ".join(f"{key} = {value}" for key, value in asked.items())
    own = "" if effort is None else f", effort := '{effort}'"
    options = "" if effort is None else f", options := {{'{method}': {{'effort': '{effort}'}}}}"
    drawn = "" if runs is None else f", runs := {runs}"
    try:
        con.execute(
            f"CREATE OR REPLACE TABLE released AS FROM {method}('raw', {listed}{own})", call
        )
        started = time.perf_counter()
        found = con.execute(
            "SELECT attribute, claimed, correct_share, baseline_share, certain, gain, runs, "
            "control_claimed, control_correct_share, control_baseline_share FROM "
            f"attack_minimality('raw', 'released', method := '{method}', {listed}{options}{drawn})",
            call,
        ).fetchall()
    except duckdb.Error as error:
        print(f"{name} {words}: {own_error_text(error)}", file=sys.stderr)
        return
    seconds = time.perf_counter() - started
    for row in found:
        figures = (f"{each:.3f}" if isinstance(each, float) else f"{each}" for each in row[1:])
        print(
            f"| {name} | {words} | {row[0]} | {' | '.join(figures)} | {seconds:.0f} |", flush=True
        )


def main() -> None:
    asked = argparse.ArgumentParser()
    asked.add_argument("tables", nargs="*", default=["adult", *TABLES])
    asked.add_argument("--rows", type=int, default=5_000)
    asked.add_argument("--runs", type=int)
    asked.add_argument("--method", default="anonymize")
    asked.add_argument("--effort", help="of anonymize")
    asked.add_argument("--permuted", action="store_true")
    asked.add_argument("--first", action="store_true", help="the first release alone")
    given = asked.parse_args()
    print(
        "| table | release | column | claimed | right | baseline | certain | gain | runs |", end=""
    )
    print(" without the seed: claimed | right | baseline | seconds |\n|" + "---|" * 13)
    for name in given.tables:
        with anon_sql.connect() as con:
            roles = make(con, name, given.rows, permuted=given.permuted)
            for release in RELEASES[: 1 if given.first else None]:
                row_of(con, name, given.method, given.effort, roles, release, given.runs)


if __name__ == "__main__":
    main()
