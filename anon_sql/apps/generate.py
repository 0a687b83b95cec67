"""Write what follows from declared parameters: ``./generate``; ``./generate --check`` compares.

``./generate new METHOD`` writes a first .sql file and a first test of a registered method.
``./generate site`` builds the site of the documentation (``pip install '.[site]'``).

In sql/ a public file keeps its description, Returns, Errors, Example and body. Written in place are
the sentences of the function's own parameters, its signature, and the structs of parameters in its
body. A signature keeps its order, since DuckDB takes arguments by position too; what is new is
appended. The dbt macro write_manifest gets the arguments of anon_manifest. The page
docs/look-up/reference.md and anon_sql/frames.pyi are written from the headers and the declaration.
"""

import re
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

import anon_sql
from anon_sql.apps import site
from anon_sql.apps.frames_stub import WIDTH, filled, stub
from anon_sql.core.parameters import Declaration, Secret, declared, function_of, takes
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
    parsed,
    replace_text,
    specific_parameters,
    split,
    sql_files,
    sql_name,
)
from anon_sql.methods.method import find_method
from anon_sql.privacy import MODELS
from anon_sql.privacy.k_anonymity import KAnonymity

_STRUCT = re.compile(r"system\.main\.struct_pack\(\s*((?:\"?\w+\"? := \"?\w+\"?(?:,\s*)?)+)\)")
_ONE_TABLE = "released := NULL"  # without a release, a table is measured as it is


def comment(text: str) -> str:
    """Return a comment of one sentence or more in lines, indented from the second on."""
    lines = ["--"]
    for word in text.split():
        if len(lines[-1]) + 1 + len(word) > WIDTH:
            lines.append("--  ")
        lines[-1] += f" {word}"
    return "\n".join(lines)


def with_parameters(file: SqlFile) -> str:
    """Return the text of a public file as the declaration of its function wants it."""
    parameters, before = takes(file.name), file.signature
    names = [name for name, _ in before]
    required = [(n, word) for n, word in before if ":=" not in word or word == _ONE_TABLE]
    for name in names:
        if name not in (*dict(required), *parameters):
            raise ValueError(f"{file.folder}/{file.name}.sql: {name} is not declared")
    new = [name for name in parameters if name not in names]
    order = [name for name in (*names, *new) if name in parameters]
    words = [f"{name} := {default_of(parameters[name])}" for name in order]
    words = [*(word for _, word in required), *words]
    text = _with_sentences(_with_signature(file, words), file, order)
    return _with_structs(
        _with_calls(text, function_of(file.name).of, parameters), parameters, order
    )


def _with_signature(file: SqlFile, words: Sequence[str]) -> str:
    match = next(m for m in SIGNATURE.finditer(file.text) if m[1] == file.name)
    head = f"{CREATE} {file.name}("
    one = f"{head}{', '.join(words)})"
    rest = file.text[match.end() :]
    short = len(one) + len(rest.partition("\n")[0]) <= WIDTH
    made = one if short else f"{head}\n{filled(words, '    ')}\n)"
    return file.text[: match.start()] + made + rest


def _with_sentences(text: str, file: SqlFile, order: Sequence[str]) -> str:
    """Return the text with the sentences of the parameters that the file is to describe."""
    specific = specific_parameters(file.name)
    start = text.index("\n--\n") + len("\n--\n")
    end = text.index("-- Returns: ")
    lines = []
    common = [name for name in order if name not in specific]
    if function_of(file.name).of is None and common:
        shared = [TABLE, *common] if file.signature[0][0] == TABLE else common
        lines.append(comment(f"As in every release: {', '.join(shared)}."))
        lines += [each for each in text[start:end].splitlines() if each.startswith("-- raw: ")]
    else:
        lines += _note(text[start:end], specific)
    lines += [
        comment(f"{name}: {specific[name].description}") for name in order if name in specific
    ]
    return text[:start] + "".join(f"{line}\n" for line in lines) + text[end:]


def _note(before: str, specific: Mapping[str, Declaration]) -> Iterator[str]:
    """Give the lines above the sentences of a function's own parameters, which a person writes."""
    for line in before.splitlines():
        name = re.match(r"-- (\w+): ", line)
        if name and name[1] in specific:
            return
        yield line


