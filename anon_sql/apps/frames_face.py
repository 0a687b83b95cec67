"""Write anon_sql/frames.py, the typed functions for frames, from the declared parameters."""

import re
from collections.abc import Iterable, Mapping
from textwrap import wrap

from anon_sql.core.common_parameters import IN_SQL, WITHDRAWN
from anon_sql.core.parameters import (
    Choice,
    Columns,
    ColumnWeights,
    Declaration,
    Flag,
    Number,
    Option,
    OrNull,
    Positive,
    RelationOf,
    Relations,
    Whole,
    declared,
    function_of,
    takes,
)
from anon_sql.errors import PYTHON
from anon_sql.hosts.duckdb.sql_files import TABLE, Entry, own_parameters
from anon_sql.methods.method import release_methods

TOPICS = (
    *("release", "method", "primitive", "measure", "privacy", "attack", "hierarchy", "role"),
    *("ledger", "series"),
)
_WITHOUT = ("gower", "anonymize_recipe")  # of two values of a row; of a file
WIDTH = 100  # of generated files
_WIDTH = 92  # of docstrings
_HEAD = '''\
"""Release and measure pandas, Polars and PyArrow tables, relations of DuckDB and files.

Each function has the name and the parameters of the SQL function; docs/look-up/reference.md
describes both, and so does ``anon-sql help NAME``.
A release comes back in the kind of frame that was given, and so does what a measure returns as a
table. A path gives a PyArrow table. A release of a relation has the rows of the SQL function on the
table, in the same order. PyArrow, Polars and pandas hold values of some types in another type, for
instance UUID as text; if such a column is kept, the order of rows, and the choice between rows
with equal quasi-identifiers, can differ from SQL on the original table. Every function also takes

threads: number of threads; None for those of the connection, or all cores without one.
time_zone: of timestamps that are written without one; that of a connection comes before 'UTC'.
connection: of DuckDB, whose settings, and whose relations as hierarchies, are used.

This file is made from sql/ and the declared parameters by ./generate; edit those.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from anon_sql.hosts.frames import call as _call

Columns: TypeAlias = str | Sequence[str] | None
Frame: TypeAlias = Any  # a pandas, Polars or PyArrow table, a relation of DuckDB, or a path
Weights: TypeAlias = Mapping[str, float] | None
'''
_SETTINGS = ("threads: int | None = None", "time_zone: str = 'UTC'", "connection: Any = None")
_TYPES = {
    "qids": "Columns",
    "sensitive": "Columns",
    "identifiers": "Columns",
    "keep": "Columns",
    "drop": "Columns",
    "weights": "Weights",
}
_NAMED = ("released", "hierarchy", "population", "like", "ledger", "state", "series")


def filled(words: Iterable[str], indent: str, last: int = 0) -> str:
    """Return words, separated by commas, in lines; last: characters that follow the last one."""
    words = list(words)
    lines = [indent]
    for at, word in enumerate(words):
        piece = word + (", " if at < len(words) - 1 else "")
        width = WIDTH - (last if at == len(words) - 1 else 0)
        if len(lines[-1] + piece.rstrip()) > width and lines[-1] != indent:
            lines.append(indent)
        lines[-1] += piece
    return "\n".join(line.rstrip() for line in lines)


def face(entries: list[Entry]) -> str:
    """Return anon_sql/frames.py; entries: every public function."""
    found = [each for each in entries if each.folder in TOPICS and each.name not in _WITHOUT]
    names = "\n".join(f'    "{name}",' for name in sorted(each.name for each in found))
    functions = "".join(_function(each) for each in found)
    return f"{_HEAD}\n__all__ = [\n{names}\n]\n{functions}"


def _function(entry: Entry) -> str:
    """Return the text of one function."""
    known = takes(entry.name) if entry.name in declared() else {}
    words, named = _words(entry, known)
    at = next((place for place, word in enumerate(words) if not named[place]), len(words))
    parts = [*words[:at], "*", *words[at:], *_SETTINGS]
    kind, returns = "table", "Frame"
    if entry.folder == "release" or entry.name == "generalize":
        kind = "release"
    elif not entry.is_table:
        kind, returns = "value", _scalar(entry)
    listed = filled(parts, "    ", last=1)
    return (
        f"\n\ndef {entry.name}(\n{listed}\n) -> {returns}:\n{_docstring(entry, known)}"
        f'    return _call.{kind}("{entry.name}", locals())\n'
    )


def _left_out(name: str, entry: Entry) -> bool:
    """Return whether a parameter of SQL is none of the frames' function."""
    if name in IN_SQL and entry.folder == "release":
        return False
    own = ("release", "primitive", "method")
    return name in (*WITHDRAWN, *IN_SQL) and entry.folder in own


