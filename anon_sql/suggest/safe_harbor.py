"""Compare the columns of a table with the 18 identifiers of HIPAA Safe Harbor.

The list is 45 CFR 164.514(b)(2)(i), paragraphs (A) to (R). Names and values are recognized as for
suggested roles. Which paragraph a column falls under, and how its values are read, are this
project's own choices. If in doubt, a column or value counts as against the rule. A column that
matches nothing is not harmless: nothing was found by this check.
"""

import datetime
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fnmatch import fnmatchcase
from typing import Any

import pyarrow as pa

from anon_sql.core.columns import shown_type
from anon_sql.core.parameters import Day, RelationOf, declare, param
from anon_sql.suggest.kinds import Kind
from anon_sql.suggest.names import Meaning, meaning, words_of
from anon_sql.suggest.roles import DATED, Shape, suggested
from anon_sql.suggest.safe_harbor_values import (
    MAX_AGE,
    Remaining,
    Tally,
    ages,
    birth_years,
    dates,
    look_like_dates,
    look_like_zip_codes,
    zip_codes,
)

NAME = "safe_harbor"
PARAGRAPHS = {
    "A": "names",
    "B": "geographic subdivisions smaller than a state",
    "C": "dates finer than a year, and ages above 89",
    "D": "telephone numbers",
    "E": "fax numbers",
    "F": "e-mail addresses",
    "G": "social security numbers",
    "H": "medical record numbers",
    "I": "health plan beneficiary numbers",
    "J": "account numbers",
    "K": "certificate and license numbers",
    "L": "vehicle identifiers",
    "M": "device identifiers",
    "N": "web addresses",
    "O": "IP addresses",
    "P": "biometric identifiers",
    "Q": "full-face photographs",
    "R": "any other unique number, characteristic or code",
}
NOTHING = "nothing found by this check"
_ANY = "any of the 18 may be in the values"
_CODES = "remove, or replace by a code that 164.514(c) permits"


@dataclass(frozen=True)
class Harbor:
    """The parameters of ``safe_harbor``."""

    restricted: Any = param(
        None,
        RelationOf("a column zip3"),
        "relation whose column zip3 has the prefixes of ZIP codes with 20,000 people or fewer, of "
        "three digits",
        null="none, so that restricted prefixes are not counted",
        relation=True,
    )
    as_of: Any = param(
        None, Day(), "date at which years of birth are turned into ages", null="today"
    )


declare(NAME, Harbor)
COMPARED = pa.struct(
    [
        *((name, pa.string()) for name in ("column_name", "column_type", "paragraph")),
        *((name, pa.string()) for name in ("identifier", "reason", "to_do")),
        *((name, pa.int64()) for name in ("remaining_rows", "remaining_values")),
    ]
)


class Rule(Enum):
    """How the values of a column are judged. NONE: they are not."""

    NONE = "none"
    ALL = "every value"
    AGE = "ages"
    BIRTH = "dates or years of birth"
    DATE = "dates"
    ZIP = "ZIP codes"


@dataclass(frozen=True)
class Match:
    """What a column matches. paragraph: its letter; None for values that may be any of the 18, and
    for a column that matches nothing. reason: why, in words without values. per_year: units of ages
    in a year."""

    rule: Rule
    paragraph: str | None = None
    reason: str = NOTHING
    to_do: str = "remove"
    per_year: float = 1.0

    @property
    def identifier(self) -> str | None:
        """Return the identifier in words; None for a column that matches nothing."""
        if self.paragraph is not None:
            return PARAGRAPHS[self.paragraph]
        return None if self.rule is Rule.NONE else _ANY


@dataclass(frozen=True)
class Examined:
    """A column before its values are counted. rows: with a value. values: distinct ones. numbers:
    whether they are numbers."""

    name: str
    sql_type: str
    rows: int
    values: int
    numbers: bool
    match: Match

    @property
    def is_judged(self) -> bool:
        """Return whether the values are judged one by one."""
        return self.match.rule not in (Rule.NONE, Rule.ALL)


