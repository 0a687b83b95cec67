"""What SDkA did to a table: rows, clusters, and the classes and losses of the real rows alone."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.core.printing import printed
from anon_sql.core.table import read
from anon_sql.measures.class_measures import Measured
from anon_sql.pipeline.partition import as_came, prepare
from anon_sql.pipeline.request import Request
from anon_sql.pipeline.source import Source


def sdka_stats(source: Source, request: Request, paths: pa.StructArray | None) -> dict[str, Any]:
    """Return rows, clusters, and the classes and losses of the real rows, by name."""
    prepared = prepare(source, request, paths)
    table, call = prepared.table, prepared.call
    found = prepared.method.run(table, call)
    real = np.ones(table.rows, np.bool_) if source.real is None else source.real
    kept = pa.array(real)
    values = {name: column.filter(kept) for name, column in source.quasi.items()}
    own = read(
        request.function,
        request.quasi,
        values,
        source.hashes.filter(kept),
        call.workers,
        prepared.trees,
    )
    classes, nodes = (as_came(table, each)[real] for each in (found.classes, found.nodes))
    measured = Measured(own, request.quasi, values).measures(classes, nodes, request.k)
    return {
        "real_rows": own.rows,
        "synthetic_rows": table.rows - own.rows,
        **{name: int(found.stats[name]) for name in ("clusters", "merged")},
        **{name: measured[name] for name in ("classes", "smallest_class", "gcp", "iloss")},
    }


def added(values: Mapping[str, pa.Array], types: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return how many synthetic rows each sensitive value got, the most frequent first.

    values: of the synthetic rows, by sensitive column; types: SQL type by column name.
    """
    names = sorted(values, key=str.encode)
    texts = printed([values[name] for name in names], [types[name] for name in names])
    rows = []
    for name, column in zip(names, texts, strict=True):
        counts = pc.value_counts(column).to_pylist()
        counts.sort(key=lambda entry: (-entry["counts"], (entry["values"] or "").encode()))
        rows += [
            {"attribute": name, "value": entry["values"], "rows": entry["counts"]}
            for entry in counts
        ]
    return rows
