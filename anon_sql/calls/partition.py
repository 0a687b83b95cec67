"""Packed columns in, classes and what their labels are made of out: the first of two calls.

Text labels are made and read back here; the ends of ranges are given as places in the
column's list, so that DuckDB prints them in the column's own type. ``release.check`` then
looks at what was printed.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql import compiling, interrupt, labels, methods, options
from anon_sql.arrow import first, integers, lists, one_list, one_map, one_struct, valid
from anon_sql.calls.binding import HELPER
from anon_sql.calls.nodes import described
from anon_sql.columns import Categories, Numbers
from anon_sql.constraints import Constraint
from anon_sql.errors import AnonError
from anon_sql.hierarchical import Hierarchical
from anon_sql.joining import accompany_suppressed, dense, place_suppressed
from anon_sql.registry import udf
from anon_sql.table import Column, QuasiTable, read
from anon_sql.workers import Workers

PARTS = (
    "STRUCT(columns MAP(VARCHAR, STRUCT(low INTEGER[], high INTEGER[], label INTEGER[], "
    "texts VARCHAR[], sets VARCHAR[][])), class INTEGER[], classes INTEGER)"
)
_PART = pa.struct(
    [
        ("low", pa.list_(pa.int32())),
        ("high", pa.list_(pa.int32())),
        ("label", pa.list_(pa.int32())),
        ("texts", pa.list_(pa.string())),
        ("sets", pa.list_(pa.list_(pa.string()))),
    ]
)
MIXED, NULLS = 0, -1  # in low and high: NULL beside values (or suppressed), NULL alone
Classes = npt.NDArray[np.int32]


@udf("__anon_partition", PARTS)
def partition(plans: Any, packed: Any, given: Any, trees: Any) -> pa.Array:
    """Run a method and describe its classes, the suppressed rows as the last one."""
    from anon_sql.kernels import grouping

    plan, columns = first(plans), lists(packed)
    if columns[HELPER + "hash"] is None:
        return pa.array([None], _result_type())
    table, classes, nodes = classify(plan, columns, first(given) or {}, lists(trees))
    count = int(classes.max()) + 1
    suppressed = bool((classes < 0).any())
    total = count + suppressed
    numbered = np.where(classes < 0, np.int32(count), classes).astype(np.int32)
    grouped = grouping.group(numbered, total)
    chosen = [None] * len(table.columns) if nodes is None else list(nodes.T)
    jobs = [
        (plan, column, *grouped, suppressed, given)
        for column, given in zip(table.columns, chosen, strict=True)
    ]
    workers = Workers(plan["function"], plan["threads"])
    parts = workers.map(_describe, jobs, [table.rows] * len(jobs))
    return one_struct(
        {
            "columns": one_map([column.name for column in table.columns], parts, _PART),
            "class": one_list(numbered + 1, pa.int32()),
            "classes": pa.array([total], pa.int32()),
        }
    )


def classify(
    plan: Mapping[str, Any],
    columns: Mapping[str, pa.Array | None],
    given: Mapping[str, Any],
    trees: Mapping[str, Any],
) -> tuple[QuasiTable, Classes, Classes | None]:
    """The table, the class of each of its rows and the nodes that a method chose, rows as they
    came."""
    table, call, method = prepare(plan, columns, given, trees)
    return table, *run(table, call, method, plan["suppressed"])


def run(
    table: QuasiTable, call: methods.Call, method: methods.Method, mode: str
) -> tuple[Classes, Classes | None]:
    """The class of each row and the nodes that the method chose, rows as they came.

    mode: 'keep' or 'drop', what becomes of suppressed rows.
    """
    if call.constraint.k == 1 and not method.given:
        return np.arange(table.rows, dtype=np.int32), None
    found = method.run(table, call)
    if found.nodes is not None:
        placed = accompany_suppressed(found.classes, call.constraint, mode)
        return as_came(table, placed), as_came(table, found.nodes)
    placed = place_suppressed(table, found.classes, call.constraint, mode, call.workers)
    return as_came(table, placed), None


def as_came(table: QuasiTable, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Values in canonical order -> in the order of the packed lists."""
    result = np.empty_like(values)
    result[table.order] = values
    return result


def prepare(
    plan: Mapping[str, Any],
    columns: Mapping[str, pa.Array | None],
    given: Mapping[str, Any],
    trees: Mapping[str, Any],
) -> tuple[QuasiTable, methods.Call, methods.Method]:
    """The table, the call and the method of a plan, or AnonError where they do not fit."""
    function = plan["function"]
    interrupt.begin()
    compiling.announce()
    refuse_identifying(function, plan["k"], columns)
    types = dict(zip(plan["quasi"], plan["types"], strict=True))
    known = {name: values for name, values in columns.items() if values is not None}
    workers = Workers(function, plan["threads"])
    table = read(function, types, known, known[HELPER + "hash"], workers, trees)
    constraint = Constraint(plan["k"])
    constraint.require(function, table.rows)
    method = methods.find(function)
    call = methods.Call(
        function,
        constraint,
        plan["seed"],
        workers,
        options.read(function, method.options, given),
        _given_classes(plan, table, known),
    )
    return table, call, method


