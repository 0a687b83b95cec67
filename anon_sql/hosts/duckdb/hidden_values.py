"""Say what DuckDB refuses without the values that its errors quote.

DuckDB puts values of the data into errors of casts, readers, constraints and arithmetic. Of such
errors only what is known to be free of values is kept. Errors about names keep those names that
look like names, since the header of a file that was misread consists of values.
"""

import re

from anon_sql.errors import looks_like_name

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
_PATTERNS = [(re.compile(pattern, re.DOTALL), plain) for pattern, plain in _KNOWN]
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
    said = _said(*risky.groups())
    return f"{risky[1]} Error: {said} (DuckDB's text is not shown: it may quote values)"


def _said(kind: str, text: str) -> str:
    line = _LINE.search(text)
    if line:
        reason = _REASON.search(text)
        why = f": {reason[1].removesuffix(' column')}" if reason else ""
        return f"a CSV file cannot be read at line {int(line[1]):,}{why}"
    for pattern, plain in _PATTERNS:
        found = pattern.match(text)
        if found:
            column = _SOURCE.search(text)
            named = column is not None and looks_like_name(column[1])
            return found.expand(plain) + (f" in column {column[1]}" if column and named else "")
    python = _PYTHON.search(text)
    return f"a function failed with {python[1]}" if python else _OTHERWISE.get(kind, _VALUE)


def _only_names(found: re.Match[str]) -> str:
    """Return a list of names in quotes with those left out that look like values."""
    hidden = 0

    def shown(name: re.Match[str]) -> str:
        nonlocal hidden
        if looks_like_name(name[1]):
            return name[0]
        hidden += 1
        return "…"

    text = _QUOTED.sub(shown, found[0])
    return f"{text} ({hidden} that look like values are hidden)" if hidden else text
