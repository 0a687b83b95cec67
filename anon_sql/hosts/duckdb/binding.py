"""Determine the roles of columns while a statement is bound, for ``COLUMNS(lambda …)`` in macros.

These roles only select the columns of a result. Nothing here raises an error, because DuckDB would
repeat it for many columns without its position. ``resolve_roles`` determines the roles again
when the query runs, and raises AnonError if they differ.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from anon_sql.core.arrow import first
from anon_sql.core.forks import ForkLock
from anon_sql.core.roles import PARAMETER, UNCHANGED, clear_tag, fold
from anon_sql.core.roles import has_rest as is_rest
from anon_sql.errors import AnonError
from anon_sql.hosts.contents import require_unrenamed
from anon_sql.hosts.duckdb import registry
from anon_sql.hosts.duckdb.registry import udf
from anon_sql.hosts.duckdb.relation import Scope, Table, find
from anon_sql.privacy import VALUE_MODELS

NO_ROLES: dict[str, Any] = {  # the scope of a call that names no column
    "quasi": None,
    "sensitive": None,
    "identifiers": None,
    "keep": None,
    "exclude": None,
    "classes": None,
    "drops": None,
    "whole": False,
    "entity": None,
    **{
        name: parameter.default
        for model in VALUE_MODELS
        for name, parameter in model.parameters().items()
        if parameter.bound
    },
}
HELPER = "__anon_"  # prefix of all helper columns and CTEs of the macros
_ROLES = {  # the roles of ``bound_role`` that make up a kind
    "none": (),
    "taken": ("quasi", "classes"),
    "released": ("quasi", "kept"),
}
_WITH_ZERO = ("kept", "none", "protected", "rest", "taken")
_MAX_TABLES = 64  # maximum number of cached tables
_lookup_lock = ForkLock()
_looked_up: dict[tuple[Any, ...], Table | None] = {}


def types_of(argument: Any) -> dict[str, str]:
    """Return the SQL type by column from the result of ``__anon_types`` or ``__anon_schema``."""
    return {name: kind for name, kind in first(argument).items() if name != HELPER + "zero"}


def scope_in(argument: Any) -> dict[str, Any]:
    """Return the struct of ``__anon_scope``, flat; see ``flat_scope``."""
    return flat_scope(first(argument))


def flat_scope(scope: Mapping[str, Any]) -> dict[str, Any]:
    """Return a scope with the parameters in its field ``bound``, and ``NO_ROLES`` for the rest."""
    flat = dict(scope)
    while (bound := flat.pop("bound", None)) is not None:
        flat = {**bound, **flat}
    if (second := flat.pop("second", None)) is not None:
        flat["sensitive"] = second
    return {**NO_ROLES, **flat}


@dataclass(frozen=True)
class NamedColumns:
    """What a call says of columns by their names, folded once for all columns of a statement.

    role_of: role by folded name. drops, classes, entity: folded names in these parameters. rest:
    parameter whose ``*`` stands for every other column, or None. whole: whether no column is
    dropped. takes_comments: whether comments declare quasi-identifiers. protects: whether a privacy
    model restricts sensitive columns.
    """

    role_of: Mapping[str, str]
    drops: frozenset[str]
    classes: frozenset[str]
    entity: frozenset[str]
    rest: str | None
    whole: bool
    takes_comments: bool
    protects: bool

    def names(self, folded: str) -> bool:
        """Return whether any parameter names a column."""
        return folded in self.role_of or folded in self.drops or folded in self.classes


def named_columns(scope: Mapping[str, Any]) -> NamedColumns:
    """Return what a flat scope says of columns by their names."""
    entity = _names(scope["entity"])
    role_of: dict[str, str] = dict.fromkeys(entity, "identifier")
    for role, parameter in PARAMETER.items():
        for name in _names(scope[parameter]):
            role_of.setdefault(name, role)
    return NamedColumns(
        role_of,
        _names(scope["drops"]),
        _names(scope["classes"]),
        entity,
        next((name for name in PARAMETER.values() if is_rest(name, scope[name])), None),
        bool(scope["whole"]),
        scope["quasi"] is None,
        any(model.asks(scope[model.name]) for model in VALUE_MODELS),
    )


def scope_of(scope: Mapping[str, Any]) -> Scope:
    """Return the caller's database, schema and search path, from the struct of ``__anon_scope``."""
    return Scope(scope["database"], scope["schema"], scope["path"] or "")


def committed(scope: Mapping[str, Any]) -> Table | None:
    """Return the committed table of a call, without temporary tables and open transactions.

    The result is cached per transaction and search path, so that binding and execution of a
    statement see the same table. Raises AnonError if no registered connection is open.
    """
    place, relation = scope_of(scope), scope["relation"]
    key = scope["db"], relation, scope["transaction"], place
    with _lookup_lock:
        if key in _looked_up:
            return _looked_up[key]
    table = find(relation, place, registry.catalog(scope["db"], relation))
    with _lookup_lock:
        table = _looked_up.setdefault(key, table)
        while len(_looked_up) > _MAX_TABLES:
            _looked_up.pop(next(iter(_looked_up)), None)
    return table


def forget_tables(token: str | None = None) -> None:
    """Clear the cache, or what it has of one database. Takes no lock, as a finalizer.

    A file that is opened again restarts its transaction ids.
    """
    for key in list(_looked_up):
        if token in (None, key[0]):
            _looked_up.pop(key, None)