# By the subject that a name has: the paragraph, unless words of the name say another one.
_BY_SUBJECT: dict[str, tuple[str, tuple[tuple[str, str], ...]]] = {
    "a person's name": ("A", ()),
    "a name": ("A", ()),
    "a postal address": ("B", ()),
    "a phone number": ("D", (("E", "fax* telefax* facsimile"),)),
    "an e-mail address": ("F", ()),
    "an official number": (
        "R",
        (
            ("G", "ssn social securite seguridad nir sozialversicherung* ahv*"),
            ("I", "health medicaid medicare mbi hic hicn nhs insurance"),
            (
                "K",
                "license licence certificate* dea npi upin driver* driving dl passport* passeport "
                "pasaporte registration registry",
            ),
        ),
    ),
    "a number of a person or account": (
        "R",
        (
            ("K", "license licence certificate*"),
            ("J", "account acct acc konto* compte cuenta conto cardholder"),
            (
                "I",
                "health plan member* beneficiary policy* subscriber insured enrollee versicher* "
                "assure* asegurado assicurato",
            ),
            (
                "H",
                "mrn medical record chart patient* pat pt paciente paziente historia nhc cartella "
                "nosologico admission encounter",
            ),
        ),
    ),
    "a bank account or card": ("J", ()),
    "a vehicle or device": (
        "M",
        (
            (
                "L",
                "vehicle* car plate* license licence registration* vin chassis engine kfz fin "
                "fahrzeug* kennzeichen vehicule plaque immatriculation vehiculo matricula placa "
                "veicolo targa",
            ),
        ),
    ),
    "an address on the internet": (
        "R",
        (
            ("O", "ip* "),
            ("N", "url* uri* web* site* home* homepage page blog permalink link* host domain"),
        ),
    ),
    "a picture or trait of the body": (
        "P",
        (
            (
                "Q",
                "photo* picture* portrait headshot mugshot avatar selfie face facial image* img "
                "video foto* bild* imagen immagine",
            ),
        ),
    ),
}
_BY_PATTERN = {
    "an e-mail address": "F",
    "an IBAN": "J",
    "a card number": "J",
    "a social security number": "G",
    "a French social security number": "G",
    "an IMEI": "M",
    "a MAC address": "M",
    "an IP address": "O",
    "a web address": "N",
    "a vehicle identification number": "L",
    "a number plate": "L",
    "the name of a picture": "Q",
    "a phone number": "D",
}
_EMPLOYERS = (
    "employer* company organization organisation workplace arbeitgeber* employeur entreprise "
    "empresa azienda"
)
_STATES = (
    "state states country countries nation continent bundesland staat land pays pais paese estado"
)
_BIRTHPLACES = "place geburtsort lieu lugar luogo"
_ZIP_WORDS = "zip* postal postcode* post plz* postleitzahl* zcta cep cap"
_AGES = "age ages alter alters* lebensalter edad eta idade leeftijd"
_DEATHS = (
    "death dod deceased sterbe* todes* verstorben* deces mort defuncion muerte fallecimiento "
    "decesso morte"
)
_UNITS = (  # of ages, per year
    (12, "month* monat* mois mes meses mese mesi"),
    (52.1775, "week* woche* semaine* semana* settiman*"),
    (365.25, "day* tag* jour* dia dias giorn*"),
)
_LABEL = re.compile(r'STRUCT\("?min"? [^,]+, "?max"? [^,]+\)', re.IGNORECASE)  # of the typed format
_FINER = re.compile(r"DATE|TIME.*")  # types whose values are finer than a year


def examined(shape: Shape) -> Examined:
    """Return a column with what it matches."""
    numbers = not shape.is_text and not _LABEL.fullmatch(shape.sql_type)
    match = matched(shape)
    return Examined(shape.name, shape.sql_type, shape.non_null, shape.values, numbers, match)


def compared(
    columns: Sequence[Examined],
    tallies: Mapping[int, Tally],
    restricted: Collection[str] | None,
    as_of: datetime.date,
) -> pa.Array:
    """Return an array of ``COMPARED`` with an entry per column, in the order given.

    tallies: rows by value, by the position of a column from 1 on; those of columns that are not
    judged by their values have blanks and ``*`` alone. restricted: prefixes of ZIP codes; None if
    they are not known. as_of: the date at which years of birth are turned into ages.
    """
    entries = []
    for i, column in enumerate(columns, 1):
        match = column.match
        remaining = _remaining(column, tallies.get(i, {}), restricted, as_of.year)
        entries.append(
            {
                "column_name": column.name,
                "column_type": shown_type(column.sql_type),
                "paragraph": match.paragraph,
                "identifier": match.identifier,
                "reason": "; ".join([match.reason, *(remaining.notes if remaining else ())]),
                "to_do": None if remaining is None else _to_do(match, remaining, restricted),
                "remaining_rows": None if remaining is None else remaining.rows,
                "remaining_values": None if remaining is None else remaining.values,
            }
        )
    return pa.array(entries, COMPARED)


def matched(shape: Shape) -> Match:
    """Return what a column matches, by its name, its type and a sample of its values."""
    suggestion, name_meaning = suggested(shape), shape.name_meaning
    is_identifier = suggestion is not None and suggestion.role == "identifier"
    if name_meaning is not None and name_meaning.role == "identifier" and is_identifier:
        letter = _letter(name_meaning, words_of(shape.name))
        if letter is not None:
            return _removed(letter, f"the name says {name_meaning.subject}")
    match = _by_time(shape) or _by_place(shape) or _by_values(shape)
    if match is not None:
        return match
    if suggestion is None or not is_identifier or _LABEL.fullmatch(shape.sql_type):
        return Match(Rule.NONE)
    if "may " in suggestion.reason or (
        name_meaning is not None and name_meaning.subject == "free text"
    ):
        return Match(Rule.ALL, None, suggestion.reason, "look into the values, or remove")
    return _removed("R", suggestion.reason)


