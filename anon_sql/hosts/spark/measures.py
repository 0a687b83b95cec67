"""Measure a release that Spark holds: Spark groups the rows, the core reads the labels.

What reaches the driver are the domain of each quasi-identifier in the raw table, its distinct
labels with their rows, and how many classes there are of each size; never a row.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.core.arrow import integers
from anon_sql.core.columns import is_number
from anon_sql.core.common_parameters import read_weights
from anon_sql.core.hierarchy.column import tree_of
from anon_sql.core.hierarchy.tree import rows_of
from anon_sql.core.labels.grammar import STAR
from anon_sql.core.parameters import Whole
from anon_sql.core.roles import Roles, assign, fold
from anon_sql.errors import SpelledAs
from anon_sql.hosts.columns import HELPER
from anon_sql.hosts.spark.frame import (
    SPARK,
    SparkFrame,
    column_of,
    described,
    hierarchy_rows,
    sql_functions,
)
from anon_sql.measures.loss import AttributeDomain, domain
from anon_sql.measures.pair import is_label, require_types
from anon_sql.measures.utility import CountedRelease, LabelCounts, Sizes, counted_as_printed
from anon_sql.measures.utility import utility as all_measures

COLUMNS = (
    "rows long, released_rows long, suppressed long, classes long, smallest_class long, dm long, "
    "dm_star long, cavg double, gcp double, iloss double, suppression_rate double"
)
ROWS = HELPER + "rows"


@SpelledAs(SPARK)
def gcp(
    raw: Any, released: Any, *, quasi: Any = None, hierarchy: Any = None, weights: Any = None
) -> float | None:
    """Return the global certainty penalty of a release, 0 to 1, as the SQL function ``gcp``.

    raw, released: DataFrames. quasi: the quasi-identifiers; None for those that comments on the
    columns of ``raw`` declare. hierarchy, weights: as in a release. Raises AnonError as in SQL.
    """
    penalty = _measured("gcp", raw, released, 5, quasi, hierarchy, weights)["gcp"]
    return None if penalty is None else float(penalty)


@SpelledAs(SPARK)
def k_anonymity(raw: Any, released: Any, *, quasi: Any = None, hierarchy: Any = None) -> int | None:
    """Return the rows of the smallest class of a release, as the SQL function ``k_anonymity``.

    Suppressed rows are one class; None for an empty release. Parameters: as in ``gcp``.
    """
    smallest = _measured("k_anonymity", raw, released, 5, quasi, hierarchy)["smallest_class"]
    return None if smallest is None else int(smallest)


@SpelledAs(SPARK)
def utility(
    raw: Any,
    released: Any,
    k: int = 5,
    *,
    quasi: Any = None,
    hierarchy: Any = None,
    weights: Any = None,
) -> Any:
    """Return a DataFrame of one row, the measures of the SQL function ``utility``.

    k: of cavg. Other parameters: as in ``gcp``.
    """
    measures = _measured("utility", raw, released, k, quasi, hierarchy, weights)
    names = [part.split()[0] for part in COLUMNS.split(", ")]
    return raw.sparkSession.createDataFrame([tuple(measures[name] for name in names)], COLUMNS)


@dataclass(frozen=True)
class _MeasureCall:
    """A checked call. released_names: the released column of each quasi-identifier, by its name."""

    function: str
    raw: Any
    released: Any
    frame: SparkFrame
    roles: Roles
    released_names: Mapping[str, str]
    types: Mapping[str, str]


def _measured(
    function: str, raw: Any, released: Any, k: int, quasi: Any, hierarchy: Any, weights: Any = None
) -> dict[str, Any]:
    """Return the measures by name, as ``utility`` of the core does."""
    sql_functions(function)
    size = Whole(1).read(function, "k", k)
    frame, other = described(function, raw), described(function, released)
    parameters = {"quasi": list(quasi) if isinstance(quasi, tuple) else quasi}
    roles = assign(function, frame.names, frame.comments if quasi is None else {}, parameters)
    weighted = read_weights(function, weights, roles.quasi)
    by_fold = {fold(name): name for name in other.names}
    require_types(
        function, roles.quasi, frame.types, {fold(n): kind for n, kind in other.types.items()}
    )
    released_names = {name: by_fold[fold(name)] for name in roles.quasi}
    call = _MeasureCall(function, raw, released, frame, roles, released_names, other.types)
    rows, domains = _domains(call, hierarchy_rows(function, hierarchy))
    counted = CountedRelease(function, rows, domains, *counted_as_printed(domains, *_classes(call)))
    return all_measures(counted, size, weights=weighted)


def _domains(
    call: _MeasureCall, paths: pa.StructArray | None
) -> tuple[int, Sequence[AttributeDomain]]:
    """Return the number of raw rows and the domain of each quasi-identifier, from two queries."""
    sql = sql_functions(call.function)
    types = {name: call.frame.types[name] for name in call.roles.quasi}
    numeric = {name: is_number(call.function, name, kind) for name, kind in types.items()}
    columns = [sql.count(sql.lit(1)).alias("rows")]
    for number, name in enumerate(types):
        columns.append(sql.count(column_of(name)).alias(f"known{number}"))
        if numeric[name]:
            columns.append(sql.min(column_of(name)).alias(f"low{number}"))
            columns.append(sql.max(column_of(name)).alias(f"high{number}"))
    ends_and_counts = call.raw.agg(*columns).toArrow()
    rows = ends_and_counts.column("rows")[0].as_py()
    zone = call.raw.sparkSession.conf.get("spark.sql.session.timeZone")
    named, domains = rows_of(paths, types, zone), []
    texts = [name for name in types if not numeric[name]]
    text_labels = _distinct(
        sql, call.raw, sql.lit(1), [(column_of(name), "string") for name in texts]
    )
    words = {name: labels.values for name, labels in zip(texts, text_labels, strict=True)}
    for number, (name, kind) in enumerate(types.items()):
        paths_of_column = named.get(name)
        ends = pa.array([], pa.null())
        if numeric[name]:
            ends = pa.concat_arrays(
                [
                    ends_and_counts.column(f"{end}{number}").combine_chunks()
                    for end in ("low", "high")
                ]
            )
        nulls = rows - ends_and_counts.column(f"known{number}")[0].as_py()
        tree = (
            None if paths_of_column is None else tree_of(call.function, name, kind, paths_of_column)
        )
        domains.append(
            domain(call.function, name, kind, numeric[name], ends, words.get(name), nulls, tree)
        )
    return rows, domains


def _classes(call: _MeasureCall) -> tuple[Mapping[str, LabelCounts], Sizes]:
    """Return the labels of each quasi-identifier, and the classes by their size, from one query."""
    sql, kinds = sql_functions(call.function), dict(call.released.dtypes)
    labels = [(column_of(name), kinds[name]) for name in call.released_names.values()]
    star = null = sql.lit(True)
    for name, (label, _) in zip(call.released_names.values(), labels, strict=True):
        label_star = label.eqNullSafe(STAR) if is_label(call.types[name]) else label.isNull()
        star, null = star & label_star, null & label.isNull()
    rows = column_of(ROWS)
    classes = call.released.groupBy(*(label for label, _ in labels)).agg(
        sql.count(sql.lit(1)).alias(ROWS)
    )
    size = sql.struct(rows, star, null), "struct<size:bigint,star:boolean,null:boolean>"
    *label_counts, sizes = _distinct(sql, classes, rows, [*labels, size])
    class_sizes, suppressed, all_null = map(integers, sizes.values.flatten())
    by_name = dict(zip(call.released_names, label_counts, strict=True))
    marks = (flags.astype(np.bool_) for flags in (suppressed, all_null))
    return by_name, Sizes(class_sizes, sizes.classes, *marks)


def _distinct(sql: Any, df: Any, rows: Any, keys: Sequence[tuple[Any, str]]) -> list[LabelCounts]:
    """Return the distinct values of columns, and how often each occurs, from one query.

    keys: the columns and their types. rows: how many rows each row of ``df`` counts for. Spark
    groups the cells of all columns, each in the place of its type.
    """
    if not keys:
        return []
    names = {
        kind: f"key{number}" for number, kind in enumerate(dict.fromkeys(kind for _, kind in keys))
    }
    cells = []
    for number, (key, own_kind) in enumerate(keys):
        places = [
            (key if kind == own_kind else sql.lit(None)).cast(kind).alias(name)
            for kind, name in names.items()
        ]
        cells.append(sql.struct(sql.lit(number).alias("at"), *places))
    of_rows = df.select(rows.alias("rows"), sql.inline(sql.array(*cells)))
    counts = sql.sum("rows").alias("rows"), sql.count("rows").alias("classes")
    grouped = of_rows.groupBy("at", *names.values()).agg(*counts).toArrow()
    distinct = []
    for number, (_, kind) in enumerate(keys):
        column = grouped.filter(pc.equal(grouped.column("at"), number)).combine_chunks()
        values = column.column(names[kind]).combine_chunks()
        distinct.append(
            LabelCounts(values, *(integers(column.column(n)) for n in ("rows", "classes")))
        )
    return distinct
