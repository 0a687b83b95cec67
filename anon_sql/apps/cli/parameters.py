"""Give a command the options of declared parameters; typer reads a function's signature."""

import inspect
import re
import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from functools import cache, wraps
from math import isnan, nan
from pathlib import Path
from typing import Annotated, Any

import typer

from anon_sql.apps import manifest
from anon_sql.apps.cli import console
from anon_sql.core.common_parameters import IN_SQL
from anon_sql.core.parameters import (
    Choice,
    Columns,
    ColumnWeights,
    Declaration,
    Flag,
    OrNull,
    RelationOf,
    Secret,
    Whole,
    takes,
)
from anon_sql.core.pseudonyms import named_key
from anon_sql.errors import AnonError, Spelling
from anon_sql.methods.method import release_methods

NAMED = {"identifiers": "identifier"}


def of_releases() -> dict[str, Declaration]:
    """Return the parameters of all release methods by name; each with the sentence of the first."""
    found: dict[str, Declaration] = {}
    for name in ("anonymize", *release_methods()):
        found = {**takes(name), **found}
    return {name: known for name, known in found.items() if name not in IN_SQL}


def of_manifests() -> dict[str, Declaration]:
    """Return the parameters of a release that its manifest states, without their defaults."""
    stated = {*manifest.PROMISED, *manifest.ROLES, "hierarchy"} - {"seed", "suppressed"}
    return {n: replace(p, default=None) for n, p in of_releases().items() if n in stated}


def of_compare() -> dict[str, Declaration]:
    """Return the parameters that ``compare`` has in common with the release methods."""
    known = of_releases()
    return {name: each for name, each in takes("compare").items() if name in known}


def takers(name: str) -> list[str]:
    """Return the release methods that take a parameter."""
    return [method for method in release_methods() if name in takes(method)]


class HelpWords(Spelling):
    """The spelling of help texts, in which every parameter is an option."""

    has = frozenset()

    def parameter(self, name: str, in_sql: str | None) -> str:
        return flag(name)

    def argument(self, name: str, value: Any) -> str:
        if isinstance(value, Mapping):
            value = [f"{key}={each}" for key, each in value.items()]
        return f"{flag(name)} {shlex.quote(','.join(value) if isinstance(value, list) else value)}"


def flag(name: str) -> str:
    """Return the option that sets a parameter."""
    return f"--{NAMED.get(name, name).replace('_', '-')}"


def with_parameters(
    declared: Callable[[], Mapping[str, Declaration]], required: Collection[str] = ()
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that replaces the argument ``parameters`` of a command by options.

    declared: returns the parameters by name. The command gets those that are given, as a mapping
    by name. required: those that must be given.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        known = dict(declared())
        shared = [name for name in known if len(takers(name)) == len(release_methods())]
        options = {
            NAMED.get(name, name): _option(each, name in required, name not in shared)
            for name, each in known.items()
        }

        def parameters(**chosen: Any) -> dict[str, Any]:
            given = {name: chosen[NAMED.get(name, name)] for name in known}
            return {
                name: read(command.__name__, each, given[name])
                for name, each in known.items()
                if given[name] not in (None, [])
            }

        return with_options(command, "parameters", list(options.values()), parameters)

    return decorate


def with_options(
    command: Callable[..., None],
    argument: str,
    options: Sequence[inspect.Parameter],
    make: Callable[..., Any],
) -> Callable[..., None]:
    """Return a command that takes options in place of an argument.

    make: returns the argument from what the options are given, by name.
    """
    signature = inspect.signature(command)
    at = list(signature.parameters).index(argument)
    own = [
        each.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for each in signature.parameters.values()
        if each.name != argument
    ]
    both = [*own[:at], *options, *own[at:]]

    @wraps(command)
    def run(**arguments: Any) -> None:
        chosen = {each.name: arguments.pop(each.name) for each in options}
        with console.one_sentence():
            made = make(**chosen)
        command(**arguments, **{argument: made})

    run.__signature__ = signature.replace(parameters=both)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in both}
    return run


