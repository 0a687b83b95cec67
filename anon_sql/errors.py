"""Define ``AnonError`` and the sentences that it consists of."""

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

_NAME = re.compile(r"[^\W\d][\w .()/%+&#-]{0,62}")
_NUMBER = re.compile(r"\d{5}|\d[./-]\d")


class AnonError(ValueError):
    """Report a call that has no result, or a release that would break its promise.

    The text is one sentence: the function, the rule, what was got, and a hint. It contains names
    and counts, and no value of the data.
    """

    def __init__(self, function: str, rule: str, got: object = None, hint: str | None = None):
        text = f"{function}: {rule}"
        if got is not None:
            text += f", got {got}"
        if hint:
            text += f"; {hint}"
        super().__init__(text)


def not_installed(function: str, rule: str, got: str, extra: str, instead: str = "") -> AnonError:
    """Return the error for missing packages of an extra; instead: an alternative to them."""
    return AnonError(function, rule, got, f"pip install 'anon-sql[{extra}]'{instead}")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a hint that lists the known names, after the one that is close to ``name``."""
    names = list(known)
    by_lower = {n.lower(): n for n in names}
    close = get_close_matches(name.lower(), list(by_lower), n=1)
    if close and looks_like_name(by_lower[close[0]]):
        return f"did you mean {by_lower[close[0]]}? ({listed(names)})"
    return f"choose from {listed(names)}"


def listed(names: Sequence[str]) -> str:
    """Return column names for an error: those that look like names, and the number of others.

    A header that was misread consists of values, which no error may show.
    """
    shown = ", ".join(name for name in names if looks_like_name(name))
    hidden = sum(not looks_like_name(name) for name in names)
    if not hidden:
        return shown
    others = "1 column whose name looks" if hidden == 1 else f"{hidden} columns whose names look"
    return f"{shown} and {others} like a value" if shown else f"{others} like a value"


def looks_like_name(text: str) -> bool:
    """Return whether a text looks like a column name and not like a value.

    A name begins with a letter or an underscore, has at most 63 letters, digits, blanks and common
    signs, and contains neither a number of five digits nor a date.
    """
    return bool(_NAME.fullmatch(text)) and not _NUMBER.search(text)
