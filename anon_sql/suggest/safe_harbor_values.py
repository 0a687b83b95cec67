"""Count the ages, dates and ZIP codes that are finer than HIPAA Safe Harbor allows.

The rules are 45 CFR 164.514(b)(2)(i)(B) and (C). Values are texts: as they are in a raw table, or
the labels of a release, such as ``[85, 95]``. A text that can be read in two ways counts as against
the rule.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from anon_sql.core.labels.grammar import STAR
from anon_sql.core.notation import MISSING

MAX_AGE = 89  # the greatest age that may stand alone
_TOP = MAX_AGE + 1  # the age that stands for the category of all older ones
Tally = Mapping[str, int]  # rows by the text of a value
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_MORE = r"(?:\+|plus|(?:years? )?(?:and|or) (?:over|older|above|more))"
_FROM = re.compile(rf"(?:(?:>=|≥) ?(\d+)|(\d+) ?{_MORE})", re.IGNORECASE)
_ABOVE = re.compile(r"(?:>|over |above |older than )(\d+)", re.IGNORECASE)
_BELOW = re.compile(r"(?:<|under |below |younger than )(\d+)", re.IGNORECASE)
_YEAR = r"(?:1[5-9]|2[01])\d\d(?:\.0+)?"
_UNIT = re.compile(r" ?(?:years?|yrs?|y)(?: old)?$", re.IGNORECASE)
_UNTIL = re.compile(
    rf"(?:(?:<=|≤) ?({_YEAR})|({_YEAR}) ?(?:-|(?:and|or) (?:before|earlier|older)))", re.IGNORECASE
)
_BEFORE = re.compile(rf"(?:<|before )({_YEAR})", re.IGNORECASE)
_SINCE = re.compile(rf"(?:>=?|≥|since |after |from )?{_YEAR}(?:\+|s)?", re.IGNORECASE)
_YEARS = re.compile(rf"[\[({{]?{_YEAR}(?:(?:, ?| ?[-\u2013/] ?| to ){_YEAR})*[\])}}]?")
_WHOLE_YEARS = re.compile(rf"({_YEAR})-01-01(?: 00:00:00)?, ({_YEAR})-12-31(?: [0-9:.]+)?")
_DAY = re.compile(r"(?<!\d)\d{4}-\d\d-\d\d(?!\d)")
_FIELDS = re.compile(r"'(?:min|max)': ")  # of a typed value, as DuckDB prints it
_FLAG = re.compile(r"y|yes|n|no|t|true|f|false|j|ja|nein|oui|non|si|sí|s", re.IGNORECASE)
_ZIP = re.compile(r"\d{5}(?:-\d{4})?")
_ZIP_DIGITS, _PREFIX_DIGITS = 5, 3
_MIN_SHARE = 0.9  # of sampled texts that must look like ZIP codes, which other codes may resemble


class Remaining(NamedTuple):
    """What is still against a rule: rows, distinct values, and what to add to the reason."""

    rows: int
    values: int
    notes: tuple[str, ...] = ()


def is_hidden(text: str) -> bool:
    """Return whether a text holds no value: a suppressed label, a blank or a missing marker."""
    return text.strip() == STAR or text.strip().lower() in MISSING


def look_like_dates(sample: Sequence[str]) -> bool:
    """Return whether half of the texts contain a date as DuckDB prints it, such as ranges."""
    shown = [text for text in sample if not is_hidden(text)]
    return 2 * sum(_DAY.search(text) is not None for text in shown) >= max(len(shown), 1)


def look_like_zip_codes(sample: Sequence[str]) -> bool:
    """Return whether nearly all texts have the form of a ZIP code, of five or nine digits."""
    shown = [text for text in sample if not is_hidden(text)]
    matching = sum(_ZIP.fullmatch(text.strip()) is not None for text in shown)
    return matching >= max(_MIN_SHARE * len(shown), 1)


def ages(tally: Tally, per_year: float = 1.0) -> Remaining:
    """Count the rows that show an age above 89 other than in one category of 90 or older.

    per_year: units of the column in a year, such as 12 for months. An age of 90 is read as that
    category if no other value exceeds 89.
    """
    return _older(tally, lambda text: _oldest(text, per_year), "an age")


def birth_years(tally: Tally, year: int) -> Remaining:
    """Count the rows that show more than a year of birth, or a year that says an age above 89.

    year: in which the people are as old as the years say. The first year of 90-year-olds is read
    as the category of all earlier ones if no other value is earlier.
    """
    finer = {text: rows for text, rows in tally.items() if not _is_years(text)}
    years = {text: rows for text, rows in tally.items() if text not in finer}
    older = _older(years, lambda text: _age_of_birth(text, year), "a year")
    dated = dates(finer)
    return Remaining(
        dated.rows + older.rows, dated.values + older.values, (*dated.notes, *older.notes)
    )


def dates(tally: Tally) -> Remaining:
    """Count the rows that show more of a date than years."""
    shown = {text: rows for text, rows in tally.items() if not is_hidden(text)}
    flags = sum(rows for text, rows in shown.items() if _FLAG.fullmatch(text.strip()))
    finer = [
        rows
        for text, rows in shown.items()
        if not _is_years(text) and not _FLAG.fullmatch(text.strip())
    ]
    notes = (f"{_rows(flags)} cannot be read as a date",) if flags else ()
    return Remaining(sum(finer), len(finer), notes)


def zip_codes(tally: Tally, *, numbers: bool, restricted: Collection[str] | None) -> Remaining:
    """Count the rows that show more than three digits of a ZIP code, or a restricted prefix.

    numbers: whether the column holds numbers, which have lost their leading zeros. restricted: the
    prefixes of three digits with too few people; None if they are not known, and not counted.
    """
    shown = {text: rows for text, rows in tally.items() if not is_hidden(text)}
    digits = {text: _NUMBER.findall(_FIELDS.sub("", text)) for text in shown}
    whole = {text: [number.partition(".")[0] for number in digits[text]] for text in shown}
    longest = max((len(part) for parts in whole.values() for part in parts), default=0)
    width = _PREFIX_DIGITS if longest <= _PREFIX_DIGITS else _ZIP_DIGITS
    remaining, values, prefixes = 0, 0, restricted or ()
    for text, rows in shown.items():
        padded = numbers or text.startswith(("[", "{'min"))
        parts = [part.zfill(width) if padded else part for part in whole[text]]
        letters = any(char.isalpha() for char in _FIELDS.sub("", text))
        if letters or any(len(part) > _PREFIX_DIGITS or part in prefixes for part in parts):
            remaining, values = remaining + rows, values + 1
    notes = ("restricted prefixes were not counted",) if restricted is None and shown else ()
    return Remaining(remaining, values, notes)


def _older(tally: Tally, age_of: Callable[[str], float | None], noun: str) -> Remaining:
    """Count the rows above 89, where 90 alone may stand for all who are older."""
    shown = {text: rows for text, rows in tally.items() if not is_hidden(text)}
    read = {text: age_of(text) for text in shown}
    above = {text: age for text, age in read.items() if age is not None and age > MAX_AGE}
    unread = sum(rows for text, rows in shown.items() if read[text] is None)
    notes = [f"{_rows(unread)} cannot be read as {noun}"] if unread else []
    exact = {text for text in above if not _is_open(text)}
    if all(age == _TOP for age in above.values()) and (not exact or exact == set(above)):
        rows = sum(shown[text] for text in above)
        if rows:
            notes.append(f"{_rows(rows)} of the category {_TOP} or older")
        return Remaining(0, 0, tuple(notes))
    against = [text for text, age in above.items() if text in exact or age != _TOP]
    return Remaining(sum(shown[text] for text in against), len(against), tuple(notes))


def _is_open(text: str) -> bool:
    """Return whether a text is a category without an end, such as ``90+``."""
    plain = _UNIT.sub("", text.strip())
    return any(form.fullmatch(plain) is not None for form in (_FROM, _ABOVE, _UNTIL, _BEFORE))


def _oldest(text: str, per_year: float) -> float | None:
    """Return the greatest age that a text shows, in years; None if it shows no number.

    A category such as ``85+`` shows its least age, as all older people share it.
    """
    plain = _UNIT.sub("", _FIELDS.sub("", text).strip())
    if opened := _FROM.fullmatch(plain):
        return float(opened[1] or opened[2]) / per_year
    if above := _ABOVE.fullmatch(plain):
        return (float(above[1]) + 1) / per_year
    if below := _BELOW.fullmatch(plain):
        return (float(below[1]) - 1) / per_year
    numbers = [float(number) for number in _NUMBER.findall(plain)]
    return max(numbers) / per_year if numbers else None


def _age_of_birth(text: str, year: int) -> float | None:
    """Return the greatest age that years of birth show."""
    plain = _FIELDS.sub("", text).strip()
    if until := _UNTIL.fullmatch(plain):
        return year - float(until[1] or until[2])
    if before := _BEFORE.fullmatch(plain):
        return year - float(before[1]) + 1
    years = [float(number) for number in re.findall(_YEAR, plain)]
    return year - min(years) if years else None


def _is_years(text: str) -> bool:
    """Return whether a text shows years alone, or a range of whole years."""
    plain = _WHOLE_YEARS.sub(r"\1, \2", _FIELDS.sub("", text).strip())
    return any(
        form.fullmatch(plain) is not None for form in (_YEARS, _UNTIL, _BEFORE, _SINCE)
    ) or is_hidden(text)


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count:,} rows"
