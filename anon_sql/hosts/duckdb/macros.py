"""The macros of the package: the SQL that makes them, and the mark by which they are known.

The mark is a macro, ``__anon_registered()``. It returns a text: version and digest of the macros
made, and the digest of what DuckDB keeps of each, so that a macro that somebody else has put in
its place is found out. Comments can be changed by anyone, and a copy of a database loses them. What
has a comment of the package is its own too: versions before had no mark, and what one version of
DuckDB has stored in a file another one prints in its own way.

A file can be opened without the package. DuckDB then finds its macros, but not the Python functions
that they call, whose names in DuckDB therefore say what is needed. A stored macro of the same name
that raises an error would win over the function of a registered connection.
"""

import json
import re
import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache, lru_cache
from hashlib import sha256

import duckdb

from anon_sql.core.names import literal
from anon_sql.hosts.duckdb.registry import udfs
from anon_sql.hosts.duckdb.sql_files import CREATE, SqlFile, full_header, sql_files
from anon_sql.version import VERSION

MARK, DATABASE, RELEASE = "__anon_registered", "__anon_db", "anon_version"
_NEEDS = "__anon_sql_needs_python__pip_install_anon_sql__then_register__"
_COMMENT = "anon_sql "  # begins the last line of the comment on a macro of this package
TABLES = frozenset(name for file in sql_files() for name in file.tables)
_LISTED = frozenset(name for file in sql_files() for name in file.macros) | {RELEASE}
NAMES = _LISTED | {MARK, DATABASE}
PUBLIC = frozenset(file.name for file in sql_files() if file.public) | {RELEASE}

# name, is macro, is temporary, schema, comment, parameters, definition: one row per signature
LOOK = """
    SELECT function_name, function_type LIKE '%macro', database_name = 'temp', schema_name, comment,
        array_to_string(parameters, ','), coalesce(macro_definition, '')
    FROM duckdb_functions()
    WHERE if(function_type LIKE '%macro',
        NOT internal AND database_name IN ('temp', current_database()),
        starts_with(function_name, '__anon_'))
"""
_WORD = re.compile(r"\w+")
_CALLED = re.compile(r"__anon_\w+(?=\()")
_UNSTORED = {"NOT", "MATERIALIZED"}  # which older storage forgets
_STORED_AS = {"TIMESTAMP_US": "TIMESTAMP"}


@cache
def functions() -> Mapping[str, str]:
    """Return the name in DuckDB of each Python function: one that sql/ calls needs Python."""
    called = {name for file in sql_files() for name in _CALLED.findall(file.text)}
    names = [function.name for function in udfs()]
    return {n: _NEEDS + n.removeprefix("__anon_") if n in called else n for n in names}


def _statements(file: SqlFile) -> str:
    """Return the text of a file, with Python functions by their names in DuckDB."""
    duckdb_names = functions()
    return _CALLED.sub(lambda name: duckdb_names.get(name[0], name[0]), file.text)


@cache
def stamp() -> str:
    """Return version and digest of the macros: other checkouts may have the same version."""
    text = "".join(part for file in sql_files() for part in (file.text, full_header(file)))
    return f"{VERSION} {sha256((_NEEDS + text).encode()).hexdigest()[:16]}"


@dataclass(frozen=True)
class Macro:
    """A macro that a catalog has. definitions: parameters and text of each signature."""

    name: str
    temporary: bool
    schema: str
    comment: str | None
    definitions: tuple[tuple[str, str], ...]

    @property
    def digest(self) -> str:
        """The digest of what DuckDB keeps of the macro."""
        return _digest(self.definitions)

    @property
    def stamped(self) -> str:
        """What the comment says of the version of this package; empty for other macros."""
        last = (self.comment or "").rpartition("\n")[2]
        return last.removeprefix(_COMMENT) if last.startswith(_COMMENT) else ""

    @property
    def text(self) -> str | None:
        """The text that the macro returns, if it returns a constant one."""
        ((parameters, text), *others) = self.definitions
        if others or parameters or text[:1] + text[-1:] != "''" or "'" in text[1:-1]:
            return None
        return text[1:-1]


@lru_cache(1024)
def _digest(definitions: tuple[tuple[str, str], ...]) -> str:
    """Return the digest of the words of a macro.

    DuckDB prints sets of columns in any order, and what it has read from a file with other quotes
    and digits (1e-09).
    """
    parts = sorted((parameters, _words(text)) for parameters, text in definitions)
    return sha256(repr(parts).encode()).hexdigest()[:16]


def _words(text: str) -> list[str]:
    words = (word for word in _WORD.findall(text) if word not in _UNSTORED)
    return sorted(_STORED_AS.get(word, word).lstrip("0") for word in words)


