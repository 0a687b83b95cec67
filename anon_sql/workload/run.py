"""The last step of ``query_error``: what DuckDB evaluated, added up for every query."""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from anon_sql.arrow import first
from anon_sql.columns import is_number
from anon_sql.errors import AnonError
from anon_sql.registry import udf
from anon_sql.roles import fold
from anon_sql.workload.bounds import Answer
from anon_sql.workload.prepare import Workload, prepare
from anon_sql.workload.query import Query
from anon_sql.workload.released import Keys, Released, by_keys

RESULT = (
    'STRUCT(query VARCHAR, "group" MAP(VARCHAR, VARCHAR), actual DOUBLE, estimate DOUBLE, '
    "lower DOUBLE, upper DOUBLE, relative_error DOUBLE, absolute_error DOUBLE)[]"
)
_ROW = pa.struct(
    [
        ("query", pa.string()),
        ("group", pa.map_(pa.string(), pa.string())),
        *((name, pa.float64()) for name in ("actual", "estimate", "lower", "upper")),
        ("relative_error", pa.float64()),
        ("absolute_error", pa.float64()),
    ]
)
_TIMES = ("DATE", "TIME", "TIMESTAMP")


@udf("__anon_query_compared", RESULT)
def compared(
    call: Any, classes: Any, columns: Any, kept: Any, answers: Any, literal: Any
) -> pa.Array:
    """A row per query and group, or an AnonError.

    call: what was asked and what the check of the call found; classes: released rows, alike ones
    merged; columns: the axis and labels of each quasi-identifier; kept: types and ranges of kept
    columns; answers: of the raw table; literal: answers of the release, where that is the mode.
    """
    asked = first(call)
    function = asked["function"]
    quasi = frozenset(fold(name) for name in asked["quasi"])
    work = prepare(function, asked["raw"], tuple(asked["queries"]), quasi)
    held = {fold(one["name"]): one for one in first(kept) or []}
    _require_kept(function, work, held)
    actual = _answers(answers[0])
    if literal[0].is_valid:
        found = _literal(work, actual, _answers(literal[0]))
    else:
        found = Released(function, work, asked, classes[0], columns[0], held).found(actual)
    rows = [
        _row(work.queries[at], keys, actual.get((at, keys)), answer) for at, keys, answer in found
    ]
    return pa.array([rows], pa.list_(_ROW))


def _answers(struct: Any) -> dict[tuple[int, Keys], float | None]:
    queries, keys, values = (struct[name] for name in ("query", "keys", "answer"))
    if not queries.is_valid:
        return {}
    return {
        (at, tuple(key or ())): value
        for at, key, value in zip(
            queries.values.to_pylist(),
            keys.values.to_pylist(),
            values.values.to_pylist(),
            strict=True,
        )
    }


def _require_kept(function: str, work: Workload, held: dict[str, Any]) -> None:
    for column, one in held.items():
        name = one["name"]
        if one["raw"] != one["released"]:
            got = f"{name} as {one['raw']} and as {one['released']}"
            hint = "name it in qids where it is generalized"
            raise AnonError(function, "a kept column must have one type in both", got, hint)
        if one["strange"]:
            rule = "a kept column of the release must hold what the raw table holds"
            hint = "name it in qids where it is generalized"
            raise AnonError(function, rule, f"other values of {name}", hint)
        if column in work.numbers and (
            one["raw"].startswith(_TIMES) or not is_number(function, name, one["raw"])
        ):
            rule = "sum, avg, min and max are of numbers"
            raise AnonError(function, rule, f"{name} of type {one['raw']}")


def _literal(
    work: Workload,
    actual: dict[tuple[int, Keys], float | None],
    answers: dict[tuple[int, Keys], float | None],
) -> Iterator[tuple[int, Keys, Answer]]:
    """The answers of both, beside each other; literal values have no bounds."""
    for at, query in enumerate(work.queries):
        keys = {key for number, key in [*actual, *answers] if number == at}
        for key in sorted(keys, key=by_keys):
            nothing = 0.0 if query.aggregate == "count" else None
            yield at, key, (answers.get((at, key), nothing), None, None)


def _row(query: Query, keys: Keys, actual: float | None, answer: Answer) -> dict[str, Any]:
    estimate, lower, upper = answer
    if query.aggregate == "count" and actual is None:
        actual = 0.0
    error = None if actual is None or estimate is None else abs(actual - estimate)
    return {
        "query": query.text,
        "group": list(zip(query.groups, keys, strict=True)) if query.groups else None,
        "actual": actual,
        "estimate": estimate,
        "lower": lower,
        "upper": upper,
        "relative_error": error / abs(actual) if error is not None and actual else None,
        "absolute_error": error,
    }
