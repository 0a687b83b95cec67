"""Compute pseudonyms, shifts of dates and hashes of a ledger by keyed HMAC (RFC 2104).

The keyed hashes of a ledger are those of persons, of the key, and of an entry as a whole. Their key
is derived from the user's, so that none equals a pseudonym.
"""

import hmac
import itertools
import os
import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from anon_sql.core import stopping
from anon_sql.core.columns import shown_type
from anon_sql.core.forks import ForkLock
from anon_sql.errors import AnonError, Argument, Parameter

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
        # faster than hmac.digest, which prepares the key for each value
        hmac_of_value = keyed.copy()
        hmac_of_value.update(value)
        return hmac_of_value.hexdigest()

    return map_values(texts, sql_type, pseudonym, pa.string())


def shifts(texts: pa.Array, sql_type: str, key: bytes, days: int) -> pa.Array:
    """Return a number of days for each value: -days to days without 0, equally likely.

    They come from HMAC-SHA-512, because HMAC-SHA-256 of the value is its published pseudonym, which
    must not determine the shift.
    """

    keyed = hmac.new(key, digestmod="sha512")

    def shift(value: bytes) -> int:
        hmac_of_value = keyed.copy()
        hmac_of_value.update(value)
        number = int.from_bytes(hmac_of_value.digest(), "big") % (2 * days)
        return number - days + (number >= days)

    return map_values(texts, sql_type, shift, pa.int32())


def map_values(
    texts: pa.Array, sql_type: str, function: Callable[[bytes], Any], kind: pa.DataType
) -> pa.Array:
    """Return the result of a function for each value, called once for each distinct value."""
    coded = texts.dictionary_encode()
    values = [text.encode() for text in coded.dictionary.to_pylist()]
    if sql_type == "BLOB":
        values = [_ESCAPED.sub(lambda escape: bytes.fromhex(escape[1].decode()), v) for v in values]
    return pa.array([function(value) for value in values], kind).take(coded.indices)


MIN_KEY_BYTES = 16
KEY = "env:ANON_KEY"  # where a key is by default
_MIN_CHARACTERS = 4  # different characters of a key that is text
HINT = "pass " + Argument("key", KEY) + " and set that environment variable"
_BLANK = " \t\r\n\0"
_MARKS = "'\"`"
_MISSPELT = re.compile(
    r"""(?six)
    \W* (\w+\.)? (get)? (env(iro\w*|[ _-]?vars?)?|secrets?)  # the word, and what follows it:
        ( \s*[:=.].* | \W+\w+\W* | _\w+ )       # env=NAME, environ["NAME"], env_var('NAME')
    | \$ ( [({].*[)}] | [a-z_][\w.:]* )         # ${NAME}, $(command), $NAME
    | [%!] [a-z_]\w* [%!]                       # %NAME%
    | [#@&]? ( \{.*\} | <.*> | \[.*\] )         # {{ NAME }}, <NAME>
    | [a-z_][\w.]* [(\[] \W? [\w:]+ \W? [)\]]   # getvariable('name')
    """
)
_NAMED = re.compile(r"(?s)(?:[\w.]+\W+)?\W*([A-Za-z_]\w*)\W*")  # NAME, evn:NAME, ANON_KEY=NAME
_VARIABLE = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)+")  # as names of variables are written


def require_key(function: str, key: bytes) -> None:
    """Raise AnonError, which does not show the key, unless it can be a secret key.

    Bytes that are not text are judged by their number alone.
    """
    text = _text(key)
    if text is not None and _is_reference(text):
        raise AnonError(
            function,
            Parameter("key")
            + " must be 'env:NAME' or 'secret:NAME', in these letters, or a secret itself",
            "what looks like another reference or the name of a variable",
            HINT,
        )
    if len(key) < MIN_KEY_BYTES:
        rule = Parameter("key") + f" must have at least {MIN_KEY_BYTES} bytes"
        raise AnonError(function, rule, "fewer", HINT)
    if text is None:
        return
    if len(set(text) - set(_BLANK)) < _MIN_CHARACTERS:
        others = f"{_MIN_CHARACTERS} different characters other than blanks and NUL"
        rule = Parameter("key") + f" must have at least {others}"
        raise AnonError(function, rule, "fewer", "generate a random key")
    if len(text.strip(_BLANK).encode()) < MIN_KEY_BYTES:
        rule = (
            Parameter("key")
            + f" must have at least {MIN_KEY_BYTES} bytes without the blanks around it"
        )
        raise AnonError(function, rule, "fewer", HINT)


