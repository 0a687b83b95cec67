"""Read the table: its domain, a sample for the routing tree, and all rows, by leaf to files."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.core.names import literal
from anon_sql.core.table_domain import Domain
from anon_sql.hosts.parts.checked_call import Asked
from anon_sql.hosts.parts.rows_done import RowsDone
from anon_sql.hosts.parts.spilled_rows import SpilledRows
from anon_sql.pipeline.request import Request
from anon_sql.routing import cutting, sampling
from anon_sql.routing.leaf_rows import LeafRows
from anon_sql.routing.route_tree import Tree
from anon_sql.routing.table_strata import table_strata
from anon_sql.routing.whole_table import held_select, summary_select, table_domain

_SOURCE, _HASH = "__anon_source", "__anon_hash"
_BATCH = 100_000  # rows that are read at a time
_MOD = 1_000_000_007


@dataclass
class Fingerprint:
    """The number of rows of a table and two sums over their hashes, whatever their order."""

    rows: int = 0
    xor: int = 0
    total: int = 0

    def add(self, hashes: npt.NDArray[np.uint64]) -> None:
        self.rows += len(hashes)
        self.xor ^= int(np.bitwise_xor.reduce(hashes))
        self.total += int((hashes % np.uint64(_MOD)).sum())

    @property
    def found(self) -> list[int]:
        return [self.rows, self.xor, self.total]


@dataclass
class Routing:
    """The statements of one call on the connection of the user.

    fingerprint: of the rows that ``spill`` has read.
    """

    con: duckdb.DuckDBPyConnection
    asked: Asked
    fingerprint: Fingerprint = field(default_factory=Fingerprint)

    @property
    def request(self) -> Request:
        return self.asked.request

    @property
    def _with(self) -> str:
        columns, named = self.asked.types.source(), literal(self.asked.relation)
        return f"WITH {_SOURCE} AS NOT MATERIALIZED (SELECT {columns} FROM query_table({named}))"

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

    def tree(self, domain: Domain, wanted: int) -> Tree:
        """Return the routing tree for regions of ``wanted`` rows.

        Raises AnonError if a stratum cannot be a class.
        """
        request, paths = self.request, self.asked.paths
        strata = table_strata(request, domain, "duckdb", _SOURCE, self._table, paths)
        return cutting.grow(request, domain, self._sample(domain.rows), wanted, paths, strata)

    def _sample(self, rows: int) -> pa.Table:
        """Return a sample; a smaller share of rows where many are equal may hold none."""
        m = sampling.one_in(rows)
        while True:
            found = self._table(sampling.sample_select(self.request, "duckdb", _SOURCE, m))
            if found.num_rows or m == 1:
                return found
            m = max(1, m // 8)

    def spill(self, tree: Tree, spilled: SpilledRows, rows: int) -> dict[str, str]:
        """Write the rows of the table, by leaf, and return the checksum of each file by name.

        rows: their number.
        """
        function, leaf_of = self.request.function, LeafRows(self.request, tree).of
        with RowsDone(function, "routed", rows) as done:
            return spilled.write(function, self._batches(), leaf_of, done)

    def _batches(self) -> Iterator[pa.RecordBatch]:
        select = f"SELECT *, system.main.hash(*COLUMNS(*)) AS {_HASH} FROM {_SOURCE}"
        for batch in self.con.sql(f"{self._with} {select}").to_arrow_reader(_BATCH):
            self.fingerprint.add(batch.column(_HASH).to_numpy())
            yield batch.drop_columns([_HASH])

    def source_fingerprint(self) -> list[int]:
        """Return the fingerprint of the table as it is now."""
        found = self.con.execute(
            f"{self._with} SELECT count(*), coalesce(bit_xor(h), 0), coalesce(sum(h % {_MOD}), 0) "
            f"FROM (SELECT system.main.hash(*COLUMNS(*)) AS h FROM {_SOURCE})"
        ).fetchall()
        return [int(value) for value in found[0]]
