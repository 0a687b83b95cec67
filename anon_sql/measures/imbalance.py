"""How unevenly the values of sensitive columns are spread (Majeed and Hwang 2025, equation 1)."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.core.arrow import integers

IMBALANCE = pa.struct(
    [
        ("attribute", pa.string()),
        ("value", pa.string()),
        ("rows", pa.int64()),
        ("ratio", pa.float64()),
    ]
)


def imbalance(texts: Mapping[str, pa.Array], counts: npt.NDArray[np.int64]) -> list[dict[str, Any]]:
    """Return a row for each column and value, see ``IMBALANCE``, the most frequent value first.

    texts: of each sensitive column its values as printed, of groups that may repeat; counts:
    int64[g], the rows of each group. ratio: the rows of the most frequent value / those of the
    value; NULL for NULL.
    """
    rows = []
    for name, column in texts.items():
        coded = column.dictionary_encode()
        places = integers(coded.indices.fill_null(len(coded.dictionary)))
        sums = np.bincount(places, counts, len(coded.dictionary) + 1).astype(np.int64).tolist()
        known = list(zip(coded.dictionary.to_pylist(), sums, strict=False))
        most = max((count for _, count in known), default=0)
        held = [*known, (None, sums[-1])] if sums[-1] else known
        held.sort(key=lambda each: (-each[1], each[0] is None, (each[0] or "").encode()))
        rows += [
            {
                "attribute": name,
                "value": value,
                "rows": count,
                "ratio": None if value is None else most / count,
            }
            for value, count in held
        ]
    return rows
