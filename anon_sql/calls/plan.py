"""Before a row is packed: parameters checked, roles settled, memory counted."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from anon_sql import methods
from anon_sql.arrow import first
from anon_sql.calls.binding import HELPER, UNSAID, bound_role, committed, scope_of
from anon_sql.calls.protection import ASKED, settle_protection, with_entity
from anon_sql.columns import is_number
from anon_sql.errors import AnonError, did_you_mean
from anon_sql.options import Choice, Option, Whole, read
from anon_sql.registry import udf
from anon_sql.relation import Table, find, namesakes
from anon_sql.roles import Roles, assign, fold

COMMON: dict[str, Option] = {
    "format": Choice(("label", "typed")),
    "suppressed": Choice(("keep", "drop")),
    "seed": Whole(0),
    **ASKED,
}
PLAN = (
    "STRUCT(function VARCHAR, k INTEGER, quasi VARCHAR[], kept VARCHAR[], types VARCHAR[], "
    "sensitive VARCHAR[], "
    "classes VARCHAR, format VARCHAR, suppressed VARCHAR, seed BIGINT, l DOUBLE, "
    "l_kind VARCHAR, c DOUBLE, t DOUBLE, protected VARCHAR[], ordered BOOLEAN[], "
    "entity VARCHAR, centres BOOLEAN, threads INTEGER, "
    "rows BIGINT, too_large VARCHAR)"
)
_ARROW = pa.struct(
    [
        ("function", pa.string()),
        ("k", pa.int32()),
        ("quasi", pa.list_(pa.string())),
        ("kept", pa.list_(pa.string())),
        ("types", pa.list_(pa.string())),
        ("sensitive", pa.list_(pa.string())),
        ("classes", pa.string()),
        ("format", pa.string()),
        ("suppressed", pa.string()),
        ("seed", pa.int64()),
        ("l", pa.float64()),
        ("l_kind", pa.string()),
        ("c", pa.float64()),
        ("t", pa.float64()),
        ("protected", pa.list_(pa.string())),
        ("ordered", pa.list_(pa.bool_())),
        ("entity", pa.string()),
        ("centres", pa.bool_()),
        ("threads", pa.int32()),
        ("rows", pa.int64()),
        ("too_large", pa.string()),
    ]
)
_ROW = 160  # bytes a row costs whatever its columns: order, classes, hashes, the output's index
_CELL = {
    "quasi": 110,
    "kept": 60,
}  # bytes a value costs: DuckDB's list, Arrow's copy, arrays, output


def settle(
    function: str,
    types: Mapping[str, str],
    scope: Mapping[str, Any],
    seen: Sequence[Mapping[str, Any]] | None,
    *,
    needs_quasi: bool = True,
) -> Roles:
    """Roles of a call, from its parameters and from comments that everybody agrees on.

    types: SQL type by column name, as received; seen: the catalog as the caller sees it.
    Raises AnonError where a shadowed or changed table makes the bound columns wrong.
    """
    names = list(types)
    clash = [name for name in names if fold(name).startswith(HELPER)]
    if clash:
        raise AnonError(function, f"column names must not begin with {HELPER}", clash[0])
    theirs, ours = find(scope["relation"], scope_of(scope), seen or []), committed(scope)
    counts = theirs is not None and theirs.names == tuple(names) and _same_types(theirs, types)
    agreed = counts and theirs == ours
    if scope["qids"] is None and not agreed and any(_tagged(table) for table in (theirs, ours)):
        raise shadowed(function)
    tags = theirs.tags() if theirs is not None and counts else {}
    given = {key: scope[key] for key in ("qids", "sensitive", "identifiers", "keep")}
    given["identifiers"] = with_entity(function, given["identifiers"], scope["entity"], names)
    roles = assign(function, names, tags, given, needs_quasi=needs_quasi)
    for other in namesakes(scope["relation"], seen or []):
        if other not in (theirs, ours) and {fold(n) for n in other.names} == {
            fold(n) for n in names
        }:
            _require_as_strict(function, other, roles, scope["qids"] is None)
    bound_tags = ours.tags() if ours else {}
    for name in names:
        bound = bound_role({**scope, "drops": None, "classes": None}, bound_tags, name)
        if (bound == "quasi") != (name in roles.quasi):
            raise shadowed(function)
        if not scope["whole"] and (bound == "identifier") != (name in roles.identifier):
            raise shadowed(function)
    return roles


def _require_as_strict(function: str, other: Table, roles: Roles, declared: bool) -> None:
    """A view is bound where it stands, so its table may be a namesake in another schema.

    Raises AnonError unless the call treats the columns as that table's comments ask.
    """
    role_of = {name: bound_role(UNSAID, other.tags(), name) for name in other.tags()}
    hidden = {name for name, role in role_of.items() if role == "identifier"}
    quasi = {name for name, role in role_of.items() if role == "quasi"}
    if hidden <= {fold(name) for name in roles.identifier} and (
        not declared or quasi == {fold(name) for name in roles.quasi}
    ):
        return
    raise AnonError(
        function,
        "a name must mean one table",
        "another of that name with the same columns and other roles",
        "write it in full, database.schema.table",
    )


def _refuse_taken(
    function: str, adds: Sequence[str], given: bool, classes: object, columns: Mapping[str, str]
) -> None:
    """Raise AnonError for a column that the result would hold twice, or a missing one."""
    folded = {fold(column): column for column in columns}
    for added in adds:
        if added in folded:
            raise AnonError(
                function, f"the table must not have a column {added}", folded[added], "rename it"
            )
    if given and classes is None:
        raise AnonError(function, "classes must name a column of the table", "NULL")
    if classes is not None and (not isinstance(classes, str) or fold(classes) not in folded):
        hint = did_you_mean(classes, columns) if isinstance(classes, str) else None
        raise AnonError(function, "classes must name a column of the table", f"'{classes}'", hint)
    if isinstance(classes, str) and columns[folded[fold(classes)]].endswith(("]", ")")):
        kind = columns[folded[fold(classes)]]
        if not kind.startswith(("DECIMAL", "ENUM")):
            raise AnonError(function, "classes must be numbers or text", f"a column of type {kind}")


def _tagged(table: Table | None) -> bool:
    return table is not None and any("anon:" in (comment or "") for comment in table.comments)


def _same_types(table: Table, types: Mapping[str, str]) -> bool:
    return all(known == types[name] for name, known in zip(table.names, table.types, strict=True))


def shadowed(function: str) -> AnonError:
    return AnonError(
        function,
        "comments count only where the relation is the committed table they were written on",
        "a relation of that name that differs from it (a CTE, a temporary table, another "
        "schema or an uncommitted change)",
        "pass qids := […] and identifiers := […], or give the relation another name",
    )


def available(limit: str | None) -> int:
    """Bytes that may be used: DuckDB's limit or what the machine has left, whichever is less."""
    free = os.sysconf("SC_PAGE_SIZE") * os.sysconf(
        "SC_AVPHYS_PAGES" if "SC_AVPHYS_PAGES" in os.sysconf_names else "SC_PHYS_PAGES"
    )
    number, _, unit = (limit or "").partition(" ")
    powers = {"bytes": 0, "KiB": 1, "MiB": 2, "GiB": 3, "TiB": 4, "PiB": 5}
    return min(free, int(float(number) * 1024 ** powers[unit])) if unit in powers else free