def _removed(letter: str, reason: str) -> Match:
    return Match(Rule.ALL, letter, reason, _CODES if letter == "R" else "remove")


def _letter(name_meaning: Meaning, words: Sequence[str]) -> str | None:
    """Return the paragraph of a name that means an identifier; None for free text."""
    if name_meaning.subject == "free text":
        return None
    letter, others = _BY_SUBJECT.get(name_meaning.subject, ("R", ()))
    return next((other for other, terms in others if _any_of(words, terms)), letter)


def _any_of(words: Sequence[str], terms: str) -> bool:
    return any(fnmatchcase(word, term) for word in words for term in terms.split())


def _by_time(shape: Shape) -> Match | None:
    """Return the match of a column of dates or ages."""
    words, subject = words_of(shape.name), shape.name_meaning and shape.name_meaning.subject
    named = subject in DATED and shape.sql_type != "BOOLEAN"
    if named and subject == "age or birth" and _any_of(words, _AGES):
        to_do = f"put ages above {MAX_AGE} into one category of {MAX_AGE + 1} or older"
        units = (number for number, terms in _UNITS if _any_of(words, terms))
        return Match(Rule.AGE, "C", "the name says an age", to_do, next(units, 1.0))
    reason = f"the name says {subject}" if named else None
    if shape.kind is Kind.DATES and not named:
        reason = f"values of type {shown_type(shape.sql_type)}"
        if shape.written is not None:
            reason = "sampled values are written as dates or times"
    elif reason is None and shape.is_text and look_like_dates(shape.sample):
        reason = "sampled values contain dates"
    if reason is None:
        return None
    born = named and subject == "age or birth" and not _any_of(words, _DEATHS)
    to_do = "keep the year only"
    if born:
        to_do += f"; put the years of people above {MAX_AGE} into one category"
    rule = Rule.BIRTH if born else Rule.DATE
    return Match(Rule.ALL if _FINER.fullmatch(shape.sql_type) else rule, "C", reason, to_do)


def _by_place(shape: Shape) -> Match | None:
    """Return the match of a column of places, or of names of employers."""
    words, name_meaning = words_of(shape.name), shape.name_meaning
    subject = None if name_meaning is None else name_meaning.subject
    if subject == "work" and _any_of(words, _EMPLOYERS):
        return _removed("A", "the name says an employer")
    if subject == "a place" and _any_of(words, _ZIP_WORDS):
        to_do = "keep the first three digits, and replace restricted prefixes by 000"
        return Match(Rule.ZIP, "B", "the name says a ZIP code", to_do)
    if subject == "a place" and not _is_state(words):
        return _removed("B", "the name says a place")
    if subject == "origin" and _any_of(words, _BIRTHPLACES):
        return _removed("B", "the name says a place of birth")
    return None


def _is_state(words: Sequence[str]) -> bool:
    """Return whether all places that a name has are states or larger."""
    places = [word for word in words if (m := meaning(word)) and m.subject == "a place"]
    return bool(places) and all(_any_of([word], _STATES) for word in places)


def _by_values(shape: Shape) -> Match | None:
    """Return the match of a column whose sampled values have the form of an identifier."""
    match = shape.pattern
    if match is not None:
        pattern, share = match
        letter = _BY_PATTERN.get(pattern.kind, "R")
        return _removed(letter, f"{share:.0%} of sampled values look like {pattern.kind}")
    if shape.is_text and look_like_zip_codes(shape.sample):
        to_do = "keep the first three digits, and replace restricted prefixes by 000"
        return Match(Rule.ZIP, "B", "sampled values look like ZIP codes", to_do)
    return None


def _remaining(
    column: Examined, tally: Tally, restricted: Collection[str] | None, year: int
) -> Remaining | None:
    """Return what of a column is still against the rule; None if no rule applies."""
    rule = column.match.rule
    if rule is Rule.NONE:
        return None
    if rule is Rule.ALL:
        return Remaining(column.rows - sum(tally.values()), column.values - len(tally))
    if rule is Rule.AGE:
        return ages(tally, column.match.per_year)
    if rule is Rule.BIRTH:
        return birth_years(tally, year)
    if rule is Rule.DATE:
        return dates(tally)
    return zip_codes(tally, numbers=column.numbers, restricted=restricted)


def _to_do(match: Match, remaining: Remaining, restricted: Collection[str] | None) -> str | None:
    """Return what is left to do, in words; None if nothing is."""
    steps = [match.to_do] if remaining.rows else []
    if match.rule is Rule.ZIP and restricted is None:
        steps.append("pass the restricted prefixes as restricted")
    return "; ".join(steps) or None
