"""Where a statement ends: at a semicolon that stands in no text, name or comment."""

from collections.abc import Iterable, Iterator

import duckdb


def finished(text: str) -> bool:
    """Whether Enter runs the text: a command, a blank, or SQL whose last token is a semicolon."""
    if text.lstrip().startswith("\\"):
        return True
    tokens = [at for at, kind in duckdb.tokenize(text) if kind != duckdb.token_type.comment]
    if _open_end(text):
        return False
    # Places are in bytes.
    return not tokens or text.encode()[tokens[-1] :].startswith(b";")


def inputs(lines: Iterable[str]) -> Iterator[str]:
    """The statements and commands of a script; the last one may lack its semicolon."""
    text = ""
    for line in lines:
        text += line
        if finished(text):
            if text.strip():
                yield text
            text = ""
    if text.strip():
        yield text


def _open_end(text: str) -> bool:
    """Whether a text, a name or a comment has begun and not ended."""
    try:
        duckdb.extract_statements(text)
    except duckdb.Error as error:
        return "unterminated" in str(error)
    return False
