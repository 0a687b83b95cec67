"""Make a release again with its sensitive values dealt in another way.

A *world* deals the released values of each class to its people in another way. The attacker, who
knows the quasi-identifiers of all people, the method and its parameters, runs the method in a
world. If the run does not reproduce a class, the world is impossible for this class.
"""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from itertools import product
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql import kernels
from anon_sql.core import stopping
from anon_sql.core.columns import Numbers
from anon_sql.core.hierarchy.column import Hierarchical
from anon_sql.core.labels import grammar
from anon_sql.core.labels.writing import node_text, nodes_of
from anon_sql.core.running import Progress, Workers
from anon_sql.core.table import Column, QuasiTable, quasi_hashes
from anon_sql.errors import AnonError
from anon_sql.methods.method import Partition
from anon_sql.pipeline.compute import Labelled, label
from anon_sql.pipeline.partition import Prepared, in_source_order, legal_partition, prepare
from anon_sql.pipeline.request import Request, Source

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
Hashes = npt.NDArray[np.uint64]
Rows = npt.NDArray[np.int32]
MAX_ENUMERATED_WORLDS = 2_000  # if there are more, worlds are drawn at random


@dataclass(frozen=True)
class RunClasses:
    """The m classes of one run, each a group of rows with equal labels.

    of_row: int64[n], the class of each row. labels: uint64[m], a hash of the labels of each class,
    ascending. sizes: int64[m], its rows. members: uint64[m], a hash of the quasi-identifiers of its
    rows, because rows with equal quasi-identifiers are interchangeable.
    """

    of_row: Ints
    labels: Hashes
    sizes: Ints
    members: Hashes

    def has(self, other: "RunClasses") -> Bools:
        """Return which classes of another run this run shows too, bool[m]."""
        position = np.searchsorted(self.labels, other.labels)
        position = np.minimum(position, len(self.labels) - 1)
        return np.asarray(
            (self.labels[position] == other.labels)
            & (self.sizes[position] == other.sizes)
            & (self.members[position] == other.members)
        )


@dataclass(frozen=True)
class TriedWorlds:
    """The w worlds that were tried.

    dealt: int32[w, n], the row whose values each row has. agree: bool[w, m], whether the world
    reproduces each class; if every world was tried, whether it reproduces all classes. every:
    whether there are no other worlds.
    """

    dealt: npt.NDArray[np.int32]
    agree: Bools
    every: bool


