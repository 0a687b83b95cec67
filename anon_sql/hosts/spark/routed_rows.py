"""Plan the regions of a DataFrame, and store the rows packed by leaf of the routing tree."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from anon_sql.core.table_domain import Domain
from anon_sql.hosts.spark.frame import column_of
from anon_sql.hosts.spark.packed_rows import ROWS
from anon_sql.hosts.spark.pyspark_parts import spark_schema, sql_functions, sql_types_of_spark
from anon_sql.hosts.spark.routing_tasks import HASH, SCHEMA, Packing, Reading, Router
from anon_sql.pipeline.request import Request
from anon_sql.routing.cutting import grow
from anon_sql.routing.planning import leaf_rows, plan
from anon_sql.routing.references import REGION
from anon_sql.routing.region_counts import Tally, counted_regions
from anon_sql.routing.region_sql import count_select, hashed_select
from anon_sql.routing.regions import Group, Regions, each_leaf
from anon_sql.routing.sampling import one_in, sample_select
from anon_sql.routing.whole_table import held_select, summary_select, table_domain

SOURCE, ROUTED = "__anon_source", "__anon_routed"  # names of relations in statements
DIALECT = "spark"


@dataclass(frozen=True)
class Rows:
    """The rows to release, with the columns that are read. Each method runs jobs of Spark.

    request: with those kept columns that Spark can hash. paths: the rows of the hierarchy. stored:
    packed rows that Spark stores, by the groups of their regions.
    """

    df: Any
    request: Request
    paths: pa.StructArray | None
    stored: dict[tuple[Group, ...], Any] = field(default_factory=dict)

    def domain(self) -> Domain:
        """Return the domain of the whole table."""
        summary = self._found(summary_select(self.request, DIALECT, SOURCE))
        held = {
            name: self._found(held_select(self.request, name, DIALECT, SOURCE))
            for name in self.request.protected
        }
        return table_domain(self.request, summary, held)

    def regions(self, domain: Domain, wanted: int) -> Regions:
        """Return regions of about so many rows, each of them legal, with their exact counts."""
        many = one_in(domain.rows)
        sample = self._sample(many)
        while sample.num_rows == 0 and many > 1:
            many = many // 8 or 1
            sample = self._sample(many)
        tree = grow(self.request, domain, sample, leaf_rows(wanted), self.paths)

        def count(regions: Regions) -> Sequence[Tally]:
            return self._counted(domain, regions)

        return plan(self.request, domain, tree, count, wanted=wanted, paths=self.paths)

    def packed(self, regions: Regions) -> Any:
        """Return rows packed, beside the number of their region ``REGION``.

        Spark stores them when they are first read, by leaf where leaves are not spread over regions,
        so that other regions of the same leaves need no other reading of the source.
        """
        if regions.spread:
            return self._stored(regions)
        sql = sql_functions(self.request.function)
        leaves = self._stored(each_leaf(regions.tree))
        places = [sql.lit(first) for _, (first, _) in sorted(regions.of_leaf.items())]
        region = sql.element_at(sql.array(*places), column_of(REGION).cast("int") + 1)
        return leaves.withColumn(REGION, region.cast("long"))

    def forget(self) -> None:
        """Let Spark remove what it has stored; plans that read it read the source again."""
        while self.stored:
            _, rows = self.stored.popitem()
            with suppress(Exception):  # a session that has ended
                rows.unpersist()

    def _stored(self, regions: Regions) -> Any:
        if regions.groups not in self.stored:
            from pyspark import StorageLevel

            rows, names = self.df, list(self.df.columns)
            if regions.spread:
                rows = self._query(hashed_select(self.request, DIALECT, SOURCE, HASH))
                names = [*names, HASH]
            # Numbered, because Spark passes no columns whatever characters they have.
            rows = rows.select(*map(column_of, names)).toDF(*(f"c{n}" for n in range(len(names))))
            task = Packing(Router(self.request, regions, tuple(names)))
            schema = spark_schema(self.request.function, SCHEMA)
            packed = rows.mapInArrow(task, schema).persist(StorageLevel.DISK_ONLY)
            self.stored[regions.groups] = packed
        return self.stored[regions.groups]

    def _counted(self, domain: Domain, regions: Regions) -> Sequence[Tally]:
        sql, asked, packed = sql_functions(self.request.function), self.request, self.packed(regions)
        kept = tuple(dict.fromkeys([*asked.protected, *filter(None, [asked.entity])]))

        def found(name: str | None) -> pa.Table:
            if name is None and asked.entity is None:
                rows = sql.sum(ROWS)
                counts = packed.groupBy(column_of(REGION).alias("region"))
                return counts.agg(rows.alias("rows"), rows.alias("persons")).toArrow()
            return self._found(count_select(asked, DIALECT, ROUTED, name), **{ROUTED: read})

        if kept:
            types = sql_types_of_spark(asked.function)
            schema = types.StructType()
            for at, name in enumerate(kept):
                schema = schema.add(f"c{at}", self.df.schema[name].dataType)
            schema = schema.add(REGION, types.LongType())
            read = packed.mapInArrow(Reading(kept), schema).toDF(*kept, REGION)
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
