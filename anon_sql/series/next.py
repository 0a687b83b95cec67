"""Compute the next state of a series: place newcomers, and note leavers and changes."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql import kernels
from anon_sql.core.arrow import integers, true
from anon_sql.core.common_parameters import ColumnRoles, EntityColumn, Hierarchies
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
from anon_sql.core.pseudonyms import KEY, key_check
from anon_sql.core.table import QuasiTable
from anon_sql.errors import AnonError, Parameter
from anon_sql.methods.anonymize import Anonymize
from anon_sql.methods.method import find_method
from anon_sql.pipeline.partition import legal_partition, prepare
from anon_sql.pipeline.request import Request, Source
from anon_sql.series.placement import place
from anon_sql.series.state import (
    NOWHERE,
    VERSION,
    Cohorts,
    SeriesPeople,
    State,
    orders,
    require_columns,
    require_l,
)

NAME = "series_next"
LEAF_ROWS = {2: 40}  # rows of a blind leaf by l; 80 above
MAX_WAITING_SHARE = {2: 0.02}  # largest expected share of a leaf that is halved; .05 above


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
        "least number of people of a cohort, at least 2, all with different sensitive values; it "
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
        "expected share of people who wait, 0…1, up to which such a group is halved",
        null="0.02 where l is 2, and 0.05 above",
    )
    leavers: str = param(
        "keep",
        Choice(("keep", "withdraw")),
        "'keep' shows the row of a person who has left until the last one of the cohort has left; "
        "'withdraw' withdraws the whole cohort at once; either way, no member of a cohort that is "
        "gone is ever released again",
    )
    key: Any = param(
        KEY, Secret(), "secret key of the series, as in anon_pseudonym; the same for all its states"
    )


declare(NAME, ColumnRoles, EntityColumn, Hierarchies, Next)


@dataclass(frozen=True)
class SeriesTable:
    """A table with one row per person.

    codes: int32[n, s], the value of each sensitive column of each person. columns: SQL types of the
    sensitive and the kept columns, by role and name. entity: the column of persons.
    """

    source: Source
    request: Request
    paths: pa.StructArray | None
    persons: SeriesPeople
    codes: npt.NDArray[np.int32]
    columns: Mapping[str, Mapping[str, str]]

    def only(self, positions: npt.NDArray[np.int64]) -> "SeriesTable":
        """Return the persons at some positions, int64[m]."""
        picked = pa.array(positions)
        source = replace(
            self.source,
            quasi={name: values.take(picked) for name, values in self.source.quasi.items()},
            hashes=self.source.hashes.take(picked),
            keys={},
        )
        return replace(
            self, source=source, persons=self.persons.take(positions), codes=self.codes[positions]
        )


def next_state(state: State | None, table: SeriesTable, parameters: Next, key: bytes) -> State:
    """Return the state after the people of a table; ``state`` is changed in place, None for the
    first.

    Raises AnonError for other columns or another l than the series has.
    """
    if state is None:
        state = _begun(table, parameters, key)
    else:
        require_columns(NAME, state, table.columns)
        require_l(NAME, state, parameters.l)
    persons = table.persons
    waited = state.waiting["person"].combine_chunks()
    absent = pc.invert(pc.is_in(waited, value_set=persons.hashes))
    state.waiting = _without_cohort(waited.filter(absent), state.waiting.schema)
    cohorts = state.cohort_of(persons)
    if parameters.leavers == "withdraw":
        state.remove(_short(state, cohorts))
        cohorts = state.cohort_of(persons)
    state.remove(np.setdiff1d(integers(state.tuples["cohort"].combine_chunks()), cohorts))
    new = (cohorts == NOWHERE) & ~true(pc.is_in(persons.hashes, value_set=state.withheld))
    before = true(pc.is_in(persons.hashes, value_set=waited))
    largest = 0.0
    for apart in (False, True):  # waiting shows likely values, so they are no partners
        newcomers = np.flatnonzero(new & (before == apart))
        if len(newcomers):
            largest = max(largest, _place(state, table.only(newcomers), key, apart))
    _cover(state, table)
    _note(state, table, largest, key)
    return state


def _without_cohort(persons: pa.Array, schema: pa.Schema) -> pa.Table:
    """Return people as waiting, covered by the labels of no cohort."""
    return pa.table([pa.array(np.full(len(persons), NOWHERE)), persons], schema=schema)


def _cover(state: State, table: SeriesTable) -> None:
    """Assign each waiting person of a leaf without a cohort to the cohort of the nearest member."""
    is_present = pc.is_in(state.waiting["person"], value_set=table.persons.hashes)
    of_no_cohort = pc.equal(state.waiting["cohort"], NOWHERE)
    uncovered = state.waiting.filter(pc.and_(is_present, of_no_cohort))
    cohorts = state.cohort_of(table.persons)
    members = np.flatnonzero(cohorts != NOWHERE)
    if not len(uncovered) or not len(members):
        return
    positions = pc.index_in(uncovered["person"].combine_chunks(), value_set=table.persons.hashes)
    both = table.only(np.append(members, integers(positions)))
    quasi = prepare(both.source, replace(blind(both.request), k=1), both.paths).table
    number = np.append(np.arange(len(members)), np.full(len(uncovered), -1)).astype(np.int32)
    rows, starts = np.arange(len(number), dtype=np.int32), np.array([0, len(number)])
    leaf = np.zeros(len(number), np.int32)
    nearest = kernels.cohorts.nearest(
        quasi.points, quasi.model.weight, leaf, number[quasi.order], rows, starts
    )
    in_source_order = np.empty_like(nearest)
    in_source_order[quasi.order] = nearest
    newly_covered = pa.table(
        [pa.array(cohorts[members[in_source_order[len(members) :]]]), uncovered["person"]],
        schema=state.waiting.schema,
    )
    covered = state.waiting.filter(pc.invert(pc.and_(is_present, of_no_cohort)))
    state.waiting = pa.concat_tables([covered, newly_covered])


def _short(state: State, cohorts: Cohorts) -> Cohorts:
    """Return the cohorts that lack a member; cohorts: those of the people who are present."""
    cohort_ids, sizes = np.unique(
        integers(state.tuples["cohort"].combine_chunks()), return_counts=True
    )
    present_ids, present_counts = np.unique(cohorts[cohorts != NOWHERE], return_counts=True)
    present_members = np.zeros(len(cohort_ids), np.int64)
    present_members[np.searchsorted(cohort_ids, present_ids)] = present_counts
    return cohort_ids[present_members < sizes]


def _begun(table: SeriesTable, parameters: Next, key: bytes) -> State:
    """Return the state of a series that begins. Raises AnonError if the table has no l values."""
    l = parameters.l or 2  # noqa: E741
    if l < 2:
        raise AnonError(NAME, Parameter("l") + " must be at least 2", f"{l}")
    for c, name in enumerate(table.columns["sensitive"]):
        distinct = len(np.unique(table.codes[:, c]))
        if distinct < l:
            raise AnonError(
                NAME,
                Parameter("l") + f" must be at most the number of values of {name}",
                f"{l} of {distinct}",
            )
    head = {
        "series": VERSION,
        "key_check": key_check(key),
        "l": l,
        "leaf": parameters.leaf or LEAF_ROWS.get(l, 80),
        "waiting": MAX_WAITING_SHARE.get(l, 0.05)
        if parameters.waiting is None
        else parameters.waiting,
        "columns": {role: dict(types) for role, types in table.columns.items()},
        "next": 1,
        "placed": 0,
        "releases": [],
    }
    return State.empty(head)


def _place(state: State, table: SeriesTable, key: bytes, apart: bool) -> float:
    """Place newcomers into cohorts; return the largest share of a leaf that waits.

    apart: these are persons who have waited.
    """
    persons, first = table.persons, int(state.head["next"])
    rank = orders(key, len(state.releases) + 1, persons.hashes)
    quasi, classes = blind_leaves(table, int(state.head["leaf"]))
    waiting = float(state.head["waiting"])
    placed = place(quasi, classes, table.codes, rank, state.l, waiting, apart)
    members = np.flatnonzero(placed.cohorts >= 0)
    state.enter(persons.take(members), first + placed.cohorts[members].astype(np.int64))
    state.head["next"] = first + int(placed.cohorts.max()) + 1
    waiting_rows = np.flatnonzero(placed.cohorts < 0)
    cover = placed.cover[waiting_rows].astype(np.int64)
    cover = np.where(cover < 0, NOWHERE, first + cover)
    columns = [pa.array(cover), persons.hashes.take(pa.array(waiting_rows))]
    state.waiting = pa.concat_tables(
        [state.waiting, pa.table(columns, schema=state.waiting.schema)]
    )
    return placed.largest


def blind_leaves(table: SeriesTable, rows: int) -> tuple[QuasiTable, npt.NDArray[np.int32]]:
    """Return the quasi-identifiers of a table, and classes of at least so many rows of them.

    The values of other columns are not used, and equal rows are distinguished by their people.
    """
    method = find_method("anonymize")
    many = len(table.codes)
    request = replace(
        blind(table.request), k=min(rows, many), method=method, options=Anonymize(effort="fast")
    )
    prepared = prepare(table.source, request, table.paths)
    if many < 2 * rows:
        return prepared.table, np.zeros(many, np.int32)
    return prepared.table, legal_partition(prepared.table, prepared.call, method).classes


def blind(request: Request) -> Request:
    """Return a request that looks at quasi-identifiers alone."""
    return replace(request, protected={}, entity=None, models=(), sensitive=(), kept=())


def _note(state: State, table: SeriesTable, largest: float, key: bytes) -> None:
    """Append the figures of the release to the head of the state."""
    persons = table.persons
    present = int((state.cohort_of(persons) != NOWHERE).sum())
    withheld = int(true(pc.is_in(persons.hashes, value_set=state.withheld)).sum())
    state.head["present"] = persons.digest(key)
    state.head["releases"].append(
        {
            "release": len(state.releases) + 1,
            "made_at": datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S"),
            "cohorts": len(state.tuples["cohort"].unique()),
            "present": present,
            "former": len(state.tuples) - present,
            "waiting": len(table.codes) - present - withheld,
            "withheld": withheld,
            "changed": state.changed(persons),
            "largest_waiting_share": largest,
        }
    )
