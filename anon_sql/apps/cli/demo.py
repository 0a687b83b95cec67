"""``anon-sql demo``: the roles, the release, the audit and the file of a generated table."""

import tempfile
from functools import partial
from pathlib import Path
from typing import Annotated

import duckdb
import typer

import anon_sql
from anon_sql import datasets
from anon_sql.apps import files, manifest
from anon_sql.apps.cli import console
from anon_sql.apps.cli.console import stoppable
from anon_sql.apps.cli.options import measured

TABLE, RELEASED = "adult", "adult_release"
Database = Annotated[str, typer.Option(help="Database file; made where it does not exist.")]
K = Annotated[int, typer.Option("--k", help="Smallest size of an equivalence class, in rows.")]


def run_demo(k: K = 10, database: Database = ":memory:") -> None:
    """Suggest roles for a synthetic table, release it, audit the release and publish it.

    Example: anon-sql demo --k 25 --database demo.duckdb
    """

    def show(con: duckdb.DuckDBPyConnection) -> None:
        for name in (RELEASED, TABLE):
            datasets.drop(con, "demo", name)
        datasets.adult(con, table=TABLE)
        console.say(f"{TABLE}: 30,000 synthetic rows, drawn from published summary figures of")
        console.say("the 1994 US census extract Adult. No row is a real person. Five of them:")
        console.show(con.sql(f"FROM {TABLE} LIMIT 5"))
        _suggest(con)
        _release(con, k)
        _audit(con, k)
        _publish(con, k)

    with console.one_sentence(), anon_sql.connect(database) as con:
        stoppable(con, partial(show, con))
    console.say("Next, on a Parquet or CSV file of yours:")
    console.say("  anon-sql roles your.csv")
    console.say("  anon-sql release your.csv safe.csv --quasi age,zip --sensitive disease")
    console.say("Read on: anon-sql help k-anonymity, anon-sql help roles, anon-sql help reference")


def _suggest(con: duckdb.DuckDBPyConnection) -> None:
    """Show suggested roles, and declare those of the demonstration."""
    suggested = f"SELECT column_name, role, reason FROM suggest_roles('{TABLE}')"
    console.say(f"{suggested};")
    console.show(con.sql(suggested))
    console.say("Suggestions are never applied by themselves. Declared are:")
    console.say(f"  quasi-identifiers: {', '.join(datasets.QUASI)}")
    console.say(f"  sensitive: {', '.join(datasets.SENSITIVE)}")
    console.say()


def _release(con: duckdb.DuckDBPyConnection, k: int) -> None:
    """Release the table, and show some rows and what they cost."""
    con.execute(f"CREATE TABLE {RELEASED} AS FROM anonymize('{TABLE}', k := ?)", [k])
    datasets.mark(con, RELEASED)
    console.say(f"CREATE TABLE {RELEASED} AS FROM anonymize('{TABLE}', k := {k});")
    console.say("The order of its rows says nothing. One row in 6,000:")
    console.show(con.sql(f"FROM {RELEASED} WHERE rowid % 6000 = 0"))
    console.say(f"FROM utility('{TABLE}', '{RELEASED}', k := {k});")
    utility = f"FROM utility('{TABLE}', '{RELEASED}', k := ?)"
    console.show_measures(measured(con, utility, [k]))


def _audit(con: duckdb.DuckDBPyConnection, k: int) -> None:
    """Check the release against its table, as it would be checked if it were edited."""
    console.say(f"FROM audit('{TABLE}', '{RELEASED}', k := {k});")
    console.show(
        con.sql(
            "SELECT property, required, found, passed "
            f"FROM audit('{TABLE}', '{RELEASED}', k := $k) WHERE passed IS NOT NULL",
            params={"k": k},
        )
    )


def _publish(con: duckdb.DuckDBPyConnection, k: int) -> None:
    """Write the release and its manifest to a new folder."""
    target = Path(tempfile.mkdtemp(prefix="anon_sql_demo_")) / f"{RELEASED}.csv"
    files.write(con, f"FROM {RELEASED}", target, target)
    roles = dict.fromkeys(manifest.ROLES)
    parameters = {"k": k, "seed": 42}
    made = manifest.make(con, (TABLE, RELEASED), "anonymize", parameters, roles, None)
    manifest.write(made, target, manifest.beside(target))
    console.say("Published, with a manifest that anon-sql verify checks:")
    console.say(f"  {target}")
