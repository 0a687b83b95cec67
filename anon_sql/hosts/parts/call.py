"""Check a call that is released in parts, and carry columns of every SQL type."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property

import duckdb

from anon_sql.core.columns import is_nested, is_number, shown_type
from anon_sql.core.duckdb_internals import hashing
from anon_sql.core.labels.types import is_printed
from anon_sql.core.names import quote
from anon_sql.errors import AnonError, Parameter
from anon_sql.hosts.call import RelationCall
from anon_sql.hosts.duckdb.roles import refuse_identifiers
from anon_sql.hosts.parquet import holds
from anon_sql.pipeline.partition import refuse_in_parts
from anon_sql.pipeline.request import Request

_PLAIN = (  # files of parts hold these as they are
    *("BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT"),
    *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "DECIMAL", "FLOAT", "DOUBLE"),
    *("VARCHAR", "BLOB", "DATE", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE"),
)
_TEXT = ("VARCHAR", "ENUM", "UUID", "JSON", "BOOLEAN")


@dataclass(frozen=True)
class Types:
    """The columns that are read, by name in the order of the table: how each one travels.

    raw: SQL type in the table. worked: SQL type in which it is spilled and the core takes it.
    """

    raw: Mapping[str, str]
    worked: Mapping[str, str]

    def source(self) -> str:
        """Return the columns as the core takes them, as a SQL list."""
        return ", ".join(
            quote(name)
            if self.worked[name] == kind
            else f"CAST({quote(name)} AS {self.worked[name]}) AS {quote(name)}"
            for name, kind in self.raw.items()
        )

    def hashes_apart(self, name: str) -> bool:
        """Return whether values of a column that print differently have different hashes."""
        return hashing.hashes_apart(self.worked[name])

    def as_it_is(self, request: Request, name: str) -> bool:
        """Return whether a released column of files is, without a cast, what Parquet files hold."""
        if self.released(request, name) != quote(name):
            return False
        return holds(request.released_type(name) if name in request.quasi else self.raw[name])

    def released(self, request: Request, name: str) -> str:
        """Return a released column in the type that the SQL function gives it."""
        if name in request.quasi:
            kind = request.released_type(name)
            if is_printed(kind):
                return quote(name)
        elif self.raw[name] == self.worked[name]:
            return quote(name)
        else:
            kind = self.raw[name]
        return f"CAST({quote(name)} AS {kind}) AS {quote(name)}"


def types_in_parts(request: Request, columns: Mapping[str, str]) -> Types:
    """Return how the columns that a request reads travel.

    columns: SQL type of every column of the table. Raises AnonError for a type that cannot.
    """
    read = {*request.quasi, *request.kept, *([request.entity] if request.entity else [])}
    raw = {name: kind for name, kind in columns.items() if name in read}
    worked = {}
    for name, kind in raw.items():
        base = kind.split("(", maxsplit=1)[0]
        number = name in request.quasi and is_number(request.function, name, kind)
        if base in _PLAIN and not kind.endswith("]"):
            worked[name] = kind
        elif is_nested(kind):
            _require_plain(request.function, name, kind)
            worked[name] = kind
        else:
            worked[name] = kind if number else "VARCHAR"
            sensitive = name in request.protected and base not in _TEXT
            owned = number and kind in request.released_type(name)  # shows values of its own type
            if sensitive or (owned and base in ("HUGEINT", "UHUGEINT")):
                raise _refused(request.function, name, kind)
    return Types(raw, worked)


def _require_plain(function: str, name: str, kind: str) -> None:
    """Raise AnonError for a nested type with a type inside that files would change."""
    inside = kind.upper()
    changed = ("HUGEINT", "ENUM", "UNION", "VARIANT", "INTERVAL", "TIME", "BIT", "UUID", "BIGNUM")
    if any(word in inside.replace("TIMESTAMP WITH TIME ZONE", "") for word in changed):
        raise _refused(function, name, kind)


def _refused(function: str, name: str, kind: str) -> AnonError:
    return AnonError(
        function,
        "columns of a table in parts must be of types that its files hold",
        f"{name} of type {shown_type(kind)}",
        "cast it, for example to VARCHAR",
    )


class PartsCall(RelationCall):
    """A checked call that is released in parts."""

    @cached_property
    def types(self) -> Types:
        """Return how columns travel in parts, or raise AnonError if one cannot."""
        return types_in_parts(self.request, self.columns)

    @cached_property
    def kept_hash(self) -> str:
        """Return a hash of the kept columns of a row, as SQL.

        Values that print differently have different hashes, so that ties are identical rows.
        """
        kept = self.request.kept
        texts = [quote(n) + ("" if self.types.hashes_apart(n) else "::VARCHAR") for n in kept]
        return hashing.hash_of(["''", *texts])

    def require_parts(self) -> None:
        """Raise AnonError if the release cannot be made in parts."""
        function, method = self.request.function, self.request.method
        if method is not None and method.needs_all_rows:
            raise AnonError(
                function,
                "the table must be released in one statement",
                f"parts, while {function} {method.needs_all_rows}",
                "choose another method, or raise " + Parameter("memory_limit"),
            )
        refuse_in_parts(self.request)
        assert self.types


def in_parts(con: duckdb.DuckDBPyConnection, call: RelationCall) -> PartsCall:
    """Return a call as one that is released in parts.

    Raises AnonError if that cannot be done, or if a column that only a ``*`` releases looks like an
    identifier.
    """
    request = call.request
    refuse_identifiers(con, request.function, call.relation, request.rest_parameter, request.rest)
    checked = {field.name: getattr(call, field.name) for field in fields(call)}
    return PartsCall(**{**checked, "request": replace(request, rest={})})
