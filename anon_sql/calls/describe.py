"""What a class is called in one column: the places of its ends, or the text of its label.

Text labels are made and read back here; the ends of ranges are given as places in the column's
list, so that DuckDB prints them in the column's own type.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql import labels
from anon_sql.arrow import one_list, one_struct
from anon_sql.calls.centres import centres
from anon_sql.calls.nodes import described
from anon_sql.calls.truthful import require_truth
from anon_sql.columns import Categories, Numbers
from anon_sql.hierarchical import Hierarchical
from anon_sql.table import Column

PART = pa.struct(
    [
        ("low", pa.list_(pa.int32())),
        ("high", pa.list_(pa.int32())),
        ("label", pa.list_(pa.int32())),
        ("texts", pa.list_(pa.string())),
        ("sets", pa.list_(pa.list_(pa.string()))),
    ]
)
MIXED, NULLS = 0, -1  # in low and high: NULL beside values (or suppressed), NULL alone
Classes = npt.NDArray[np.int32]


def describe(
    plan: Mapping[str, Any],
    column: Column,
    order: npt.NDArray[np.int32],
    starts: npt.NDArray[np.int64],
    starred: bool,
    nodes: Classes | None,
) -> pa.StructArray:
    """What one column's labels are made of, a value for each class.

    order, starts: the rows class by class; starred: the last class is of suppressed rows; nodes:
    of a hierarchy, one for each row, where the method has chosen them.
    """
    from anon_sql.kernels import grouping

    if isinstance(column, Hierarchical):
        return part(**described(plan, column, order, starts, starred, nodes))
    if isinstance(column, Numbers):
        low, high, nulls = grouping.extremes(order, starts, column.keys, column.present)
        if plan["centres"]:
            low = high = centres(order, starts, column.points, column.present)
        mixed = (nulls > 0) & (low >= 0)
        mixed[-1] |= starred
        ends = [
            np.where(mixed, MIXED, np.where(at < 0, NULLS, at + 1)).astype(np.int32)
            for at in (low, high)
        ]
        return part(low=one_list(ends[0], pa.int32()), high=one_list(ends[1], pa.int32()))
    ends_, flat = grouping.distinct(order, starts, column.codes)
    _, once, label_of = np.unique(
        grouping.set_hashes(ends_, flat), return_index=True, return_inverse=True
    )
    known = column.values.to_pylist()
    sets = [labels.words(flat[ends_[at] : ends_[at + 1]].tolist(), known) for at in once]
    if starred:
        label_of[-1] = len(sets)
        sets.append(None)
    written = {value: labels.text(value) for value in known}
    texts = [
        labels.STAR if s is None else labels.joined([written[v] for v in s]) if s else None
        for s in sets
    ]
    code_of = {word: code for code, word in enumerate(known)}
    allowed = [_allowed(column, text, code_of) for text in texts]
    require_truth(plan["function"], column, allowed, label_of, order, starts)
    label = one_list((label_of + 1).astype(np.int32), pa.int32())
    if plan["format"] == "typed":
        return part(label=label, sets=one_list(sets, pa.list_(pa.string())))
    return part(label=label, texts=one_list(texts, pa.string()))


def _allowed(column: Categories, text: str | None, code_of: Mapping[str, int]) -> Sequence[int]:
    """The codes that a printed label stands for when it is read, ascending."""
    if text is None:
        return [column.null_code]
    found = labels.values(text)
    if found is None:
        return range(column.null_code + 1)
    return [code_of[word] for word in found]


def part(**given: pa.ListArray) -> pa.StructArray:
    return one_struct(
        {field.name: given.get(field.name, one_list(None, field.type.value_type)) for field in PART}
    )
