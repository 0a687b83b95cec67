"""Suggest a role for every column of a table, with the reason in words.

The rules are this project's own. They look at the form of the values (``patterns``), the meaning of
the name (``names``), the number of distinct values, and whether they are measured (``kinds``).
Columns without a rule are kept, the least distinguishing one first, as long as they together make
no more rows unique than ``audit`` allows. The others become quasi-identifiers. The reasons contain
counts and no value.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa

from anon_sql.core.columns import is_number, shown_type
from anon_sql.core.notation import Recognized, recognize
from anon_sql.errors import AnonError, listed
from anon_sql.measures.determined import SAMPLE_ROWS, Ints, determines, numbered
from anon_sql.measures.person_keys import (
    KEY,
    PERSON,
    SHARED,
    Alike,
    Identifier,
    alike,
    person_key,
    tells_people_apart,
)
from anon_sql.measures.uniqueness import RARE_SHARE, UNIQUE_SHARE, counts
from anon_sql.suggest.combinations import CombinedMarks, Counts, Marks, counts_of, unique_count
from anon_sql.suggest.kinds import (
    Kind,
    are_spread_like_quantities,
    is_integer,
    kind_of_values,
    whole_or_text,
)
from anon_sql.suggest.names import (
    Meaning,
    is_number_or_key,
    is_quantity,
    meaning,
    names_people,
)
from anon_sql.suggest.patterns import Pattern, mean_words, recognized
from anon_sql.suggest.repeats import repeated

MIN_CODE_SHARE = 0.9  # share of distinct values from which on codes identify rows
MIN_CODE_VALUES = 20  # values below which nearly all may differ by chance
MAX_FLAG_VALUES = 5  # a column with so few is no identifier, even if its name means one
MIN_FLAG_ROWS = 20  # rows that each of so few values must have
SHARED_BY, MANY_ROWS = 5, 100  # rows that must share kept values, in a table of so many rows
BLANKS = "blanks around the values"  # in a reason
DATED = ("age or birth", "a date", "an event others know")
_WHOLE = re.compile(r"-?\d+(\.0*)?")
YEAR = 2100  # the greatest whole number that is a year
MIN_FREE_TEXT_WORDS = 4  # mean number of words from which on a text is free text


@dataclass(frozen=True)
class Shape:
    """A column as the rules see it.

    rows: of the table. nulls: the number of NULLs. sample: values as text, of text and whole
    numbers. span: how many whole numbers lie between the least and the greatest value, None if the
    values are not numbers. blanks: texts with blanks around them.
    """

    name: str
    sql_type: str
    rows: int
    nulls: int
    counts: Counts
    sample: list[str]
    span: float | None = None
    blanks: int = 0

    @property
    def non_null(self) -> int:
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
        """Return the number of rows that the column makes unique, in words; None if a column with
        so few may be kept."""
        if self.unique_share <= UNIQUE_SHARE:
            return None
        return f"singles out {self.counts.unique:,} of {self.rows:,} rows"

    @property
    def is_row_number(self) -> bool:
        """Return whether each of many rows has a whole number of its own, none left out."""
        if not self.span == self.values == self.non_null > MAX_FLAG_VALUES:
            return False
        return bool(self.sample) and all(map(_WHOLE.fullmatch, self.sample))

    @cached_property
    def name_meaning(self) -> Meaning | None:
        return meaning(self.name)

    @cached_property
    def written(self) -> Recognized | None:
        """Return the notation of texts, or of whole numbers such as 20250131; None if there is
        none."""
        return recognize(self.sample) if self.is_text or is_integer(self.sql_type) else None

    @cached_property
    def pattern(self) -> tuple[Pattern, float] | None:
        """Return the pattern that values have, see ``recognized``."""
        return recognized(self.sample)

    @cached_property
    def kind(self) -> Kind:
        kind = kind_of_values(self.sql_type, self.sample, self.written)
        named = self.name_meaning is not None and self.name_meaning.subject in DATED
        if kind is Kind.WHOLE_NUMBERS and named and max(map(int, self.sample), default=0) <= YEAR:
            return Kind.DATES  # a year, day or age
        return kind

    @property
    def is_flag(self) -> bool:
        """Return whether a column has few values, which many rows have."""
        few = 0 < self.values <= MAX_FLAG_VALUES and self.non_null >= MIN_FLAG_ROWS * self.values
        return few or self.sql_type == "BOOLEAN"

    @property
    def is_code(self) -> bool:
        """Return whether nearly all values differ, and are neither dates nor measurements."""
        if self.non_null < MIN_CODE_VALUES or self.values < MIN_CODE_SHARE * self.non_null:
            return False
        if self.kind is Kind.CODES:
            return True
        return self.kind is Kind.WHOLE_NUMBERS and not self._is_measured

    @property
    def _is_measured(self) -> bool:
        """Return whether whole numbers are quantities, by their name or how they are spread."""
        if self.is_row_number or is_number_or_key(self.name):
            return False
        return is_quantity(self.name) or are_spread_like_quantities(self.sample)


@dataclass(frozen=True)
class Suggested:
    """A role and the reason for it."""

    role: str
    reason: str


def _by_values(shape: Shape) -> Suggested | None:
    match = shape.pattern
    if match is None:
        return None
    pattern, share = match
    return Suggested("identifier", f"{share:.0%} of sampled values look like {pattern.kind}")


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
    if not shape.is_text or words < MIN_FREE_TEXT_WORDS or shape.values < shape.non_null / 2:
        return None
    return Suggested(
        "identifier", f"free text of {words:.0f} words on average, which may say anything"
    )


def _by_name(shape: Shape) -> Suggested | None:
    name_meaning = shape.name_meaning
    if name_meaning is None or name_meaning.role != "identifier":
        return None
    if name_meaning.strength != "always" and shape.is_flag:
        return Suggested(
            "quasi", f"the name says {name_meaning.subject}, but {_counted(shape.values)}"
        )
    if (
        name_meaning.subject == "a name"
        and name_meaning.strength == "part"
        and not shape.is_text
        and shape.non_null
    ):
        return None  # French calls a number of things nombre, Spanish a name
    return Suggested("identifier", f"the name says {name_meaning.subject}")


def _by_codes(shape: Shape) -> Suggested | None:
    """Suggest identifier if the values number the rows, whatever the name says."""
    although = (
        f", although the name says {shape.name_meaning.subject}" if shape.name_meaning else ""
    )
    if shape.is_row_number and shape.kind is not Kind.DATES:
        return Suggested("identifier", f"it numbers the rows{although}")
    if not shape.is_code:
        return None
    share = shape.values / shape.non_null
    return Suggested("identifier", f"a code: {share:.0%} of its values are different{although}")


def _by_other_names(shape: Shape) -> Suggested | None:
    name_meaning = shape.name_meaning
    if name_meaning is None or name_meaning.role not in ("quasi", "sensitive"):
        return None
    if name_meaning.role == "quasi":
        return Suggested("quasi", f"the name says {name_meaning.subject}")
    if shape.kind is Kind.DATES:  # a sensitive column is released as it is
        return Suggested("quasi", f"a date, and the name says {name_meaning.subject}")
    by_itself = f"; alone it {shape.singles_out}" if shape.singles_out else ""
    return Suggested("sensitive", f"the name says {name_meaning.subject}{by_itself}")


def _counted(values: int) -> str:
    return "there is only 1 value" if values == 1 else f"there are only {values} values"


def _by_uniqueness(shape: Shape) -> Suggested | None:
    if shape.singles_out:
        return Suggested("quasi", f"alone {shape.singles_out}")
    if shape.kind is Kind.DATES and shape.values > 1:
        return Suggested("quasi", "a date, which others may know")
    return None


RULES: tuple[Callable[[Shape], Suggested | None], ...] = (
    _by_values,
    _by_type,
    _by_sentences,
    _by_name,
    _by_codes,
    _by_other_names,
    _by_uniqueness,
)


def suggested(shape: Shape) -> Suggested | None:
    """Return the suggestion of the first rule that applies, None if none does."""
    return next((suggestion for rule in RULES if (suggestion := rule(shape))), None)


_SHARED = {  # meanings of names of columns whose values different people may share
    *("a person's name", "a name", "a postal address", "a phone number"),
    *("an address on the internet", "a picture or trait of the body", "free text"),
}
_SHARED_VALUES = {"an IP address", "a web address", "a phone number"}


def may_hold_anything(shape: Shape) -> bool:
    """Return whether the values are free text, or of a type that may hold anything."""
    by_type = None if shape.sql_type == "UUID" else _by_type(shape)
    return (by_type or _by_sentences(shape)) is not None


def kind_of(shape: Shape) -> str:
    """Return the kind of an identifier, see ``Identifier``.

    A column without a known name and with unrecognized values counts as a key, to fail closed.
    """
    match = shape.pattern
    if match is not None:
        return SHARED if match[0].kind in _SHARED_VALUES else KEY
    if may_hold_anything(shape):
        return SHARED
    name_meaning = shape.name_meaning
    if name_meaning is None:
        return PERSON if names_people(shape.name) else KEY
    if name_meaning.role != "identifier" or name_meaning.subject in _SHARED:
        return SHARED
    return PERSON if names_people(shape.name) else KEY


def _entity(
    shapes: Sequence[Shape], marks: Sequence[Marks], chosen: Sequence[Suggested]
) -> str | None:
    """Return the identifier that has several rows per person, see ``person_key``."""
    quasi = [marks[i] for i, suggestion in enumerate(chosen) if suggestion.role == "quasi"]
    identifiers = []
    for shape, column_marks, suggestion in zip(shapes, marks, chosen, strict=True):
        if suggestion.role == "identifier":
            of_values = alike(column_marks, quasi) if shape.values < shape.non_null else Alike()
            identifiers.append(
                Identifier(shape.name, kind_of(shape), shape.non_null, shape.values, of_values)
            )
    key = person_key(identifiers)
    return None if key is None else key.name


SUGGESTION = pa.struct(
    [
        *((name, pa.string()) for name in ("column_name", "column_type", "role", "reason")),
        ("distinct_values", pa.int64()),
        *((name, pa.float64()) for name in ("null_share", "unique_share", "adds_share")),
        ("repeats", pa.string()),
        ("entity", pa.bool_()),
    ]
)


def shape_of(
    name: str,
    sql_type: str,
    marks: Marks,
    nulls: int,
    sample: list[str],
    span: float | None,
    blanks: int,
) -> Shape:
    """Return a column as the rules see it; marks: a hash of each value, uint64[n]."""
    texts = whole_or_text(sql_type, sample)
    return Shape(name, sql_type, len(marks), nulls, counts_of(marks), texts, span, blanks)


def suggest_roles(shapes: Sequence[Shape], marks: Sequence[Marks]) -> pa.Array:
    """Return an array of ``SUGGESTION`` with an entry per column, in the order given."""
    rows = shapes[0].rows if shapes else 0
    together = CombinedMarks(marks, rows)
    by_rules = [suggested(shape) for shape in shapes]
    without_rule = [i for i, suggestion in enumerate(by_rules) if suggestion is None]
    rest = dict(
        zip(
            without_rule,
            _without_rule([shapes[i] for i in without_rule], without_rule, together),
            strict=True,
        )
    )
    chosen = [
        rest[i] if suggestion is None else suggestion for i, suggestion in enumerate(by_rules)
    ]
    distinct = [shape.counts.distinct for shape in shapes]
    texts = [shape.is_text for shape in shapes]
    for i in without_rule:
        quasi = [marks[other] for other in _of_role("quasi", chosen) if other != i]
        if tells_people_apart(marks[i], quasi):
            reason = "rows with one value are alike in all quasi-identifiers"
            chosen[i] = Suggested("identifier", reason)
    chosen = _beside_others(shapes, marks, chosen)
    others = [i for i, suggestion in enumerate(chosen) if suggestion.role != "identifier"]
    adds = together.unique_by(others)
    entity = _entity(shapes, marks, chosen)
    copied = repeated(
        marks, distinct, texts, [suggestion.role != "identifier" for suggestion in chosen]
    )
    return pa.array(
        [
            {
                "column_name": shape.name,
                "column_type": shown_type(shape.sql_type),
                "role": suggestion.role,
                "reason": suggestion.reason
                + _notation(shape.written)
                + (_several(shape) if shape.name == entity else "")
                + _blanks(shape, suggestion.role),
                "distinct_values": shape.values,
                "null_share": shape.nulls / rows if rows else None,
                "unique_share": shape.unique_share if rows else None,
                "adds_share": added / rows if rows else None,
                "repeats": None if original is None else shapes[original].name,
                "entity": shape.name == entity,
            }
            for shape, suggestion, added, original in zip(shapes, chosen, adds, copied, strict=True)
        ],
        SUGGESTION,
    )


def _of_role(role: str, chosen: Sequence[Suggested]) -> list[int]:
    return [i for i, suggestion in enumerate(chosen) if suggestion.role == role]


def _beside_others(
    shapes: Sequence[Shape], marks: Sequence[Marks], chosen: Sequence[Suggested]
) -> list[Suggested]:
    """Return the suggestion for each column, given those for the others.

    A column that would be kept is a quasi-identifier if it repeats one, and is sensitive if a
    sensitive column can be computed from it.
    """

    def numbers(i: int) -> Ints:
        return numbered(marks[i][:: len(marks[i]) // SAMPLE_ROWS + 1])

    others = {
        role: [(shapes[i].name, numbers(i)) for i in _of_role(role, chosen)]
        for role in ("quasi", "sensitive")
    }

    def beside(i: int) -> Suggested:
        if chosen[i].role != "keep" or not shapes[i].non_null:
            return chosen[i]
        value = numbers(i)
        for name, key in others["quasi"]:
            if determines(key, value) or determines(value, key):
                return Suggested("quasi", f"it repeats {listed([name])}")
        for name, key in others["sensitive"]:
            if determines(value, key):
                return Suggested("sensitive", f"{listed([name])} can be computed from it")
        return chosen[i]

    return [beside(i) for i in range(len(shapes))]


def _notation(written: Recognized | None) -> str:
    """Return a sentence about the type that texts should have."""
    if written is None:
        return ""
    return f"; values are {written.says()}: read them as {written.notation.sql_type}"


def _several(shape: Shape) -> str:
    """Return what follows for a column whose values have several rows."""
    return f"; {shape.values:,} values in {shape.non_null:,} rows: name it as entity"


def _blanks(shape: Shape, role: str) -> str:
    """Return what to add to the reason of a column that is released, if its texts have blanks."""
    if role == "identifier" or not shape.blanks:
        return ""
    rows = "1 row" if shape.blanks == 1 else f"{shape.blanks:,} rows"
    return f"; {BLANKS} of {rows}"


def _without_rule(
    shapes: Sequence[Shape], indices: Sequence[int], together: CombinedMarks
) -> list[Suggested]:
    """Return the suggestions for columns that no rule applies to.

    indices: indices of these columns in ``together``.
    """
    if not shapes or not shapes[0].rows:
        return [Suggested("quasi", "no known name, and no rows to look at")] * len(shapes)
    rows = shapes[0].rows
    least_first = sorted(range(len(shapes)), key=lambda i: (-shapes[i].counts.pairs, i))
    kept = together.marks([])
    taken: dict[int, str] = {}
    for i in least_first:
        more = kept + together.marks([indices[i]])
        unique = unique_count(more)
        rare = counts(more.copy(), SHARED_BY)[0] if rows >= MANY_ROWS else 0
        if unique > UNIQUE_SHARE * rows:
            taken[i] = f"it singles out {unique:,} of {rows:,} rows"
        elif rare >= RARE_SHARE * rows:
            taken[i] = f"fewer than {SHARED_BY} rows share its value, in {rare:,} of {rows:,} rows"
        else:
            kept = more
    return [
        Suggested("quasi", f"no known name, and with the kept columns {taken[i]}")
        if i in taken
        else Suggested("keep", "no known name, and it singles out no row")
        if shape.non_null
        else Suggested("keep", "no known name and no value")
        for i, shape in enumerate(shapes)
    ]
