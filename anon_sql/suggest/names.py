"""Find the meaning of a column name, by the words in ``column_words.csv``.

The file has a row per term: its language, the role that it suggests, what it means, and its
strength. The strengths are:

- ``always`` counts whatever the values are: a ``patient_id`` of three values names three patients.
- ``full`` counts unless the column has few values, such as a flag.
- ``part`` counts where no other word of the name is known: ``city_name`` is a city, but ``name`` a
  name.
- ``kind`` is a part that also ends a name: ``phone_type`` is not a phone number.
- ``measure`` is a kind that means a quantity, so distinct values are not a code.

In a term, ``*`` stands for any letters, ``a|b`` for either word, and ``#`` for a word that means a
number or key, in any language. The two words of a term may stand in either order, because languages
differ. Articles and words such as ``of`` do not count, nor in names.
"""

import csv
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from itertools import product

_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_a-zA-Z]+")
_ORDER = {"identifier": 0, "sensitive": 1, "quasi": 2, "keep": 3}
_SKIPPED = frozenset(
    "a and of the to de du des d la le les l et el los las del della dello dei delle di da do der "
    "die das den dem und von vom zu zur het een".split()
)
_COUNTING = "no nr nbr num number"  # before a noun they count in English: number of patients
_NUMBERS = frozenset(
    f"{_COUNTING} id ids identifier ident numero nummer nro pk sk uid uuid guid key ref reference "
    "referenz referencia riferimento clave cle chiave schluessel schlussel kennung kennziffer "
    "identifiant identificador identificativo".split()
)
_CODES = frozenset("code cd codigo codice cod".split())
_LABELS = _NUMBERS | _CODES | frozenset("name nm desc description label text libelle".split())
_COUNTS = frozenset("number no num nb n nbr anzahl count".split())
_DATES = ("an event others know", "age or birth")
_QUANTITIES = ("income or wealth", "appearance", "age or birth", "working hours")
_MIN_COMPOUND_LETTERS = 8  # letters from which on a word may be several that run together


@dataclass(frozen=True)
class Meaning:
    """The meaning of a name. role: the suggested role. subject: what the column is, in words.
    strength: of the term."""

    role: str
    subject: str
    strength: str

    @property
    def part(self) -> bool:
        return self.strength in ("part", "kind", "measure")


@dataclass(frozen=True)
class _NamePart:
    first: int
    last: int
    meaning: Meaning


@dataclass(frozen=True)
class _Terms:
    """The terms of the file: exact ones by their letters, patterns, and words of exact ones.

    last and first: words of kinds that end a name, and, in Romance languages, that begin one.
    """

    exact: dict[str, Meaning] = field(default_factory=dict)
    patterns: list[tuple[str, Meaning]] = field(default_factory=list)
    measures: set[str] = field(default_factory=set)
    words: set[str] = field(default_factory=set)
    last: set[str] = field(default_factory=set)
    first: set[str] = field(default_factory=set)


def parts(name: str) -> list[str]:
    """Return the words of a name in lower case without accents: ``homePhone_2`` is home, phone."""
    plain = unicodedata.normalize("NFKD", name.replace("ß", "ss"))
    letters = "".join(char for char in plain if not unicodedata.combining(char))
    return [part.lower() for part in _PARTS.findall(letters)]


@cache
def meaning(name: str) -> Meaning | None:
    """Return the meaning of a column name, or None.

    Of terms within terms the longest counts (``date of birth``); of the others those that are not
    only a part, and of these identifiers first, then dates, then sensitive columns. Of parts a kind
    or thing counts first: ``type_id`` is not the number of a person.
    """
    words = words_of(name)
    matches = list(_matches(words))
    longest = [
        match for match in matches if not any(_lies_within(match, other) for other in matches)
    ]
    if not longest:
        return None
    best = min(
        (match.meaning for match in longest),
        key=lambda m: (
            m.part,
            m.part and m.role != "keep",
            m.role != "identifier" and (m.part or m.subject not in _DATES),
            _ORDER[m.role],
        ),
    )
    counted = best.part and words[0] in _COUNTS
    if best.role == "identifier" and len(words) > 1 and (counted or _is_kind(words)):
        return Meaning("keep", "a kind or thing", "kind")
    if best.part and len(words) == 1 and best.role == "identifier":
        return replace(best, strength="always")
    return best


_PEOPLE = (  # how words begin that mean a person
    *("patient", "person", "people", "customer", "client", "member", "subject", "participant"),
    *("respondent", "user", "student", "pupil", "resident", "citizen", "insured", "beneficiary"),
    *("employee", "worker", "applicant", "donor", "passenger", "borrower", "tenant", "voter"),
    *("ssn", "mrn", "kunde", "mitglied", "teilnehmer", "proband", "benutzer", "versicherte"),
    *("mitarbeiter", "schueler", "schuler", "buerger", "burger", "paciente", "paziente", "usuario"),
    *("cliente", "adherent", "assure", "usager", "abonne", "persona", "utente", "miembro"),
)

_EVENTS = (  # how words begin that mean what people have several of
    *("visit", "stay", "encounter", "admission", "case", "order", "session", "invoice", "ticket"),
    *("event", "claim", "episode", "transaction", "booking", "purchase", "payment", "message"),
    *("row", "line", "sample", "test", "fall", "besuch", "aufenthalt", "bestell", "rechnung"),
    *("auftrag", "buchung", "commande", "visite", "sejour", "facture", "pedido", "visita"),
)


