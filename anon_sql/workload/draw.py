"""Random queries of about a wanted selectivity: ranges of numbers and sets of words."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.arrow import first, lists
from anon_sql.columns import is_number, numbers
from anon_sql.errors import AnonError
from anon_sql.measures.call import roles_of
from anon_sql.measures.checked import types_of
from anon_sql.options import Number, Whole
from anon_sql.registry import udf
from anon_sql.relation import quote

_TRIES = 8  # draws for a query, of which the nearest to the wanted selectivity is kept
_NEAR = 0.1  # of the wanted selectivity: near enough to stop
_BARE = ("TINY", "SMALL", "INT", "BIG", "HUGE", "U", "DEC", "FLOAT", "DOUBLE")


class _Column:
    """Codes of a column's sorted values, -1 for NULL, and each value as SQL."""

    def __init__(self, function: str, name: str, kind: str, values: pa.Array):
        self.name, self.number = name, is_number(function, name, kind)
        if self.number:
            read = numbers(function, name, kind, values)
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
        self.sql = shown if bare else ["'" + one.replace("'", "''") + "'" for one in shown]

    def condition(
        self, among: npt.NDArray[np.bool_], wanted: float, rng: np.random.Generator
    ) -> tuple[str, npt.NDArray[np.bool_]]:
        """A condition that about so many of the rows ``among`` match, and which rows do."""
        sizes = np.bincount(self.codes[among & (self.codes >= 0)], minlength=len(self.sql))
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
        return text, among & chosen[self.codes]


@udf("__anon_query_workload", "STRUCT(query VARCHAR, selectivity DOUBLE)[]")
def workload(types: Any, packed: Any, scope: Any, seen: Any, options: Any) -> pa.Array:
    """The queries, or an AnonError."""
    function, given = "query_workload", first(options)
    n, attributes = (Whole(1).read(function, name, given[name]) for name in ("n", "attributes"))
    seed = Whole(0).read(function, "seed", given["seed"])
    selectivity = Number(0, 1).read(function, "selectivity", given["selectivity"])
    kinds = types_of(types)
    call = first(scope)
    roles = roles_of(function, kinds, call, first(seen), call["relation"])
    if attributes > len(roles.quasi):
        rule = "attributes must be at most the number of quasi-identifiers"
        raise AnonError(function, rule, f"{attributes} of {len(roles.quasi)}")
    held: Mapping[str, Any] = lists(packed)
    columns = [
        _Column(function, name, kinds[name], held[name])
        for name in roles.quasi
        if held[name] is not None and held[name].null_count < len(held[name])
    ]
    if len(columns) < attributes:
        raise AnonError(function, "the table must have values in its quasi-identifiers", "none")
    found = [
        _query(columns, attributes, selectivity, np.random.default_rng([seed, at]))
        for at in range(n)
    ]
    item = pa.struct([("query", pa.string()), ("selectivity", pa.float64())])
    return pa.array([found], pa.list_(item))


def _query(
    columns: list[_Column], attributes: int, selectivity: float, rng: np.random.Generator
) -> dict[str, Any]:
    best, gap = {"query": "", "selectivity": 0.0}, np.inf
    rows = len(columns[0].codes)
    for _ in range(_TRIES):
        picked = [columns[at] for at in rng.choice(len(columns), attributes, replace=False)]
        picked.sort(key=lambda column: column.number)  # ranges last: they can be fitted
        left, parts = np.ones(rows, dtype=np.bool_), []
        for at, column in enumerate(picked):
            share = (selectivity * rows / max(left.sum(), 1)) ** (1 / (attributes - at))
            text, left = column.condition(left, min(share, 1.0) * left.sum(), rng)
            parts.append(text)
        found = float(left.mean())
        if abs(found - selectivity) < gap:
            gap = abs(found - selectivity)
            query = f"SELECT count(*) FROM raw WHERE {' AND '.join(parts)}"
            best = {"query": query, "selectivity": found}
        if gap <= _NEAR * selectivity:
            break
    return best
