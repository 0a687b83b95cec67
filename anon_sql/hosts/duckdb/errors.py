"""Turn errors of DuckDB into one sentence that shows no value.

Say what an error of DuckDB's means where a call of the package is the reason. The page
docs/look-up/errors.md lists the same errors for those who see DuckDB's text alone.

Say what DuckDB refuses without the values that its errors quote. DuckDB puts values of the data
into errors of casts, readers, constraints and arithmetic. Of such errors only what is known to be
free of values is kept. Errors about names keep those names that look like names, since the header
of a file that was misread consists of values.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache

import duckdb

from anon_sql.core.parameters import no_parameter
from anon_sql.errors import SQL, AnonError, Spelling, looks_like_name
from anon_sql.hosts.duckdb import sql_files
from anon_sql.hosts.duckdb.registry import one_line, remembered

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
        r"STAR expression is (only allowed as the root element|not supported here)"
        r"|Need named argument for struct pack[\s\S]*:= \*",
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
_MISTAKES = [(re.compile(pattern), meant) for pattern, meant in _MEANT]
_ARGUMENT = re.compile(r"(\w+)\s*(?::=|=>)")


def meaning(text: str, sql: str | None = None) -> tuple[str, str] | None:
    """Return the start of an error that says enough, and what to type instead; None for others.

    sql: the statement, if it is known.
    """
    if (match := _MACRO.search(text)) and match["ours"] in function_parameters():
        return match[0], _arguments(match["ours"], sql or "")
    for pattern, meant in _MISTAKES:
        if match := pattern.search(text):
            names = match.groupdict()
            ours, parameter = names.get("ours"), names.get("parameter")
            if (ours is None or ours in function_parameters()) and (
                parameter is None or _compares(parameter, sql or "")
            ):
                return text, meant.format(**names)
    return None


def _compares(parameter: str, sql: str) -> bool:
    """Return whether a statement calls a function with the parameter and has it before a =."""
    called = {word.lower() for word in re.findall(r"(\w+)\s*\(", sql)}
    has_parameter = any(
        parameter in function_parameters()[name] for name in called & function_parameters().keys()
    )
    return has_parameter and bool(re.search(rf"\b{parameter}\s*=", sql))


def _arguments(function: str, sql: str) -> str:
    """Return the parameter that a call may mean, or a list of them."""
    parameters = function_parameters()[function]
    call = re.split(rf"\b{function}\b", sql, maxsplit=1, flags=re.IGNORECASE)[-1]
    wrong = [name for name in _ARGUMENT.findall(call) if name.lower() not in parameters]
    return (
        no_parameter(wrong[0], parameters)
        if wrong
        else f"its parameters are {', '.join(parameters)}"
    )


@cache
def function_parameters() -> Mapping[str, Sequence[str]]:
    """Return the parameters of the package's functions, by name."""
    return {entry.name: entry.names for entry in sql_files.entries()}


_RISKY = re.compile(
    r"(Conversion|Constraint|Invalid Input|Out of Range|Serialization|Mismatch Type|"
    r"Invalid Type|Divide by Zero|Sequence|INTERNAL) Error: (.*)",
    re.DOTALL,
)
_TYPE = r"([A-Z][A-Z0-9_]*)\b"
_LINE = re.compile(r"CSV Error on Line: (\d+)")
_REASON = re.compile(
    r"^(Value with unterminated quote found|Expected Number of Columns: \d+ Found: \d+|"
    r"Invalid unicode [^\n]* detected|Error when converting column|Maximum line size of \d+ bytes "
    r"exceeded|Missing Columns|Too many Columns)",
    re.MULTILINE,
)
_KNOWN = [  # what an error begins with, and what is said instead
    (rf"Could not convert string .* to '?{_TYPE}", r"a text cannot be cast to \1"),
    (
        rf"Type {_TYPE} with value .* can't be cast .*destination type {_TYPE}",
        r"a value of type \1 cannot be cast to \2",
    ),
    (r"invalid (\w+) field format", r"a text cannot be cast to \1"),
    (r"(\w+) field value out of range", r"a text cannot be cast to \1"),
    (r"Could not parse string", r"a text does not have the given format"),
    (r"Malformed JSON", r"a text is not JSON"),
    (rf"Overflow in (\w+) of {_TYPE}", r"\1 of \2 is out of range"),
    (r"Duplicate key", r"a key must be unique"),
    (r"NOT NULL constraint failed", r"a column must not be NULL"),
    (r"CHECK constraint failed", r"a row must satisfy a CHECK constraint"),
    (r"Violates foreign key", r"a foreign key must be satisfied"),
    (
        r"(More than one row returned by a subquery|Map keys must be unique|"
        r"Values were not provided for the following [\w ]+: [\w, ]+|"
        r"Cannot create a string of size|File '[^']*' too small to be a Parquet file|"
        r"Footer length error in file '[^']*'|No magic bytes found at end of file '[^']*')",
        r"\1",
    ),
    (r"Invalid type specifier", r"a format does not fit the type of its value"),
    (r"(Unimplemented type for cast \([^)]*\))", r"\1"),
]
_REFUSALS = [(re.compile(pattern, re.DOTALL), plain) for pattern, plain in _KNOWN]
_SOURCE = re.compile(r"when casting from source column ([^\n]+)")
_VALUE = "a value is not accepted"
_OTHERWISE = {"INTERNAL": "DuckDB failed"}
_PYTHON = re.compile(r"Python exception occurred while executing the UDF: (\w+)")
_NAMES = re.compile(r"(?:Candidate bindings|Did you mean|Candidate tables)[^\n]*")
_QUOTED = re.compile(r'"((?:[^"]|"")*)"')


