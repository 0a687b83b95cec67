"""Run the shell: statements and commands from a terminal, a pipe or a file."""

import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

import duckdb
from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.enums import DEFAULT_BUFFER
from prompt_toolkit.filters import has_focus
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.lexers import PygmentsLexer
from pygments.lexers.sql import SqlLexer
from rich.console import Console
from rich.text import Text

from anon_sql.apps.cli import console
from anon_sql.apps.cli.console import stoppable
from anon_sql.apps.shell.completion import known, suggest
from anon_sql.apps.shell.statements import finished, inputs, without_end
from anon_sql.core.names import literal
from anon_sql.errors import AnonError
from anon_sql.hosts.duckdb import sql_files as headers
from anon_sql.hosts.duckdb.sql_files import sql_files
from anon_sql.version import VERSION

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


def run(con: duckdb.DuckDBPyConnection, lines: Iterable[str]) -> bool:
    """Answer statements up to the first that fails, and return whether none did."""
    try:
        return all(answer(con, text) for text in inputs(lines))
    except EOFError:
        return True


def history_file() -> Path | None:
    """Return the file, created if it does not exist, or None if it cannot be written."""
    path = _folder() / "history"
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.touch(mode=0o600)
    except OSError:
        return None
    return path if os.access(path, os.R_OK | os.W_OK) else None


def _folder() -> Path:
    given = os.environ.get("XDG_STATE_HOME")
    if given:
        return Path(given) / "anon_sql"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "anon_sql"
    return Path.home() / ".local" / "state" / "anon_sql"


PROMPT, MORE = "anon> ", "    > "
_keys = KeyBindings()


class SqlCompleter(Completer):
    """Completions by ``suggest`` of the text before the cursor."""

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        self.con = con

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterator[Completion]:
        for found in suggest(document.text_before_cursor, known(self.con)):
            yield Completion(found.text, -found.over, display_meta=found.kind)


@_keys.add("enter", filter=has_focus(DEFAULT_BUFFER))
def _enter(event: KeyPressEvent) -> None:
    """Take the chosen completion, run a finished statement, else begin a line."""
    buffer = event.current_buffer
    if buffer.complete_state and buffer.complete_state.current_completion:
        buffer.complete_state = None
    elif finished(buffer.text):
        buffer.validate_and_handle()
    else:
        buffer.newline(copy_margin=False)


def interactive(con: duckdb.DuckDBPyConnection, database: str) -> None:
    """Ask for statements and answer them until Ctrl-D or ``\\q``."""
    where = "in memory" if database == ":memory:" else database
    console.say(f"anon_sql {VERSION}, DuckDB {duckdb.__version__}, {where}")
    console.say("\\h lists functions, \\? commands; Ctrl-D leaves")
    session = _session(con)
    while True:
        try:
            text = session.prompt()
            if text.strip():
                answer(con, text)
        except KeyboardInterrupt:  # clear the line
            continue
        except EOFError:
            return


def _session(con: duckdb.DuckDBPyConnection) -> PromptSession[str]:
    path = history_file()
    history: History = InMemoryHistory() if path is None else FileHistory(str(path))
    return PromptSession(
        PROMPT,
        multiline=True,
        prompt_continuation=MORE,
        lexer=PygmentsLexer(SqlLexer),
        completer=SqlCompleter(con),
        complete_while_typing=False,
        history=history,
        key_bindings=_keys,
    )
