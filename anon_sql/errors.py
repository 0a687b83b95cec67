"""The one error of the package: which function, which rule, what was got, what to do."""

from collections.abc import Iterable
from difflib import get_close_matches


class AnonError(ValueError):
    """A call that cannot be answered, or a release that would break its promise.

    The text is one sentence that names the function and the rule, says what was
    got and gives a hint. It never holds a value of the data, only names and counts.
    """

    def __init__(self, function: str, rule: str, got: object = None, hint: str | None = None):
        text = f"{function}: {rule}"
        if got is not None:
            text += f", got {got}"
        if hint:
            text += f"; {hint}"
        super().__init__(text)


def not_installed(function: str, rule: str, got: str, extra: str, instead: str = "") -> AnonError:
    """The error where packages of an extra are missing; instead: what else would do."""
    return AnonError(function, rule, got, f"pip install 'anon-sql[{extra}]'{instead}")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A hint that lists the known names and, where one is close, puts it first."""
    names = list(known)
    by_lower = {n.lower(): n for n in names}
    close = get_close_matches(name.lower(), list(by_lower), n=1)
    listed = ", ".join(names)
    return f"did you mean {by_lower[close[0]]}? ({listed})" if close else f"choose from {listed}"
