"""Which columns of a release are sensitive, while a statement is bound and when it runs."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from anon_sql.arrow import first
from anon_sql.calls.binding import HELPER, committed
from anon_sql.errors import AnonError, did_you_mean
from anon_sql.registry import udf
from anon_sql.relation import Table
from anon_sql.roles import clear_tag, fold


def listed(given: Any) -> list[str]:
    """The names in a parameter that is a name, a list of names or NULL."""
    names = [given] if isinstance(given, str) else given if isinstance(given, list) else []
    return [name for name in names if isinstance(name, str)]


def declared(table: Table | None, role: str) -> list[str]:
    """The columns of a role in comments; a comment that is not clear is left to ``settle``."""
    told = zip(table.names, table.comments, strict=True) if table else []
    return [name for name, comment in told if clear_tag(comment) == role]


def bound(scope: Mapping[str, Any]) -> set[str]:
    """Folded names of the sensitive columns, as far as they are known when a statement is bound."""
    try:
        table = committed(scope)
    except AnonError:
        table = None
    return {fold(name) for name in [*declared(table, "sensitive"), *listed(scope["sensitive"])]}


def require_bound(function: str, sensitive: Sequence[str], scope: Mapping[str, Any]) -> None:
    """Raise AnonError where the sensitive columns of a call are not those that were bound."""
    if {fold(column) for column in sensitive} != bound(scope):
        raise AnonError(
            function,
            "comments count only where the relation is the committed table they were written on",
            "a relation of that name that differs from it",
            "give the relation another name and pass sensitive := […]",
        )


def require_any(function: str, sensitive: Sequence[str]) -> None:
    """Raise AnonError where no column is sensitive."""
    if not sensitive:
        raise AnonError(
            function,
            "at least one sensitive column is needed",
            "none",
            "pass sensitive := ['illness', …] or declare it: COMMENT ON COLUMN t.illness IS "
            "'anon:sensitive'",
        )


def require_released(function: str, sensitive: Sequence[str], types: Iterable[str]) -> None:
    """Raise AnonError where the release lacks a sensitive column."""
    release = {fold(column): column for column in types if column[:7] != HELPER}
    for column in sensitive:
        if fold(column) not in release:
            hint = did_you_mean(column, release.values())
            rule = "the release must have every sensitive column"
            raise AnonError(function, rule, f"none called {column}", hint)


@udf("__anon_measure_protects", "BOOLEAN", binds=True)
def protects(names: Any, scopes: Any) -> pa.Array:
    """For each name: is its column sensitive?"""
    found = bound(first(scopes))
    return pa.array([fold(name.as_py()) in found for name in names], pa.bool_())


@udf("__anon_measure_sensitive", "BOOLEAN")
def sensitive(function: Any, scope: Any, plan: Any, released_types: Any, adds: Any) -> pa.Array:
    """True, or an AnonError where the columns that were bound are not those of the call.

    adds: columns of the result that no label may be called.
    """
    name, roles = first(function), first(plan)
    require_bound(name, roles["sensitive"], first(scope))
    require_released(name, listed(first(scope)["sensitive"]), first(released_types))
    taken = {*first(adds), *(f"distinct_{column}" for column in roles["sensitive"])}
    for column in roles["quasi"]:
        if fold(column) in {fold(added) for added in taken}:
            raise AnonError(
                name,
                f"no quasi-identifier may be called {fold(column)}",
                column,
                "rename it in both",
            )
    return pa.array([True])
