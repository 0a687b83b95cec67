"""Roles while a statement is bound: which columns a macro's ``COLUMNS(lambda …)`` picks.

This decides only the shape of a result. It never raises, because DuckDB would show the error
many times and without its place; ``release.plan`` decides again inside the query, and stops
it where the two differ.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pyarrow as pa

from anon_sql import registry
from anon_sql.arrow import first
from anon_sql.errors import AnonError
from anon_sql.registry import udf
from anon_sql.relation import Scope, Table, find
from anon_sql.roles import clear_tag, fold

UNSAID: dict[str, Any] = {  # the scope of a call that names no column
    "qids": None,
    "sensitive": None,
    "identifiers": None,
    "keep": None,
    "classes": None,
    "drops": None,
    "whole": False,
    "entity": None,
    "l": 1,
    "t": 1,
}
HELPER = "__anon_"  # the prefix of every name that the macros make up


def scope_of(scope: Mapping[str, Any]) -> Scope:
    """The caller's place in the catalog, from the struct ``__anon_scope`` builds."""
    return Scope(scope["database"], scope["schema"], scope["path"] or "")


def committed(scope: Mapping[str, Any]) -> Table | None:
    """The table of a call as everybody sees it: no temporary table, no open transaction."""
    return find(
        scope["relation"], scope_of(scope), registry.catalog(scope["db"], scope["relation"])
    )


def bound_role(scope: Mapping[str, Any], tags: Mapping[str, str | None], name: str) -> str:
    """identifier, classes, quasi, loose (no role) or kept: what the macro does with a column."""
    folded = fold(name)
    if folded in _names(scope["classes"]):
        return "classes"
    if any(folded in _names(scope[said]) for said in ("identifiers", "drops", "entity")):
        return "identifier"
    declared = clear_tag(tags.get(folded))
    if declared == "identifier":
        return "loose" if scope["whole"] else "identifier"
    if folded in _names(scope["qids"]) or (scope["qids"] is None and declared == "quasi"):
        return "quasi"
    named = folded in _names(scope["sensitive"]) or folded in _names(scope["keep"])
    return "kept" if named or declared in ("sensitive", "keep") else "loose"


def protects(scope: Mapping[str, Any]) -> bool:
    """Whether a call asks anything of sensitive columns; what is no number is refused later."""
    asked = scope["l"], scope["t"]
    if not all(isinstance(number, (int, float, Decimal)) for number in asked):
        return False
    return bool(asked[0] > 1 or asked[1] < 1)


def bound_protected(scope: Mapping[str, Any], tags: Mapping[str, str | None], name: str) -> bool:
    """Whether k, l or t is counted over the values of a column: sensitive ones and persons."""
    folded = fold(name)
    if folded in _names(scope["entity"]):
        return True
    declared = clear_tag(tags.get(folded))
    return protects(scope) and (declared == "sensitive" or folded in _names(scope["sensitive"]))


def _names(given: Any) -> set[str]:
    if isinstance(given, str):
        return {fold(given)}
    listed = given if isinstance(given, list) else []
    return {fold(name) for name in listed if isinstance(name, str)}


@udf("__anon_is", "BOOLEAN", binds=True)
def is_role(wanted: Any, names: Any, scopes: Any) -> pa.Array:
    """For each name: is its column of the wanted kind? ``released`` is all but identifiers,
    ``kept`` what is released as it is, ``taken`` what a method is handed, ``protected`` what k, l
    and t are counted over.

    Columns that the macros add are of no kind, save that ``__anon_zero`` is loose and kept,
    so that no choice is ever empty.
    """
    kind: str = first(wanted)
    scope: dict[str, Any] = first(scopes)
    try:
        table = committed(scope)
    except AnonError:
        table = None
    tags = table.tags() if table else {}

    def matches(name: str) -> bool:
        if name.startswith(HELPER):
            return kind in ("kept", "loose") and name == HELPER + "zero"
        if kind == "protected":
            return bound_protected(scope, tags, name)
        role = bound_role(scope, tags, name)
        if kind == "kept":
            return role in ("kept", "loose")
        if kind == "taken":
            return role in ("quasi", "classes")
        if kind == "released":
            return role not in ("identifier", "classes")
        return role == kind

    return pa.array([matches(name.as_py()) for name in names], pa.bool_())
