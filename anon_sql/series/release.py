"""The release of cohorts: classes that are unions of whole cohorts, and what each of them shows.

Classes are made by a release method from a row per present member, in place of which the cohort's
middle member stands. A cohort joins the class that holds most of its rows, and cohorts of classes
that are too small join others where that costs least. Those of ``anonymize`` are then moved and
exchanged by simulated annealing. Only quasi-identifiers have a part in it. Labels cover the members
who are present, and the persons who wait.
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
from anon_sql.core.labels.writing import Labels
from anon_sql.core.running import Workers
from anon_sql.core.table import QuasiTable
from anon_sql.errors import AnonError, Parameter
from anon_sql.methods.anonymize import Anonymize
from anon_sql.methods.method import Partition, release_methods
from anon_sql.pipeline.compute import check, label
from anon_sql.pipeline.partition import legal_partition, prepare
from anon_sql.pipeline.request import Request, Source
from anon_sql.series.next import Table, blind
from anon_sql.series.state import NOWHERE, State, require_columns

Classes = npt.NDArray[np.int32]
GROUP = 1500  # cohorts in a group of near ones
PROPOSALS = {"fast": 20, "good": 65, "best": 650}  # moves tried per cohort and round, by effort
ROUNDS = ((0.4, 0.1), (0.15, 0.02))  # first and last temperature, in rows times NCP


@dataclass(frozen=True)
class SeriesRelease:
    """The r rows of a release.

    class_of: int32[r], the class of each row. values: r texts of each sensitive and kept column.
    labels: of every class, by name of the quasi-identifier.
    """

    class_of: Classes
    values: Mapping[str, pa.StringArray]
    labels: Mapping[str, Labels]


def release(state: State, table: Table, key: bytes) -> SeriesRelease:
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
    at = pc.index_in(table.persons.hashes, value_set=state.waiting["person"].combine_chunks())
    cover = integers(state.waiting["cohort"].combine_chunks().take(at))
    shown = np.flatnonzero((cohorts != NOWHERE) | (cover != NOWHERE))
    here = int((cohorts != NOWHERE).sum())
    if here < request.k:
        raise AnonError(
            function,
            f"a release must have at least k = {request.k} persons with a cohort",
            f"{here}",
            "persons without one wait for the next release",
        )
    part = table.only(shown)
    present = cohorts[shown] != NOWHERE
    ids = np.where(present, cohorts[shown], cover[shown])
    known, unit_of = np.unique(ids, return_inverse=True)
    with kernels.ahead.beside(function, False):
        classes = classes_of(part, unit_of, present)[unit_of].astype(np.int32)
        plain = replace(blind(request), k=1)
        prepared = prepare(part.source, plain, part.paths)
        found = Partition(classes[prepared.table.order])
        made = label(prepared, found)
        check(prepared, found, made)
    groups = made.row_group
    _require_whole(request, groups, unit_of, present)
    group_of = np.full(len(known), -1)
    group_of[unit_of] = groups
    class_in = np.zeros(int(groups.max()) + 1, np.int32)
    class_in[groups] = made.class_of
    held = state.tuples["tuple"].combine_chunks().dictionary_encode()
    texts = held.dictionary.to_pylist()
    rank = np.empty(len(texts), np.int64)
    rank[sorted(range(len(texts)), key=texts.__getitem__)] = np.arange(len(texts))
    own = group_of[np.searchsorted(known, integers(state.tuples["cohort"].combine_chunks()))]
    rows = np.lexsort((rank[held.indices.to_numpy()], own))
    values = [json.loads(text) for text in texts]
    picked = held.indices.take(pa.array(rows))
    return SeriesRelease(
        class_in[own[rows]],
        {n: pa.array([one[n] for one in values], pa.string()).take(picked) for n in request.kept},
        dict(zip(request.quasi, made.labels, strict=True)),
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
    """Raise AnonError for what a release of cohorts cannot give."""
    wrong: list[tuple[str, str]] = []
    if request.format not in ("label", "typed"):
        wrong.append(("format", "means would tell who has left: write 'label' or 'typed'"))
    if request.models:
        wrong.append(
            (request.models[0].name, "l and the largest share 1/l are those of the series")
        )
    if request.strata:
        wrong.append(("strata", "a cohort may hold persons of several strata"))
    if request.steps:
        wrong.append(("steps", "round the values of the table instead, for all states alike"))
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


def classes_of(
    table: Table, unit_of: npt.NDArray[np.int64], present: npt.NDArray[np.bool_]
) -> Classes:
    """Return the class of each cohort, int32[u].

    unit_of: int64[n], the cohort of each person; present: bool[n], who is a member; the others
    wait, and only widen labels.
    """
    request, many = table.request, int(unit_of.max()) + 1
    size = np.bincount(unit_of[present], minlength=many)
    if size.sum() < 2 * request.k:
        return np.zeros(many, np.int32)
    whole = prepare(table.source, replace(blind(request), k=1), table.paths).table
    points = np.empty_like(whole.points)
    points[whole.order] = whole.points
    middle = middles(points, whole, unit_of, present, size)
    home, count = _by_middles(table, middle, size, request.k)
    places = kernels.units.layout(whole.model)
    order, starts = kernels.hashing.group(unit_of.astype(np.int32), many)
    box = kernels.units.boxes(points, whole.model, places, starts, order)
    kernels.units.place(box, whole.model, places, size, home, count)
    if count > 1 and isinstance(request.options, Anonymize):
        for number, heat in enumerate(ROUNDS):
            seed = request.seed + number  # which divides cohorts into other groups
            improve(
                box, whole, places, size, home, points[middle], replace(request, seed=seed), heat
            )
    return home


def improve(
    box: tuple[Any, ...],
    table: QuasiTable,
    places: "kernels.units.Layout",
    size: npt.NDArray[np.int64],
    home: Classes,
    points: npt.NDArray[np.float64],
    request: Request,
    heat: tuple[float, float],
) -> None:
    """Anneal the classes of cohorts, home, in place: those of each group of near ones alone.

    points: float64[u, d], the middle of each cohort. heat: the first and the last temperature.
    """
    workers = Workers(request.function, request.threads)
    proposals = PROPOSALS[request.option("effort") or "good"]
    tree = kernels.vp_tree.vp_partition(
        points,
        min(GROUP, len(points)),
        metric="gower",
        vantage="max_spread",
        seed=request.seed,
        weights=table.model.weight,
        workers=workers,
    )
    group = np.empty(len(points), np.int64)
    group[tree.order] = np.repeat(np.arange(len(tree.starts) - 1), np.diff(tree.starts))
    votes = np.zeros((int(home.max()) + 1, len(tree.starts) - 1), np.int64)
    np.add.at(votes, (home, group), 1)
    of = votes.argmax(1)[home]
    parts = [own for own in (np.flatnonzero(of == g) for g in range(votes.shape[1])) if len(own)]

    def improved(own: npt.NDArray[np.int64]) -> Classes:
        known, local = np.unique(home[own], return_inverse=True)
        near = kernels.k_member.near_in_group(
            points[own], table.model, np.random.default_rng([request.seed % 2**64, own[0]])
        )
        local = local.astype(np.int32)
        kernels.units.anneal(
            tuple(of_units[own] for of_units in box), table.model, places, size[own], local,
            len(known), request.k, near, proposals * len(own), *heat,
            np.uint64(request.seed % 2**64),
        )  # fmt: skip
        return known[local].astype(np.int32)

    done = workers.map(improved, [(own,) for own in parts], [proposals * len(p) for p in parts])
    for own, found in zip(parts, done, strict=True):
        home[own] = found


def middles(
    points: npt.NDArray[np.float64],
    table: QuasiTable,
    unit_of: npt.NDArray[np.int64],
    present: npt.NDArray[np.bool_],
    size: npt.NDArray[np.int64],
) -> npt.NDArray[np.int64]:
    """Return for each cohort the position of the present member nearest to the mean of numbers."""
    rows = table.order[present[table.order]].astype(np.int64)
    own = unit_of[rows]
    numbers = np.minimum(points[rows][:, table.model.kind != kernels.loss.SET], 2.0)
    mean = np.zeros((len(size), numbers.shape[1]))
    np.add.at(mean, own, numbers)
    mean /= size[:, None]
    away = np.abs(numbers - mean[own]).sum(1)
    by_distance = np.lexsort((away, own))
    firsts = np.searchsorted(own[by_distance], np.arange(len(size)))
    return rows[by_distance[firsts]]


def _by_middles(
    table: Table, middle: npt.NDArray[np.int64], size: npt.NDArray[np.int64], k: int
) -> tuple[Classes, int]:
    """Return the class of each cohort by the method of the request, -1 for none, and their number.

    The method gets a row per present member: the middle of its cohort.
    """
    own = np.repeat(np.arange(len(size)), size)
    rows = table.only(middle[own])
    source = Source(rows.source.quasi, rows.source.hashes)
    request = replace(blind(table.request), k=k)
    if isinstance(request.options, Anonymize):  # what more it would do, annealing does better
        request = replace(request, options=Anonymize(effort="fast"))
    prepared = prepare(source, request, table.paths)
    found = legal_partition(prepared.table, prepared.call, request.method).classes
    classes = np.empty_like(found)
    classes[prepared.table.order] = found
    pairs, votes = np.unique(np.column_stack([own, classes]), axis=0, return_counts=True)
    best = np.lexsort((pairs[:, 1], -votes, pairs[:, 0]))
    firsts = best[np.searchsorted(pairs[best, 0], np.arange(len(size)))]
    home = pairs[firsts, 1]
    total = np.bincount(home[home >= 0], weights=size[home >= 0], minlength=int(home.max()) + 1)
    legal = total >= k
    if not legal.any():
        return np.zeros(len(size), np.int32), 1
    becomes = np.where(legal, np.cumsum(legal) - 1, -1)
    return np.where(home < 0, -1, becomes[home]).astype(np.int32), int(legal.sum())