def _text(key: bytes) -> str | None:
    """Return the text that the bytes are, with one kind of blank; None if they are not text."""
    try:
        text = unicodedata.normalize("NFKC", key.decode())
    except UnicodeDecodeError:
        return None
    kinds = {char: unicodedata.category(char) for char in set(text) - set(_BLANK)}
    if "Cc" in kinds.values():
        return None
    kept = {char: char for char in text}
    kept |= {char: " " for char, kind in kinds.items() if kind in ("Zs", "Zl", "Zp")}
    kept |= {char: "" for char, kind in kinds.items() if kind == "Cf"}  # invisible
    return "".join(kept[char] for char in text)


def _is_reference(text: str) -> bool:
    """Return whether a text looks like a reference to a key that is elsewhere."""
    bare = text.strip(_BLANK + _MARKS)
    if _MISSPELT.fullmatch(bare):
        return True
    named = _NAMED.fullmatch(bare)
    if named is None:
        return False
    variables = {name.upper() for name in os.environ}
    return bool(_VARIABLE.fullmatch(named[1])) or named[1].upper() in variables


_REFERENCE = re.compile(r"(env|secret):(.*)", re.DOTALL)
REFUSED = "no key, "  # begins the text that stands for a refused key, before the error
MAX_HELD_KEYS = 1000  # that a process holds
_lock = ForkLock()
_numbers = itertools.count(1)


@dataclass(frozen=True, repr=False)
class _DatabaseKey:
    """A key that a database uses. Without a ``repr``, which would show the key."""

    database: str
    key: bytes


_names: dict[_DatabaseKey, str] = {}
_keys: dict[str, _DatabaseKey] = {}  # the one that was used last comes last


def hold(
    function: str, source: object, secret: Callable[[str, str], str], database: str = ""
) -> str:
    """Return the name under which a key is held; the same key has the same name in a database.

    The key is held until ``forget``, or until ``MAX_HELD_KEYS`` others were used. A plan has the
    name, so that a prepared statement needs the key whenever it runs. Raises AnonError as
    ``resolved`` does.

    source, secret: as ``resolved`` takes them.
    """
    database_key = _DatabaseKey(database, resolved(function, source, secret))
    with _lock:
        name = _names.get(database_key) or f"key {next(_numbers)}"
        _use(name, database_key)
        while len(_keys) > MAX_HELD_KEYS:
            _drop(next(iter(_keys)))
    return name


def without_database(function: str, name: str) -> str:
    """Refuse ``secret:NAME``, because there is no database to ask."""
    rule = Parameter("key") + " must be 'env:NAME' or a secret itself where DuckDB is not asked"
    raise AnonError(function, rule, "a secret of a database", HINT)


def resolved(
    function: str, source: object, secret: Callable[[str, str], str] = without_database
) -> bytes:
    """Return a key. Nothing but ``env:NAME`` and ``secret:NAME`` is a reference.

    Raises AnonError, which shows neither the key nor the name after the colon, for a key that is
    missing or that ``require_key`` refuses, wherever it is.

    source: a key as text or bytes, ``env:NAME`` for an environment variable, or ``secret:NAME`` for
        a secret of the database.
    secret: returns the value of a secret, from the function and the name.
    """
    reference = _REFERENCE.fullmatch(source) if isinstance(source, str) else None
    if reference and reference[1] == "env":
        variable = os.environ.get(reference[2])
        if not variable:
            rule = "the environment variable that " + Parameter("key") + " names must be set"
            raise AnonError(function, rule, None, HINT)
        source = os.fsencode(variable)
    elif reference:
        source = secret(function, reference[2])
    if not isinstance(source, (str, bytes)):
        got = "NULL" if source is None else "another type"
        rule = Parameter("key") + f" must be text or BLOB of at least {MIN_KEY_BYTES} bytes"
        raise AnonError(function, rule, got, HINT)
    key = source.encode() if isinstance(source, str) else source
    require_key(function, key)
    return key


def _use(name: str, database_key: _DatabaseKey) -> None:
    """Note that a key is the last one that was used."""
    _keys.pop(name, None)
    _keys[name] = database_key
    _names[database_key] = name