def _given_classes(
    plan: Mapping[str, Any], table: QuasiTable, columns: Mapping[str, pa.Array]
) -> Classes | None:
    """Class ids from a column of any type, in canonical order; -1 where it is NULL."""
    if plan["classes"] is None:
        return None
    coded = columns[plan["classes"]]
    if not pa.types.is_dictionary(coded.type):
        coded = coded.dictionary_encode()
    ids = np.where(valid(coded), integers(coded.indices.cast(pa.int32())), -1)
    return dense(ids[table.order].astype(np.int32))


def refuse_identifying(function: str, k: int, columns: Mapping[str, pa.Array | None]) -> None:
    """A column without a role whose values are all distinct would identify every row."""
    prefix = HELPER + "mark_"
    for name, hashes in columns.items():
        if hashes is None or not name.startswith(prefix) or name == prefix + HELPER + "zero":
            continue
        values = hashes.drop_null().to_numpy(zero_copy_only=False)
        if len(values) <= k or len(np.unique(values[:1000])) < len(values[:1000]):
            continue
        if len(np.unique(values)) == len(values):
            raise AnonError(
                function,
                "a column whose values are all distinct needs a role",
                f"none for {name.removeprefix(prefix)} ({len(values):,} values)",
                "name it in identifiers, qids, sensitive or keep",
            )


def _describe(
    plan: Mapping[str, Any],
    column: Column,
    order: npt.NDArray[np.int32],
    starts: npt.NDArray[np.int64],
    starred: bool,
    nodes: Classes | None,
) -> pa.StructArray:
    """What one column's labels are made of, a value for each class.

    order, starts: the rows class by class; starred: the last class is of suppressed rows; nodes:
    of a hierarchy, one for each row, where the method has chosen them.
    """
    from anon_sql.kernels import grouping

    if isinstance(column, Hierarchical):
        return _part(**described(plan, column, order, starts, starred, nodes))
    if isinstance(column, Numbers):
        low, high, nulls = grouping.extremes(order, starts, column.keys, column.present)
        mixed = (nulls > 0) & (low >= 0)
        mixed[-1] |= starred
        ends = [
            np.where(mixed, MIXED, np.where(at < 0, NULLS, at + 1)).astype(np.int32)
            for at in (low, high)
        ]
        return _part(low=one_list(ends[0], pa.int32()), high=one_list(ends[1], pa.int32()))
    ends_, flat = grouping.distinct(order, starts, column.codes)
    _, once, label_of = np.unique(
        grouping.set_hashes(ends_, flat), return_index=True, return_inverse=True
    )
    known = column.values.to_pylist()
    sets = [labels.words(flat[ends_[at] : ends_[at + 1]].tolist(), known) for at in once]
    if starred:
        label_of[-1] = len(sets)
        sets.append(None)
    written = {value: labels.text(value) for value in known}
    texts = [
        labels.STAR if s is None else labels.joined([written[v] for v in s]) if s else None
        for s in sets
    ]
    _require_truth(plan["function"], column, texts, label_of, (order, starts), known)
    label = one_list((label_of + 1).astype(np.int32), pa.int32())
    if plan["format"] == "typed":
        return _part(label=label, sets=one_list(sets, pa.list_(pa.string())))
    return _part(label=label, texts=one_list(texts, pa.string()))


def _require_truth(
    function: str,
    column: Categories,
    texts: list[str | None],
    label_of: npt.NDArray[np.int64],
    grouped: tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]],
    known: list[str],
) -> None:
    """Read every printed label back and look whether each row's own value is among its values."""
    from anon_sql.kernels.truth import outside_set

    code_of = {word: code for code, word in enumerate(known)}
    every = list(range(column.null_code + 1))
    flat: list[int] = []
    ends = [0]
    for text in texts:
        found = None if text is None else labels.values(text)
        if text is None:
            flat.append(column.null_code)
        elif found is None:
            flat.extend(every)
        else:
            flat.extend([code_of[word] for word in found])
        ends.append(len(flat))
    wrong = outside_set(
        *grouped, label_of, column.codes, np.array(ends, np.int64), np.array(flat, np.int32)
    )
    if wrong:
        raise AnonError(
            function,
            "every value must lie in its label",
            f"{wrong} values of {column.name} that do not",
            "nothing was released; please report this",
        )


def _part(**given: pa.ListArray) -> pa.StructArray:
    return one_struct(
        {
            field.name: given.get(field.name, one_list(None, field.type.value_type))
            for field in _PART
        }
    )


def _result_type() -> pa.DataType:
    return pa.struct(
        [
            ("columns", pa.map_(pa.string(), _PART)),
            ("class", pa.list_(pa.int32())),
            ("classes", pa.int32()),
        ]
    )
