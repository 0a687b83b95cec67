"""The state of a series: who belongs to which cohort, and what each cohort shows.

A state is a private relation with the columns cohort (BIGINT), person and tuple (VARCHAR). Its rows
are in random order and of these kinds:

- a member: the cohort, a keyed hash of the person, and a keyed digest of the person with the tuple,
  by which a changed value is seen;
- a tuple: the cohort, and as JSON the sensitive and kept values of one of its members, no person;
- a person who waits: a cohort of the leaf, whose label covers the person too, or 0, and the hash;
- a person who is withheld for good, a former companion of somebody withdrawn: the hash alone;
- the head, JSON alone: version, key, l, columns, a keyed digest of the persons present, and a row
  of figures per release.
"""

import hmac
import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from anon_sql.core.pseudonyms import key_check
from anon_sql.errors import AnonError, Argument, Parameter, listed

VERSION = 1
NOWHERE = 0  # stands for the cohort of a person who waits and whom no label covers
COLUMNS = {"cohort": "BIGINT", "person": "VARCHAR", "tuple": "VARCHAR"}
Row = tuple[int | None, str | None, str | None]
_RANDOM = random.SystemRandom()


@dataclass(frozen=True)
class Persons:
    """The n persons of a table, a row each: hashes, digests with their tuples, tuples as JSON."""

    hashes: Sequence[str]
    digests: Sequence[str]
    tuples: Sequence[str]

    def digest(self, key: bytes) -> str:
        """Return a keyed digest of all persons and tuples, in whatever order."""
        return keyed(key, "present", *sorted(self.digests))


@dataclass
class State:
    """A state as its rows say it.

    head: see above. members: (cohort, digest) of each person. tuples: of each cohort, as JSON.
    waiting: the cohort whose label covers a person who waits. withheld: persons.
    """

    head: dict[str, Any]
    members: dict[str, list[tuple[int, str]]] = field(default_factory=lambda: defaultdict(list))
    tuples: dict[int, list[str]] = field(default_factory=lambda: defaultdict(list))
    waiting: dict[str, int] = field(default_factory=dict)
    withheld: set[str] = field(default_factory=set)

    @property
    def l(self) -> int:  # noqa: E743 - the field's name for it
        return int(self.head["l"])

    @property
    def releases(self) -> list[dict[str, Any]]:
        return list(self.head["releases"])

    def rows(self) -> list[Row]:
        """Return the rows in random order."""
        found: list[Row] = [(None, None, json.dumps(self.head))]
        for person, own in self.members.items():
            found += [(cohort, person, digest) for cohort, digest in own]
        found += [(cohort, None, one) for cohort, own in self.tuples.items() for one in own]
        found += [(cohort, person, None) for person, cohort in self.waiting.items()]
        found += [(None, person, None) for person in self.withheld]
        _RANDOM.shuffle(found)
        return found

    def cohort_of(self, persons: Persons) -> list[int | None]:
        """Return the cohort in which each person is present; None for others."""
        found: list[int | None] = []
        for person, digest in zip(persons.hashes, persons.digests, strict=True):
            own = [cohort for cohort, known in self.members.get(person, ()) if known == digest]
            found.append(own[0] if own and person not in self.withheld else None)
        return found

    def require_present(self, function: str, persons: Persons, key: bytes) -> None:
        """Raise AnonError unless the table has the persons and tuples of the last state."""
        if not hmac.compare_digest(persons.digest(key), str(self.head["present"])):
            raise AnonError(
                function,
                Parameter("series") + " must be the state that series_next made of this table",
                "persons or values that differ",
                "call series_next first",
            )

    def withdraw(self, cohorts: Iterable[int], persons: Iterable[str] = ()) -> None:
        """Delete cohorts whole; their members are withheld from now on, except some persons."""
        gone, forgotten = set(cohorts), set(persons)
        self.withheld |= self._members_of(gone) - forgotten
        self.remove(gone)

    def _members_of(self, cohorts: set[int]) -> set[str]:
        """Return the persons of cohorts."""
        return {p for p, own in self.members.items() if any(c in cohorts for c, _ in own)}

    def remove(self, cohorts: Iterable[int]) -> None:
        """Delete the tuples and the members of cohorts, and who waits for them."""
        gone = set(cohorts)
        for cohort in gone:
            self.tuples.pop(cohort, None)
        for person in self._members_of(gone):
            kept = [(cohort, known) for cohort, known in self.members[person] if cohort not in gone]
            if kept:
                self.members[person] = kept
            else:
                del self.members[person]
        self.waiting = {p: NOWHERE if c in gone else c for p, c in self.waiting.items()}


