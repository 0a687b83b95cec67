"""Suggest the names that fit at the cursor: functions, parameters, tables, columns and keywords."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import duckdb

from anon_sql.core.names import quote
from anon_sql.hosts.duckdb import sql_files
from anon_sql.hosts.duckdb.sql_files import Entry

_PLAIN = re.compile(r"[A-Za-z_]\w*", re.ASCII)


@dataclass(frozen=True)
class Names:
    """tables: columns by table, which is as SQL writes it. rest: DuckDB's functions and keywords.
    quoted: the keywords that are no name without quotes."""

    tables: Mapping[str, tuple[str, ...]]
    rest: tuple[str, ...]
    quoted: frozenset[str]

    def written(self, name: str) -> str:
        """Return a name as SQL writes it, quoted if it must be."""
        return written(name, self.quoted)


def present_names(con: duckdb.DuckDBPyConnection) -> Names:
    """Return the present names of a database; none after a failed transaction."""
    try:
        columns = con.execute(
            "SELECT table_catalog = current_database() OR table_catalog = 'temp', "
            "table_schema = current_schema() OR table_catalog = 'temp', "
            "table_catalog, table_schema, table_name, column_name "
            "FROM information_schema.columns ORDER BY table_name, ordinal_position"
        ).fetchall()
        words = con.execute(
            "SELECT keyword_name FROM duckdb_keywords() WHERE keyword_category <> 'unreserved' "
            "ORDER BY ALL"
        ).fetchall()
        calls = con.execute(
            "SELECT DISTINCT function_name FROM duckdb_functions() WHERE function_type IN "
            "('scalar', 'aggregate', 'macro', 'table') AND regexp_full_match(function_name, "
            "'[a-z][a-z0-9_]*') ORDER BY ALL"
        ).fetchall()
    except duckdb.Error:
        return Names({}, (), frozenset())
    quoted = frozenset(word for (word,) in words)
    tables: dict[str, tuple[str, ...]] = {}
    for here, default, database, schema, table, column in columns:
        parts = [*([] if here else [database]), *([] if here and default else [schema]), table]
        name = ".".join(written(part, quoted) for part in parts)
        tables[name] = (*tables.get(name, ()), column)
    ours = {entry.name for entry in functions()}
    rest = (*map(str.upper, sorted(quoted)), *(name for (name,) in calls if name not in ours))
    return Names(tables, rest, quoted)


def written(name: str, keywords: Collection[str]) -> str:
    """Return a name as SQL writes it, quoted if it must be."""
    return name if _PLAIN.fullmatch(name) and name.lower() not in keywords else quote(name)


@cache
def functions() -> tuple[sql_files.Entry, ...]:
    """Return the package's functions, as in the reference."""
    return tuple(sql_files.entries())


_TOKEN = re.compile(
    r"--[^\n]*|/\*.*?(?:\*/|\Z)"  # comments, in no group
    r"|(?P<text>'(?:[^']|'')*'?)|(?P<name>\"(?:[^\"]|\"\")*\"?)|(?P<word>\w+)|(?P<sign>:=|\S)",
    re.DOTALL,
)
_OPEN, _CLOSED = ("(", "[", "{"), (")", "]", "}")
Token = tuple[str, str]  # kind, what was typed


@dataclass(frozen=True)
class Cursor:
    """word: the unfinished word or quoted name, '' for none. text: an unfinished text without its
    quote, None for none. before: the word in front of both, in capitals. words: all in front.

    call: the function whose bracket is open, None for none. parameter: that of the argument at the
    cursor. arguments: parameters that have a value. fresh: nothing of the argument has been typed.
    """

    word: str
    text: str | None
    before: str
    words: tuple[str, ...]
    call: Entry | None = None
    parameter: str = ""
    arguments: tuple[str, ...] = ()
    fresh: bool = False


def read_cursor(typed: str, functions: Mapping[str, Entry]) -> Cursor:
    """Return what surrounds the end of the typed text."""
    tokens = [(m.lastgroup, m[0]) for m in _TOKEN.finditer(typed) if m.lastgroup]
    kind, last = tokens[-1] if tokens else ("", "")
    word, text = "", None
    if kind == "text" and last.count("'") % 2:
        text = last[1:]
    elif typed.endswith(last) and (kind == "word" or (kind == "name" and last.count('"') % 2)):
        word = last
    if word or text is not None:
        del tokens[-1]
    before = tokens[-1][1].upper() if tokens and tokens[-1][0] == "word" else ""
    words = tuple(token_text.strip("'\"") for kind, token_text in tokens if kind != "sign")
    opened = _innermost(tokens, functions)
    if opened is None:
        return Cursor(word, text, before, words)
    call = functions[tokens[opened - 1][1].lower()]
    arguments = _arguments(tokens[opened + 1 :])
    names = [_parameter(call, place, tokens) for place, tokens in enumerate(arguments)]
    fresh = not arguments[-1]
    return Cursor(word, text, before, words, call, names[-1], tuple(names[:-1]), fresh)


