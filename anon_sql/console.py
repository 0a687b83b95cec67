"""What the command line prints: tables, measures in plain words, errors as one sentence."""

import csv
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import duckdb
import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

ROWS = 40
PIPE_WIDTH = 400  # a pipe has no width; rich's 80 columns would fold every row
_NUMBER = re.compile(
    r"(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|DECIMAL\(.*\)|FLOAT|DOUBLE)", re.IGNORECASE
)
_UDF = re.compile(r".*Python exception occurred while executing the UDF: (AnonError: )?", re.DOTALL)
_AFTER = re.compile(r"\s*\n\s*(At:|LINE \d+:).*", re.DOTALL)

MEANING = {
    "rows": "rows in the raw table",
    "suppressed": "rows whose quasi-identifiers are all hidden or that are left out",
    "classes": "groups of rows that look alike in every quasi-identifier",
    "smallest_class": "size of the smallest group: at least k",
    "dm": "discernibility: each row costs the size of its group; lower is better",
    "dm_star": "discernibility where a suppressed row costs the whole table; lower is better",
    "cavg": "average group size divided by k; 1 is best",
    "gcp": "detail lost in the quasi-identifiers: 0 nothing, 1 everything",
    "iloss": "width of the labels, summed over all rows; lower is better",
    "suppression_rate": "share of rows suppressed: 0 none, 1 all",
}


@contextmanager
def one_sentence() -> Iterator[None]:
    """Turn an error that a user can cause into one line on stderr and exit code 1."""
    try:
        yield
    except BrokenPipeError:  # `| head` has seen enough: typer ends quietly
        raise
    except (duckdb.Error, OSError, ValueError) as error:
        typer.echo(sentence(error), err=True)
        raise typer.Exit(1) from None


def sentence(error: Exception) -> str:
    """The text of an error without what DuckDB puts around and below it, on one line."""
    text = _AFTER.sub("", _UDF.sub("", str(error)))
    return visible(" ".join(text.removeprefix("Invalid Input Error: ").split()))


def visible(value: str) -> str:
    """Text with control characters spelled out, so that data cannot drive the terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in value)


def say(text: str = "") -> None:
    """One line of plain words, never wrapped: it may be a command to copy."""
    _console().print(Text(text), soft_wrap=True)


def show(result: duckdb.DuckDBPyRelation, rows: int = ROWS) -> int:
    """Print a result as a table of at most ``rows`` rows; how many it has."""
    numeric = [bool(_NUMBER.fullmatch(str(kind))) for kind in result.types]
    names = [Text(visible(name)) for name in result.columns]
    printed = result.project("COLUMNS(*)::VARCHAR").to_arrow_table()
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name, number in zip(names, numeric, strict=True):
        table.add_column(name, justify="right" if number else "left", overflow="fold")
    head = printed.slice(0, rows)
    for row in zip(*(column.to_pylist() for column in head.columns), strict=True):
        table.add_row(*(_cell(value) for value in row))
    _console().print(table)
    total: int = printed.num_rows
    return total


def say_count(total: int, shown: int) -> None:
    """How many rows a result has, and how to see those that are not shown."""
    if total > shown:
        say(f"{total:,} rows, {shown:,} shown; --rows {total} shows all")
    else:
        say(f"{total:,} row{'' if total == 1 else 's'}")


def write_csv(result: duckdb.DuckDBPyRelation, rows: int | None) -> None:
    """Print a result as CSV, values as DuckDB prints them, NULL as nothing."""
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(result.columns)
    printed = result.project("COLUMNS(*)::VARCHAR").to_arrow_table().slice(0, rows)
    for batch in printed.to_batches(max_chunksize=10_000):
        out.writerows(zip(*(column.to_pylist() for column in batch.columns), strict=True))


def write_json(result: duckdb.DuckDBPyRelation, rows: int | None) -> None:
    """Print a result as JSON, one object a line."""
    printed = result.project("to_json(struct_pack(*COLUMNS(*)))::VARCHAR").to_arrow_table()
    for batch in printed.slice(0, rows).to_batches(max_chunksize=10_000):
        sys.stdout.writelines(f"{line}\n" for line in batch.column(0).to_pylist())


def show_measures(names: Sequence[str], values: Sequence[object]) -> None:
    """Print one row of measures as lines: name, figure, what it means."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("measure")
    table.add_column("value", justify="right")
    table.add_column("in plain words")
    for name, value in zip(names, values, strict=True):
        figure = f"{value:,.4f}" if isinstance(value, float) else value
        figure = f"{value:,}" if isinstance(value, int) else figure
        table.add_row(name, _cell(None if figure is None else str(figure)), MEANING.get(name, ""))
    _console().print(table)


def _cell(value: str | None) -> Text:
    return Text("NULL", style="dim") if value is None else Text(visible(value))


def _console() -> Console:
    """A console on today's stdout: tests and shells replace it after import."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = PIPE_WIDTH
    return console
