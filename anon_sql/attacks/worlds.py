"""Release a table again with the released values dealt anew: what an attacker can try.

A *world* deals the released values of each class to its people in another way. The attacker, who
knows the quasi-identifiers of all people, the method and its parameters, runs the method in a world
and compares: a class that does not come out as it was released rules the world out for this class.
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
EVERY = 2_000  # as many worlds are all tried


@dataclass(frozen=True)
class Shape:
    """The classes that one run shows, each a group of rows with equal labels.

    of_row: int64[n], the class of each row. labels: uint64[m], a hash of the labels of each class,
    ascending. sizes: int64[m], its rows. members: uint64[m], a hash of the quasi-identifiers of its
    rows. Rows that are equal in all quasi-identifiers cannot be told apart, so it is the same
    whichever of them a class has.
    """

    of_row: Ints
    labels: Hashes
    sizes: Ints
    members: Hashes

    def has(self, other: "Shape") -> Bools:
        """Return which classes of another run this run shows too, bool[m]."""
        at = np.searchsorted(self.labels, other.labels)
        at = np.minimum(at, len(self.labels) - 1)
        return np.asarray(
            (self.labels[at] == other.labels)
            & (self.sizes[at] == other.sizes)
            & (self.members[at] == other.members)
        )


@dataclass(frozen=True)
class Tried:
    """The worlds that were tried, w of them.

    dealt: int32[w, n], the row whose values each row has. agree: bool[w, m], whether each class
    came out as it was released; where every world was tried, whether all classes did. every:
    whether there are no other worlds.
    """

    dealt: npt.NDArray[np.int32]
    agree: Bools
    every: bool


class Attacker:
    """The one who runs the method of a release again.

    source, request, paths: the rows, the call and the hierarchy of the release.
    """

    def __init__(self, source: Source, request: Request, paths: pa.StructArray | None) -> None:
        """Make the release once. Raises AnonError as a release does."""
        self.source, self.paths, self.threads = source, paths, request.threads
        self.request = replace(request, threads=1)  # threads share the worlds instead
        self._shapes: dict[bytes, Shape] = {}
        self._numbers: dict[str, dict[Any, int]] = {name: {} for name in request.quasi}
        self._lock = threading.Lock()  # of the numbers of labels
        prepared = prepare(source, replace(self.request, threads=request.threads), paths)
        found = legal_partition(prepared.table, prepared.call, request.method)
        self.table: QuasiTable = prepared.table
        self.made: Labelled = label(prepared, found)
        self.people: Hashes = quasi_hashes(prepared.table.columns, prepared.table.rows)
        self.shape = self._shape(prepared, found)

    @property
    def classes(self) -> Ints:
        """The class of each row, int64[n]."""
        return self.shape.of_row

    @cached_property
    def cells(self) -> Ints:
        """The cell of each row, int64[n]: rows that are equal in class and quasi-identifiers."""
        both = np.stack([self.classes.astype(np.uint64), self.people])
        return np.unique(both, axis=1, return_inverse=True)[1].reshape(-1).astype(np.int64)

    @cached_property
    def tuples(self) -> Ints:
        """A number of the values of each row, int64[n], equal where everything dealt is."""
        found = integers_of(self.source.hashes.to_numpy(zero_copy_only=False))
        for keys in self._dealt().values():
            coded = keys if pa.types.is_dictionary(keys.type) else keys.dictionary_encode()
            codes = coded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
            found = integers_of(found * (codes.max(initial=0) + 1) + codes)
        return found

    def _dealt(self) -> dict[str, pa.Array]:
        """Return the columns that worlds deal anew: all but the person, who keeps the row."""
        keys = self.source.keys
        return {name: each for name, each in keys.items() if name != self.request.entity}

    def number_of_worlds(self, most: int) -> int | None:
        """Return the number of worlds; None for more than a number."""
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
        """Return the rows of each class in canonical order, which is not that of the source."""
        order, classes = self.table.order, self.classes[self.table.order]
        arranged = order[np.argsort(classes, kind="stable")].astype(np.int64)
        ends = np.cumsum(np.bincount(classes, minlength=len(self.shape.sizes)))
        return np.split(arranged, ends[:-1])

    def _all_worlds(self) -> Iterator[npt.NDArray[np.int32]]:
        """Return each world once: the row whose values each row has."""
        classes = self._rows_by_class()
        ways = [list(_deals(rows, self.tuples[rows])) for rows in classes]
        place = np.concatenate(classes)
        for chosen in product(*ways):
            found = np.empty(len(place), np.int32)
            found[place] = np.concatenate(chosen)
            yield found

    def _world(self, seed: int, number: int) -> npt.NDArray[np.int32]:
        """Return a world drawn at random, the same for every order of the source."""
        order, rng = self.table.order, np.random.default_rng([seed, number])
        classes = self.classes[order]
        place = order[np.argsort(classes, kind="stable")]
        drawn = order[np.lexsort((rng.random(len(order)), classes))]
        found = np.empty(len(order), np.int32)
        found[place] = drawn
        return found

    def tried(self, runs: int, seed: int, progress: Progress) -> Tried:
        """Return what a number of runs shows: all worlds if there are few, or else random ones.

        Raises AnonError if the call is to stop.
        """
        guesses = self.request.transparent and self.request.ties is None  # of more keys than worlds
        every = not guesses and self.number_of_worlds(EVERY) is not None
        if every:
            worlds = list(self._all_worlds())
        else:
            worlds = [self._world(seed, number) for number in range(runs)]
        rows = len(self.classes)
        workers = Workers(self.request.function, self.threads, progress)
        jobs = [(each, number) for number, each in enumerate(worlds)]
        agree = np.array(workers.map(self.agrees, jobs, [rows] * len(worlds)))
        if every:  # the whole release is the evidence; a random world would hardly ever show it
            agree = np.repeat(agree.all(axis=1, keepdims=True), agree.shape[1], axis=1)
        return Tried(np.array(worlds), agree, every)

    def with_choices(self, seed: int) -> "Attacker":
        """Return the same attacker, who makes other random choices, without the key."""
        other: Attacker = object.__new__(Attacker)
        other.__dict__.update(self.__dict__)
        other.request, other._shapes = replace(self.request, seed=seed, ties=None), {}
        return other

    def agrees(self, world: npt.NDArray[np.int32], number: int = 0) -> Bools:
        """Return which classes of the release come out in a world, bool[m].

        number: of the world. Who lacks the key of a transparent release guesses one for each.
        """
        rows, request = pa.array(world), self.request
        if request.transparent and request.ties is None:
            guess = blake2b(b"%d %d" % (request.seed, number), digest_size=32).digest()
            request = replace(request, ties=guess)
        source = replace(
            self.source,
            hashes=self.source.hashes.take(rows),
            keys={**self.source.keys, **{n: each.take(rows) for n, each in self._dealt().items()}},
        )
        try:
            prepared = prepare(source, request, self.paths)
            found = legal_partition(prepared.table, prepared.call, request.method)
            text = in_source_order(prepared.table, found.classes).tobytes()
            if found.nodes is not None:
                text += in_source_order(prepared.table, found.nodes).tobytes()
            known = blake2b(text).digest()
            if known not in self._shapes:
                self._shapes[known] = self._shape(prepared, found)
            return self._shapes[known].has(self.shape)
        except AnonError:  # a world without a release is not the one that was released
            stopping.check(self.request.function)
            return np.zeros(len(self.shape.sizes), np.bool_)

    def _shape(self, prepared: Prepared, found: Partition) -> Shape:
        """Return the classes that a partition shows."""
        simple = found.nodes is None and self.request.format in ("label", "typed")
        if simple and self.request.entity is None:  # no class is merged for its label
            of_row = in_source_order(prepared.table, found.classes)
            hashes = self._hashes(prepared.table, of_row)
        else:
            made = label(prepared, found)
            of_row, hashes = made.class_of, self._printed_hashes(made)
        labels, group_of = np.unique(hashes, return_inverse=True)
        classes = group_of.reshape(-1).astype(np.int32)[of_row]
        order, starts = kernels.hashing.group(classes, len(labels))
        members = np.add.reduceat(self.people[order], starts[:-1])
        return Shape(classes.astype(np.int64), labels, np.diff(starts), members)

    def _hashes(self, table: QuasiTable, of_row: npt.NDArray[np.int32]) -> Hashes:
        """Return a hash of each class that is equal where the labels are, without printing them.

        of_row: int32[n], the class of each row, -1 for suppressed ones, which get the last number.
        """
        count = int(of_row.max()) + 1
        suppressed = of_row < 0
        of_row[suppressed] = count
        order, starts = kernels.hashing.group(of_row, count + bool(suppressed.any()))
        found = np.zeros(len(starts) - 1, np.uint64)
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
                found = kernels.hashing.mix(found, part.astype(np.int64))
        if len(found) > count:
            stars = [self._star(column) for column in table.columns]
            found[count] = np.uint64(0)
            for each in (part for parts in stars for part in parts):
                found[count:] = kernels.hashing.mix(found[count:], np.array([each], np.int64))
        return found

    def _star(self, column: Column) -> list[int]:
        """Return what is hashed of a column that shows *."""
        if isinstance(column, Hierarchical):
            return [int(self._numbers_of(column.name, [grammar.STAR])[0])]
        return [2, 0, 0] if isinstance(column, Numbers) else [-1]

    def _printed_hashes(self, made: Labelled) -> Hashes:
        """Return a hash of the labels of each class that is the same in every run, uint64[m]."""
        found = np.zeros(len(made.group_of), np.uint64)
        for name, labels in zip(self.request.quasi, made.labels, strict=True):
            numbers = self._numbers_of(name, as_tuples(labels.printed))
            found = kernels.hashing.mix(found, numbers[labels.label_of])
        return found

    def _numbers_of(self, name: str, labels: list[Any]) -> Ints:
        """Return a number of each label of a column, the same in every run, int64[u]."""
        numbers = self._numbers[name]
        with self._lock:
            return np.array([numbers.setdefault(each, len(numbers)) for each in labels], np.int64)


def integers_of(values: npt.NDArray[Any]) -> Ints:
    """Return numbers from 0 that are equal where the values are, int64[n]."""
    return np.unique(values, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _deals(rows: Ints, tuples: Ints) -> Iterator[list[int]]:
    """Return every way to deal the tuples of some rows to them, as rows that have the tuples."""
    of_tuple: dict[int, list[int]] = {}
    for row, each in zip(rows.tolist(), tuples.tolist(), strict=True):
        of_tuple.setdefault(each, []).append(row)

    def dealt(left: dict[int, list[int]], many: int) -> Iterator[list[int]]:
        if many == 0:
            yield []
            return
        for each, given in left.items():
            if given:
                fewer = {**left, each: given[1:]}
                for rest in dealt(fewer, many - 1):
                    yield [given[0], *rest]

    return dealt(of_tuple, len(rows))


def as_tuples(labels: pa.Array) -> list[Any]:
    """Return labels as values that can be compared."""
    found = labels.to_pylist()
    if pa.types.is_struct(labels.type):
        return [None if each is None else tuple(each.values()) for each in found]
    return [tuple(each) if isinstance(each, list) else each for each in found]
