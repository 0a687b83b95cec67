"""Random queries of about a wanted selectivity: ranges of numbers and sets of words."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.core.columns import is_number, numbers
from anon_sql.core.names import literal, quote
from anon_sql.core.options import Number, Option, Whole
from anon_sql.errors import AnonError

OPTIONS: Mapping[str, Option] = {
    "n": Whole(1),
    "attributes": Whole(1),
    "selectivity": Number(0, 1),
    "seed": Whole(0),
}
DRAWN = pa.struct([("query", pa.string()), ("selectivity", pa.float64())])
_FUNCTION = "query_workload"
_TRIES = 8  # draws for a query, of which the nearest to the wanted selectivity is kept
_NEAR = 0.1  # of the wanted selectivity: near enough to stop
_BARE = ("TINY", "SMALL", "INT", "BIG", "HUGE", "U", "DEC", "FLOAT", "DOUBLE")


class _Column:
    """Codes of a column's sorted values, -1 for NULL, and each value as SQL."""

    def __init__(self, name: str, kind: str, values: pa.Array):
        self.name, self.number = name, is_number(_FUNCTION, name, kind)
        if self.number:
            read = numbers(_FUNCTION, name, kind, values)
            _, at, codes = np.unique(read.keys, return_index=True, return_inverse=True)
            self.codes = np.where(read.present, codes, -1)
            if not read.present.all():
                used = np.unique(self.codes[read.present])
                at = np.array([np.flatnonzero(self.codes == code)[0] for code in used], np.int64)
                self.codes = np.where(read.present, np.searchsorted(used, self.codes), -1)
            shown = [str(values[int(one)].as_py()) for one in at]
        else:
            known = sorted({str(one) for one in values.cast(pa.string()).drop_null().to_pylist()})
            place = {word: code for code, word in enumerate(known)}
            self.codes = np.array(
                [-1 if one is None else place[one] for one in values.cast(pa.string()).to_pylist()]
            )
            shown = known
        bare = self.number and kind.startswith(_BARE) and not kind.startswith("UUID")
        self.sql = shown if bare else list(map(literal, shown))

    def condition(
        self, among: npt.NDArray[np.int64], wanted: float, rng: np.random.Generator
    ) -> tuple[str, npt.NDArray[np.int64]]:
        """A condition that about so many of the rows match, and how many of each group do; among:
        how many rows of each group there are."""
        held = self.codes >= 0
        sizes = np.bincount(self.codes[held], among[held], len(self.sql)).astype(np.int64)
        chosen = np.zeros(len(self.sql) + 1, dtype=np.bool_)  # the last one is NULL's
        if self.number:
            ends = np.cumsum(sizes)
            start = int(rng.integers(0, max(int(ends[-1] - wanted), 0) + 1))
            low = int(np.searchsorted(ends, start, side="right"))
            low = min(low, len(self.sql) - 1)
            before = ends[low] - sizes[low]
            after = np.abs(ends[low:] - before - wanted)
            high = low + int(np.argmin(after))
            chosen[low : high + 1] = True
            text = f"{quote(self.name)} BETWEEN {self.sql[low]} AND {self.sql[high]}"
        else:
            order = rng.permutation(len(self.sql))
            totals = np.cumsum(sizes[order])
            count = int(np.argmin(np.abs(totals - wanted))) + 1
            chosen[order[:count]] = True
            words = ", ".join(self.sql[code] for code in np.flatnonzero(chosen))
            text = f"{quote(self.name)} IN ({words})"
        return text, np.where(chosen[self.codes], among, 0)


def workload(
    types: Mapping[str, str],
    held: Mapping[str, pa.Array | None],
    counts: npt.NDArray[np.int64],
    options: Mapping[str, Any],
) -> pa.Array:
    """Return the queries, an array of ``DRAWN``.

    types: SQL types of the quasi-identifiers by name; held: their values in groups of rows that are
    alike, counts: int64[g], the rows of each; options: those of ``OPTIONS``. Raises AnonError.
    """
    attributes = options["attributes"]
    if attributes > len(types):
        rule = "attributes must be at most the number of quasi-identifiers"
        raise AnonError(_FUNCTION, rule, f"{attributes} of {len(types)}")
    given = {name: values for name, values in held.items() if values is not None}
    columns = [
        _Column(name, kind, given[name])
        for name, kind in types.items()
        if name in given and given[name].null_count < len(given[name])
    ]
    if len(columns) < attributes:
        raise AnonError(_FUNCTION, "the table must have values in its quasi-identifiers", "none")
    found = [
        _query(columns, counts, options, np.random.default_rng([options["seed"], at]))
        for at in range(options["n"])
    ]
    return pa.array(found, DRAWN)


def _query(
    columns: list[_Column],
    counts: npt.NDArray[np.int64],
    options: Mapping[str, Any],
    rng: np.random.Generator,
) -> dict[str, Any]:
    attributes, selectivity = options["attributes"], options["selectivity"]
    best, gap = {"query": "", "selectivity": 0.0}, np.inf
    rows = int(counts.sum())
    for _ in range(_TRIES):
        picked = [columns[at] for at in rng.choice(len(columns), attributes, replace=False)]
        picked.sort(key=lambda column: column.number)  # ranges last: they can be fitted
        left, parts = counts, []
        for at, column in enumerate(picked):
            share = (selectivity * rows / max(int(left.sum()), 1)) ** (1 / (attributes - at))
            text, left = column.condition(left, min(share, 1.0) * int(left.sum()), rng)
            parts.append(text)
        found = int(left.sum()) / rows
        if abs(found - selectivity) < gap:
            gap = abs(found - selectivity)
            query = f"SELECT count(*) FROM raw WHERE {' AND '.join(parts)}"
            best = {"query": query, "selectivity": found}
        if gap <= _NEAR * selectivity:
            break
    return best
