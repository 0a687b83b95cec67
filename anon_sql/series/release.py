"""Release cohorts: classes are unions of whole cohorts.

Classes come from ``methods.unions``, which uses quasi-identifiers alone. Labels cover the present
members and the people who wait.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql import kernels
from anon_sql.core.arrow import integers
from anon_sql.core.labels.types import AVERAGES
from anon_sql.core.labels.writing import Labels
from anon_sql.core.table import QuasiTable
from anon_sql.errors import AnonError, Parameter
from anon_sql.methods.method import Call, Partition, release_methods
from anon_sql.methods.unions import union_classes
from anon_sql.pipeline.compute import check, label
from anon_sql.pipeline.partition import legal_partition, prepare
from anon_sql.pipeline.request import Request
from anon_sql.series.next import SeriesTable, blind
from anon_sql.series.state import NOWHERE, State, require_columns

Classes = npt.NDArray[np.int32]


@dataclass(frozen=True)
class SeriesRelease:
    """The r rows of a release.

    class_of: int32[r], the class of each row. values: r texts of each sensitive and kept column.
    labels: of every class, by name of the quasi-identifier.
    """

    class_of: Classes
    values: Mapping[str, pa.StringArray]
    labels: Mapping[str, Labels]


def release(state: State, table: SeriesTable, key: bytes) -> SeriesRelease:
    """Return the release of the cohorts of a state, whose members are persons of the table.

    The rows are ordered by a hash of their labels, and within equal labels by their values. Raises
    AnonError for a table that is not the one of the state, for fewer than k persons, and if a
    check fails; nothing is released then.
    """
    request = table.request
    function = request.function
    require_cohorts(function)
    require_columns(function, state, table.columns)
    state.require_present(function, table.persons, key)
    _require_simple(request)
    cohorts = state.cohort_of(table.persons)
    positions = pc.index_in(
        table.persons.hashes, value_set=state.waiting["person"].combine_chunks()
    )
    cover = integers(state.waiting["cohort"].combine_chunks().take(positions))
    shown = np.flatnonzero((cohorts != NOWHERE) | (cover != NOWHERE))
    members = int((cohorts != NOWHERE).sum())
    if members < request.k:
        raise AnonError(
            function,
            f"a release must have at least k = {request.k} persons with a cohort",
            f"{members}",
            "persons without one wait for the next release",
        )
    part = table.only(shown)
    present = cohorts[shown] != NOWHERE
    ids = np.where(present, cohorts[shown], cover[shown])
    unit_ids, unit_of = np.unique(ids, return_inverse=True)
    with kernels.ahead.beside(function, False):
        prepared = prepare(part.source, blind(request), part.paths)
        order = prepared.table.order

        def plain(rows: QuasiTable, call: Call[Any]) -> Classes:
            return legal_partition(rows, call, request.method).classes

        home = union_classes(prepared.table, prepared.call, plain, unit_of[order], present[order])
        partition = Partition(home[unit_of[order]])
        prepared = replace(prepared, request=replace(blind(request), k=1))
        anonymized = label(prepared, partition)
        check(prepared, partition, anonymized)
    groups = anonymized.row_group
    _require_whole(request, groups, unit_of, present)
    group_of = np.full(len(unit_ids), -1)
    group_of[unit_of] = groups
    class_in = np.zeros(int(groups.max()) + 1, np.int32)
    class_in[groups] = anonymized.class_of
    tuples = state.tuples["tuple"].combine_chunks().dictionary_encode()
    texts = tuples.dictionary.to_pylist()
    rank = np.empty(len(texts), np.int64)
    rank[sorted(range(len(texts)), key=texts.__getitem__)] = np.arange(len(texts))
    group_of_tuple = group_of[
        np.searchsorted(unit_ids, integers(state.tuples["cohort"].combine_chunks()))
    ]
    rows = np.lexsort((rank[tuples.indices.to_numpy()], group_of_tuple))
    values = [json.loads(text) for text in texts]
    picked = tuples.indices.take(pa.array(rows))
    return SeriesRelease(
        class_in[group_of_tuple[rows]],
        {
            n: pa.array([tuple_values[n] for tuple_values in values], pa.string()).take(picked)
            for n in request.kept
        },
        dict(zip(request.quasi, anonymized.labels, strict=True)),
    )


def require_cohorts(function: str) -> None:
    """Raise AnonError for a method whose classes cannot be unions of cohorts."""
    why = release_methods()[function].needs_all_rows
    if why is not None:
        raise AnonError(
            function,
            Parameter("series") + " must go with a method whose classes can be whole cohorts",
            f"{function}, which {why}",
            "anonymize loses the least",
        )


def _require_simple(request: Request) -> None:
    """Raise AnonError for options that a release of cohorts cannot satisfy."""
    wrong: list[tuple[str, str]] = []
    if request.format in AVERAGES:
        wrong.append(("format", "means would tell who has left: write 'label' or 'typed'"))
    if request.models:
        wrong.append(
            (request.models[0].name, "l and the largest share 1/l are those of the series")
        )
    if request.strata:
        wrong.append(("strata", "a cohort may hold persons of several strata"))
    if request.bin_width:
        wrong.append(("bin_width", "round the values of the table instead, for all states alike"))
    if request.option("suppression_limit"):
        wrong.append(("suppression_limit", "a person who is left out once would be recognized"))
    if wrong:
        name, why = wrong[0]
        raise AnonError(
            request.function,
            Parameter(name) + " must be left out or plain in a series",
            "another value",
            why,
        )


def _require_whole(
    request: Request,
    groups: Classes,
    unit_of: npt.NDArray[np.int64],
    present: npt.NDArray[np.bool_],
) -> None:
    """Raise AnonError unless cohorts are whole in groups of equal labels that have k persons."""
    least = np.full(int(unit_of.max()) + 1, np.iinfo(np.int32).max)
    most = np.full(len(least), -1)
    np.minimum.at(least, unit_of, groups)
    np.maximum.at(most, unit_of, groups)
    persons = np.bincount(groups[present], minlength=int(groups.max()) + 1)
    if (least != most).any() or (persons < request.k).any():
        raise AnonError(
            request.function,
            "every class must consist of whole cohorts and have k persons who are present",
            "one that does not",
            "nothing was released; please report this",
        )
