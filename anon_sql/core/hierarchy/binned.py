"""The bins of an earlier release as a hierarchy of a column of numbers, dates or times."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.core.arrow import valid
from anon_sql.core.exact import comparable
from anon_sql.core.hierarchy.hierarchical import Hierarchical
from anon_sql.core.hierarchy.paths import STAR
from anon_sql.core.hierarchy.tree import Tree
from anon_sql.core.labels.read import read_ranges
from anon_sql.core.printing import printed
from anon_sql.errors import AnonError, listed

Places = npt.NDArray[np.int64]


def binned(
    function: str, name: str, sql_type: str, values: pa.Array, labels: Sequence[str]
) -> Hierarchical:
    """Return the column with the labels as nodes, which keep their text.

    labels: distinct, at least one, other than ``*`` and NULL. The leaves are the values and the
    ends of the ranges; a value in no label has the root above it. Raises AnonError for labels that
    are no values or ranges, or that overlap.
    """
    read = read_ranges(sql_type, pa.array(labels, pa.string()))
    if read.malformed.any():
        count = int(read.malformed.sum())
        raise AnonError(
            function,
            "like must be a release in labels",
            f"{count} of {listed([name])} that {'is' if count == 1 else 'are'} no value or range",
            "it needs format := 'label' and the same hierarchy",
        )
    keys, low, high = comparable(sql_type, [values, read.low, read.high])
    in_order = np.argsort(low)
    if (low[in_order][1:] <= high[in_order][:-1]).any():
        raise not_global(function, name)
    present = valid(values)
    every, place = np.unique(np.concatenate([keys[present], low, high]), return_inverse=True)
    place = place.reshape(-1)
    ends = place[present.sum() :].reshape(2, -1)[:, in_order]
    codes = np.full(len(keys), len(every), dtype=np.int32)
    codes[present] = place[: present.sum()]
    first = np.empty(len(every), np.int64)
    first[place[::-1]] = np.arange(len(place) - 1, -1, -1)
    known = [values.filter(pa.array(present)), read.low, read.high]
    shown = pa.concat_arrays([each.cast(values.type) for each in known])
    texts = printed([shown.take(pa.array(first))], [sql_type])[0].to_pylist()
    named = [labels[at] for at in in_order]
    for leaf, last, label in zip(*ends.tolist(), named, strict=True):
        if leaf == last:
            texts[leaf] = label
    return Hierarchical(name, codes, _tree(texts, named, ends))


def _tree(texts: Sequence[str], labels: Sequence[str], ends: Places) -> Tree:
    """Return the tree of leaves and disjoint bins; ends: int64[2, b], their first and last leaf."""
    leaves, wide = len(texts), np.flatnonzero(ends[0] < ends[1])
    names = (*texts, STAR, *(labels[at] for at in wide.tolist()))
    parent = np.full(len(names), leaves, dtype=np.int64)
    for node, at in enumerate(wide, leaves + 1):
        parent[ends[0, at] : ends[1, at] + 1] = node
    every = np.arange(leaves)
    first = np.concatenate([every, [0], ends[0, wide]])
    last = np.concatenate([every, [leaves - 1], ends[1, wide]])
    levels = np.stack([every, np.full(leaves, leaves)]).astype(np.int32)
    return Tree(names, names, parent, first, last, levels, intervals=True)


def not_global(function: str, name: str) -> AnonError:
    """Return the error for an earlier release whose labels of a column overlap."""
    return AnonError(
        function,
        "like must be a release in which every value of a column has one label",
        f"labels of {listed([name])} that overlap",
        "full_domain and datafly make such releases",
    )
