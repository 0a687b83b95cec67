"""Suggest a role for every column of a table, with the reason in words.

Find what a column name says, by the words in ``column_words.csv``. The file has a row per term: its
language, the role that it suggests, what it means, and its strength. A term of strength ``part``
(``id``, ``name``) counts where no other word of the name is known: ``city_name`` is a city, but
``name`` a name. One of strength ``always`` counts whatever the values are: a ``patient_id`` of
three values names three patients. A ``*`` stands for any letters.

Recognize values that name a person or a place on the internet, in a sample of a column. The sample
does not leave this module: only the name of a pattern and a share do.

The rules are this project's own. Columns that no rule applies to are kept, the one that tells rows
apart least first, as long as they single out no more rows together than ``audit`` allows; the
others become quasi-identifiers. The reasons contain counts and no value.
"""

import csv
import ipaddress
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache, cached_property
from importlib.resources import files

import pyarrow as pa

from anon_sql.core.columns import is_number, shown_type
from anon_sql.errors import AnonError
from anon_sql.measures.uniqueness import UNIQUE_SHARE
from anon_sql.suggest.combinations import Counts, Marks, Together, counts_of, unique_count
from anon_sql.suggest.repeats import repeated

_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_a-zA-Z]+")
_ORDER = {"identifier": 0, "sensitive": 1, "quasi": 2, "keep": 3}


@dataclass(frozen=True)
class Meaning:
    """What a name says: a role, the meaning in words, and the strength of the term."""

    role: str
    says: str
    strength: str

    @property
    def part(self) -> bool:
        return self.strength == "part"


@dataclass(frozen=True)
class _Found:
    first: int
    last: int
    meaning: Meaning


def parts(name: str) -> list[str]:
    """Return the words of a name in lower case without accents: ``homePhone_2`` is home, phone."""
    plain = unicodedata.normalize("NFKD", name.replace("ß", "ss"))
    letters = "".join(char for char in plain if not unicodedata.combining(char))
    return [part.lower() for part in _PARTS.findall(letters)]


def meaning(name: str) -> Meaning | None:
    """Return what a column name says, or None.

    Of terms within terms the longest counts (``date of birth``); of the others those that are not
    only a part, and of these identifiers first, then sensitive columns. Of parts a kind or thing
    counts first: ``type_id`` is no number of a person.
    """
    words = parts(name)
    found = list(_matches(words))
    alone = [one for one in found if not any(_within(one, other) for other in found)]
    if not alone:
        return None
    said = min(
        (one.meaning for one in alone),
        key=lambda m: (m.part, m.part and m.role != "keep", _ORDER[m.role]),
    )
    return replace(said, strength="always") if said.part and len(words) == 1 else said


def _within(one: _Found, other: _Found) -> bool:
    """Return whether a match lies within a longer one."""
    return (
        other.first <= one.first
        and one.last <= other.last
        and (other.last - other.first) > (one.last - one.first)
    )


def _matches(words: list[str]) -> Iterator[_Found]:
    """Return the terms that some consecutive words of a name, written together, are."""
    exact, patterns = _terms()
    for first in range(len(words)):
        for last in range(first, len(words)):
            text = "".join(words[first : last + 1])
            if text in exact:
                yield _Found(first, last, exact[text])
            elif first == last:
                for pattern, said in patterns:
                    if fnmatchcase(text, pattern):
                        yield _Found(first, last, said)


@cache
def _terms() -> tuple[dict[str, Meaning], list[tuple[str, Meaning]]]:
    """Return the terms without ``*`` by their letters, and those with it."""
    exact: dict[str, Meaning] = {}
    patterns: list[tuple[str, Meaning]] = []
    text = (files("anon_sql.suggest") / "column_words.csv").read_text("utf-8")
    for row in csv.DictReader(text.splitlines()):
        letters = row["term"].replace(" ", "")
        said = Meaning(row["role"], row["meaning"], row["strength"])
        if "*" in letters:
            patterns.append((letters, said))
        else:
            exact[letters] = said
    return exact, patterns


