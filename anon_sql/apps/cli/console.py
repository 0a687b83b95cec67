"""Print tables, measures and errors on a terminal, and let Ctrl-C stop the work on a connection."""

import csv
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from typing import Any

import duckdb
import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from anon_sql.core import stopping
from anon_sql.core.duckdb_internals.error_texts import is_interruption
from anon_sql.errors import SQL, Spelling
from anon_sql.hosts.duckdb import errors as plain
from anon_sql.hosts.duckdb.interrupting import interrupt, owner_of

ROWS = 40
CELL_WIDTH, NARROW, GAP = 40, 12, 2  # widest value, narrowest cut, blanks between columns
PIPE_WIDTH = 10_000  # a pipe has no width; rich's 80 columns would fold every row
_NUMBER = re.compile(
    r"(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|DECIMAL\(.*\)|FLOAT|DOUBLE)", re.IGNORECASE
)
STOPPED = "stopped on request"

MEANING = {
    "rows": "rows of the raw table",
    "released_rows": "rows of the release",
    "suppressed": "rows left out, or shown with * in every quasi-identifier",
    "parts": "parts in which the table was released",
    "classes": "groups of rows that look alike in every quasi-identifier",
    "smallest_class": "rows in the smallest group, the suppressed counted as one: at least k",
    "dm": "discernibility: each row costs the size of its group; lower is better",
    "dm_star": "the same, where a suppressed row costs the whole table",
    "cavg": "average group size divided by k; 1 is best",
    "gcp": "detail lost in the quasi-identifiers: 0 nothing, 1 everything",
    "iloss": "width of the labels, summed over all rows; lower is better",
    "suppression_rate": "share of rows suppressed: 0 none, 1 all",
}


@contextmanager
def one_sentence(
    stopped: str = STOPPED, *, sql: str | None = None, spelling: Spelling = SQL
) -> Iterator[None]:
    """Turn an error that a user can cause into one line on stderr and exit code 1.

    sql: the statement that runs. spelling: of the command. Ctrl-C prints ``stopped`` and ends with
    exit code 130, as shells do.
    """
    try:
        yield
    except BrokenPipeError:  # `| head` has seen enough: typer ends quietly
        raise
    except (duckdb.Error, OSError, ValueError) as error:
        typer.echo(error_text(error, sql, spelling), err=True)
        raise typer.Exit(1) from None
    except (KeyboardInterrupt, RuntimeError) as error:
        if isinstance(error, RuntimeError) and not is_interruption(error):
            raise
        typer.echo(stopped, err=True)
        raise typer.Exit(130) from None


def error_text(error: Exception, sql: str | None = None, spelling: Spelling = SQL) -> str:
    """Return the text of an error on one line, without what DuckDB puts around it."""
    return visible(plain.error_text(error, sql, spelling))


