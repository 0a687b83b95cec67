"""Extract the message of an error from the text that DuckDB adds to it."""

import re

from anon_sql.hosts.duckdb.hidden_values import without_values
from anon_sql.hosts.duckdb.mistakes import function_parameters, meaning

_UDF = re.compile(r".*Python exception occurred while executing the UDF: (AnonError: )?", re.DOTALL)
_STOPPED = re.compile(r"Invalid Input Error: (?=(\w+): )")  # by error() in a statement of ours
_AFTER = re.compile(r"\s*\n\s*(At:|LINE \d+:).*", re.DOTALL)
_PREFIX = re.compile(r"\w[\w ]* Error: ")


def sentence(error: Exception | str, sql: str | None = None) -> str:
    """Return the text of an error on one line, without DuckDB's prefixes, source lines and values.

    A hint follows where DuckDB's text means a mistake in a call of the package. sql: the statement,
    if it is known.
    """
    own = own_sentence(error)
    if own is not None:
        return own
    text = str(error)
    if not _PREFIX.match(text):
        return " ".join(_AFTER.sub("", text).split())
    meant = meaning(text, sql)
    plain = " ".join(_AFTER.sub("", without_values(meant[0] if meant else text)).split())
    return f"{plain}; {meant[1]}" if meant else plain


def own_sentence(error: Exception | str) -> str | None:
    """Return the sentence of an AnonError that DuckDB has wrapped, or None for other errors."""
    text = str(error)
    found = _UDF.match(text)
    if found is None or not found[1]:
        found = _STOPPED.match(text)
        if found is None or found[1] not in function_parameters():
            return None
    return " ".join(_AFTER.sub("", text[found.end() :]).split())