_EMAIL = re.compile(r"[\w.+%'-]+@(?:[\w-]+\.)+[^\W\d_]{2,}")
_URL = re.compile(r"(?:https?|ftp)://\S+|www\.[\w-]+\.\S+", re.IGNORECASE)
_UUID = re.compile(r"\{?[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\}?", re.IGNORECASE)
_IBAN = re.compile(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}")
_CARD = re.compile(r"[2-6]\d{12,18}")
_DATE = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}")
_PHONE = re.compile(
    r"(?:\+|00)\s?\d[\d\s()./-]{6,20}(?:\s?(?:x|ext\.?)\s?\d{1,6})?"  # international
    r"|\(?0\d{1,5}\)?[\s/.-]*\d[\d\s/.-]{3,14}"  # with a leading zero
    r"|(?:1[-. ]?)?\(?[2-9]\d{2}\)?[-. ]\s?\d{3}[-. ]\d{4}(?:\s?(?:x|ext\.?)\s?\d{1,6})?"  # US
)


@dataclass(frozen=True)
class Pattern:
    """A kind of value. least: share of a column's values that must look like it."""

    says: str
    least: float
    matches: Callable[[str], bool]


def is_iban(text: str) -> bool:
    """Return whether a text is an IBAN, blanks aside, whose check digits are right (mod 97)."""
    letters = text.replace(" ", "").upper()
    if not _IBAN.fullmatch(letters):
        return False
    return int("".join(str(int(char, 36)) for char in letters[4:] + letters[:4])) % 97 == 1


def is_card(text: str) -> bool:
    """Return whether a text is a number of 13 to 19 digits whose check digit is right (Luhn)."""
    digits = re.sub(r"(?<=\d)[ -](?=\d)", "", text)
    if not _CARD.fullmatch(digits):
        return False
    doubled = [int(char) * (1 + at % 2) for at, char in enumerate(reversed(digits))]
    return sum(number - 9 * (number > 9) for number in doubled) % 10 == 0


def is_phone(text: str) -> bool:
    """Return whether a text looks like a phone number: 7 to 15 digits as they are written."""
    if not _PHONE.fullmatch(text) or _DATE.fullmatch(text):
        return False
    return 7 <= sum(char.isdigit() for char in text) <= 21


def is_ip(text: str) -> bool:
    """Return whether a text is an IP address, version 4 or 6."""
    if text.count(".") != 3 and text.count(":") < 2:
        return False
    try:
        ipaddress.ip_address(text.partition("/")[0])
    except ValueError:
        return False
    return True


PATTERNS = (
    Pattern("an e-mail address", 0.01, lambda text: bool(_EMAIL.search(text))),
    Pattern("an IBAN", 0.01, is_iban),
    Pattern("a card number", 0.5, is_card),  # one number in ten has the right check digit
    Pattern("a UUID", 0.1, lambda text: bool(_UUID.fullmatch(text))),
    Pattern("an IP address", 0.1, is_ip),
    Pattern("a web address", 0.1, lambda text: bool(_URL.search(text))),
    Pattern("a phone number", 0.25, is_phone),
)


def recognized(values: Sequence[str]) -> tuple[Pattern, float] | None:
    """Return the first pattern that enough values have, and their share; None if there is none."""
    texts = Counter(text for text in (value.strip() for value in values) if text)
    for pattern in PATTERNS:
        count = sum(number for text, number in texts.items() if pattern.matches(text))
        if count and count >= pattern.least * texts.total():
            return pattern, count / texts.total()
    return None


def mean_words(values: Sequence[str]) -> float:
    """Return the mean number of words of the values; 0 without values."""
    return sum(len(value.split()) for value in values) / len(values) if values else 0.0