def bound_role(named: NamedColumns, tags: Mapping[str, str | None], name: str) -> str:
    """Return the treatment of a column: identifier, classes, quasi or kept.

    tags: comment by folded column name.
    """
    folded = fold(name)
    if folded in named.classes:
        return "classes"
    declared, called = clear_tag(tags.get(folded)), named.role_of.get(folded)
    if called in ("identifier", "exclude") or folded in named.drops:
        return "identifier"
    if declared == "identifier" or (declared == "exclude" and called is None):
        return "kept" if named.whole else "identifier"
    rest = _rest_of(named, declared, folded)
    if rest in ("identifiers", "exclude"):
        return "identifier"
    by_comment = named.takes_comments and declared == "quasi" and called is None
    return "quasi" if called == "quasi" or rest == "quasi" or by_comment else "kept"


def bound_protected(named: NamedColumns, tags: Mapping[str, str | None], name: str) -> bool:
    """Return whether a constraint depends on the values of a column: sensitive, or the entity.

    Invalid levels of a privacy model are refused later.
    """
    if fold(name) in named.entity:
        return True
    return named.protects and bound_sensitive(named, tags, name)


def bound_sensitive(named: NamedColumns, tags: Mapping[str, str | None], name: str) -> bool:
    """Return whether a column is sensitive, by its comment or by the parameters of the call."""
    return _bound_as(named, tags, name) == "sensitive"


def bound_tuple(named: NamedColumns, tags: Mapping[str, str | None], name: str) -> bool:
    """Return whether a column belongs to the whole tuple of a row: sensitive, or kept by name."""
    return _bound_as(named, tags, name) in UNCHANGED


def bound_rest(named: NamedColumns, tags: Mapping[str, str | None], name: str) -> bool:
    """Return whether a column is released as it is because of a ``*`` alone."""
    folded = fold(name)
    rest = _rest_of(named, clear_tag(tags.get(folded)), folded)
    return any(rest == PARAMETER[role] for role in UNCHANGED)


def _bound_as(named: NamedColumns, tags: Mapping[str, str | None], name: str) -> str | None:
    """Return the role of a column, by the call, its comment, or the ``*`` of the call."""
    folded = fold(name)
    declared = clear_tag(tags.get(folded))
    rest = _rest_of(named, declared, folded)
    by_rest = next((role for role, parameter in PARAMETER.items() if parameter == rest), None)
    return named.role_of.get(folded) or declared or by_rest


def _rest_of(named: NamedColumns, declared: str | None, folded: str) -> str | None:
    """Return the parameter whose ``*`` stands for a column; None where it has a role of its own."""
    return None if declared is not None or named.names(folded) else named.rest


def _names(value: Any) -> frozenset[str]:
    """Return the folded names in a parameter that is a name, a list of names or NULL."""
    names = value if isinstance(value, list) else [value]
    return frozenset(fold(name) for name in names if isinstance(name, str))


@udf("BOOLEAN")
def is_alone(scopes: Any, seconds: Any, unnamed: Any) -> pa.Array:
    """Return whether a measure of a release is asked about one table.

    seconds: the names in the place of the release; unnamed: whether no sensitive column is named
    elsewhere. Without these, a release needs a table whose comments declare them, so the names are
    columns where there is no such table; else, if they are its columns and not relations.
    """
    if not len(unnamed):
        return pa.array([], pa.bool_())
    alone = _is_alone(scope_in(scopes), first(seconds), first(unnamed))
    return pa.array([alone] * len(unnamed), pa.bool_())


def _is_alone(scope: Mapping[str, Any], names: Any, unnamed: bool) -> bool:
    if names is None:
        return True
    if not unnamed:
        return False
    try:
        table = committed(scope)
        if table is None:
            return True
        relations = (find(n, scope_of(scope), registry.catalog(scope["db"], n)) for n in names)
        is_relation = any(relation is not None for relation in relations)
    except AnonError:
        return False
    columns = {fold(name) for name in table.names}
    return not is_relation and all(fold(name) in columns for name in names)


@udf("BOOLEAN")
def is_role(wanted: Any, names: Any, scopes: Any) -> pa.Array:
    """Return for each name whether its column is of the wanted kind.

    A kind is a result of ``bound_role``, or ``kept``: released unchanged; ``released``: all but
    identifiers; ``sensitive``; ``tuple``: see ``bound_tuple``; ``protected``: see
    ``bound_protected``; ``rest``: see ``bound_rest``; ``taken``: passed to the method; ``none``: no
    column. The column ``__anon_zero``, which macros add, is of the kinds in ``_WITH_ZERO``, so that
    no selection is empty.
    """
    kind: str = first(wanted)
    scope = scope_in(scopes)
    named, tags = named_columns(scope), _tags(scope)
    return pa.array([_matches(kind, named, tags, name) for name in names.to_pylist()], pa.bool_())


def _matches(kind: str, named: NamedColumns, tags: Mapping[str, Any], name: str) -> bool:
    """Return whether one column is of a kind."""
    if fold(name).startswith(HELPER):  # a user's column of such a name is refused later
        return fold(name).startswith(HELPER + "zero") and kind in _WITH_ZERO
    if kind == "protected":
        return bound_protected(named, tags, name)
    if kind == "sensitive":
        return bound_sensitive(named, tags, name)
    if kind == "tuple":
        return bound_tuple(named, tags, name)
    if kind == "rest":
        return bound_rest(named, tags, name)
    return bound_role(named, tags, name) in _ROLES.get(kind, (kind,))


def _tags(scope: Mapping[str, Any]) -> dict[str, str | None]:
    """Return the comments of the committed table by folded column name; empty without a table."""
    try:
        table = committed(scope)
    except AnonError:
        return {}
    return table.tags() if table else {}


def require_names(function: str, names: Iterable[str]) -> None:
    """Raise AnonError for a name that begins as those that macros add, or that DuckDB has made."""
    names = list(names)
    clash = [name for name in names if fold(name).startswith(HELPER)]
    if clash:
        raise AnonError(function, f"column names must not begin with {HELPER}", clash[0])
    require_unrenamed(function, names)
