"""Plan the regions of a DuckDB table, as a host does."""

from anon_sql.core.columns import is_number
from anon_sql.core.names import quote
from anon_sql.pipeline.request import Relation, checked
from anon_sql.pipeline.table import release_table
from anon_sql.regions import plan, tree
from anon_sql.regions import sql as region_sql
from anon_sql.regions import sql as sampling
from anon_sql.regions import sql as whole_table
from anon_sql.regions.counts import counted_regions
from anon_sql.regions.rows import LeafRows, each_leaf
from anon_sql.regions.sql import REGION
from anon_sql.regions.strata import table_strata
from tests.regions.region_case import routed_select


def asked(con, table, method="mondrian", k=5, *, entity=None, **given):
    """Return the request of a call on a table; given: roles and options."""
    described = con.execute(f"DESCRIBE {table}").fetchall()
    types = {row[0]: row[1] for row in described}
    return checked(method, Relation(types), {**given, "k": k, "entity": entity})


class Routed:
    """The regions of a table: its domain, tree and plan, and the rows of each region."""

    def __init__(self, con, table, call, wanted, *, most=None, sample=200_000):
        self.con, self.call = con, call
        self.domain = domain_of(con, table, call)
        m = sampling.one_in(self.domain.rows, sample)
        sampled = con.sql(sampling.sample_select(call, "duckdb", table, m)).to_arrow_table()
        strata = table_strata(
            call, self.domain, "duckdb", table, lambda sql: con.sql(sql).to_arrow_table()
        )
        self.tree = tree.grow(call, self.domain, sampled, wanted, None, strata)
        self.table, self.counts = table, 0
        self.regions = plan.plan(
            call, self.domain, self.tree, self._count, wanted=wanted, most=most
        )

    def _route(self, regions):
        points, quasi = regions.tree.points, self.call.quasi
        kinds = [
            quasi[each.column] if is_number("", each.column, quasi[each.column]) else "VARCHAR"
            for each in points
        ]
        typed = "".join(f"CAST(? AS {kind}) AS cut_{at}, " for at, kind in enumerate(kinds))
        self.con.execute(
            f"CREATE OR REPLACE TEMP TABLE cuts AS SELECT {typed} 0 AS cut_none",
            [each.text for each in points],
        )
        sql = routed_select(self.call, regions, self.table, "cuts")
        self.con.execute(f"CREATE OR REPLACE TEMP TABLE routed AS {sql}")

    def _count(self, regions):
        self._route(regions)
        self.counts += 1

        def run(name):
            sql = region_sql.count_select(self.call, "duckdb", "routed", name)
            return self.con.sql(sql).to_arrow_table()

        return counted_regions(self.call, self.domain, regions.count, run)

    def parts(self):
        """Return the rows of each region, Arrow tables by number."""
        self._route(self.regions)
        return {
            number: self.con.sql(
                f"SELECT * EXCLUDE ({REGION}) FROM routed WHERE {REGION} = {number}"
            ).to_arrow_table()
            for (number,) in self.con.execute(
                f"SELECT DISTINCT {REGION} FROM routed ORDER BY ALL"
            ).fetchall()
        }

    def leaves(self):
        """Return the leaf of each row by the statement, and as ``LeafRows`` finds it."""
        self._route(each_leaf(self.tree))
        quasi = [
            quote(name)
            if kind == "BOOLEAN" or is_number("", name, kind)
            else f"{quote(name)}::VARCHAR"
            for name, kind in self.call.quasi.items()
        ]
        read = self.con.sql(f"SELECT {', '.join(quasi)}, {REGION} FROM routed").to_arrow_table()
        *columns, leaves = [column.combine_chunks() for column in read.columns]
        rows = dict(zip(self.call.quasi, columns, strict=True))
        return leaves.to_pylist(), LeafRows(self.call, self.tree).leaves_of(rows).tolist()

    def releases(self):
        """Return the release of each region."""
        return [release_table(part, self.call, None, self.domain) for part in self.parts().values()]


def domain_of(con, table, call):
    """Return the domain of a table."""
    summary = con.sql(whole_table.summary_select(call, "duckdb", table)).to_arrow_table()
    held = {
        name: con.sql(whole_table.value_count_select(call, name, "duckdb", table)).to_arrow_table()
        for name in call.protected
    }
    return whole_table.table_domain(call, summary, held)
