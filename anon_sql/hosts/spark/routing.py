"""Find the region of each row of a DataFrame in tasks of Spark, and pack the rows of each."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql import kernels, system
from anon_sql.core.arrow import integers
from anon_sql.core.printing import use_threads
from anon_sql.core.table import Domain
from anon_sql.errors import AnonError
from anon_sql.hosts.spark.frame import (
    BATCH,
    PACKED,
    ROWS,
    column_of,
    grouped,
    packed,
    spark_schema,
    sql_functions,
    sql_types_of_spark,
)
from anon_sql.pipeline.request import Request
from anon_sql.regions.counts import Tally, counted_regions
from anon_sql.regions.plan import plan, sampled_regions
from anon_sql.regions.rows import (
    MAX_DICTIONARY_SHARE,
    LeafRows,
    Regions,
    coded_if_few,
    joined_runs,
    runs,
    tested_columns,
)
from anon_sql.regions.sql import (
    REGION,
    WEIGHT,
    count_select,
    dealt_select,
    is_k_alone,
    one_in,
    sample_select,
    sampled,
    summary_select,
    table_domain,
    value_count_select,
)
from anon_sql.regions.strata import table_strata
from anon_sql.regions.tree import grow
from anon_sql.version import VERSION


@contextmanager
def compiled_once(function: str, kind: str) -> Iterator[None]:
    """Run a block alone on this machine until one such block has ended, and beside others later.

    kind: a text that differs where other kernels are needed. The first block compiles the kernels
    that it calls and leaves them in the folder of numba's cache, from which other processes load
    them. Blocks do not wait where that folder is not known. Raises AnonError if there is no folder
    that can be written.
    """
    folder = cache_folder(function)
    if folder is None:
        yield
        return
    mark = folder / f"anon_sql-{VERSION}-{sha256(kind.encode()).hexdigest()[:16]}.compiled"
    if mark.exists():
        yield
        return
    with ExitStack() as stack:
        stack.enter_context(_alone(function, folder))
        if mark.exists():
            stack.close()
        yield
        if not mark.exists():
            mark.touch()


@contextmanager
def _alone(function: str, folder: Path) -> Iterator[None]:
    """Hold the lock of a folder, which ends with the process that holds it."""
    try:
        file = (folder / "anon_sql.lock").open("w")
    except OSError:
        raise _unwritable(function) from None
    with file:
        system.lock(file.fileno(), wait=True)
        yield


def cache_folder(function: str) -> Path | None:
    """Return the folder of compiled kernels, which exists afterwards; None if it is not known."""
    try:
        return kernels.parallel.cache_folder()
    except (OSError, RuntimeError):  # RuntimeError: numba found no folder at all
        raise _unwritable(function) from None


def _unwritable(function: str) -> AnonError:
    return AnonError(
        function,
        "workers must be able to store compiled kernels",
        "no folder that they may write",
        "set NUMBA_CACHE_DIR on all machines, in Spark by spark.executorEnv.NUMBA_CACHE_DIR",
    )


DEALT = "__anon_dealt"  # the column that spreads rows over parts
ALIKE = "__anon_alike"  # the number of rows that are alike
RUN_ROWS, RUN_BYTES = 500_000, 64 << 20  # rows that a task holds at a time, at most


@dataclass(frozen=True)
class Router:
    """The regions of rows. names: of the columns, which arrive numbered in this order."""

    request: Request
    regions: Regions
    names: tuple[str, ...]

    def runs(
        self, batches: Iterable[pa.RecordBatch]
    ) -> Iterator[tuple[pa.Table, npt.NDArray[np.int64]]]:
        """Give rows with their names, and the region of each."""
        pa.set_cpu_count(1)
        use_threads(1)
        of_rows, max_share = (
            LeafRows(self.request, self.regions.tree),
            min(MAX_DICTIONARY_SHARE, 1 / self.regions.count),
        )
        for run in runs(batches, RUN_ROWS, RUN_BYTES):
            columns = coded_if_few(run.rename_columns(self.names), max_share)
            with compiled_once(self.request.function, "routing"):
                leaf = of_rows.leaves_of(columns)
            region = self.regions.numbers(leaf, partial(_dealt, columns))
            yield pa.table({n: values for n, values in columns.items() if n != DEALT}), region


def _dealt(columns: dict[str, pa.Array]) -> npt.NDArray[np.uint64]:
    hashes: npt.NDArray[np.uint64] = integers(columns[DEALT]).astype(np.uint64)
    return hashes


@dataclass(frozen=True)
class Packing:
    """A function that Spark calls with rows, and that packs the rows of each region."""

    router: Router

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the number of a region, a number of its rows, and these rows packed."""
        for run, region in self.router.runs(batches):
            with compiled_once(self.router.request.function, "packing"):
                groups = grouped(run, region.astype(np.int32), self.router.regions.count)
            for number, rows in groups:
                yield pa.record_batch(
                    {REGION: [number], ROWS: [rows.num_rows], PACKED: [packed(rows)]}, schema=SCHEMA
                )


SCHEMA = pa.schema([(REGION, pa.int64()), (ROWS, pa.int64()), (PACKED, pa.binary())])


