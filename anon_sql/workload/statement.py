"""The statement that a call of ``query_error`` becomes while it is bound, as text."""

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa

from anon_sql.arrow import first
from anon_sql.calls.binding import committed
from anon_sql.errors import AnonError
from anon_sql.measures.sensitive import declared, listed
from anon_sql.options import Choice
from anon_sql.registry import udf
from anon_sql.roles import fold
from anon_sql.workload.nodes import forest, text_literal
from anon_sql.workload.prepare import Workload, prepare
from anon_sql.workload.rewrite import estimates, literal

_MODES: Mapping[str, Callable[[Workload, str, str, str, str, str], str]] = {
    "estimate": estimates,
    "literal": literal,
}
MODE = Choice(tuple(_MODES))
_NOTHING = (
    'SELECT NULL::VARCHAR AS query, NULL::MAP(VARCHAR, VARCHAR) AS "group", 0.0::DOUBLE AS actual, '
    "0.0::DOUBLE AS estimate, 0.0::DOUBLE AS lower, 0.0::DOUBLE AS upper, "
    "0.0::DOUBLE AS relative_error, 0.0::DOUBLE AS absolute_error WHERE error("
)


@udf("__anon_query_statement", "VARCHAR", binds=True)
def statement(
    function: Any, scope: Any, released: Any, queries: Any, mode: Any, hierarchy: Any
) -> pa.Array:
    """The SQL that answers the queries, or SQL that stops with the sentence of an AnonError."""
    try:
        text = compose(*map(first, (function, scope, released, queries, mode, hierarchy)))
    except AnonError as wrong:
        text = f"{_NOTHING}{text_literal(str(wrong))}) IS NULL"
    return pa.array([text])


@udf("__anon_query_rewritten", "VARCHAR")
def rewritten(
    function: Any, scope: Any, released: Any, queries: Any, mode: Any, hierarchy: Any
) -> pa.Array:
    """The same text, or an AnonError."""
    asked = zip(function, scope, released, queries, mode, hierarchy, strict=True)
    return pa.array([compose(*(value.as_py() for value in call)) for call in asked], pa.string())


def compose(
    function: str,
    scope: Mapping[str, Any],
    released: Any,
    queries: Any,
    mode: Any,
    hierarchy: str | None,
) -> str:
    """One statement for all queries. Raises AnonError."""
    texts = [queries] if isinstance(queries, str) else queries
    if not isinstance(texts, list) or not texts:
        got = "NULL" if texts is None else "an empty list" if texts == [] else "another type"
        raise AnonError(function, "queries must be a list of SELECT statements", got)
    form = _MODES[MODE.read(function, "mode", mode)]
    raw = scope["relation"]
    for relation in (raw, released):
        if not isinstance(relation, str):
            raise AnonError(function, "raw and released must be names of relations", "NULL")
    quasi = _quasi(scope)
    work = prepare(function, raw, tuple(texts), frozenset(quasi))
    hidden = {fold(name) for name in declared(committed(scope), "quasi")} - quasi
    for column in work.kept:
        if column in hidden:
            got = f"{work.kept[column]}, which is declared and left out of qids"
            hint = "add it to qids"
            raise AnonError(function, "a query must name quasi-identifiers of the call", got, hint)
    names = "[" + ", ".join(map(text_literal, sorted(quasi))) + "]::VARCHAR[]"
    given = scope["qids"]
    qids = "NULL" if given is None else "[" + ", ".join(map(text_literal, listed(given))) + "]"
    asker, table, other = map(text_literal, (function, raw, released))
    roles = f"__anon_measure_call({table}, {qids}, NULL)"
    tree = "" if hierarchy is None else f", __anon_hierarchy := {text_literal(hierarchy)}"
    check = f"__anon_measured({asker}, {table}, {other}, 5, 'share', {roles}{tree})"
    call = (
        f"{{'function': {asker}, 'raw': {table}, 'quasi': {names},\n"
        f"    'checked': (SELECT __anon_checked FROM __anon_checked),\n"
        f"    'queries': [{', '.join(map(text_literal, texts))}]}}"
    )
    trees = "" if hierarchy is None else forest(raw, roles, hierarchy)
    return form(work, check, call, raw, released, trees)


def _quasi(scope: Mapping[str, Any]) -> set[str]:
    """Folded names. The check of the call compares them with the roles again when it runs."""
    if scope["qids"] is not None:
        return {fold(name) for name in listed(scope["qids"])}
    try:
        return {fold(name) for name in declared(committed(scope), "quasi")}
    except AnonError:
        return set()
