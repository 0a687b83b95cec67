"""What Tab offers at the cursor: names that fit there, as they have to be typed."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from anon_sql.headers import Entry
from anon_sql.shell import cursor
from anon_sql.shell.names import Names, functions

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
    """What fits at the end of what was typed, the likeliest first."""
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
    """The package's functions that stand in FROM, or those that do not."""
    names = [f"{entry.name}(" for entry in functions() if entry.is_table == is_table]
    return _offer(word, names, "function")


def _in_text(typed: str, call: Entry, at: cursor.Cursor, known: Names) -> list[Suggestion]:
    """Inside quotes: a function, a table, one of the words that the help names, or a column."""
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
    """A name as it stands inside a text."""
    return name.replace("'", "''")


def _choices(call: Entry, parameter: str) -> list[str]:
    """The values that the help of a parameter quotes."""
    said = next((text for names, text in call.arguments if parameter in names), "")
    return _QUOTED.findall(said)


def _columns(words: Iterable[str], known: Names) -> Iterator[str]:
    """Columns of the tables that the statement names; of all where it names none."""
    folded = {word.lower() for word in words}
    named = [columns for table, columns in known.tables.items() if _forms(table) & folded]
    seen: set[str] = set()
    for columns in named or known.tables.values():
        for column in columns:
            if column not in seen:
                seen.add(column)
                yield column


def _forms(table: str) -> set[str]:
    """What stands in a statement for a table: its name, with and without the schema's."""
    whole = table.lower().replace('"', "")
    return {whole, whole.rpartition(".")[2]}


def _offer(word: str, names: Iterable[str], kind: str) -> list[Suggestion]:
    return [Suggestion(name, len(word), kind) for name in names if _begins(name, word)]


def _begins(name: str, word: str) -> bool:
    """Whether a name begins so, in any case and whether it is quoted or not."""
    return name.strip("'\"").lower().startswith(word.strip('"').lower())
