"""Find the .sql files, the macros that they create, and the order in which to create them."""

import ast
import re
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter
from importlib.resources import files
from pathlib import Path
from typing import Any

_HEADER = re.compile(r"\A((?:--[^\n]*\n)+)")
_MACRO = re.compile(r"^CREATE OR REPLACE MACRO\s+(\w+)", re.MULTILINE)
_NAME = re.compile(r"\s*(\w+)")
_AS_TABLE = re.compile(r"\)\s+AS TABLE\b")
_COMMENT = re.compile(r"--[^\n]*")
_WORDS = {"NULL": None, "true": True, "false": False}
_DEFAULT = re.compile(r"(\w+) := ('[^']*'|[\w.]+)")
CREATE = "CREATE OR REPLACE MACRO"


@dataclass(frozen=True)
class SqlFile:
    """One .sql file.

    macros: names of the macros it creates; tables: those of them that are table macros; header:
    its first comment without dashes.
    """

    name: str
    folder: str
    text: str
    macros: tuple[str, ...]
    tables: frozenset[str]
    header: str

    @property
    def public(self) -> bool:
        return self.folder != "internal"

    @property
    def is_table(self) -> bool:
        """Return whether the public macro is a table macro, called in FROM."""
        return self.name in self.tables

    def defaults(self) -> dict[str, Any]:
        """Return the defaults of the public macro's parameters as Python values.

        Only defaults that are text, numbers, true, false or NULL are included.
        """
        _, _, rest = self.text.partition(f"{CREATE} {self.name}(")
        words = dict(_DEFAULT.findall(rest.partition(") AS")[0]))
        return {n: _WORDS[w] if w in _WORDS else ast.literal_eval(w) for n, w in words.items()}


def defaults(function: str) -> dict[str, Any]:
    """Return the defaults of the parameters of a function, those of ``SqlFile.defaults``."""
    return next(file.defaults() for file in sql_files() if file.name == function)


def folder() -> Path:
    """Return the directory sql/ of the installed package or, if it is editable, of the checkout."""
    package = Path(str(files("anon_sql")))
    inside = package / "sql"
    return inside if inside.is_dir() else package.parent / "sql"


@cache
def sql_files() -> tuple[SqlFile, ...]:
    """Return all files, each after those whose macros it calls, as DuckDB requires."""
    found = {}
    for path in sorted(folder().glob("*/*.sql")):
        text = path.read_text(encoding="utf-8")
        header = _HEADER.match(text)
        lines = header[1].splitlines() if header else []
        statements = _COMMENT.sub("", text).split(CREATE)[1:]
        found[path] = SqlFile(
            path.stem,
            path.parent.name,
            text,
            tuple(_MACRO.findall(text)),
            frozenset(_NAME.match(s)[1] for s in statements if _AS_TABLE.search(s)),  # type: ignore[index]
            "\n".join(line[2:].removeprefix(" ") for line in lines),
        )
    maker = {macro: path for path, file in found.items() for macro in file.macros}
    calls = re.compile(r"\b(" + "|".join(map(re.escape, maker)) + r")\(")
    order = TopologicalSorter(
        {
            path: sorted({maker[n] for n in calls.findall(_COMMENT.sub("", file.text))} - {path})
            for path, file in found.items()
        }
    )
    return tuple(found[path] for path in order.static_order())
