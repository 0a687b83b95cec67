"""Run the shell on a terminal, with editing, colours, completion and history."""

import os
from collections.abc import Iterator
from pathlib import Path

import duckdb
from platformdirs import user_state_path
from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.enums import DEFAULT_BUFFER
from prompt_toolkit.filters import has_focus
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.lexers import PygmentsLexer
from pygments.lexers.sql import SqlLexer

from anon_sql.apps.cli import console
from anon_sql.apps.shell.completion import present_names, suggest
from anon_sql.apps.shell.shell import answer
from anon_sql.apps.shell.statements import finished
from anon_sql.version import VERSION


def history_file() -> Path | None:
    """Return the file, created if it does not exist, or None if it cannot be written."""
    path = user_state_path("anon_sql", appauthor=False) / "history"
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.touch(mode=0o600)
    except OSError:
        return None
    return path if os.access(path, os.R_OK | os.W_OK) else None


PROMPT, MORE = "anon> ", "    > "
_keys = KeyBindings()


class SqlCompleter(Completer):
    """Completions by ``suggest`` of the text before the cursor."""

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        self.con = con

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterator[Completion]:
        for suggestion in suggest(document.text_before_cursor, present_names(self.con)):
            yield Completion(suggestion.text, -suggestion.over, display_meta=suggestion.kind)


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
