"""``anon-sql demo``: a generated table, its release, and what both disclose.

Its tables are those of ``anon-sql shell --demo``, with which it ends.
"""

import shlex
import shutil
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import duckdb
import typer

import anon_sql
from anon_sql import datasets
from anon_sql.apps import files, manifest
from anon_sql.apps.cli import console
from anon_sql.apps.cli.console import stoppable
from anon_sql.apps.cli.options import measured
from anon_sql.core.names import quote
from anon_sql.hosts.files import temporary_folder

TABLE, RELEASED, K_OF_DEMO, IN_MEMORY = "adult", "adult_release", 10, ":memory:"
Database = Annotated[
    str,
    typer.Option(help="Database file; created if missing. Default: in memory.", show_default=False),
]
K = Annotated[int, typer.Option("--k", help="Minimum number of rows in an equivalence class.")]
RELEASE = f"CREATE TABLE {RELEASED} AS FROM anonymize('{TABLE}', k := "


def run_demo(k: K = K_OF_DEMO, database: Database = IN_MEMORY) -> None:
    """Release a generated table: roles, release, loss, audit, file.

    Example: anon-sql demo --k 25 --database demo.duckdb
    """

    def show(con: duckdb.DuckDBPyConnection) -> None:
        make_raw(con)
        _roles(con)
        make_release(con, k)
        _release(con, k)
        _figures(con, k)
        _audit(con, k)
        _publish(con, k)

    with console.one_sentence(), anon_sql.connect(database) as con:
        stoppable(con, partial(show, con))
    console.head("Your turn")
    console.say("Query these tables in the shell; Ctrl-D leaves it:")
    console.say(f"  {_again(k, database)}")
    console.say("Start with your own CSV or Parquet file:")
    console.say(f"  {program()} roles your.csv")


def make_raw(con: duckdb.DuckDBPyConnection) -> None:
    """Make the raw table of the demonstration. Raises AnonError where a name is taken."""
    for name in (RELEASED, TABLE):
        datasets.drop(con, "demo", name)
    datasets.adult(con, table=TABLE)


def make_release(con: duckdb.DuckDBPyConnection, k: int) -> None:
    """Release the raw table of the demonstration."""
    con.execute(f"{RELEASE}?)", [k])
    datasets.mark(con, RELEASED)


def program() -> str:
    """Return the command line as it is typed where this process runs."""
    script = Path(sys.executable).with_name("anon-sql")
    if not script.is_file():
        return shlex.join([sys.executable, "-m", "anon_sql.apps.cli.app"])
    on_path = shutil.which("anon-sql")
    if on_path and Path(on_path).resolve() == script.resolve():
        return "anon-sql"
    inside = script.is_relative_to(Path.cwd())
    return shlex.quote(str(script.relative_to(Path.cwd()) if inside else script))


def _again(k: int, database: str) -> str:
    """Return the command that opens a shell with the same tables."""
    if database != IN_MEMORY:
        return f"{program()} shell {shlex.quote(database)}"
    return f"{program()} shell --demo" + (f" --k {k}" if k != K_OF_DEMO else "")


def _one(con: duckdb.DuckDBPyConnection, sql: str, parameters: list[Any] | None = None) -> Any:
    ((value,),) = con.execute(sql, parameters or []).fetchall()
    return value


def _roles(con: duckdb.DuckDBPyConnection) -> None:
    """Describe the raw table, and show suggested roles, which are those that it declares."""
    rows = _one(con, f"SELECT count(*) FROM {TABLE}")
    console.head("The raw table")
    console.say(f"{TABLE}: {rows:,} generated rows that resemble the US census of 1994.")
    console.say("No row is a real person. A role for each column, as suggested:")
    suggested = f"SELECT column_name, role, reason FROM suggest_roles('{TABLE}')"
    console.say(f"  {suggested};")
    console.show(con.sql(suggested))
    console.say("Suggestions are never applied. The demo declares the same roles:")
    console.say("quasi-identifiers are generalized, the sensitive column is protected.")


def _release(con: duckdb.DuckDBPyConnection, k: int) -> None:
    """Show two people before and after."""
    console.head("The release")
    console.say(f"  {RELEASE}{k});")
    people, names = _two(con), [*datasets.QUASI, *datasets.SENSITIVE]
    if len(people) == 2:
        console.say("Two people, each before and after:")
        cells = zip(names, *(texts for pair in people for texts in pair), strict=True)
        console.show_lines(("column", "person 1", "released", "person 2", "released"), cells)
    console.say("A label such as [18, 25] or {A, B} stands for every value inside it,")
    console.say(f"and at least {k} rows have the same labels in all eight columns.")


NUMBERS = ("age", "education_num")
LOOKED_AT = 1_000  # rows among which two people are chosen
WIDE = 14  # characters of the widest value that fits four times into 80 columns


