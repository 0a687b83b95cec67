"""Say errors in the words of the screens: fields in place of parameters, options and arguments."""

import os
from collections.abc import Iterable
from typing import Any

from anon_sql.apps.cli.console import visible
from anon_sql.apps.studio.csv_file import DELIMITERS, ENCODINGS
from anon_sql.errors import Option, Spelling, Words
from anon_sql.hosts.duckdb import errors as plain

_FIELDS = {  # of parameters: their words, and the id of the control
    "k": ("k", "k"),
    "l": ("l", "l"),
    "t": ("t", "t"),
    "beta": ("β", "beta"),
    "method": ("the method", "method"),
    "transparent": ("“What groups may tell an attacker who knows the method”", "transparent"),
    "transparent_by": ("“What groups may tell an attacker who knows the method”", "transparent"),
    "key": ("the secret key", "transparent"),
    "suppression_limit": ("the share of rows that may be suppressed", "suppression_limit"),
    "weights": ("the weights", ""),
    "hierarchy": ("the hierarchies", ""),
    "entity": ("“A row is about” on Table", "entity"),
    "unit": ("“A row is about” on Table", "entity"),
    "quasi": ("the quasi-identifiers", ""),
    "sensitive": ("the sensitive columns", ""),
    "identifiers": ("the identifiers", ""),
    "keep": ("the kept columns", ""),
    "exclude": ("the columns that are left out", ""),
    "environment": ("the recipient", "environment"),
    "purpose": ("“Purpose”", "purpose"),
    "recipient": ("“Recipient”", "recipient"),
    "review_by": ("“Review by”", "review_by"),
    "trim": ("trim", ""),
    "IN": ("the file", ""),
    "FILE": ("the file", ""),
    "OUT": ("“Release”", "file-release"),
    "the source of the recipe": ("the file of the recipe", ""),
    "raw": ("the table", ""),
    "released": ("the release", ""),
    "tbl": ("the table", ""),
}
_ROLES = ("quasi", "sensitive", "identifiers", "keep", "exclude")
_SAY = {  # of options: what to do, and the id of the control
    "--header": ("choose “yes” in “Header row”", "header"),
    "--no-header": ("choose “no” in “Header row”", "header"),
    "--delimiter": ("choose {value} in “Delimiter”", "delimiter"),
    "--quote": ("choose {value} in “Quotes”", "quote"),
    "--encoding": ("choose {value} in “Encoding”", "encoding"),
    "--null": ("“Texts that mean NULL”", "null"),
    "--overwrite": ("“Replace files that exist”", "overwrite"),
    **dict.fromkeys(
        ("--decimal", "--thousands", "--date-format", "--timestamp-format"),
        ("choose “yes” in “Numbers and dates in another notation”", "typed"),
    ),
    "--without-total-row": ("choose “yes” in “Leave out the total in the last row”", "total"),
    "--trim": ("trim = true in the recipe", ""),
    "--sheet": ("choose {value} in “Sheet”", "sheet"),
    "--first-row": ("anon-sql roles FILE --first-row {value} --recipe PATH, then open it", ""),
    "--missing": ("missing in the recipe", ""),
    "anon-sql roles FILE --recipe PATH": ("“Save the recipe only” on Sign", ""),
}
_NAMES = {  # of options that a rule only names
    "--delimiter": "“Delimiter”",
    "--quote": "“Quotes”",
    "--encoding": "“Encoding”",
}
_VALUES = {
    **{f"'{sign}'": f"“{name}”" for sign, name in DELIMITERS.items()},
    "tab": "“tab”",
    "''": "“none”",
    "…": "the encoding of the file",
    **{name: f"“{encoding_name}”" for name, encoding_name in ENCODINGS.items()},
}


class Screens(Spelling):
    """The spelling of the screens.

    A parameter that has a field is called as the field is, and any other one is in the recipe.
    controls: the ids of the fields that a text has named, in order.
    """

    has = frozenset()
    none = "nothing"

    def __init__(self) -> None:
        self.controls: list[str] = []

    def function(self, name: str) -> str:
        return ""

    def parameter(self, name: str, in_sql: str | None) -> str:
        if name not in _FIELDS:
            return f"{in_sql or name} in the recipe" if name.islower() else in_sql or name
        text, control = _FIELDS[name]
        self.controls += [control] if control else []
        return text

    def argument(self, name: str, value: Any) -> str:
        text = self.parameter(name, None)
        if value is None or value is ...:
            return text
        if name in _ROLES:
            return f"{self.value(value)} among {text}"
        return f"{text} = {self.value(value)}"

    def option(self, option: Option) -> str:
        if option.name not in _SAY:
            return super().option(option)
        text, control = _SAY[option.name]
        self.controls.append(control)
        if option.value is None and not option.verb and option.name in _NAMES:
            return _NAMES[option.name]
        return text.format(value=_VALUES.get(option.value or "", f"“{option.value}”"))

    def relation(self, name: str) -> str:
        return _FIELDS[name][0] if name in ("raw", "released") else super().relation(name)

    def value(self, value: Any) -> str:
        if isinstance(value, (list, tuple)):
            return ", ".join("…" if each is ... else str(each) for each in value)
        return str(value) if isinstance(value, str) else super().value(value)


def sentence(error: Exception) -> tuple[str, str]:
    """Return an error as a sentence of the screens, and the id of the control that it is about."""
    if isinstance(error, OSError):
        gone = isinstance(error, FileNotFoundError)
        reason = "A file is gone" if gone else error.strerror or "A file cannot be read or written"
        named = f": {os.path.basename(str(error.filename))}" if error.filename else ""
        return visible(f"{reason}{named}."), ""
    spelling = Screens()
    text = plain.error_text(error, spelling=spelling).removeprefix(": ")
    control = next((each for each in spelling.controls if each), "")
    return visible(begun(text)), control


def begun(text: str) -> str:
    """Return a sentence that begins with a capital, unless it begins with a parameter."""
    word = text.partition(" ")[0]
    return text if word in ("k", "l", "t", "β") else text[:1].upper() + text[1:]


def words(texts: Iterable[tuple[str, str | Words]]) -> dict[str, str]:
    """Return texts by column in the words of the screens."""
    return {column: begun(Screens().words(text)) for column, text in texts}
