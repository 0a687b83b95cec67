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
    declarations: dict[str, Declaration] = {}
    for name in ("anonymize", *release_methods()):
        declarations = {**takes(name), **declarations}
    return {name: declaration for name, declaration in declarations.items() if name not in IN_SQL}


def of_manifests() -> dict[str, Declaration]:
    """Return the parameters of a release that its manifest states, without their defaults."""
    stated = {*manifest.PROMISED, *manifest.ROLES, "hierarchy"} - {"seed", "suppressed"}
    return {n: replace(p, default=None) for n, p in of_releases().items() if n in stated}


def of_compare() -> dict[str, Declaration]:
    """Return the parameters that ``compare`` has in common with the release methods."""
    of_methods = of_releases()
    return {name: each for name, each in takes("compare").items() if name in of_methods}


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
        declarations = dict(declared())
        shared = [name for name in declarations if len(takers(name)) == len(release_methods())]
        options = {
            NAMED.get(name, name): _option(each, name in required, name not in shared)
            for name, each in declarations.items()
        }

        def parameters(**chosen: Any) -> dict[str, Any]:
            typed = {name: chosen[NAMED.get(name, name)] for name in declarations}
            return {
                name: option_value(command.__name__, each, typed[name])
                for name, each in declarations.items()
                if typed[name] not in (None, [])
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
    position = list(signature.parameters).index(argument)
    others = [
        each.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for each in signature.parameters.values()
        if each.name != argument
    ]
    both = [*others[:position], *options, *others[position:]]

    @wraps(command)
    def run(**arguments: Any) -> None:
        chosen = {each.name: arguments.pop(each.name) for each in options}
        with console.one_sentence():
            made = make(**chosen)
        command(**arguments, **{argument: made})

    run.__signature__ = signature.replace(parameters=both)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in both}
    return run


def _option(declaration: Declaration, required: bool, of_some: bool) -> inspect.Parameter:
    """Return a parameter of a command that typer reads as an option."""
    kind = _kind(declaration)
    default: Any = inspect.Parameter.empty if required else [] if kind == list[str] else None
    info: Any = typer.Option(
        flag(declaration.name),
        help=_help(declaration),
        show_default=False,
        rich_help_panel=f"Only with --method {_listed(takers(declaration.name))}"
        if of_some
        else None,
    )
    if default is None:
        kind = kind | None
    return inspect.Parameter(
        NAMED.get(declaration.name, declaration.name),
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


def _kind(declaration: Declaration) -> Any:
    """Return the type of an option, from what its parameter accepts."""
    accepts = (
        declaration.accepts.option
        if isinstance(declaration.accepts, OrNull)
        else declaration.accepts
    )
    if isinstance(accepts, Choice):
        return _words(declaration.name.title(), accepts.words)
    if isinstance(accepts, Secret) or (isinstance(accepts, Columns) and accepts.one):
        return str
    if isinstance(accepts, (Columns, ColumnWeights)):
        return list[str]
    if declaration.relation:
        return Path
    if isinstance(accepts, Flag):
        return bool
    return int if isinstance(accepts, Whole) else float


def _help(declaration: Declaration) -> str:
    """Return the sentence of a parameter in the words of the command line."""
    spelling = HelpWords()
    says, null = spelling.words(declaration.says), spelling.words(declaration.null or "")
    if isinstance(declaration.accepts, RelationOf):
        says = f"file of {declaration.accepts.columns}, or folder with a .csv per column"
    sentence = f"{says[0].upper()}{says[1:]}"
    if null and null != "none":
        sentence += f". Default: {null}"
    default = _default(declaration)
    return f"{sentence}. Default: {default}." if default else f"{sentence}."


def _default(declaration: Declaration) -> str:
    """Return the default of a parameter, with those of the methods that have another."""
    if declaration.default is None:
        return ""
    others = {
        method: takes(method)[declaration.name].default
        for method in takers(declaration.name)
        if takes(method)[declaration.name].default != declaration.default
    }
    return ", ".join(
        [str(declaration.default), *(f"{value} with {m}" for m, value in others.items())]
    )


def option_value(command: str, declaration: Declaration, value: Any) -> Any:
    """Return the value of an option as the parameter takes it."""
    if isinstance(declaration.accepts, Columns) and not declaration.accepts.one:
        return names(value)
    if isinstance(declaration.accepts, ColumnWeights):
        return pairs(command, declaration.name, value)
    if isinstance(declaration.accepts, Secret):
        return named_key(command, flag(declaration.name), value, "others see a command line")
    return str(value) if isinstance(value, StrEnum) else value


_NAMES = re.compile(r'\s*(?:"(?P<quoted>(?:[^"]|"")*)"\s*|(?P<bare>[^,]*))(?:,|$)')


def names(values: Sequence[str]) -> list[str]:
    """Return the names in repeated options of comma-separated names; quotes protect a comma."""
    matches = [match for value in values for match in _NAMES.finditer(value)]
    named = (
        m["bare"].strip() if m["quoted"] is None else m["quoted"].replace('""', '"')
        for m in matches
    )
    return [name for name in named if name]


def pairs(function: str, option: str, values: Sequence[str]) -> dict[str, float] | None:
    """Return the numbers in repeated options of pairs such as age=3; None for none."""
    numbers: dict[str, float] = {}
    for pair in names(values):
        name, _, number = pair.rpartition("=")
        try:
            value = float(number)
        except ValueError:
            value = nan
        if not name or isnan(value) or name in numbers:
            rule = f"{flag(option)} must be a column, = and a number, each column once"
            raise AnonError(function, rule, f"'{pair}'", f"write {flag(option)} age=3,city=0.5")
        numbers[name] = value
    return numbers or None