def _innermost(tokens: Sequence[Token], functions: Mapping[str, Entry]) -> int | None:
    """Return the place of the open bracket of the innermost call of a known function."""
    depth = 0
    for place in range(len(tokens) - 1, 0, -1):
        sign = tokens[place][1]
        depth += (sign in _CLOSED) - (sign in _OPEN)
        if depth < 0:
            if sign == "(" and tokens[place - 1][1].lower() in functions:
                return place
            depth = 0
    return None


def _arguments(tokens: Sequence[Token]) -> list[list[Token]]:
    """Return the tokens of each argument; the last one is at the cursor."""
    arguments: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        depth += (token[1] in _OPEN) - (token[1] in _CLOSED)
        if token[1] == "," and depth == 0:
            arguments.append([])
        else:
            arguments[-1].append(token)
    return arguments


def _parameter(call: Entry, place: int, argument: Sequence[Token]) -> str:
    """Return the parameter that an argument is for, by its name or else by its place."""
    if len(argument) > 1 and argument[1][1] == ":=":
        return argument[0][1].lower()
    return call.names[place] if place < len(call.names) else ""


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


def suggest(typed: str, names: Names) -> list[Suggestion]:
    """Return what fits at the end of the typed text, the likeliest first."""
    command = _COMMAND.match(typed)
    if command and command[1] == "h":
        return _offer(command[2], [entry.name for entry in functions()], "function")
    if command:
        return _offer(command[2], names.tables, "table")
    cursor = read_cursor(typed, {entry.name: entry for entry in functions()})
    if cursor.text is not None:
        return _in_text(cursor.text, cursor.call, cursor, names) if cursor.call else []
    if cursor.call and cursor.fresh:
        quoted = [f"'{_doubled(name)}'" for name in names.tables]
        left = [f"{name} := " for name in cursor.call.names if name not in cursor.arguments]
        return [
            *(_offer(cursor.word, quoted, "table") if cursor.parameter in _TABLES else []),
            *_offer(cursor.word, left, "parameter"),
        ]
    tables = _offer(cursor.word, names.tables, "table")
    rest = _offer(cursor.word, names.rest, "SQL") if cursor.word else []
    if cursor.before in _TABLE_FOLLOWS:
        return [*tables, *_calls(cursor.word, True), *rest]
    columns = _offer(cursor.word, map(names.written, _columns(cursor.words, names)), "column")
    return [*columns, *_calls(cursor.word, False), *(tables if cursor.word else []), *rest]


def _calls(word: str, is_table: bool) -> list[Suggestion]:
    """Return the package's table functions, or its scalar functions."""
    names = [f"{entry.name}(" for entry in functions() if entry.is_table == is_table]
    return _offer(word, names, "function")


def _in_text(typed: str, call: Entry, cursor: Cursor, present: Names) -> list[Suggestion]:
    """Return what fits inside quotes: functions, tables, words of the help, or columns."""
    if call.name == "anon_help":
        names, kind = [entry.name for entry in functions()], "function"
    elif cursor.parameter == "methods":
        names, kind = [e.name for e in functions() if e.folder == "release"], "function"
    elif cursor.parameter in _TABLES:
        names, kind = list(present.tables), "table"
    elif _choices(call, cursor.parameter):
        names, kind = _choices(call, cursor.parameter), "value"
    else:
        names, kind = list(_columns(cursor.words, present)), "column"
    return _offer(typed, map(_doubled, names), kind)


def _doubled(name: str) -> str:
    """Return a name as it is written inside a text."""
    return name.replace("'", "''")


def _choices(call: Entry, parameter: str) -> list[str]:
    """Return the values that the help of a parameter quotes."""
    description = next((text for names, text in call.arguments if parameter in names), "")
    return _QUOTED.findall(description)


def _columns(words: Iterable[str], names: Names) -> Iterator[str]:
    """Yield the columns of the tables that the statement names, or of all tables if none."""
    folded = {word.lower() for word in words}
    named = [columns for table, columns in names.tables.items() if _forms(table) & folded]
    seen: set[str] = set()
    for columns in named or names.tables.values():
        for column in columns:
            if column not in seen:
                seen.add(column)
                yield column


def _forms(table: str) -> set[str]:
    """Return the forms of a table's name in a statement, with and without the schema."""
    name = table.lower().replace('"', "")
    return {name, name.rpartition(".")[2]}


def _offer(word: str, names: Iterable[str], kind: str) -> list[Suggestion]:
    return [Suggestion(name, len(word), kind) for name in names if _begins(name, word)]


def _begins(name: str, word: str) -> bool:
    """Return whether a name begins with a word, ignoring case and quotes."""
    return name.strip("'\"").lower().startswith(word.strip('"').lower())
