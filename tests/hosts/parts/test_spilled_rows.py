"""Spilled rows come back by leaf, from runs of any size, with the values that they had."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from anon_sql.hosts.parts import spilling
from anon_sql.hosts.parts.running import RowsDone
from anon_sql.hosts.parts.spilling import SpilledRows

pytestmark = pytest.mark.oldest

NAMES = ["few", "many", "number", "nothing"]


def rows_of(table):
    return Counter(tuple(row.items()) for row in table.to_pylist())


@pytest.mark.parametrize("run", [1, 7, 1000])
def test_rows_come_back_by_leaf(tmp_path, monkeypatch, run):
    monkeypatch.setattr(spilling, "RUN_ROWS", run)
    table = pa.table(
        {
            "few": ["a'\"", None, "é"] * 20,
            "many": [f"text {i}" for i in range(60)],
            "number": pa.array([*range(59), None], pa.int64()),
            "nothing": pa.nulls(60, pa.string()),
        }
    )

    def leaf_of(rows):
        plain = rows["number"].fill_null(0).to_numpy()
        return (plain * 3 % 5).astype(np.int32)

    spilled = SpilledRows(tmp_path / "rows", 6)
    seen = []
    with RowsDone("release", "routed", 60) as done:
        spilled.write("release", table.to_batches(max_chunksize=3), leaf_of, done, seen.append)
    together = pa.concat_tables([pa.table(rows) for rows in seen]).unify_dictionaries()
    assert rows_of(together) == rows_of(table)
    assert done.text(done.started).startswith("release: 100% of the rows routed, about 0 s left")
    expected = leaf_of({name: table.column(name).combine_chunks() for name in NAMES})
    assert spilled.counts().tolist() == np.bincount(expected, minlength=6).tolist()
    for leaves in ([0], [4, 1], [5], range(6)):
        wanted = table.filter(pa.array(np.isin(expected, list(leaves))))
        assert rows_of(spilled.rows(list(leaves))) == rows_of(wanted)
    each = [(rows_of(run), leaf) for run, leaf in spilled.each_run()]
    assert sum((found for found, _ in each), Counter()) == rows_of(table)
    assert np.bincount(np.concatenate([leaf for _, leaf in each]), minlength=6).tolist() == [
        *spilled.counts()
    ]
    some = [(rows_of(run), set(leaf.tolist())) for run, leaf in spilled.each_run([4, 1])]
    assert sum((found for found, _ in some), Counter()) == rows_of(spilled.rows([1, 4]))
    assert set().union(*(leaf for _, leaf in some)) <= {1, 4}
