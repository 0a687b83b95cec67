"""Run the shell: statements and commands from a terminal, a pipe or a file."""

import shutil
import sys
from collections.abc import Callable, Iterable
from functools import partial

import duckdb
from rich.console import Console
from rich.text import Text

from anon_sql.apps.cli import console
from anon_sql.apps.cli.console import stoppable
from anon_sql.apps.shell.statements import inputs, without_end
from anon_sql.core.names import literal
from anon_sql.errors import AnonError
from anon_sql.hosts.duckdb import sql_files as headers
from anon_sql.hosts.duckdb.sql_files import sql_files

Draw = Callable[[duckdb.DuckDBPyRelation, int], None]
_ALL = 1_000  # rows: a list of functions or tables is shown whole
HELP = """\
  \\h            the functions
  \\h FUNCTION   what a function does, its parameters, errors, an example
  \\d            the tables
  \\d TABLE      the columns of a table and their roles
  \\q            leave, as Ctrl-D does
  \\?            this list
SQL ends with a semicolon. Tab completes, Ctrl-C stops a statement, Ctrl-R looks for an earlier
one."""
_TABLES = """\
SELECT table_name AS name, table_schema AS schema, table_catalog AS database,
    if(table_type = 'VIEW', 'view', 'table') AS kind
FROM information_schema.tables ORDER BY ALL"""


def run_command(con: duckdb.DuckDBPyConnection, text: str, draw: Draw) -> None:
    r"""Run a command. Raises AnonError for an unknown one and EOFError for ``\q``."""
    name, _, argument = text.strip().rstrip(";").partition(" ")
    argument = argument.strip()
    if name == "\\h" and argument:
        console.say(function_help(argument))
    elif name == "\\h":
        draw(con.sql("SELECT name, topic, summary FROM anon_help()"), _ALL)
    elif name == "\\d" and argument:
        draw(con.sql(f"FROM anon_roles({literal(argument)})"), _ALL)
    elif name == "\\d":
        draw(con.sql(_TABLES), _ALL)
    elif name == "\\q":
        raise EOFError
    elif name == "\\?":
        console.say(HELP)
    else:
        raise AnonError("shell", "a command must be known", f"'{name}'", "\\? lists them")


def function_help(name: str) -> str:
    """Return the call of a function and its header. Raises AnonError for an unknown name."""
    entry = headers.find("shell", name)
    (header,) = [file.header for file in sql_files() if file.name == entry.name]
    return f"{entry.call}\n\n{header}"


_EXPLAINED = ["explain_key", "explain_value"]


def answer(con: duckdb.DuckDBPyConnection, text: str) -> bool:
    """Run a command or SQL and return whether all of it succeeded. Raises EOFError for ``\\q``."""
    try:
        if text.lstrip().startswith("\\"):
            stoppable(con, partial(run_command, con, text, draw))
        else:
            for statement in duckdb.extract_statements(text):
                stoppable(con, partial(_run, con, statement))
    except BrokenPipeError:  # `| head` has seen enough
        raise
    except KeyboardInterrupt:
        _complain("stopped on request")
    except (duckdb.Error, ValueError, OSError) as error:
        _complain(console.error_text(error, text))
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


def _complain(message: str) -> None:
    Console(stderr=True, highlight=False).print(Text(message, style="red"), soft_wrap=True)


def run(con: duckdb.DuckDBPyConnection, lines: Iterable[str]) -> bool:
    """Answer statements up to the first that fails, and return whether none did."""
    try:
        return all(answer(con, text) for text in inputs(lines))
    except EOFError:
        return True
