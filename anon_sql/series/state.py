"""The state of a series: the members of each cohort and the values that it shows.

A state is a private relation with the columns cohort (BIGINT), person and tuple (VARCHAR). Its rows
are in random order and of these kinds:

- a member: the cohort, a keyed hash of the person, and a keyed digest of the person with the tuple,
  by which changed values are counted;
- a tuple: the cohort, and as JSON the sensitive and kept values of one of its members, no person;
- a person without a cohort who waits, or has waited: a cohort of the leaf, whose label covers the
  person too, or 0, and the hash;
- a person who is withheld, because the cohort of this person is gone: the hash alone;
- the head, JSON alone: version, key, l, columns, the number of people who were ever placed or
  forgotten, a keyed digest of the persons present, and a row of figures per release.

A person is placed once. Two cohorts of one person would share that person's value, and the attacker
who intersects them would find it. So the state never forgets a person.
"""

import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.core.arrow import integers, true, valid
from anon_sql.core.pseudonyms import key_check
from anon_sql.errors import AnonError, Argument, Parameter, listed

VERSION = 2  # 1 forgot the members of a cohort that had left, and placed them again
NOWHERE = 0  # stands for the cohort of a person who waits and whom no label covers
COLUMNS = {"cohort": "BIGINT", "person": "VARCHAR", "tuple": "VARCHAR"}
Cohorts = npt.NDArray[np.int64]
_MEMBERS = pa.schema([("cohort", pa.int64()), ("person", pa.string()), ("tuple", pa.string())])


@dataclass(frozen=True)
class SeriesPeople:
    """The n persons of a table, a row each, as arrays of texts.

    hashes; digests, of each person with the tuple; tuples, as JSON, encoded as a dictionary.
    """

    hashes: pa.StringArray
    digests: pa.StringArray
    tuples: pa.DictionaryArray

    def take(self, positions: npt.NDArray[np.int64]) -> "SeriesPeople":
        """Return the persons at some positions."""
        picked = pa.array(positions)
        return SeriesPeople(
            *(column.take(picked) for column in (self.hashes, self.digests, self.tuples))
        )

    def digest(self, key: bytes) -> str:
        """Return a keyed digest of all persons and tuples, in whatever order."""
        return keyed(key, "present", "".join(sorted(self.digests.to_pylist())))


@dataclass
class State:
    """The parsed rows of a state, in tables with the columns of the relation.

    head: see above. members: cohort, person and digest. tuples: cohort and JSON. waiting: the
    cohort whose label covers a person who waits or has waited, and the person. withheld: persons
    who had a cohort that is gone.
    """

    head: dict[str, Any]
    members: pa.Table
    tuples: pa.Table
    waiting: pa.Table
    withheld: pa.Array

    @classmethod
    def empty(cls, head: dict[str, Any]) -> "State":
        """Return the state of a series that begins."""
        none = _MEMBERS.empty_table()
        return cls(
            head,
            none,
            none.drop_columns("person"),
            none.drop_columns("tuple"),
            pa.array([], pa.string()),
        )

    @property
    def l(self) -> int:  # noqa: E743 - the field's name for it
        return int(self.head["l"])

    @property
    def releases(self) -> list[dict[str, Any]]:
        """Return the figures of each release, and l."""
        return [{**figures, "l": self.l} for figures in self.head["releases"]]

    def rows(self) -> pa.StructArray:
        """Return the rows in random order."""
        head = pa.table({"tuple": [json.dumps(self.head)]})
        parts = [head, self.members, self.tuples, self.waiting, pa.table({"person": self.withheld})]
        whole = pa.concat_tables(parts, promote_options="default").select(list(COLUMNS))
        order = pa.array(np.random.default_rng().permutation(len(whole)))  # seeded by the system
        return whole.take(order).combine_chunks().to_struct_array().combine_chunks()

    def cohort_of(self, persons: SeriesPeople) -> Cohorts:
        """Return the cohort of each person, int64[n]; NOWHERE for people without one.

        The values of a person have no part in it: a member whose values change stays a member.
        """
        members = self.members["person"].combine_chunks()
        positions = pc.index_in(persons.hashes, value_set=members)
        cohorts: Cohorts = integers(self.members["cohort"].combine_chunks().take(positions))
        return cohorts

    def changed(self, persons: SeriesPeople) -> int:
        """Count the members whose values have changed since they entered."""
        entry = true(pc.is_in(persons.digests, value_set=self.members["tuple"].combine_chunks()))
        return int(((self.cohort_of(persons) != NOWHERE) & ~entry).sum())

    def require_present(self, function: str, persons: SeriesPeople, key: bytes) -> None:
        """Raise AnonError unless the table has the persons and tuples of the last state."""
        if not hmac.compare_digest(persons.digest(key), str(self.head["present"])):
            raise AnonError(
                function,
                Parameter("series") + " must be the state that series_next made of this table",
                "persons or values that differ",
                "call series_next first; a file of an earlier release needs the state of its time",
            )

    def enter(self, persons: SeriesPeople, cohorts: Cohorts) -> None:
        """Add members of new cohorts."""
        cohort_column = pa.array(cohorts)
        self.head["placed"] += len(cohorts)
        self.members = pa.concat_tables(
            [
                self.members,
                pa.table([cohort_column, persons.hashes, persons.digests], schema=_MEMBERS),
            ]
        )
        texts = persons.tuples.dictionary_decode()
        self.tuples = pa.concat_tables(
            [self.tuples, pa.table([cohort_column, texts], schema=self.tuples.schema)]
        )

    def remove(self, cohorts: Cohorts) -> None:
        """Delete cohorts whole; their members are withheld from now on."""
        removed = pa.array(cohorts)
        lost = self.members.filter(pc.is_in(self.members["cohort"], value_set=removed))["person"]
        self.withheld = pa.concat_arrays([self.withheld, lost.combine_chunks()])
        self.tuples, self.members = (
            table.filter(pc.invert(pc.is_in(table["cohort"], value_set=removed)))
            for table in (self.tuples, self.members)
        )
        is_uncovered = pc.is_in(self.waiting["cohort"], value_set=removed)
        cover = pc.if_else(is_uncovered, NOWHERE, self.waiting["cohort"])
        self.waiting = self.waiting.set_column(0, "cohort", cover)

    def forget(self, persons: pa.Array) -> None:
        """Remove the cohorts of some persons; withhold these persons, also if they only waited."""
        memberships = self.members.filter(pc.is_in(self.members["person"], value_set=persons))
        self.remove(integers(memberships["cohort"].combine_chunks().unique()))
        waits = pc.is_in(self.waiting["person"], value_set=persons)
        lost = self.waiting.filter(waits)["person"].combine_chunks()
        self.head["placed"] += len(lost)
        self.withheld = pa.concat_arrays([self.withheld, lost])
        self.waiting = self.waiting.filter(pc.invert(waits))


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


