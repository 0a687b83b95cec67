"""``query_error``, ``query_workload`` and ``classification``, as SQL calls them."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.core import stopping
from anon_sql.core.arrow import first, integers, lists, one_list
from anon_sql.core.labels.as_printed import RawValues, as_printed
from anon_sql.core.names import literal, quote
from anon_sql.core.parameters import read_group
from anon_sql.core.roles import fold
from anon_sql.errors import AnonError, Parameter
from anon_sql.hosts.duckdb.binding import HELPER, committed, flat_scope, scope_in, types_of
from anon_sql.hosts.duckdb.pair import PairInput, as_names, declared, roles_of
from anon_sql.hosts.duckdb.queries import statement
from anon_sql.hosts.duckdb.registry import remember, sql_type, udf
from anon_sql.measures.pair import Pair
from anon_sql.queries.axis import Quasi
from anon_sql.queries.classify import ROW as CLASSIFICATION_ROW
from anon_sql.queries.classify import Classification, ExampleGroups, classification, target_of
from anon_sql.queries.query import KEPT, Workload, prepare
from anon_sql.queries.query_error import ROW as QUERY_ERROR_ROW
from anon_sql.queries.query_error import Answering, query_error, require_kept
from anon_sql.queries.released import AnswerGroups, Answers, distinct
from anon_sql.queries.workload import DRAWN, RandomQueries, workload

_NOTHING = f"SELECT unnest(NULL::{sql_type(QUERY_ERROR_ROW)}[], recursive := true) WHERE error("


@udf("VARCHAR")
def answer_statement(
    function: Any, scope: Any, released: Any, queries: Any, mode: Any, hierarchy: Any
) -> pa.Array:
    """The SQL that answers the queries, or SQL that stops with the sentence of an AnonError."""
    try:
        text = compose(*map(first, (function, scope, released, queries, mode, hierarchy)))
    except AnonError as wrong:
        remember(wrong)
        text = f"{_NOTHING}{literal(str(wrong))}) IS NULL"
    return pa.array([text])


@udf("VARCHAR")
def rewritten(
    function: Any, scope: Any, released: Any, queries: Any, mode: Any, hierarchy: Any
) -> pa.Array:
    """The same text, or an AnonError."""
    calls = zip(function, scope, released, queries, mode, hierarchy, strict=True)
    return pa.array([compose(*(value.as_py() for value in call)) for call in calls], pa.string())


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
        rule = Parameter("queries") + " must be a list of SELECT statements"
        raise AnonError(function, rule, got)
    form = read_group(Answering, function, {"mode": mode}).mode
    scope = flat_scope(scope)
    raw = scope["relation"]
    for relation in (raw, released):
        if not isinstance(relation, str):
            both = Parameter("raw") + " and " + Parameter("released")
            raise AnonError(function, both + " must be names of relations", "NULL")
    quasi = _quasi(scope)
    work = prepare(function, raw, tuple(texts), frozenset(quasi))
    table = committed(scope)
    hidden = {fold(name) for name in declared(table, "quasi")} - quasi
    for column in work.kept:
        if column in hidden:
            raise AnonError(
                function,
                "a query must name quasi-identifiers of the call",
                f"{work.kept[column]}, which is declared and left out of " + Parameter("quasi"),
                "add it to " + Parameter("quasi"),
            )
    quasi_of_call = None if scope["quasi"] is None else as_names(scope["quasi"])
    types = None if table is None else dict(zip(map(fold, table.names), table.types, strict=True))
    return statement(work, function, form, quasi, raw, released, quasi_of_call, hierarchy, types)


def _quasi(scope: Mapping[str, Any]) -> set[str]:
    """Folded names. The check of the call compares them with the roles again when it runs."""
    if scope["quasi"] is not None:
        return {fold(name) for name in as_names(scope["quasi"])}
    try:
        return {fold(name) for name in declared(committed(scope), "quasi")}
    except AnonError:
        return set()


@udf(f"{sql_type(QUERY_ERROR_ROW)}[]")
def compared(
    call: Any, argument: Any, quasi_values: Any, groups: Any, kept: Any, answers: Any
) -> pa.Array:
    """A row per query and group, or an AnonError.

    call: the request; argument: see ``PairInput``; quasi_values: of each quasi-identifier that
    queries name, in their order, distinct values and the conditions on each; groups: released rows
    that are alike; kept: types and ranges of kept columns; answers: of the raw table.
    """
    request = first(call)
    function, names = request["function"], frozenset(fold(name) for name in request["quasi"])
    pair_input = PairInput(function, argument)
    work = prepare(function, pair_input.call["relation"], tuple(request["queries"]), names)
    kept_columns = {fold(column["name"]): column for column in first(kept) or []}
    pair = pair_input.pair()
    pair.require_no_more_rows()
    pair.losses  # noqa: B018 - labels that cannot be read are an error
    require_kept(function, work, kept_columns)
    quasi = _columns(pair_input, pair, work, quasi_values[0])
    labels, answer_groups = _groups(
        work, groups[0], {name: column.domain.raw for name, column in quasi.items()}
    )
    dropped = pair.rows - pair.released_rows
    mode, actual = request["mode"], _answers(answers[0])
    return one_list(
        query_error(work, mode, quasi, labels, answer_groups, dropped, kept_columns, actual),
        QUERY_ERROR_ROW,
    )


def _columns(
    pair_input: PairInput, pair: Pair, work: Workload, quasi_values: Any
) -> dict[str, Quasi]:
    """The quasi-identifiers that queries name, by folded name."""
    domains = {fold(domain.name): domain for domain in pair.domains}
    columns = {}
    for number, name in enumerate(work.quasi):
        listed, conditions = quasi_values[f"c{number}"], list(work.truths[name])
        rows = listed.values if listed.is_valid else pa.array([], listed.type.value_type)
        columns[name] = Quasi(
            pair_input.function,
            domains[name],
            pair_input.ends(domains[name].name),
            rows.field("value"),
            _booleans(rows.field("truths"), len(conditions)),
            conditions,
            work.constants.get(name, []),
            pair_input.value("time_zone"),
        )
    return columns


def _groups(
    work: Workload, groups: Any, raw: Mapping[str, RawValues]
) -> tuple[dict[str, pa.Array], AnswerGroups]:
    """The distinct labels of each quasi-identifier, and the groups of released rows; raw: the
    values of each."""
    if not groups["rows"].is_valid:
        none = {name: pa.array([], pa.string()) for name in work.quasi}
        nothing = np.zeros((0, len(work.truths.get(KEPT, {}))), dtype=np.bool_)
        codes = {name: np.zeros(0, dtype=np.int64) for name in work.quasi}
        numbers = np.zeros((0, len(work.numbers)))
        return none, AnswerGroups(np.zeros(0), codes, nothing, [], numbers)
    sizes = integers(groups["rows"].values).astype(np.int64)
    shown = {name: groups["labels"][f"c{number}"].values for number, name in enumerate(work.quasi)}
    coded = {name: distinct(labels) for name, labels in as_printed(shown, raw, sizes).items()}
    numbers = groups["numbers"].values.flatten().fill_null(np.nan)
    return {name: labels for name, (labels, _) in coded.items()}, AnswerGroups(
        sizes.astype(np.float64),
        {name: codes for name, (_, codes) in coded.items()},
        _booleans(groups["truths"].values, len(work.truths.get(KEPT, {}))),
        groups["keys"].values.to_pylist() if work.groups else [],
        numbers.to_numpy(zero_copy_only=False).reshape(len(sizes), -1),
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
        (query_number, tuple(key or ())): value
        for query_number, key, value in zip(
            queries.values.to_pylist(),
            keys.values.to_pylist(),
            values.values.to_pylist(),
            strict=True,
        )
    }


@udf(sql_type(pa.list_(DRAWN)))
def drawn(
    types: Any, groups: Any, scope: Any, seen: Any, parameters: Any, connections: Any
) -> pa.Array:
    """Return the queries; groups: rows that are alike, see ``__anon_groups``; connections:
    DuckDB's connection id."""
    stopping.belongs_to(first(connections))
    function, kinds, call, columns = (
        "query_workload",
        types_of(types),
        scope_in(scope),
        lists(groups),
    )
    options = read_group(RandomQueries, function, first(parameters))
    quasi = roles_of(function, kinds, call, first(seen), call["relation"]).quasi
    counts = columns[HELPER + "count"]
    random_queries = workload(
        {name: kinds[name] for name in quasi},
        {name: columns[name] for name in quasi},
        np.zeros(0, dtype=np.int64) if counts is None else integers(counts),
        options,
    )
    return one_list(random_queries, DRAWN)


