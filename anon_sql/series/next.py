"""The next state of a series: newcomers are placed, leavers and changes are noted."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.core.common_parameters import ColumnRoles, Hierarchies
from anon_sql.core.common_parameters import Persons as Entity
from anon_sql.core.parameters import (
    Choice,
    Number,
    OrNull,
    RelationOf,
    Secret,
    Whole,
    declare,
    param,
)
from anon_sql.core.pseudonyms import key_check
from anon_sql.core.table import QuasiTable
from anon_sql.errors import AnonError, Parameter
from anon_sql.methods.anonymize import Anonymize
from anon_sql.methods.method import find_method
from anon_sql.pipeline.partition import legal_partition, prepare
from anon_sql.pipeline.request import Request, Source
from anon_sql.series.placement import Values, place
from anon_sql.series.state import (
    NOWHERE,
    VERSION,
    Persons,
    State,
    keyed,
    require_columns,
    require_l,
)

NAME = "series_next"
LEAF = {2: 40}  # rows of a blind leaf by l; 80 above
WAITING = {2: 0.02}  # largest expected share of a leaf that is halved; .05 above
KEY = "env:ANON_KEY"


@dataclass(frozen=True)
class Next:
    """The parameters of ``series_next``, besides the roles of columns."""

    state: Any = param(
        None,
        RelationOf("cohort, person and tuple"),
        "the state of the series before",
        null="that the series begins",
        relation=True,
    )
    l: int | None = param(  # noqa: E741 - the field's name for it
        None,
        OrNull(Whole(1)),
        "least number of persons of a cohort, at least 2, all with different sensitive values; it "
        "is chosen for the first state",
        null="2 for the first state, and later that of the series",
    )
    leaf: int | None = param(
        None,
        OrNull(Whole(2)),
        "rows of the groups in which newcomers are divided into cohorts, before they are halved",
        null="40 where l is 2, and 80 above",
    )
    waiting: float | None = param(
        None,
        OrNull(Number(0, 1)),
        "expected share of persons who wait, 0…1, up to which such a group is halved",
        null="0.02 where l is 2, and 0.05 above",
    )
    leavers: str = param(
        "keep",
        Choice(("keep", "withdraw")),
        "'keep' shows the row of a person who has left until the last one of the cohort has left; "
        "'withdraw' withdraws the whole cohort at once, whose other members are then never "
        "released again",
    )
    key: Any = param(
        KEY, Secret(), "secret key of the series, as in anon_pseudonym; the same for all its states"
    )


declare(NAME, ColumnRoles, Entity, Hierarchies, Next)


@dataclass(frozen=True)
class Table:
    """A table with a row per person, as the release of its request reads it.

    values: the sensitive values of each person. columns: SQL types of the sensitive and the kept
    columns, by role and name. entity: the column of persons.
    """

    source: Source
    request: Request
    paths: pa.StructArray | None
    persons: Persons
    values: Sequence[Values]
    columns: Mapping[str, Mapping[str, str]]

    def only(self, at: npt.NDArray[np.int64]) -> "Table":
        """Return the persons at some positions, int64[m]."""
        picked = pa.array(at)
        source = replace(
            self.source,
            quasi={name: values.take(picked) for name, values in self.source.quasi.items()},
            hashes=self.source.hashes.take(picked),
            keys={},
        )
        persons = Persons(
            *(
                [texts[i] for i in at]
                for texts in (self.persons.hashes, self.persons.digests, self.persons.tuples)
            )
        )
        return replace(self, source=source, persons=persons, values=[self.values[i] for i in at])


def next_state(state: State | None, table: Table, asked: Next, key: bytes) -> State:
    """Return the state after the persons of a table; ``state`` is changed, None for the first.

    Raises AnonError for other columns or another l than the series has.
    """
    if state is None:
        state = _begun(table, asked, key)
    else:
        require_columns(NAME, state, table.columns)
        require_l(NAME, state, asked.l)
    waited = set(state.waiting)
    state.waiting.clear()
    persons = table.persons
    cohorts = state.cohort_of(persons)
    if asked.leavers == "withdraw":
        there = Counter(cohort for cohort in cohorts if cohort is not None)
        short = [cohort for cohort, own in state.tuples.items() if there[cohort] < len(own)]
        known = set(persons.hashes)
        state.withdraw(short, [person for person in state.members if person not in known])
        cohorts = state.cohort_of(persons)
    present = set(cohorts)
    state.remove([cohort for cohort in state.tuples if cohort not in present])
    new = [
        at
        for at, cohort in enumerate(cohorts)
        if cohort is None and persons.hashes[at] not in state.withheld
    ]
    largest = 0.0
    for apart in (False, True):  # who has waited is likelier to have some values, so is no partner
        own = [at for at in new if (persons.hashes[at] in waited) == apart]
        if own:
            largest = max(largest, _place(state, table.only(np.array(own, np.int64)), key))
    _note(state, table, largest, key)
    return state


def _begun(table: Table, asked: Next, key: bytes) -> State:
    """Return the state of a series that begins. Raises AnonError if the table has no l values."""
    l = asked.l or 2  # noqa: E741
    if l < 2:
        raise AnonError(NAME, Parameter("l") + " must be at least 2", f"{l}")
    for at, name in enumerate(table.columns["sensitive"]):
        found = len({values[at] for values in table.values})
        if found < l:
            raise AnonError(
                NAME,
                Parameter("l") + f" must be at most the number of values of {name}",
                f"{l} of {found}",
            )
    head = {
        "series": VERSION,
        "key_check": key_check(key),
        "l": l,
        "leaf": asked.leaf or LEAF.get(l, 80),
        "waiting": WAITING.get(l, 0.05) if asked.waiting is None else asked.waiting,
        "columns": {role: dict(own) for role, own in table.columns.items()},
        "next": 1,
        "releases": [],
    }
    return State(head)


def _place(state: State, table: Table, key: bytes) -> float:
    """Place the persons of a table, who are new; return the largest share of a leaf that waits."""
    number = str(len(state.releases) + 1)
    secret = [keyed(key, "order", number, person) for person in table.persons.hashes]
    order = np.argsort(np.argsort(np.array(secret)))
    quasi, classes = blind_leaves(table, int(state.head["leaf"]))
    leaves = list(place(quasi, classes, table.values, order, state.l, float(state.head["waiting"])))
    points = np.empty_like(quasi.points)
    points[quasi.order] = quasi.points
    made: list[tuple[int, int]] = []  # a cohort and a member of each
    for leaf in leaves:
        own = [_enter(state, table.persons, cohort) for cohort in leaf.cohorts]
        leaf_made = [
            (at, member) for at, cohort in zip(own, leaf.cohorts, strict=True) for member in cohort
        ]
        _cover(state, table.persons, leaf.waiting, leaf_made, points, quasi)
        made += leaf_made
    for leaf in leaves:
        if not leaf.cohorts:
            _cover(state, table.persons, leaf.waiting, made, points, quasi)
    return max(leaf.share for leaf in leaves)


def _enter(state: State, persons: Persons, members: Sequence[int]) -> int:
    """Add a cohort of persons to a state; return its number."""
    cohort = int(state.head["next"])
    state.head["next"] = cohort + 1
    for at in members:
        state.members[persons.hashes[at]].append((cohort, persons.digests[at]))
        state.tuples[cohort].append(persons.tuples[at])
    return cohort


def _cover(
    state: State,
    persons: Persons,
    waiting: Sequence[int],
    made: Sequence[tuple[int, int]],
    points: npt.NDArray[np.float64],
    quasi: QuasiTable,
) -> None:
    """Note for persons who wait the cohort of the nearest member; made: cohorts with members."""
    if not made:
        state.waiting.update(dict.fromkeys((persons.hashes[at] for at in waiting), NOWHERE))
        return
    members = points[[member for _, member in made]]
    for at in waiting:
        away = np.minimum(np.abs(members - points[at]), quasi.model.weight).sum(1)
        state.waiting[persons.hashes[at]] = made[int(away.argmin())][0]


def blind_leaves(table: Table, rows: int) -> tuple[QuasiTable, npt.NDArray[np.int32]]:
    """Return the quasi-identifiers of a table, and classes of at least so many rows of them.

    Values of other columns have no part in it, and rows alike are told apart by their persons.
    """
    method = find_method("anonymize")
    many = len(table.persons.hashes)
    request = replace(blind(table.request), k=min(rows, many), method=method, options=Anonymize())
    prepared = prepare(table.source, request, table.paths)
    if many < 2 * rows:
        return prepared.table, np.zeros(many, np.int32)
    return prepared.table, legal_partition(prepared.table, prepared.call, method).classes


def blind(request: Request) -> Request:
    """Return a request that looks at quasi-identifiers alone."""
    return replace(request, protected={}, entity=None, models=(), sensitive=(), kept=())


def _note(state: State, table: Table, largest: float, key: bytes) -> None:
    """Write what the release of a state is about into its head."""
    cohorts = state.cohort_of(table.persons)
    present = sum(cohort is not None for cohort in cohorts)
    held = sum(map(len, state.tuples.values()))
    withheld = sum(person in state.withheld for person in table.persons.hashes)
    state.head["present"] = table.persons.digest(key)
    state.head["releases"].append(
        {
            "release": len(state.releases) + 1,
            "made_at": datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S"),
            "cohorts": len(state.tuples),
            "present": present,
            "former": held - present,
            "waiting": len(cohorts) - present - withheld,
            "withheld": withheld,
            "largest_waiting_share": largest,
        }
    )


def forget(state: State, persons: Sequence[str]) -> State:
    """Withdraw the cohorts of persons, given by hash, whole, and delete the persons."""
    cohorts = {cohort for person in persons for cohort, _ in state.members.get(person, ())}
    state.withdraw(cohorts, persons)
    for person in persons:
        state.waiting.pop(person, None)
        state.withheld.discard(person)
        state.members.pop(person, None)
    return state
