"""The last look before rows leave: printed labels, grouped and read back; the second call.

It knows nothing of how the classes came about. What it returns is the only way to the rows,
so a release that is not checked cannot be read.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.arrow import first, integers, lists, one_list, one_struct, valid
from anon_sql.calls.binding import HELPER
from anon_sql.calls.partition import real_rows
from anon_sql.calls.plan import shadowed
from anon_sql.calls.protection import constraint_of
from anon_sql.calls.truthful import untrue
from anon_sql.columns import is_number, wide
from anon_sql.errors import AnonError
from anon_sql.registry import udf

_READ = HELPER + "read_"
ROWS = "STRUCT(position INTEGER[], class INTEGER[])"


@udf("__anon_check", ROWS)
def check(
    plans: Any,
    packed: Any,
    keys: Any,
    classes: Any,
    printed: Any,
    kept_names: Any,
    shown_names: Any,
    order_names: Any,
    trees: Any,
) -> pa.Array:
    """Where each released row and its labels stand in their lists, in the order of release.

    packed: numeric quasi-identifiers and hashes; keys: what k, l and t are counted over beside
    rows, see ``calls.protection``; classes: each row's class from 1; printed:
    per class its number, the hash of its labels and, for each column, whether it is ``*``
    and between which values it lies, as read back from the print.
    """
    from anon_sql.kernels import grouping

    plan, rows = first(plans), lists(packed)
    shown: dict[str, Any] = dict(lists(printed))
    _require_bound(plan["function"], plan["kept"], kept_names)
    _require_bound(plan["function"], plan["quasi"], shown_names)
    _require_bound(plan["function"], [*plan["kept"], *plan["quasi"]], order_names)
    hashes = rows[HELPER + "hash"]
    if hashes is None:
        return pa.array(
            [None], pa.struct([("position", pa.list_(pa.int32())), ("class", pa.list_(pa.int32()))])
        )
    reads = {name.removeprefix(_READ): v for name, v in shown.items() if name.startswith(_READ)}
    place = np.empty(
        len(shown[HELPER + "class"]), dtype=np.int32
    )  # class number -> place in the lists
    place[integers(shown[HELPER + "class"]) - 1] = np.arange(len(place), dtype=np.int32)
    row_place = place[integers(classes[0].values) - 1]
    real = real_rows(rows)  # what k, l, t and truth are about
    counted = None if real is None else np.flatnonzero(real).astype(np.int32)
    places = row_place if counted is None else row_place[counted]
    starred = np.ones(len(place), dtype=np.bool_)
    # Labels that are nodes were read back when they were made, like text.
    nodes = {n for n, v in lists(trees).items() if v is not None and plan["format"] == "label"}
    for name, sql_type in zip(plan["quasi"], plan["types"], strict=True):
        starred &= integers(reads[name].field("star")).astype(np.bool_)
        told = name in nodes or plan["centres"]
        if not told and is_number(plan["function"], name, sql_type):
            values: Any = rows[name]
            values = values if counted is None else values.take(pa.array(counted))
            _require_within(plan["function"], name, sql_type, values, reads[name], places)
    _, group_of = np.unique(integers(shown[HELPER + "label_hash"]), return_inverse=True)
    group_of = group_of.astype(np.int32)
    row_group = group_of[row_place]
    groups = int(group_of.max()) + 1
    _require_one_kind(plan["function"], group_of, starred, groups)
    order, starts = grouping.group(row_group, groups)
    dropped = np.zeros(groups, dtype=np.bool_)
    if plan["suppressed"] == "drop":
        dropped[group_of[starred]] = True
    constraint = constraint_of(plan, lists(keys), lists(trees), counted)
    own_group = row_group if counted is None else group_of[places]
    illegal = int((~constraint.legal(own_group, groups) & ~dropped).sum())
    if illegal:
        raise AnonError(
            plan["function"],
            f"every class of labels must {constraint.promise}",
            f"{illegal} that {'does' if illegal == 1 else 'do'} not",
            "nothing was released; please report this",
        )
    arranged = grouping.arrange(order, starts, integers(hashes))
    if dropped.any():
        arranged = arranged[~dropped[row_group[arranged]]]
    return one_struct(
        {
            "position": one_list(arranged + 1, pa.int32()),
            "class": one_list(row_place[arranged] + 1, pa.int32()),
        }
    )


def _require_bound(function: str, allowed: list[str], names: Any) -> None:
    """The columns that the statement gives out are those that the roles allow."""
    bound = {field.name for field in names.type if not field.name.startswith(HELPER)}
    if bound != set(allowed):
        raise shadowed(function)


def _require_one_kind(
    function: str, group_of: npt.NDArray[np.int32], starred: npt.NDArray[np.bool_], groups: int
) -> None:
    """Labels that hash alike are all suppressed or none is."""
    stars = np.bincount(group_of, weights=starred, minlength=groups)
    if ((stars > 0) & (stars < np.bincount(group_of, minlength=groups))).any():
        raise AnonError(
            function,
            "suppressed rows must be a class of their own",
            "some among others",
            "nothing was released; please report this",
        )


def _require_within(
    function: str,
    name: str,
    sql_type: str,
    values: Any,
    read: Any,
    row_place: npt.NDArray[np.int32],
) -> None:
    """Each value lies between the ends that its printed label gives when it is read."""
    from anon_sql.kernels.truth import outside_range

    sides = [_exact(sql_type, side) for side in (values, read.field("low"), read.field("high"))]
    if any(len(side) == 3 for side in sides):  # beyond 64 bits
        sides = [_widen(side) for side in sides]
    star = integers(read.field("star")).astype(np.bool_)
    wrong = outside_range(row_place, star, *((*side, side[1])[:3] for side in sides))
    if wrong:
        raise untrue(function, name, wrong)


def _exact(sql_type: str, values: Any) -> tuple[Any, ...]:
    """Which values are there, and their exact keys: one int64 half, or two."""
    high, low, _ = wide(sql_type, values)
    return (valid(values), high) if low is None else (valid(values), high, low)


def _widen(side: tuple[Any, ...]) -> tuple[Any, ...]:
    """Keys of one half as two: the sign, and the bits in the order of signed integers."""
    if len(side) == 3:
        return side
    present, keys = side
    low = keys.view(np.uint64) ^ np.uint64(1 << 63)
    return present, keys >> 63, low.view(np.int64)
