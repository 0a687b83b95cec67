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
    classes: Classes,
    order: npt.NDArray[np.int32],
    starts: npt.NDArray[np.int64],
    starred: bool,
    nodes: Classes | None,
) -> pa.StructArray:
    """What one column's labels are made of: the label of each class, from 1, and for each label the
    places of its ends in the column's list, its text, or its set.

    classes int32[n]: the class of each row, m for one that does not count; order, starts: the
    others class by class; starred: the last class is of suppressed rows; nodes: of a hierarchy, one
    for each row, where the method has chosen them.
    """
    from anon_sql.kernels import grouping
    from anon_sql.kernels.hashing import mix
    from anon_sql.kernels.numbering import number

    if isinstance(column, Hierarchical):
        return part(**described(plan, column, classes, order, starts, starred, nodes))
    if isinstance(column, Numbers):
        low, high, nulls = grouping.extremes(order, starts, column.keys, column.present)
        if plan["centres"]:
            low = high = centres(order, starts, column.points, column.present)
        mixed = (nulls > 0) & (low >= 0)
        mixed[-1] |= starred
        kind = np.where(mixed, MIXED, np.where(low < 0, NULLS, 1))
        ends = [np.where(kind > 0, column.keys[at], 0) for at in (low, high)]
        hashes = np.zeros(len(kind), dtype=np.uint64)
        for told in (kind, *ends):
            hashes = mix(hashes, told)
        once, label_of = number(hashes)
        low, high = (np.where(kind > 0, at + 1, kind)[once] for at in (low, high))
        return part(
            label=one_list(label_of + 1, pa.int32()),
            low=one_list(low.astype(np.int32), pa.int32()),
            high=one_list(high.astype(np.int32), pa.int32()),
        )
    known = column.values.to_pylist()
    sets, label_of = _sets(column, known, classes, order, starts)
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
    require_truth(plan["function"], column, allowed, label_of, classes)
    label = one_list(label_of + 1, pa.int32())
    if plan["format"] == "typed":
        return part(label=label, sets=one_list(sets, pa.list_(pa.string())))
    return part(label=label, texts=one_list(texts, pa.string()))


def _sets(
    column: Categories,
    known: Sequence[str],
    classes: Classes,
    order: npt.NDArray[np.int32],
    starts: npt.NDArray[np.int64],
) -> tuple[list[list[str] | None], Classes]:
    """The distinct sets of words, see ``labels.words``, and which of them each class has; known:
    the column's words."""
    from anon_sql.kernels import grouping
    from anon_sql.kernels.hashing import mix
    from anon_sql.kernels.masks import BITS, codes_in, masks_of
    from anon_sql.kernels.numbering import number

    if column.null_code < BITS:
        masks = masks_of(classes, len(starts) - 1, column.codes)
        once, label_of = number(mix(masks, np.zeros(len(masks), np.int64)))
        return [labels.words(codes_in(mask), known) for mask in masks[once].tolist()], label_of
    ends, flat = grouping.distinct(order, starts, column.codes)
    once, label_of = number(grouping.set_hashes(ends, flat))
    return [labels.words(flat[ends[at] : ends[at + 1]].tolist(), known) for at in once], label_of


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


def label_count(described: pa.StructArray) -> int:
    """How many labels a column has."""
    return max(len(described.field(name).values) for name in ("low", "texts", "sets"))
