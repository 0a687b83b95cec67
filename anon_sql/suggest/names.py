"""Find what a column name says, by the words in ``column_words.csv``.

The file has a row per term: its language, the role that it suggests, what it means, and its
strength. A term of strength ``part`` (``id``, ``name``) counts where no other word of the name is
known: ``city_name`` is a city, but ``name`` a name. One of strength ``always`` counts whatever the
values are: a ``patient_id`` of three values names three patients. A ``*`` stands for any letters.
"""

import csv
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files

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
    """Return whether a column name says that the column numbers people, not visits or orders."""
    if any(word.startswith(_EVENTS) for word in parts(name)):
        return False
    said = meaning(name)
    if said is not None and said.says == "an official number":
        return True
    return any(word.startswith(_PEOPLE) for word in parts(name))


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
