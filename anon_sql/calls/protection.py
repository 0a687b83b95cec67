"""What a call asks beside k: l and t of its sensitive columns, and whose the rows are."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.arrow import integers
from anon_sql.calls.binding import HELPER
from anon_sql.columns import is_number
from anon_sql.constraints import KINDS, Constraint, Sensitive, constraint
from anon_sql.errors import AnonError, did_you_mean
from anon_sql.options import Choice, Number, Option, Positive
from anon_sql.roles import Roles, fold

ASKED: dict[str, Option] = {
    "l": Number(1),
    "l_kind": Choice(KINDS),
    "c": Positive(),
    "t": Number(0, 1),
}
KEY = HELPER + "key_"


def settle_protection(
    function: str,
    asked: Mapping[str, Any],
    roles: Roles,
    types: Mapping[str, str],
    entity: object,
) -> dict[str, Any]:
    """The columns whose values are counted, for a plan, or AnonError where they do not fit.

    asked: what ``ASKED`` read; types: SQL type by column name.
    """
    wanted = asked["l"] > 1 or asked["t"] < 1
    if asked["l_kind"] != "entropy" and asked["l"] != int(asked["l"]):
        raise AnonError(
            function,
            f"l must be a whole number where l_kind is '{asked['l_kind']}'",
            f"{asked['l']:g}",
            "l_kind := 'entropy' takes fractions",
        )
    if wanted and not roles.sensitive:
        raise AnonError(
            function,
            "l and t need a sensitive column",
            "none",
            "pass sensitive := ['illness', …] or declare it: COMMENT ON COLUMN t.illness IS "
            "'anon:sensitive'",
        )
    protected = list(roles.sensitive) if wanted else []
    return {
        "protected": protected,
        "ordered": [ranked(function, name, types[name]) for name in protected],
        "entity": entity_of(function, entity, types),
    }


def entity_of(function: str, given: object, names: Sequence[str] | Mapping[str, str]) -> str | None:
    """The column that says whose a row is, in the table's spelling; None where none is named."""
    if given is None:
        return None
    folded = {fold(name): name for name in names}
    if isinstance(given, str) and fold(given) in folded:
        return folded[fold(given)]
    raise AnonError(
        function,
        "entity must name a column of the table",
        f"'{given}'" if isinstance(given, str) else type(given).__name__,
        did_you_mean(given, folded.values()) if isinstance(given, str) else None,
    )


def with_entity(function: str, identifiers: Any, entity: object, names: Sequence[str]) -> Any:
    """The identifiers of a call, the column of persons among them."""
    column = entity_of(function, entity, names)
    if column is None:
        return identifiers
    listed = [identifiers] if isinstance(identifiers, str) else identifiers or []
    if not isinstance(listed, list) or fold(column) in {fold(str(name)) for name in listed}:
        return identifiers
    return [*listed, column]


def ranked(function: str, name: str, sql_type: str) -> bool:
    """Whether the order of a column's values means something; that of text does not."""
    try:
        return is_number(function, name, sql_type)
    except AnonError:
        return False


def constraint_of(
    plan: Mapping[str, Any],
    columns: Mapping[str, pa.Array | None],
    trees: Mapping[str, Any],
    order: npt.NDArray[np.int32] | None = None,
) -> Constraint:
    """What a plan asks of its rows, as they came or in an order, int32[n].

    columns: keys as bytes that sort as values do, '' for NULL, by name behind ``KEY``. Where a
    hierarchy names a sensitive column, or it holds NULLs, t takes every move alike: that distance
    is never below the one along the hierarchy.
    """
    found = []
    for name, ordered in zip(plan["protected"], plan["ordered"], strict=True):
        codes, known, nulls = _codes(columns[KEY + name], order)
        plain = ordered and not nulls and trees.get(name) is None
        found.append(Sensitive(name, codes, known, plain))
    persons = None
    if plan["entity"] is not None:
        codes, known, nulls = _codes(columns[KEY + plan["entity"]], order)
        persons = codes
    return constraint(
        plan["k"],
        found,
        persons,
        l=plan["l"],
        kind=plan["l_kind"],
        c=plan["c"],
        t=plan["t"],
    )


def _codes(
    keys: pa.Array, order: npt.NDArray[np.int32] | None
) -> tuple[npt.NDArray[np.int32], int, bool]:
    """Codes as the keys sort, NULL last; how many values are not NULL, and whether one is."""
    coded = keys.dictionary_encode()
    words = coded.dictionary
    sorted_ = integers(pc.sort_indices(words))
    first = words[int(sorted_[0])].as_py() if len(words) else b"-"
    nulls = len(first) == 0
    rank = np.empty(len(words), np.int32)
    rank[sorted_] = np.arange(len(words), dtype=np.int32) - nulls
    rank[rank < 0] = len(words) - 1
    codes = rank[integers(coded.indices.cast(pa.int32()))]
    return (codes if order is None else codes[order]), len(words) - nulls, nulls