def _two(con: duckdb.DuckDBPyConnection) -> list[tuple[list[str], list[str]]]:
    """Return the values and the labels of two people, each covered by one class only.

    They are of the first rows of the table. Those come first of whom many columns were generalized,
    unless a label has to be cut.
    """
    quasi = [quote(name) for name in datasets.QUASI]
    texts = [quote(name) for name in datasets.QUASI if name not in NUMBERS]
    parts = [
        *(f"anon_min({name})::INT AS low_{name}" for name in NUMBERS),
        *(f"anon_max({name})::INT AS high_{name}" for name in NUMBERS),
        *(f"anon_values({name}) AS {name}" for name in texts),
    ]
    covers = [
        *(f"t.{name} BETWEEN low_{name} AND high_{name}" for name in NUMBERS),
        *(f"list_contains(class.{name}, t.{name})" for name in texts),
    ]
    changed = " + ".join(f"(label.{name}[1] IN ('[', '{{'))::INT" for name in quasi)
    too_long = " + ".join(f"(len(label.{name}) > {WIDE})::INT" for name in quasi)
    short = " AND ".join(f"len(t.{name}) <= {WIDE}" for name in texts)
    singled_out = con.execute(
        f"""
        WITH class AS MATERIALIZED (
            SELECT label, {", ".join(parts)}
            FROM (SELECT DISTINCT {", ".join(quasi)} FROM {RELEASED}) AS label),
        alone AS (
            SELECT t.rowid AS person, any_value(label) AS label
            FROM {TABLE} AS t, class
            WHERE t.rowid < {LOOKED_AT} AND {short} AND {" AND ".join(covers)}
            GROUP BY t.rowid HAVING count(*) = 1)
        SELECT person, label FROM alone
        ORDER BY {changed} - 2 * ({too_long}) DESC, person LIMIT 2
        """
    ).fetchall()
    people = []
    shown = ", ".join([*quasi, *map(quote, datasets.SENSITIVE)])
    for person, labels in singled_out:
        raw = con.execute(f"SELECT {shown} FROM {TABLE} WHERE rowid = ?", [person]).fetchall()[0]
        kept = raw[len(quasi) :]
        people.append(([_cut(value) for value in raw], [*map(_cut, labels.values()), *kept]))
    return people


def _cut(value: object) -> str:
    text = str(value)
    return text if len(text) <= WIDE else text[: WIDE - 1] + "…"


def _figures(con: duckdb.DuckDBPyConnection, k: int) -> None:
    """Say what the release costs and what it protects, a figure a sentence."""
    measures = measured(con, f"FROM utility('{TABLE}', '{RELEASED}', k := ?)", [k])
    labels = ", ".join(map(quote, datasets.QUASI))
    alone = f"SELECT count(*) FROM (SELECT 1 FROM {{}} GROUP BY {labels} HAVING count(*) = 1)"
    raw, released = (_one(con, alone.format(name)) for name in (TABLE, RELEASED))
    console.head("What it protects, and what it costs")
    console.say(f"  FROM utility('{TABLE}', '{RELEASED}', k := {k});")
    for figure, sentence in (
        (f"{raw:,}", "people are alone with their eight values in the raw table:"),
        ("", "anyone who knows these values finds the row."),
        (f"{released:,}", "people are alone in the release."),
        (f"{measures['smallest_class']:,}", "rows are in the smallest class (smallest_class)."),
        (
            f"{measures['cavg'] * k:.1f}",
            f"rows are in the average class; {k} would be ideal (cavg).",
        ),
        (f"{measures['gcp']:.1%}", "of the detail in the eight columns is lost (gcp)."),
        (f"{measures['suppression_rate']:.1%}", "of the rows are suppressed (suppression_rate)."),
    ):
        console.say(f"  {figure:>7}  {sentence}")


def _audit(con: duckdb.DuckDBPyConnection, k: int) -> None:
    """Check the release against its table, as it would be checked if it were edited."""
    console.head("The audit")
    console.say("It compares any edited or exported release with the raw table:")
    audit = f"SELECT passed, meaning FROM audit('{TABLE}', '{RELEASED}', k := {{}})"
    console.say(f"  {audit.format(k)};")
    checks = con.execute(f"{audit.format('$k')} WHERE passed IS NOT NULL", {"k": k}).fetchall()
    console.show_lines(("passed", "meaning"), ((str(p).lower(), meaning) for p, meaning in checks))
    console.say("Not shown: what an audit cannot decide, for which passed is NULL.")


def _publish(con: duckdb.DuckDBPyConnection, k: int) -> None:
    """Write the release and its manifest to a new folder."""
    folder = tempfile.mkdtemp(prefix="anon_sql_demo_", dir=temporary_folder("demo"))
    target = Path(folder) / f"{RELEASED}.csv"
    files.write(con, f"FROM {RELEASED}", target, target)
    roles = dict.fromkeys(manifest.ROLES)
    parameters = {"k": k, "seed": 42}
    made = manifest.make(con, (TABLE, RELEASED), "anonymize", parameters, roles, None)
    manifest.write(made, target, manifest.beside(target))
    console.head("The file")
    console.say("The release was written with a manifest, which this command checks:")
    console.say(f"  {program()} verify {shlex.quote(str(target))}")