@udf(f"{sql_type(CLASSIFICATION_ROW)}[]")
def classified(call: Any, argument: Any, raw: Any, released: Any) -> pa.Array:
    """Return accuracy and F-measure on the raw table and on the release, or raise AnonError.

    call: the parameters; argument: see ``PairInput``; raw, released: see ``__anon_learned``.
    """
    pair = PairInput("classification", argument).pair()
    pair.losses  # noqa: B018 - labels that cannot be read are an error
    quasi = pair.roles.quasi
    options = read_group(Classification, "classification", first(call))
    target = target_of(options.target, pair.types, quasi)
    tables = [
        _example_groups(data, lists(packed), quasi, target)
        for data, packed in (("raw", raw), ("released", released))
    ]
    accuracies = classification(options, pair.domains, tables[0], tables[1])
    return one_list(accuracies, CLASSIFICATION_ROW)


def _example_groups(
    data: str, groups: Mapping[str, pa.Array | None], quasi: Sequence[str], target: str
) -> ExampleGroups:
    """Return the grouped rows of one relation; data: 'raw' or 'released', for errors."""
    columns = {fold(name): values for name, values in groups.items()}
    answers = columns.get(fold(f"{HELPER}target_{target}"))
    if answers is None:
        raise AnonError("classification", "both tables must have the target and rows", data)
    return ExampleGroups(
        {name: columns[fold(name)] for name in quasi},
        answers.to_pylist(),
        integers(columns[HELPER + "count"]),
    )


@udf("VARCHAR")
def written(function: Any, arguments: Any) -> pa.Array:
    """Return the call of a function as SQL; arguments: struct of values by parameter name."""
    values: dict[str, Any] = first(arguments)
    named = ", ".join(f"{quote(name)} := {_written(value)}" for name, value in values.items())
    return pa.array([f"{first(function)}({named})"])


def _written(value: Any) -> str:
    """Return a value as a SQL literal."""
    if value is None:
        return "NULL"
    if isinstance(value, (bool, int, float, Decimal)):
        return str(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_written, value))}]"
    if isinstance(value, dict):
        fields = (f"{_written(name)}: {_written(field)}" for name, field in value.items())
        return f"{{{', '.join(fields)}}}"
    return "'" + str(value).replace("'", "''") + "'"
