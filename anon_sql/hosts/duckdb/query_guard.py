"""Conditions that stop with a sentence of their own where DuckDB's would show a value.

DuckDB casts a column to the type of the constant that it is compared with (``city = 5``), and the
error of such a cast names the value that it cannot cast.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlglot import exp

from anon_sql.core.names import literal, quote
from anon_sql.core.roles import fold

_TEXT = r"VARCHAR|JSON|ENUM\(.*\)"
_WIDTHS = {31: "INTEGER", 63: "BIGINT", 127: "HUGEINT", 128: "UHUGEINT"}  # bits of an integer
_MOST = 38  # digits of a DECIMAL
Types = Mapping[str, str] | None  # by folded name; None where a relation is not known when it binds


def guarded(function: str, condition: exp.Expression, shown: str, types: Types) -> str:
    """Return a condition that ``query`` has let through as SQL; shown: as it is printed where no
    cast can fail."""
    stops: dict[int, str] = {}
    waiting = [condition]
    while waiting:
        node = waiting.pop()
        if isinstance(node, (exp.And, exp.Or)):
            waiting += [node.this, node.expression]
        elif isinstance(node, (exp.Not, exp.Paren)):
            waiting.append(node.this)
        elif found := _guard(function, node, types):
            stops[id(node)] = found
    return _shown(condition, stops) if stops else shown


def _shown(node: Any, stops: Mapping[int, str]) -> str:
    if isinstance(node, (exp.And, exp.Or)):
        word = " AND " if isinstance(node, exp.And) else " OR "
        return word.join(f"({_shown(side, stops)})" for side in node.flatten())
    if isinstance(node, exp.Not):
        return f"NOT ({_shown(node.this, stops)})"
    if isinstance(node, exp.Paren):
        return _shown(node.this, stops)
    return stops.get(id(node)) or str(node.sql("duckdb", comments=False))


def _guard(function: str, condition: exp.Expression, types: Types) -> str:
    """A comparison that stops where a cast fails; "" where none can."""
    columns = [column.name for column in condition.find_all(exp.Column)]
    fails = dict.fromkeys(_failures(condition, columns, types))
    if not fails:
        return ""
    said = (
        f"{function}: a condition must compare a column with values of its own type, "
        f"got another on {columns[0]}"
    )
    stop = f"system.main.error({literal(said)})::BOOLEAN"
    shown = condition.sql("duckdb", comments=False)
    return f"CASE WHEN {' OR '.join(f'({one})' for one in fails)} THEN {stop} ELSE {shown} END"


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
        wide = range(max(_MOST + 1 - len(before) - len(after), 1), _MOST + 1)
        listed = "|".join(map(str, wide))
        kinds = rf"JSON|U?HUGEINT|DECIMAL\((?:{listed}),.*\)"
        if len(after) + len(before) > _MOST - 20:
            kinds += "|U?BIGINT"
        yield kinds, f"DECIMAL({_MOST}, {min(len(after), _MOST)})"
    elif isinstance(constant.parent, exp.Neg):
        yield f"{_TEXT}|UHUGEINT", "BIGINT"
    else:
        bits = int(constant.name).bit_length()
        yield _TEXT, next((kind for most, kind in _WIDTHS.items() if bits <= most), "DOUBLE")


def _is_of(name: str, kinds: str) -> str:
    typed = f"system.main.typeof({quote(name)})"
    return f"system.main.regexp_full_match({typed}, {literal(f'(?s){kinds}')})"
