"""Read and write recipes: TOML files of a source, roles, parameters and accepted reasons.

A recipe holds all that a release needs and no value of the data. Whatever it says is checked:
unknown keys, columns without a role, another schema and other content are refused.
"""

import datetime
import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from anon_sql.core.common_parameters import IN_SQL, PERSON, ROW, UNIT
from anon_sql.core.names import quote
from anon_sql.core.parameters import takes
from anon_sql.core.pseudonyms import named_key
from anon_sql.core.roles import PARAMETER, REST, ROLES, fold
from anon_sql.errors import AnonError, Option, did_you_mean, listed
from anon_sql.hosts import documents
from anon_sql.hosts.contents import kind_of
from anon_sql.hosts.documents import require_known, require_typed
from anon_sql.hosts.files import digest, is_pattern, members
from anon_sql.hosts.statements import ANONYMOUS_FOR, statement_of, with_recipient
from anon_sql.methods.method import release_methods

FORM = 1
_PLAIN = re.compile(r"[A-Za-z0-9_-]+")
_WORD = re.compile(r"[^\W\d_]+")
ACCEPTABLE = (
    *("audit", "certain", "inferred", "lifted", "l_alone", "near", "gcp", "query_error", "columns"),
    *("texts", "sets", "suppression", "distribution", "choice", "roles", "people", "kept"),
    *("minimality", "isolation", "linkage", "inference"),
)
_OF_COMMAND = ("parts", "part_rows", "unique_share", UNIT)  # no parameters of a method
NO_SECRET = "a recipe holds no secret"
_WITHOUT = {"tbl", "hierarchy", "like", *IN_SQL}
_SOURCE: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("file", "database", "table", "control", "schema_sha256", "sha256"), str),
    **dict.fromkeys(("delimiter", "quote", "encoding"), str),
    **dict.fromkeys(("header", "trim", "variable_labels", "without_total_row"), bool),
    "sheet": str,
    "first_row": int,
    "missing": dict,
    "as_codes": list,
    "null": list,
    **dict.fromkeys(("decimal", "thousands", "date_format", "timestamp_format"), (str, dict)),
}
READING = (  # how a file is read; of the delimiter and the header the names of columns tell
    *("quote", "null", "encoding", "trim", "sheet", "first_row"),
    *("missing", "as_codes", "variable_labels", "without_total_row"),
    *("decimal", "thousands", "date_format", "timestamp_format"),
)
_SERIES: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("file", "key", "leavers"), str),
    **dict.fromkeys(("l", "leaf"), int),
    "waiting": (int, float),
}
_OF_SERIES = ("release", "verify", "report", "recipe")  # what takes a recipe of a series
_MADE: dict[str, type | tuple[type, ...]] = {"anon_sql": str, "duckdb": str}
_TABLES = (
    *(
        "source",
        "release",
        "roles",
        "hierarchies",
        "statement",
        "accepted",
        "stricter",
        "series",
        "made",
    ),
)


@dataclass(frozen=True)
class Recipe:
    """A recipe that has been read from ``path``.

    source: file, or database and table; and hashes. method, parameters: of the release. roles: the
    columns by parameter (``PARAMETER``). hierarchies: a path by column. stricter: limits of the
    verdict. series: the file of a state, its key and parameters of series_next; empty without one.
    """

    path: Path
    source: Mapping[str, Any]
    method: str
    parameters: Mapping[str, Any]
    roles: Mapping[str, list[str]]
    confirmed: bool = False
    hierarchies: Mapping[str, Path] = field(default_factory=dict)
    statement: Mapping[str, Any] = field(default_factory=dict)
    accepted: Mapping[str, str] = field(default_factory=dict)
    stricter: Mapping[str, Any] = field(default_factory=dict)
    series: Mapping[str, Any] = field(default_factory=dict)

    @property
    def file(self) -> Path:
        """Return the path of the source, or of its database."""
        return self.path.parent / str(self.source.get("file") or self.source["database"])

    @property
    def table(self) -> str | None:
        """Return the table of a database; None for a file."""
        return self.source.get("table")

    @property
    def control(self) -> Path | None:
        """Return the file of people who are not in the source; None without one."""
        return self.path.parent / str(self.source["control"]) if "control" in self.source else None

    @property
    def environment(self) -> str:
        """Return for whom the release is, one of ``statements.ENVIRONMENTS``."""
        return str(self.statement.get("environment", "contract"))

    @property
    def sha256(self) -> str:
        """Return the hash of the recipe."""
        return digest(self.path)


