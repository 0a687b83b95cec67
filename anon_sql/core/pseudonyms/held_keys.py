"""Hold secret keys in this process, so that plans, errors and results show a name instead."""

import os
from collections.abc import Callable
from threading import Lock

from anon_sql.errors import AnonError

LEAST = 16  # bytes of a key
ENV, SECRET = "env:", "secret:"
REFUSED = "no key, "  # begins the text that stands for a refused key, before the error
_HINT = "pass key := 'env:ANON_KEY' and set that environment variable"
_lock = Lock()
_names: dict[bytes, str] = {}
_keys: dict[str, bytes] = {}


def hold(function: str, given: object, secret: Callable[[str, str], str]) -> str:
    """Return the name under which a key is held; the same key has the same name.

    given: a key as text or bytes, ``env:NAME`` for an environment variable, or ``secret:name`` for
    a secret of the database. secret: returns the value of a secret, of the function and the name.
    Raises AnonError, which shows neither the key nor the name after the colon, for a key that is
    missing or shorter than ``LEAST`` bytes.
    """
    if isinstance(given, str) and given.startswith(ENV):
        found = os.environ.get(given.removeprefix(ENV))
        if not found:
            rule = "the environment variable that key names must be set"
            raise AnonError(function, rule, "none", _HINT)
        given = found
    elif isinstance(given, str) and given.startswith(SECRET):
        given = secret(function, given.removeprefix(SECRET))
    if not isinstance(given, (str, bytes)):
        got = "NULL" if given is None else "another type"
        raise AnonError(function, f"key must be text or BLOB of at least {LEAST} bytes", got, _HINT)
    key = given.encode() if isinstance(given, str) else given
    if len(key) < LEAST:
        raise AnonError(function, f"key must have at least {LEAST} bytes", "fewer", _HINT)
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
