"""A call of a measure, looked at as a whole: what it names, and what the labels say.

SQL reads both relations and sums; whether the sums mean anything is decided here, in one
place for every measure.
"""

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from anon_sql.arrow import first
from anon_sql.calls.binding import HELPER
from anon_sql.errors import AnonError
from anon_sql.measures.call import ORDER, require_columns, require_types, roles_of
from anon_sql.options import Choice, Whole
from anon_sql.registry import udf
from anon_sql.roles import fold

TREE_HINT = "name hierarchy := if the release was made with one"
HINT = f"the raw table comes first and its release second; {TREE_HINT}"
NCP = Choice(("share", "dop"))
_INFINITE = {"nan", "-nan", "inf", "-inf", "infinity", "-infinity"}
_PLAN = pa.struct(
    [
        ("k", pa.int64()),
        ("quasi", pa.list_(pa.string())),
        ("ncp", pa.list_(pa.float64())),
        ("sensitive", pa.list_(pa.string())),
    ]
)


@udf("__anon_measure", "STRUCT(k BIGINT, quasi VARCHAR[], ncp DOUBLE[], sensitive VARCHAR[])")
def measure(
    function: Any,
    raw_types: Any,
    released_types: Any,
    k: Any,
    ncp: Any,
    scope: Any,
    seen: Any,
    released: Any,
    rows: Any,
    shown: Any,
    held: Any,
    sums: Any,
    adds: Any,
) -> pa.Array:
    """The roles of a call and the mean NCP of each quasi-identifier, or an AnonError.

    held: what each raw column holds; sums: what each released column loses and how many of
    its classes have labels that are malformed or beyond what the raw column holds; adds: whether
    the release may have more rows than the raw table.
    """
    name, raw = first(function), types_of(raw_types)
    release = {fold(column): kind for column, kind in types_of(released_types).items()}
    size = Whole(1).read(name, "k", first(k))
    NCP.read(name, "ncp", first(ncp))
    roles = roles_of(name, raw, first(scope), first(seen), first(released))
    require_columns(name, roles.quasi, release)
    for column in roles.quasi:
        require_types(name, column, raw[column], release[fold(column)])
    total, kept = first(rows), first(shown)
    if kept > total and not first(adds):
        raise AnonError(
            name, ORDER, f"{kept:,} rows in the second and {total:,} in the first", "swap them"
        )
    by_name = {entry["name"]: entry for entry in first(sums) or []}
    for column in first(held):
        if column["name"] in roles.quasi:
            _require_labels(name, column, by_name.get(column["name"]), total == kept)
    lost = [by_name[column]["lost"] if column in by_name else 0.0 for column in roles.quasi]
    return pa.array(
        [
            {
                "k": size,
                "quasi": list(roles.quasi),
                "ncp": [(each + total - kept) / total if total else None for each in lost],
                "sensitive": list(roles.sensitive),
            }
        ],
        _PLAN,
    )


def types_of(argument: Any) -> dict[str, str]:
    """SQL type by column name, as ``__anon_schema`` gives them."""
    return {name: kind for name, kind in first(argument).items() if name != HELPER + "zero"}


def _require_labels(
    function: str, held: Mapping[str, Any], lost: Mapping[str, Any] | None, whole: bool
) -> None:
    """Labels can be read and name nothing that the raw column does not hold."""
    column = held["name"]
    if {held["low"], held["high"]} & _INFINITE:
        raise AnonError(
            function,
            f"{column} must hold finite values",
            "some that are NaN or infinite",
            "make them NULL or leave the rows out",
        )
    if lost is None:
        return
    if lost["malformed"]:
        kinds = "a value, {…}" if held["type"] is None else "a number, [low, high]"
        kinds = "a node of its hierarchy" if lost["tree"] else kinds
        raise AnonError(
            function,
            f"a label of {column} must be {kinds} or *",
            _classes(lost["malformed"], "other"),
            None if lost["tree"] else TREE_HINT,
        )
    if lost["beyond"]:
        raise AnonError(
            function,
            f"a label of {column} must name what the raw table holds",
            _classes(lost["beyond"], "more"),
            HINT,
        )
    if held["label_like"] and not lost["quotes"] and not lost["tree"] and whole:
        raise AnonError(function, ORDER, f"labels of {column} in the first only", "swap them")


def _classes(count: int, what: str) -> str:
    return f"{count:,} class{'' if count == 1 else 'es'} with {what}"
