"""Extract the message of an error from the text that DuckDB adds to it."""

import re

_UDF = re.compile(r".*Python exception occurred while executing the UDF: (AnonError: )?", re.DOTALL)
_AFTER = re.compile(r"\s*\n\s*(At:|LINE \d+:).*", re.DOTALL)


def sentence(error: Exception | str) -> str:
    """Return the text of an error on one line, without DuckDB's prefixes and source lines."""
    text = _AFTER.sub("", _UDF.sub("", str(error)))
    return " ".join(text.removeprefix("Invalid Input Error: ").split())


def own_sentence(error: Exception | str) -> str | None:
    """Return the sentence of an AnonError that DuckDB has wrapped, or None for other errors."""
    found = _UDF.match(str(error))
    return sentence(error) if found and found[1] else None