NEARLY = 0.9  # share of distinct values from which on codes identify rows
SMALLEST = 20  # values below which nearly all may differ by chance
FEW = 5  # most values of what is no identifier although its name says so, such as a flag
EACH = 20  # rows that each of so few values must have
FREE_TEXT = 4  # mean number of words from which on a text is free text
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
    def known(self) -> int:
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
        return self.consecutive and self.values == self.known > FEW

    @cached_property
    def says(self) -> Meaning | None:
        return meaning(self.name)

    @property
    def is_flag(self) -> bool:
        """Return whether a column has few values, which many rows have."""
        return 0 < self.values <= FEW and self.known >= EACH * self.values


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
    if not shape.is_text or words < FREE_TEXT or shape.values < shape.known / 2:
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
    if codes and shape.known >= SMALLEST and shape.values >= NEARLY * shape.known:
        share = shape.values / shape.known
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


SUGGESTION = pa.struct(
    [
        *((name, pa.string()) for name in ("column_name", "column_type", "role", "reason")),
        ("distinct_values", pa.int64()),
        *((name, pa.float64()) for name in ("null_share", "unique_share", "adds_share")),
        ("repeats", pa.string()),
    ]
)


def shape_of(
    name: str, sql_type: str, marks: Marks, nulls: int, sample: list[str], consecutive: bool
) -> Shape:
    """Return a column as the rules see it; marks: a hash of each value, uint64[n]."""
    return Shape(name, sql_type, len(marks), nulls, counts_of(marks), sample, consecutive)


def suggest_roles(shapes: Sequence[Shape], marks: Sequence[Marks]) -> pa.Array:
    """Return an array of ``SUGGESTION`` with an entry per column, in the order given."""
    rows = shapes[0].rows if shapes else 0
    together = Together(marks, rows)
    found = [suggested(shape) for shape in shapes]
    loose = [at for at, one in enumerate(found) if one is None]
    rest = dict(zip(loose, _of_loose([shapes[at] for at in loose], loose, together), strict=True))
    chosen = [rest[at] if one is None else one for at, one in enumerate(found)]
    others = [at for at, one in enumerate(chosen) if one.role != "identifier"]
    adds = together.unique_by(others)
    distinct = [shape.counts.distinct for shape in shapes]
    texts = [shape.is_text for shape in shapes]
    copied = repeated(marks, distinct, texts, [one.role != "identifier" for one in chosen])
    return pa.array(
        [
            {
                "column_name": shape.name,
                "column_type": shown_type(shape.sql_type),
                "role": one.role,
                "reason": one.reason,
                "distinct_values": shape.values,
                "null_share": shape.nulls / rows if rows else None,
                "unique_share": shape.unique_share if rows else None,
                "adds_share": added / rows if rows else None,
                "repeats": None if of is None else shapes[of].name,
            }
            for shape, one, added, of in zip(shapes, chosen, adds, copied, strict=True)
        ],
        SUGGESTION,
    )


def _of_loose(shapes: Sequence[Shape], at: Sequence[int], together: Together) -> list[Suggested]:
    """Return the suggestions for columns that no rule applies to.

    at: indices of these columns in ``together``.
    """
    if not shapes or not shapes[0].rows:
        return [Suggested("quasi", "no known name, and no rows to look at")] * len(shapes)
    rows = shapes[0].rows
    least_first = sorted(range(len(shapes)), key=lambda i: (-shapes[i].counts.pairs, i))
    kept = together.of([])
    singled_out: dict[int, int] = {}
    for i in least_first:
        more = kept + together.of([at[i]])
        unique = unique_count(more)
        if unique > UNIQUE_SHARE * rows:
            singled_out[i] = unique
        else:
            kept = more
    return [
        Suggested(
            "quasi",
            f"no known name, and with the kept columns it singles out {singled_out[i]:,} of "
            f"{rows:,} rows",
        )
        if i in singled_out
        else Suggested("keep", "no known name, and it singles out no row")
        if shape.known
        else Suggested("keep", "no known name and no value")
        for i, shape in enumerate(shapes)
    ]
