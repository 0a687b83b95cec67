"""Carry columns of every SQL type through Arrow files and back, without loss."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from anon_sql.core.columns import is_number, shown_type
from anon_sql.core.names import quote
from anon_sql.errors import AnonError
from anon_sql.pipeline.request import Request

_PLAIN = (  # files of parts hold these as they are
    *("BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT"),
    *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "DECIMAL", "FLOAT", "DOUBLE"),
    *("VARCHAR", "BLOB", "DATE", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE"),
)
_TEXT = ("VARCHAR", "ENUM", "UUID", "JSON", "BOOLEAN")
_NESTED = ("STRUCT(", "MAP(", "UNION(", "VARIANT")
_WIDE = re.compile(r"DECIMAL\((19|[23]\d),")  # of 128 bits, of which 0 and -1 hash alike


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
        kind = self.worked[name]
        return kind not in ("FLOAT", "DOUBLE") and not _is_nested(kind) and not _WIDE.match(kind)

    def released(self, request: Request, name: str) -> str:
        """Return a released column in the type that the SQL function gives it."""
        if name in request.quasi:
            own = request.value_type(name)
            if own is not None:
                return f"CAST({quote(name)} AS {own}) AS {quote(name)}"
            if not request.typed or not is_number(request.function, name, request.quasi[name]):
                return quote(name)
            kind = f"STRUCT(min {self.raw[name]}, max {self.raw[name]})"
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
    owned = request.typed or request.format == "median"  # values of the column's own type
    worked = {}
    for name, kind in raw.items():
        base = kind.split("(", maxsplit=1)[0]
        number = name in request.quasi and is_number(request.function, name, kind)
        if base in _PLAIN and not kind.endswith("]"):
            worked[name] = kind
        elif _is_nested(kind):
            _require_plain(request.function, name, kind)
            worked[name] = kind
        else:
            worked[name] = kind if number else "VARCHAR"
            sensitive = name in request.protected and base not in _TEXT
            if sensitive or (number and owned and base in ("HUGEINT", "UHUGEINT")):
                raise _refused(request.function, name, kind)
    return Types(raw, worked)


def _is_nested(kind: str) -> bool:
    return kind.endswith("]") or kind.startswith(_NESTED)


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
        "cast it, for instance to VARCHAR",
    )
