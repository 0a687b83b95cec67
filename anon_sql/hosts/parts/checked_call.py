"""Check the parameters and roles of a call as the SQL functions do, and find its hierarchy."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import duckdb
import pyarrow as pa

from anon_sql import methods
from anon_sql.core.names import literal
from anon_sql.errors import AnonError, did_you_mean
from anon_sql.hosts.duckdb.calls.taking import given_paths
from anon_sql.hosts.duckdb.parameters import with_defaults
from anon_sql.hosts.duckdb.settling import settle
from anon_sql.hosts.parts.spilled_types import Types, types_in_parts
from anon_sql.pipeline.request import Request, entity_of, request, require_size

ROLES = ("qids", "sensitive", "identifiers", "keep")
_WHOLE = {
    "datafly": "generalizes a column alike in all rows",
    "full_domain": "generalizes a column alike in all rows",
    "sdka": "makes synthetic rows from all rows",
}


@dataclass(frozen=True)
class Asked:
    """A checked call.

    relation: name of the table; columns: SQL type of each of its columns. paths: rows of the
    hierarchy. memory: DuckDB's setting memory_limit; threads: its number of threads.
    """

    relation: str
    columns: Mapping[str, str]
    request: Request
    paths: pa.StructArray | None
    memory: str
    threads: int

    @cached_property
    def types(self) -> Types:
        """Return how columns travel in parts, or raise AnonError if one cannot."""
        return types_in_parts(self.request, self.columns)

    def require_parts(self) -> None:
        """Raise AnonError if the release cannot be made in parts."""
        function = self.request.function
        if function in _WHOLE:
            raise AnonError(
                function,
                "the table must be released in one statement",
                f"parts, while {function} {_WHOLE[function]}",
                "choose another method, or raise memory_limit",
            )
        assert self.types


def asked(
    con: duckdb.DuckDBPyConnection,
    relation: str,
    function: str,
    k: object,
    parameters: Mapping[str, Any],
) -> Asked:
    """Return the checked call of a release function on a relation, or raise AnonError.

    parameters: those of the SQL function but tbl and k, by name.
    """
    known = methods.releases()
    if function not in known:
        hint = did_you_mean(str(function), known)
        raise AnonError("release", "method must be a release function", f"'{function}'", hint)
    given = with_defaults(function, parameters)
    named = literal(relation)
    seen = con.execute(
        f"SELECT __anon_types, __anon_call, __anon_seen({named}), __anon_settings() "
        f"FROM __anon_schema({named}, 5), (SELECT __anon_scope({named}, $qids, $sensitive, "
        "$identifiers, $keep, __anon_entity := $entity, __anon_l := $l, __anon_t := $t) "
        "AS __anon_call)",
        {name: given.get(name) for name in (*ROLES, "entity", "l", "t")},
    ).fetchall()
    described, scope, catalog, settings = seen[0]
    columns = {name: kind for name, kind in described.items() if name != "__anon_zero"}
    size = require_size(function, k)
    roles = settle(function, columns, scope, catalog)
    entity = entity_of(function, given.get("entity"), columns)
    call = request(
        function,
        known[function],
        columns,
        roles,
        size,
        given,
        entity=entity,
        complete=True,
        time_zone=settings["time_zone"],
    )
    paths = _paths(con, given.get("hierarchy"))
    return Asked(
        relation,
        columns,
        call,
        paths,
        settings["memory_limit"],
        int(settings["threads"]),
    )


def _paths(con: duckdb.DuckDBPyConnection, hierarchy: str | None) -> pa.StructArray | None:
    """Return the rows of a hierarchy, None without one."""
    if hierarchy is None:
        return None
    named = literal(hierarchy)
    found = con.sql(f"SELECT __anon_path_rows AS p FROM __anon_path_rows({named})")
    return given_paths(found.to_arrow_table().column("p"))