def without_values(text: str) -> str:
    """Return the text of an error of DuckDB's without values of the data."""
    risky = _RISKY.match(text)
    if risky is None:
        return _NAMES.sub(_only_names, text)
    sentence = _plain_reason(*risky.groups())
    return f"{risky[1]} Error: {sentence} (DuckDB's text is not shown: it may quote values)"


def _plain_reason(kind: str, text: str) -> str:
    line = _LINE.search(text)
    if line:
        reason = _REASON.search(text)
        why = f": {reason[1].removesuffix(' column')}" if reason else ""
        return f"a CSV file cannot be read at line {int(line[1]):,}{why}"
    for pattern, plain in _REFUSALS:
        match = pattern.match(text)
        if match:
            column = _SOURCE.search(text)
            named = column is not None and looks_like_name(column[1])
            return match.expand(plain) + (f" in column {column[1]}" if column and named else "")
    python = _PYTHON.search(text)
    return f"a function failed with {python[1]}" if python else _OTHERWISE.get(kind, _VALUE)


def _only_names(match: re.Match[str]) -> str:
    """Return a list of names in quotes with those left out that look like values."""
    hidden = 0

    def masked(name: re.Match[str]) -> str:
        nonlocal hidden
        if looks_like_name(name[1]):
            return name[0]
        hidden += 1
        return "…"

    text = _QUOTED.sub(masked, match[0])
    return f"{text} ({hidden} that look like values are hidden)" if hidden else text


_UDF = re.compile(r".*Python exception occurred while executing the UDF: (AnonError: )?", re.DOTALL)
_STOPPED = re.compile(r"Invalid Input Error: (?=(\w+): )")  # by error() in a statement of ours
_AFTER = re.compile(r"\s*\n\s*(At:|LINE \d+:).*", re.DOTALL)
_PREFIX = re.compile(r"\w[\w ]* Error: ")


def error_text(error: Exception | str, sql: str | None = None, spelling: Spelling = SQL) -> str:
    """Return the text of an error on one line, without DuckDB's prefixes, source lines and values.

    A hint follows where DuckDB's text means a mistake in a call of the package. sql: the statement,
    if it is known. spelling: of an AnonError; one that DuckDB has wrapped is spelled as in SQL
    unless it is among the last ones of this process.
    """
    wrapped = own_error_text(error)
    raised = error if isinstance(error, AnonError) else remembered(wrapped) if wrapped else None
    if raised is not None:
        return one_line(raised.render(spelling))
    if wrapped is not None:
        return wrapped
    text = str(error)
    if not _PREFIX.match(text):
        return one_line(_AFTER.sub("", text))
    meant = meaning(text, sql)
    plain = one_line(_AFTER.sub("", without_values(meant[0] if meant else text)))
    return f"{plain}; {meant[1]}" if meant else plain


@contextmanager
def as_raised() -> Iterator[None]:
    """Raise an AnonError of the last ones, which DuckDB has wrapped, as such."""
    try:
        yield
    except duckdb.Error as error:
        wrapped = own_error_text(error)
        raised = None if wrapped is None else remembered(wrapped)
        if raised is None:
            raise
        raise raised from error


def own_error_text(error: Exception | str) -> str | None:
    """Return the text of an AnonError that DuckDB has wrapped, or None for other errors."""
    text = str(error)
    match = _UDF.match(text)
    if match is None or not match[1]:
        match = _STOPPED.match(text)
        if match is None or match[1] not in function_parameters():
            return None
    return one_line(_AFTER.sub("", text[match.end() :]))
