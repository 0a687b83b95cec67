"""``query_error``: the statement that a call becomes while it is bound, and its last step."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.core.arrow import first, integers, one_list
from anon_sql.core.names import literal
from anon_sql.core.roles import fold
from anon_sql.errors import AnonError
from anon_sql.hosts.duckdb.calls.binding import committed
from anon_sql.hosts.duckdb.measuring import Given, declared, listed
from anon_sql.hosts.duckdb.query_statement import statement
from anon_sql.hosts.duckdb.registry import sql_type, udf
from anon_sql.measures.pair import Pair
from anon_sql.queries.distinct import distinct
from anon_sql.queries.formula import KEPT
from anon_sql.queries.prepare import Workload, prepare
from anon_sql.queries.quasi import Quasi
from anon_sql.queries.query_error import MODE, ROW, query_error, require_kept
from anon_sql.queries.released import Answers, Groups

_NOTHING = f"SELECT unnest(NULL::{sql_type(ROW)}[], recursive := true) WHERE error("


@udf("__anon_query_statement", "VARCHAR")
def bound(
    function: Any, scope: Any, released: Any, queries: Any, mode: Any, hierarchy: Any
) -> pa.Array:
    """The SQL that answers the queries, or SQL that stops with the sentence of an AnonError."""
    try:
        text = compose(*map(first, (function, scope, released, queries, mode, hierarchy)))
    except AnonError as wrong:
        text = f"{_NOTHING}{literal(str(wrong))}) IS NULL"
    return pa.array([text])


@udf("__anon_query_rewritten", "VARCHAR")
def rewritten(
    function: Any, scope: Any, released: Any, queries: Any, mode: Any, hierarchy: Any
) -> pa.Array:
    """The same text, or an AnonError."""
    asked = zip(function, scope, released, queries, mode, hierarchy, strict=True)
    return pa.array([compose(*(value.as_py() for value in call)) for call in asked], pa.string())


def compose(
    function: str,
    scope: Mapping[str, Any],
    released: Any,
    queries: Any,
    mode: Any,
    hierarchy: str | None,
) -> str:
    """One statement for all queries. Raises AnonError."""
    texts = [queries] if isinstance(queries, str) else queries
    if not isinstance(texts, list) or not texts:
        got = "NULL" if texts is None else "an empty list" if texts == [] else "another type"
        raise AnonError(function, "queries must be a list of SELECT statements", got)
    form = MODE.read(function, "mode", mode)
    raw = scope["relation"]
    for relation in (raw, released):
        if not isinstance(relation, str):
            raise AnonError(function, "raw and released must be names of relations", "NULL")
    quasi = _quasi(scope)
    work = prepare(function, raw, tuple(texts), frozenset(quasi))
    table = committed(scope)
    hidden = {fold(name) for name in declared(table, "quasi")} - quasi
    for column in work.kept:
        if column in hidden:
            got = f"{work.kept[column]}, which is declared and left out of qids"
            hint = "add it to qids"
            raise AnonError(function, "a query must name quasi-identifiers of the call", got, hint)
    qids = None if scope["qids"] is None else listed(scope["qids"])
    types = None if table is None else dict(zip(map(fold, table.names), table.types, strict=True))
    return statement(work, function, form, quasi, raw, released, qids, hierarchy, types)


def _quasi(scope: Mapping[str, Any]) -> set[str]:
    """Folded names. The check of the call compares them with the roles again when it runs."""
    if scope["qids"] is not None:
        return {fold(name) for name in listed(scope["qids"])}
    try:
        return {fold(name) for name in declared(committed(scope), "quasi")}
    except AnonError:
        return set()


@udf("__anon_query_compared", f"{sql_type(ROW)}[]")
def compared(call: Any, given: Any, known: Any, groups: Any, kept: Any, answers: Any) -> pa.Array:
    """A row per query and group, or an AnonError.

    call: what was asked; given: see ``Given``; known: of each quasi-identifier that queries name,
    in their order, distinct values and the conditions on each; groups: released rows that are
    alike; kept: types and ranges of kept columns; answers: of the raw table.
    """
    asked = first(call)
    function, names = asked["function"], frozenset(fold(name) for name in asked["quasi"])
    told = Given(function, given)
    work = prepare(function, told.call["relation"], tuple(asked["queries"]), names)
    held = {fold(one["name"]): one for one in first(kept) or []}
    pair = told.pair()
    pair.require_no_more_rows()
    pair.losses  # noqa: B018 - labels that cannot be read are an error
    require_kept(function, work, held)
    quasi = _columns(told, pair, work, known[0])
    labels, found = _groups(work, groups[0])
    dropped = pair.rows - pair.released_rows
    mode, actual = asked["mode"], _answers(answers[0])
    return one_list(query_error(work, mode, quasi, labels, found, dropped, held, actual), ROW)


def _columns(told: Given, pair: Pair, work: Workload, known: Any) -> dict[str, Quasi]:
    """The quasi-identifiers that queries name, by folded name."""
    domains = {fold(domain.name): domain for domain in pair.domains}
    found = {}
    for at, name in enumerate(work.quasi):
        listed, conditions = known[f"c{at}"], list(work.truths[name])
        rows = listed.values if listed.is_valid else pa.array([], listed.type.value_type)
        found[name] = Quasi(
            told.function,
            domains[name],
            told.ends(domains[name].name),
            rows.field("value"),
            _booleans(rows.field("truths"), len(conditions)),
            conditions,
            work.constants.get(name, []),
            told.value("time_zone"),
        )
    return found


def _groups(work: Workload, groups: Any) -> tuple[dict[str, pa.Array], Groups]:
    """The distinct labels of each quasi-identifier, and the groups of released rows."""
    if not groups["rows"].is_valid:
        none = {name: pa.array([], pa.string()) for name in work.quasi}
        nothing = np.zeros((0, len(work.truths.get(KEPT, {}))), dtype=np.bool_)
        codes = {name: np.zeros(0, dtype=np.int64) for name in work.quasi}
        numbers = np.zeros((0, len(work.numbers)))
        return none, Groups(np.zeros(0), codes, nothing, [], numbers)
    rows = integers(groups["rows"].values).astype(np.float64)
    coded = {
        name: distinct(groups["labels"][f"c{at}"].values) for at, name in enumerate(work.quasi)
    }
    numbers = groups["numbers"].values.flatten().fill_null(np.nan)
    return {name: shown for name, (shown, _) in coded.items()}, Groups(
        rows,
        {name: codes for name, (_, codes) in coded.items()},
        _booleans(groups["truths"].values, len(work.truths.get(KEPT, {}))),
        groups["keys"].values.to_pylist() if work.groups else [],
        numbers.to_numpy(zero_copy_only=False).reshape(len(rows), -1),
    )


def _booleans(lists: pa.Array, width: int) -> npt.NDArray[np.bool_]:
    """bool[n, width] of lists of so many BOOLEANs."""
    flat: npt.NDArray[np.bool_] = integers(lists.flatten()).astype(np.bool_)
    return flat.reshape(len(lists), width)


def _answers(struct: Any) -> Answers:
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