def _drop(name: str) -> None:
    database_key = _keys.pop(name, None)
    if database_key is not None:
        _names.pop(database_key, None)


def forget(database: str) -> None:
    """Delete the keys of a database that has closed. Takes no lock, as a finalizer."""
    for name in list(_keys):
        database_key = _keys.get(name)
        if database_key is not None and database_key.database == database:
            _drop(name)


def key_of(function: str, name: object) -> bytes:
    """Return the key that ``hold`` has given a name. Raises AnonError for a refused one."""
    with _lock:
        database_key = _keys.get(name) if isinstance(name, str) else None
        if database_key is not None:
            _use(str(name), database_key)
            return database_key.key
    caller, _, rule = str(name).removeprefix(REFUSED).partition(": ")
    if rule:
        raise AnonError(caller, rule)
    raise AnonError(
        function,
        Parameter("key")
        + f" must be one of the last {MAX_HELD_KEYS:,} that this process was given",
        "an older one",
        "prepare the statement again",
    )


def named_key(function: str, written: str, value: Any, why: str) -> Any:
    """Return a key that must be the name of an environment variable, never a secret itself.

    written: the parameter as its users write it; why: the reason, for the error. None is
    returned as it is. Raises AnonError for any other text.
    """
    if value is not None and not (isinstance(value, str) and value.startswith("env:")):
        rule = f"{written} must be env: and the name of an environment variable"
        raise AnonError(function, rule, "another text", why)
    return value


def reference(source: object) -> str | None:
    """Return what may be written down of a key: its reference, never the key; None for none."""
    if source is None:
        return None
    named = isinstance(source, str) and _REFERENCE.fullmatch(source)
    return str(source) if named else "a secret"


def choices(key: bytes, seed: int) -> tuple[int, bytes]:
    """Return the seed of random choices that a key and a public seed give, and a key for ties.

    The seed is a number of 63 bits, the key for ties has 32 bytes. Without the key neither can be
    computed.
    """
    digest = hmac.digest(key, b"anon_sql choices %d" % seed, "sha512")
    return int.from_bytes(digest[:8]) >> 1, digest[8:40]


HASH_BYTES = 16  # of a person's hash


def ledger_key(key: bytes) -> bytes:
    """Return the key of all hashes in a ledger, derived from the user's."""
    return hmac.digest(key, b"anon_sql ledger", "sha512")


def key_check(key: bytes) -> str:
    """Return 16 hexadecimal digits that are the same for the same key, and no hash of a value."""
    return hmac.digest(key, b"key", "sha512").hex()[:16]


def entry_digest(fields: Iterable[bytes], key: bytes) -> str:
    """Return 64 hexadecimal digits of HMAC-SHA-512 of the fields of an entry, in their order.

    Each is hashed after its length in 8 bytes, so that different lists of fields differ in what is
    hashed.
    """
    keyed = hmac.new(key, b"entry", "sha512")
    for field in fields:
        keyed.update(len(field).to_bytes(8, "big"))
        keyed.update(field)
    return keyed.hexdigest()[:64]


_CHECK_PERSONS = 1 << 15  # who are hashed between two looks at whether to stop


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
        hmac_of_value = keyed.copy()
        hmac_of_value.update(plain(value))
        return hmac_of_value.digest()[:HASH_BYTES]

    hashes = []
    for first in range(0, max(len(texts), 1), _CHECK_PERSONS):
        stopping.check()
        hashes.append(map_values(texts.slice(first, _CHECK_PERSONS), sql_type, hashed, pa.binary()))
    return pa.concat_arrays(hashes)


def _plain(sql_type: str) -> Callable[[bytes], bytes]:
    """Return what writes equal values of a type, and of others that hold them, alike."""
    if sql_type.startswith("DECIMAL"):
        return _number
    if sql_type.startswith("TIMESTAMP"):
        return lambda value: value.removesuffix(b" 00:00:00")
    return lambda value: value


def _number(value: bytes) -> bytes:
    """Return a printed DECIMAL without the zeros at its end: 5.00 is 5, and .50 is 0.5."""
    integer, _, fraction = value.partition(b".")
    fraction = fraction.rstrip(b"0")
    if integer in {b"", b"-"}:
        integer += b"0"
    return integer + b"." + fraction if fraction else integer
