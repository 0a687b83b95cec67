"""Check a release as a whole within its plan: Spark groups and counts the printed labels.

Rows of a release reach nobody before all of it has passed: they are joined with the one row of the
check, which Spark computes first. Both read the same shuffle of the released rows.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from anon_sql.core.arrow import integers
from anon_sql.core.table_domain import Domain
from anon_sql.hosts.spark.frame import HELPER, column_of
from anon_sql.hosts.spark.pyspark_parts import sql_functions
from anon_sql.measures.beta_likeness import likeness
from anon_sql.measures.closeness import Ground, closeness
from anon_sql.measures.delta_disclosure import disclosure
from anon_sql.measures.diversity import diversity
from anon_sql.measures.spread import Held, spread
from anon_sql.pipeline.request import Request
from anon_sql.routing.whole_table import sort_keys

PERSON = HELPER + "person"
ROUNDING = 1e-9  # t and entropies are sums of shares


def checked(released: Any, request: Request, domain: Domain, named: Mapping[str, Any]) -> Any:
    """Return the released rows, which fail in Spark as an AnonError would unless all are legal.

    released: labels, kept columns and, with an entity, ``PERSON``. named: columns with a hierarchy.
    """
    sql = sql_functions(request.function)
    labels = [column_of(name) for name in request.quasi]
    rows = released.repartition(*labels)
    used = _used(rows, request)
    size = sql.count(sql.lit(1))
    classes = rows.groupBy(*labels).agg(
        size.alias("rows"), _counted(request).alias("size"), used.alias("used")
    )
    found = classes.agg(
        sql.count_if(sql.col("size") < request.k).alias("illegal"),
        sql.coalesce(sql.sum("rows"), sql.lit(0)).alias("rows"),
        sql.coalesce(sql.sum("used"), sql.lit(0)).alias("used"),
    )
    whole = sql.col("rows") == domain.rows
    if request.suppressed == "drop":
        whole = sql.col("rows") <= domain.rows
    passed = found.where(
        _required(request, whole & (sql.col("used") >= 0), "have the rows of the table")
    ).where(_required(request, sql.col("illegal") == 0, "have k rows in every class"))
    checks = [passed.select()]
    for name, ordered in request.protected.items():
        held = _held_by_class(rows, labels, name, request)
        test = _Legal(request, name, ordered and name not in named, domain)
        wrong = held.mapInArrow(test, "illegal long").agg(
            sql.coalesce(sql.sum("illegal"), sql.lit(0)).alias("illegal")
        )
        rule = "satisfy l, t, beta and delta in every class"
        legal = _required(request, sql.col("illegal") == 0, rule)
        checks.append(wrong.where(legal).select())
    shown = [column_of(name) for name in released.columns if name != PERSON]
    for check in checks:
        rows = rows.crossJoin(sql.broadcast(check))
    return rows.select(*shown)


def _required(request: Request, condition: Any, rule: str) -> Any:
    """Return a condition that is true or fails."""
    sql = sql_functions(request.function)
    text = f"{request.function}: the release must {rule}; nothing was released"
    return sql.when(condition, sql.lit(True)).otherwise(
        sql.raise_error(sql.lit(text)).cast("boolean")
    )


def _counted(request: Request) -> Any:
    """Return the aggregate that counts rows, or persons, of whom NULL is one."""
    sql = sql_functions(request.function)
    if request.entity is None:
        return sql.count(sql.lit(1))
    nobody = sql.max(column_of(PERSON).isNull().cast("long"))
    return sql.count_distinct(column_of(PERSON)) + nobody


def _used(rows: Any, request: Request) -> Any:
    """Return an aggregate that reads every column, so that all checks share one shuffle.

    Spark would otherwise shuffle the columns of each check by themselves, and release all regions
    once for each of these shuffles.
    """
    sql = sql_functions(request.function)
    missing = sql.lit(False)
    for name in rows.columns:
        missing = missing | column_of(name).isNull()
    return sql.count_if(missing)


def _held_by_class(rows: Any, labels: Sequence[Any], name: str, request: Request) -> Any:
    """Return the values of a sensitive column in every class, a row of one list each."""
    sql = sql_functions(request.function)
    value = column_of(name).alias("value")
    cells = rows.groupBy(*labels, value).agg(
        _counted(request).alias("count"), _used(rows, request).alias("used")
    )
    held = sql.collect_list(sql.struct(sql.col("value"), sql.col("count"))).alias("held")
    classes = cells.groupBy(*labels).agg(held, sql.sum("used").alias("used"))
    return classes.select("held", "used")


@dataclass(frozen=True)
class _Legal:
    """A function that Spark calls with classes, and that counts those that are illegal."""

    request: Request
    name: str
    ordered: bool
    domain: Domain

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the number of illegal classes of each batch."""
        for batch in batches:
            yield pa.record_batch({"illegal": pa.array([self._illegal(batch)], pa.int64())})

    def _illegal(self, batch: pa.RecordBatch) -> int:
        classes = batch.column("held")
        if len(classes) == 0:
            return 0
        class_of = np.repeat(np.arange(len(classes)), np.diff(integers(classes.offsets)))
        cells = classes.flatten()
        counts = integers(cells.field("count")).astype(np.int64)
        values = spread(class_of, sort_keys(cells.field("value")), counts)
        asked, known = self.request, self.domain.sensitive[self.name]
        wrong = np.zeros(len(classes), np.bool_)
        if asked.l > 1:
            wrong |= diversity(values, asked.l_kind, asked.c) < asked.l - ROUNDING
        table = Held(known.keys, known.counts)
        if asked.t < 1:
            by = Ground(self.ordered and not known.nulls)
            wrong |= closeness(values, table, by) > asked.t + ROUNDING
        if asked.beta is not None:
            wrong |= likeness(values, table) > asked.beta + ROUNDING
        if asked.delta is not None:
            wrong |= disclosure(values, table) > asked.delta + ROUNDING
        return int(wrong.sum())
