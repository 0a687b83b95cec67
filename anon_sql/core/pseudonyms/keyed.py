"""Compute pseudonyms and shifts of dates by HMAC (RFC 2104), each distinct value once."""

import hmac
import re
from collections.abc import Callable
from typing import Any

import pyarrow as pa

from anon_sql.core.columns import shown_type
from anon_sql.errors import AnonError

_TYPES = re.compile(
    r"""(?sx) VARCHAR | BLOB | UUID | BOOLEAN | "NULL" | ENUM\(.*\) | DECIMAL\(.*\)
    | U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT) | DATE | TIME | TIMESTAMP(_S|_MS|_NS)?"""
)
_ESCAPED = re.compile(rb"\\x([0-9A-Fa-f]{2})")


def require_type(function: str, parameter: str, sql_type: str) -> None:
    """Raise AnonError for a type whose text is not the same for equal values in every session.

    DOUBLE prints 1 as 1.0, and a timestamp with time zone depends on the setting of the session.
    """
    if not _TYPES.fullmatch(sql_type):
        raise AnonError(
            function,
            f"{parameter} must be text, BLOB, UUID, BOOLEAN, a whole number, DECIMAL, date or time",
            shown_type(sql_type),
            f"cast {parameter} to the type that it has in all tables that are joined",
        )


def pseudonyms(texts: pa.Array, sql_type: str, key: bytes) -> pa.Array:
    """Return HMAC-SHA-256 of each value as 64 lower-case hexadecimal digits; NULL stays NULL.

    texts: values as DuckDB prints them, hashed as UTF-8; those of a BLOB are hashed as they are.
    """
    keyed = hmac.new(key, digestmod="sha256")

    def pseudonym(value: bytes) -> str:
        one = keyed.copy()  # faster than hmac.digest, which prepares the key for each value
        one.update(value)
        return one.hexdigest()

    return each(texts, sql_type, pseudonym, pa.string())


def shifts(texts: pa.Array, sql_type: str, key: bytes, days: int) -> pa.Array:
    """Return a number of days for each value: -days to days without 0, equally likely.

    They come from HMAC-SHA-512, because HMAC-SHA-256 of the value is its published pseudonym: who
    knows that number must not know the shift.
    """

    keyed = hmac.new(key, digestmod="sha512")

    def shift(value: bytes) -> int:
        one = keyed.copy()
        one.update(value)
        drawn = int.from_bytes(one.digest(), "big") % (2 * days)
        return drawn - days + (drawn >= days)

    return each(texts, sql_type, shift, pa.int32())


def each(texts: pa.Array, sql_type: str, of: Callable[[bytes], Any], kind: pa.DataType) -> pa.Array:
    """Return the result of a function for each value, called once for each distinct value."""
    coded = texts.dictionary_encode()
    values = [text.encode() for text in coded.dictionary.to_pylist()]
    if sql_type == "BLOB":
        values = [_ESCAPED.sub(lambda found: bytes.fromhex(found[1].decode()), v) for v in values]
    return pa.array([of(value) for value in values], kind).take(coded.indices)