def is_recipe(path: Path) -> bool:
    """Return whether a path is that of a recipe, by its name."""
    return path.suffix.lower() == ".toml"


def read_recipe(function: str, path: Path) -> Recipe:
    """Return the recipe in a file. Raises AnonError of ``function`` for anything else."""
    return parse(function, path, tables(function, path))


def tables(function: str, path: Path) -> dict[str, Any]:
    """Return the tables of a file of TOML. Raises AnonError of ``function`` for anything else."""
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        got = f"'{path}'" if path.exists() else f"'{path}', which does not exist"
        raise AnonError(function, "the recipe must be a file of text", got) from None
    try:
        return with_recipient(function, documents.read_toml(text))
    except documents.Odd as wrong:
        raise AnonError(function, "the recipe must be TOML", str(wrong)) from None


def parse(function: str, path: Path, document: Mapping[str, Any]) -> Recipe:
    """Return the recipe that some tables of TOML are; path: where it is, or is to be written.

    Raises AnonError of ``function`` for anything else.
    """
    entries = sections(function, document)
    if "root" in entries["source"]:
        rule = "the recipe must be one of a single table"
        hint = "anon-sql release RECIPE OUT/ releases tables that belong together"
        raise AnonError(function, rule, "one with root", hint)
    release = dict(entries["release"])
    method = release.pop("method", "anonymize")
    return Recipe(
        path.absolute(),
        _source(function, entries["source"]),
        *_release(function, method, release),
        *_roles(function, entries["roles"]),
        trees_of(function, path.absolute().parent, entries["hierarchies"]),
        statement_of(function, entries["statement"]),
        accepted_of(function, entries["accepted"]),
        entries["stricter"],
        _series(function, entries["series"], release),
    )


