"""Recognize texts that are numbers, dates or times in another notation, and describe it.

A notation has a pattern, which Python and DuckDB read alike, and a SQL expression that gives the
plain text of a value: the number, date or timestamp as DuckDB prints it. Whatever does not fit the
pattern has no plain text, so ``31.02.2020`` and ``1.23,4`` stay text.

Texts of digits alone, and those with leading zeros, are codes. Numbers need a sign of their
notation: a decimal comma, a separator of thousands or a unit that all values have.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.core.names import literal
from anon_sql.core.printing import evaluated

MIN_SHARE = 0.9  # of the texts that must be written in a notation, missing markers aside
_MIN_TEXTS = 3  # different ones, of a column
_SAMPLE_TEXTS = 500  # on which notations are tried first
_FIRST_TEXTS = 20  # on which they are tried before
MISSING = frozenset(
    [
        *("", "-", "--", "?", ".", "na", "n/a", "n.a.", "nan", "nil", "null", "none", "missing"),
        *("unknown", "not available", "unbekannt", "k.a.", "k. a.", "keine angabe", "inconnu"),
        *("nd", "n.d.", "desconocido", "sconosciuto"),
    ]
)
_SPACES = "[ \u00a0\u2009\u202f]"
_PARTS = {
    "d": "(?:0?[1-9]|[12][0-9]|3[01])",
    "m": "(?:0?[1-9]|1[0-2])",
    "Y": "(?:1[5-9]|2[01])[0-9][0-9]",
    "y": "[0-9][0-9]",
    "b": "(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)",
    "H": "(?:[01]?[0-9]|2[0-3])",
    "I": "(?:0?[1-9]|1[0-2])",
    "M": "[0-5][0-9]",
    "S": "[0-5][0-9]",
    "f": "[0-9]{1,6}",
    "p": "(?i:am|pm)",
}
_COMPACT = {**_PARTS, "d": "(?:0[1-9]|[12][0-9]|3[01])", "m": "(?:0[1-9]|1[0-2])"}
_COMPACT |= {"H": "(?:[01][0-9]|2[0-3])", "Y": "(?:1[89]|20)[0-9][0-9]"}
_WORDS = {"%d": "dd", "%m": "mm", "%Y": "yyyy", "%y": "yy", "%b": "mmm", "%H": "hh", "%I": "hh"}
_WORDS |= {"%M": "mm", "%S": "ss", "%f": "ffffff", "%p": "AM/PM"}
_ISO = ("%Y-%m-%d", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M:%S.%f", "%Y-%m-%d %H:%M")
_DAYS = (
    *("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%Y.%m.%d"),
    *("%d-%b-%Y", "%d %b %Y", "%d.%m.%y", "%d/%m/%y", "%m/%d/%y"),
)
_TIMES = ("", " %H:%M", " %H:%M:%S", " %H:%M:%S.%f", " %I:%M %p", " %I:%M:%S %p")
FORMATS = (
    *_ISO,
    *("%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%SZ"),
    *("%Y%m%d", "%Y%m%d%H%M", "%Y%m%d%H%M%S"),
    *(day + time for day in _DAYS for time in _TIMES),
)
_SIGNS = ((".", ""), (",", ""), (",", "."), (".", ","), (".", " "), (",", " "), (".", "'"))
_BEFORE = r"(?:[$€£¥]|[A-Z]{3} )"
_AFTER = (
    r"(?:[%‰°€$£¥]|°[CFK]|[A-Za-zµ/%²³]{2,12}|[ \u00a0][^\W\d_][\w/%²³.]{0,15}|[ \u00a0][%‰€$£¥°])"
)
_UNIT = re.compile(rf"({_BEFORE}?)[ \u00a0]?(-?[0-9][0-9.,' \u00a0\u2009\u202f]*?)({_AFTER}?)")


@dataclass(frozen=True)
class Notation:
    """The notation of the texts of a column.

    format: of dates and times, as strptime takes it; empty for numbers. decimal, thousands: the
    signs of numbers. before, after: the unit that all of them have.
    """

    format: str = ""
    decimal: str = "."
    thousands: str = ""
    before: str = ""
    after: str = ""

    @property
    def sql_type(self) -> str:
        """Return the SQL type of the values: DOUBLE, DATE or TIMESTAMP."""
        if not self.format:
            return "DOUBLE"
        return "TIMESTAMP" if re.search("%[HIMSfpTRXc]", self.format) else "DATE"

    @property
    def plain(self) -> bool:
        """Return whether DuckDB reads the texts without further settings."""
        return self == Notation() or self.format in _ISO

    @property
    def pattern(self) -> str | None:
        """Return the pattern of a whole text; None for a format of other parts."""
        return _pattern(self)

    def matches(self, text: str) -> bool:
        """Return whether a text has the pattern."""
        return _compiled(self).fullmatch(text) is not None

    def says(self) -> str:
        """Say in words what the texts are."""
        if self.format:
            named = re.sub("%.", lambda part: _WORDS.get(part[0], part[0]), self.format)
            return f"{'dates' if self.sql_type == 'DATE' else 'times'} written {named}"
        signs = {",": "a decimal comma", ".": ""}[self.decimal]
        separators = {"": "", ".": "dots", ",": "commas", " ": "blanks", "'": "apostrophes"}
        between = separators[self.thousands]
        unit = "a unit" if self.before or self.after else ""
        parts = [part for part in (signs, between and f"{between} between thousands", unit) if part]
        return f"numbers with {' and '.join(parts)}" if parts else "numbers"

    def settings(self) -> dict[str, str]:
        """Return the parameters of a reader for this notation, by name."""
        if self.format:
            return {"date_format" if self.sql_type == "DATE" else "timestamp_format": self.format}
        return {"decimal": self.decimal} | ({"thousands": self.thousands} if self.thousands else {})

    def sql(self, x: str) -> str:
        """Return SQL of the plain text of a text; NULL for one that is written otherwise."""
        fits = (
            "true" if self.pattern is None else f"regexp_full_match({x}, {literal(self.pattern)})"
        )
        if self.format:
            parsed = f"try_strptime({x}, {literal(self.format)})"
            value = f"CAST(CAST({parsed} AS {self.sql_type}) AS VARCHAR)"
        else:
            first, less = len(self.before) + 1, len(self.before) + len(self.after)
            value = f"trim(substr({x}, {first}, length({x}) - {less}))" if less else x
            if self.thousands == " ":
                value = f"regexp_replace({value}, {literal(_SPACES)}, '', 'g')"
            elif self.thousands:
                value = f"replace({value}, {literal(self.thousands)}, '')"
            if self.decimal != ".":
                value = f"replace({value}, {literal(self.decimal)}, '.')"
        return f"CASE WHEN {fits} THEN {value} END"

    def numbers(self, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        """Return the numbers, or seconds, that texts mean, float64[n]; NaN for other texts."""
        if not texts:
            return np.empty(0)
        value = f"CAST({self.sql('trim(x)')} AS {self.sql_type})"
        value = value if not self.format else f"epoch({value})"
        stripped = pa.array(texts, pa.string())
        values = evaluated({"x": stripped}, ["VARCHAR"], [f"CAST({value} AS DOUBLE)"])[0]
        return np.array(
            [np.nan if number is None else number for number in values.to_pylist()], float
        )

    def shown(self, text: str) -> str:
        """Return the plain text of a number that matches."""
        value = text[len(self.before) : len(text) - len(self.after)].strip()
        if self.thousands:
            value = re.sub(
                _SPACES if self.thousands == " " else re.escape(self.thousands), "", value
            )
        return value.replace(self.decimal, ".")


@cache
def _pattern(notation: Notation) -> str | None:
    if notation.format:
        separated = re.search("%[a-zA-Z][^%]", notation.format)
        patterns = _PARTS if separated else _COMPACT
        parts = re.split("(%.)", notation.format)
        if any(part[:1] == "%" and part[1:] not in patterns for part in parts):
            return None
        return "".join(patterns[p[1:]] if p[:1] == "%" else re.escape(p) for p in parts)
    sign = _SPACES if notation.thousands == " " else re.escape(notation.thousands)
    whole = "0|[1-9][0-9]*" + (f"|[1-9][0-9]{{0,2}}(?:{sign}[0-9]{{3}})+" if sign else "")
    number = f"-?(?:{whole})(?:{re.escape(notation.decimal)}[0-9]+)?"
    before, after = re.escape(notation.before), re.escape(notation.after)
    blank = f"{_SPACES}?"
    return (f"{before}{blank}" if before else "") + number + (f"{blank}{after}" if after else "")


@cache
def _compiled(notation: Notation) -> re.Pattern[str]:
    return re.compile(".*" if notation.pattern is None else notation.pattern)


@dataclass(frozen=True)
class Recognized:
    """The notation of a column.

    fit, count: the number of texts in the notation, and of all except missing markers. rival:
    another fitting notation, in which the texts have other meanings.
    """

    notation: Notation
    fit: int
    count: int
    rival: Notation | None = None

    @property
    def whole(self) -> bool:
        """Return whether all texts are in the notation, and their meaning is certain."""
        return self.fit == self.count and self.certain

    @property
    def certain(self) -> bool:
        """Return whether the meaning of the texts is certain."""
        return self.rival is None and "%y" not in self.notation.format

    def says(self) -> str:
        """Say in words what the texts are."""
        words = self.notation.says()
        if self.rival:
            words += f", or {self.rival.says()}"
        if "%y" in self.notation.format:
            words += ", of an unknown century"
        return words


def is_missing(text: str) -> bool:
    """Return whether a text is a common marker of a missing value."""
    return text.strip().lower() in MISSING


def _counted(texts: Sequence[str]) -> Counter[str]:
    """Return how often each text occurs, without blanks around it and missing markers."""
    counts: Counter[str] = Counter()
    for text, count in Counter(texts).items():
        if not is_missing(text):
            counts[text.strip()] += count
    return counts


def _matching(notation: Notation, counts: Mapping[str, int]) -> int:
    """Return how many texts have the pattern of a notation, each as often as it occurs."""
    matches = _compiled(notation).fullmatch  # once, since there are many texts
    return sum(count for text, count in counts.items() if matches(text))


def recognize(texts: Sequence[str]) -> Recognized | None:
    """Return the notation of the texts of a column; None without a notation.

    Texts that are not numbers, dates or times have none, nor have codes of digits. ``MIN_SHARE`` of
    the texts must be written so. NULL and missing markers do not count.
    """
    counts = _counted(texts)
    if len(counts) < _MIN_TEXTS:
        return None
    sample = dict(list(counts.items())[:_SAMPLE_TEXTS])
    first = dict.fromkeys(list(sample)[:_FIRST_TEXTS], 1)
    total, sample_count = counts.total(), sum(sample.values())
    fitting = []
    for notation in _candidates(sample):
        if _matching(notation, first) * 2 < len(first):
            continue
        if _matching(notation, sample) < MIN_SHARE * sample_count:
            continue
        fit = _matching(notation, counts)
        if fit >= MIN_SHARE * total and _is_recognizable(notation, counts, fit == total):
            fitting.append((fit, notation))
    if not fitting:
        return None
    best_fit = max(fit for fit, _ in fitting)
    best = [notation for fit, notation in fitting if fit == best_fit]
    rivals = [
        candidate for candidate in best[1:] if _have_other_meanings(best[0], candidate, counts)
    ]
    return Recognized(best[0], best_fit, total, rivals[0] if rivals else None)


def _candidates(sample: Mapping[str, int]) -> Iterator[Notation]:
    """Yield the notations that some texts could have."""
    unit = _unit(sample)
    if unit is not None:
        yield from (Notation("", decimal, sign, *unit) for decimal, sign in _SIGNS)
    if sum(count for text, count in sample.items() if text[:1].isdigit()) >= MIN_SHARE * sum(
        sample.values()
    ):
        yield from map(Notation, FORMATS)


def _unit(sample: Mapping[str, int]) -> tuple[str, str] | None:
    """Return the texts before and after nearly all numbers, which are mostly empty.

    None for texts that are not numbers.
    """
    units: Counter[tuple[str, str]] = Counter()
    for text, count in sample.items():
        if (matched := _UNIT.fullmatch(text)) is not None:
            units[matched[1].strip(), matched[3].strip()] += count
    common = units.most_common(1)
    return common[0][0] if common and common[0][1] >= MIN_SHARE * sum(sample.values()) else None


def with_unit(notation: Notation, texts: Sequence[str]) -> Notation:
    """Return a notation with the unit that nearly all texts have."""
    unit = None if notation.format else _unit(Counter(text.strip() for text in texts if text))
    return replace(notation, before=unit[0], after=unit[1]) if unit else notation


def fits(notation: Notation, texts: Sequence[str]) -> bool:
    """Return whether ``MIN_SHARE`` of the texts are written in a notation, and show it."""
    counts = _counted(texts)
    fit = _matching(notation, counts)
    return 0 < fit >= MIN_SHARE * counts.total() and _is_recognizable(notation, counts, False)


def _is_recognizable(notation: Notation, counts: Mapping[str, int], whole: bool) -> bool:
    """Return whether some text shows that the texts are not codes of digits."""
    if notation.format or notation.before or notation.after:
        return True
    if notation == Notation():  # codes such as 250.13 stand beside others such as V57
        return whole and any("." in text for text in counts)
    signs = [sign for sign in (notation.decimal, notation.thousands) if sign and sign != "."]
    signs += ["."] if notation.thousands == "." else []
    texts = [text.replace("\u00a0", " ").replace("\u202f", " ") for text in counts]
    return any(sign in text for sign in signs for text in texts)


def _have_other_meanings(one: Notation, other: Notation, counts: Counter[str]) -> bool:
    """Return whether some text means something else in another notation that it fits."""
    shared = [text for text in counts if one.matches(text) and other.matches(text)]
    if one.format and other.format:
        return one.sql_type == other.sql_type and bool(shared)
    if one.format or other.format:
        return False
    return any(one.shown(text) != other.shown(text) for text in shared)
