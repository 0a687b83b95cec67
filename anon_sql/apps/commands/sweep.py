"""``anon-sql sweep``: write a page on the privacy and utility of all methods."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import duckdb
import typer

import anon_sql
from anon_sql.apps import console, files, manifest
from anon_sql.apps.commands import arguments
from anon_sql.apps.commands.option_words import in_options
from anon_sql.apps.commands.report import Page, drawing
from anon_sql.apps.csv_files.dialect import dialect
from anon_sql.apps.report import sweeping
from anon_sql.apps.stopping import stoppable
from anon_sql.errors import AnonError


def sweep(
    raw: Annotated[Path, typer.Argument(metavar="RAW", help="CSV, TSV or Parquet file.")],
    output: Page,
    quasi: Annotated[list[str], typer.Option(help="Columns to generalize: age,sex")],
    methods: Annotated[
        list[str], typer.Option(help="Methods to compare; default all that fit the table.")
    ] = [],  # noqa: B006
    ks: Annotated[str, typer.Option(help="Smallest classes, in rows.")] = "5,10,25,50,100",
    sensitive: arguments.Sensitive = [],  # noqa: B006
    identifier: arguments.Identifier = [],  # noqa: B006
    keep: arguments.Keep = [],  # noqa: B006
    l: arguments.L = None,  # noqa: E741
    l_kind: arguments.Kind = None,
    c: arguments.C = None,
    t: arguments.T = None,
    beta: arguments.Beta = None,
    delta: arguments.Delta = None,
    attacks: Annotated[
        bool, typer.Option("--attacks", help="Make each release again and attack it.")
    ] = False,
    hierarchy: arguments.Hierarchy = None,
    seed: Annotated[int, typer.Option(help="All randomness.")] = 42,
    delimiter: arguments.Delimiter = None,
    quotes: arguments.Quotes = '"',
    header: arguments.Header = None,
    null: arguments.Null = [],  # noqa: B006
    overwrite: arguments.Overwrite = False,
) -> None:
    """Write a page on what every method would make of a table, by k: loss, risk, time.

    Example: anon-sql sweep people.parquet --quasi age,sex --ks 5,25 -o sweep.html
    """
    with console.one_sentence(words=in_options):
        written_as = dialect("sweep", delimiter, quotes, header, null)
        files.check_source("sweep", "RAW", raw)
        arguments.check_page("sweep", output, overwrite)
        _, page = drawing("sweep")
        columns = (arguments.names(given) for given in (quasi, sensitive, identifier, keep))

        def draw(con: duckdb.DuckDBPyConnection) -> None:
            asked = {
                **dict(zip(manifest.ROLES, columns, strict=True)),
                "methods": arguments.names(methods) or None,
                "ks": _whole_numbers(ks),
                "l": l,
                "l_kind": l_kind and l_kind.value,
                "c": c,
                "t": t,
                "beta": beta,
                "delta": delta,
                "seed": seed,
                "hierarchy": arguments.read_hierarchy(con, "sweep", hierarchy, "hierarchy"),
            }
            files.read(con, raw, "raw", dialect=written_as, called=("sweep", "RAW"))
            if attacks and not asked["sensitive"]:
                raise AnonError("sweep", "--attacks needs a sensitive column", "none")
            rows = sweeping.sweep(con, asked, attacks=attacks)
            output.write_text(page.of_sweep(rows, asked, raw.name), "utf-8")
            console.say(f"{output}: {_count(rows)}, none written")

        with anon_sql.connect() as con:
            stoppable(con, partial(draw, con))


def _count(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return how many releases were compared, and how many could not be made."""
    made = sum(row["note"] is None for row in rows)
    failed = len(rows) - made
    said = f"{made} release{'' if made == 1 else 's'} compared"
    return said + (f", {failed} that could not be made" if failed else "")


def _whole_numbers(text: str) -> list[int]:
    """Return the whole numbers between commas. Raises AnonError for anything else."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        hint = "write --ks 5,10,25"
        raise AnonError("sweep", "--ks must be whole numbers", f"'{text}'", hint) from None
