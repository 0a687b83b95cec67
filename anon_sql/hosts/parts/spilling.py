"""Route the rows of a table into regions and write them to files, one folder a region."""

from pathlib import Path

import duckdb
import pyarrow as pa

from anon_sql.core.names import literal, quote
from anon_sql.core.table_domain import Domain
from anon_sql.hosts.parts.checked_call import Asked
from anon_sql.routing import cutting, planning, sampling
from anon_sql.routing.references import REGION
from anon_sql.routing.region_counts import Tally, counted_regions
from anon_sql.routing.region_sql import count_select, cuts_select, routed_select
from anon_sql.routing.regions import Regions
from anon_sql.routing.whole_table import held_select, summary_select, table_domain

_SOURCE, _CUTS = "__anon_source", "__anon_cuts"


class Routing:
    """The statements of one call on the connection of the user."""

    def __init__(self, con: duckdb.DuckDBPyConnection, asked: Asked):
        self.con, self.asked, self.request = con, asked, asked.request
        self._with = (
            f"WITH {_SOURCE} AS NOT MATERIALIZED "
            f"(SELECT {asked.types.source()} FROM query_table({literal(asked.relation)}))"
        )

    def _table(self, select: str) -> pa.Table:
        return self.con.sql(f"{self._with} {select}").to_arrow_table()

    def domain(self) -> Domain:
        """Return the domain of the table."""
        summary = self._table(summary_select(self.request, "duckdb", _SOURCE))
        held = {
            name: self._table(held_select(self.request, name, "duckdb", _SOURCE))
            for name in self.request.protected
        }
        return table_domain(self.request, summary, held)

    def regions(self, domain: Domain, wanted: int, most: int) -> Regions:
        """Return the regions of the table."""
        paths = self.asked.paths
        tree = cutting.grow(
            self.request, domain, self._sample(domain.rows), planning.leaf_rows(wanted), paths
        )

        def count(regions: Regions) -> list[Tally]:
            return self._counted(domain, regions)

        return planning.plan(
            self.request, domain, tree, count, wanted=wanted, most=most, paths=paths
        )

    def _sample(self, rows: int) -> pa.Table:
        """Return a sample; a smaller share of rows where many are equal may hold none."""
        m = sampling.one_in(rows)
        while True:
            found = self._table(sampling.sample_select(self.request, "duckdb", _SOURCE, m))
            if found.num_rows or m == 1:
                return found
            m = max(1, m // 8)

    def _counted(self, domain: Domain, regions: Regions) -> list[Tally]:
        def run(name: str | None) -> pa.Table:
            select = count_select(self.request, regions, "duckdb", _SOURCE, _CUTS, name)
            query = f"{self._cut(regions)} {select}"
            return self.con.sql(query, params=regions.tree.texts).to_arrow_table()

        held = {name: run(name) for name in self.request.protected}
        return counted_regions(self.request, domain, regions.count, run(None), held)

    def spill(self, regions: Regions, folder: Path) -> None:
        """Write the rows of each region to a folder of its own."""
        routed = routed_select(self.request, regions, "duckdb", _SOURCE, _CUTS)
        columns = f"{self.asked.types.spill('r.')}, r.{quote(REGION)}"
        select = f"{self._cut(regions)} SELECT {columns} FROM ({routed}) AS r"
        self.con.execute(
            f"COPY ({select}) TO {literal(str(folder))} "
            f"(FORMAT parquet, PARTITION_BY ({quote(REGION)}))",
            regions.tree.texts,
        )

    def _cut(self, regions: Regions) -> str:
        """Return the relations that routing statements read; cut points are parameters."""
        cuts = cuts_select(self.request, regions, "duckdb")
        return f"WITH {_CUTS} AS MATERIALIZED ({cuts}), {self._with.removeprefix('WITH ')}"

    def fingerprint(self) -> tuple[int, int, int]:
        """Return the number of rows and two sums over their hashes, whatever their order."""
        return self._summed(f"{self._with} SELECT {self.asked.types.spill()} FROM {_SOURCE}")

    def spilled_fingerprint(self, folder: Path) -> tuple[int, int, int]:
        """Return the same of the routed rows."""
        columns = ", ".join(map(quote, self.asked.types.raw))
        return self._summed(f"SELECT {columns} FROM {every_file(folder)}")

    def _summed(self, select: str) -> tuple[int, int, int]:
        found = self.con.execute(
            "SELECT count(*), coalesce(bit_xor(h), 0), coalesce(sum(h % 1000000007), 0) "
            f"FROM (SELECT system.main.hash(*COLUMNS(*)) AS h FROM ({select}))"
        ).fetchall()
        return (int(found[0][0]), int(found[0][1]), int(found[0][2]))


def every_file(folder: Path, name: str | None = None) -> str:
    """Return the SQL that reads every Parquet file in and below a folder.

    name: of an additional column with the path of the file.
    """
    files = literal(f"{exactly(folder)}/**/*.parquet")
    named = "" if name is None else f", filename = {literal(name)}"
    return f"read_parquet({files}, hive_partitioning = false{named})"


def exactly(path: Path) -> str:
    """Return DuckDB's pattern that matches a path as it is."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in str(path.absolute()))
