"""Find the end of a statement: a semicolon outside of texts, names and comments."""

from collections.abc import Iterable, Iterator

import duckdb

from anon_sql.core.duckdb_internals.error_texts import is_open_end


def finished(text: str) -> bool:
    """Return whether Enter runs the text: a command, a blank, or SQL that ends with a semicolon."""
    if text.lstrip().startswith("\\"):
        return True
    tokens = [start for start, kind in duckdb.tokenize(text) if kind != duckdb.token_type.comment]
    if _open_end(text):
        return False
    return not tokens or text.encode()[tokens[-1] :].startswith(b";")  # places are in bytes


def inputs(lines: Iterable[str]) -> Iterator[str]:
    """Yield the statements and commands of a script; the last one may lack its semicolon."""
    text = ""
    for line in lines:
        text += line
        if finished(text):
            if text.strip():
                yield text
            text = ""
    if text.strip():
        yield text


def without_end(sql: str) -> str:
    """Return SQL without its last semicolon and the comments after it.

    DuckDB 2.0 refuses a relation of a statement whose semicolon a comment follows.
    """
    encoded = sql.encode()
    end = len(encoded)
    for start, kind in reversed(duckdb.tokenize(sql)):
        if kind != duckdb.token_type.comment:
            if not encoded[start:].startswith(b";"):
                break
            end = start
    return encoded[:end].decode()


def _open_end(text: str) -> bool:
    """Return whether a text, a name or a comment has begun and not ended."""
    try:
        duckdb.extract_statements(text)
    except duckdb.Error as error:
        return is_open_end(error)
    return False