def digests(key: bytes, hashes: Sequence[bytes], tuples: pa.DictionaryArray) -> pa.StringArray:
    """Return 32 hexadecimal digits for each person and tuple, by keyed BLAKE2b (RFC 7693)."""
    keyed_hash = blake2b(key=keyed(key, "digest").encode(), digest_size=16)
    texts = [bytes.fromhex(keyed(key, "tuple", text)) for text in tuples.dictionary.to_pylist()]
    hexadecimals = []
    for person, tuple_id in zip(hashes, tuples.indices.to_numpy().tolist(), strict=True):
        person_hash = keyed_hash.copy()  # in which the key is hashed already
        person_hash.update(person + texts[tuple_id])
        hexadecimals.append(person_hash.hexdigest())
    return pa.array(hexadecimals, pa.string())


def orders(key: bytes, number: int, hashes: pa.StringArray) -> npt.NDArray[np.uint64]:
    """Return the secret random number of each person in one release, uint64[n]."""
    order_key = keyed(key, "order", str(number)).encode()
    persons = hashes.cast(pa.binary()).to_pylist()
    hashed = [blake2b(person, key=order_key, digest_size=8).digest() for person in persons]
    return np.frombuffer(b"".join(hashed), np.uint64)


def read_state(
    function: str, rows: pa.StructArray, types: Mapping[str, str], key: bytes | None
) -> State | None:
    """Return the state that the rows of a relation are; None for a relation without rows.

    rows: structs of three texts. types: SQL type by column name. key: None to leave it unchecked.
    Raises AnonError for a relation that is not a state, for a state of another version or key, and
    for rows that do not belong together.
    """
    rule = _named(function) + " must be a state that series_next has made"
    in_pandas = {**COLUMNS, "cohort": "DOUBLE"}  # as it holds whole numbers beside NULL
    if dict(types) not in (COLUMNS, in_pandas):
        raise AnonError(function, rule, "a table with other columns", "a series begins without one")
    texts = {name: rows.field(name) for name in COLUMNS}
    cohort, person, tuple_ = (valid(values) for values in texts.values())
    if not (cohort | person | tuple_).any():
        return None
    heads = texts["tuple"].filter(pa.array(~cohort & ~person & tuple_)).to_pylist()
    if len(heads) != 1:
        raise AnonError(function, rule, f"{len(heads)} rows that begin one")
    head = _head(function, rule, heads[0], key)
    whole = pa.table(
        [texts["cohort"].cast(pa.float64()).cast(pa.int64()), texts["person"], texts["tuple"]],
        _MEMBERS,
    )

    def only(kind: npt.NDArray[np.bool_], *names: str) -> pa.Table:
        return whole.filter(pa.array(kind)).select(names)

    state = State(
        head,
        only(cohort & person & tuple_, "cohort", "person", "tuple"),
        only(cohort & ~person & tuple_, "cohort", "tuple"),
        only(cohort & person & ~tuple_, "cohort", "person"),
        only(~cohort & person & ~tuple_, "person")["person"].combine_chunks(),
    )
    of_members, of_tuples = (
        np.sort(integers(part["cohort"].combine_chunks())) for part in (state.members, state.tuples)
    )
    parts = (state.members["person"], state.waiting["person"], pa.chunked_array([state.withheld]))
    people = pa.chunked_array([chunk for part in parts for chunk in part.chunks], pa.string())
    complete = len(state.members) + len(state.withheld) == head["placed"]
    once = pc.count_distinct(people).as_py() == len(people)
    if not (np.array_equal(of_members, of_tuples) and complete and once):
        raise AnonError(
            function, rule, "rows that do not belong together", "take an unchanged copy"
        )
    names = {*head["columns"]["sensitive"], *head["columns"]["kept"]}
    if not all(_is_tuple(text, names) for text in state.tuples["tuple"].unique().to_pylist()):
        raise AnonError(function, rule, "damaged rows", "take an unchanged copy")
    return state