def _words(entry: Entry, known: Mapping[str, Declaration]) -> tuple[list[str], list[bool]]:
    """Return the parameters as Python writes them, and which of them are passed by position too."""
    words, by_position = [], []
    for written in entry.parameters:
        name, _, default = (part.strip() for part in written.partition(":="))
        name = name.strip('"')
        if _left_out(name, entry):
            continue
        if not default:
            words.append(f"{'data' if name == TABLE else name}: {_required(name)}")
        else:
            each = known.get(name)
            value = _python(default) if each is None else repr(each.default)
            kind = _kind(name, value) if each is None else _of(each.accepts, name, each.default)
            words.append(f"{name}: {kind} = {value}")
        second = name in ("k", "state", "released") and len(words) == 2
        by_position.append(not default or second)
    return words, by_position


def _required(name: str) -> str:
    kinds = {"releases": "Sequence[Frame] | Frame", "queries": "str | Sequence[str]"}
    kinds |= {"persons": "Sequence[Any]"}
    kinds |= {"sql": "str", "paper": "str", "column_name": "str", "files": "str | Sequence[str]"}
    return kinds.get(name, "str" if name == "name" else "Frame")


def _python(default: str) -> str:
    return {"NULL": "None", "true": "True", "false": "False"}.get(default, default)


def _kind(name: str, default: str) -> str:
    """Return the type of a parameter that nobody declares."""
    if name in _TYPES:
        return _TYPES[name]
    if name in _NAMED:
        return "Frame"
    if default == "None":
        return "str | None"
    if default.startswith("'"):
        return "str"
    return "float" if re.fullmatch(r"[\d.]+", default) else "Any"


def _of(accepts: Option, name: str, default: object) -> str:
    """Return the type of a declared parameter."""
    null = " | None" if default is None else ""
    if isinstance(accepts, OrNull):
        inner = _of(accepts.option, name, 0)
        return inner if inner in ("Any", "Frame") else f"{inner} | None"
    if isinstance(accepts, Choice):
        return f"Literal[{', '.join(map(repr, accepts.words))}]{null}"
    if isinstance(accepts, Columns):
        return "str | None" if accepts.one else "Columns"
    if isinstance(accepts, (RelationOf, Relations)) or name in _NAMED:
        return "Frame"
    if isinstance(accepts, ColumnWeights):
        return "Weights" if name == "weights" else "Mapping[str, float] | None"
    kinds = {Whole: "int", Number: "float", Positive: "float", Flag: "bool"}
    found = kinds.get(type(accepts))
    return "Any" if found is None else found + null


def _scalar(entry: Entry) -> str:
    """Return the type of a scalar result, from the first word of what the header says of it."""
    word = re.match(r"\w+(\(|\[)?", entry.returns)
    kinds = {"DOUBLE": "float | None", "BIGINT": "int | None", "VARCHAR": "str"}
    return kinds.get(word[0], "Any") if word else "Any"


def _docstring(entry: Entry, known: Mapping[str, Declaration]) -> str:
    """Return what the header says, in the words of Python."""
    own = own_parameters(entry.name) if entry.name in declared() else {}
    common = function_of(entry.name).of is None if own or known else False
    lines = wrap(_said(entry.description), _WIDTH)
    lines.append("")
    if entry.name in release_methods() and common:
        shared = [name for name in known if name not in own and name not in (*WITHDRAWN, *IN_SQL)]
        lines += wrap(f"As in every release: {', '.join(['data', *shared])}.", _WIDTH)
    elif entry.note:
        lines += wrap(_said(entry.note), _WIDTH)
    for names, said in entry.arguments:
        one = known.get(names[0])
        if one is not None and entry.name in release_methods() and names[0] not in own:
            continue
        if names == (TABLE,) and entry.name in release_methods():
            continue
        if all(_left_out(name, entry) for name in names):
            continue
        called = ", ".join("data" if name == TABLE else name for name in names)
        text = said if one is None else one.spelled(PYTHON)
        lines += wrap(f"{called}: {_said(text)}", _WIDTH, subsequent_indent="    ")
    lines += wrap(f"Returns: {_said(entry.returns)}", _WIDTH, subsequent_indent="    ")
    lines += wrap(f"Errors: {_said(entry.errors)}", _WIDTH, subsequent_indent="    ")
    text = "\n".join(f"    {line}".rstrip() for line in lines)
    raw = "r" if "\\" in text else ""
    return f'    {raw}"""{text.lstrip()}\n    """\n'


def _said(text: str) -> str:
    """Return a sentence about SQL in the words of Python."""
    text = re.sub(r"\bNULL (means|for)\b", r"None \1", text)
    text = re.sub(r"(\w) := MAP \{", r"\1={", text)
    text = re.sub(r"(\w) := ", r"\1=", text)
    return re.sub(r"\bname of (the|a) (relation|table)\b", r"\1 \2", text)
