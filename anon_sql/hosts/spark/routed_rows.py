"""Plan the regions of a DataFrame, and pack the rows of each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from anon_sql.core.table_domain import Domain
from anon_sql.hosts.spark.domain_task import summary
from anon_sql.hosts.spark.frame import column_of
from anon_sql.hosts.spark.packed_rows import PACKED
from anon_sql.hosts.spark.pyspark_parts import sql_types_of_spark
from anon_sql.hosts.spark.routing_tasks import HASH, Numbering, Packing, Router
from anon_sql.pipeline.request import Request
from anon_sql.routing.cutting import grow
from anon_sql.routing.planning import leaf_rows, plan
from anon_sql.routing.references import REGION
from anon_sql.routing.region_counts import Tally, counted_regions
from anon_sql.routing.region_sql import count_select, hashed_select
from anon_sql.routing.regions import Regions
from anon_sql.routing.sampling import one_in, sample_select
from anon_sql.routing.whole_table import held_select, table_domain

SOURCE, ROUTED = "__anon_source", "__anon_routed"  # names of relations in statements
DIALECT = "spark"


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
        held = {
            name: self._found(held_select(self.request, name, DIALECT, SOURCE))
            for name in self.request.protected
        }
        quasi = self.df.select(*map(column_of, self.request.quasi))
        return table_domain(self.request, summary(quasi, self.request), held)

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
        """Return the rows of each region packed, beside its number ``REGION``, lazily."""
        types = sql_types_of_spark(self.request.function)
        schema = types.StructType().add(REGION, types.LongType()).add(PACKED, types.BinaryType())
        rows, router = self._read(regions, self.df.columns)
        return rows.mapInArrow(Packing(router), schema).repartitionById(
            regions.count, column_of(REGION).cast("int")
        )

    def _read(self, regions: Regions, names: Sequence[str]) -> tuple[Any, Router]:
        """Return columns, numbered because Spark passes no others whatever characters they have."""
        rows = self.df
        if regions.spread:
            rows, names = self._query(hashed_select(self.request, DIALECT, SOURCE, HASH)), [*names, HASH]
        numbered = rows.select(*map(column_of, names)).toDF(*(f"c{n}" for n in range(len(names))))
        return numbered, Router(self.request, regions, tuple(names))

    def _counted(self, domain: Domain, regions: Regions) -> Sequence[Tally]:
        asked, types = self.request, sql_types_of_spark(self.request.function)
        kept = tuple(dict.fromkeys([*asked.protected, *filter(None, [asked.entity])]))
        rows, router = self._read(regions, list(dict.fromkeys([*asked.quasi, *kept])))
        fields = [self.df.schema[name] for name in kept]
        schema = types.StructType()
        for at, field in enumerate(fields):
            schema = schema.add(f"c{at}", field.dataType)
        schema = schema.add(REGION, types.LongType())
        numbered = rows.mapInArrow(Numbering(router, kept), schema).toDF(*kept, REGION)

        def found(name: str | None) -> pa.Table:
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