def _named(function: str) -> Parameter:
    """Return the parameter of a function that names the state."""
    return Parameter("series", "state") if function.startswith("series_") else Parameter("series")


def _is_tuple(text: str, names: set[str]) -> bool:
    """Return whether a text is JSON of a text or null for each column."""
    try:
        values = json.loads(text)
    except ValueError:
        return False
    return (
        isinstance(values, dict)
        and set(values) == names
        and all(value is None or isinstance(value, str) for value in values.values())
    )


_HEAD: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("key_check", "present"), str),
    **dict.fromkeys(("l", "leaf", "next", "placed"), int),
    "waiting": (int, float),
}
_FIGURES: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("release", "cohorts", "present", "former", "waiting"), int),
    **dict.fromkeys(("withheld", "changed"), int),
    "made_at": str,
    "largest_waiting_share": (int, float),
}


def _is_head(head: dict[str, Any]) -> bool:
    """Return whether a head has the entries of this version."""
    columns, releases = head.get("columns"), head.get("releases")
    return (
        _has_types(head, _HEAD)
        and isinstance(columns, dict)
        and _has_types(columns, dict.fromkeys(("sensitive", "kept", "entity"), dict))
        and isinstance(releases, list)
        and all(isinstance(figures, dict) and _has_types(figures, _FIGURES) for figures in releases)
    )


def _has_types(entries: dict[str, Any], kinds: Mapping[str, type | tuple[type, ...]]) -> bool:
    return all(isinstance(entries.get(name), kind) for name, kind in kinds.items())


def _head(function: str, rule: Any, text: str, key: bytes | None) -> dict[str, Any]:
    """Return the head of a state. Raises AnonError for one of another version or key."""
    try:
        head: dict[str, Any] = json.loads(text)
        version = head["series"]
    except (ValueError, KeyError, TypeError):
        raise AnonError(function, rule, "a damaged first row", "take an unchanged copy") from None
    if version != VERSION:
        raise AnonError(function, rule, "one of another version", "begin a new series")
    if not _is_head(head):
        raise AnonError(function, rule, "a damaged first row", "take an unchanged copy")
    if key is not None and head["key_check"] != key_check(key):
        keys = Parameter("key") + " must be the one that the series began with"
        raise AnonError(function, keys)
    return head


def require_columns(function: str, state: State, columns: Mapping[str, Mapping[str, str]]) -> None:
    """Raise AnonError unless columns and their types are those of the series."""
    for role, types in columns.items():
        series_types = state.head["columns"][role]
        if series_types != dict(types):
            names = [
                name
                for name in {**series_types, **types}
                if series_types.get(name) != types.get(name)
            ]
            raise AnonError(
                function,
                f"the {role} columns must be those that the series began with",
                f"other columns or types: {listed(names)}",
                "begin a new series for other columns",
            )


def require_l(function: str, state: State, wanted: int | None) -> None:
    """Raise AnonError if an l is given that is not that of the series."""
    if wanted is not None and wanted != state.l:
        raise AnonError(
            function,
            Parameter("l") + " must be that of the series, or left out",
            f"{wanted} instead of {state.l}",
            "leave " + Argument("l", wanted) + " out",
        )
