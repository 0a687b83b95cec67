"""The rules that suggest a role for one column by itself; the first that applies decides."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from anon_sql.core.columns import is_number
from anon_sql.errors import AnonError
from anon_sql.measures.uniqueness import UNIQUE_SHARE
from anon_sql.suggest.column_words import Meaning, meaning
from anon_sql.suggest.unique_counts import Counts
from anon_sql.suggest.value_patterns import mean_words, recognized

NEARLY = 0.9  # share of distinct values from which on codes identify rows
SMALLEST = 20  # values below which nearly all may differ by chance
FEW = 5  # most values of what is no identifier although its name says so, such as a flag
EACH = 20  # rows that each of so few values must have
SENTENCE = 4  # mean number of words from which on a text is free text
_INTEGER = re.compile(r"U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)|DECIMAL\(\d+,0\)")


@dataclass(frozen=True)
class Shape:
    """A column as the rules see it.

    rows: of the table. nulls: how many of them are NULL. sample: values as text, of text and
    integers. consecutive: whether the values are as many whole numbers as lie between the least and
    the greatest.
    """

    name: str
    sql_type: str
    rows: int
    nulls: int
    counts: Counts
    sample: list[str]
    consecutive: bool = False

    @property
    def held(self) -> int:
        return self.rows - self.nulls

    @property
    def values(self) -> int:
        """Return the number of distinct values, NULL not counted."""
        return self.counts.distinct - (self.nulls > 0)

    @property
    def unique_share(self) -> float:
        return self.counts.unique / self.rows if self.rows else 0.0

    @property
    def is_text(self) -> bool:
        return self.sql_type == "VARCHAR" or self.sql_type.startswith("ENUM(")

    @property
    def singles_out(self) -> str | None:
        """Return how many rows the column singles out, in words; None if so few may be kept."""
        if self.unique_share <= UNIQUE_SHARE:
            return None
        return f"singles out {self.counts.unique:,} of {self.rows:,} rows"

    @property
    def is_row_number(self) -> bool:
        """Return whether each of many rows has a whole number of its own, none left out."""
        return self.consecutive and self.values == self.held > FEW

    @cached_property
    def says(self) -> Meaning | None:
        return meaning(self.name)

    @property
    def is_flag(self) -> bool:
        """Return whether a column has few values, which many rows have."""
        return 0 < self.values <= FEW and self.held >= EACH * self.values


@dataclass(frozen=True)
class Suggested:
    """A role and the reason for it."""

    role: str
    reason: str


def _by_values(shape: Shape) -> Suggested | None:
    found = recognized(shape.sample)
    if found is None:
        return None
    pattern, share = found
    return Suggested("identifier", f"{share:.0%} of sampled values look like {pattern.says}")


def _by_type(shape: Shape) -> Suggested | None:
    if shape.sql_type == '"NULL"':  # of a column without a type and without values
        return None
    if shape.sql_type == "UUID":
        return Suggested("identifier", "values of type UUID name one row or thing")
    try:
        is_number("suggest_roles", shape.name, shape.sql_type)
    except AnonError:
        return Suggested("identifier", "the type cannot be generalized and may hold anything")
    return None


def _by_sentences(shape: Shape) -> Suggested | None:
    words = mean_words(shape.sample)
    if not shape.is_text or words < SENTENCE or shape.values < shape.held / 2:
        return None
    return Suggested(
        "identifier", f"free text of {words:.0f} words on average, which may say anything"
    )


def _by_name(shape: Shape) -> Suggested | None:
    says = shape.says
    if says is None or says.role == "keep":
        return None
    if says.role == "identifier" and says.strength != "always" and shape.is_flag:
        return Suggested("quasi", f"the name says {says.says}, but {_counted(shape.values)}")
    alone = ""
    if says.role == "sensitive":  # it is released as it is
        if shape.is_row_number:
            return Suggested("identifier", f"the name says {says.says}, but it numbers the rows")
        alone = f"; alone it {shape.singles_out}" if shape.singles_out else ""
    return Suggested(says.role, f"the name says {says.says}{alone}")


def _counted(values: int) -> str:
    return "there is only 1 value" if values == 1 else f"there are only {values} values"


def _by_uniqueness(shape: Shape) -> Suggested | None:
    codes = shape.is_text or _INTEGER.fullmatch(shape.sql_type)
    if codes and shape.held >= SMALLEST and shape.values >= NEARLY * shape.held:
        share = shape.values / shape.held
        return Suggested("identifier", f"a code: {share:.0%} of its values are different")
    return Suggested("quasi", f"alone {shape.singles_out}") if shape.singles_out else None


RULES: tuple[Callable[[Shape], Suggested | None], ...] = (
    _by_values,
    _by_type,
    _by_sentences,
    _by_name,
    _by_uniqueness,
)


def suggested(shape: Shape) -> Suggested | None:
    """Return what the first rule suggests that applies, or None if the column tells little."""
    return next((found for rule in RULES if (found := rule(shape))), None)
