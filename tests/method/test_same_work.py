"""At plain k, a release does the same work whatever the columns hold that are not quasi-identifiers.

So its time, its memory and its progress tell nothing of them, as far as methods and kernels decide.
The tests compare all calls of Python functions of the package, in order, with the types and sizes
of their arrays; of methods and kernels also the contents. They compare all that progress tells. The
control puts rows into an order by all columns, as releases did before.
"""

import random
import sys
from hashlib import blake2b
from itertools import groupby
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import anon_sql
from anon_sql import AnonWarning, kernels
from anon_sql.core import table as core
from anon_sql.core.running import Progress
from anon_sql.hosts.parts import running
from anon_sql.pipeline.compute import release
from anon_sql.pipeline.request import Relation, Source, checked
from anon_sql.regions import sql

PACKAGE = str(Path(anon_sql.__file__).parent)
METHODS = ["anonymize", "canon", "dop", "k_member", "mondrian", "mondrian_cof", "oka", "rayden",
           "top_down"]  # fmt: skip
ROWS = 300
SEEDS = (1, 2)


def by_all_columns(columns, hashes, ties=None):
    """Return the order by a hash of every column."""
    found = np.array(hashes, np.uint64)
    for column in columns:
        kernels.hashing.mix_in(found, column.keys, column.present)
    return kernels.orders.by_hash(found)


def values(seed, wide=True):
    """Return the quasi-identifiers of rows, which are always the same, and a sensitive value of each."""
    pick = random.Random(0)
    quasi = {
        "a": [pick.randrange(60 if wide else 5) for _ in range(ROWS)],
        "b": [pick.randrange(4000 if wide else 5) for _ in range(ROWS)],
    }
    pick = random.Random(seed)
    return quasi, [pick.choice([0, 0, 0, 1]) for _ in range(ROWS)]


def work(method, seed, wide, **call):
    """Return the calls of a release."""
    quasi, sensitive = values(seed, wide)
    arrays = {name: pa.array(each, pa.int32()) for name, each in quasi.items()}
    hashes = np.random.default_rng(seed).integers(0, 2**63, ROWS, np.uint64)  # of all columns
    keys = {"s": pa.array([bytes([1, value]) for value in sensitive], pa.binary())}
    asked = {"quasi": ["a", "b"], "sensitive": ["s"], **call}
    request = checked(method, Relation(dict.fromkeys("abs", "INTEGER")), asked)
    found = []

    def note(frame, event, _):
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(PACKAGE):
            return
        file = code.co_filename.removeprefix(PACKAGE)
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        arrays = [v for v in map(frame.f_locals.get, names) if isinstance(v, np.ndarray)]
        sizes = [(array.dtype.str, array.shape) for array in arrays]
        if file.startswith(("/methods/", "/kernels/")):
            sizes += [blake2b(np.ascontiguousarray(array)).hexdigest() for array in arrays]
        found.append((file, code.co_qualname, sizes))

    source = Source(arrays, pa.array(hashes), keys)
    sys.setprofile(note)
    try:
        release(source, request)
    finally:
        sys.setprofile(None)
    return found


def all_work(method, wide, **call):
    """Return the calls of releases of three tables, after one that imports what they need."""
    work(method, 0, wide, **call)
    return [work(method, seed, wide, **call) for seed in SEEDS]


@pytest.mark.parametrize("wide", [True, False], ids=["different", "alike"])
@pytest.mark.parametrize("method", METHODS)
def test_all_calls_are_the_same(monkeypatch, method, wide):
    first, *others = all_work(method, wide, k=4)
    assert any(file.startswith("/kernels/") for file, _, _ in first)
    assert others == [first]
    if wide:  # the control
        monkeypatch.setattr(core, "canonical_order", by_all_columns)
        first, *others = all_work(method, True, k=4)
        assert first not in others


@pytest.mark.parametrize("method", METHODS)
def test_with_a_constraint_they_may_differ(method):
    """What must depend on sensitive values: docs/understand/known-algorithm.md says so."""
    first, *others = all_work(method, True, k=4, l=2)
    assert first not in others


def told(monkeypatch, run):
    """Return all that progress tells of a call, each time that it is another."""
    found = []

    def advance(self, size):
        self.done += size
        step = self.function, self.note, self.done, self.total
        if found[-1:] != [step]:
            found.append(step)

    with monkeypatch.context() as patch:
        patch.setattr(Progress, "advance", advance)
        run()
    return found


@pytest.fixture
def tables(con):
    """A connection with three tables that differ in other columns, and in the order of rows."""
    con.execute("SET threads = 1")
    for seed in SEEDS:
        quasi, sensitive = values(seed)
        kept = random.Random(seed).sample(range(10**6), ROWS)
        rows = pa.table({**quasi, "s": sensitive, "kept": kept})
        con.register("rows", rows.take(random.Random(seed).sample(range(ROWS), ROWS)))
        con.execute(f"CREATE TABLE t{seed} AS FROM rows")
    return con


ASKED = "quasi := ['a', 'b'], sensitive := 's', keep := 'kept'"


def progress(tables, monkeypatch, method, asked):
    """Return what progress tells of the release of each table."""
    calls = [f"FROM {method}('t{seed}', {asked}, {ASKED})" for seed in SEEDS]
    return [told(monkeypatch, lambda call=call: tables.execute(call).fetchall()) for call in calls]


@pytest.mark.parametrize("method", METHODS)
def test_progress_is_the_same(tables, monkeypatch, method):
    first, *others = progress(tables, monkeypatch, method, "k := 4")
    assert len(first) > 5
    assert others == [first]


SEARCHES = [
    ("oka", "k := 4"),
    ("top_down", "k := 4"),
    ("anonymize", "k := 4, effort := 'best', rounds := 2"),
]


@pytest.mark.parametrize(("method", "asked"), SEARCHES)
def test_progress_of_a_search_is_the_same_unless_rows_are_ordered_by_all_columns(
    tables, monkeypatch, method, asked
):
    first, *others = progress(tables, monkeypatch, method, asked)
    assert others == [first]
    monkeypatch.setattr(core, "canonical_order", by_all_columns)
    first, *others = progress(tables, monkeypatch, method, asked)
    assert others != [first, first]


def test_progress_with_a_constraint_may_differ(tables, monkeypatch):
    first, *others = progress(tables, monkeypatch, "anonymize", "k := 4, l := 2")
    assert others != [first, first]
    assert {len(each) for each in others} == {len(first)}


def test_progress_is_the_same_in_parts(tables, monkeypatch):
    monkeypatch.setattr(sql, "one_in", lambda rows: 3)
    monkeypatch.setattr(running, "POLL", 60)

    def of(seed):
        call = {"k": 4, "part_rows": 60, "quasi": ["a", "b"], "sensitive": "s", "keep": "kept"}
        with pytest.warns(AnonWarning):
            anon_sql.release(tables, f"t{seed}", into=f"made{seed}", method="mondrian", **call)

    def by_thread(steps):
        """Split them: two threads tell, and which of them is first is up to the machine."""
        of_regions = [step for step in steps if not step[1]]
        of_table = [step for step in steps if step[1]]
        return [[step for step, _ in groupby(each)] for each in (of_table, of_regions)]

    first, *others = [by_thread(told(monkeypatch, lambda seed=seed: of(seed))) for seed in SEEDS]
    assert any("parts" in note for _, note, _, _ in first[0])
    assert len(first[1]) > 5
    assert others == [first]
