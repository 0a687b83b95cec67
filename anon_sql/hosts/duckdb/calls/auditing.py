"""``audit`` as SQL calls it: both relations as lists in, a row a property out."""

from typing import Any

import pyarrow as pa

from anon_sql.audit.asked import NAME, asked
from anon_sql.audit.audit import audit
from anon_sql.audit.compared import Raw, Released
from anon_sql.audit.properties import ROW
from anon_sql.audit.telling_columns import Look
from anon_sql.core.arrow import first, whole
from anon_sql.core.hierarchy.rows import rows_of
from anon_sql.hosts.duckdb.calls.binding import HELPER
from anon_sql.hosts.duckdb.calls.column_lists import columns_of, listed
from anon_sql.hosts.duckdb.calls.taking import given_paths, named
from anon_sql.hosts.duckdb.measuring import require_bound, roles_of
from anon_sql.hosts.duckdb.registry import sql_type, udf

_QUASI, _MARK = HELPER + "quasi_", HELPER + "mark_"
_LABEL, _MARKS, _SIZE = HELPER + "label_", HELPER + "marks_", HELPER + "size"
_ROWS = pa.list_(ROW)


@udf("__anon_audit", sql_type(_ROWS))
def audited(call: Any, raw_lists: Any, class_lists: Any) -> pa.Array:
    """Return the rows of an audit, or raise AnonError; the arguments are of ``__anon_audited``."""
    told = {field.name: whole(call).field(at) for at, field in enumerate(whole(call).type)}
    scope, shown = first(told["call"]), first(told["released_types"])
    types = {n: kind for n, kind in first(told["types"]).items() if not n.startswith(HELPER)}
    held, classes = columns_of(raw_lists), columns_of(class_lists)
    distinct = columns_of(told["distinct_values"])
    roles = roles_of(NAME, types, scope, first(told["seen"]), first(told["released"]))
    # k = 7 on a table with a column k is a BOOLEAN, which is refused
    size = pa.types.is_boolean(told["k"].type) or first(told["k"])
    given = asked(roles, types, shown, {**first(told["options"]), "k": size})
    require_bound(NAME, roles.sensitive, list(distinct))
    paths, zone = given_paths(told["paths"]), first(told["time_zone"])
    return listed(
        audit(
            given,
            Raw(named(held, _QUASI), named(held, _MARK), first(told["ascends"]), distinct),
            Released(
                named(classes, _LABEL),
                classes[_SIZE],
                {name: marks.flatten() for name, marks in named(classes, _MARKS).items()},
                {name: Look(**look) for name, look in first(told["looks"]).items()},
            ),
            rows_of(paths, {**given.types, **given.values}, zone),
        )
    )
