"""Define the command line: its commands, and those that only print."""

import sys
from collections.abc import Callable
from enum import StrEnum
from functools import partial
from typing import Annotated

import duckdb
import typer

import anon_sql
from anon_sql.apps.cli import console, data
from anon_sql.apps.cli.audit import audit
from anon_sql.apps.cli.compile import compile_kernels
from anon_sql.apps.cli.console import stoppable
from anon_sql.apps.cli.demo import (
    IN_MEMORY,
    K_OF_DEMO,
    RELEASED,
    TABLE,
    Database,
    make_raw,
    make_release,
    run_demo,
)
from anon_sql.apps.cli.help import show_help
from anon_sql.apps.cli.progress import Progress, showing
from anon_sql.apps.cli.release import release
from anon_sql.apps.cli.report import report, sweep
from anon_sql.apps.cli.roles import roles
from anon_sql.apps.cli.studio import studio
from anon_sql.apps.cli.verify import verify
from anon_sql.apps.shell.statements import without_end
from anon_sql.errors import AnonError, not_installed

app = typer.Typer(
    help="k-anonymous tables and what they cost, as SQL functions in DuckDB.",
    epilog="Start with: anon-sql demo. Read on with: anon-sql help",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(data.app, name="data")


class PrintFormat(StrEnum):
    """How query prints a result."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"


def _version(requested: bool) -> None:
    if requested:
        typer.echo(f"anon-sql {anon_sql.__version__}, DuckDB {duckdb.__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show versions.")
    ] = False,
) -> None:
    """k-anonymous tables and what they cost, as SQL functions in DuckDB."""


app.command("demo")(run_demo)
app.command("help")(show_help)


@app.command()
def query(
    sql: Annotated[str, typer.Argument(help="One or more statements. The last result is printed.")],
    database: Database = ":memory:",
    output: Annotated[
        PrintFormat, typer.Option("--format", help="Output format; table cuts long values.")
    ] = PrintFormat.TABLE,
    rows: Annotated[
        int | None, typer.Option(min=0, help="Rows to print. Default: 40 as a table, else all.")
    ] = None,
    progress: Progress = None,
) -> None:
    """Run SQL with the anon_sql functions and print the result.

    Example: anon-sql query "FROM anonymize('raw.csv', k := 9, quasi := ['age'])"
    """

    def show(con: duckdb.DuckDBPyConnection) -> None:
        # Names in a statement mean tables, never Python variables of this program.
        con.execute("SET python_enable_replacements = false")
        result = con.sql(without_end(sql))
        if result is None or result.columns == ["Success"]:
            if output is PrintFormat.TABLE:
                console.say("done")
        elif output is PrintFormat.TABLE:
            limit = console.ROWS if rows is None else rows
            console.say_count(console.show(result, limit), limit)
        elif output is PrintFormat.CSV:
            console.write_csv(result, rows)
        else:
            console.write_json(result, rows)

    with console.one_sentence(sql=sql), anon_sql.connect(database) as con:
        stoppable(con, showing("query", progress, partial(show, con)))


app.command("roles")(roles)
app.command("audit")(audit)
app.command("release")(release)
app.command("verify")(verify)
app.command("report")(report)
app.command("sweep")(sweep)
app.command("studio")(studio)
app.command("compile")(compile_kernels)


@app.command()
def shell(
    database: Annotated[
        str,
        typer.Argument(
            help="Database file; created if missing. Default: in memory.", show_default=False
        ),
    ] = IN_MEMORY,
    demo: Annotated[
        bool, typer.Option("--demo", help="Open the tables of anon-sql demo, rebuilt in memory.")
    ] = False,
    k: Annotated[
        int | None,
        typer.Option("--k", help="With --demo: minimum number of rows in a class. Default: 10."),
    ] = None,
) -> None:
    """Run SQL statements as you type them, or a script from stdin.

    End each statement with a semicolon. On a terminal, Tab completes names,
    \\h rayden prints help, Ctrl-C stops a statement and Ctrl-D leaves. A
    script stops at its first error.

    Example: anon-sql shell people.duckdb
    """
    from anon_sql.apps.shell.shell import run

    with console.one_sentence():
        if demo and database != IN_MEMORY:
            raise AnonError(
                "shell", "--demo opens tables in memory, without DATABASE", f"'{database}'"
            )
        if k is not None and not demo:
            raise AnonError("shell", "--k must come with --demo", "it alone")
        talk = _interactive() if sys.stdin.isatty() else None
        with anon_sql.connect(database) as con:
            # Names in a statement mean tables, never Python variables of this program.
            con.execute("SET python_enable_replacements = false")
            con.execute("SET enable_progress_bar = false")  # it would draw over ours
            if demo:
                make_raw(con)
                make_release(con, K_OF_DEMO if k is None else k)
                if talk:
                    console.say(f"{TABLE} is the raw table, {RELEASED} its release. Try:")
                    console.say(f"  FROM {RELEASED} LIMIT 5;")
            if talk:
                talk(con, database)
            elif not run(con, sys.stdin):
                raise typer.Exit(1)


def _interactive() -> Callable[[duckdb.DuckDBPyConnection, str], None]:
    """Return what talks on a terminal. Raises AnonError where its packages are not installed."""
    try:
        from anon_sql.apps.shell.prompt import interactive
    except ModuleNotFoundError as error:
        rule = "prompt_toolkit and pygments must be installed to type on a terminal"
        raise not_installed("shell", rule, f"no {error.name}", "shell") from None
    return interactive


if __name__ == "__main__":
    app()
