"""What each class says of one quasi-identifier, in codes of the values that persons have."""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql import labels
from anon_sql.arrow import integers
from anon_sql.columns import is_number
from anon_sql.hierarchical import like_values, tree_rows
from anon_sql.hierarchy import Tree, grow

_NULL = 0  # the code of NULL; values follow in their order
_BITS = 64  # of a word of a set
Cover = tuple[
    int, int, tuple[int, ...]
]  # lowest and highest code; the codes where some are missing


@dataclass(frozen=True)
class Covering:
    """codes int32[p]: of each person. low, high int32[m]: the codes that each class covers; at
    int64[m]: where in ``sets`` uint64 the bits of its set begin, -1 where it covers all between."""

    codes: npt.NDArray[np.int32]
    low: npt.NDArray[np.int32]
    high: npt.NDArray[np.int32]
    at: npt.NDArray[np.int64]
    sets: npt.NDArray[np.uint64]


def covering(
    function: str,
    name: str,
    kind: str,
    listed: pa.StructArray | None,
    values: pa.StructArray,
    shown: pa.StructArray,
) -> Covering:
    """One column; listed: its hierarchy, as ``__anon_trees`` lists it, None where it has none;
    values: key and text of each person's; shown: what each class says (``__anon_coverings``)."""
    number = is_number(function, name, kind) and listed is None
    held = values.field("key" if number else "text").dictionary_encode(null_encoding="encode")
    words = [word or None if number else word for word in held.dictionary.to_pylist()]
    known = sorted(word for word in words if word is not None)
    code_of: dict[Any, int] = {word: code for code, word in enumerate(known, _NULL + 1)}
    places = np.array([code_of.get(word, _NULL) for word in words], dtype=np.int32)
    codes = places[integers(held.indices)]
    tree = None
    if listed is not None:
        rows = tree_rows(function, name, listed)
        tree = grow(function, name, rows, None, like_values(listed))
    covers: list[Cover] = []
    for label in shown.to_pylist():
        if label["star"]:
            covers.append((_NULL, len(known), ()))
        elif label["empty"]:
            covers.append((_NULL, _NULL, ()))
        elif number:
            low = bisect_left(known, label["least"]) + 1
            covers.append((low, bisect_right(known, label["most"]), ()))
        else:
            covers.append(_cover(code_of, _members(tree, label)))
    return _packed(codes, covers, len(known) + 1)


def _members(tree: Tree | None, label: Mapping[str, Any]) -> Sequence[str]:
    """The values that a label of text or a node stands for, as they are printed."""
    if label["members"] is not None:
        return list(label["members"])
    if tree is None:
        return labels.values(label["label"]) or []
    if label["label"] is not None:
        node = tree.node_of[label["label"]]
        return tree.names[tree.first[node] : tree.last[node] + 1]
    low, high = (tree.names.index(label[end], 0, tree.leaves) for end in ("low", "high"))
    return tree.names[low : high + 1]


def _cover(code_of: Mapping[str, int], members: Sequence[str]) -> Cover:
    codes = tuple(sorted(code_of[word] for word in set(members) & code_of.keys()))
    if not codes:
        return 1, 0, ()
    whole = codes[-1] - codes[0] + 1 == len(codes)
    return codes[0], codes[-1], () if whole else codes


def _packed(codes: npt.NDArray[np.int32], covers: Sequence[Cover], width: int) -> Covering:
    words = -(-width // _BITS)
    place = {codes: at for at, codes in enumerate(sorted({c for _, _, c in covers if c}))}
    sets = np.zeros(len(place) * words, dtype=np.uint64)
    for members, at in place.items():
        for code in members:
            sets[at * words + code // _BITS] |= np.uint64(1 << code % _BITS)
    return Covering(
        codes,
        np.array([low for low, _, _ in covers], dtype=np.int32),
        np.array([high for _, high, _ in covers], dtype=np.int32),
        np.array([place[c] * words if c else -1 for _, _, c in covers], dtype=np.int64),
        sets,
    )
