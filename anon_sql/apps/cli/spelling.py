"""Spell errors as a command does: options for parameters, files for relations."""

import csv
import io
import shlex
from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from pathlib import Path
from typing import Any

from typer.models import OptionInfo

from anon_sql.apps.cli.parameters import NAMED
from anon_sql.errors import Spelling

_WITHIN = (
    *("hierarchy", "ledger", "ledger_overlap", "ledger_entry"),
    *("release_linked", "linked_risk"),
)  # what commands call


class Options(Spelling):
    """The spelling of a command.

    A parameter is the option of the command that sets it, and as in SQL if there is none. A file
    has no comments on columns.
    """

    has = frozenset()

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

    def parameter(self, name: str, said: str | None) -> str:
        return self._option(name) or super().parameter(name, said)

    def argument(self, name: str, value: Any) -> str:
        option = self._option(name)
        if option is None:
            return super().argument(name, value)
        return option if value is None else f"{option} {argument(value)}"

    def relation(self, name: str) -> str:
        return super().relation(str(self.files.get(name, name)))

    def _option(self, name: str) -> str | None:
        return self.options.get(self.named.get(name, name))


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
    """Return texts with commas in between, in double quotes where they contain one."""
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(texts)
    return line.getvalue()
