"""All queries of a call as one SQL statement: on the raw table as they are, on the release by
what its labels may hold.

DuckDB evaluates every condition itself: the queries on the raw table, blocks of kept columns on
the released rows, blocks of a quasi-identifier on its axis (``__anon_query_axis``). Each label
is read once. What is left to do is to look labels up on the axes and to add (``run``).
"""

import re
from collections.abc import Sequence

from anon_sql.relation import quote, split
from anon_sql.roles import fold
from anon_sql.workload.formula import KEPT
from anon_sql.workload.nodes import below, least, parted, points, read, text_literal
from anon_sql.workload.prepare import Workload

_PACKED = "{'query': list(__anon_query), 'keys': list(__anon_keys), 'answer': list(__anon_answer)}"
_ONE_NAME = re.compile(r'[A-Za-z_]\w*|"(?:[^"]|"")+"')
_HELD = (
    "STRUCT(name VARCHAR, raw VARCHAR, released VARCHAR, least DOUBLE, most DOUBLE, strange BIGINT)"
)
_NO_TREE = "'leaves': NULL, 'lacks': 0"
_COLUMN = (
    "STRUCT(name VARCHAR, axis STRUCT(kind VARCHAR, step BIGINT[], printed VARCHAR[], "
    "place DOUBLE[], truths BOOLEAN[][]), read STRUCT(code BIGINT[], said STRUCT(star BOOLEAN, "
    "empty BOOLEAN, low VARCHAR, high VARCHAR, members VARCHAR[])[]), nulls BOOLEAN, "
    "leaves VARCHAR[][], lacks BIGINT)"
)


def _list(items: Sequence[str], kind: str) -> str:
    return f"[{', '.join(items)}]::{kind}[]"


def _keys(names: Sequence[str]) -> str:
    return _list([f"{quote(name)}::VARCHAR" for name in names], "VARCHAR")


def _named(relation: str) -> str:
    """A relation in FROM: by its name where it has no dot, which is read faster than a text."""
    plain = _ONE_NAME.fullmatch(relation)
    return quote(split(relation)[0]) if plain else f"query_table({text_literal(relation)})"


def _all(queries: Sequence[str]) -> str:
    """UNION ALL as a tree, since a chain of a thousand is too deep."""
    if len(queries) == 1:
        return queries[0]
    half = len(queries) // 2
    return f"({_all(queries[:half])})\nUNION ALL\n({_all(queries[half:])})"


def literal(work: Workload, check: str, call: str, raw: str, released: str, forest: str) -> str:
    """The statement for ``mode := 'literal'``: the queries as they are, on minimum values."""
    names = [*work.quasi.values(), *work.kept.values()]
    labels, source = "", "__anon_shown, __anon_types"
    shown = [
        f"__anon_query_literal(__anon_types.{quote(name)}, __anon_types.{quote(name)}, "
        f"__anon_shown.{quote(name)}) AS {quote(name)}"
        for name in work.quasi.values()
    ]
    if forest:
        quasi = list(enumerate(work.quasi.values(), 1))
        shown = [f"__anon_worth_{at}.__anon_worth AS {quote(name)}" for at, name in quasi]
        labels = f"{forest}{''.join(',' + least(at, name) for at, name in quasi)},"
        source = "__anon_shown" + "".join(
            f"\n    LEFT JOIN __anon_worth_{at} "
            f"ON __anon_shown.{quote(name)} IS NOT DISTINCT FROM __anon_worth_{at}.__anon_shown"
            for at, name in quasi
        )
    shown += [f"__anon_shown.{quote(name)}" for name in work.kept.values()]
    types = ", ".join(f"list_extract(list({quote(name)}), 0) AS {quote(name)}" for name in names)
    return f"""WITH
__anon_raw AS (FROM query_table({text_literal(raw)})),
__anon_shown AS (FROM query_table({text_literal(released)})),
__anon_checked AS MATERIALIZED (SELECT __anon_rows AS rows FROM {check}),
__anon_types AS (SELECT {types or "0 AS __anon_zero"} FROM (FROM __anon_raw LIMIT 0)),{labels}
__anon_least AS (SELECT {", ".join(shown) or "0 AS __anon_zero"} FROM {source}),
__anon_answers AS (
{answers(work, _named(raw))}
),
__anon_found AS (
{answers(work, "__anon_least")}
)
SELECT unnest(__anon_query_compared(
    {call},
    NULL, NULL,
    {_held_list(work)},
    (SELECT {_PACKED} FROM __anon_answers),
    (SELECT {_PACKED} FROM __anon_found)), recursive := true)"""


def answers(work: Workload, relation: str) -> str:
    """Each query as it stands on a relation: number, values of GROUP BY, result."""
    found = []
    for at, query in enumerate(work.queries):
        where = "" if query.where is None else f" WHERE {query.where.sql('duckdb', comments=False)}"
        groups = ", ".join(map(quote, query.groups))
        grouped = f" GROUP BY {groups}" if groups else ""
        keys = _keys(query.groups) if groups else "NULL::VARCHAR[]"
        call = f"{query.call}::DOUBLE" if query.aggregate == "count" else ""
        found.append(
            f"SELECT {at} AS __anon_query, {keys} AS __anon_keys, "
            f"{call or f'TRY_CAST({query.call} AS DOUBLE)'} AS __anon_answer "
            f"FROM {relation}{where}{grouped}"
        )
    return _all(found)


