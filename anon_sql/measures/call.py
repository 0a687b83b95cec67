"""What a call of a measure names: roles, columns and types of a raw table and its release."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from anon_sql.calls.binding import scope_of
from anon_sql.calls.plan import settle
from anon_sql.columns import is_number
from anon_sql.errors import AnonError, did_you_mean
from anon_sql.measures.sensitive import declared, listed
from anon_sql.relation import find
from anon_sql.roles import Roles, fold

ORDER = "the raw table must come first and its release second"
_LABEL = ("VARCHAR", "ENUM(")
_RANGE = re.compile(r'STRUCT\("?min"? .*, "?max"? .*\)')
_SET = "VARCHAR[]"


def roles_of(
    function: str,
    types: Mapping[str, str],
    scope: Mapping[str, Any],
    seen: Sequence[Mapping[str, Any]] | None,
    released: str,
) -> Roles:
    """Roles as a release settles them, save that a declared quasi-identifier may be left out of
    ``qids``, since nothing is released.

    Raises AnonError, also where roles are declared on the second relation only.
    """
    ours, theirs = (
        declared(find(relation, scope_of(scope), seen or []), "quasi")
        for relation in (scope["relation"], released)
    )
    columns = {fold(name) for name in types}
    named = {fold(name) for name in listed(scope["qids"])}
    kept = [name for name in ours if fold(name) in columns and fold(name) not in named]
    sensitive = {fold(name) for name in listed(scope["sensitive"])}
    for name in kept:
        if fold(name) in sensitive:
            raise AnonError(
                function,
                "a column has one role",
                f"{name} as quasi and as sensitive",
                "leave it out of sensitive or change what is declared",
            )
    try:
        also = [name for name in kept if fold(name) not in map(fold, listed(scope["keep"]))]
        keep = scope["keep"] if scope["qids"] is None else [*listed(scope["keep"]), *also]
        return settle(function, types, {**scope, "keep": keep}, seen)
    except AnonError:
        if scope["qids"] is None and theirs and not ours:
            got = "roles declared on the second only"
            raise AnonError(function, ORDER, got, "swap them") from None
        raise


def require_columns(function: str, quasi: Sequence[str], release: Mapping[str, str]) -> None:
    missing = [column for column in quasi if fold(column) not in release]
    if missing:
        raise AnonError(
            function,
            "the release must have every quasi-identifier",
            f"none called {', '.join(missing)}",
            did_you_mean(missing[0], release),
        )


def is_label(sql_type: str) -> bool:
    """Whether a released column holds labels, not structs or lists."""
    return sql_type.startswith(_LABEL) and sql_type != _SET


def require_types(function: str, column: str, raw: str, released: str) -> None:
    """The first relation holds values and the second what a release makes of them."""
    if _RANGE.fullmatch(raw) or raw == _SET:
        raise AnonError(function, ORDER, f"{column} of type {raw} in the first", "swap them")
    number = is_number(function, column, raw)
    if is_label(released):
        return
    if _RANGE.fullmatch(released) if number else released == _SET:
        return
    if raw == "VARCHAR" and not released.endswith(("]", ")")):
        raise AnonError(
            function,
            ORDER,
            f"{column} as VARCHAR in the first and as {released} in the second",
            "swap them, or read a file of labels as text",
        )
    raise AnonError(
        function,
        f"a release must hold labels of {column}, or structs and lists",
        released,
        "make it with a release function, or read a file of labels as text",
    )
