"""Draw random queries of a target selectivity, and measure the error of their answers."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.core import stopping
from anon_sql.core.arrow import true, valid
from anon_sql.core.columns import is_number, numbers, numeric_keys
from anon_sql.core.names import literal, quote
from anon_sql.core.parameters import Columns, Number, Whole, declare, param, parameters_of
from anon_sql.core.printing import evaluated
from anon_sql.core.roles import fold
from anon_sql.errors import COMMENTS, AnonError, Parameter, Where
from anon_sql.measures.loss import AttributeDomain
from anon_sql.measures.uniqueness import codes_of, joined
from anon_sql.queries.axis import Quasi
from anon_sql.queries.query import Workload, prepare
from anon_sql.queries.query_error import query_error
from anon_sql.queries.released import AnswerGroups, Keys, distinct

DRAWN = pa.struct([("query", pa.string()), ("selectivity", pa.float64())])
_FUNCTION = "query_workload"


@dataclass(frozen=True)
class RandomQueries:
    """The parameters of ``query_workload``."""

    n: int = param(1000, Whole(1), "number of queries")
    attributes: int = param(2, Whole(1), "number of quasi-identifiers in each query")
    selectivity: float = param(
        0.05, Number(0, 1), "target share of matching rows, above 0 and at most 1"
    )
    seed: int = param(42, Whole(0), "seed for random choices")
    quasi: Any = param(
        None,
        Columns(),
        "the quasi-identifiers",
        null=Where(COMMENTS, "the columns declared in comments"),
        bound=True,
    )


declare(_FUNCTION, RandomQueries)
_TRIES = 8  # draws per query, of which the one nearest to the target selectivity is kept
_NEAR = 0.1  # relative error of the selectivity at which drawing stops
_BARE = ("TINY", "SMALL", "INT", "BIG", "HUGE", "U", "DEC", "FLOAT", "DOUBLE")


class _DrawnColumn:
    """A column. codes: of its sorted values, -1 for NULL. sql: each value as SQL."""

    def __init__(self, name: str, kind: str, values: pa.Array):
        stopping.check(_FUNCTION)
        self.name, self.number = name, is_number(_FUNCTION, name, kind)
        if self.number:
            numbers_ = numbers(_FUNCTION, name, kind, values)
            rows = np.flatnonzero(numbers_.present)
            _, first, codes = np.unique(numbers_.keys[rows], return_index=True, return_inverse=True)
            self.codes = np.full(len(values), -1, dtype=np.int64)
            self.codes[rows], first = codes, rows[first]
            texts = [str(values[int(value)].as_py()) for value in first]
        else:
            words = sorted(
                {str(value) for value in values.cast(pa.string()).drop_null().to_pylist()}
            )
            place = {word: code for code, word in enumerate(words)}
            self.codes = np.array(
                [
                    -1 if value is None else place[value]
                    for value in values.cast(pa.string()).to_pylist()
                ]
            )
            texts = words
        bare = self.number and kind.startswith(_BARE) and not kind.startswith("UUID")
        self.sql = texts if bare else list(map(literal, texts))

    def condition(
        self, among: npt.NDArray[np.int64], wanted: float, rng: np.random.Generator
    ) -> tuple[str, npt.NDArray[np.int64]]:
        """Return a condition that about ``wanted`` rows match, and the matching rows of each group;
        among: the rows of each group."""
        present = self.codes >= 0
        sizes = np.bincount(self.codes[present], among[present], len(self.sql)).astype(np.int64)
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
    groups: Mapping[str, pa.Array | None],
    counts: npt.NDArray[np.int64],
    options: RandomQueries,
) -> pa.Array:
    """Return the queries, an array of ``DRAWN``.

    types: SQL types of the quasi-identifiers by name; groups: their values in groups of equal
    rows, counts: int64[g], the rows of each. Raises AnonError.
    """
    attributes = options.attributes
    if attributes > len(types):
        rule = Parameter("attributes") + " must be at most the number of quasi-identifiers"
        raise AnonError(_FUNCTION, rule, f"{attributes} of {len(types)}")
    present = {name: values for name, values in groups.items() if values is not None}
    columns = [
        _DrawnColumn(name, kind, present[name])
        for name, kind in types.items()
        if name in present and present[name].null_count < len(present[name])
    ]
    if len(columns) < attributes:
        raise AnonError(_FUNCTION, "the table must have values in its quasi-identifiers")
    queries = [
        _query(columns, counts, options, np.random.default_rng([options.seed, i]))
        for i in range(options.n)
    ]
    return pa.array(queries, DRAWN)


def _query(
    columns: list[_DrawnColumn],
    counts: npt.NDArray[np.int64],
    options: RandomQueries,
    rng: np.random.Generator,
) -> dict[str, Any]:
    attributes, selectivity = options.attributes, options.selectivity
    best, gap = {"query": "", "selectivity": 0.0}, np.inf
    rows = int(counts.sum())
    for _ in range(_TRIES):
        stopping.check(_FUNCTION)
        picked = [columns[i] for i in rng.choice(len(columns), attributes, replace=False)]
        picked.sort(key=lambda column: column.number)  # ranges last: they can be fitted
        left, parts = counts, []
        for i, column in enumerate(picked):
            share = (selectivity * rows / max(int(left.sum()), 1)) ** (1 / (attributes - i))
            text, left = column.condition(left, min(share, 1.0) * int(left.sum()), rng)
            parts.append(text)
        matched = int(left.sum()) / rows
        if abs(matched - selectivity) < gap:
            gap = abs(matched - selectivity)
            query = f"SELECT count(*) FROM raw WHERE {' AND '.join(parts)}"
            best = {"query": query, "selectivity": matched}
        if gap <= _NEAR * selectivity:
            break
    return best


def ends_of(sql_type: str, values: pa.Array, number: bool) -> pa.Array:
    """Return the smallest and the largest value of a column; two NULLs if it is text or all
    NULL."""
    non_null = np.flatnonzero(valid(values))
    if not number or not len(non_null):
        return pa.nulls(2, values.type)
    keys = numeric_keys(sql_type, values)[non_null]
    return values.take(pa.array(non_null[[np.argmin(keys), np.argmax(keys)]]))


class DrawnQueries:
    """Queries like those of ``query_workload``, with the answers of the raw table.

    columns: values of the quasi-identifiers by name, without dictionaries; types: their SQL types;
    domains: of the columns. A table of NULLs has no queries.
    """

    def __init__(
        self,
        function: str,
        columns: Mapping[str, pa.Array],
        types: Mapping[str, str],
        domains: Mapping[str, AttributeDomain],
        n: int,
        seed: int,
        time_zone: str,
    ) -> None:
        present = [name for name, values in columns.items() if values.null_count < len(values)]
        rows, counts = _equal_groups(columns)
        distinct_rows = {name: values.take(rows) for name, values in columns.items()}
        default_attributes = parameters_of(RandomQueries)["attributes"].default
        options = RandomQueries(n=n, attributes=min(default_attributes, len(present)), seed=seed)
        queries = (
            workload(types, distinct_rows, counts, options).field("query").to_pylist()
            if present
            else []
        )
        self.work = prepare(function, "raw", tuple(queries), frozenset(map(fold, columns)))
        self.actual: dict[tuple[int, Keys], float | None] = {}
        conditions = [query.where.sql("duckdb") for query in self.work.queries if query.where]
        if conditions:
            kinds = [types[name] for name in distinct_rows]
            for query_id, truth in enumerate(
                evaluated(distinct_rows, kinds, conditions, time_zone)
            ):
                self.actual[query_id, ()] = float(counts[true(truth).astype(np.bool_)].sum())
        self.quasi = {
            fold(name): _quasi(function, self.work, columns[name], domains[name], time_zone)
            for name in columns
            if fold(name) in self.work.quasi
        }

    def error(self, labels: Mapping[str, pa.Array], sizes: npt.NDArray[np.int64]) -> float | None:
        """Return the mean relative error of the answers of a release; None without queries.

        labels: of each quasi-identifier what every class shows, by name; sizes: int64[m], the rows
        of each class. Queries whose true answer is 0 do not count, as in ``workload_error``.
        """
        if not self.actual:
            return None
        named = {fold(name): distinct(column) for name, column in labels.items()}
        coded = {name: named[name] for name in self.quasi}
        nothing = np.zeros((len(sizes), 0))
        groups = AnswerGroups(
            sizes.astype(np.float64),
            {name: codes for name, (_, codes) in coded.items()},
            nothing.astype(np.bool_),
            [],
            nothing,
        )
        known_labels = {name: labels for name, (labels, _) in coded.items()}
        errors = query_error(
            self.work, "estimate", self.quasi, known_labels, groups, 0, {}, self.actual
        ).field("relative_error")
        non_null = errors.drop_null().to_numpy(zero_copy_only=False)
        return float(non_null.mean()) if len(non_null) else None


def _equal_groups(columns: Mapping[str, pa.Array]) -> tuple[pa.Array, npt.NDArray[np.int64]]:
    """Return a row of each group of rows that are equal in all columns, and the rows per group."""
    first, *others = map(codes_of, columns.values())
    codes = reduce(joined, others, first)
    _, rows, counts = np.unique(codes, return_index=True, return_counts=True)
    return pa.array(rows), counts.astype(np.int64)


def _quasi(
    function: str, work: Workload, values: pa.Array, domain: AttributeDomain, time_zone: str
) -> Quasi:
    """Return a column and the conditions that the queries put on it."""
    owner = fold(domain.name)
    few = values.unique() if not domain.number or domain.tree else values[:0]
    conditions = list(work.truths[owner])
    quasi = Quasi(
        function,
        domain,
        ends_of(domain.sql_type, values, domain.number),
        few,
        np.zeros((0, len(conditions)), dtype=np.bool_),
        conditions,
        work.constants.get(owner, []),
        time_zone,
    )
    return replace(quasi, truths=quasi.truth(few, quasi.word_type)) if len(few) else quasi
