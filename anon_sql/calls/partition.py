"""Rows in, classes and what their labels are made of out: the first of two calls.

``calls.check`` then looks at what was printed.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql import compiling, intake, interrupt, methods, options
from anon_sql.arrow import first, integers, lists, one_list, one_map, one_struct, valid
from anon_sql.calls.binding import HELPER
from anon_sql.calls.describe import PART, describe, label_count
from anon_sql.calls.protection import constraint_of
from anon_sql.errors import AnonError
from anon_sql.joining import accompany_suppressed, dense, place_suppressed
from anon_sql.protecting import protect
from anon_sql.registry import udf
from anon_sql.table import QuasiTable, read
from anon_sql.workers import Workers

PARTS = (
    "STRUCT(columns MAP(VARCHAR, STRUCT(low INTEGER[], high INTEGER[], label INTEGER[], "
    "texts VARCHAR[], sets VARCHAR[][])), class INTEGER[], labels INTEGER)"
)
Classes = npt.NDArray[np.int32]


@udf("__anon_partition", PARTS, volatile=True)
def partition(plans: Any, numbers: Any, taken: Any, given: Any, trees: Any) -> pa.Array:
    """Run a method and describe its classes, the suppressed rows as the last one.

    numbers: of the intake that has the rows; taken: which of them stands at each place of the
    lists, in whose order all that is returned is.
    """
    from anon_sql.kernels import grouping

    held = taken.combine_chunks() if isinstance(taken, pa.ChunkedArray) else taken
    if not held.is_valid()[0].as_py():
        return pa.array([None], _result_type())
    plan, number = first(plans), first(numbers)
    rows = intake.claim(number)
    workers = Workers(plan["function"], plan["threads"])
    columns = rows.settled(integers(held.values), workers)
    table, call, method = prepare(plan, columns, first(given) or {}, lists(trees))
    classes, nodes = run(table, call, method, plan["suppressed"])
    count = int(classes.max()) + 1
    suppressed = bool((classes < 0).any())
    total = count + suppressed
    numbered = np.where(classes < 0, np.int32(count), classes).astype(np.int32)
    if call.real is None:
        grouped = numbered, *grouping.group(numbered, total)
    else:  # labels are made of real rows; the others come last, as a class without one
        counted = np.where(as_came(table, call.real), numbered, np.int32(total))
        order, starts = grouping.group(counted, total + 1)
        grouped = counted, order[: starts[total]], starts[: total + 1]
    chosen = [None] * len(table.columns) if nodes is None else list(nodes.T)
    jobs = [
        (plan, column, *grouped, suppressed, node_of)
        for column, node_of in zip(table.columns, chosen, strict=True)
    ]
    parts = workers.map(describe, jobs, [table.rows] * len(jobs))
    intake.back(number, rows)
    return one_struct(
        {
            "columns": one_map([column.name for column in table.columns], parts, PART),
            "class": one_list(numbered + 1, pa.int32()),
            "labels": pa.array([max(map(label_count, parts), default=0)], pa.int32()),
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
    asked = call.constraint.k > 1 or call.constraint.rules is not None or call.real is not None
    if not asked and not method.given:
        return np.arange(table.rows, dtype=np.int32), None
    found = settled(table, call, method, mode)
    nodes = None if found.nodes is None else as_came(table, found.nodes)
    return as_came(table, found.classes), nodes


def settled(
    table: QuasiTable, call: methods.Call, method: methods.Method, mode: str
) -> methods.Partition:
    """What a method finds, its classes as they are released: suppressed rows have company, and
    every class is legal."""
    found: methods.Partition = method.run(table, call)
    if found.nodes is not None:
        return replace(found, classes=accompany_suppressed(found.classes, call.constraint, mode))
    placed = place_suppressed(table, found.classes, call.constraint, mode, call.workers)
    return replace(found, classes=protect(table, placed, call.constraint, call.workers))


def as_came(table: QuasiTable, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Values in canonical order -> in the order of the lists."""
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
    real = real_rows(columns)
    refuse_identifying(function, plan["k"], columns, real)
    types = dict(zip(plan["quasi"], plan["types"], strict=True))
    known = {name: values for name, values in columns.items() if values is not None}
    workers = Workers(function, plan["threads"])
    table = read(function, types, known, known[HELPER + "hash"], workers, trees)
    counted = None if real is None else real[table.order]
    order = table.order if counted is None else table.order[counted]
    constraint = constraint_of(plan, known, trees, order)
    constraint.require(function, len(order))
    method = methods.find(function)
    call = methods.Call(
        function,
        constraint,
        plan["seed"],
        workers,
        options.read(function, method.options, given),
        _given_classes(plan, table, known),
        counted,
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


def real_rows(columns: Mapping[str, pa.Array | None]) -> npt.NDArray[np.bool_] | None:
    """Which rows were not added by a method, bool[n]; None where none is."""
    made = columns.get(HELPER + "made")
    added = None if made is None else integers(made) == 1
    return None if added is None or not added.any() else ~added


def refuse_identifying(
    function: str,
    k: int,
    columns: Mapping[str, pa.Array | None],
    real: npt.NDArray[np.bool_] | None = None,
) -> None:
    """A column without a role whose values are all distinct would identify every row.

    real: which rows count, None for all.
    """
    prefix = HELPER + "mark_"
    for name, hashes in columns.items():
        if hashes is None or not name.startswith(prefix) or name == prefix + HELPER + "zero":
            continue
        counted = hashes if real is None else hashes.filter(pa.array(real))
        values = counted.drop_null().to_numpy(zero_copy_only=False)
        if len(values) <= k or len(np.unique(values[:1000])) < len(values[:1000]):
            continue
        if len(np.unique(values)) == len(values):
            raise AnonError(
                function,
                "a column whose values are all distinct needs a role",
                f"none for {name.removeprefix(prefix)} ({len(values):,} values)",
                "name it in identifiers, qids, sensitive or keep",
            )


def _result_type() -> pa.DataType:
    return pa.struct(
        [
            ("columns", pa.map_(pa.string(), PART)),
            ("class", pa.list_(pa.int32())),
            ("labels", pa.int32()),
        ]
    )
