"""Find the .sql files, the macros that they create, and what their headers say."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from graphlib import TopologicalSorter
from importlib.resources import files
from pathlib import Path
from typing import Any

from anon_sql.core.parameters import Declaration, declared, function_of, parameters_of, takes
from anon_sql.core.roles import fold
from anon_sql.errors import AnonError, Parameter
from anon_sql.hosts.duckdb.registry import load_functions
from anon_sql.methods.method import COMMON

_HEADER = re.compile(r"\A((?:--[^\n]*\n)+)")
_MACRO = re.compile(r"^CREATE OR REPLACE MACRO\s+(\w+)", re.MULTILINE)
_CALL = re.compile(r"\b(\w+)\(")
_NAME = re.compile(r"\s*(\w+)")
_AS_TABLE = re.compile(r"\)\s+AS TABLE\b")
_COMMENT = re.compile(r"--[^\n]*")
CREATE = "CREATE OR REPLACE MACRO"
SIGNATURE = re.compile(re.escape(CREATE) + r"\s+(\w+)\s*\(([^()]*)\)", re.MULTILINE)
TABLE = "tbl"  # the parameter that names the relation of a release, which nothing declares
_KEYWORDS = ("like",)  # of SQL, which are quoted


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

    @property
    def signature(self) -> list[tuple[str, str]]:
        """Return the parameters of the public macro: their names, and as they are written.

        A macro with several signatures lists them after its name; the first one is the widest.
        """
        match = next((m for m in SIGNATURE.finditer(self.text) if m[1] == self.name), None)
        parts = split(match[2]) if match else []
        written = [_words(part) for part in parts if part.strip()]
        return [(re.split(r"\s", word)[0].strip('"'), word) for word in written]


def folder() -> Path:
    """Return the directory sql/ of the installed package or, if it is editable, of the checkout."""
    package = Path(str(files("anon_sql")))
    inside = package / "sql"
    return inside if inside.is_dir() else package.parent / "sql"


def parsed(name: str, folder: str, text: str) -> SqlFile:
    """Return a file of a name, folder and text."""
    header = _HEADER.match(text)
    lines = header[1].splitlines() if header else []
    statements = _COMMENT.sub("", text).split(CREATE)[1:]
    return SqlFile(
        name,
        folder,
        text,
        tuple(_MACRO.findall(text)),
        frozenset(_NAME.match(s)[1] for s in statements if _AS_TABLE.search(s)),  # type: ignore[index]
        "\n".join(line[2:].removeprefix(" ") for line in lines),
    )


def replace_text(file: SqlFile, text: str) -> SqlFile:
    """Return a file with another text."""
    return parsed(file.name, file.folder, text)


def _called(file: SqlFile) -> set[str]:
    """Return the names before parentheses in a file, comments apart."""
    return set(_CALL.findall(_COMMENT.sub("", file.text)))


@cache
def sql_files() -> tuple[SqlFile, ...]:
    """Return all files, each after those whose macros it calls, as DuckDB requires."""
    files_by_path = {
        path: parsed(path.stem, path.parent.name, path.read_text(encoding="utf-8"))
        for path in sorted(folder().glob("*/*.sql"))
    }
    maker = {macro: path for path, file in files_by_path.items() for macro in file.macros}
    order = TopologicalSorter(
        {
            path: sorted({maker[n] for n in _called(file) if n in maker} - {path})
            for path, file in files_by_path.items()
        }
    )
    return tuple(files_by_path[path] for path in order.static_order())


TITLES = {
    "release": "Releases",
    "method": "Methods",
    "primitive": "Building blocks",
    "measure": "Information loss",
    "privacy": "Privacy",
    "linked": "Tables that belong together",
    "attack": "Attacks",
    "hierarchy": "Hierarchies",
    "reader": "Reading labels",
    "role": "Roles",
    "pseudonym": "Pseudonyms",
    "help": "Help",
}
_COMMON = "As in every release: "
_SECTION = re.compile(r"^(Returns|Errors|Example): ", re.MULTILINE)
_NEXT_SENTENCE = re.compile(r"(?<=\.)\s+(?=[A-Z])")


@dataclass(frozen=True)
class Entry:
    """The documentation of one public function.

    note: text about all arguments; arguments: pairs of parameter names and their text. Other
    fields: the sections of the header.
    """

    name: str
    folder: str
    is_table: bool
    parameters: tuple[str, ...]
    description: str
    note: str
    arguments: tuple[tuple[tuple[str, ...], str], ...]
    returns: str
    errors: str
    example: str

    @property
    def topic(self) -> str:
        """Return the section of the reference that lists the function."""
        return TITLES.get(self.folder, self.folder.capitalize())

    @property
    def summary(self) -> str:
        """Return the first sentence of the description."""
        return _NEXT_SENTENCE.split(self.description)[0]

    @property
    def names(self) -> tuple[str, ...]:
        """Return the parameter names without defaults and types."""
        return tuple(re.split(r"\s", parameter)[0] for parameter in self.parameters)

    @property
    def call(self) -> str:
        """Return the call with parameters and defaults, in lines of about 88 characters."""
        head = f"FROM {self.name}" if self.is_table else self.name
        lines = [f"{head}("]
        for number, parameter in enumerate(self.parameters):
            piece = parameter + (")" if number == len(self.parameters) - 1 else ", ")
            if len(lines[-1]) + len(piece) > 88:
                lines[-1] = lines[-1].rstrip()
                lines.append("    ")
            lines[-1] += piece
        return "\n".join(lines)


def read_entry(file: SqlFile) -> Entry:
    """Return the documentation in the header of a file.

    Raises ValueError that names missing sections.
    """
    description, _, rest = file.header.partition("\n\n")
    pieces = _SECTION.split(rest)
    sections = dict(zip(pieces[1::2], pieces[2::2], strict=True))
    parameters = tuple(written for _, written in file.signature)
    missing = [
        part for part in ("Returns", "Errors", "Example") if not sections.get(part, "").strip()
    ]
    if not description.strip() or missing or file.name not in file.macros:
        wanted = ", ".join(missing) or "a description and a macro of the file's name"
        raise ValueError(f"{file.folder}/{file.name}.sql: the header lacks {wanted}")
    names = tuple(name for name, _ in file.signature)
    note, arguments = _arguments(_words(pieces[0]), names)
    if file.name in declared():
        declared_parameters = takes(file.name)
        others = tuple(pair for pair in arguments if not {*pair[0]} & {*declared_parameters})
        note, arguments = _declared_arguments(file.name, names, note)
        arguments = (*others, *arguments)
    return Entry(
        file.name,
        file.folder,
        file.is_table,
        parameters,
        _words(description),
        note,
        arguments,
        _words(sections["Returns"]),
        _words(sections["Errors"]),
        sections["Example"].strip().splitlines()[0],
    )


def _declared_arguments(
    name: str, names: Sequence[str], note: str
) -> tuple[str, tuple[tuple[tuple[str, ...], str], ...]]:
    """Return the note and the sentences of a function whose parameters are declared."""
    common = note.startswith(_COMMON)
    parameters = takes(name) if common else specific_parameters(name)
    sentences = [((TABLE,), "name of the relation.")] if common and TABLE in names else []
    sentences += [
        ((parameter,), parameters[parameter].description)
        for parameter in names
        if parameter in parameters
    ]
    return "" if common else note, tuple(sentences)


def full_header(file: SqlFile) -> str:
    """Return the header of a file, with the sentences of common parameters that it only names."""
    before, common, rest = file.header.partition(f"\n{_COMMON}")
    if not common:
        return file.header
    _, arguments = _declared_arguments(file.name, [n for n, _ in file.signature], _COMMON)
    lines = [f"{', '.join(names)}: {sentence}" for names, sentence in arguments]
    return "\n".join([before, *lines, rest[rest.index("Returns: ") :]])


def specific_parameters(name: str) -> dict[str, Declaration]:
    """Return the parameters that the header of a function describes.

    They are those of its own, and the common ones of which it says more, or has another default.
    """
    function, common = function_of(name), {n for group in COMMON for n in parameters_of(group)}
    parameters = takes(name)
    specific = {n for group in function.groups if group not in COMMON for n in parameters_of(group)}
    differing = {*function.notes, *function.defaults} if function.of is None else set()
    return {
        n: parameters[n] for n in parameters if n in specific or (n in common and n in differing)
    }


def sql_name(name: str) -> str:
    """Return the name of a parameter as SQL writes it."""
    return f'"{name}"' if name in _KEYWORDS else name


def default_of(parameter: Declaration) -> str:
    """Return the default of a parameter as SQL writes it."""
    return _written(parameter.default)


def _written(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_written, value))}]"
    words = {None: "NULL", True: "true", False: "false"}
    return words[value] if value is None or isinstance(value, bool) else repr(value)


def entries(files: Sequence[SqlFile] | None = None) -> list[Entry]:
    """Return every public function in the order of the reference; files: None for all of sql/."""
    load_functions()
    order = list(TITLES)
    public_entries = [read_entry(file) for file in files or sql_files() if file.public]
    place = {name: number for number, name in enumerate(order)}
    return sorted(public_entries, key=lambda e: (place.get(e.folder, len(order)), e.folder, e.name))


def find(function: str, name: str | None) -> Entry:
    """Return the public function of a name, or raise AnonError, reported by ``function``."""
    entries_by_name = {entry.name: entry for entry in entries()}
    entry = entries_by_name.get(fold(name or ""))
    if entry is None:
        close = get_close_matches(fold(name or ""), entries_by_name, n=1)
        hint = f"did you mean {close[0]}?" if close else "FROM anon_help() lists them"
        got = "NULL" if name is None else f"'{name}'"
        rule = Parameter("name") + " must be one of the package's functions"
        raise AnonError(function, rule, got, hint)
    return entry


def _words(text: str) -> str:
    """Return a text on one line, with single spaces."""
    return " ".join(text.split())


def split(inside: str) -> list[str]:
    """Split a parameter list at commas that are not within brackets of a default."""
    return re.split(r",(?![^\[{]*[\]}])", inside)


def _arguments(
    text: str, names: Sequence[str]
) -> tuple[str, tuple[tuple[tuple[str, ...], str], ...]]:
    """Parse ``Note. a, b: text. c: text.``, in which only parameters are names."""
    name_pattern = "|".join(map(re.escape, names))
    note, *pieces = re.split(
        rf"(?:^|(?<=\. ))((?:{name_pattern})(?:, (?:{name_pattern}))*): ", text
    )
    pairs = zip(pieces[::2], pieces[1::2], strict=True)
    return note.strip(), tuple(
        (tuple(together.split(", ")), sentence.strip()) for together, sentence in pairs
    )