def names_people(name: str) -> bool:
    """Return whether a name means that the column numbers people, not visits or orders."""
    if any(word.startswith(_EVENTS) for word in parts(name)):
        return False
    name_meaning = meaning(name)
    if name_meaning is not None and name_meaning.subject == "an official number":
        return True
    return any(word.startswith(_PEOPLE) for word in parts(name))


def is_quantity(name: str) -> bool:
    """Return whether a name means a quantity, such as an amount, and not a number or key."""
    words = words_of(name)
    if not words or is_number_or_key(name):
        return False
    name_meaning = meaning(name)
    return (
        (name_meaning is not None and name_meaning.subject in _QUANTITIES)
        or any(_is_measure(word) for word in words)
        or (len(words) > 1 and words[0] in _COUNTS)
    )


def is_number_or_key(name: str) -> bool:
    """Return whether a name means the number, key or code of something."""
    words = words_of(name)
    return bool(words) and (
        words[-1] in _NUMBERS | _CODES or words[0] in (_NUMBERS | _CODES) - _COUNTS
    )


def words_of(name: str) -> list[str]:
    """Return the words of a name, those that run together apart, without articles."""
    words = [word for part in parts(name) for word in _apart(part)]
    return [word for word in words if word not in _SKIPPED] or words


@cache
def _apart(word: str) -> tuple[str, ...]:
    """Return the known words that a word consists of (``customeremail``), or the word."""
    terms = _terms()
    if len(word) < _MIN_COMPOUND_LETTERS or word in terms.words or _meanings_of(word):
        return (word,)
    best: list[tuple[str, ...] | None] = [(), *(None for _ in word)]
    for end in range(1, len(word) + 1):
        for start in range(end):
            piece, before = word[start:end], best[start]
            inner = start and (piece in _NUMBERS if end == len(word) else piece in _SKIPPED)
            if before is not None and (inner or piece in terms.words):
                shorter = best[end]
                if shorter is None or len(before) + 1 < len(shorter):
                    best[end] = (*before, piece)
    return best[-1] or (word,)


def _is_kind(words: list[str]) -> bool:
    """Return whether a name is about a kind or measure of something: ``phone_type_id``."""
    terms = _terms()
    shorter = list(words)
    while len(shorter) > 1 and shorter[-1] in _LABELS:
        shorter.pop()
    return words[0] in terms.first or (
        len(shorter) > 1 and (shorter[-1] in terms.last or _is_measure(shorter[-1]))
    )


def _is_measure(word: str) -> bool:
    measures = _terms().measures
    return word in measures or any(
        "*" in pattern and fnmatchcase(word, pattern) for pattern in measures
    )


def _lies_within(match: _NamePart, other: _NamePart) -> bool:
    """Return whether a match lies within a longer one."""
    return (
        other.first <= match.first
        and match.last <= other.last
        and (other.last - other.first) > (match.last - match.first)
    )


def _matches(words: list[str]) -> Iterator[_NamePart]:
    """Return the terms that some consecutive words of a name, written together, are."""
    exact = _terms().exact
    for first in range(len(words)):
        for last in range(first, len(words)):
            text = "".join(words[first : last + 1])
            if first == last:
                for word_meaning in _meanings_of(text):
                    yield _NamePart(first, last, word_meaning)
            elif text in exact:
                yield _NamePart(first, last, exact[text])


def _meanings_of(word: str) -> list[Meaning]:
    """Return the meanings of a word: as a term, or else by the patterns that it matches."""
    terms = _terms()
    if word in terms.exact:
        return [terms.exact[word]]
    return [term_meaning for pattern, term_meaning in terms.patterns if fnmatchcase(word, pattern)]


def spellings(term: str) -> Iterator[tuple[str, ...]]:
    """Return the words of each spelling of a term, articles apart."""
    choices = [
        sorted(_NUMBERS) if word == "#" else word.split("|")
        for word in term.split()
        if word not in _SKIPPED
    ]
    for words in product(*choices):
        yield words
        turned = words[::-1]
        if len(words) == 2 and turned[0] not in _COUNTING.split():
            yield turned


@cache
def _terms() -> _Terms:
    """Return the terms of the file."""
    terms = _Terms()
    text = (files("anon_sql.suggest") / "column_words.csv").read_text("utf-8")
    weak: dict[str, Meaning] = {}
    for row in csv.DictReader(text.splitlines()):
        term = Meaning(row["role"], row["meaning"], row["strength"])
        for words in spellings(row["term"]):
            letters = "".join(words)
            if term.strength == "measure":
                terms.measures.add(letters)
            elif term.strength == "kind":
                terms.last.add(letters)
                if row["language"] not in ("en", "de"):
                    terms.first.add(letters)
            if "*" in letters:
                terms.patterns.append((letters, term))
            else:
                (weak if term.strength == "measure" else terms.exact).setdefault(letters, term)
                terms.words.update(word for word in words if len(word) > 2)
    for letters, term in weak.items():
        terms.exact.setdefault(letters, term)
    return terms