def visible(value: str) -> str:
    """Return text with control characters escaped, so that data cannot drive the terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in value)


def say(text: str = "") -> None:
    """Print one line, never wrapped: it may be a command to copy."""
    _console().print(Text(text), soft_wrap=True)


def head(text: str) -> None:
    """Print a heading after an empty line, bold on a terminal."""
    console = _console()
    console.print()
    console.print(Text(text, style="bold"), soft_wrap=True)


def note(text: str) -> None:
    """Print one line on stderr, which is no part of the result and no warning."""
    typer.echo(visible(text), err=True)


def warn(text: str) -> None:
    """Print a warning on stderr."""
    typer.echo(f"warning: {visible(text)}", err=True)


def show(result: duckdb.DuckDBPyRelation, rows: int = ROWS) -> int:
    """Print at most ``rows`` rows of a result, long values cut, and return how many it has."""
    printed = result.project("COLUMNS(*)::VARCHAR").to_arrow_table()
    console, names = _console(), [visible(name) for name in result.columns]
    columns = [[_cell(value) for value in c.to_pylist()] for c in printed.slice(0, rows).columns]
    widths = [
        max(cell.cell_len for cell in [Text(name), *column])
        for name, column in zip(names, columns, strict=True)
    ]
    chosen, limit = _fit(widths, console.width - 2)
    table = _table()
    for position in chosen:
        number = _NUMBER.fullmatch(str(result.types[position]))
        table.add_column(_cut(Text(names[position]), limit), justify="right" if number else "left")
    for row in zip(*(columns[position] for position in chosen), strict=True):
        table.add_row(*(_cut(cell, limit) for cell in row))
    console.print(table)
    if len(chosen) < len(names):
        hidden = ", ".join(name for position, name in enumerate(names) if position not in chosen)
        say(f"no room for: {hidden} (a wider terminal shows more)")
    total: int = printed.num_rows
    return total


def say_count(total: int, printed: int) -> None:
    """Print how many rows a result has, and how to see those that are not shown."""
    if total > printed:
        say(f"{total:,} rows, {printed:,} shown; --rows {total} shows all")
    else:
        say(f"{total:,} row{'' if total == 1 else 's'}")


def write_csv(result: duckdb.DuckDBPyRelation, rows: int | None) -> None:
    """Print a result as CSV: values as DuckDB prints them, NULL as an empty field."""
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


def show_lines(header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print rows of text; a terminal wraps the last column instead of leaving columns out."""
    table = _table()
    for name in header:
        last = name == header[-1]
        table.add_column(name, no_wrap=not last, overflow="fold")
    for row in rows:
        table.add_row(*map(_cell, row))
    _console().print(table)


def show_measures(measured: Mapping[str, object]) -> None:
    """Print measures as lines: name, figure, what it means."""
    table = _table()
    table.add_column("measure")
    table.add_column("value", justify="right")
    table.add_column("in plain words")
    for name, value in measured.items():
        figure = f"{value:,.4f}" if isinstance(value, float) else value
        figure = f"{value:,}" if isinstance(value, int) else figure
        table.add_row(name, _cell(None if figure is None else str(figure)), MEANING.get(name, ""))
    _console().print(table)


def _cell(value: str | None) -> Text:
    return Text("NULL", style="dim") if value is None else Text(visible(value))


def _fit(widths: Sequence[int], width: int) -> tuple[list[int], int]:
    """Return the columns that fit side by side, the middle ones left out, and a value's width."""
    chosen = list(range(len(widths)))
    while len(chosen) > 1 and _needed(widths, chosen, NARROW) > width:
        del chosen[len(chosen) // 2]
    limits = range(CELL_WIDTH, NARROW, -1)
    return chosen, next((n for n in limits if _needed(widths, chosen, n) <= width), NARROW)


def _needed(widths: Sequence[int], chosen: Sequence[int], limit: int) -> int:
    return sum(min(widths[position], limit) + GAP for position in chosen)


def _cut(cell: Text, limit: int) -> Text:
    cell.truncate(limit, overflow="ellipsis")
    return cell


def _table() -> Table:
    """Return a table whose columns are GAP apart: a blank of padding and one of the box."""
    return Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))


def _console() -> Console:
    """Return a console on the present stdout, which tests and shells replace after import."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = PIPE_WIDTH
    return console


def stoppable(con: duckdb.DuckDBPyConnection, work: Callable[[], None]) -> None:
    """Do some work on a connection. Raise KeyboardInterrupt if Ctrl-C has stopped it.

    The work runs in a thread of its own and the main thread only waits: DuckDB looks at signals in
    some of its calls only, and an exception that a signal raises inside a Python function that
    DuckDB calls can leave locks behind.
    """
    main = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGINT)
    if not main or not callable(before):  # no signal reaches this thread
        with stopping.call(*owner_of(con), encloses=True):
            work()
        return
    with stopping.call(*owner_of(con), encloses=True) as stop:

        def ask(number: int, frame: Any) -> None:
            stop.request()
            with suppress(duckdb.Error):  # the work may have closed it
                interrupt(con)

        signal.signal(signal.SIGINT, ask)
        try:
            with ThreadPoolExecutor(1) as pool:
                doing = pool.submit(stopping.work, stop, work)
                wait([doing])
        finally:
            signal.signal(signal.SIGINT, before)
    if stop.requested and doing.exception() is not None:
        raise KeyboardInterrupt from None
    doing.result()
