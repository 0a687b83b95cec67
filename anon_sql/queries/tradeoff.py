"""Release a table with several k and l, and measure what each release loses and gives away."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from anon_sql.core.columns import is_number
from anon_sql.core.hierarchy.column import tree_of
from anon_sql.core.parameters import Whole, declare, param
from anon_sql.core.running import Progress, Workers
from anon_sql.errors import AnonError
from anon_sql.measures.classes import dominance
from anon_sql.measures.compare import comparable, load, noted, require_rows_kept
from anon_sql.measures.loss import Domain, domain
from anon_sql.measures.pair import OneMethod, Settings, Sizes, require_any, size
from anon_sql.measures.utility import counted_release, utility
from anon_sql.methods.method import COMMON, Call, release_methods
from anon_sql.pipeline.compute import labelled
from anon_sql.pipeline.partition import (
    Prepared,
    constraint_of,
    placed,
    prepare,
    require_strata,
    settled,
)
from anon_sql.pipeline.request import MOST, Request, Source
from anon_sql.privacy.class_values import class_values
from anon_sql.privacy.l_diversity import LDiversity
from anon_sql.queries.released import shown_classes
from anon_sql.queries.workload import DrawnQueries, ends_of

NAME = "tradeoff"
ROW = pa.struct(
    [
        ("k", pa.int64()),
        ("l", pa.int64()),
        ("gcp", pa.float64()),
        *((name, pa.int64()) for name in ("classes", "smallest_class", "suppressed")),
        *((name, pa.float64()) for name in ("query_error", "largest_share", "exposed_share")),
        ("seconds", pa.float64()),
        ("note", pa.string()),
    ]
)
_NOTHING = {"classes": 0, "suppressed": 0, "seconds": 0.0}  # of a table without rows


@dataclass(frozen=True)
class Tradeoff:
    """The parameters of ``tradeoff``."""

    ks: Any = param((2, 5, 10, 20, 50), Sizes(), "smallest sizes of an equivalence class, in rows")
    ls: Any = param(
        (1, 2),
        Sizes(),
        "smallest numbers of distinct values of each sensitive column in a class; an l above 1 "
        "needs a sensitive column",
    )
    method: str = param("anonymize", OneMethod(), "name of the release method")
    queries: int = param(
        50,
        Whole(1),
        "number of random queries, drawn as by query_workload: ranges and sets of two "
        "quasi-identifiers that 5 % of the rows match",
    )
    options: Any = param(
        None,
        Settings(),
        "parameters of the method, such as {'anonymize': {'effort': 'fast'}}; all others have "
        "their defaults",
    )


declare(
    NAME,
    *COMMON,
    Tradeoff,
    without=("k", "l", "l_kind", "c", "format", "suppressed"),
    notes={
        "seed": "The queries are drawn by it too.",
        "weights": "They count for the methods that take weights, and in gcp.",
    },
)


def tradeoff(
    source: Source | None, request: Request, paths: pa.StructArray | None
) -> list[dict[str, Any]]:
    """Return a row for each k and l, in the order asked for; see ``ROW``."""
    chosen: Tradeoff = request.options
    name = chosen.method
    pairs = [(k, level) for k in chosen.ks for level in chosen.ls]
    if source is None:
        return [_row(name, k, level, lambda *_: _NOTHING) for k, level in pairs]
    table = _Table(source, request, paths)
    rows = []
    with Progress(NAME, len(pairs)) as progress:
        progress.note = f"loads {name}"
        table.load(chosen.ls)
        for k, level in pairs:
            progress.note = f"k = {k}, l = {level}"
            progress.advance(0)
            rows.append(_row(name, k, level, table.measured))
            progress.advance(1)
    return rows


def _row(
    name: str, k: Any, level: Any, made: Callable[[int, int], Mapping[str, Any]]
) -> dict[str, Any]:
    """Return the row of a k and an l, with NULLs and a note where ``made`` raises AnonError."""
    row: dict[str, Any] = {}

    def measured() -> Mapping[str, Any]:
        for parameter, given in (("k", k), ("l", level)):
            whole = size(name, given, parameter)
            row[parameter] = whole if whole < 2**63 else None
        require_rows_kept(NAME, name)
        return made(size(name, k), size(name, level, "l"))

    return noted(NAME, row, measured)


class _Table:
    """A table that one method releases with several k and l, and the queries on it."""

    def __init__(self, source: Source, request: Request, paths: pa.StructArray | None) -> None:
        """Raise AnonError for values that labels cannot represent."""
        self.source, self.paths = source, paths
        self.prepared = prepare(source, request, paths)
        name = request.options.method
        options = request.options.options[name]
        self.protected = request.protected
        self.request = replace(
            request,
            function=name,
            options=options,
            method=release_methods()[name],
            protected={},
        )
        columns = {
            column: values.dictionary_decode() if pa.types.is_dictionary(values.type) else values
            for column, values in source.quasi.items()
        }
        self.domains = {column: self._domain(column, values) for column, values in columns.items()}
        self.queries = DrawnQueries(
            NAME,
            columns,
            request.quasi,
            self.domains,
            request.options.queries,
            request.seed,
            request.time_zone,
        )

    def _domain(self, name: str, values: pa.Array) -> Domain:
        """Return the domain of a quasi-identifier."""
        kind, rows = self.request.quasi[name], self.prepared.trees.get(name)
        number = is_number(NAME, name, kind)
        tree = None if rows is None else tree_of(NAME, name, kind, rows)
        words = None if number else values.unique().cast(pa.string())
        ends = ends_of(kind, values, number)
        return domain(NAME, name, kind, number, ends, words, values.null_count, tree)

    def asked(self, k: int, level: int) -> Request:
        """Return the request of one release. Raises AnonError for an l without a column."""
        if level > 1:
            require_any(self.request.function, self.request.sensitive)
        protected = self.protected
        if level > 1 and not protected:
            protected = dict.fromkeys(self.request.sensitive, False)
        models = self.request.models
        if level > 1:
            models = (LDiversity(l=level), *models)
        return replace(self.request, k=min(k, MOST), models=models, protected=protected)

    def call(self, request: Request) -> Call[Any]:
        """Return the call of the method for one release."""
        table = self.prepared.table
        limits = constraint_of(self.source, request, self.paths, table.order)
        workers = Workers(request.function, request.threads)
        return replace(
            self.prepared.call,
            function=request.function,
            constraint=limits,
            workers=workers,
            options=request.options,
        )

    def load(self, ls: Sequence[Any]) -> None:
        """Run the method on a few rows for each l, so that compiling is not measured."""
        name = self.request.function
        for level in ls if name in comparable() else ():
            try:
                call = self.call(self.asked(2, min(size(name, level, "l"), 2)))
            except AnonError:
                continue  # said in the rows of this l
            load(self.prepared.table, call)

    def measured(self, k: int, level: int) -> dict[str, Any]:
        """Return the measures of one release. Raises AnonError if it cannot be made."""
        request, table = self.asked(k, level), self.prepared.table
        call = self.call(request)
        call.constraint.require(request.function, table.rows)
        require_strata(call, table.rows)
        started = time.perf_counter()
        parted = placed(table, settled(table, call, request.method, request.suppressed))
        seconds = time.perf_counter() - started
        prepared = Prepared(table, call, request.method, self.prepared.trees)
        made = labelled(prepared, parted, self.source, request, self.paths)
        labels, class_of = shown_classes(made)
        sizes = np.bincount(class_of)
        domains = list(self.domains.values())
        counted = counted_release(request.function, table.rows, domains, labels, sizes)
        lost = utility(counted, request.k, weights=request.weights)
        rows, ones = pa.array(made.position), np.ones(len(class_of), dtype=np.int64)
        found = [
            dominance(class_values(class_of, self.source.keys[name].take(rows), ones))
            for name in request.sensitive
        ]
        return {
            **{name: lost[name] for name in ("gcp", "classes", "smallest_class", "suppressed")},
            "query_error": self.queries.error(labels, sizes),
            "largest_share": max((float(share.max()) for _, share in found), default=None),
            "exposed_share": max((float((many < 2).mean()) for many, _ in found), default=None),
            "seconds": seconds,
        }
