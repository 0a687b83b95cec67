"""``compare``, ``tradeoff``, ``anon_methods`` and ``anon_roles``, as SQL calls them."""

from typing import Any

import pyarrow as pa

from anon_sql.core.arrow import first
from anon_sql.core.roles import ROLES
from anon_sql.hosts.duckdb.binding import scope_in, types_of
from anon_sql.hosts.duckdb.registry import sql_type, udf
from anon_sql.hosts.duckdb.roles import resolve_roles
from anon_sql.hosts.duckdb.rows import buffered_rows, path_rows
from anon_sql.measures import compare as comparison
from anon_sql.methods.method import release_methods
from anon_sql.queries import tradeoff as trading


@udf(sql_type(pa.list_(comparison.ROW)), volatile=True)
def compare(numbers: Any, row_numbers: Any, paths: Any) -> pa.Array:
    """Return a row for each method and k."""
    request, source = buffered_rows(first(numbers), row_numbers)
    rows = comparison.compare(source, request, path_rows(paths))
    return pa.array([rows], pa.list_(comparison.ROW))


@udf(sql_type(pa.list_(trading.ROW)), volatile=True)
def tradeoff(numbers: Any, row_numbers: Any, paths: Any) -> pa.Array:
    """Return a row for each k and l."""
    request, source = buffered_rows(first(numbers), row_numbers)
    rows = trading.tradeoff(source, request, path_rows(paths))
    return pa.array([rows], pa.list_(trading.ROW))


_ROW = pa.struct(
    [
        *((name, pa.string()) for name in ("name", "what", "paper", "doi", "needs", "cost")),
        ("perturbative", pa.bool_()),
    ]
)


@udf(
    "STRUCT(name VARCHAR, what VARCHAR, paper VARCHAR, doi VARCHAR, needs VARCHAR, cost VARCHAR, "
    "perturbative BOOLEAN)[]",
)
def facts(_: Any) -> pa.Array:
    """Return the facts recorded for each method, sorted by name."""
    rows = [
        {"name": name, **{field: getattr(method, field) for field in _ROW.names[1:]}}
        for name, method in release_methods().items()
    ]
    return pa.array([rows], pa.list_(_ROW))


_ROLE = pa.struct([(name, pa.string()) for name in ("name", "type", "role", "source")])


@udf("STRUCT(name VARCHAR, type VARCHAR, role VARCHAR, source VARCHAR)[]")
def roles_of(types: Any, scope: Any, seen: Any) -> pa.Array:
    """Return name, type, role and source of the role of each column, in the table's order."""
    columns = types_of(types)
    roles = resolve_roles("anon_roles", columns, scope_in(scope), first(seen), needs_quasi=False)
    role_of = {name: role for role in ROLES for name in getattr(roles, role)}
    rows = [
        {"name": n, "type": t, "role": role_of.get(n), "source": roles.source.get(n)}
        for n, t in columns.items()
    ]
    return pa.array([rows], pa.list_(_ROLE))
