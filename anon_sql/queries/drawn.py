"""Random queries on a table in the core, and the error with which its releases answer them."""

from collections.abc import Mapping
from dataclasses import replace
from functools import reduce

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.core.arrow import true, valid
from anon_sql.core.columns import numeric_keys
from anon_sql.core.printing import evaluated
from anon_sql.core.roles import fold
from anon_sql.measures.domain import Domain
from anon_sql.measures.uniqueness import codes_of, joined
from anon_sql.queries.distinct import distinct
from anon_sql.queries.draw import workload
from anon_sql.queries.prepare import Workload, prepare
from anon_sql.queries.quasi import Quasi
from anon_sql.queries.query_error import query_error
from anon_sql.queries.released import Groups, Keys

ATTRIBUTES, SELECTIVITY = 2, 0.05  # of each query, as query_workload has them by default


def ends_of(sql_type: str, values: pa.Array, number: bool) -> pa.Array:
    """Return the smallest and the largest value of a column; NULLs for a text or NULLs alone."""
    known = np.flatnonzero(valid(values))
    if not number or not len(known):
        return pa.nulls(2, values.type)
    keys = numeric_keys(sql_type, values)[known]
    return values.take(pa.array(known[[np.argmin(keys), np.argmax(keys)]]))


class DrawnQueries:
    """Queries like those of ``query_workload``, with the answers of the raw table.

    columns: values of the quasi-identifiers by name, without dictionaries; types: their SQL types;
    domains: what they hold. There are no queries on a table whose columns hold NULLs alone.
    """

    def __init__(
        self,
        function: str,
        columns: Mapping[str, pa.Array],
        types: Mapping[str, str],
        domains: Mapping[str, Domain],
        n: int,
        seed: int,
        time_zone: str,
    ) -> None:
        held = [name for name, values in columns.items() if values.null_count < len(values)]
        rows, counts = _alike(columns)
        alike = {name: values.take(rows) for name, values in columns.items()}
        asked = {
            "n": n,
            "attributes": min(ATTRIBUTES, len(held)),
            "selectivity": SELECTIVITY,
            "seed": seed,
        }
        drawn = workload(types, alike, counts, asked).field("query").to_pylist() if held else []
        self.work = prepare(function, "raw", tuple(drawn), frozenset(map(fold, columns)))
        self.actual: dict[tuple[int, Keys], float | None] = {}
        conditions = [query.where.sql("duckdb") for query in self.work.queries if query.where]
        if conditions:
            kinds = [types[name] for name in alike]
            for at, found in enumerate(evaluated(alike, kinds, conditions, time_zone)):
                self.actual[at, ()] = float(counts[true(found).astype(np.bool_)].sum())
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
        named = {fold(name): distinct(shown) for name, shown in labels.items()}
        coded = {name: named[name] for name in self.quasi}
        nothing = np.zeros((len(sizes), 0))
        groups = Groups(
            sizes.astype(np.float64),
            {name: codes for name, (_, codes) in coded.items()},
            nothing.astype(np.bool_),
            [],
            nothing,
        )
        shown = {name: labels for name, (labels, _) in coded.items()}
        found = query_error(
            self.work, "estimate", self.quasi, shown, groups, 0, {}, self.actual
        ).field("relative_error")
        known = found.drop_null().to_numpy(zero_copy_only=False)
        return float(known.mean()) if len(known) else None


def _alike(columns: Mapping[str, pa.Array]) -> tuple[pa.Array, npt.NDArray[np.int64]]:
    """Return a row of each group of rows that are equal in all columns, and how many it has."""
    first, *others = map(codes_of, columns.values())
    codes = reduce(joined, others, first)
    _, rows, counts = np.unique(codes, return_index=True, return_counts=True)
    return pa.array(rows), counts.astype(np.int64)


def _quasi(
    function: str, work: Workload, values: pa.Array, domain: Domain, time_zone: str
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
