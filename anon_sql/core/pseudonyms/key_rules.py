"""Refuse as a key what looks like a misspelt reference to one, and what is no key."""

import os
import re
import unicodedata

from anon_sql.errors import AnonError

LEAST = 16  # bytes of a key
_FEWEST = 4  # different characters of a key that is text
HINT = "pass key := 'env:ANON_KEY' and set that environment variable"
_BLANK = " \t\r\n\0"
_MARKS = "'\"`"
_REFERENCE = re.compile(
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

    Bytes that are no text are judged by their number alone.
    """
    text = _text(key)
    if text is not None and _is_reference(text):
        raise AnonError(
            function,
            "key must be 'env:NAME' or 'secret:NAME', in these letters, or a secret itself",
            "what looks like another reference or the name of a variable",
            HINT,
        )
    if len(key) < LEAST:
        raise AnonError(function, f"key must have at least {LEAST} bytes", "fewer", HINT)
    if text is None:
        return
    if len(set(text) - set(_BLANK)) < _FEWEST:
        rule = f"key must have at least {_FEWEST} different characters other than blanks and NUL"
        raise AnonError(function, rule, "fewer", "generate a random key")
    if len(text.strip(_BLANK).encode()) < LEAST:
        rule = f"key must have at least {LEAST} bytes without the blanks around it"
        raise AnonError(function, rule, "fewer", HINT)


def _text(key: bytes) -> str | None:
    """Return the text that the bytes are, with one kind of blank; None if they are no text."""
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
    if _REFERENCE.fullmatch(bare):
        return True
    named = _NAMED.fullmatch(bare)
    if named is None:
        return False
    there = {name.upper() for name in os.environ}
    return bool(_VARIABLE.fullmatch(named[1])) or named[1].upper() in there