class Attacker:
    """An attacker who runs the method of a release again.

    source, request, paths: the rows, the call and the hierarchy of the release.
    """

    def __init__(self, source: Source, request: Request, paths: pa.StructArray | None) -> None:
        """Make the release once. Raises AnonError as a release does."""
        self.source, self.paths, self.threads = source, paths, request.threads
        self.request = replace(request, threads=1)  # threads share the worlds instead
        self._shapes: dict[bytes, RunClasses] = {}
        self._numbers: dict[str, dict[Any, int]] = {name: {} for name in request.quasi}
        self._lock = threading.Lock()  # of the numbers of labels
        prepared = prepare(source, replace(self.request, threads=request.threads), paths)
        partition = legal_partition(prepared.table, prepared.call, request.method)
        self.table: QuasiTable = prepared.table
        self.made: Labelled = label(prepared, partition)
        self.people: Hashes = quasi_hashes(prepared.table.columns, prepared.table.rows)
        self.shape = self._shape(prepared, partition)

    @property
    def classes(self) -> Ints:
        """The class of each row, int64[n]."""
        return self.shape.of_row

    @cached_property
    def cells(self) -> Ints:
        """The cell of each row, int64[n]; a cell is the rows of a class with equal
        quasi-identifiers."""
        both = np.stack([self.classes.astype(np.uint64), self.people])
        return np.unique(both, axis=1, return_inverse=True)[1].reshape(-1).astype(np.int64)

    @cached_property
    def tuples(self) -> Ints:
        """A number of the dealt values of each row, int64[n]; rows with equal values have equal
        numbers."""
        numbers = integers_of(self.source.hashes.to_numpy(zero_copy_only=False))
        for keys in self._dealt().values():
            coded = keys if pa.types.is_dictionary(keys.type) else keys.dictionary_encode()
            codes = coded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
            numbers = integers_of(numbers * (codes.max(initial=0) + 1) + codes)
        return numbers

    def _dealt(self) -> dict[str, pa.Array]:
        """Return the columns that worlds deal anew: all but the person, who keeps the row."""
        keys = self.source.keys
        return {name: column for name, column in keys.items() if name != self.request.entity}

    def number_of_worlds(self, most: int) -> int | None:
        """Return the number of worlds, None if it exceeds ``most``."""
        many = 1
        for rows in self._rows_by_class():
            left = len(rows)
            for count in np.unique(self.tuples[rows], return_counts=True)[1].tolist():
                many *= prod(range(left - count + 1, left + 1)) // prod(range(1, count + 1))
                left -= count
                if many > most:
                    return None
        return many

    def _rows_by_class(self) -> list[Ints]:
        """Return the rows of each class in canonical order, which does not depend on the source."""
        order, classes = self.table.order, self.classes[self.table.order]
        arranged = order[np.argsort(classes, kind="stable")].astype(np.int64)
        ends = np.cumsum(np.bincount(classes, minlength=len(self.shape.sizes)))
        return np.split(arranged, ends[:-1])

    def _all_worlds(self) -> Iterator[npt.NDArray[np.int32]]:
        """Yield each world once: the row whose values each row has."""
        classes = self._rows_by_class()
        ways = [list(_deals(rows, self.tuples[rows])) for rows in classes]
        place = np.concatenate(classes)
        for chosen in product(*ways):
            world = np.empty(len(place), np.int32)
            world[place] = np.concatenate(chosen)
            yield world

    def _world(self, seed: int, number: int) -> npt.NDArray[np.int32]:
        """Return a world drawn at random, the same for every order of the source."""
        order, rng = self.table.order, np.random.default_rng([seed, number])
        classes = self.classes[order]
        place = order[np.argsort(classes, kind="stable")]
        drawn = order[np.lexsort((rng.random(len(order)), classes))]
        world = np.empty(len(order), np.int32)
        world[place] = drawn
        return world

    def tried(self, runs: int, seed: int, progress: Progress) -> TriedWorlds:
        """Try all worlds if there are few, and otherwise ``runs`` random ones.

        Raises AnonError if the call is interrupted.
        """
        # there are more keys than worlds, so keys are guessed
        guesses = self.request.transparent and self.request.ties is None
        every = not guesses and self.number_of_worlds(MAX_ENUMERATED_WORLDS) is not None
        if every:
            worlds = list(self._all_worlds())
        else:
            worlds = [self._world(seed, number) for number in range(runs)]
        rows = len(self.classes)
        workers = Workers(self.request.function, self.threads, progress)
        jobs = [(world, number) for number, world in enumerate(worlds)]
        agree = np.array(workers.map(self.agrees, jobs, [rows] * len(worlds)))
        if every:  # a random world would hardly ever reproduce the whole release
            agree = np.repeat(agree.all(axis=1, keepdims=True), agree.shape[1], axis=1)
        return TriedWorlds(np.array(worlds), agree, every)

    def with_choices(self, seed: int) -> "Attacker":
        """Return a copy of the attacker with other random choices and without the key."""
        other: Attacker = object.__new__(Attacker)
        other.__dict__.update(self.__dict__)
        other.request, other._shapes = replace(self.request, seed=seed, ties=None), {}
        return other

    def agrees(self, world: npt.NDArray[np.int32], number: int = 0) -> Bools:
        """Return the classes of the release that a world reproduces, bool[m].

        number: of the world. An attacker without the key of a transparent release guesses a key for
        each world.
        """
        rows, request = pa.array(world), self.request
        if request.transparent and request.ties is None:
            guess = blake2b(b"%d %d" % (request.seed, number), digest_size=32).digest()
            request = replace(request, ties=guess)
        source = replace(
            self.source,
            hashes=self.source.hashes.take(rows),
            keys={
                **self.source.keys,
                **{n: column.take(rows) for n, column in self._dealt().items()},
            },
        )
        try:
            prepared = prepare(source, request, self.paths)
            partition = legal_partition(prepared.table, prepared.call, request.method)
            text = in_source_order(prepared.table, partition.classes).tobytes()
            if partition.nodes is not None:
                text += in_source_order(prepared.table, partition.nodes).tobytes()
            digest = blake2b(text).digest()
            if digest not in self._shapes:
                self._shapes[digest] = self._shape(prepared, partition)
            return self._shapes[digest].has(self.shape)
        except AnonError:  # a world without a release is not possible
            stopping.check(self.request.function)
            return np.zeros(len(self.shape.sizes), np.bool_)

    def _shape(self, prepared: Prepared, partition: Partition) -> RunClasses:
        """Return the classes of a partition, merged if their labels are equal."""
        simple = partition.nodes is None and self.request.format in ("label", "typed")
        if simple and self.request.entity is None:  # no class is merged because of its label
            of_row = in_source_order(prepared.table, partition.classes)
            hashes = self._hashes(prepared.table, of_row)
        else:
            made = label(prepared, partition)
            of_row, hashes = made.class_of, self._printed_hashes(made)
        labels, group_of = np.unique(hashes, return_inverse=True)
        classes = group_of.reshape(-1).astype(np.int32)[of_row]
        order, starts = kernels.hashing.group(classes, len(labels))
        members = np.add.reduceat(self.people[order], starts[:-1])
        return RunClasses(classes.astype(np.int64), labels, np.diff(starts), members)

    def _hashes(self, table: QuasiTable, of_row: npt.NDArray[np.int32]) -> Hashes:
        """Return a hash of the labels of each class, without printing them.

        of_row: int32[n], the class of each row, -1 for suppressed ones, which get the last number.
        """
        count = int(of_row.max()) + 1
        suppressed = of_row < 0
        of_row[suppressed] = count
        order, starts = kernels.hashing.group(of_row, count + bool(suppressed.any()))
        hashes = np.zeros(len(starts) - 1, np.uint64)
        for column in table.columns:
            if isinstance(column, Hierarchical):
                nodes = nodes_of(column, order, starts, None)
                texts = [node_text(column.tree, node) for node in np.unique(nodes).tolist()]
                numbers = self._numbers_of(column.name, texts)
                parts = [numbers[np.unique(nodes, return_inverse=True)[1].reshape(-1)]]
            elif isinstance(column, Numbers):
                low, high, nulls = kernels.hashing.extremes(
                    order, starts, column.keys, column.present
                )
                kind = np.where(low < 0, 1, np.where(nulls > 0, 2, 0))
                parts = [kind, *(np.where(kind == 0, column.keys[end], 0) for end in (low, high))]
            else:
                values = kernels.hashing.distinct(order, starts, column.codes)
                parts = [kernels.hashing.set_hashes(*values).view(np.int64)]
            for part in parts:
                hashes = kernels.hashing.mix(hashes, part.astype(np.int64))
        if len(hashes) > count:
            stars = [self._star(column) for column in table.columns]
            hashes[count] = np.uint64(0)
            for number in (part for parts in stars for part in parts):
                hashes[count:] = kernels.hashing.mix(hashes[count:], np.array([number], np.int64))
        return hashes

    def _star(self, column: Column) -> list[int]:
        """Return the numbers to hash for the label * of a column."""
        if isinstance(column, Hierarchical):
            return [int(self._numbers_of(column.name, [grammar.STAR])[0])]
        return [2, 0, 0] if isinstance(column, Numbers) else [-1]

    def _printed_hashes(self, made: Labelled) -> Hashes:
        """Return a hash of the printed labels of each class, uint64[m], the same in every run."""
        hashes = np.zeros(len(made.group_of), np.uint64)
        for name, labels in zip(self.request.quasi, made.labels, strict=True):
            numbers = self._numbers_of(name, as_tuples(labels.printed))
            hashes = kernels.hashing.mix(hashes, numbers[labels.label_of])
        return hashes

    def _numbers_of(self, name: str, labels: list[Any]) -> Ints:
        """Return the number of each label of a column, int64[u], the same in every run."""
        numbers = self._numbers[name]
        with self._lock:
            return np.array([numbers.setdefault(text, len(numbers)) for text in labels], np.int64)


def integers_of(values: npt.NDArray[Any]) -> Ints:
    """Return the position of each value among the distinct values, int64[n]."""
    return np.unique(values, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _deals(rows: Ints, tuples: Ints) -> Iterator[list[int]]:
    """Yield every way to deal tuples to rows, as the row whose tuple each row gets."""
    of_tuple: dict[int, list[int]] = {}
    for row, tuple_ in zip(rows.tolist(), tuples.tolist(), strict=True):
        of_tuple.setdefault(tuple_, []).append(row)

    def dealt(left: dict[int, list[int]], many: int) -> Iterator[list[int]]:
        if many == 0:
            yield []
            return
        for tuple_, candidates in left.items():
            if candidates:
                fewer = {**left, tuple_: candidates[1:]}
                for rest in dealt(fewer, many - 1):
                    yield [candidates[0], *rest]

    return dealt(of_tuple, len(rows))


def as_tuples(labels: pa.Array) -> list[Any]:
    """Return labels as hashable values."""
    values = labels.to_pylist()
    if pa.types.is_struct(labels.type):
        return [None if value is None else tuple(value.values()) for value in values]
    return [tuple(value) if isinstance(value, list) else value for value in values]
