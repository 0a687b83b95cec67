"""The last look before rows leave: printed labels, grouped and read back; the second call.

It knows nothing of how the classes came about. What it returns is the only way to the rows,
so a release that is not checked cannot be read.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql import intake
from anon_sql.arrow import first, integers, lists, one_list, one_map, one_struct, valid
from anon_sql.calls.binding import HELPER
from anon_sql.calls.partition import real_rows
from anon_sql.calls.plan import shadowed
from anon_sql.calls.protection import constraint_of
from anon_sql.calls.truthful import untrue
from anon_sql.columns import is_number
from anon_sql.errors import AnonError
from anon_sql.exact import comparable
from anon_sql.registry import udf

_READ = HELPER + "read_"
_PRINT = HELPER + "print_"
Classes = npt.NDArray[np.int32]
ROWS = "STRUCT(intake BIGINT, position INTEGER[], class INTEGER[], labels MAP(VARCHAR, INTEGER[]))"


@udf("__anon_check", ROWS, volatile=True)
def check(
    plans: Any,
    numbers: Any,
    packed: Any,
    parts: Any,
    printed: Any,
    kept_names: Any,
    shown_names: Any,
    order_names: Any,
    trees: Any,
) -> pa.Array:
    """Where each released row and its labels stand in their lists, in the order of release.

    numbers: of the intake that has the rows; packed: the lists of numeric quasi-identifiers that
    labels were printed from; parts: what the partition returned; printed: the number of each label
    and, for each column, its hash, whether it is ``*`` and between which values it lies, as read
    back from the print.
    """
    from anon_sql.kernels import grouping
    from anon_sql.kernels.hashing import mix

    plan, listed, number = first(plans), lists(packed), first(numbers)
    rows = intake.claim(number).columns
    shown: dict[str, Any] = dict(lists(printed))
    _require_bound(plan["function"], plan["kept"], kept_names)
    _require_bound(plan["function"], plan["quasi"], shown_names)
    _require_bound(plan["function"], [*plan["kept"], *plan["quasi"]], order_names)
    if not rows:
        return pa.array([None], _result_type())
    row_class, label_of = _labelled(plan["function"], parts, integers(shown[HELPER + "at"]))
    real = real_rows(rows)  # what k, l, t and truth are about
    counted = None if real is None else np.flatnonzero(real).astype(np.int32)
    classes = row_class if counted is None else row_class[counted]
    total = int(row_class.max()) + 1
    starred, printed_as = np.ones(total, dtype=np.bool_), np.zeros(total, dtype=np.uint64)
    # Labels that are nodes were read back when they were made, like text.
    nodes = {n for n, v in lists(trees).items() if v is not None and plan["format"] == "label"}
    for name, sql_type in zip(plan["quasi"], plan["types"], strict=True):
        read = shown[_READ + name].take(pa.array(label_of[name]))
        hashed = integers(shown[_PRINT + name])[label_of[name]]
        printed_as = mix(printed_as, hashed.view(np.int64))
        starred &= integers(read.field("star")).astype(np.bool_)
        told = name in nodes or plan["centres"]
        if not told and is_number(plan["function"], name, sql_type):
            values = _as_listed(plan["function"], rows[name], listed[name])
            values = values if counted is None else values.take(pa.array(counted))
            _require_within(plan["function"], name, sql_type, values, read, classes)
    _, inverse = np.unique(printed_as, return_inverse=True)
    group_of = inverse.astype(np.int32)
    row_group, groups = group_of[row_class], int(group_of.max()) + 1
    _require_one_kind(plan["function"], group_of, starred, groups)
    order, starts = grouping.group(row_group, groups)
    dropped = np.zeros(groups, dtype=np.bool_)
    if plan["suppressed"] == "drop":
        dropped[group_of[starred]] = True
    constraint = constraint_of(plan, rows, lists(trees), counted)
    own_group = row_group if counted is None else group_of[classes]
    illegal = int((~constraint.legal(own_group, groups) & ~dropped).sum())
    if illegal:
        raise AnonError(
            plan["function"],
            f"every class of labels must {constraint.promise}",
            f"{illegal} that {'does' if illegal == 1 else 'do'} not",
            "nothing was released; please report this",
        )
    arranged = grouping.arrange(order, starts, integers(rows[HELPER + "hash"]))
    if dropped.any():
        arranged = arranged[~dropped[row_group[arranged]]]
    return one_struct(
        {
            "intake": pa.array([number], pa.int64()),
            "position": one_list(arranged + 1, pa.int32()),
            "class": one_list(row_class[arranged] + 1, pa.int32()),
            "labels": one_map(
                list(label_of),
                [one_list(at + 1, pa.int32()) for at in label_of.values()],
                pa.list_(pa.int32()),
            ),
        }
    )


def _as_listed(function: str, read: pa.Array, listed: pa.Array | None) -> Any:
    """The values that labels were printed from, or AnonError where they are others than were
    partitioned."""
    if listed is None or not listed.equals(read):
        raise AnonError(
            function,
            "labels must be printed from the rows that were read",
            "others",
            "nothing was released; please report this",
        )
    return listed


def _labelled(
    function: str, parts: Any, numbers: npt.NDArray[np.int32]
) -> tuple[Classes, dict[str, Classes]]:
    """The class of each row, from 0, and by column where the label of each class stands in the
    lists of what was printed; numbers: of the labels in those lists, from 1. Raises AnonError for
    a class without a label or a label that was not printed."""
    struct = parts.combine_chunks() if isinstance(parts, pa.ChunkedArray) else parts
    row_class = integers(struct.field("class")[0].values) - 1
    total = int(row_class.max()) + 1
    place = np.full(len(numbers) + 1, -1, dtype=np.int32)
    place[numbers] = np.arange(len(numbers), dtype=np.int32)
    columns = struct.field("columns")
    label_of: dict[str, Classes] = {}
    for name, labels in zip(columns.keys.to_pylist(), columns.items.field("label"), strict=True):
        chosen = integers(labels.values)
        inside = len(chosen) == total and chosen.min() >= 0 and chosen.max() < len(place)
        if not inside or place[chosen].min() < 0:
            raise AnonError(
                function,
                "every class must have a label that was printed",
                f"one without in {name}",
                "nothing was released; please report this",
            )
        label_of[name] = place[chosen]
    return row_class, label_of


def _result_type() -> pa.DataType:
    rows = pa.list_(pa.int32())
    labels = pa.map_(pa.string(), rows)
    return pa.struct(
        [("intake", pa.int64()), ("position", rows), ("class", rows), ("labels", labels)]
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

    low, high = read.field("low"), read.field("high")
    keys, least, most = comparable(sql_type, [values, low, high])
    star = integers(read.field("star")).astype(np.bool_)
    wrong = outside_range(row_place, star, valid(values), keys, valid(low), least, most)
    if wrong:
        raise untrue(function, name, wrong)
