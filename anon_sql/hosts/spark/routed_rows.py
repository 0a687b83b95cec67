"""Assign every row of a DataFrame to a region, by the statements of the router."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from anon_sql.core.table_domain import Domain
from anon_sql.pipeline.request import Request
from anon_sql.routing.cut_points import cut_points
from anon_sql.routing.cutting import grow
from anon_sql.routing.planning import leaf_rows, plan
from anon_sql.routing.region_counts import Tally, counted_regions
from anon_sql.routing.region_sql import count_select, routed_select
from anon_sql.routing.regions import Regions
from anon_sql.routing.sampling import one_in, sample_select
from anon_sql.routing.whole_table import held_select, summary_select, table_domain

# Names of relations in statements
SOURCE, CUTS, ROUTED = "__anon_source", "__anon_cuts", "__anon_routed"
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

    def routed(self, regions: Regions) -> Any:
        """Return the rows with the number of their region in the column ``REGION``, lazily."""
        text = routed_select(self.request, regions, DIALECT, SOURCE, CUTS)
        return self._query(text, **{CUTS: self._cuts(regions)})

    def _counted(self, domain: Domain, regions: Regions) -> Sequence[Tally]:
        routed = {ROUTED: self.routed(regions)}

        def found(name: str | None) -> pa.Table:
            return self._found(count_select(self.request, DIALECT, ROUTED, name), **routed)

        return counted_regions(self.request, domain, regions.count, found)

    def _sample(self, many: int) -> pa.Table:
        return self._found(sample_select(self.request, DIALECT, SOURCE, many))

    def _cuts(self, regions: Regions) -> Any:
        points = cut_points(self.request, regions.tree)
        return self.df.sparkSession.createDataFrame(points)

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
