"""Count what is wrong with the values of a table, and what SDkA did to one."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.core.arrow import integers
from anon_sql.core.columns import infinite
from anon_sql.core.parameters import Columns, declare, param
from anon_sql.core.printing import evaluated, printed
from anon_sql.core.table import read_table
from anon_sql.measures.classes import MeasuredTable
from anon_sql.measures.loss import doubles
from anon_sql.measures.pair import SensitiveColumns
from anon_sql.methods.sdka import sdka
from anon_sql.pipeline.partition import in_source_order, prepare
from anon_sql.pipeline.request import Request, Source


@dataclass(frozen=True)
class Quality:
    """The parameters of ``data_quality``."""

    identifiers: Any = param(
        None,
        Columns(),
        "columns, in addition to those declared, that the search for duplicates ignores",
        bound=True,
    )


declare("data_quality", Quality)
declare("imbalance", SensitiveColumns)
FAULT = pa.struct(
    [
        ("column_name", pa.string()),
        ("fault", pa.string()),
        ("rows", pa.int64()),
        ("share", pa.float64()),
    ]
)
_UNKNOWN = ("", "?", "-", ".", "na", "n/a", "nan", "null")
_REACH = 1.5  # of the interquartile range, beyond which a number is an outlier


@dataclass(frozen=True)
class Profile:
    """A column. nulls: number of NULLs. values: its other values, None unless they are text,
    numbers, dates or times."""

    name: str
    sql_type: str
    nulls: int
    values: pa.Array | None


def data_quality(columns: Sequence[Profile], rows: int, repeated: int) -> list[dict[str, Any]]:
    """Return a row of ``FAULT`` for each fault, column by column.

    rows: of the table; repeated: how many of them repeat another one.
    """
    faults = [(column.name, *fault) for column in columns for fault in _faults(column)]
    return [
        {"column_name": name, "fault": fault, "rows": count, "share": count / rows}
        for name, fault, count in [*faults, (None, "duplicate", repeated)]
        if count
    ]


def _faults(column: Profile) -> Iterator[tuple[str, int]]:
    """Yield each kind of fault and the number of rows that have it."""
    yield "missing", column.nulls
    if column.values is None:
        return
    if column.sql_type.startswith(("VARCHAR", "JSON", "ENUM")):
        coded = column.values.dictionary_encode()
        words = coded.dictionary.cast(pa.string())
        counts = np.bincount(integers(coded.indices), minlength=len(words))
        bare, folded = evaluated(
            {"word": words},
            ["VARCHAR"],
            ["lower(trim(word))", "lower(regexp_replace(trim(word), '\\s+', ' ', 'g'))"],
        )
        unknown = np.isin(np.array(bare.to_pylist(), dtype=object), _UNKNOWN)
        yield "placeholder", int(counts[unknown].sum())
        yield "spelling", _rarer(integers(folded.dictionary_encode().indices), counts)
    else:
        endless = infinite(column.values)
        yield "not finite", int(endless.sum())
        yield "outlier", _outliers(doubles(column.sql_type, column.values)[~endless])


def _rarer(spelled: npt.NDArray[np.int64], counts: npt.NDArray[np.int64]) -> int:
    """Count the rows that do not have the most frequent spelling of their text."""
    most = np.zeros(int(spelled.max(initial=-1)) + 1, dtype=np.int64)
    np.maximum.at(most, spelled, counts)
    return int(counts.sum() - most.sum())


def _outliers(numbers: npt.NDArray[np.float64]) -> int:
    """Count the numbers beyond the fences of Tukey; 0 if the quartiles are equal."""
    if not len(numbers):
        return 0
    ordered = np.sort(numbers)
    low, high = (_quantile(ordered, share) for share in (0.25, 0.75))
    least = (1 + _REACH) * low - _REACH * high
    most = (1 + _REACH) * high - _REACH * low
    return int(((numbers < least) | (numbers > most)).sum()) if low < high else 0


def _quantile(ordered: npt.NDArray[np.float64], share: float) -> float:
    """Return an interpolated quantile, as ``quantile_cont`` does."""
    place = (len(ordered) - 1) * share
    below = int(place)
    part = place - below
    above = ordered[min(below + 1, len(ordered) - 1)]
    return float(ordered[below] * (1 - part) + above * part)


def sdka_stats(source: Source, request: Request, paths: pa.StructArray | None) -> dict[str, Any]:
    """Return rows, clusters, and the classes and losses of the real rows, by name."""
    prepared = prepare(source, request, paths)
    table, call = prepared.table, prepared.call
    partition = sdka(table, call)
    assert partition.nodes is not None
    real = np.ones(table.rows, np.bool_) if source.real is None else source.real
    kept = pa.array(real)
    values = {name: column.filter(kept) for name, column in source.quasi.items()}
    real_table = read_table(
        request.function,
        request.quasi,
        values,
        source.hashes.filter(kept),
        call.workers,
        prepared.trees,
    )
    classes, nodes = (
        in_source_order(table, array)[real] for array in (partition.classes, partition.nodes)
    )
    measured = MeasuredTable(real_table, request.quasi, values).measures(classes, nodes, request.k)
    return {
        "real_rows": real_table.rows,
        "synthetic_rows": table.rows - real_table.rows,
        **{name: int(partition.stats[name]) for name in ("clusters", "merged")},
        **{name: measured[name] for name in ("classes", "smallest_class", "gcp", "iloss")},
    }


def added(values: Mapping[str, pa.Array], types: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the number of synthetic rows of each sensitive value, the most frequent first.

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
