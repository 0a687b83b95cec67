"""Plan the regions of a DataFrame, and pack the rows of each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from anon_sql.core.table_domain import Domain
from anon_sql.hosts.spark.frame import column_of
from anon_sql.hosts.spark.packed_rows import ROWS
from anon_sql.hosts.spark.pyspark_parts import spark_schema, sql_functions, sql_types_of_spark
from anon_sql.hosts.spark.routing_tasks import ALIKE, HASH, SCHEMA, Numbering, Packing, Router
from anon_sql.pipeline.request import Request
from anon_sql.routing.cutting import grow
from anon_sql.routing.leaf_rows import tested_columns
from anon_sql.routing.planning import plan
from anon_sql.routing.references import REGION
from anon_sql.routing.region_counts import Tally, counted_regions
from anon_sql.routing.region_sql import count_select, hashed_select
from anon_sql.routing.regions import Regions
from anon_sql.routing.sample_plan import shown_regions
from anon_sql.routing.sampling import WEIGHT, one_in, sample_select
from anon_sql.routing.table_strata import table_strata
from anon_sql.routing.whole_table import held_select, summary_select, table_domain

SOURCE, ROUTED = "__anon_source", "__anon_routed"  # names of relations in statements
DIALECT = "spark"
GROUPED = 3  # sampled rows with the same values, on average, from which Spark groups rows


@dataclass(frozen=True)
class Rows:
    """The rows to release, with the columns that are read. Each method runs jobs of Spark.

    request: with those kept columns that Spark can hash. paths: the rows of the hierarchy.
    """

    df: Any
    request: Request
    paths: pa.StructArray | None

    def domain(self) -> Domain:
        """Return the domain of the whole table."""
        summary = self._found(summary_select(self.request, DIALECT, SOURCE))
        held = {
            name: self._found(held_select(self.request, name, DIALECT, SOURCE))
            for name in self.request.protected
        }
        return table_domain(self.request, summary, held)

    def regions(self, domain: Domain, wanted: int) -> Regions:
        """Return regions of about so many rows, each of them legal."""
        strata = table_strata(self.request, domain, DIALECT, SOURCE, self._found, self.paths)
        many = one_in(domain.rows)
        sample = self._sample(many)
        while sample.num_rows == 0 and many > 1:
            many = many // 8 or 1
            sample = self._sample(many)
        tree = grow(self.request, domain, sample, wanted, self.paths, strata)
        shown = shown_regions(self.request, domain, tree, sample, many, wanted)
        if shown is not None:
            return shown

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
            rows = self._query(hashed_select(self.request, DIALECT, SOURCE, HASH))
            read.append(HASH)
        numbered = rows.select(*map(column_of, read)).toDF(*(f"c{at}" for at in range(len(read))))
        return numbered, Router(self.request, regions, tuple(read))

    def _counted(self, domain: Domain, regions: Regions, grouped: bool) -> Sequence[Tally]:
        """Return the counts of each region; grouped: whether to count rows that are alike first."""
        asked, types = self.request, sql_types_of_spark(self.request.function)
        kept = tuple(dict.fromkeys([*asked.protected, *filter(None, [asked.entity])]))
        tested = tested_columns(asked, regions.tree)
        rows, router = self._read(regions, list(dict.fromkeys([*tested, *kept])))
        if grouped and not kept:
            sql = sql_functions(asked.function)
            rows = rows.groupBy(*rows.columns).agg(sql.count("*").alias(ALIKE))
            router = replace(router, names=(*router.names, ALIKE))
        schema = types.StructType()
        for at, name in enumerate(kept):
            schema = schema.add(f"c{at}", self.df.schema[name].dataType)
        schema = schema.add(REGION, types.LongType()).add(ROWS, types.LongType())
        numbered = rows.mapInArrow(Numbering(router, kept), schema).toDF(*kept, REGION, ROWS)

        def found(name: str | None) -> pa.Table:
            if name is None and asked.entity is None:
                sql = sql_functions(asked.function)
                counts = numbered.groupBy(column_of(REGION).alias("region"))
                held = sql.sum(ROWS)
                return counts.agg(held.alias("rows"), held.alias("persons")).toArrow()
            return self._found(count_select(asked, DIALECT, ROUTED, name), **{ROUTED: numbered})

        return counted_regions(asked, domain, regions.count, found)

    def _sample(self, many: int) -> pa.Table:
        return self._found(sample_select(self.request, DIALECT, SOURCE, many))

    def _found(self, text: str, **relations: Any) -> pa.Table:
        return self._query(text, **relations).toArrow()

    def _query(self, text: str, **relations: Any) -> Any:
        return queried(self.df.sparkSession, text, {SOURCE: self.df, **relations})


def queried(spark: Any, text: str, relations: Mapping[str, Any]) -> Any:
    """Return the DataFrame of a statement that names DataFrames as quoted relations."""
    text = text.replace("{", "{{").replace("}", "}}")
    for name in relations:
        text = text.replace(f"`{name}`", "{" + name + "}")
    return spark.sql(text, **relations)