def sections(function: str, document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tables of a recipe, those that it lacks empty. Raises AnonError for others."""
    entries = dict(document)
    require_known(function, "the recipe", entries, ("recipe", *_TABLES))
    if entries.get("recipe") != FORM:
        raise AnonError(function, f"the recipe must be one of form {FORM}")
    for name in _TABLES:
        if not isinstance(entries.setdefault(name, {}), dict):
            raise AnonError(function, f"[{name}] of the recipe must be a table")
    require_typed(function, "[made]", entries["made"], _MADE)
    return entries


def relative(function: str, what: str, value: Any) -> str:
    """Return a path. Raises AnonError unless it is relative to the recipe."""
    if not isinstance(value, str) or not value:
        raise AnonError(function, f"{what} must be a path", type(value).__name__)
    if os.path.isabs(value) or "://" in value:
        raise AnonError(function, f"{what} must be relative to the recipe", "an absolute path")
    return value


def _source(function: str, section: Mapping[str, Any]) -> dict[str, Any]:
    require_typed(function, "[source]", section, _SOURCE)
    in_database = {"database", "table"} & set(section)
    if ("file" in section) == bool(in_database) or len(in_database) == 1:
        rule = "[source] must have a file, or a database and a table"
        raise AnonError(function, rule, "neither or both")
    relative(function, "file" if "file" in section else "database",
              section.get("file") or section.get("database"))  # fmt: skip
    if "control" in section:
        relative(function, "control", section["control"])
    if "schema_sha256" not in section:
        rule = "[source] must have a schema_sha256"
        hint = Option("anon-sql roles FILE --recipe PATH", verb="") + " writes one"
        raise AnonError(function, rule, None, hint)
    return dict(section)


def release_keys(method: str) -> list[str]:
    """Return the keys of [release] for a method."""
    parameters = [name for name in takes(method) if name not in {*PARAMETER.values(), *_WITHOUT}]
    return ["method", *parameters, *_OF_COMMAND]


def _release(function: str, method: Any, section: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    if not isinstance(method, str) or fold(method) not in release_methods():
        hint = did_you_mean(str(method), release_methods())
        raise AnonError(function, "method must be a release function", f"'{method}'", hint)
    require_known(function, "[release]", section, release_keys(fold(method)))
    named_key(function, "key in [release]", section.get("key"), NO_SECRET)
    if section.get(UNIT, PERSON) not in (PERSON, ROW):
        raise AnonError(function, f"{UNIT} must be {PERSON} or {ROW}")
    return fold(method), dict(section)


def _roles(function: str, section: Mapping[str, Any]) -> tuple[dict[str, list[str]], bool]:
    kinds: dict[str, type | tuple[type, ...]] = {"confirmed": bool, **dict.fromkeys(ROLES, list)}
    require_typed(function, "[roles]", section, kinds)
    named: dict[str, str] = {}
    for role in ROLES:
        for name in section.get(role, []):
            if name == REST:
                rule = "[roles] must name every column"
                raise AnonError(function, rule, f"* in {role}", "write the names out")
            if fold(name) in named:
                raise AnonError(function, "a column has one role", f"{name} twice")
            named[fold(name)] = role
    roles = {PARAMETER[role]: list(section.get(role, [])) for role in ROLES}
    return roles, bool(section.get("confirmed", False))


def trees_of(function: str, folder: Path, section: Mapping[str, Any]) -> dict[str, Path]:
    """Return the file of each hierarchy, whose name up to its first dot is that of the column."""
    files = {}
    for name, file in section.items():
        path = folder / relative(function, f"the hierarchy of {name}", file)
        if fold(path.name.partition(".")[0]) != fold(name):
            rule = f"the hierarchy of {name} must be in a file of that name"
            raise AnonError(function, rule, f"'{path.name}'", f"call it {name}.csv")
        files[name] = path
    return files


def accepted_of(function: str, section: Mapping[str, Any]) -> dict[str, str]:
    """Return [accepted] of a recipe. Raises AnonError for unknown rules and empty sentences."""
    require_known(function, "[accepted]", section, ACCEPTABLE)
    for name, why in section.items():
        words = _WORD.findall(why) if isinstance(why, str) else []
        if len(words) < 2 or max(map(len, words)) < 3:
            rule = f"{name} in [accepted] must be a sentence of two words or more"
            got = "less" if isinstance(why, str) and why.strip() else None
            raise AnonError(function, rule, got, "write why the release may be signed all the same")
    return dict(section)


def _series(
    function: str, section: Mapping[str, Any], release: Mapping[str, Any]
) -> dict[str, Any]:
    require_typed(function, "[series]", section, _SERIES)
    if section and function not in _OF_SERIES:
        rule = "the recipe must be one without [series]"
        hint = "anon-sql release, and anon_sql.recipe in Python, write the state of a series"
        raise AnonError(function, rule, "one of a series", hint)
    if section:
        relative(function, "file in [series]", section.get("file"))
    if section and "key" in release:
        rule = "the key of a series must stand in [series]"
        raise AnonError(function, rule, "one in [release]", "move it")
    named_key(function, "key in [series]", section.get("key"), NO_SECRET)
    return dict(section)


def schema_sha256(types: Mapping[str, str]) -> str:
    """Return the hash of the names and SQL types of columns, in their order."""
    text = json.dumps([[*pair] for pair in types.items()], ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def require_schema(function: str, recipe: Recipe, types: Mapping[str, str]) -> None:
    """Raise AnonError unless a table has the columns of the recipe, each with a role."""
    named = {fold(name) for names in recipe.roles.values() for name in names}
    present = {fold(name) for name in types}
    gone = [n for names in recipe.roles.values() for n in names if fold(n) not in present]
    if gone:
        rule = "the source must have every column of the recipe"
        raise AnonError(function, rule, f"no column called {listed(gone)}")
    new = [name for name in types if fold(name) not in named]
    if new:
        rule = "every column of the source must have a role in the recipe"
        raise AnonError(function, rule, f"no role for {listed(new)}")
    if schema_sha256(types) != recipe.source["schema_sha256"]:
        rule = "the source must have the schema that the recipe was written for"
        by = Option("anon-sql roles FILE --recipe PATH", verb="")
        hint = by + " writes a recipe for this one"
        raise AnonError(function, rule, "columns of other types or in another order", hint)


def require_content(function: str, recipe: Recipe) -> None:
    """Raise AnonError unless the source exists and has the content that the recipe states."""
    if not any(file.exists() for file in members(recipe.file)):
        rule = "the source of the recipe must exist"
        raise AnonError(function, rule, f"no '{recipe.file.name}' beside it")
    require_digest(function, recipe.file, recipe.source.get("sha256"))


def require_digest(function: str, file: Path, stated: str | None) -> None:
    """Raise AnonError unless a file has the content that a recipe states, if it states any."""
    if stated is not None and _digest(str(file), _stamp(file)) != stated:
        raise AnonError(
            function,
            "the source must have the sha256 that the recipe states",
            "other content",
            "remove the line sha256 if new content is what you want to release",
        )


class _Stamp(NamedTuple):
    """A file: its name, the time of its last change in nanoseconds, and its size in bytes."""

    name: str
    changed: int
    size: int


def _stamp(path: Path) -> tuple[_Stamp, ...]:
    """Return what changes with the content of a file, or of those that a pattern fits."""
    states = [(file.name, file.stat()) for file in members(path)]
    return tuple(_Stamp(name, state.st_mtime_ns, state.st_size) for name, state in states)


@lru_cache(maxsize=16)
def _digest(path: str, stamp: tuple[_Stamp, ...]) -> str:
    return digest(Path(path))


def relation(recipe: Recipe) -> str:
    """Return the source as a relation of DuckDB: a file, or a table of an attached database.

    Raises AnonError for a source that is to be read in a way of which DuckDB knows nothing.
    """
    if stated := [name for name in READING if name in recipe.source]:
        rule = "[source] must not say how the file is read for DuckDB to read it"
        hint = "anon-sql release RECIPE OUT, and anon_sql.recipe in Python, read it so"
        raise AnonError("recipe", rule, listed(stated), hint)
    if recipe.table is None:
        if is_pattern(recipe.file):
            rule = "the source must be one file for DuckDB to read it"
            hint = "anon-sql release RECIPE OUT reads all that a pattern fits"
            raise AnonError("recipe", rule, "a pattern of files", hint)
        if kind_of(recipe.file) is None and not recipe.file.is_dir():
            rule = "the source must be a CSV or Parquet file, or a table, for DuckDB to read it"
            hint = "anon-sql release RECIPE OUT, and anon_sql.recipe in Python, read it"
            raise AnonError("recipe", rule, "a file of another format", hint)
        return str(recipe.file)
    return f"{quote(recipe.file.stem)}.{recipe.table}"


def write(
    path: Path,
    source: Mapping[str, Any],
    roles: Mapping[str, Any],
    *,
    release: Mapping[str, Any],
    statement: Mapping[str, Any],
    made: Mapping[str, str],
    **others: Mapping[str, Any],
) -> None:
    """Write a recipe.

    roles: columns by role, and whether somebody has confirmed them. others: hierarchies, accepted
    and stricter, each left out where it says nothing.
    """
    lines = [f"recipe = {FORM}"]
    lines += _section("source", source, "sha256", "other content is refused unless you remove it")
    lines += _section("release", release)
    comment = "true once somebody has read them"
    lines += _section("roles", {"confirmed": False, **roles}, "confirmed", comment)
    if others.get("hierarchies"):
        lines += _section("hierarchies", others["hierarchies"])
    recipient = {name: statement[name] for name in ANONYMOUS_FOR if name in statement}
    lines += _section("statement", {n: v for n, v in statement.items() if n not in recipient})
    lines += _section("anonymous_for", recipient)
    why = _section("accepted", others.get("accepted", {}))
    lines += ["", f"{why[1]}  # why, for each amber rule of the verdict", *why[2:]]
    if others.get("stricter"):
        lines += _section("stricter", others["stricter"])
    lines += _section("made", made)
    path.write_text("\n".join(lines) + "\n", "utf-8")


def _section(name: str, values: Mapping[str, Any], noted: str = "", note: str = "") -> list[str]:
    lines = ["", f"[{name}]"]
    for key, value in values.items():
        comment = f"  # {note}" if key == noted else ""
        lines.append(f"{_key(key)} = {_toml(value)}{comment}")
    return lines


def _key(name: str) -> str:
    """Return a name as TOML writes a key."""
    return name if _PLAIN.fullmatch(name) else _toml(name)


def _toml(value: Any) -> str:
    """Return a text, a number, a truth value, or a list or a table of them as TOML."""
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{_key(name)} = {_toml(each)}' for name, each in value.items())} }}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, datetime.date):
        return value.isoformat()
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")