def _axis(at: int, name: str, work: Workload, by_hierarchy: bool) -> tuple[str, str]:
    """The CTEs of a quasi-identifier, and their result as one struct."""
    column, raw, folded = quote(name), "__anon_raw", fold(name)
    truths = _list([f"coalesce({sql}, false)" for sql in work.truths[folded]], "BOOLEAN")
    constants = _list(list(map(text_literal, work.constants.get(folded, []))), "VARCHAR")
    looked = points(at, name, constants) if by_hierarchy else _points(at, column, constants)
    ctes = f"""
__anon_labels_{at} AS MATERIALIZED (
    SELECT __anon_codes[{at}] AS __anon_code, any_value({column}) AS __anon_shown
    FROM __anon_classes, __anon_checked GROUP BY 1
),
__anon_values_{at} AS (SELECT {column} AS __anon_value FROM {raw}),{
        parted(at, name) + "," if by_hierarchy else ""
    }{looked},
__anon_axis_{at} AS (
    SELECT
        typeof(any_value({column})) AS kind,
        list(__anon_at) AS step,
        list(__anon_printed) AS printed,
        list(__anon_place) AS place,
        list({truths}) AS truths
    FROM __anon_points_{at}
),{read(at, name) if by_hierarchy else _read(at, column)}"""
    nulls = f"(SELECT count(*) > count({column}) FROM {raw})"
    return ctes, (
        f"{{'name': {text_literal(name)}, 'axis': (SELECT __anon_axis_{at} FROM __anon_axis_{at}), "
        f"'read': (SELECT __anon_read_{at} FROM __anon_read_{at}), 'nulls': {nulls}, "
        f"{below(at, name) if by_hierarchy else _NO_TREE}}}"
    )


def _points(at: int, column: str, constants: str) -> str:
    return f"""
__anon_points_{at} AS MATERIALIZED (
    SELECT __anon_at, __anon_printed, __anon_place, __anon_value AS {column}
    FROM __anon_query_axis('__anon_labels_{at}', '__anon_values_{at}', {constants})
)"""


def _read(at: int, column: str) -> str:
    return f"""
__anon_read_{at} AS (
    SELECT
        list(__anon_code) AS code,
        list(__anon_query_label({column}, {column}, __anon_shown)) AS said
    FROM __anon_labels_{at}, (SELECT {column} FROM __anon_points_{at} WHERE __anon_at = 0)
)"""


def _held(name: str, aggregated: bool) -> str:
    """What the check of a kept column needs: types, range, and values that raw does not have."""
    column, ends = quote(name), ["NULL", "NULL"]
    if aggregated:
        ends = [
            f"(SELECT TRY_CAST({end}({column}) AS DOUBLE) FROM __anon_raw)"
            for end in ("min", "max")
        ]
    return f"""{{
        'name': {text_literal(name)},
        'raw': (SELECT typeof(any_value({column})) FROM __anon_raw),
        'released': (SELECT typeof(any_value({column})) FROM __anon_shown),
        'least': {ends[0]},
        'most': {ends[1]},
        'strange': (SELECT count(*) FROM (
            SELECT {column}::VARCHAR FROM __anon_shown
            EXCEPT SELECT {column}::VARCHAR FROM __anon_raw))}}"""


def _held_list(work: Workload) -> str:
    return _list([_held(name, key in work.numbers) for key, name in work.kept.items()], _HELD)


def estimates(work: Workload, check: str, call: str, raw: str, released: str, forest: str) -> str:
    """The statement for ``mode := 'estimate'``; check: what looks at the call
    as a whole; call: what the last function is told first; forest: the CTE of the hierarchies."""
    quasi = list(work.quasi.values())
    number = [f"TRY_CAST({quote(work.kept[name])} AS DOUBLE)" for name in work.numbers]
    shown = "".join(f"{quote(name)}, " for name in quasi)
    ranks = [f"dense_rank() OVER (ORDER BY {quote(name)} IS NULL, {quote(name)})" for name in quasi]
    axes = [_axis(at, name, work, bool(forest)) for at, name in enumerate(quasi, 1)]
    truths = _list([f"coalesce({sql}, false)" for sql in work.truths.get(KEPT, [])], "BOOLEAN")
    columns = ",\n        ".join(struct for _, struct in axes)
    return f"""WITH
__anon_raw AS (FROM query_table({text_literal(raw)})),
__anon_shown AS (FROM query_table({text_literal(released)})),
__anon_checked AS MATERIALIZED (SELECT __anon_rows AS rows FROM {check}),
__anon_answers AS (
{answers(work, _named(raw))}
),
__anon_grouped AS MATERIALIZED (
    SELECT
        {shown}{truths} AS __anon_truths,
        {_keys([work.kept[name] for name in work.groups])} AS __anon_keys,
        {_list(number, "DOUBLE")} AS __anon_numbers,
        count(*) AS __anon_rows
    FROM __anon_shown GROUP BY ALL
),
__anon_classes AS MATERIALIZED (
    SELECT *, {_list(ranks, "BIGINT")} AS __anon_codes FROM __anon_grouped
){"," + forest if forest else ""}{"".join("," + ctes for ctes, _ in axes)}
SELECT unnest(__anon_query_compared(
    {call},
    (SELECT {{'codes': list(__anon_codes), 'truths': list(__anon_truths), 'keys': list(__anon_keys),
        'numbers': list(__anon_numbers), 'rows': list(__anon_rows)}} FROM __anon_classes),
    [{columns}]::{_COLUMN}[],
    {_held_list(work)},
    (SELECT {_PACKED} FROM __anon_answers),
    NULL), recursive := true)"""
