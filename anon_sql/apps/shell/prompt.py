"""Run the shell on a terminal, with editing, colours, completion and history."""

from collections.abc import Iterator

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

from anon_sql.apps import console
from anon_sql.apps.shell.answering import answer
from anon_sql.apps.shell.history import history_file
from anon_sql.apps.shell.known_names import known
from anon_sql.apps.shell.statements import finished
from anon_sql.apps.shell.suggesting import suggest
from anon_sql.version import VERSION

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
