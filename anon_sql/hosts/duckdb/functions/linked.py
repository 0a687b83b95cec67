"""``linked_risk`` and ``linked_audit``, as SQL calls them: each is one statement on many tables."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import duckdb
import pyarrow as pa

from anon_sql.core.arrow import first
from anon_sql.core.names import literal
from anon_sql.core.parameters import read_group
from anon_sql.core.roles import PARAMETER
from anon_sql.errors import AnonError, Parameter, listed
from anon_sql.hosts.duckdb import registry
from anon_sql.hosts.duckdb.binding import flat_scope, scope_of
from anon_sql.hosts.duckdb.linked_audit import LinkedAudit
from anon_sql.hosts.duckdb.linked_catalog import Catalog, read_schema, released_relation
from anon_sql.hosts.duckdb.linked_folds import Folds, risk
from anon_sql.hosts.duckdb.registry import remember, sql_type, udf
from anon_sql.linked.schema import Schema
from anon_sql.privacy.k_anonymity import KAnonymity

RISK_ROW = pa.struct(
    [
        ("knowledge", pa.string()),
        ("persons", pa.int64()),
        ("unique_persons", pa.int64()),
        ("below_k", pa.int64()),
        ("fewest", pa.int64()),
    ]
)
AUDIT_ROW = pa.struct(
    [
        ("property", pa.string()),
        ("required", pa.float64()),
        ("found", pa.float64()),
        ("passed", pa.bool_()),
        ("example", pa.string()),
    ]
)


@udf("VARCHAR")
def risk_statement(scope: Any, call: Any) -> pa.Array:
    """The SQL of ``linked_risk``, or SQL that stops with the sentence of an AnonError."""
    return text_or_error(RISK_ROW, partial(_risk, flat_scope(first(scope)), first(call)))


@udf("VARCHAR")
def audit_statement(scope: Any, call: Any) -> pa.Array:
    """The SQL of ``linked_audit``, or SQL that stops with the sentence of an AnonError."""
    return text_or_error(AUDIT_ROW, partial(_audit, flat_scope(first(scope)), first(call)))


def text_or_error(row: pa.DataType, compose: Callable[[], str]) -> pa.Array:
    """Return a statement, or one of the columns of ``row`` that stops with the error."""
    try:
        text = compose()
    except AnonError as wrong:
        remember(wrong)
        none = f"SELECT unnest(NULL::{sql_type(row)}[], recursive := true) WHERE error("
        text = f"{none}{literal(str(wrong))}) IS NULL"
    return pa.array([text])


def _schema(
    function: str, scope: Mapping[str, Any], call: Mapping[str, Any], root: object
) -> tuple[Catalog, Schema]:
    catalog = Catalog(
        function, partial(registry.query_rows, scope["db"]), scope_of(scope), files=True
    )
    roles = {name: call[name] for name in PARAMETER.values()}
    schema = read_schema(
        catalog, str(root), links=call["links"], leave_out=call["leave_out"], roles=roles
    )
    return catalog, schema


def relation_in(function: str, parameter: str, value: object) -> str:
    """Return the name of a relation that a call gives. Raises AnonError for anything else."""
    if not isinstance(value, str) or not value:
        rule = Parameter(parameter) + " must be the name of a table"
        raise AnonError(function, rule, "NULL" if value is None else "another type")
    return value


def _risk(scope: Mapping[str, Any], call: Mapping[str, Any]) -> str:
    function, root = "linked_risk", relation_in("linked_risk", "root", scope["relation"])
    k = read_group(KAnonymity, function, call).k
    raw = call["raw"]
    _, schema = _schema(function, scope, call, root if raw is None else raw)
    if raw is None:
        return risk(schema, Folds(schema, "__anon_s_", lambda n: n.table.relation, added=False), k)

    def released(name: str) -> str:
        return f"query_table({literal(released_relation(root, schema.root, name))})"

    return risk(schema, Folds(schema, "__anon_s_", lambda n: released(n.name), added=True), k)


def _audit(scope: Mapping[str, Any], call: Mapping[str, Any]) -> str:
    function = "linked_audit"
    root, shown = (
        relation_in(function, "raw", scope["relation"]),
        relation_in(function, "released", call["released"]),
    )
    k = None if call["k"] is None else read_group(KAnonymity, function, call).k
    l = call["l"]  # noqa: E741
    if l is not None and (isinstance(l, bool) or not 1 <= l < 2**31):
        raise AnonError(function, Parameter("l") + " must be at least 1", f"{l}")
    catalog, schema = _schema(function, scope, call, root)
    tables = {name: node.table.relation for name, node in schema.nodes.items()}
    tables |= {name: table.relation for name, table in schema.references.items()}
    places = {name: released_relation(shown, schema.root, name) for name in tables}
    columns = {name: _columns(function, catalog, places[name]) for name in schema.nodes}
    return LinkedAudit(
        schema,
        lambda name: tables[name],
        lambda name: f"query_table({literal(places[name])})",
        columns,
        k,
        None if l is None else float(l),
        truth=bool(call["truth"]),
        hierarchy=call["hierarchy"],
    ).statement()


def _columns(function: str, catalog: Catalog, place: str) -> dict[str, str]:
    """Return the SQL type of each column of a released table. Raises AnonError for no table."""
    try:
        described = catalog.ask(f"DESCRIBE FROM query_table({literal(place)})")
        return {str(name): str(kind) for name, kind, *_ in described}
    except duckdb.Error:
        raise AnonError(
            function,
            "every linked table must be released beside the root",
            f"no committed table or file {listed([place.replace(chr(34), '')])}",
        ) from None
