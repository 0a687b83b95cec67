"""Compose one SQL statement from all queries of a call, guarded so that no error shows a value.

Conditions stop with a sentence of their own where DuckDB's would show a value. DuckDB casts a
column to the type of the constant that it is compared with (``city = 5``), and the error of such a
cast names the value that it cannot cast.

DuckDB answers the queries on the raw table unchanged, and groups the released rows by labels, by
conditions on kept columns, and by the kept columns that queries group by or aggregate. ``queries``
then estimates the answers on the release from these groups.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from anon_sql.core.duckdb_internals.hashing import hash_of
from anon_sql.core.names import literal, quote, split
from anon_sql.core.roles import fold
from anon_sql.queries.query import KEPT, Workload, prepare

if TYPE_CHECKING:
    from sqlglot import exp
else:
    from anon_sql.core import sql_trees as exp

_TEXT = r"VARCHAR|JSON|ENUM\(.*\)"
_WIDTHS = {31: "INTEGER", 63: "BIGINT", 127: "HUGEINT", 128: "UHUGEINT"}  # bits of an integer
_MAX_DIGITS = 38  # digits of a DECIMAL
Types = Mapping[str, str] | None  # by folded name; None where a relation is not known when it binds


def guarded(function: str, condition: exp.Expression, text: str, types: Types) -> str:
    """Return a condition that ``query`` has let through as SQL; text: as it is printed where no
    cast can fail."""
    stops: dict[int, str] = {}
    waiting = [condition]
    while waiting:
        node = waiting.pop()
        if isinstance(node, (exp.And, exp.Or)):
            waiting += [node.this, node.expression]
        elif isinstance(node, (exp.Not, exp.Paren)):
            waiting.append(node.this)
        elif guard := _guard(function, node, types):
            stops[id(node)] = guard
    return _printed(condition, stops) if stops else text


def _printed(node: Any, stops: Mapping[int, str]) -> str:
    if isinstance(node, (exp.And, exp.Or)):
        word = " AND " if isinstance(node, exp.And) else " OR "
        return word.join(f"({_printed(side, stops)})" for side in node.flatten())
    if isinstance(node, exp.Not):
        return f"NOT ({_printed(node.this, stops)})"
    if isinstance(node, exp.Paren):
        return _printed(node.this, stops)
    return stops.get(id(node)) or str(node.sql("duckdb", comments=False))


def _guard(function: str, condition: exp.Expression, types: Types) -> str:
    """A comparison that stops where a cast fails; "" where none can."""
    columns = [column.name for column in condition.find_all(exp.Column)]
    fails = dict.fromkeys(_failures(condition, columns, types))
    if not fails:
        return ""
    message = (
        f"{function}: a condition must compare a column with values of its own type, "
        f"got another type on {columns[0]}"
    )
    stop = f"system.main.error({literal(message)})::BOOLEAN"
    text = condition.sql("duckdb", comments=False)
    return (
        f"CASE WHEN {' OR '.join(f'({failure})' for failure in fails)} THEN {stop} ELSE {text} END"
    )


def _failures(condition: exp.Expression, columns: Sequence[str], types: Types) -> Iterator[str]:
    """Conditions under which a cast would fail."""
    if len(set(map(fold, columns))) > 1:
        text = [_is_of(name, _TEXT) for name in columns]
        if types is None or len({types.get(fold(name)) for name in columns}) > 1:
            yield f"{text[0]} <> {text[1]}"
        return
    column = quote(columns[0])
    for constant in condition.find_all(exp.Boolean, exp.Cast, exp.Literal):
        for kinds, cast in _casts(constant):
            if types is None or re.fullmatch(f"(?s){kinds}", types.get(fold(columns[0]), "")):
                lost = f"TRY_CAST({column}::VARCHAR AS {cast}) IS NULL"
                yield f"{_is_of(columns[0], kinds)} AND {column} IS NOT NULL AND {lost}"


def _casts(constant: exp.Expression) -> Iterator[tuple[str, str]]:
    """The types of columns that are cast for a constant, as a pattern, and what to."""
    if isinstance(constant, exp.Boolean):
        yield _TEXT, "BOOLEAN"
    elif isinstance(constant, exp.Cast):
        yield f"{_TEXT}|DATE", constant.args["to"].sql(dialect="duckdb")
    elif constant.is_string or "e" in constant.name.lower():
        return
    elif "." in constant.name:
        before, _, after = constant.name.partition(".")
        wide = range(max(_MAX_DIGITS + 1 - len(before) - len(after), 1), _MAX_DIGITS + 1)
        listed = "|".join(map(str, wide))
        kinds = rf"JSON|U?HUGEINT|DECIMAL\((?:{listed}),.*\)"
        if len(after) + len(before) > _MAX_DIGITS - 20:
            kinds += "|U?BIGINT"
        yield kinds, f"DECIMAL({_MAX_DIGITS}, {min(len(after), _MAX_DIGITS)})"
    elif isinstance(constant.parent, exp.Neg):
        yield f"{_TEXT}|UHUGEINT", "BIGINT"
    else:
        bits = int(constant.name).bit_length()
        yield _TEXT, next((kind for most, kind in _WIDTHS.items() if bits <= most), "DOUBLE")


def _is_of(name: str, kinds: str) -> str:
    typed = f"system.main.typeof({quote(name)})"
    return f"system.main.regexp_full_match({typed}, {literal(f'(?s){kinds}')})"


_ONE_NAME = re.compile(r'[A-Za-z_]\w*|"(?:[^"]|"")+"')
_TEXTS = "'(?s)VARCHAR|BOOLEAN|UUID|ENUM.*'"
_KEPT_COLUMN = (
    "STRUCT(name VARCHAR, raw VARCHAR, released VARCHAR, least DOUBLE, most DOUBLE, strange BIGINT)"
)


def statement(
    work: Workload,
    function: str,
    mode: str,
    names: Collection[str],
    raw: str,
    released: str,
    quasi: Sequence[str] | None,
    hierarchy: str | None,
    types: Types,
) -> str:
    """Return the SQL text.

    names: folded quasi-identifiers of the call; quasi: the parameter of the call, None for NULL;
    types: of the raw table.
    """
    texts = tuple(query.text for query in work.queries)
    folded_types = None if types is None else tuple(types.items())
    truths, raw_answers = _on_raw(function, raw, texts, frozenset(names), folded_types)
    call = {
        "function": literal(function),
        "mode": literal(mode),
        "quasi": _list(map(literal, sorted(names)), "VARCHAR"),
        "queries": _list([literal(query.text) for query in work.queries], "VARCHAR"),
    }
    quasi_list = "NULL" if quasi is None else _list(map(literal, quasi), "VARCHAR")
    roles = f"__anon_measure_call({literal(raw)}, {quasi_list}, NULL)"
    tree = "NULL" if hierarchy is None else literal(hierarchy)
    used = list(work.quasi.values())
    labels = {f"__anon_c{number}": quote(name) for number, name in enumerate(used)}
    raw_lists = {
        f"c{number}": _raw_list(name, truths[fold(name)], tree) for number, name in enumerate(used)
    }
    numbers = [f"TRY_CAST({quote(work.kept[name])} AS DOUBLE)" for name in work.numbers]
    groups = {
        "labels": _struct({p.removeprefix("__anon_"): f"system.main.list({p})" for p in labels}),
        **{n: f"system.main.list(__anon_{n})" for n in ("truths", "keys", "numbers", "rows")},
    }
    answers = {n: f"system.main.list(__anon_{n})" for n in ("query", "keys", "answer")}
    kept = [_kept_column(name, key in work.numbers) for key, name in work.kept.items()]
    return f"""WITH