def _option(known: Declaration, required: bool, of_some: bool) -> inspect.Parameter:
    """Return a parameter of a command that typer reads as an option."""
    kind = _kind(known)
    default: Any = inspect.Parameter.empty if required else [] if kind == list[str] else None
    info: Any = typer.Option(
        flag(known.name),
        help=_help(known),
        show_default=False,
        rich_help_panel=f"Only with --method {_listed(takers(known.name))}" if of_some else None,
    )
    if default is None:
        kind = kind | None
    return inspect.Parameter(
        NAMED.get(known.name, known.name),
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[kind, info],
    )


def _listed(names: Sequence[str]) -> str:
    """Return names of methods, or those that are left out where that says less."""
    others = [name for name in release_methods() if name not in names]
    return f"other than {', '.join(others)}" if len(others) < len(names) else ", ".join(names)


@cache
def _words(name: str, words: tuple[str, ...]) -> type[StrEnum]:
    return StrEnum(name, {word.upper(): word for word in words})  # type: ignore[return-value]


def _kind(known: Declaration) -> Any:
    """Return the type of an option, from what its parameter accepts."""
    accepts = known.accepts.option if isinstance(known.accepts, OrNull) else known.accepts
    if isinstance(accepts, Choice):
        return _words(known.name.title(), accepts.words)
    if isinstance(accepts, Secret) or (isinstance(accepts, Columns) and accepts.one):
        return str
    if isinstance(accepts, (Columns, ColumnWeights)):
        return list[str]
    if known.relation:
        return Path
    if isinstance(accepts, Flag):
        return bool
    return int if isinstance(accepts, Whole) else float


def _help(known: Declaration) -> str:
    """Return the sentence of a parameter in the words of the command line."""
    spelling = HelpWords()
    says, null = spelling.words(known.says), spelling.words(known.null or "")
    if isinstance(known.accepts, RelationOf):
        says = f"file of {known.accepts.columns}, or folder with a .csv per column"
    said = f"{says[0].upper()}{says[1:]}"
    if null and null != "none":
        said += f". Default: {null}"
    default = _default(known)
    return f"{said}. Default: {default}." if default else f"{said}."


def _default(known: Declaration) -> str:
    """Return the default of a parameter, with those of the methods that have another."""
    if known.default is None:
        return ""
    others = {
        method: takes(method)[known.name].default
        for method in takers(known.name)
        if takes(method)[known.name].default != known.default
    }
    return ", ".join([str(known.default), *(f"{value} with {m}" for m, value in others.items())])


def read(command: str, known: Declaration, value: Any) -> Any:
    """Return the value of an option as the parameter takes it."""
    if isinstance(known.accepts, Columns) and not known.accepts.one:
        return names(value)
    if isinstance(known.accepts, ColumnWeights):
        return pairs(command, known.name, value)
    if isinstance(known.accepts, Secret):
        return named_key(command, flag(known.name), value, "others see a command line")
    return str(value) if isinstance(value, StrEnum) else value


_NAMES = re.compile(r'\s*(?:"(?P<quoted>(?:[^"]|"")*)"\s*|(?P<bare>[^,]*))(?:,|$)')


def names(values: Sequence[str]) -> list[str]:
    """Return the names in repeated options of comma-separated names; quotes protect a comma."""
    found = [match for value in values for match in _NAMES.finditer(value)]
    named = (
        m["bare"].strip() if m["quoted"] is None else m["quoted"].replace('""', '"') for m in found
    )
    return [name for name in named if name]


def pairs(function: str, option: str, values: Sequence[str]) -> dict[str, float] | None:
    """Return the numbers in repeated options of pairs such as age=3; None for none."""
    found: dict[str, float] = {}
    for pair in names(values):
        name, _, number = pair.rpartition("=")
        try:
            value = float(number)
        except ValueError:
            value = nan
        if not name or isnan(value) or name in found:
            rule = f"{flag(option)} must be a column, = and a number, each column once"
            raise AnonError(function, rule, f"'{pair}'", f"write {flag(option)} age=3,city=0.5")
        found[name] = value
    return found or None