@dataclass(frozen=True)
class SchemaMacros:
    """The macros with names of this package in a schema, or the temporary ones."""

    macros: Mapping[str, Macro]
    marked: tuple[str, Mapping[str, str]] = field(init=False)

    def __post_init__(self) -> None:
        mark = self.macros.get(MARK)
        object.__setattr__(self, "marked", _read_mark((mark and mark.text) or ""))

    @property
    def current(self) -> bool:
        """Whether all macros of this version are there, as they were made."""
        return self.marked[0] == stamp() and all(
            name in self.macros
            and (self._as_made(self.macros[name]) or self.macros[name].stamped == stamp())
            for name in NAMES
        )

    def is_of_package(self, macro: Macro) -> bool:
        """Return whether a macro of this place was made by this package."""
        return bool(macro.stamped) or self._as_made(macro)

    def _as_made(self, macro: Macro) -> bool:
        version, digests = self.marked
        if macro.name in (MARK, DATABASE):
            return bool(version) and macro.text is not None
        return digests.get(macro.name) == macro.digest


def _read_mark(mark: str) -> tuple[str, Mapping[str, str]]:
    """Return version and digest, and the digests of macros, of a mark; nothing for another text."""
    try:
        content = json.loads(mark)
        return str(content["made"]), dict(content["macros"])
    except (ValueError, TypeError, KeyError):
        return "", {}


def places(rows: Iterable[tuple[str, bool, bool, str, str | None, str, str]]) -> list[SchemaMacros]:
    """Return the macros with names of this package among the rows of LOOK, by place."""
    macros_by_place: dict[tuple[bool, str], dict[str, Macro]] = {}
    for name, macro, temporary, schema, comment, parameters, definition in rows:
        if macro and name in NAMES:
            place = macros_by_place.setdefault((temporary, schema), {})
            before = place[name].definitions if name in place else ()
            definitions = (*before, (parameters, definition))
            place[name] = Macro(name, temporary, schema, comment, definitions)
    return [SchemaMacros(macros) for macros in macros_by_place.values()]


def kind(name: str) -> str:
    """Return what stands before the name of a macro in DROP and COMMENT."""
    return "MACRO TABLE" if name in TABLES else "MACRO"


def comment(name: str, header: str) -> str:
    """Return the statement that comments on a macro, in the way of all macros of this package."""
    text = literal(f"{header}\n{_COMMENT}{stamp()}")
    return f"COMMENT ON {kind(name.rpartition('.')[2])} {name} IS {text};"


def script(create: str = CREATE, *, commented: Collection[str] = _LISTED) -> str:
    """Return the statements that make every macro but the mark.

    commented: names of macros with a comment, which begins with the documentation of a public one.
    """
    parts = [database(create)]
    for file in sql_files():
        parts.append(_statements(file).replace(CREATE, create))
        for name in filter(commented.__contains__, file.macros):
            parts.append(comment(name, full_header(file) if name == file.name else ""))
    parts.append(f"{create} {RELEASE}() AS {literal(VERSION)};")
    if RELEASE in commented:
        parts.append(comment(RELEASE, "The version of anon_sql."))
    return "\n".join(parts)


def database(create: str = CREATE) -> str:
    """Return the statement for the macro that names an open database, unlike any other."""
    return f"{create} {DATABASE}() AS {literal(uuid.uuid4().hex)};"


_digests: dict[str, str] = {}  # of the macros of this version, which are the same however made


def mark(con: duckdb.DuckDBPyConnection, create: str = CREATE) -> str:
    """Return the statement for the mark, the last one, of the macros that a connection has.

    What DuckDB keeps of them is read once in a process.
    """
    if not _digests:
        temporary = create != CREATE
        for place in places(con.execute(LOOK).fetchall()):
            if place.macros.keys() >= _LISTED and temporary == place.macros[RELEASE].temporary:
                _digests.update((name, place.macros[name].digest) for name in sorted(_LISTED))
    content = json.dumps({"made": stamp(), "macros": _digests})
    return f"{create} {MARK}() AS {literal(content)};"


@contextmanager
def transaction(con: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Run statements in a transaction of their own, which an error rolls back."""
    con.execute("BEGIN")
    try:
        yield
    except BaseException:
        with suppress(duckdb.Error):
            con.execute("ROLLBACK")
        raise
    con.execute("COMMIT")


def in_transaction(con: duckdb.DuckDBPyConnection) -> bool:
    """Return whether a transaction is open; otherwise each statement has its own transaction id."""
    first, second = (con.execute("SELECT txid_current()").fetchall() for _ in range(2))
    return bool(first == second)
