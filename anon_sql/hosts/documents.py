"""Read JSON and TOML that anybody may have written, and hold them against a shape.

What the parsers of Python let through, and what would end in a traceback later, is refused here: a
key twice, NaN and infinite numbers, whole numbers beyond 64 bits, deep nesting, text that is not
Unicode, and types other than those of the shape.
"""

import json
import math
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from anon_sql.errors import AnonError, did_you_mean

DEPTH = 20  # levels of nesting; a manifest has 5
LARGEST = 2**64  # of whole numbers; a seed has up to 64 bits
NAME = 200  # letters of a file's name
_SHA256 = re.compile(r"[0-9a-f]{64}")


class Odd(ValueError):
    """Text that is no document; ``str`` of it is what was got, without the text."""


@dataclass(frozen=True)
class Satisfying:
    """A shape that a predicate decides."""

    holds: Callable[[Any], bool]


@dataclass(frozen=True)
class Optional:
    """The shape of a key that may be absent."""

    shape: Any


@dataclass(frozen=True)
class Each:
    """The shape of every value of an object, whatever its keys, and of the keys."""

    shape: Any
    key: Any = str


NUMBER = (int, float)
COUNT = Satisfying(
    lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= 0
)
SHARE = Satisfying(lambda value: _is(value, NUMBER) and 0 <= value <= 1)
SHA256 = Satisfying(lambda value: isinstance(value, str) and bool(_SHA256.fullmatch(value)))
NAMES = [str]


def plain_name(value: Any) -> bool:
    """Return whether a value is the name of a file in a folder, and of nothing outside it."""
    return (
        isinstance(value, str)
        and 0 < len(value) <= NAME
        and value.isprintable()
        and not value.startswith(".")
        and not any(sign in value for sign in "/\\")
    )


PLAIN = Satisfying(plain_name)


def read_json(path: Path) -> Any:
    """Return the JSON of a file. Raises ``Odd`` for anything else."""
    try:
        document = json.loads(
            path.read_text("utf-8"),
            object_pairs_hook=_once,
            parse_constant=_not_finite,
            parse_float=_finite,
        )
    except Odd:
        raise
    except (ValueError, RecursionError):  # of json, of UTF-8, and of numbers of 4,301 digits
        raise Odd("no JSON") from None
    _require_plain(document)
    return document


def read_toml(text: str) -> dict[str, Any]:
    """Return the tables of a text of TOML. Raises ``Odd`` for anything else."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as wrong:
        place = str(wrong).rpartition("(")[2].rstrip(")") or "somewhere"
        raise Odd(f"a mistake {place}") from None
    except (ValueError, RecursionError):
        raise Odd("numbers too large, or too many brackets within each other") from None
    _require_plain(document)
    return document


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries = dict(pairs)
    if len(entries) != len(pairs):
        raise Odd("JSON with a key twice")
    return entries


def _not_finite(_: str) -> NoReturn:
    raise Odd("JSON with a number that is not finite")


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _not_finite(text)


def _require_plain(document: Any) -> None:
    """Raise ``Odd`` for deep nesting, for large numbers, and for text that is not Unicode."""
    level = [document]
    for _ in range(DEPTH):
        below: list[Any] = []
        for value in level:
            if isinstance(value, Mapping):
                below += [*value.keys(), *value.values()]
            elif isinstance(value, list):
                below += value
            elif isinstance(value, str):
                _require_unicode(value)
            elif isinstance(value, float) and not math.isfinite(value):
                raise Odd("a number that is not finite")
            elif isinstance(value, int) and abs(value) > LARGEST:
                raise Odd("a number beyond 64 bits")
        if not below:
            return
        level = below
    raise Odd(f"more than {DEPTH} levels within each other")


def _require_unicode(text: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise Odd("text that is not Unicode") from None
    if "\0" in text:
        raise Odd("text with a NUL")


def misfit(value: Any, shape: Any, name: str = "") -> str | None:
    """Return the name of the first part of a document that has another shape; None if it fits.

    shape: a type, a text or None, a tuple of shapes of which one must fit, a list of the shape of
    its entries, a dict of the shapes of keys (others may be there), or one of the classes above.
    """
    if isinstance(shape, tuple):
        return None if any(misfit(value, each, name) is None for each in shape) else name
    if isinstance(shape, dict):
        wrongs = _of_keys(value, shape, name)
    elif isinstance(shape, Each):
        wrongs = _of_values(value, shape, name)
    elif isinstance(shape, list):
        wrongs = _of_entries(value, shape[0], name)
    else:
        fits = shape.holds(value) if isinstance(shape, Satisfying) else _is(value, shape)
        return None if fits else name
    return next((wrong for wrong in wrongs if wrong is not None), None)


def _of_keys(value: Any, shape: Mapping[str, Any], name: str) -> Iterator[str | None]:
    if not isinstance(value, dict):
        yield name
        return
    for key, inner in shape.items():
        below, optional = f"{name}.{key}".lstrip("."), isinstance(inner, Optional)
        if key in value:
            yield misfit(value[key], inner.shape if optional else inner, below)
        elif not optional:
            yield below


def _of_values(value: Any, shape: Each, name: str) -> Iterator[str | None]:
    if not isinstance(value, dict):
        yield name
        return
    for key, each in value.items():
        yield misfit(key, shape.key, name)
        yield misfit(each, shape.shape, name)


def _of_entries(value: Any, shape: Any, name: str) -> Iterator[str | None]:
    if not isinstance(value, list):
        yield name
        return
    for each in value:
        yield misfit(each, shape, name)


def _is(value: Any, kind: Any) -> bool:
    """Return whether a value is of a type; a truth value is not a number."""
    if kind is None or isinstance(kind, str):
        return bool(value == kind)
    if kind is object:
        return True
    return isinstance(value, kind) and (isinstance(value, bool) <= (kind is bool))


def require_known(
    function: str, where: str, section: Mapping[str, Any], names: Sequence[str]
) -> None:
    """Raise AnonError for an unknown key."""
    for name in section:
        if name not in names:
            rule = f"{where} must have known keys only"
            raise AnonError(function, rule, f"'{name}'", did_you_mean(name, names))


def require_typed(
    function: str,
    where: str,
    section: Mapping[str, Any],
    kinds: Mapping[str, type | tuple[type, ...]],
) -> None:
    """Raise AnonError for an unknown key, and for a value of another type."""
    require_known(function, where, section, list(kinds))
    for name, value in section.items():
        if not isinstance(value, kinds[name]) or (
            isinstance(value, list) and not all(isinstance(each, str) for each in value)
        ):
            raise AnonError(function, f"{name} in {where} has another type", type(value).__name__)
