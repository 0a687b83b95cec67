"""The signature and documentation of each function for frames, from its SQL function.

The parameters are those in ``sql/`` and in the declarations, in the types and the words of Python.
"""

import re
from ast import literal_eval
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from inspect import Parameter
from textwrap import wrap

from anon_sql.core.common_parameters import IN_SQL
from anon_sql.core.parameters import (
    AcceptedValues,
    Choice,
    Columns,
    ColumnWeights,
    Declaration,
    Flag,
    Number,
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
from anon_sql.hosts.duckdb.sql_files import TABLE, Entry, read_entry, specific_parameters, sql_files
from anon_sql.methods.method import release_methods

_TOPICS = (
    *("release", "method", "primitive", "measure", "privacy", "attack", "hierarchy", "role"),
    *("ledger", "series"),
)
_WITHOUT = ("gower", "anonymize_recipe")  # of two values of a row; of a file
_WIDTH = 92  # of docstrings
_PYTHON = {"NULL": "None", "true": "True", "false": "False"}
_SETTINGS = (
    ("threads", "int | None", None),
    ("time_zone", "str", "UTC"),
    ("connection", "Any", None),
)
_TYPES = {
    "quasi": "Columns",
    "sensitive": "Columns",
    "identifiers": "Columns",
    "keep": "Columns",
    "exclude": "Columns",
    "weights": "Weights",
}
_NAMED = ("released", "hierarchy", "population", "like", "ledger", "state", "series")


@dataclass(frozen=True)
class FrameFunction:
    """One function for frames.

    kind: 'release', 'table' or 'value', the function of ``call`` that runs it. parameters: their
    types are text. returns: the type of the result.
    """

    name: str
    kind: str
    parameters: tuple[Parameter, ...]
    returns: str
    documentation: str


@cache
def names() -> tuple[str, ...]:
    """Return the names of all functions, sorted."""
    return tuple(sorted(file.name for file in sql_files() if _takes_frames(file.folder, file.name)))


def function_of_name(name: str) -> FrameFunction:
    """Return the function of one of ``names``."""
    (file,) = (sql_file for sql_file in sql_files() if sql_file.name == name and sql_file.public)
    return frame_function(read_entry(file))


def frame_functions(entries: list[Entry]) -> Iterator[FrameFunction]:
    """Yield the functions for frames among all public ones."""
    yield from (
        frame_function(entry) for entry in entries if _takes_frames(entry.folder, entry.name)
    )


def _takes_frames(folder: str, name: str) -> bool:
    return folder in _TOPICS and name not in _WITHOUT


def frame_function(entry: Entry) -> FrameFunction:
    """Return the function for frames of a public one."""
    declarations = takes(entry.name) if entry.name in declared() else {}
    kind, returns = "table", "Frame"
    if entry.folder == "release" or entry.name == "generalize":
        kind = "release"
    elif not entry.is_table:
        kind, returns = "value", _scalar(entry)
    parameters = (*_parameters(entry, declarations), *(_by_name(*setting) for setting in _SETTINGS))
    return FrameFunction(entry.name, kind, parameters, returns, _documentation(entry, declarations))


def _by_name(name: str, kind: str, default: object) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def _left_out(name: str, entry: Entry) -> bool:
    """Return whether a parameter of SQL is not one of Python."""
    if name in IN_SQL and entry.folder == "release":
        return False
    folders = ("release", "primitive", "method")
    return name in IN_SQL and entry.folder in folders


def _parameters(entry: Entry, declarations: Mapping[str, Declaration]) -> Iterator[Parameter]:
    """Yield the parameters of SQL in the types of Python; later ones are passed by name."""
    by_position, count = True, 0
    for written in entry.parameters:
        name, _, default = (part.strip() for part in written.partition(":="))
        name = name.strip('"')
        if _left_out(name, entry):
            continue
        count += 1
        by_position &= not default or (name in ("k", "state", "released") and count == 2)
        place = Parameter.POSITIONAL_OR_KEYWORD if by_position else Parameter.KEYWORD_ONLY
        if not default:
            called = "data" if name == TABLE else name
            yield Parameter(called, place, annotation=_required(name))
            continue
        declaration = declarations.get(name)
        if declaration is None:
            value = literal_eval(_PYTHON.get(default, default))
            kind = _kind(name, value)
        else:
            value = declaration.default
            kind = _python_type(declaration.accepts, name, value)
        yield Parameter(name, place, default=value, annotation=kind)


def _required(name: str) -> str:
    kinds = {"releases": "Sequence[Frame] | Frame", "queries": "str | Sequence[str]"}
    kinds |= {"persons": "Sequence[Any]"}
    kinds |= {"sql": "str", "paper": "str", "column_name": "str", "files": "str | Sequence[str]"}
    return kinds.get(name, "str" if name == "name" else "Frame")


def _kind(name: str, default: object) -> str:
    """Return the type of a parameter that is not declared."""
    if name in _TYPES:
        return _TYPES[name]
    if name in _NAMED:
        return "Frame"
    if default is None or isinstance(default, str):
        return "str" if isinstance(default, str) else "str | None"
    is_number = isinstance(default, int | float) and not isinstance(default, bool)
    return "float" if is_number else "Any"


def _python_type(accepts: AcceptedValues, name: str, default: object) -> str:
    """Return the type of a declared parameter."""
    null = " | None" if default is None else ""
    if isinstance(accepts, OrNull):
        inner = _python_type(accepts.option, name, 0)
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
    plain_type = kinds.get(type(accepts))
    return "Any" if plain_type is None else plain_type + null


def _scalar(entry: Entry) -> str:
    """Return the type of a scalar result, from the first word of what the header says of it."""
    word = re.match(r"\w+(\(|\[)?", entry.returns)
    kinds = {"DOUBLE": "float | None", "BIGINT": "int | None", "VARCHAR": "str"}
    return kinds.get(word[0], "Any") if word else "Any"


def _documentation(entry: Entry, declarations: Mapping[str, Declaration]) -> str:
    """Return what the header says, in the words of Python."""
    specific = specific_parameters(entry.name) if entry.name in declared() else {}
    common = function_of(entry.name).of is None if specific or declarations else False
    lines = wrap(_in_python(entry.description), _WIDTH)
    lines.append("")
    if entry.name in release_methods() and common:
        shared = [name for name in declarations if name not in specific and name not in IN_SQL]
        lines += wrap(f"As in every release: {', '.join(['data', *shared])}.", _WIDTH)
    elif entry.note:
        lines += wrap(_in_python(entry.note), _WIDTH)
    for names, sentence in entry.arguments:
        declaration = declarations.get(names[0])
        if declaration is not None and entry.name in release_methods() and names[0] not in specific:
            continue
        if names == (TABLE,) and entry.name in release_methods():
            continue
        if all(_left_out(name, entry) for name in names):
            continue
        called = ", ".join("data" if name == TABLE else name for name in names)
        text = sentence if declaration is None else declaration.spelled(PYTHON)
        lines += wrap(f"{called}: {_in_python(text)}", _WIDTH, subsequent_indent="    ")
    lines += wrap(f"Returns: {_in_python(entry.returns)}", _WIDTH, subsequent_indent="    ")
    lines += wrap(f"Errors: {_in_python(entry.errors)}", _WIDTH, subsequent_indent="    ")
    return "\n".join(lines)


def _in_python(text: str) -> str:
    """Return a sentence about SQL in the words of Python."""
    text = re.sub(r"\bNULL (means|for)\b", r"None \1", text)
    text = re.sub(r"(\w) := MAP \{", r"\1={", text)
    text = re.sub(r"(\w) := ", r"\1=", text)
    return re.sub(r"\bname of (the|a) (relation|table)\b", r"\1 \2", text)
