"""Read and write recipes: TOML files of a source, roles, parameters and accepted reasons.

A recipe holds all that a release needs and no value of the data. Whatever it says is checked:
unknown keys and columns without a role are refused, and ``recipe_source`` refuses another schema
and other content. A recipe with a root is one of tables that belong together, whose columns it
names with their tables.
"""

import datetime
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from anon_sql.core.common_parameters import IN_SQL, PERSON, ROW, UNIT
from anon_sql.core.names import split
from anon_sql.core.parameters import takes
from anon_sql.core.pseudonyms import named_key
from anon_sql.core.roles import PARAMETER, REST, ROLES, fold
from anon_sql.errors import AnonError, Option, did_you_mean
from anon_sql.hosts import documents
from anon_sql.hosts.documents import require_known, require_typed
from anon_sql.hosts.files import digest
from anon_sql.hosts.statements import ANONYMOUS_FOR, statement_of, with_recipient
from anon_sql.linked.options import Linking
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
_NO_SECRET = "a recipe holds no secret"
_WITHOUT = {"tbl", "hierarchy", "like", *IN_SQL}
_LINKED = "release_linked"  # the method of linked tables
_PLACES = ("file", "database", "folder")  # of a source
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
_LINKED_SOURCE: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("database", "folder", "root", "schema_sha256", "sha256"), str),
    **dict.fromkeys(("links", "leave_out"), list),
}
_LINKED_RELEASE = (
    *("k", *(each.name for each in fields(Linking))),
    *("weights", "bin_width", "format_files"),
)
_SERIES: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("file", "key", "leavers"), str),
    **dict.fromkeys(("l", "leaf"), int),
    "waiting": (int, float),
}
_OF_SERIES = ("release", "verify", "report", "recipe")  # what takes a recipe of a series
_MADE: dict[str, type | tuple[type, ...]] = {"anon_sql": str, "duckdb": str}
_TABLES = (
    *("source", "release", "roles", "hierarchies", "statement"),
    *("accepted", "stricter", "series", "made"),
)


