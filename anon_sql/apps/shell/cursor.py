"""Read what surrounds the cursor in an unfinished statement: call, parameter, open text."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from anon_sql.hosts.duckdb.headers import Entry

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
    cursor. given: parameters that have a value. fresh: nothing of the argument has been typed.
    """

    word: str
    text: str | None
    before: str
    words: tuple[str, ...]
    call: Entry | None = None
    parameter: str = ""
    given: tuple[str, ...] = ()
    fresh: bool = False


def read(typed: str, functions: Mapping[str, Entry]) -> Cursor:
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
    words = tuple(found.strip("'\"") for kind, found in tokens if kind != "sign")
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
    for at in range(len(tokens) - 1, 0, -1):
        sign = tokens[at][1]
        depth += (sign in _CLOSED) - (sign in _OPEN)
        if depth < 0:
            if sign == "(" and tokens[at - 1][1].lower() in functions:
                return at
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
