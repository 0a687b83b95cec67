"""The distinct labels of a column, and which of them each row has."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.core.arrow import integers, valid

Ints = npt.NDArray[np.int64]


def distinct(shown: pa.Array) -> tuple[pa.Array, Ints]:
    """Return labels, structs or lists once each, in an order that the rows' has no part in, and the
    place of each row's, int64[n]."""
    if pa.types.is_list(shown.type) or pa.types.is_large_list(shown.type):
        rows = [None if words is None else tuple(words) for words in shown.to_pylist()]
        known = sorted(set(rows), key=lambda words: (words is None, words or ()))
        place_of = {words: place for place, words in enumerate(known)}
        codes = np.array([place_of[words] for words in rows], dtype=np.int64)
        return pa.array(known, shown.type), codes
    if not pa.types.is_struct(shown.type):
        found = _ranked(shown)
    else:
        low, high = (_ranked(pc.struct_field(shown, end)) for end in ("min", "max"))
        found = low * (int(high.max(initial=0)) + 1) + high
        found = np.where(valid(shown), found, int(found.max(initial=0)) + 1)
    _, first, codes = np.unique(found, return_index=True, return_inverse=True)
    return shown.take(pa.array(first)), codes


def _ranked(values: pa.Array) -> Ints:
    """Numbers in the order of the values, NULL last."""
    coded = values.dictionary_encode()
    words = coded.dictionary
    if pa.types.is_dictionary(values.type):
        words = words.cast(pa.string())
    rank = np.empty(len(words) + 1, dtype=np.int64)
    rank[integers(pc.sort_indices(words))] = np.arange(len(words))
    rank[-1] = len(words)
    places = coded.indices.fill_null(len(words)).to_numpy(zero_copy_only=False)
    ranked: Ints = rank[places]
    return ranked