def _with_structs(text: str, parameters: Mapping[str, Declaration], order: Sequence[str]) -> str:
    """Return the text with the structs of parameters: those for binding, and all others."""
    bound = [name for name in order if parameters[name].bound]
    others = [
        name
        for name in order
        if not (parameters[name].bound or parameters[name].relation or name == "k")
        and not isinstance(parameters[name].accepts, Secret)
    ]

    head, body = text.split(") AS", 1)

    def packed(match: re.Match[str]) -> str:
        pairs = [part.replace('"', "").strip().split(" := ") for part in match[1].split(",")]
        names = [name for name, value in pairs if name == value and name in parameters]
        if len(names) < len(pairs):
            return match[0]
        chosen = bound if names[0] in bound else others
        if names == chosen:
            return match[0]
        if names[0] == KAnonymity.name:  # what a release is required to satisfy
            chosen = [*names, *(name for name in levels() if name not in names)]
        line = body[body.rfind("\n", 0, match.start()) + 1 : match.start()]
        indent = " " * (len(line) - len(line.lstrip()) + 4)
        words = [f"{sql_name(n)} := {sql_name(n)}" for n in chosen]
        return "system.main.struct_pack(\n" + filled(words, indent, last=3) + ")"

    made = _STRUCT.sub(packed, body)
    while made != body:  # the first struct of a line moves the others
        body, made = made, _STRUCT.sub(packed, made)
    return f"{head}) AS{body}"


_FOUND = re.compile(r"( *)('\w+': __anon_found_of\(__anon_checks, '\w+'\),?\s*)+(?=\})")


def levels() -> list[str]:
    """Return the parameters of all privacy models."""
    return [name for model in MODELS for name in model.parameters()]


def _with_calls(text: str, called: str | None, parameters: Mapping[str, Declaration]) -> str:
    """Return the text whose calls of a function pass all of its parameters, and that finds the
    level of every privacy model in its checks."""

    def passed(match: re.Match[str]) -> str:
        names = {part.partition(" := ")[0].strip() for part in split(match[2])}
        new = [name for name in takes(str(called)) if name in parameters and name not in names]
        more = filled([f"{name} := {name}" for name in new], f"{match[3]}    ")
        return f"{match[1]}{match[2]}" + (f",\n{more}\n" if new else "\n") + f"{match[3]})"

    def measured(match: re.Match[str]) -> str:
        lines = [
            f"{match[1]}'{model.name}': __anon_found_of(__anon_checks, '{model.name}')"
            for model in MODELS
        ]
        return ",\n".join(lines) + "\n" + match[1][4:]

    head, body = text.split(") AS", 1)
    if called is not None:
        call = re.compile(rf"(FROM {called}\(\s*)(raw,(?:[^()]|\([^()]*\))*?)\n( *)\)")
        body = call.sub(passed, body)
    return f"{head}) AS{_FOUND.sub(measured, body)}"


_INTRO = """\
<!-- Made from sql/ and the declared parameters by ./generate; edit those. -->

# Reference

Look up any function of the package. `FROM anon_help('rayden')` returns the same
text in SQL, and `FROM anon_help()` lists all functions. Only the first arguments are positional;
pass all others by name with `:=`. `SELECT anon_version()` returns the registered version."""


_COMMON = """\
## Common parameters

Many functions take these parameters. An entry describes its other parameters only."""
_SHARED = 5  # functions that take a parameter of one description, which then stands once

Argument = tuple[tuple[str, ...], str]


def page(functions: Sequence[Entry]) -> str:
    """Return docs/look-up/reference.md."""
    groups: dict[str, list[Entry]] = {}
    for entry in functions:
        groups.setdefault(entry.topic, []).append(entry)
    shared = _shared(functions)
    parts = [_INTRO]
    for group, members in groups.items():
        links = ", ".join(f"[`{entry.name}`](#{entry.name})" for entry in members)
        parts.append(f"{group}: {links}")
    parts += [_COMMON, "\n".join(_line(argument) for argument in shared)]
    for group, members in groups.items():
        parts.append(f"## {group}")
        parts.extend(_entry_text(entry, shared) for entry in members)
    return "\n\n".join(parts) + "\n"


def _shared(functions: Sequence[Entry]) -> list[Argument]:
    """Return the descriptions that many functions have, the most frequent one of each parameter."""
    taken = Counter(argument for entry in functions for argument in entry.arguments)
    chosen: dict[str, Argument] = {}
    for (names, text), number in taken.most_common():
        new = not chosen.keys() & set(names) and "This function" not in text
        if number >= _SHARED and new:
            chosen |= dict.fromkeys(names, (names, text))
    return [argument for argument in taken if argument in chosen.values()]


def _line(argument: Argument) -> str:
    names, text = argument
    return f"- {', '.join(f'`{name}`' for name in names)}: {text}"


def _entry_text(entry: Entry, shared: Collection[Argument]) -> str:
    described = [_line(argument) for argument in entry.arguments if argument not in shared]
    common = len(described) < len(entry.arguments)
    which = "The other parameters" if described else "All parameters"
    parts = [
        f"### {entry.name}",
        entry.description,
        f"```text\n{entry.call}\n```",
        entry.note,
        "\n".join(described),
        f"{which} are [common parameters](#common-parameters)." if common else "",
        f"Returns: {entry.returns}",
        f"Errors: {entry.errors}",
        f"```sql\n{entry.example}\n```",
    ]
    return "\n\n".join(part for part in parts if part)


