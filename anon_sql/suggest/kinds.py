"""Distinguish measurements, dates and codes by the type and a sample of a column.

Values that differ in nearly every row number the rows' people or things, unless they are dates or
measured. Fractions are measured. Whole numbers may be either: the name says so, or how they are
spread. Numbers that are assigned have mostly the same gaps, or fill a range evenly. Quantities
thin out from where most of them lie.
"""

import re
from collections.abc import Sequence
from enum import Enum

import numpy as np
import numpy.typing as npt

from anon_sql.core.notation import Notation, Recognized

_INTEGER = re.compile(r"U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)|DECIMAL\(\d+,0\)")
_FRACTION = re.compile(r"FLOAT|DOUBLE|DECIMAL\(.*")
_DATE_TYPE = re.compile(r"DATE|TIME.*")
_DIGITS = re.compile(r"-?\d+(?:\.0+)?")
_STEPS = 0.5  # share of equal gaps from which on numbers are assigned in order
_EVEN = 0.52  # share of the range, without its ends, in which half of evenly spread numbers lie
_THIN = 0.42  # share of the range in which half of the quantities lie at most
_ENDS = 2  # per cent of the values at each end that do not count
_BINS = 8


class Kind(Enum):
    """The kind of the values of a column. CODES: texts. OTHER: BOOLEAN, nested types."""

    CODES = "codes"
    WHOLE_NUMBERS = "whole numbers"
    FRACTIONS = "fractions"
    DATES = "dates"
    OTHER = "other"


def is_integer(sql_type: str) -> bool:
    """Return whether a type has whole numbers alone."""
    return _INTEGER.fullmatch(sql_type) is not None


def kind_of_values(sql_type: str, sample: Sequence[str], written: Recognized | None) -> Kind:
    """Return the kind of the values of a column.

    sample: as ``whole_or_text`` returns it. written: how it writes numbers, dates or times.
    """
    dated = written is not None and bool(written.notation.format)
    if dated or _DATE_TYPE.fullmatch(sql_type):
        return Kind.DATES
    if _FRACTION.fullmatch(sql_type):
        return Kind.WHOLE_NUMBERS if sample or is_integer(sql_type) else Kind.FRACTIONS
    if is_integer(sql_type):
        return Kind.WHOLE_NUMBERS
    if sql_type != "VARCHAR" and not sql_type.startswith("ENUM("):
        return Kind.OTHER
    return Kind.FRACTIONS if written and _is_measured(written.notation, sample) else Kind.CODES


def _is_measured(notation: Notation, sample: Sequence[str]) -> bool:
    """Return whether numbers are measured: some have decimals, or all a unit behind them.

    ``123 456 789`` and ``INV 1234`` are codes.
    """
    return bool(notation.after) or any(notation.decimal in text for text in sample)


def whole_or_text(sql_type: str, sample: Sequence[str]) -> list[str]:
    """Return a sample of texts and whole numbers as it is, and nothing of fractions.

    Fractions that are all whole count as whole numbers, and lose their zeros: a data frame stores
    whole numbers as fractions if one is missing.
    """
    if not _FRACTION.fullmatch(sql_type):
        return list(sample)
    if not all(map(_DIGITS.fullmatch, sample)):
        return []
    return [text.partition(".")[0] for text in sample]


def are_spread_like_quantities(sample: Sequence[str]) -> bool:
    """Return whether whole numbers thin out from where most lie, and are not numbered in order."""
    values = np.unique(np.array(sample, dtype=np.float64))
    if len(values) < 2 * _BINS:
        return False
    _, counts = np.unique(np.diff(values), return_counts=True)
    if counts.max() >= _STEPS * (len(values) - 1):
        return False
    least, first, third, most = np.percentile(values, [_ENDS, 25, 75, 100 - _ENDS])
    chance = 1.5 / np.sqrt(len(values))  # three standard deviations of the share
    if (third - first) / (most - least) > min(_THIN, _EVEN - chance):
        return False
    return _thins_out(np.histogram(values, _BINS, (least, most))[0])


def _thins_out(counts: npt.NDArray[np.int64]) -> bool:
    """Return whether counts fall from the largest to both ends, chance apart."""
    top = int(counts.argmax())
    return all(
        (side[1:] <= side[:-1] + 3 * np.sqrt(side[:-1] + 1)).all()
        for side in (counts[top:].astype(np.float64), counts[top::-1].astype(np.float64))
    )