@dataclass(frozen=True)
class Recipe:
    """A recipe that has been read from ``path``.

    source: file, or database and table, or root and database or folder; and hashes. method,
    parameters: of the release. roles: the columns by parameter (``PARAMETER``). hierarchies: a path
    by column. stricter: limits of the verdict. series: the file of a state, its key and parameters
    of series_next; empty without one.
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
        """Return the path of the source: a file, a database or a folder of linked tables."""
        return self.path.parent / next(str(self.source[n]) for n in _PLACES if n in self.source)

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


def read_recipe(function: str, path: Path, *, linked: bool = False) -> Recipe:
    """Return the recipe in a file: of a single table, or of linked tables.

    Raises AnonError of ``function`` for anything else.
    """
    return parse(function, path, tables(function, path), linked=linked)


def is_linked(function: str, path: Path) -> bool:
    """Return whether a recipe has a root. Raises AnonError of ``function`` for no recipe."""
    source = tables(function, path).get("source")
    return isinstance(source, dict) and "root" in source


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


def parse(
    function: str, path: Path, document: Mapping[str, Any], *, linked: bool = False
) -> Recipe:
    """Return the recipe that some tables of TOML are; path: where it is, or is to be written.

    linked: whether it is one of linked tables. Raises AnonError of ``function`` for anything else.
    """
    entries = _sections(function, document)
    if "root" in entries["source"] and not linked:
        rule = "the recipe must be one of a single table"
        hint = "anon-sql release RECIPE OUT/ releases tables that belong together"
        raise AnonError(function, rule, "one with root", hint)
    if linked and entries["series"]:
        rule = "[series] does not apply to tables that belong together"
        raise AnonError(function, rule, "entries", "leave it out")
    return Recipe(
        path.absolute(),
        _source(function, entries["source"], linked=linked),
        *_release(function, entries["release"], linked=linked),
        *_roles(function, entries["roles"], linked=linked),
        _trees(function, path.absolute().parent, entries["hierarchies"]),
        statement_of(function, entries["statement"]),
        _accepted(function, entries["accepted"]),
        entries["stricter"],
        _series(function, entries["series"], entries["release"]),
    )


def _sections(function: str, document: Mapping[str, Any]) -> dict[str, Any]:
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


def _relative(function: str, what: str, value: Any) -> str:
    """Return a path. Raises AnonError unless it is relative to the recipe."""
    if not isinstance(value, str) or not value:
        raise AnonError(function, f"{what} must be a path", type(value).__name__)
    if os.path.isabs(value) or "://" in value:
        raise AnonError(function, f"{what} must be relative to the recipe", "an absolute path")
    return value


def _source(function: str, section: Mapping[str, Any], *, linked: bool) -> dict[str, Any]:
    require_typed(function, "[source]", section, _LINKED_SOURCE if linked else _SOURCE)
    (_require_linked_source if linked else _require_source)(function, section)
    for name in (*_PLACES, "control"):
        if name in section:
            _relative(function, name, section[name])
    return dict(section)


def _require_source(function: str, section: Mapping[str, Any]) -> None:
    """Raise AnonError unless [source] names one table, and the hash of its schema."""
    in_database = {"database", "table"} & set(section)
    if ("file" in section) == bool(in_database) or len(in_database) == 1:
        rule = "[source] must have a file, or a database and a table"
        raise AnonError(function, rule, "neither or both")
    if "schema_sha256" not in section:
        rule = "[source] must have a schema_sha256"
        hint = Option("anon-sql roles FILE --recipe PATH", verb="") + " writes one"
        raise AnonError(function, rule, None, hint)


def _require_linked_source(function: str, section: Mapping[str, Any]) -> None:
    """Raise AnonError unless [source] names linked tables."""
    if ("database" in section) == ("folder" in section) or not section.get("root"):
        rule = "[source] must have a root, and a database or a folder"
        raise AnonError(function, rule, "another source")
    if "folder" in section and "sha256" in section:
        raise AnonError(function, "sha256 in [source] must be that of a database", "a folder")


def release_keys(method: str) -> list[str]:
    """Return the keys of [release] for a method."""
    if method == _LINKED:
        return [*_LINKED_RELEASE]
    parameters = [name for name in takes(method) if name not in {*PARAMETER.values(), *_WITHOUT}]
    return ["method", *parameters, *_OF_COMMAND]


def _release(
    function: str, section: Mapping[str, Any], *, linked: bool
) -> tuple[str, dict[str, Any]]:
    release = dict(section)
    method = _LINKED if linked else _method(function, release.pop("method", "anonymize"))
    require_known(function, "[release]", release, release_keys(method))
    named_key(function, "key in [release]", release.get("key"), _NO_SECRET)
    if release.get(UNIT, PERSON) not in (PERSON, ROW):
        raise AnonError(function, f"{UNIT} must be {PERSON} or {ROW}")
    return method, release


def _method(function: str, method: Any) -> str:
    """Return the method for a single table. Raises AnonError for anything else."""
    if not isinstance(method, str) or fold(method) not in release_methods():
        hint = did_you_mean(str(method), release_methods())
        raise AnonError(function, "method must be a release function", f"'{method}'", hint)
    return fold(method)


def _roles(
    function: str, section: Mapping[str, Any], *, linked: bool
) -> tuple[dict[str, list[str]], bool]:
    kinds: dict[str, type | tuple[type, ...]] = {"confirmed": bool, **dict.fromkeys(ROLES, list)}
    require_typed(function, "[roles]", section, kinds)
    confirmed = bool(section.get("confirmed", False))
    if linked and not confirmed:
        rule = "[roles] of tables that belong together must be confirmed"
        raise AnonError(function, rule, "confirmed = false", "read them, then write true")
    columns: set[tuple[str, ...]] = set()
    for role in ROLES:
        for name in section.get(role, []):
            column = column_of(name) if linked else (fold(name),)
            if column[-1] == REST:
                rule = "[roles] must name every column"
                raise AnonError(function, rule, f"* in {role}", "write the names out")
            if column in columns:
                raise AnonError(function, "a column has one role", f"{name} twice")
            columns.add(column)
    return by_parameter(section), confirmed


def column_of(name: str) -> tuple[str, ...]:
    """Return the folded names of the table and the column that a name in linked tables means."""
    return tuple(map(fold, split(name)[-2:]))


def by_parameter(roles: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return columns by role as parameters call them."""
    return {PARAMETER[role]: list(roles.get(role, [])) for role in ROLES}


def _trees(function: str, folder: Path, section: Mapping[str, Any]) -> dict[str, Path]:
    """Return the file of each hierarchy, whose name up to its first dot is that of the column."""
    files = {}
    for name, file in section.items():
        path = folder / _relative(function, f"the hierarchy of {name}", file)
        if fold(path.name.partition(".")[0]) != fold(name):
            rule = f"the hierarchy of {name} must be in a file of that name"
            raise AnonError(function, rule, f"'{path.name}'", f"call it {name}.csv")
        files[name] = path
    return files


def _accepted(function: str, section: Mapping[str, Any]) -> dict[str, str]:
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
        _relative(function, "file in [series]", section.get("file"))
    if section and "key" in release:
        rule = "the key of a series must stand in [series]"
        raise AnonError(function, rule, "one in [release]", "move it")
    named_key(function, "key in [series]", section.get("key"), _NO_SECRET)
    return dict(section)


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