@dataclass(frozen=True)
class Numbering:
    """A function that Spark calls with rows, and that returns their regions and some columns.

    kept: these columns. They are returned by their place, with the region and a count of rows: each
    row by itself if columns are kept, and else all rows of a region together. Rows without kept
    columns may come grouped, with their number in the column ``ALIKE``.
    """

    router: Router
    kept: tuple[str, ...]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the kept columns, the region and the number of rows."""
        for run, region in self.router.runs(batches):
            if self.kept:
                columns = {
                    f"c{position}": run.column(name) for position, name in enumerate(self.kept)
                }
                ones = np.ones(len(region), np.int64)
                numbered = pa.table({**columns, REGION: region, ROWS: ones})
                yield from joined_runs([numbered], []).to_batches(BATCH)
            else:
                many = run.column(ALIKE).to_numpy() if ALIKE in run.column_names else None
                rows = np.bincount(region, many).astype(np.int64)
                yield pa.record_batch({REGION: np.arange(len(rows)), ROWS: rows})


SOURCE, ROUTED = "__anon_source", "__anon_routed"  # names of relations in statements
DIALECT = "spark"
GROUPED = 3  # sampled rows with the same values, on average, from which Spark groups rows


@dataclass(frozen=True)
class SparkRows:
    """The rows to release, with the columns that are read. Each method runs jobs of Spark.

    request: with those kept columns that Spark can hash. paths: the rows of the hierarchy.
    """

    df: Any
    request: Request
    paths: pa.StructArray | None

    def domain(self) -> tuple[Domain, int]:
        """Return the domain of the whole table, and m for a sample of one row in m."""
        summary = self._table(summary_select(self.request, DIALECT, SOURCE))
        values = {
            name: self._table(value_count_select(self.request, name, DIALECT, SOURCE))
            for name in self.request.protected
        }
        domain = table_domain(self.request, summary, values)
        different = summary.column("different")[0].as_py() if is_k_alone(self.request) else None
        return domain, one_in(domain.rows, different=different)

    def regions(self, domain: Domain, many: int, wanted: int) -> Regions:
        """Return regions of about so many rows, each of them legal; many: of the sample."""
        strata = table_strata(self.request, domain, DIALECT, SOURCE, self._table, self.paths)
        sample, many = sampled(domain.rows, many, self._sample)
        tree = grow(self.request, domain, sample, wanted, self.paths, strata)
        from_sample = sampled_regions(self.request, domain, tree, sample, many, wanted)
        if from_sample is not None:
            return from_sample

        grouped = sample.num_rows * GROUPED < sample.column(WEIGHT).to_numpy().sum()

        def count(regions: Regions) -> Sequence[Tally]:
            return self._counted(domain, regions, grouped)

        return plan(self.request, domain, tree, count, wanted=wanted, paths=self.paths)

    def packed(self, regions: Regions) -> Any:
        """Return the rows packed, a partition for each region, lazily."""
        rows, router = self._read(regions, self.df.columns)
        packed = rows.mapInArrow(Packing(router), spark_schema(self.request.function, SCHEMA))
        return packed.repartitionById(regions.count, column_of(REGION).cast("int"))

    def _read(self, regions: Regions, names: Sequence[str]) -> tuple[Any, Router]:
        """Return columns, numbered because Spark passes no others whatever characters they have."""
        rows, read = self.df, list(names)
        if regions.spread:
            rows = self._query(dealt_select(self.request, DIALECT, SOURCE, DEALT))
            read.append(DEALT)
        numbered = rows.select(*map(column_of, read)).toDF(
            *(f"c{position}" for position in range(len(read)))
        )
        return numbered, Router(self.request, regions, tuple(read))

    def _counted(self, domain: Domain, regions: Regions, grouped: bool) -> Sequence[Tally]:
        """Return the counts of each region; grouped: whether to count rows that are alike first."""
        request, types = self.request, sql_types_of_spark(self.request.function)
        kept = tuple(dict.fromkeys([*request.protected, *filter(None, [request.entity])]))
        tested = tested_columns(request, regions.tree)
        rows, router = self._read(regions, list(dict.fromkeys([*tested, *kept])))
        if grouped and not kept:
            sql = sql_functions(request.function)
            rows = rows.groupBy(*rows.columns).agg(sql.count("*").alias(ALIKE))
            router = replace(router, names=(*router.names, ALIKE))
        schema = types.StructType()
        for position, name in enumerate(kept):
            schema = schema.add(f"c{position}", self.df.schema[name].dataType)
        schema = schema.add(REGION, types.LongType()).add(ROWS, types.LongType())
        numbered = rows.mapInArrow(Numbering(router, kept), schema).toDF(*kept, REGION, ROWS)

        def count_table(name: str | None) -> pa.Table:
            if name is None and request.entity is None:
                sql = sql_functions(request.function)
                counts = numbered.groupBy(column_of(REGION).alias("region"))
                total = sql.sum(ROWS)
                return counts.agg(total.alias("rows"), total.alias("persons")).toArrow()
            return self._table(count_select(request, DIALECT, ROUTED, name), **{ROUTED: numbered})

        return counted_regions(request, domain, regions.count, count_table)

    def _sample(self, many: int) -> pa.Table:
        return self._table(sample_select(self.request, DIALECT, SOURCE, many))

    def _table(self, text: str, **relations: Any) -> pa.Table:
        return self._query(text, **relations).toArrow()

    def _query(self, text: str, **relations: Any) -> Any:
        return queried(self.df.sparkSession, text, {SOURCE: self.df, **relations})


def queried(spark: Any, text: str, relations: Mapping[str, Any]) -> Any:
    """Return the DataFrame of a statement that names DataFrames as quoted relations."""
    text = text.replace("{", "{{").replace("}", "}}")
    for name in relations:
        text = text.replace(f"`{name}`", "{" + name + "}")
    return spark.sql(text, **relations)
