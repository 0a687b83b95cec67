"""Say what an error of DuckDB's means where a call of the package is the reason.

docs/mistakes.md lists the same errors for those who see DuckDB's text alone.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache

from anon_sql.hosts.duckdb import headers
from anon_sql.hosts.duckdb.parameters import no_parameter

_MACRO = re.compile(r"Macro (?P<ours>\w+)\(\) does not support the supplied arguments")
_MEANT = [  # an error of DuckDB's, and what to type instead; ours: a function of the package
    (
        r'Failed to bind "(?P<name>(?:[^"]|"")*)" - COLUMNS expression can only contain',
        "a name is a text in single quotes, '{name}'",
    ),
    (
        r'Function "(?P<ours>\w+)" is a table function but it was used as a scalar function',
        "write FROM {ours}(…)",
    ),
    (r"Table Function with name (?P<ours>\w+) does not exist", "write SELECT {ours}(…)"),
    (
        r'Macro "?(?P<ours>\w+)"?\(\) has positional argument following named argument',
        "write := after the name of a parameter, not =",
    ),
    (
        r'Referenced column "(?P<parameter>\w+)" not found in FROM clause',
        "in a call write {parameter} :=, since = compares",
    ),
    (
        r"Cannot compare values of type VARCHAR and type|argument types '(avg|sum)\(VARCHAR\)'",
        "a label of a release is text, from which anon_min, anon_max and anon_mid read numbers",
    ),
    (
        r"STAR expression is only allowed as the root element",
        "keep := ['*'] keeps every column without another role",
    ),
    (
        r"Cannot extract field '(min|max)' from expression",
        "format := 'typed' makes ranges with min and max, and anon_min reads a label",
    ),
    (
        r"Table function cannot contain subqueries",
        "a call takes a name: WITH t AS (SELECT …) FROM rayden('t', …)",
    ),
]
_PATTERNS = [(re.compile(pattern), meant) for pattern, meant in _MEANT]
_GIVEN = re.compile(r"(\w+)\s*(?::=|=>)")


def meaning(text: str, sql: str | None = None) -> tuple[str, str] | None:
    """Return the start of an error that says enough, and what to type instead; None for others.

    sql: the statement, if it is known.
    """
    if (found := _MACRO.search(text)) and found["ours"] in function_parameters():
        return found[0], _arguments(found["ours"], sql or "")
    for pattern, meant in _PATTERNS:
        if found := pattern.search(text):
            names = found.groupdict()
            ours, parameter = names.get("ours"), names.get("parameter")
            if (ours is None or ours in function_parameters()) and (
                parameter is None or _compares(parameter, sql or "")
            ):
                return text, meant.format(**names)
    return None


def _compares(parameter: str, sql: str) -> bool:
    """Return whether a statement calls a function with the parameter and has it before a =."""
    called = {word.lower() for word in re.findall(r"(\w+)\s*\(", sql)}
    known = any(
        parameter in function_parameters()[name] for name in called & function_parameters().keys()
    )
    return known and bool(re.search(rf"\b{parameter}\s*=", sql))


def _arguments(function: str, sql: str) -> str:
    """Return the parameter that a call may mean, or a list of them."""
    known = function_parameters()[function]
    call = re.split(rf"\b{function}\b", sql, maxsplit=1, flags=re.IGNORECASE)[-1]
    wrong = [name for name in _GIVEN.findall(call) if name.lower() not in known]
    return no_parameter(wrong[0], known) if wrong else f"its parameters are {', '.join(known)}"


@cache
def function_parameters() -> Mapping[str, Sequence[str]]:
    """Return the parameters of the package's functions, by name."""
    return {entry.name: entry.names for entry in headers.entries()}
