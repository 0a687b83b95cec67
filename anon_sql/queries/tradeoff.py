"""Release a table with several k and l, and measure the loss and the disclosure of each release."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from anon_sql.core.columns import is_number
from anon_sql.core.hierarchy.column import tree_of
from anon_sql.core.parameters import Whole, declare, param
from anon_sql.measures.classes import dominance
from anon_sql.measures.loss import AttributeDomain, domain
from anon_sql.measures.sweep import (
    Measure,
    MethodSettings,
    OneMethod,
    SizeList,
    SweepTrial,
    SweptTable,
    sweep,
)
from anon_sql.measures.utility import LOST, counted_release, utility
from anon_sql.methods.method import COMMON
from anon_sql.pipeline.compute import labelled
from anon_sql.pipeline.request import Request, Source
from anon_sql.privacy.class_values import class_values
from anon_sql.queries.released import released_classes
from anon_sql.queries.workload import DrawnQueries, ends_of

NAME = "tradeoff"
ROW = pa.struct(
    [
        ("k", pa.int64()),
        ("l", pa.int64()),
        ("gcp", pa.float64()),
        *((name, pa.int64()) for name in ("classes", "smallest_class", "suppressed")),
        *((name, pa.float64()) for name in ("query_error", "largest_share", "exposed_share")),
        ("lost_columns", pa.list_(pa.string())),
        ("seconds", pa.float64()),
        ("note", pa.string()),
    ]
)
_NOTHING = {"classes": 0, "suppressed": 0, "lost_columns": []}  # of a table without rows


@dataclass(frozen=True)
class Tradeoff:
    """The parameters of ``tradeoff``."""

    ks: Any = param((2, 5, 10, 20, 50), SizeList(), "values of k to try")
    ls: Any = param(
        (1, 2),
        SizeList(),
        "values of l (distinct values of each sensitive column in a class) to try; an l above 1 "
        "needs a sensitive column",
    )
    method: str = param("anonymize", OneMethod(), "release method")
    queries: int = param(
        50,
        Whole(1),
        "number of random queries, drawn as by query_workload: ranges and sets over two "
        "quasi-identifiers that match 5 % of the rows",
    )
    options: Any = param(
        None,
        MethodSettings(),
        "parameters of the method, such as {'anonymize': {'effort': 'fast'}}; all others keep "
        "their defaults",
    )


declare(
    NAME,
    *COMMON,
    Tradeoff,
    without=("k", "l", "l_kind", "c", "format", "suppressed"),
    notes={
        "seed": "It also draws the queries.",
        "weights": "They apply to gcp and to the methods that take weights.",
    },
)


def tradeoff(
    source: Source | None, request: Request, paths: pa.StructArray | None
) -> list[dict[str, Any]]:
    """Return a row for each k and l, in the order asked for; see ``ROW``."""
    chosen: Tradeoff = request.options
    return sweep(
        source,
        request,
        paths,
        _measure,
        _NOTHING,
        methods=[chosen.method],
        ks=chosen.ks,
        ls=chosen.ls,
    )


def _measure(swept: SweptTable) -> Measure:
    """Return a function that measures a release by its labels and by the answers to queries."""
    source, request = swept.prepared.source, swept.request
    columns = {
        column: values.dictionary_decode() if pa.types.is_dictionary(values.type) else values
        for column, values in source.quasi.items()
    }
    domains = {column: _domain(swept, column, values) for column, values in columns.items()}
    queries = DrawnQueries(
        NAME,
        columns,
        request.quasi,
        domains,
        request.options.queries,
        request.seed,
        request.time_zone,
    )

    def measured(trial: SweepTrial) -> dict[str, Any]:
        made = labelled(trial.prepared, trial.partition)
        labels, class_of = released_classes(made)
        sizes, rows = np.bincount(class_of), trial.prepared.table.rows
        trial_request = trial.prepared.request
        counted = counted_release(
            trial_request.function, rows, list(domains.values()), labels, sizes
        )
        lost = utility(counted, trial_request.k, weights=request.weights)
        released, ones = pa.array(made.position), np.ones(len(class_of), dtype=np.int64)
        dominances = [
            dominance(class_values(class_of, source.keys[name].take(released), ones))
            for name in request.sensitive
        ]
        return {
            **{name: lost[name] for name in ("gcp", "classes", "smallest_class", "suppressed")},
            "query_error": queries.error(labels, sizes),
            "largest_share": max((float(share.max()) for _, share in dominances), default=None),
            "exposed_share": max(
                (float((many < 2).mean()) for many, _ in dominances), default=None
            ),
            "lost_columns": [
                name
                for name, ncp in zip(lost["attributes"], lost["ncp"], strict=True)
                if ncp is not None and ncp > LOST
            ],
        }

    return measured


def _domain(swept: SweptTable, name: str, values: pa.Array) -> AttributeDomain:
    """Return the domain of a quasi-identifier."""
    kind, rows = swept.request.quasi[name], swept.prepared.trees.get(name)
    number = is_number(NAME, name, kind)
    tree = None if rows is None else tree_of(NAME, name, kind, rows)
    words = None if number else values.unique().cast(pa.string())
    ends = ends_of(kind, values, number)
    return domain(NAME, name, kind, number, ends, words, values.null_count, tree)
