"""Check a release as a whole within its plan: Spark adds up the counts of classes of all regions.

Rows of a release reach nobody before all of it has passed: they are joined, still packed, with the
one row of the check, which Spark computes first. Both read the same shuffle of what the regions
have sent.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from anon_sql.core.arrow import integers
from anon_sql.core.table_domain import Domain
from anon_sql.hosts.spark.class_counts import CLASS, COLUMN, PERSON, SLICE, VALUE
from anon_sql.hosts.spark.packed_rows import PACKED, ROWS
from anon_sql.hosts.spark.pyspark_parts import sql_functions
from anon_sql.measures.beta_likeness import likeness
from anon_sql.measures.closeness import Ground, closeness
from anon_sql.measures.delta_disclosure import disclosure
from anon_sql.measures.diversity import diversity
from anon_sql.measures.spread import Held, Spread, spread
from anon_sql.pipeline.left_out import most_left_out
from anon_sql.pipeline.request import Request

ROUNDING = 1e-9  # t and entropies are sums of shares


def checked(sent: Any, request: Request, domain: Domain, named: Mapping[str, Any]) -> Any:
    """Return what the regions sent, which fails in Spark as an AnonError would unless all is legal.

    sent: a shuffle of rows with the columns of ``class_counts.count_schema``. named: columns with a
    hierarchy.
    """
    sql = sql_functions(request.function)
    classes = _classes(sent, request)
    found = classes.agg(
        sql.count_if(sql.col("size") < request.k).alias("illegal"),
        sql.coalesce(sql.sum("rows"), sql.lit(0)).alias("rows"),
        sql.coalesce(sql.sum("packed"), sql.lit(0)).alias("packed"),
        sql.sum("used").alias("used"),
    )
    whole = sql.col("rows") == domain.rows
    if request.suppressed == "drop":
        whole = sql.col("rows") <= domain.rows
    whole = whole & (sql.col("packed") == sql.col("rows")) & (sql.col("used") >= 0)
    same = "have the rows of the table, which must be the same each time that Spark reads it"
    passed = found.where(_required(request, whole, same)).where(
        _required(request, sql.col("illegal") == 0, "have k rows in every class")
    )
    if request.suppressed == "drop":
        most = most_left_out(request, domain.rows)
        least = 1 if most is None else max(1, domain.rows - most)
        few = sql.col("rows") >= least
        rule = f"have at least {least:,} of {domain.rows:,} rows; suppressed := 'keep' shows all"
        passed = passed.where(_required(request, few, rule))
    checks = [passed.select()]
    if request.protected:
        test = _Legal(request, domain, frozenset(named))
        wrong = classes.select("held", "used").mapInArrow(test, "illegal long")
        legal = sql.coalesce(sql.sum("illegal"), sql.lit(0)) == 0
        rule = "satisfy l, t, beta and delta in every class"
        held = wrong.agg(legal.alias("legal")).where(_required(request, sql.col("legal"), rule))
        checks.append(held.select())
    for check in checks:
        sent = sent.crossJoin(sql.broadcast(check))
    return sent


def _classes(sent: Any, request: Request) -> Any:
    """Return each class: its size in rows or persons, its rows, and the values that it holds.

    The rows that are packed are a class without a name. ``used`` is 0 and read from columns that
    nothing else reads, so that all checks share one shuffle: Spark would otherwise shuffle the
    columns of each check by themselves, and release all regions once for each of these shuffles.
    """
    sql = sql_functions(request.function)
    rows, column = sql.sum(ROWS), sql.col(COLUMN)
    unread = sql.least(sql.coalesce(sql.length(PACKED), sql.col(SLICE)), sql.col(ROWS), sql.lit(0))
    counted = rows if request.entity is None else sql.count_distinct(PERSON)
    cells = sent.groupBy(CLASS, COLUMN, VALUE).agg(
        rows.alias("rows"), counted.alias("count"), sql.sum(unread).alias("used")
    )
    held = sql.struct(column, sql.col(VALUE), sql.col("count"))
    return cells.groupBy(CLASS).agg(
        sql.max(sql.when(column == 0, sql.col("count"))).alias("size"),
        sql.sum(sql.when(column == 0, sql.col("rows"))).alias("rows"),
        sql.sum(sql.when(column.isNull(), sql.col("rows"))).alias("packed"),
        sql.sum("used").alias("used"),
        *(
            [sql.collect_list(sql.when(column > 0, held)).alias("held")]
            if request.protected
            else []
        ),
    )


def _required(request: Request, condition: Any, rule: str) -> Any:
    """Return a condition that is true or fails."""
    sql = sql_functions(request.function)
    text = f"{request.function}: the release must {rule}; nothing was released"
    return sql.when(condition, sql.lit(True)).otherwise(
        sql.raise_error(sql.lit(text)).cast("boolean")
    )


@dataclass(frozen=True)
class _Legal:
    """A function that Spark calls with classes, and that counts those that are illegal."""

    request: Request
    domain: Domain
    named: frozenset[str]

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
        column, keys = integers(cells.field(COLUMN)), cells.field(VALUE)
        counts = integers(cells.field("count")).astype(np.int64)
        illegal = 0
        for at, name in enumerate(self.request.protected, start=1):
            own = np.flatnonzero(column == at)
            _, dense = np.unique(class_of[own], return_inverse=True)
            illegal += self._wrong(name, spread(dense, keys.take(pa.array(own)), counts[own]))
        return illegal

    def _wrong(self, name: str, values: Spread) -> int:
        """Return the number of classes whose values of a protected column are illegal."""
        asked, known = self.request, self.domain.sensitive[name]
        table = Held(known.keys, known.counts)
        wrong = np.zeros(len(values.starts), np.bool_)
        if asked.l > 1:
            wrong |= diversity(values, asked.l_kind, asked.c) < asked.l - ROUNDING
        if asked.t < 1:
            by = Ground(asked.protected[name] and name not in self.named and not known.nulls)
            wrong |= closeness(values, table, by) > asked.t + ROUNDING
        if asked.beta is not None:
            wrong |= likeness(values, table) > asked.beta + ROUNDING
        if asked.delta is not None:
            wrong |= disclosure(values, table) > asked.delta + ROUNDING
        return int(wrong.sum())
