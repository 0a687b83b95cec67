"""Regions that a sample shows hold k rows each, and about as many as are wanted; or None."""

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from anon_sql.core.table import Domain
from anon_sql.pipeline.request import Request
from anon_sql.regions import sql
from anon_sql.regions import tree as cutting
from anon_sql.regions.plan import MIN_SAMPLED_ROWS, sampled_regions
from anon_sql.regions.rows import LeafRows
from tests.drawing import examples

HASHES = np.random.default_rng(5).permutation(20_000)
RARE = np.where(np.arange(20_000) % 100 == 0, np.arange(20_000) // 100, 0)  # 1 % differ


def planned(ages, many, wanted, **asked):
    """Return the regions that one row in ``many`` shows, and the rows of each in the table."""
    call = Request("mondrian", quasi={"age": "INTEGER", "city": "VARCHAR"}, **{"k": 5, **asked})
    cities = np.where(ages % 3 == 0, "a", "b")
    columns = {"quasi_0": pa.array(ages, mask=ages == 7), "quasi_1": pa.array(cities)}
    table = pa.table(columns)
    sample = table.filter(
        pa.array(np.append(HASHES, np.ones(10_000, int))[: len(ages)] % many == 0)
    )
    sample = sample.group_by(sample.column_names).aggregate([([], "count_all")])
    sample = sample.rename_columns([*columns, sql.WEIGHT])
    domain = Domain(len(ages), {"age": float(np.ptp(ages)) or 1.0}, {"city": 2}, {})
    tree = cutting.grow(call, domain, sample, wanted)
    regions = sampled_regions(call, domain, tree, sample, many, wanted)
    if regions is None:
        return None, []
    rows = {"age": table["quasi_0"].combine_chunks(), "city": table["quasi_1"].combine_chunks()}
    leaf = LeafRows(call, tree).leaves_of(rows)
    return regions, np.bincount(regions.numbers(leaf, lambda: None), minlength=regions.count)


@given(
    ages=st.sampled_from([HASHES, HASHES % 80, HASHES % 2000, RARE]),
    rows=st.sampled_from([30, 900, 20_000]),
    many=st.sampled_from([1, 2, 5]),
    wanted=st.sampled_from([20, 2000, 5000, 50_000]),
    k=st.sampled_from([2, 30, 200]),
)
@examples(60)
def test_regions_hold_k_rows_and_are_not_much_larger_than_wanted(ages, rows, many, wanted, k):
    if rows < k:
        return
    regions, held = planned(ages[:rows], many, wanted, k=k)
    if regions is None:
        return
    assert held.sum() == rows
    assert held.min() >= k
    assert held.max() <= max(2.4 * wanted, 2 * k)
    assert not regions.spread


def test_a_large_sample_is_enough():
    for many in (1, 4):
        regions, held = planned(HASHES, many, 5000)
        assert regions.count >= 4
        assert held.max() < 6500


def test_what_a_sample_does_not_show():
    assert planned(HASHES, 5, 300)[0] is None  # 60 sampled rows of a region
    assert planned(HASHES, 5, 5000, k=4 * MIN_SAMPLED_ROWS)[0] is None
    assert planned(HASHES % 4 * 9, 5, 5000)[0] is None  # many rows are alike
    assert planned(RARE, 1, 5000)[0] is None  # a region must be spread
    heavy = np.append(HASHES, np.ones(10_000, int))  # many rows that are alike, none is sampled
    assert planned(heavy, 5, 6000)[0] is None
    assert planned(HASHES, 1, 5000, entity="person")[0] is None
    assert planned(HASHES, 1, 5000, strata=("city",))[0] is None
    assert planned(HASHES, 1, 5000, protected={"ill": False})[0] is None


def test_a_sample_is_larger_where_many_rows_are_alike():
    assert sql.one_in(10_000_000) == 50
    assert sql.one_in(10_000_000, different=9_800) == 50  # nearly all differ
    assert sql.one_in(10_000_000, different=900) == 9
    assert sql.one_in(10_000_000, different=0) == 1
    assert sql.one_in(1000, different=1) == 1
