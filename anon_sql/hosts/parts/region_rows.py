"""Find the regions of spilled rows: count them for the plan, and read one."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.core.arrow import integers
from anon_sql.core.names import quote
from anon_sql.core.printing import evaluated, sql_types
from anon_sql.core.table_domain import Domain
from anon_sql.hosts.parts.spilled_rows import SpilledRows
from anon_sql.pipeline.request import Request
from anon_sql.routing.references import REGION
from anon_sql.routing.region_counts import Tally, counted_regions
from anon_sql.routing.region_sql import count_select, together
from anon_sql.routing.regions import Group, Regions

_ROUTED = "__anon_routed"
Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class RegionRows:
    """The rows of a request, as they are spilled."""

    request: Request
    rows: SpilledRows

    def read(self, group: Group, part: int) -> pa.Table:
        """Return the rows of a region: of a group, or of one of its parts.

        Quasi-identifiers may have a dictionary.
        """
        found = self.rows.rows(group.leaves)
        if group.parts > 1:
            found = found.filter(pa.array(self._hashes(found) % np.uint64(group.parts) == part))
        names, quasi = found.column_names, self.request.quasi
        held = {n: found.column(n) if n in quasi else _plain(found.column(n)) for n in names}
        return pa.table(held).combine_chunks()

    def tallies(
        self, con: duckdb.DuckDBPyConnection, domain: Domain, regions: Regions
    ) -> list[Tally]:
        """Return the counts of each region; con: a connection of this call's own."""
        found = partial(self._counted, con, regions)
        return counted_regions(self.request, domain, regions.count, found)

    def _counted(
        self, con: duckdb.DuckDBPyConnection, regions: Regions, name: str | None
    ) -> pa.Table:
        entity = self.request.entity
        if name is None and entity is None:
            return self._row_counts(regions)
        read = dict.fromkeys(each for each in (name, entity) if each is not None)
        tables = (
            pa.table({**{each: _plain(table.column(each)) for each in read}, REGION: region})
            for table, region in self._numbered(regions)
        )
        first = next(tables)
        every = (batch for table in chain([first], tables) for batch in table.to_batches())
        con.register(_ROUTED, pa.RecordBatchReader.from_batches(first.schema, every))
        try:
            return con.sql(count_select(self.request, "duckdb", _ROUTED, name)).to_arrow_table()
        finally:
            con.unregister(_ROUTED)

    def _row_counts(self, regions: Regions) -> pa.Table:
        """Return the counts of rows as a statement would, but read only groups in several parts."""
        counts, found = self.rows.counts(), np.zeros(regions.count, np.int64)
        spread = []
        for leaf, (first, parts) in regions.of_leaf.items():
            if parts > 1:
                spread.append(leaf)
            else:
                found[first] += counts[leaf]
        if spread:
            for _, region in self._numbered(regions, spread):
                found += np.bincount(region, minlength=regions.count)
        return pa.table({"region": np.arange(regions.count), "rows": found, "persons": found})

    def _numbered(
        self, regions: Regions, leaves: Sequence[int] | None = None
    ) -> Iterator[tuple[pa.Table, Numbers]]:
        """Give the rows of some leaves, or of all, by run, and the region of each row."""
        for table, leaf in self.rows.each_run(leaves):
            yield table, regions.numbers(leaf, partial(self._hashes, table))

    def _hashes(self, table: pa.Table) -> npt.NDArray[np.uint64]:
        """Return uint64[n], the hash that spreads rows over the parts of a group."""
        names = together(self.request)
        columns = {name: _plain(table.column(name)).combine_chunks() for name in names}
        listed = ", ".join([str((self.request.seed + 1) % 2**31), *map(quote, names)])
        (found,) = evaluated(
            columns, sql_types(list(columns.values())), [f"system.main.hash({listed})"]
        )
        hashes: npt.NDArray[np.uint64] = integers(found).astype(np.uint64)
        return hashes


def _plain(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return values without a dictionary, so that equal ones of two runs are equal to DuckDB."""
    kind = values.type
    return values.cast(kind.value_type) if pa.types.is_dictionary(kind) else values
