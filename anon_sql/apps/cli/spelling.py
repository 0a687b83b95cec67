"""Spell errors as a command does: options for parameters, files for relations."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from pathlib import Path
from typing import Any

import typer
from typer.models import OptionInfo

from anon_sql.apps.cli import standard_input
from anon_sql.apps.cli.parameters import NAMED, flag
from anon_sql.errors import COMMANDS, Spelling

_WITHIN = (
    *("hierarchy", "ledger", "ledger_overlap", "ledger_entry"),
    *("release_linked", "linked_risk"),
)  # what commands call


class Options(Spelling):
    """The spelling of a command.

    A parameter is the option of the command that sets it, and as in SQL if there is none. A file
    has no comments on columns.
    """

    has = frozenset({COMMANDS})

    def __init__(
        self,
        command: Callable[..., None],
        files: Mapping[str, Path] | None = None,
        key: str = "ledger_key",
    ):
        """command: the function that typer calls. files: that relations are read from, by name.

        key: the argument of the command that sets a key.
        """
        self.command, self.files, self.named = command.__name__, files or {}, {**NAMED, "key": key}
        self.options = {
            name: "--" + name.rstrip("_").replace("_", "-")
            for name, parameter in signature(command).parameters.items()
            if any(
                isinstance(each, OptionInfo)
                for each in getattr(parameter.annotation, "__metadata__", ())
            )
        }

    def function(self, name: str) -> str:
        return self.command if name in _WITHIN else name

    def parameter(self, name: str, in_sql: str | None) -> str:
        return self._option(name) or super().parameter(name, in_sql)

    def argument(self, name: str, value: Any) -> str:
        option = self._option(name)
        if option is None:
            return super().argument(name, value)
        return option if value is None else f"{option} {argument(value)}"

    def relation(self, name: str) -> str:
        return super().relation(str(self.files.get(name, name)))

    def _option(self, name: str) -> str | None:
        return self.options.get(self.named.get(name, name))


def command_line(
    context: typer.Context, added: Mapping[str, Sequence[str]], words_of_file: Sequence[str] = ()
) -> str:
    """Return the command that was typed, with more options, for a shell.

    added: columns by parameter. words_of_file: options that say how IN is written.
    """
    places, words = [], []
    for each in context.command.params:
        source = context.get_parameter_source(str(each.name))
        if source is None or source.name != "COMMANDLINE":
            continue
        value = context.params[str(each.name)]
        if each.param_type_name == "argument":
            places.append(standard_input.typed(value))
        elif isinstance(value, bool):
            words.append((each.opts if value else each.secondary_opts)[0])
        else:
            for one in value if isinstance(value, (list, tuple)) else [value]:
                words += [each.opts[0], str(one).removesuffix(".0" * isinstance(one, float))]
    words += words_of_file
    for name, columns in added.items():
        words += [flag(name), columns[0] if name == "entity" else _separated(columns)]
    if any(place.startswith("-") and place != standard_input.SIGN for place in places):
        places = [*words, "--", *places]
    else:
        places += words
    return " ".join(map(_quoted, ["anon-sql", str(context.command.name), *places]))


def _quoted(word: str) -> str:
    """Return a word for a shell, in which no control character reaches the terminal."""
    if word.isprintable():
        return shlex.quote(word)
    escaped = word.replace("\\", "\\\\").replace("'", "\\'")
    return "$'" + "".join(c if c.isprintable() else _escaped(c) for c in escaped) + "'"


def _escaped(character: str) -> str:
    return "".join(f"\\{byte:03o}" for byte in character.encode())


def argument(value: Any) -> str:
    """Return a value as an argument for a shell."""
    if value is ...:
        return "…"
    if isinstance(value, Mapping):
        return shlex.quote(_separated([f"{name}={each}" for name, each in value.items()]))
    if isinstance(value, (list, tuple)):
        names = [name for name in value if name is not ...]
        return shlex.quote(_separated(names)) if names else "…"
    return shlex.quote(str(value))


def _separated(texts: Sequence[str]) -> str:
    """Return texts with commas in between, in double quotes where ``names`` would change one."""
    quotes = str.maketrans({'"': '""'})
    return ",".join(
        f'"{text.translate(quotes)}"' if set(text) & {",", '"'} or text != text.strip() else text
        for text in texts
    )
