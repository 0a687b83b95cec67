"""Write what follows from declared parameters: ``./generate``; ``./generate --check`` compares.

In sql/ a public file keeps its description, Returns, Errors, Example and body. Written in place are
the sentences of the function's own parameters, its signature, and the structs of parameters in its
body. A signature keeps its order, since DuckDB takes arguments by position too; what is new is
appended. docs/reference.md is written from the headers and the declaration.
"""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from anon_sql.core.parameters import Parameter, declared, function_of, takes
from anon_sql.hosts.duckdb.registry import load_functions
from anon_sql.hosts.duckdb.sql_files import (
    CREATE,
    SIGNATURE,
    TABLE,
    Entry,
    SqlFile,
    default_of,
    entries,
    folder,
    own_parameters,
    replace_text,
    sql_files,
    sql_name,
)

_WIDTH = 100
_STRUCT = re.compile(r"system\.main\.struct_pack\(\s*((?:\"?\w+\"? := \"?\w+\"?(?:,\s*)?)+)\)")


def filled(words: Iterable[str], indent: str, last: int = 0) -> str:
    """Return words, separated by commas, in lines; last: characters that follow the last one."""
    words = list(words)
    lines = [indent]
    for at, word in enumerate(words):
        piece = word + (", " if at < len(words) - 1 else "")
        room = _WIDTH - (last if at == len(words) - 1 else 0)
        if len(lines[-1] + piece.rstrip()) > room and lines[-1] != indent:
            lines.append(indent)
        lines[-1] += piece
    return "\n".join(line.rstrip() for line in lines)


def sentence(text: str) -> str:
    """Return a comment of one sentence or more in lines, indented from the second on."""
    lines = ["--"]
    for word in text.split():
        if len(lines[-1]) + 1 + len(word) > _WIDTH:
            lines.append("--  ")
        lines[-1] += f" {word}"
    return "\n".join(lines)


def with_parameters(file: SqlFile) -> str:
    """Return the text of a public file as the declaration of its function wants it."""
    known, before = takes(file.name), file.signature
    names = [name for name, _ in before]
    required = [(name, word) for name, word in before if ":=" not in word]  # nobody declares them
    for name in names:
        if name not in (*dict(required), *known):
            raise ValueError(f"{file.folder}/{file.name}.sql: nobody declares {name}")
    new = [name for name in known if name not in names]
    order = [name for name in (*names, *new) if name in known]
    words = [f"{name} := {default_of(known[name])}" for name in order]
    words = [*(word for _, word in required), *words]
    text = _with_signature(file, words)
    return _with_structs(_with_sentences(text, file, order), known, order)


def _with_signature(file: SqlFile, words: Sequence[str]) -> str:
    found = next(m for m in SIGNATURE.finditer(file.text) if m[1] == file.name)
    head = f"{CREATE} {file.name}("
    one = f"{head}{', '.join(words)})"
    rest = file.text[found.end() :]
    short = len(one) + len(rest.partition("\n")[0]) <= _WIDTH
    made = one if short else f"{head}\n{filled(words, '    ')}\n)"
    return file.text[: found.start()] + made + rest


def _with_sentences(text: str, file: SqlFile, order: Sequence[str]) -> str:
    """Return the text with the sentences of the parameters that the file is to describe."""
    own = own_parameters(file.name)
    start = text.index("\n--\n") + len("\n--\n")
    end = text.index("-- Returns: ")
    lines = []
    common = [name for name in order if name not in own]
    if function_of(file.name).of is None and common:
        lines.append(sentence(f"As in every release: {', '.join([TABLE, *common])}."))
    else:
        lines += _note(text[start:end], own)
    lines += [sentence(f"{name}: {own[name].sentence}") for name in order if name in own]
    return text[:start] + "".join(f"{line}\n" for line in lines) + text[end:]


def _note(before: str, own: Mapping[str, Parameter]) -> Iterator[str]:
    """Give the lines above the sentences of a function's own parameters, which a person writes."""
    for line in before.splitlines():
        name = re.match(r"-- (\w+): ", line)
        if name and name[1] in own:
            return
        yield line


def _with_structs(text: str, known: Mapping[str, Parameter], order: Sequence[str]) -> str:
    """Return the text with the structs of parameters: those for binding, and all others."""
    bound = [name for name in order if known[name].bound]
    others = [
        name for name in order if not (known[name].bound or known[name].relation or name == "k")
    ]

    head, body = text.split(") AS", 1)

    def packed(found: re.Match[str]) -> str:
        pairs = [part.replace('"', "").strip().split(" := ") for part in found[1].split(",")]
        names = [name for name, value in pairs if name == value and name in known]
        if len(names) < len(pairs):
            return found[0]
        chosen = bound if names[0] in bound else others
        if names == chosen:
            return found[0]
        line = body[body.rfind("\n", 0, found.start()) + 1 : found.start()]
        indent = " " * (len(line) - len(line.lstrip()) + 4)
        words = [f"{sql_name(n)} := {sql_name(n)}" for n in chosen]
        return "system.main.struct_pack(\n" + filled(words, indent, last=3) + ")"

    made = _STRUCT.sub(packed, body)
    while made != body:  # the first struct of a line moves the others
        body, made = made, _STRUCT.sub(packed, made)
    return f"{head}) AS{body}"


_INTRO = """\
<!-- Made from sql/ and the declared parameters by ./generate; edit those. -->

# Reference

This page describes every function of the package. `FROM anon_help('rayden')` returns the same
text in SQL, and `FROM anon_help()` lists all functions. Only the first arguments are positional;
pass all others by name with `:=`. `SELECT anon_version()` returns the registered version."""


def page(functions: Sequence[Entry]) -> str:
    """Return docs/reference.md."""
    groups: dict[str, list[Entry]] = {}
    for entry in functions:
        groups.setdefault(entry.topic, []).append(entry)
    parts = [_INTRO]
    for group, members in groups.items():
        links = ", ".join(f"[`{entry.name}`](#{entry.name})" for entry in members)
        parts.append(f"{group}: {links}")
    for group, members in groups.items():
        parts.append(f"## {group}")
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


def files() -> dict[Path, str]:
    """Return every generated file, as it must be."""
    load_functions()
    made = [
        replace_text(file, with_parameters(file)) if file.name in declared() else file
        for file in sql_files()
    ]
    texts = {folder() / file.folder / f"{file.name}.sql": file.text for file in made}
    return {**texts, folder().parent / "docs" / "reference.md": page(entries(made))}


def main(given: Sequence[str]) -> int:
    """Write the files, or with ``--check`` name those that are stale; return the exit code."""
    if list(given) not in ([], ["--check"]):
        sys.stderr.write("usage: ./generate [--check]\n")
        return 2
    stale = {
        path: text
        for path, text in files().items()
        if not path.is_file() or path.read_text(encoding="utf-8") != text
    }
    for path, text in stale.items():
        sys.stderr.write(f"{path.name} {'is stale: run ./generate' if given else 'is written'}\n")
        if not given:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return 1 if given and stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
