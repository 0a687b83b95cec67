"""Hold secret keys in this process, so that plans, errors and results show a name instead."""

import os
import re
from collections.abc import Callable
from threading import Lock

from anon_sql.core.pseudonyms.key_rules import HINT, LEAST, require_key
from anon_sql.errors import AnonError

_REFERENCE = re.compile(r"(env|secret):(.*)", re.DOTALL)
REFUSED = "no key, "  # begins the text that stands for a refused key, before the error
_lock = Lock()
_names: dict[bytes, str] = {}
_keys: dict[str, bytes] = {}


def hold(function: str, given: object, secret: Callable[[str, str], str]) -> str:
    """Return the name under which a key is held; the same key has the same name.

    given: a key as text or bytes, ``env:NAME`` for an environment variable, or ``secret:NAME`` for
    a secret of the database; nothing else is a reference. secret: returns the value of a secret, of
    the function and the name. Raises AnonError, which shows neither the key nor the name after the
    colon, for a key that is missing or that ``require_key`` refuses, wherever it is.
    """
    reference = _REFERENCE.fullmatch(given) if isinstance(given, str) else None
    if reference and reference[1] == "env":
        found = os.environ.get(reference[2])
        if not found:
            rule = "the environment variable that key names must be set"
            raise AnonError(function, rule, "none", HINT)
        given = os.fsencode(found)
    elif reference:
        given = secret(function, reference[2])
    if not isinstance(given, (str, bytes)):
        got = "NULL" if given is None else "another type"
        raise AnonError(function, f"key must be text or BLOB of at least {LEAST} bytes", got, HINT)
    key = given.encode() if isinstance(given, str) else given
    require_key(function, key)
    with _lock:
        name = _names.setdefault(key, f"key {len(_names) + 1}")
        _keys[name] = key
    return name


def held(function: str, name: object) -> bytes:
    """Return the key that ``hold`` has given a name. Raises AnonError for a refused one."""
    if isinstance(name, str) and name in _keys:
        return _keys[name]
    asked, _, rule = str(name).removeprefix(REFUSED).partition(": ")
    raise AnonError(asked if rule else function, rule or "key must be held by this process")
