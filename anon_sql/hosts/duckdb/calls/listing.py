"""List the roles of the columns of a table, for ``anon_roles``."""

from typing import Any

import pyarrow as pa

from anon_sql.core.arrow import first
from anon_sql.core.tags import ROLES
from anon_sql.hosts.duckdb.calls.binding import types_of
from anon_sql.hosts.duckdb.registry import udf
from anon_sql.hosts.duckdb.settling import settle

_ROLE = pa.struct([(name, pa.string()) for name in ("name", "type", "role", "source")])


@udf("__anon_roles_of", "STRUCT(name VARCHAR, type VARCHAR, role VARCHAR, source VARCHAR)[]")
def roles_of(types: Any, scope: Any, seen: Any) -> pa.Array:
    """Return name, type, role and source of the role of each column, in the table's order."""
    columns = types_of(types)
    roles = settle("anon_roles", columns, first(scope), first(seen), needs_quasi=False)
    role_of = {name: role for role in ROLES for name in getattr(roles, role)}
    rows = [
        {"name": n, "type": t, "role": role_of.get(n), "source": roles.source.get(n)}
        for n, t in columns.items()
    ]
    return pa.array([rows], pa.list_(_ROLE))
