"""Suggest the names that fit at the cursor, as they have to be typed."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from anon_sql.apps.shell import cursor
from anon_sql.apps.shell.known_names import Names, functions
from anon_sql.hosts.duckdb.headers import Entry

_COMMAND = re.compile(r"\s*\\([hd])\s+(\S*)\Z")
_TABLE_FOLLOWS = ("FROM", "JOIN", "INTO", "TABLE", "UPDATE", "DESCRIBE", "SUMMARIZE")
_TABLES = ("tbl", "raw", "released", "hierarchy")  # parameters that name a relation
_QUOTED = re.compile(r"'(\w+)'")


@dataclass(frozen=True)
class Suggestion:
    """text: what to type in place of the last ``over`` characters; kind: what it is."""

    text: str
    over: int
    kind: str


def suggest(typed: str, known: Names) -> list[Suggestion]:
    """Return what fits at the end of the typed text, the likeliest first."""
    command = _COMMAND.match(typed)
    if command and command[1] == "h":
        return _offer(command[2], [entry.name for entry in functions()], "function")
    if command:
        return _offer(command[2], known.tables, "table")
    at = cursor.read(typed, {entry.name: entry for entry in functions()})
    if at.text is not None:
        return _in_text(at.text, at.call, at, known) if at.call else []
    if at.call and at.fresh:
        quoted = [f"'{_doubled(name)}'" for name in known.tables]
        left = [f"{name} := " for name in at.call.names if name not in at.given]
        return [
            *(_offer(at.word, quoted, "table") if at.parameter in _TABLES else []),
            *_offer(at.word, left, "parameter"),
        ]
    tables = _offer(at.word, known.tables, "table")
    rest = _offer(at.word, known.rest, "SQL") if at.word else []
    if at.before in _TABLE_FOLLOWS:
        return [*tables, *_calls(at.word, True), *rest]
    columns = _offer(at.word, map(known.written, _columns(at.words, known)), "column")
    return [*columns, *_calls(at.word, False), *(tables if at.word else []), *rest]


def _calls(word: str, is_table: bool) -> list[Suggestion]:
    """Return the package's table functions, or its scalar functions."""
    names = [f"{entry.name}(" for entry in functions() if entry.is_table == is_table]
    return _offer(word, names, "function")


def _in_text(typed: str, call: Entry, at: cursor.Cursor, known: Names) -> list[Suggestion]:
    """Return what fits inside quotes: functions, tables, words of the help, or columns."""
    if call.name == "anon_help":
        names, kind = [entry.name for entry in functions()], "function"
    elif at.parameter == "methods":
        names, kind = [e.name for e in functions() if e.folder == "release"], "function"
    elif at.parameter in _TABLES:
        names, kind = list(known.tables), "table"
    elif _choices(call, at.parameter):
        names, kind = _choices(call, at.parameter), "value"
    else:
        names, kind = list(_columns(at.words, known)), "column"
    return _offer(typed, map(_doubled, names), kind)


def _doubled(name: str) -> str:
    """Return a name as it is written inside a text."""
    return name.replace("'", "''")


def _choices(call: Entry, parameter: str) -> list[str]:
    """Return the values that the help of a parameter quotes."""
    said = next((text for names, text in call.arguments if parameter in names), "")
    return _QUOTED.findall(said)


def _columns(words: Iterable[str], known: Names) -> Iterator[str]:
    """Yield the columns of the tables that the statement names, or of all tables if none."""
    folded = {word.lower() for word in words}
    named = [columns for table, columns in known.tables.items() if _forms(table) & folded]
    seen: set[str] = set()
    for columns in named or known.tables.values():
        for column in columns:
            if column not in seen:
                seen.add(column)
                yield column


def _forms(table: str) -> set[str]:
    """Return the forms of a table's name in a statement, with and without the schema."""
    whole = table.lower().replace('"', "")
    return {whole, whole.rpartition(".")[2]}


def _offer(word: str, names: Iterable[str], kind: str) -> list[Suggestion]:
    return [Suggestion(name, len(word), kind) for name in names if _begins(name, word)]


def _begins(name: str, word: str) -> bool:
    """Return whether a name begins with a word, ignoring case and quotes."""
    return name.strip("'\"").lower().startswith(word.strip('"').lower())
