"""Define ``AnonError``: the parts of a sentence, and how each host spells what they name.

A rule, what was got and a hint are texts, in which parameters of the call are tokens. SQL writes
``l := 2``, Python ``l=2``, a command ``--l 2``, and each says so from the same error; a column that
is called like a parameter is text and keeps its name.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ContextDecorator
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

_NAME = re.compile(r"[^\W\d][\w .()/%+&#'’-]{0,62}")  # noqa: RUF001 - either apostrophe
_NUMBER = re.compile(r"\d{5}|\d[./-]\d")


class Words:
    """A part of a sentence that hosts spell each in their own way; ``+`` joins parts and texts."""

    def spelled(self, spelling: "Spelling") -> str:
        """Return the text in the spelling of a host."""
        raise NotImplementedError

    def __add__(self, other: "str | Words") -> "Words":
        return _Joined((self, other))

    def __radd__(self, other: str) -> "Words":
        return _Joined((other, self))

    def __str__(self) -> str:
        return self.spelled(SQL)


@dataclass(frozen=True)
class _Joined(Words):
    """Parts and texts, one after another."""

    parts: tuple[str | Words, ...]

    def spelled(self, spelling: "Spelling") -> str:
        return "".join(_spelled(part, spelling) for part in self.parts)


def joined(separator: str, parts: Iterable[str | Words]) -> Words:
    """Return parts with a text between each two, as ``str.join`` does."""
    pieces: list[str | Words] = []
    for part in parts:
        pieces += [separator, part] if pieces else [part]
    return _Joined(tuple(pieces))


@dataclass(frozen=True)
class Parameter(Words):
    """The name of a parameter. in_sql: what SQL says if its call does not name the parameter."""

    name: str
    in_sql: str | None = None

    def spelled(self, spelling: "Spelling") -> str:
        return spelling.parameter(self.name, self.in_sql)


@dataclass(frozen=True)
class Argument(Words):
    """A parameter with its value, as a call writes them.

    value: a number, a text, a list or a mapping; ``...`` stands for any value, and in a list for
    more of them. None leaves the value out.
    """

    name: str
    value: Any = None

    def spelled(self, spelling: "Spelling") -> str:
        return spelling.argument(self.name, self.value)


@dataclass(frozen=True)
class Option(Words):
    """What to do about an option of a command; a host with screens names its field instead.

    value: as a shell takes it, None without one. verb: what a command does with it.
    """

    name: str
    value: str | None = None
    verb: str = "pass"

    def spelled(self, spelling: "Spelling") -> str:
        return spelling.option(self)


@dataclass(frozen=True)
class RelationName(Words):
    """The name of a relation in quotes, for which a host may have another, such as its file."""

    name: str

    def spelled(self, spelling: "Spelling") -> str:
        return spelling.relation(self.name)


@dataclass(frozen=True)
class Where(Words):
    """Words for hosts that have something; others leave them out. has: one of ``Spelling.has``."""

    has: str
    words: str | Words

    def spelled(self, spelling: "Spelling") -> str:
        return _spelled(self.words, spelling) if self.has in spelling.has else ""


_CALLED = {"inference": {"sensitive": "secret"}}  # where a function has a word of its own


def _as_called(part: Any, names: Mapping[str, str]) -> Any:
    """Return a part of a sentence with the names that a function has for its parameters."""
    if isinstance(part, (Parameter, Argument)):
        return replace(part, name=names.get(part.name, part.name))
    if isinstance(part, Where):
        return replace(part, words=_as_called(part.words, names))
    if isinstance(part, _Joined):
        return _Joined(tuple(_as_called(each, names) for each in part.parts))
    return part


def _spelled(part: object, spelling: "Spelling") -> str:
    return part.spelled(spelling) if isinstance(part, Words) else str(part)


COMMENTS, COMPARISONS = "comments on columns", "k = 7, which compares"
COMMANDS = "commands such as anon-sql roles"


class Spelling:
    """How a host spells what an error names; this is the spelling of SQL.

    has: what only some hosts have, for ``Where``.
    """

    has = frozenset({COMMENTS, COMPARISONS})
    none = "NULL"

    def words(self, text: "str | Words") -> str:
        """Return a text in which parameters are tokens."""
        return _spelled(text, self)

    def function(self, name: str) -> str:
        """Return the function that an error comes from."""
        return name

    def parameter(self, name: str, in_sql: str | None) -> str:
        """Return the name of a parameter; in_sql: what SQL says instead."""
        return in_sql or name

    def argument(self, name: str, value: Any) -> str:
        """Return a parameter with its value; None leaves the value out."""
        return f"{name} :=" if value is None else f"{name} := {self.value(value)}"

    def option(self, option: Option) -> str:
        """Return what to do about an option of a command."""
        parts = (option.verb, option.name, option.value)
        return " ".join(part for part in parts if part)

    def relation(self, name: str) -> str:
        """Return the name of a relation."""
        return f"'{name}'"

    def value(self, value: Any) -> str:
        """Return a value as a call writes it."""
        if value is ...:
            return "…"
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, (list, tuple)):
            return f"[{', '.join(map(self.value, value))}]"
        if isinstance(value, Mapping):
            pairs = (f"{self.text(key)}: {self.value(each)}" for key, each in value.items())
            return f"{self.map(value)}{{{', '.join(pairs)}}}"
        return str(value)

    def text(self, text: str) -> str:
        """Return a text in quotes."""
        return "'" + text.replace("'", "''") + "'"

    def map(self, value: Mapping[str, Any]) -> str:
        """Return what stands before the braces of a mapping; one of mappings is a struct."""
        return "" if any(isinstance(each, Mapping) for each in value.values()) else "MAP "


class Python(Spelling):
    """The spelling of Python. has: as in ``Spelling``."""

    none = "None"

    def __init__(self, *has: str):
        self.has = frozenset(has)

    def argument(self, name: str, value: Any) -> str:
        return f"{name}=" if value is None else f"{name}={self.value(value)}"

    def text(self, text: str) -> str:
        return repr(text)

    def map(self, value: Mapping[str, Any]) -> str:
        return ""


SQL, PYTHON = Spelling(), Python(COMMENTS)


class AnonError(ValueError):
    """Report a call that has no result, or a release that would break its promise.

    The text is one sentence: the function, the rule, what was got, and a hint. It contains names
    and counts, and no value of the data. ``spelling`` is that of ``str``.
    """

    spelling: Spelling = SQL

    def __init__(
        self, function: str, rule: str | Words, got: object = None, hint: str | Words | None = None
    ):
        if got is not None and not isinstance(got, Words):
            got = str(got)
        if function in _CALLED:
            rule, got, hint = (_as_called(part, _CALLED[function]) for part in (rule, got, hint))
        super().__init__(function, rule, got, hint)
        self.function, self.rule, self.got, self.hint = function, rule, got, hint

    def render(self, spelling: Spelling) -> str:
        """Return the sentence in the spelling of a host."""
        text = f"{spelling.function(self.function)}: {_spelled(self.rule, spelling)}"
        if self.got is not None:
            text += f", got {_spelled(self.got, spelling)}"
        if hint := self.hint and _spelled(self.hint, spelling):
            text += f"; {hint}"
        return text

    def __str__(self) -> str:
        return self.render(self.spelling)

    def __repr__(self) -> str:
        return f"AnonError({str(self)!r})"


class AnonWarning(UserWarning):
    """Warn of what a release shows although its labels keep every promise.

    The text is one sentence with names and counts, and no value of the data.
    """


class SpelledAs(ContextDecorator):
    """Spell the errors that are raised within as a host does; a decorator, too."""

    def __init__(self, spelling: Spelling):
        self.spelling = spelling

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if isinstance(error, AnonError):
            error.spelling = self.spelling


def not_installed(
    function: str, rule: str | Words, got: str | None, extra: str, instead: str | Words = ""
) -> AnonError:
    """Return the error for missing packages of an extra; instead: an alternative to them."""
    return AnonError(function, rule, got, _Joined((f"pip install 'anon-sql[{extra}]'", instead)))


def did_you_mean(name: str, choices: Iterable[str]) -> str:
    """Return a hint that lists the known names, after the one that is close to ``name``."""
    names = list(choices)
    by_lower = {n.lower(): n for n in names}
    close = get_close_matches(name.lower(), list(by_lower), n=1)
    if close and looks_like_name(by_lower[close[0]]):
        return f"did you mean {by_lower[close[0]]}? ({listed(names)})"
    return f"choose from {listed(names)}"


def listed(names: Sequence[str]) -> str:
    """Return column names for an error: those that look like names, and the number of others.

    A header that was misread consists of values, which no error may show.
    """
    text = ", ".join(name for name in names if looks_like_name(name))
    hidden = sum(not looks_like_name(name) for name in names)
    if not hidden:
        return text
    others = "1 column whose name looks" if hidden == 1 else f"{hidden} columns whose names look"
    return f"{text} and {others} like a value" if text else f"{others} like a value"


def looks_like_name(text: str) -> bool:
    """Return whether a text looks like a column name and not like a value.

    A name begins with a letter or an underscore, has at most 63 letters, digits, blanks and common
    signs, such as an apostrophe, and contains neither a number of five digits nor a date.
    """
    return bool(_NAME.fullmatch(text)) and not _NUMBER.search(text)
