"""docs/reference.md, made from the headers of the .sql files: ``python -m anon_sql.reference``."""

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from anon_sql.macros import CREATE, SqlFile, folder, sql_files

TITLES = {
    "release": "Releases",
    "method": "Methods",
    "primitive": "Building blocks",
    "measure": "Information loss",
    "privacy": "Privacy",
    "attack": "Attacks",
    "hierarchy": "Hierarchies",
    "reader": "Reading labels",
    "role": "Roles",
}
_INTRO = """\
<!-- Made from the headers in sql/ by `python -m anon_sql.reference`; edit those. -->

# Reference

Every function, as its own help says it: `SELECT comment FROM duckdb_functions() WHERE
function_name = 'rayden'` shows the same text in a session. Only the first arguments are
positional; name all others with `:=`. `SELECT anon_version()` gives the version registered."""
_SECTION = re.compile(r"^(Returns|Errors|Example): ", re.MULTILINE)
_SIGNATURE = re.compile(re.escape(CREATE) + r"\s+(\w+)\s*\(([^()]*)\)", re.MULTILINE)


@dataclass(frozen=True)
class Entry:
    """One public function. note: what is said of all arguments; arguments: (names, text) pairs."""

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
    def names(self) -> tuple[str, ...]:
        """The parameters without their defaults and types."""
        return tuple(re.split(r"\s", parameter)[0] for parameter in self.parameters)

    @property
    def call(self) -> str:
        """The function with its parameters and defaults, broken where a line gets long."""
        head = f"FROM {self.name}" if self.is_table else self.name
        lines = [f"{head}("]
        for at, parameter in enumerate(self.parameters):
            piece = parameter + (")" if at == len(self.parameters) - 1 else ", ")
            if len(lines[-1]) + len(piece) > 88:
                lines[-1] = lines[-1].rstrip()
                lines.append("    ")
            lines[-1] += piece
        return "\n".join(lines)


def read(file: SqlFile) -> Entry:
    """The header of a file in its parts. Raises ValueError that names what is missing."""
    description, _, rest = file.header.partition("\n\n")
    pieces = _SECTION.split(rest)
    said = dict(zip(pieces[1::2], pieces[2::2], strict=True))
    signature = next((m for m in _SIGNATURE.finditer(file.text) if m[1] == file.name), None)
    # A macro with several signatures lists them after its name; the first one is the widest.
    inside = signature[2] if signature else ""
    parameters = tuple(_words(part) for part in _split(inside) if part.strip())
    missing = [part for part in ("Returns", "Errors", "Example") if not said.get(part, "").strip()]
    if not description.strip() or missing or signature is None:
        wanted = ", ".join(missing) or "a description and a macro of the file's name"
        raise ValueError(f"{file.folder}/{file.name}.sql: the header lacks {wanted}")
    names = tuple(parameter.split()[0] for parameter in parameters)
    note, arguments = _arguments(_words(pieces[0]), names)
    return Entry(
        file.name,
        file.folder,
        file.is_table,
        parameters,
        _words(description),
        note,
        arguments,
        _words(said["Returns"]),
        _words(said["Errors"]),
        said["Example"].strip().splitlines()[0],
    )


def entries() -> list[Entry]:
    """Every public function, folder by folder in the order of the page."""
    order = list(TITLES)
    found = [read(file) for file in sql_files() if file.public]
    place = {name: at for at, name in enumerate(order)}
    return sorted(found, key=lambda e: (place.get(e.folder, len(order)), e.folder, e.name))


def page(functions: Sequence[Entry]) -> str:
    """The whole page as Markdown."""
    groups: dict[str, list[Entry]] = {}
    for entry in functions:
        groups.setdefault(entry.folder, []).append(entry)
    parts = [_INTRO]
    for group, members in groups.items():
        links = ", ".join(f"[`{entry.name}`](#{entry.name})" for entry in members)
        parts.append(f"{TITLES.get(group, group.capitalize())}: {links}")
    for group, members in groups.items():
        parts.append(f"## {TITLES.get(group, group.capitalize())}")
        parts.extend(_shown(entry) for entry in members)
    return "\n\n".join(parts) + "\n"


def _shown(entry: Entry) -> str:
    listed = [
        f"- {', '.join(f'`{name}`' for name in names)}: {text}" for names, text in entry.arguments
    ]
    parts = [
        f"### {entry.name}",
        entry.description,
        f"```text\n{entry.call}\n```",
        entry.note,
        "\n".join(listed),
        f"Returns: {entry.returns}",
        f"Errors: {entry.errors}",
        f"```sql\n{entry.example}\n```",
    ]
    return "\n\n".join(part for part in parts if part)


def _words(text: str) -> str:
    return " ".join(text.split())


def _split(inside: str) -> list[str]:
    """Parameters at their commas, but not at those within a default's brackets."""
    return re.split(r",(?![^\[{]*[\]}])", inside)


def _arguments(
    text: str, names: Sequence[str]
) -> tuple[str, tuple[tuple[tuple[str, ...], str], ...]]:
    """``Note. a, b: text. c: text.`` in its parts; only parameters count as names."""
    known = "|".join(map(re.escape, names))
    note, *pieces = re.split(rf"(?:^|(?<=\. ))((?:{known})(?:, (?:{known}))*): ", text)
    pairs = zip(pieces[::2], pieces[1::2], strict=True)
    return note.strip(), tuple((tuple(given.split(", ")), said.strip()) for given, said in pairs)


def main(arguments: Sequence[str]) -> int:
    """Write the page, or with ``--check`` say whether it is fresh; the process's exit code."""
    target = _target()
    made = page(entries())
    if list(arguments) == ["--check"]:
        fresh = target.is_file() and target.read_text(encoding="utf-8") == made
        if not fresh:
            sys.stderr.write(f"{target} is stale: run python -m anon_sql.reference\n")
        return 0 if fresh else 1
    if arguments:
        sys.stderr.write("usage: python -m anon_sql.reference [--check]\n")
        return 2
    target.parent.mkdir(exist_ok=True)
    target.write_text(made, encoding="utf-8")
    return 0


def _target() -> Path:
    """docs/reference.md of the checkout that holds sql/."""
    return folder().parent / "docs" / "reference.md"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
