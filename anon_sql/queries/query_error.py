"""Compute the true answer, the estimate and the bounds of every query and group."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from anon_sql.core.columns import is_number, shown_type
from anon_sql.core.parameters import Choice, declare, param
from anon_sql.errors import AnonError
from anon_sql.measures.pair import PairColumns
from anon_sql.queries.axis import (
    ConditionAxis,
    Quasi,
    axis_of_leaves,
    axis_of_numbers,
    axis_of_words,
)
from anon_sql.queries.query import Query, Workload
from anon_sql.queries.released import (
    Answer,
    AnswerGroups,
    Answers,
    Keys,
    ReleasedAnswer,
    least_values,
)


@dataclass(frozen=True)
class Answering:
    """How a release answers queries."""

    mode: str = param(
        "estimate",
        Choice(("estimate", "literal")),
        "'estimate', or 'literal', which runs the query unchanged on the minimum of each label",
    )


for _name in ("query_error", "rewrite_query", "workload_error"):
    declare(_name, Answering, PairColumns)
ROW = pa.struct(
    [
        ("query", pa.string()),
        ("group", pa.map_(pa.string(), pa.string())),
        *((name, pa.float64()) for name in ("actual", "estimate", "lower", "upper")),
        ("relative_error", pa.float64()),
        ("absolute_error", pa.float64()),
    ]
)
_TIMES = ("DATE", "TIME", "TIMESTAMP")


def query_error(
    work: Workload,
    mode: str,
    quasi: Mapping[str, Quasi],
    labels: Mapping[str, pa.Array],
    groups: AnswerGroups,
    dropped: int,
    kept: Mapping[str, Mapping[str, Any]],
    actual: Answers,
) -> pa.Array:
    """Return a row of ``ROW`` per query and group.

    quasi, labels: the quasi-identifiers that queries name and their distinct labels, to which
    ``groups`` refers; kept: of each kept column ``least`` and ``most`` in the raw table, see
    ``require_kept``; all by folded name. dropped: rows that the release leaves out; actual: the
    answers of the raw table. Raises AnonError.
    """
    if mode == "literal":
        least = {name: least_values(column, labels[name]) for name, column in quasi.items()}
        literal = ReleasedAnswer(work, groups, least, 0, kept).answers(actual)
        answers = [
            (query_id, keys, _literal(work.queries[query_id], answer))
            for query_id, keys, answer in literal
        ]
    else:
        axes = {name: _axis(column, labels[name]) for name, column in quasi.items()}
        answers = list(ReleasedAnswer(work, groups, axes, dropped, kept).answers(actual))
    rows = [
        _row(work.queries[query_id], keys, actual.get((query_id, keys)), answer)
        for query_id, keys, answer in answers
    ]
    return pa.array(rows, ROW)


def _axis(quasi: Quasi, labels: pa.Array) -> ConditionAxis:
    column = quasi.domain
    if column.tree is not None:
        return axis_of_leaves(quasi, column.tree, labels)
    return axis_of_numbers(quasi, labels) if column.number else axis_of_words(quasi, labels)


def require_kept(function: str, work: Workload, kept: Mapping[str, Mapping[str, Any]]) -> None:
    """Raise AnonError unless kept columns suit the queries and are equal in raw table and release.

    kept: ``name``, SQL types in ``raw`` and ``released``, and how many ``strange`` values the
    release has that the raw table lacks, by folded name.
    """
    hint = "name it in quasi where it is generalized"
    for column, facts in kept.items():
        name = facts["name"]
        if facts["raw"] != facts["released"]:
            kinds = [shown_type(facts[side]) for side in ("raw", "released")]
            got = f"{name} as {' and as '.join(kinds)}"
            raise AnonError(function, "a kept column must have one type in both", got, hint)
        if facts["strange"]:
            rule = "a kept column of the release must hold what the raw table holds"
            raise AnonError(function, rule, f"other values of {name}", hint)
        if column in work.numbers and (
            facts["raw"].startswith(_TIMES) or not is_number(function, name, facts["raw"])
        ):
            rule = "sum, avg, min and max are of numbers"
            raise AnonError(function, rule, f"{name} of type {shown_type(facts['raw'])}")


def _literal(query: Query, answer: Answer) -> Answer:
    """Return an answer without bounds; a count is never NULL."""
    nothing = 0.0 if query.aggregate == "count" else None
    return Answer(nothing if answer.estimate is None else answer.estimate, None, None)


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
