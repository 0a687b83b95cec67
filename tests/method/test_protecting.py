"""protect makes every class legal, keeps legal classes that took in no other, and never adds loss."""

import numpy as np
import pyarrow as pa
import pytest

from anon_sql.core import running
from anon_sql.core.running import Workers
from anon_sql.methods import legal_classes
from anon_sql.methods.legal_classes import merge_until_legal, mixed, protect, split_classes
from anon_sql.methods.searching import total_loss
from anon_sql.privacy.constraint import Constraint, Sensitive, constraint
from anon_sql.privacy.l_diversity import LDiversity
from anon_sql.privacy.t_closeness import TCloseness
from tests.kernels import legal
from tests.method.test_improving import made
from tests.test_protection import ASKED, definition

pytestmark = pytest.mark.quick

WORKERS = Workers("anonymize", 1)


def prepared(seed, n=300):
    rng = np.random.default_rng(seed)
    table = made(
        n,
        x=pa.array(rng.integers(0, 50, n).astype(float)),
        y=pa.array(rng.integers(0, 4, n).astype(float)),
    )
    codes = (rng.random(n) < 0.2).astype(np.int32) + 2 * (table.points[:, 0] > 0.5).astype(np.int32)
    asked = constraint(
        4, [Sensitive("s", codes, 4, False)], None, (LDiversity(l=2), TCloseness(t=0.4))
    )
    classes = rng.permutation(np.arange(n) // 4).astype(np.int32)
    classes[rng.random(n) < 0.1] = -1
    return table, classes, asked


@pytest.mark.parametrize("seed", range(5))
def test_legal_and_no_dearer_than_merging_alone(seed):
    table, classes, asked = prepared(seed)
    legal = asked.legal(classes, int(classes.max()) + 1)
    found = protect(table, classes, asked, WORKERS)
    assert asked.legal(found, int(found.max()) + 1).all()
    assert ((found < 0) == (classes < 0)).all()
    merged = merge_until_legal(table, classes, asked, WORKERS)
    alone = ~mixed(classes, merged)[merged] & (classes >= 0)
    for own in set(classes[alone].tolist()):
        assert legal[own]
        rows = np.flatnonzero(classes == own)
        assert (found == found[rows[0]]).nonzero()[0].tolist() == rows.tolist()
    kept = classes >= 0
    part = table.only(kept)
    lost = [total_loss(part, ids[kept], WORKERS) for ids in (found, merged)]
    assert lost[0] <= lost[1] + 1e-9
    assert found.max() > merged.max()


@pytest.mark.parametrize("threads", [1, 2])
def test_a_wide_class_is_split_part_by_part_as_at_once(monkeypatch, threads):
    table, _, asked = prepared(7, 3000)
    classes = (np.arange(3000) >= 200).astype(np.int32) + (np.arange(3000) >= 2900)
    whole = split_classes(table, classes, asked, WORKERS)
    assert np.bincount(whole).max() < 60
    monkeypatch.setattr(running, "MIN_THREADED_WORK", 0)
    monkeypatch.setattr(legal_classes, "JOB_ROWS", 150)
    for wide in (50, 150, 1000):
        monkeypatch.setattr(legal_classes, "WIDE_ROWS", wide)
        parts = split_classes(table, classes, asked, Workers("anonymize", threads))
        assert (parts == whole).all()


def test_without_rules_nothing_changes():
    table, classes, _ = prepared(1)
    assert protect(table, classes, Constraint(4), WORKERS) is classes


def test_mixed_classes():
    before, after = np.array([0, 0, 1, 2, -1, -1]), np.array([0, 0, 0, 1, -1, -1])
    assert mixed(before.astype(np.int32), after.astype(np.int32)).tolist() == [True, False, False]


@pytest.mark.parametrize("asked", ASKED)
def test_blocks_are_legal_and_no_matter_of_threads(monkeypatch, asked):
    """Few classes in a block, so that some blocks cannot mend all of theirs."""
    rng, n = np.random.default_rng(7), 400
    table = made(
        n,
        x=pa.array(rng.integers(0, 90, n).astype(float)),
        y=pa.array([None if each == 0 else float(each) for each in rng.integers(0, 5, n)]),
        z=pa.array([f"z{each}" for each in rng.integers(0, 80, n)]),
    )
    numbers, words, how = [1, 2, 3, 5, 8, None], ["a", "a", "a", "b", "c"], definition(ASKED[asked])
    rows = [
        (numbers[int(a)], words[int(b)], int(c))
        for a, b, c in zip(*(rng.integers(0, most, n) for most in (6, 5, 130)), strict=True)
    ]
    given = {"delta": None, "beta": None, "max_share": None, "beta_kind": "enhanced", **how}
    limits, classes = legal.made(rows, given), rng.permutation(np.arange(n) // 3).astype(np.int32)
    classes[:5] = -1
    monkeypatch.setattr(running, "MIN_THREADED_WORK", 0)
    found = []
    for block in (1 << 12, 8):
        monkeypatch.setattr(legal_classes, "BLOCK_CLASSES", block)
        merged = [
            merge_until_legal(table, classes, limits, Workers("test", threads))
            for threads in (1, 2)
        ]
        assert merged[0].tolist() == merged[1].tolist()
        assert (merged[0][:5] == -1).all()
        for own in range(int(merged[0].max()) + 1):
            members = [rows[row] for row in np.flatnonzero(merged[0] == own)]
            assert legal.legal(members, rows, given)
        found.append(merged[0].tolist())
    assert found[0] != found[1]