def keyed(key: bytes, *texts: str) -> str:
    """Return 32 hexadecimal digits of HMAC-SHA-256 of texts, each after its length."""
    made = hmac.new(key, digestmod="sha256")
    for text in texts:
        data = text.encode()
        made.update(len(data).to_bytes(8, "big"))
        made.update(data)
    return made.hexdigest()[:32]


def series_key(key: bytes) -> bytes:
    """Return the key of all hashes and random orders of a series, derived from the user's."""
    return hmac.digest(key, b"anon_sql series", "sha512")


def read_state(
    function: str, rows: Sequence[Row], types: Mapping[str, str], key: bytes | None
) -> State | None:
    """Return the state that the rows of a relation are; None for a relation without rows.

    types: SQL type by column name. key: None to leave it unchecked. Raises AnonError for a relation
    that is no state, that another version or key has made, or whose rows do not belong together.
    """
    rule = Parameter("series", "state") + " must be a state that series_next has made"
    if dict(types) != COLUMNS:
        raise AnonError(function, rule, "a table with other columns", "write NULL for the first")
    heads = [tuple_ for cohort, person, tuple_ in rows if cohort is None and person is None]
    if not rows:
        return None
    if len(heads) != 1 or heads[0] is None:
        raise AnonError(function, rule, f"{len(heads)} rows that begin one")
    try:
        head = json.loads(heads[0])
        version = head["series"]
    except (ValueError, KeyError, TypeError):
        raise AnonError(function, rule, "a first row that is none") from None
    if version != VERSION:
        raise AnonError(function, rule, "one of another version", "begin a new series")
    if key is not None and head["key_check"] != key_check(key):
        keys = Parameter("key") + " must be the one that the series began with"
        raise AnonError(function, keys, "another")
    state = State(head)
    for cohort, person, text in rows:
        if cohort is not None and person is not None and text is not None:
            state.members[person].append((cohort, text))
        elif cohort is not None and text is not None:
            state.tuples[cohort].append(text)
        elif cohort is not None and person is not None:
            state.waiting[person] = cohort
        elif person is not None:
            state.withheld.add(person)
    of = Counter(cohort for own in state.members.values() for cohort, _ in own)
    if of != Counter({cohort: len(own) for cohort, own in state.tuples.items()}):
        raise AnonError(
            function, rule, "rows that do not belong together", "take an unchanged copy"
        )
    return state


def require_columns(function: str, state: State, columns: Mapping[str, Mapping[str, str]]) -> None:
    """Raise AnonError unless columns and their types are those of the series."""
    for role, own in columns.items():
        known = state.head["columns"][role]
        if known != dict(own):
            names = [name for name in {**known, **own} if known.get(name) != own.get(name)]
            raise AnonError(
                function,
                f"the {role} columns must be those that the series began with",
                f"others or other types: {listed(names)}",
                "begin a new series for other columns",
            )


def require_l(function: str, state: State, wanted: int | None) -> None:
    """Raise AnonError if an l is given that is not that of the series."""
    if wanted is not None and wanted != state.l:
        raise AnonError(
            function,
            Parameter("l") + " must be that of the series, or NULL",
            f"{wanted} instead of {state.l}",
            "leave " + Argument("l", wanted) + " out",
        )
