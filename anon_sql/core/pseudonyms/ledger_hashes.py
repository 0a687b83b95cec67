"""Compute the keyed hashes of a ledger: of persons, of the key, and of an entry as a whole.

All are HMACs (RFC 2104) under a key that is derived from the user's, so that none equals a
pseudonym.
"""

import hmac
from collections.abc import Callable, Iterable

import pyarrow as pa

from anon_sql.core.pseudonyms.keyed import each

LENGTH = 16  # bytes of a person's hash


def ledger_key(key: bytes) -> bytes:
    """Return the key of all hashes in a ledger, derived from the user's."""
    return hmac.digest(key, b"anon_sql ledger", "sha512")


def key_check(key: bytes) -> str:
    """Return 16 hexadecimal digits that are the same for the same key, and no hash of a value."""
    return hmac.digest(key, b"key", "sha512").hex()[:16]


def entry_digest(fields: Iterable[bytes], key: bytes) -> str:
    """Return 64 hexadecimal digits of HMAC-SHA-512 of the fields of an entry, in their order.

    Each is hashed after its length in 8 bytes, so that no two lists of fields are hashed alike.
    """
    keyed = hmac.new(key, b"entry", "sha512")
    for field in fields:
        keyed.update(len(field).to_bytes(8, "big"))
        keyed.update(field)
    return keyed.hexdigest()[:64]


def person_hashes(texts: pa.Array, sql_type: str, key: bytes) -> pa.Array:
    """Return the first 16 bytes of HMAC-SHA-256 of each value; equal values have the same hash.

    texts: values as DuckDB prints them; sql_type: their type. The number 5 is the same as 5.00 and
    the text 5, and a date is the same as its midnight; a text is hashed as it is written, and the
    bytes of a BLOB as they are. Two of a million persons have the same hash with a probability
    below 10 to the power of -26.
    """
    keyed = hmac.new(key, digestmod="sha256")
    plain = _plain(sql_type)

    def hashed(value: bytes) -> bytes:
        one = keyed.copy()
        one.update(plain(value))
        return one.digest()[:LENGTH]

    return each(texts, sql_type, hashed, pa.binary())


def _plain(sql_type: str) -> Callable[[bytes], bytes]:
    """Return what writes equal values of a type, and of others that hold them, alike."""
    if sql_type.startswith("DECIMAL"):
        return _number
    if sql_type.startswith("TIMESTAMP"):
        return lambda value: value.removesuffix(b" 00:00:00")
    return lambda value: value


def _number(value: bytes) -> bytes:
    """Return a printed DECIMAL without the zeros at its end: 5.00 is 5, and .50 is 0.5."""
    whole, _, fraction = value.partition(b".")
    fraction = fraction.rstrip(b"0")
    if whole in {b"", b"-"}:
        whole += b"0"
    return whole + b"." + fraction if fraction else whole
