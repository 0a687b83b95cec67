"""Run what was typed and print the answer, an error as one sentence in red."""

import shutil
import sys
from functools import partial

import duckdb
from rich.console import Console
from rich.text import Text

from anon_sql.apps import console
from anon_sql.apps.shell import commands
from anon_sql.apps.shell.statements import without_end
from anon_sql.apps.stopping import stoppable

_EXPLAINED = ["explain_key", "explain_value"]


def answer(con: duckdb.DuckDBPyConnection, text: str) -> bool:
    """Run a command or SQL and return whether all of it succeeded. Raises EOFError for ``\\q``."""
    try:
        if text.lstrip().startswith("\\"):
            stoppable(con, partial(commands.run, con, text, draw))
        else:
            for statement in duckdb.extract_statements(text):
                stoppable(con, partial(_run, con, statement))
    except BrokenPipeError:  # `| head` has seen enough
        raise
    except KeyboardInterrupt:
        _complain("stopped on request")
    except (duckdb.Error, ValueError, OSError) as error:
        _complain(console.sentence(error, text))
    else:
        return True
    return False


def draw(result: duckdb.DuckDBPyRelation, rows: int = console.ROWS) -> None:
    """Print a table as DuckDB draws it, as wide as the terminal; a pipe has no width."""
    wide = shutil.get_terminal_size().columns if sys.stdout.isatty() else console.PIPE_WIDTH
    result.show(max_width=wide, max_rows=rows)


def _run(con: duckdb.DuckDBPyConnection, statement: duckdb.Statement) -> None:
    result = con.sql(without_end(statement.query))
    changes = duckdb.ExpectedResultType.CHANGED_ROWS in statement.expected_result_type
    # DuckDB 2 returns a relation for statements without rows, where 1.5 returns None.
    if result is None or result.columns == ["Success"] or (changes and result.columns == ["Count"]):
        console.say("done")
    elif result.columns == _EXPLAINED:
        for _, plan in result.fetchall():
            console.say(plan)
    else:
        draw(result)


def _complain(sentence: str) -> None:
    Console(stderr=True, highlight=False).print(Text(sentence, style="red"), soft_wrap=True)