__anon_raw AS (FROM query_table({literal(raw)})),
__anon_shown AS (FROM query_table({literal(released)})),
__anon_classed AS (FROM __anon_groups({literal(released)}, {roles}, 'quasi')),
__anon_answers AS (
{raw_answers}
),
__anon_grouped AS (
    SELECT {"".join(f"{column} AS {place}, " for place, column in labels.items())}
        {_list(truths.get(KEPT, []), "BOOLEAN")} AS __anon_truths,
        {_keys([work.kept[name] for name in work.groups])} AS __anon_keys,
        {_list(numbers, "DOUBLE")} AS __anon_numbers,
        system.main.count(*) AS __anon_rows
    FROM __anon_shown GROUP BY ALL
)
SELECT unnest(__anon_queries_compared(
    {_struct(call)},
    (SELECT __anon_given FROM __anon_given(
        {literal(raw)}, {literal(released)}, {roles}, {tree}, '__anon_classed')),
    {_struct(raw_lists)},
    (SELECT {_struct(groups)} FROM __anon_grouped),
    {_list(kept, _KEPT_COLUMN)},
    (SELECT {_struct(answers)} FROM __anon_answers)), recursive := true)"""


@lru_cache(maxsize=4)  # a verdict asks the same queries of one release after the other
def _on_raw(
    function: str,
    raw: str,
    texts: tuple[str, ...],
    names: frozenset[str],
    types: tuple[tuple[str, str], ...] | None,
) -> tuple[Mapping[str, Sequence[str]], str]:
    """Return the conditions of each owner as SQL, and SQL for the answers on the raw table.

    names, types: as ``statement`` takes them.
    """
    work = prepare(function, raw, texts, names)
    of_columns = None if types is None else dict(types)
    truths = {
        owner: [
            f"coalesce({guarded(function, node, sql, of_columns)}, false)"
            for sql, node in conditions.items()
        ]
        for owner, conditions in work.truths.items()
    }
    return truths, _answers(work, function, of_columns, _named(raw))


def _list(items: Iterable[str], kind: str) -> str:
    return f"system.main.list_value({', '.join(items)})::{kind}[]"


def _struct(fields: dict[str, str]) -> str:
    if not fields:
        return "NULL"
    return f"system.main.struct_pack({', '.join(f'{n} := {sql}' for n, sql in fields.items())})"


def _keys(names: Sequence[str]) -> str:
    return _list([f"{quote(name)}::VARCHAR" for name in names], "VARCHAR")


def _type(name: str) -> str:
    return f"system.main.typeof(system.main.any_value({quote(name)}))"


def _named(relation: str) -> str:
    """Return a relation as SQL for FROM.

    A name without a dot is written as an identifier, which DuckDB binds faster than query_table().
    """
    plain = _ONE_NAME.fullmatch(relation)
    return quote(split(relation)[0]) if plain else f"query_table({literal(relation)})"


def _all(queries: Sequence[str]) -> str:
    """Return queries joined by UNION ALL as a balanced tree; a long chain would be too deep."""
    if len(queries) == 1:
        return queries[0]
    half = len(queries) // 2
    return f"({_all(queries[:half])})\nUNION ALL\n({_all(queries[half:])})"


def _answers(work: Workload, function: str, types: Types, relation: str) -> str:
    """Return SQL for the answers on a relation: query number, values of GROUP BY, result."""
    selects = []
    for number, query in enumerate(work.queries):
        where = ""
        if query.where is not None:
            plain = query.where.sql("duckdb", comments=False)
            where = f" WHERE {guarded(function, query.where, plain, types)}"
        groups = ", ".join(map(quote, query.groups))
        grouped = f" GROUP BY {groups}" if groups else ""
        keys = _keys(query.groups) if groups else "NULL::VARCHAR[]"
        call = f"system.main.{query.call}"
        call = f"{call}::DOUBLE" if query.aggregate == "count" else f"TRY_CAST({call} AS DOUBLE)"
        selects.append(
            f"SELECT {number} AS __anon_query, {keys} AS __anon_keys, {call} AS __anon_answer "
            f"FROM {relation}{where}{grouped}"
        )
    return _all(selects)


def _raw_list(name: str, truths: Sequence[str], tree: str) -> str:
    """Return SQL for the distinct values of a column and the conditions that hold for each.

    Values are collected only for text and for columns that the hierarchy names.
    """
    column = quote(name)
    wanted = f"system.main.regexp_full_match(system.main.typeof({column}), {_TEXTS})"
    if tree != "NULL":
        names_column = f"__anon_fold(attribute::VARCHAR) = {literal(fold(name))}"
        wanted += f" OR EXISTS (SELECT 1 FROM query_table({tree}) WHERE {names_column})"
    fields = _struct({"value": column, "truths": _list(truths, "BOOLEAN")})
    return (
        f"(SELECT system.main.list({fields}) "
        f"FROM (SELECT DISTINCT {column} FROM __anon_raw WHERE {wanted}))"
    )


def _kept_column(name: str, aggregated: bool) -> str:
    """Return SQL for the types and range of a kept column, and its number of values not in raw."""
    column, ends = quote(name), {"least": "NULL", "most": "NULL"}
    if aggregated:
        ends = {
            end: f"(SELECT TRY_CAST(system.main.{call}({column}) AS DOUBLE) FROM __anon_raw)"
            for end, call in (("least", "min"), ("most", "max"))
        }
    return _struct(
        {
            "name": literal(name),
            "raw": f"(SELECT {_type(name)} FROM __anon_raw)",
            "released": f"(SELECT {_type(name)} FROM __anon_shown)",
            **ends,
            "strange": f"(SELECT system.main.count(*) FROM (SELECT {hash_of([column])} "
            f"FROM __anon_shown EXCEPT SELECT {hash_of([column])} FROM __anon_raw))",
        }
    )