_MACRO = re.compile(r"\{% macro write_manifest\((.*?)\) %\}", re.DOTALL)
_STATED = re.compile(r"set stated = \{\n.*?\n  \}", re.DOTALL)


def with_arguments(text: str) -> str:
    """Return the dbt macro ``write_manifest`` with the arguments that anon_manifest takes."""
    parameters = takes("anon_manifest")
    match = _MACRO.search(text)
    before = [part.partition("=")[0].strip() for part in match[1].split(",")] if match else []
    order = [name for name in before if name in parameters]
    order += [name for name in parameters if name not in order]
    words = ["raw", *(f"{name}={jinja(parameters[name].default)}" for name in order)]
    stated = [
        f"'{name}': {name}" for name in order if name not in ("hierarchy", "previous", "series")
    ]
    listed = filled(words, "    ", 4)
    text = _MACRO.sub(lambda _: f"{{% macro write_manifest(\n{listed}) %}}", text)
    return _STATED.sub(lambda _: f"set stated = {{\n{filled(stated, '    ')}\n  }}", text)


def jinja(value: object) -> str:
    """Return a default as Jinja writes it."""
    return "none" if value is None else repr(value)


def files() -> dict[Path, str]:
    """Return every generated file, as it must be."""
    load_functions()
    made = [
        replace_text(file, with_parameters(file)) if file.name in declared() else file
        for file in sql_files()
    ]
    texts = {folder() / file.folder / f"{file.name}.sql": file.text for file in made}
    macro = Path(anon_sql.__file__).parent / "dbt" / "macros" / "write_manifest.sql"
    texts[macro] = with_arguments(macro.read_text(encoding="utf-8"))
    texts[Path(anon_sql.__file__).parent / "frames.pyi"] = stub(entries(made))
    return {**texts, folder().parent / "docs" / "look-up" / "reference.md": page(entries(made))}


_MACRO_OF = """\
-- A k-anonymous release by {name}: say in a sentence or two how it makes its classes.
--
-- Returns: the columns of the source without the identifiers; quasi-identifiers are generalized.
-- Errors: a column without a role, no quasi-identifier, k above the number of rows, unknown columns
--   or options.
-- Example: SELECT * FROM {name}('people', quasi := ['age', 'city'], sensitive := 'illness');
{create} {name}(
    tbl, k := 5
) AS TABLE
FROM __anon_released(
    '{name}', tbl, k, __anon_scope(tbl, system.main.struct_pack(
        quasi := quasi)),
    format, system.main.struct_pack(
        format := format),
    hierarchy, entity, series, key);
"""
_TEST_OF = '''\
"""{name}: every class has k rows, and every row is released."""


def test_every_class_has_k_rows(people):
    released = "FROM {name}('people', k := 7)"
    classes = f"SELECT count(*) AS n FROM ({{released}}) GROUP BY age, sex, city"
    smallest, rows = people.execute(f"SELECT min(n), sum(n) FROM ({{classes}})").fetchall()[0]
    assert smallest >= 7
    assert rows == people.execute("SELECT count(*) FROM people").fetchall()[0][0]
'''


def first_files(name: str, root: Path) -> dict[Path, str]:
    """Return a first .sql file and a first test of a method, to be completed by hand.

    root: of the checkout. Raises ValueError for a method that is not registered or has a file.
    """
    if find_method(name) is None:
        raise ValueError(f"no @method is called {name}")
    macro = root / "sql" / "release" / f"{name}.sql"
    if macro.exists():
        raise ValueError(f"{macro.name} is there already")
    text = _MACRO_OF.format(name=name, create=CREATE)
    test = root / "tests" / "release" / f"test_{name}.py"
    made = with_parameters(parsed(name, "release", text))
    return {macro: made, test: _TEST_OF.format(name=name)}


def main(arguments: Sequence[str]) -> int:
    """Write the files, or with ``--check`` name those that are stale; return the exit code."""
    if len(arguments) == 2 and arguments[0] == "new":
        for path, text in first_files(arguments[1], folder().parent).items():
            path.write_text(text, encoding="utf-8")
            sys.stderr.write(f"{path.name} is written\n")
        return 0
    if list(arguments) == ["site"]:
        return 1 if site.build(folder().parent, entries()) else 0
    if list(arguments) not in ([], ["--check"]):
        sys.stderr.write("usage: ./generate [--check | new METHOD | site]\n")
        return 2
    stale = {
        path: text
        for path, text in files().items()
        if not path.is_file() or path.read_text(encoding="utf-8") != text
    }
    for path, text in stale.items():
        state = "is stale: run ./generate" if arguments else "is written"
        sys.stderr.write(f"{path.name} {state}\n")
        if not arguments:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return 1 if arguments and stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
