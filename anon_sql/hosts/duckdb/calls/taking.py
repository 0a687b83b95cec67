"""Check a call on one table, store its rows as they are read, and hand them to the core."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from anon_sql import methods
from anon_sql.core import interrupt
from anon_sql.core.arrow import first, integers, plain, valid
from anon_sql.core.roles import fold
from anon_sql.core.workers import Workers
from anon_sql.errors import AnonError, did_you_mean
from anon_sql.hosts.duckdb import intake
from anon_sql.hosts.duckdb.calls.binding import HELPER, types_of
from anon_sql.hosts.duckdb.memory import room
from anon_sql.hosts.duckdb.registry import udf
from anon_sql.hosts.duckdb.settling import settle
from anon_sql.pipeline.request import Request, entity_of, request, require_size
from anon_sql.pipeline.source import Source

_HASH, _MADE = HELPER + "hash", HELPER + "made"
_FROM, _KEY = HELPER + "from_", HELPER + "key_"
_PARTS = ("attribute", "value", "label")  # of a hierarchy; levels are checked by column


@udf("__anon_begin", "BIGINT", volatile=True, owned=True)
def begin(
    database: str,
    functions: Any,
    types: Any,
    k: Any,
    scopes: Any,
    seen: Any,
    options: Any,
    settings: Any,
    releases: Any,
    connections: Any,
    statements: Any,
    probes: Any,
) -> pa.Array:
    """Return the number of the intake that stores the rows of a call, or raise AnonError.

    types: SQL type by column name; seen: the catalog as the caller sees it; options: parameters
    by name; releases: whether rows are released, which requires a role for every column;
    connections, statements: DuckDB's connection and query ids. probes: for each helper macro
    applied to values, whether it returns the expected result; if not, it was replaced, which is an
    error.
    """
    function, scope, setting = first(functions), first(scopes), first(settings)
    if len(k) != 1:
        raise AnonError(
            function, "a call must not depend on rows of another relation", f"{len(k)} rows"
        )
    if not all(first(probes)):
        raise AnonError(
            function,
            "the helper macros must be those of this version",
            "one that was replaced",
            "call anon_sql.register(con, overwrite=True)",
        )
    columns = types_of(types)
    size = require_size(function, pa.types.is_boolean(k.type) or first(k))
    method = methods.find(function)
    _refuse_taken(function, method, scope["classes"], columns)
    given = first(options) or {}
    roles = settle(function, columns, scope, first(seen))
    asked = request(
        function,
        method,
        columns,
        roles,
        size,
        given,
        entity=entity_of(function, scope["entity"], columns),
        classes=next((c for c in columns if fold(c) == fold(scope["classes"] or "")), None),
        drops=scope["drops"] or (),
        complete=first(releases),
        threads=int(setting["threads"]),
        time_zone=setting["time_zone"],
    )
    most, too_large = room(asked, setting["memory_limit"])
    statement = intake.Statement(database, first(connections), first(statements))
    number = intake.start(
        asked, statement, most, f"the table must fit into memory, got {too_large}"
    )
    return pa.array([number], pa.int64())


@udf("__anon_take", "INTEGER", volatile=True)
def take(numbers: Any, rows: Any) -> pa.Array:
    """Return the arrival number of each row: from 0, without gaps over all threads."""
    if not len(rows):
        return pa.array([], pa.int32())
    came = intake.add(first(numbers), rows)
    return pa.array(np.arange(came, came + len(rows), dtype=np.int32))


def _refuse_taken(
    function: str, method: methods.Method, classes: object, columns: Mapping[str, str]
) -> None:
    """Raise AnonError for a column name that the method adds, or invalid ``classes``."""
    folded = {fold(column): column for column in columns}
    for added in method.adds:
        if added in folded:
            raise AnonError(
                function, f"the table must not have a column {added}", folded[added], "rename it"
            )
    if method.given and classes is None:
        raise AnonError(function, "classes must name a column of the table", "NULL")
    if classes is not None and (not isinstance(classes, str) or fold(classes) not in folded):
        hint = did_you_mean(classes, columns) if isinstance(classes, str) else None
        raise AnonError(function, "classes must name a column of the table", f"'{classes}'", hint)
    if isinstance(classes, str) and columns[folded[fold(classes)]].endswith(("]", ")")):
        kind = columns[folded[fold(classes)]]
        if not kind.startswith(("DECIMAL", "ENUM")):
            raise AnonError(function, "classes must be numbers or text", f"a column of type {kind}")


def taken_rows(number: int, taken: Any) -> tuple[Request, Source | None]:
    """Return the request of a call and its rows; None for a table without rows.

    number: of the intake; taken: the list of arrival numbers that gives the order of the rows.
    """
    interrupt.begin()
    rows: intake.Intake = intake.claim(number)
    request = rows.request
    held = taken.combine_chunks() if isinstance(taken, pa.ChunkedArray) else taken
    if not held.is_valid()[0].as_py():
        return request, None
    workers = Workers(request.function, request.threads)
    columns = rows.settled(integers(held.values), workers)
    given, made = named(columns, _FROM), columns.get(_MADE)
    added = None if made is None else integers(made) == 1
    return request, Source(
        {name: given[name] for name in request.quasi},
        columns[_HASH],
        named(columns, _KEY),
        None if request.classes is None else given[request.classes],
        None if added is None or not added.any() else ~added,
    )


def given_paths(paths: Any) -> pa.StructArray | None:
    """Return the rows of a hierarchy that have a value and a label; None without a hierarchy.

    paths: a list of structs, or NULL. Raises AnonError for a relation that is no hierarchy.
    """
    held = paths.combine_chunks() if isinstance(paths, pa.ChunkedArray) else paths
    if not held[0].is_valid:
        return None
    rows = plain(held[0].values)
    lacking = [name for name in _PARTS if rows.field(name).null_count == len(rows)]
    if lacking:
        raise AnonError(
            "hierarchy",
            "the relation must have the columns attribute, value, level and label",
            f"nothing in {', '.join(lacking)}",
            "read_hierarchies() and numeric_hierarchy() make one",
        )
    return rows.filter(pa.array(valid(rows.field("value")) & valid(rows.field("label"))))


def named(columns: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """Return the columns whose names begin with a prefix, by their names without it."""
    return {n.removeprefix(prefix): v for n, v in columns.items() if n.startswith(prefix)}
