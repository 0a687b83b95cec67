"""The command line: ``anon-sql demo``, ``query``, ``release``, ``shell`` and ``data adult``."""

import csv
import shlex
import sys
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import duckdb
import typer

import anon_sql
from anon_sql import adult, console, demo, files
from anon_sql.errors import AnonError, did_you_mean
from anon_sql.relation import quote
from anon_sql.roles import fold

app = typer.Typer(
    help="k-anonymous tables and what they cost, as SQL functions in DuckDB.",
    epilog="Start with: anon-sql demo",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
data_app = typer.Typer(help="Load public data sets.", no_args_is_help=True)
app.add_typer(data_app, name="data")

Database = Annotated[str, typer.Option(help="Database file; made where it does not exist.")]
K = Annotated[int, typer.Option("--k", help="Smallest size of an equivalence class, in rows.")]
Columns = list[str]
ROLES = ["qids", "sensitive", "identifiers", "keep"]  # as functions call them


class Output(StrEnum):
    """How query prints a result."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"


class Format(StrEnum):
    """How a release writes a generalized value."""

    LABEL = "label"
    TYPED = "typed"


class Suppressed(StrEnum):
    """What becomes of suppressed rows."""

    KEEP = "keep"
    DROP = "drop"


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"anon-sql {anon_sql.__version__}, DuckDB {duckdb.__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show versions.")
    ] = False,
) -> None:
    """k-anonymous tables and what they cost, as SQL functions in DuckDB."""


@app.command("demo")
def run_demo(k: K = 10, database: Database = ":memory:") -> None:
    """Release a synthetic table and show what that costs.

    Example: anon-sql demo --k 25 --database demo.duckdb
    """
    with console.one_sentence(), anon_sql.connect(database) as con:
        released = f"{demo.TABLE}_release"
        demo.drop_made(con, [released, demo.TABLE])
        demo.make_adult_like(con, demo.TABLE)
        anon_sql.declare(con, demo.TABLE, quasi=adult.QUASI, sensitive=adult.SENSITIVE)
        console.say(f"{demo.TABLE}: 30,000 synthetic rows, drawn from published summary figures of")
        console.say("the 1994 US census extract Adult. No row is a real person. Ten of them:")
        console.show(con.sql(f"FROM {demo.TABLE} LIMIT 10"))
        con.execute(f"CREATE TABLE {released} AS FROM rayden('{demo.TABLE}', k := ?)", [k])
        demo.mark(con, released)
        console.say(f"CREATE TABLE {released} AS FROM rayden('{demo.TABLE}', k := {k});")
        console.say("The release is as synthetic, and its order says nothing. One row in 3,000:")
        console.show(con.sql(f"FROM {released} WHERE rowid % 3000 = 0"))
        console.say(f"FROM utility('{demo.TABLE}', '{released}', k := {k});")
        utility = f"FROM utility('{demo.TABLE}', '{released}', k := ?)"
        console.show_measures(_measures(con, utility, [k]))
    console.say("Next, on a Parquet or CSV file of yours:")
    query = f"SELECT * FROM rayden('your.parquet', k := {k}, qids := ['age', 'zip'])"
    console.say(f'  anon-sql query "{query}"')
    console.say("  anon-sql release your.csv safe.csv --quasi age,zip --sensitive disease")
    console.say("Read on: docs/k-anonymity.md, docs/roles.md, docs/reference.md")


@app.command()
def query(
    sql: Annotated[str, typer.Argument(help="One or more statements; the last result is shown.")],
    database: Database = ":memory:",
    output: Annotated[
        Output, typer.Option("--format", help="A table cuts long values.")
    ] = Output.TABLE,
    rows: Annotated[
        int | None, typer.Option(min=0, help="Rows to print; default 40 in a table, else all.")
    ] = None,
) -> None:
    """Run SQL with the functions registered and print the result.

    Example: anon-sql query "FROM rayden('people.parquet', k := 10, qids := ['age', 'zip'])"
    """
    with console.one_sentence(), anon_sql.connect(database) as con:
        # Names in the statement mean tables, never this program's Python variables.
        con.execute("SET python_enable_replacements = false")
        result = con.sql(sql)
        if result is None or result.columns == ["Success"]:
            if output is Output.TABLE:
                console.say("done")
        elif output is Output.TABLE:
            shown = console.ROWS if rows is None else rows
            console.say_count(console.show(result, shown), shown)
        elif output is Output.CSV:
            console.write_csv(result, rows)
        else:
            console.write_json(result, rows)


@app.command()
def release(
    source: Annotated[Path, typer.Argument(metavar="IN", help="CSV, TSV or Parquet file.")],
    target: Annotated[Path, typer.Argument(metavar="OUT", help="File to write, likewise.")],
    quasi: Annotated[Columns, typer.Option(help="Columns to generalize: age,sex")],
    method: Annotated[str, typer.Option(help="Release function.")] = "anonymize",
    k: K = 5,
    sensitive: Annotated[Columns, typer.Option(help="Columns to protect.")] = [],  # noqa: B006
    identifier: Annotated[Columns, typer.Option(help="Columns to drop.")] = [],  # noqa: B006
    keep: Annotated[Columns, typer.Option(help="Columns to keep as is.")] = [],  # noqa: B006
    format_: Annotated[
        Format, typer.Option("--format", help="Text labels, or typed ranges and lists.")
    ] = Format.LABEL,
    suppressed: Annotated[Suppressed, typer.Option(help="Suppressed rows.")] = Suppressed.KEEP,
    seed: Annotated[int, typer.Option(help="All randomness.")] = 42,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace OUT.")] = False,
) -> None:
    """Release a file: read IN, generalize it, write OUT.

    IN and OUT end in .csv, .tsv, .csv.gz, .tsv.gz or .parquet. Separate columns with commas or
    repeat the option. A column without a role is kept as it is.

    Example: anon-sql release people.csv safe.csv --k 10 --quasi age,sex --sensitive income
    """
    with console.one_sentence():
        if format_ is Format.TYPED and files.kind(target)[0] == "csv":
            hint = "name it .parquet"
            raise AnonError("release", "OUT must be Parquet for --format typed", "CSV", hint)
        files.kind(target)
        files.check_pair(source, target, overwrite)
        with anon_sql.connect() as con:
            method = _release_method(con, method)
            given = (_names(columns) for columns in (quasi, sensitive, identifier, keep))
            named = dict(zip(ROLES, given, strict=True))
            files.read(con, source, "raw")
            call = ", ".join(f"{parameter} := ?" for parameter in named)
            con.execute(
                f"CREATE TABLE released AS FROM {quote(method)}('raw', k := ?, {call}, "
                "format := ?, suppressed := ?, seed := ?)",
                [k, *named.values(), format_.value, suppressed.value, seed],
            )
            utility = "FROM utility('raw', 'released', k := ?, qids := ?)"
            measured = _measures(con, utility, [k, named["qids"]])
            with_role = {fold(name) for columns in named.values() for name in columns}
            rest = [
                name for name in con.sql("FROM released").columns if fold(name) not in with_role
            ]
            files.write(con, "released", target)
            console.say(f"{target}: {method}, k = {k}, from {source}")
            if rest:
                console.say(f"kept as they are, for want of a role: {', '.join(rest)}")
            console.show_measures(measured)


@app.command()
def shell(
    database: Annotated[
        str, typer.Argument(help="Database file; made where it does not exist.")
    ] = ":memory:",
) -> None:
    """Answer statements as they are typed, or those of a script on stdin.

    A statement ends with a semicolon. On a terminal Tab completes names, \\h rayden shows help,
    Ctrl-C stops a statement, Ctrl-D leaves. A script stops at its first error.

    Example: anon-sql shell people.duckdb
    """
    from anon_sql.shell import script

    with console.one_sentence():
        talk = _interactive() if sys.stdin.isatty() else None
        with anon_sql.connect(database) as con:
            # Names in a statement mean tables, never this program's Python variables.
            con.execute("SET python_enable_replacements = false")
            con.execute("SET enable_progress_bar = false")  # it would draw over ours
            if talk:
                talk(con, database)
            elif not script.run(con, sys.stdin):
                raise typer.Exit(1)


def _interactive() -> Callable[[duckdb.DuckDBPyConnection, str], None]:
    """What talks on a terminal. Raises AnonError where its packages are not installed."""
    try:
        from anon_sql.shell.prompt import interactive
    except ModuleNotFoundError as error:
        hint = "pip install 'anon-sql[shell]'"
        rule = "prompt_toolkit and pygments must be installed to type on a terminal"
        raise AnonError("shell", rule, f"no {error.name}", hint) from None
    return interactive


@data_app.command("adult")
def load_adult(
    sources: Annotated[list[str], typer.Argument(metavar="PATH_OR_URL...", help="UCI's files.")],
    database: Database = "adult.duckdb",
    no_checksum: Annotated[
        bool, typer.Option("--no-checksum", help="Accept other bytes than UCI's.")
    ] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace table adult.")] = False,
) -> None:
    """Load UCI Adult into table adult, with its roles declared.

    The source is a directory that holds adult.data and adult.test, one or both of these files,
    UCI's adult.zip, or an http(s) address of any of them.

    Example: anon-sql data adult ~/Downloads/adult.zip --database adult.duckdb
    """
    with console.one_sentence():
        rows = adult.read_adult(sources, checksum=not no_checksum)
        with anon_sql.connect(database) as con:
            adult.create_adult(con, rows, overwrite)
            anon_sql.declare(
                con, "adult", quasi=adult.QUASI, sensitive=adult.SENSITIVE, keep=adult.KEEP
            )
            console.show(con.sql(adult.SUMMARY))
    console.say("Kept columns are released as they are, and education tells education_num. Next:")
    query = "SELECT * EXCLUDE (education, fnlwgt, relationship) FROM rayden('adult', k := 10)"
    console.say(f'  anon-sql query "{query}" --database {shlex.quote(database)}')


def _measures(
    con: duckdb.DuckDBPyConnection, sql: str, arguments: list[object]
) -> dict[str, object]:
    result = con.execute(sql, arguments)
    names = [column[0] for column in result.description or []]
    (row,) = result.fetchall()
    return dict(zip(names, row, strict=True))


def _names(given: Columns) -> Columns:
    """Column names from repeated options, each a comma-separated line; quotes protect a comma."""
    lines = csv.reader(given, skipinitialspace=True)
    return [name.strip() for line in lines for name in line if name.strip()]


def _release_method(con: duckdb.DuckDBPyConnection, method: str) -> str:
    """The release function of this name. Raises AnonError that lists them for any other."""
    found = con.execute(
        "SELECT DISTINCT function_name FROM duckdb_functions() WHERE function_type = 'table_macro' "
        "AND NOT internal AND list_has_all(parameters, ?) ORDER BY ALL",
        [["tbl", "k", *ROLES, "format", "suppressed", "seed"]],
    ).fetchall()
    known = [name for (name,) in found]
    if fold(method) not in known:
        hint = did_you_mean(method, known)
        raise AnonError("release", "--method must be a release function", f"'{method}'", hint)
    return fold(method)


if __name__ == "__main__":
    app()