def _room(roles: Roles, names: Sequence[str], settings: Mapping[str, Any]) -> tuple[int, str]:
    """How many rows fit into memory, and the sentence for more."""
    kept = len(names) - len(roles.quasi) - len(roles.identifier)
    row = _ROW + _CELL["quasi"] * len(roles.quasi) + _CELL["kept"] * kept
    free = available(settings["memory_limit"])
    rows = free // row
    return rows, (
        f"more than {rows:,} rows, which is what fits into the {free / 1024**3:.1f} GiB of memory "
        f"there are at about {row:,} bytes a row; raise memory_limit or release the table in parts"
    )


@udf("__anon_plan", PLAN, volatile=True)
def plan(
    function: Any, types: Any, k: Any, scope: Any, seen: Any, common: Any, options: Any
) -> pa.Array:
    """One checked plan for the rest of the query, or an AnonError before any row is read."""
    name, scope_ = first(function), first(scope)
    if len(k) != 1:
        raise AnonError(
            name, "a call must not depend on rows of another relation", f"{len(k)} rows"
        )
    columns = {n: t for n, t in first(types).items() if n != HELPER + "zero"}
    given = first(common)
    size = Whole(1).read(name, "k", pa.types.is_boolean(k.type) or first(k))
    checked = read(name, COMMON, given)
    method = methods.find(name)
    chosen = read(name, method.options, first(options) or {})
    _refuse_taken(name, method.adds, method.given, scope_["classes"], columns)
    roles = settle(name, columns, scope_, first(seen))
    taken = {fold(column) for column in [scope_["classes"] or "", *(scope_["drops"] or [])]}
    for column in (*roles.quasi, *roles.sensitive, *roles.keep):
        if fold(column) in taken:
            raise AnonError(
                name,
                "columns of classes and scores are dropped",
                f"{column} with a role",
                "leave it out of qids, sensitive and keep",
            )
    for quasi in roles.quasi:
        is_number(name, quasi, columns[quasi])
    protection = settle_protection(name, checked, roles, columns, scope_["entity"])
    gone = {*roles.quasi, *roles.identifier}
    gone |= {column for column in columns if fold(column) in taken}
    rows, too_large = _room(roles, list(columns), given)
    return pa.array(
        [
            {
                "function": name,
                "k": min(size, 2**31 - 1),
                "quasi": list(roles.quasi),
                "kept": [column for column in columns if column not in gone],
                "types": [columns[quasi] for quasi in roles.quasi],
                "sensitive": list(roles.sensitive),
                "classes": next(
                    (c for c in columns if fold(c) == fold(scope_["classes"] or "")), None
                ),
                **checked,
                **protection,
                "centres": chosen.get("numbers") == "centre",
                "threads": int(given["threads"]),
                "rows": rows,
                "too_large": f"{name}: the table must fit into memory, got {too_large}",
            }
        ],
        _ARROW,
    )
