"""Read the table once: its domain, a sample, and all rows by leaf to files; read a region back.

Keep the rows of a table in files, sorted by leaf in runs: a file a run, a group a leaf. Text with
few distinct values is stored as a dictionary.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import chain
from pathlib import Path

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.core import stopping
from anon_sql.core.arrow import integers
from anon_sql.core.duckdb_internals.hashing import hash_of
from anon_sql.core.names import literal, quote
from anon_sql.core.printing import evaluated, sql_types
from anon_sql.core.table import Domain
from anon_sql.errors import AnonError
from anon_sql.hosts.parts.call import PartsCall
from anon_sql.hosts.parts.running import RowsDone
from anon_sql.hosts.parts.workspace import (
    checksum,
    open_groups,
    read_groups,
    starts_of,
    write_groups,
)
from anon_sql.pipeline.request import Request
from anon_sql.regions import sql
from anon_sql.regions import tree as cutting
from anon_sql.regions.counts import Tally, counted_regions
from anon_sql.regions.rows import Group, LeafRows, Regions, coded, one_table, repeated, runs
from anon_sql.regions.sql import (
    REGION,
    count_select,
    summary_select,
    table_domain,
    value_count_select,
)
from anon_sql.regions.strata import table_strata
from anon_sql.regions.tree import RegionTree

RUN_ROWS, RUN_BYTES = 2_000_000, 256 << 20  # of a run, at most
MAX_SPILLED_DICTIONARY_SHARE = 0.3  # distinct values, of the first batch, in a dictionary
VALUES = 1_000  # of a kept column whose dictionary the files of regions hold, at most
LeafOf = Callable[[Mapping[str, pa.Array]], npt.NDArray[np.int32]]


class SpilledRows:
    """The rows in a folder. leaves: number of leaves of the routing tree."""

    def __init__(self, folder: Path, leaves: int):
        self.folder, self.leaves = folder, leaves

    def write(
        self,
        function: str,
        batches: Iterable[pa.RecordBatch],
        leaf_of: LeafOf,
        done: RowsDone,
        seen: Callable[[Mapping[str, pa.Array]], None],
        threads: int = 1,
    ) -> dict[str, str]:
        """Write rows while others are read; leaf_of: returns the leaf of each row.

        Batches are routed side by side in so many threads. seen: takes the rows of one file after
        another. Returns the checksum of each file by name.
        """
        self.folder.mkdir()
        before: Future[None] | None = None
        checksums: dict[str, str] = {}
        with ThreadPoolExecutor(threads) as pool:
            routed = _routed(pool, batches, leaf_of, 2 * threads)
            for number, run in enumerate(runs(routed, RUN_ROWS, RUN_BYTES)):
                stopping.check(function)
                if before is not None:
                    before.result()
                file = self.folder / f"{number:06}"
                before = pool.submit(self._write, file, run, seen, checksums)
                done.advance(run.num_rows)
            if before is not None:
                before.result()
        return checksums

    def _write(
        self,
        file: Path,
        run: pa.Table,
        seen: Callable[[Mapping[str, pa.Array]], None],
        checksums: dict[str, str],
    ) -> None:
        table = one_table([run])
        columns = {name: table.column(name).chunk(0) for name in table.column_names}
        leaf = columns.pop(REGION)
        seen(columns)
        write_groups(file, columns, integers(leaf), self.leaves)
        file_checksum = checksum(file)
        assert file_checksum is not None
        checksums[file.name] = file_checksum

    @staticmethod
    def intact(folder: Path, checksums: Mapping[str, str]) -> bool:
        """Return whether a folder holds the files of these checksums, and no others."""
        files = list(folder.iterdir())
        with ThreadPoolExecutor() as pool:
            actual = pool.map(checksum, files)
        return {
            file.name: file_checksum for file, file_checksum in zip(files, actual, strict=True)
        } == checksums

    def counts(self) -> npt.NDArray[np.int64]:
        """Return int64[leaves], the rows of each leaf."""
        counts = np.zeros(self.leaves, np.int64)
        for reader in self._runs():
            counts += np.diff(starts_of(reader))
        return counts

    def of_few_values(self, most: int) -> frozenset[str]:
        """Return the columns with a dictionary in every run, of at most so many values in each."""
        by_run: list[set[str]] = []
        for reader in self._runs():
            batch = reader.get_batch(0)
            by_run.append(
                {
                    name
                    for name, values in zip(batch.schema.names, batch.columns, strict=True)
                    if pa.types.is_dictionary(values.type) and len(values.dictionary) <= most
                }
            )
        return frozenset(set.intersection(*by_run)) if by_run else frozenset()

    def rows(self, leaves: Sequence[int]) -> pa.Table:
        """Return the rows of some leaves; a dictionary has the values of all of them."""
        with _undamaged():
            return one_table([read_groups(reader, leaves) for reader in self._runs()])

    def each_run(
        self, leaves: Sequence[int] | None = None
    ) -> Iterator[tuple[pa.Table, npt.NDArray[np.int32]]]:
        """Give the rows of some leaves, or of all, run by run, and the leaf of each row."""
        chosen = np.arange(self.leaves, dtype=np.int32)
        if leaves is not None:
            chosen = chosen[list(leaves)]
        for reader in self._runs():
            leaf = np.repeat(chosen, np.diff(starts_of(reader))[chosen])
            yield read_groups(reader, chosen.tolist()), leaf

    def _runs(self) -> Iterator[pa.RecordBatchFileReader]:
        for run in sorted(self.folder.iterdir()):
            with _undamaged(), open_groups(run) as reader:
                yield reader


def _routed(
    pool: ThreadPoolExecutor, batches: Iterable[pa.RecordBatch], leaf_of: LeafOf, ahead: int
) -> Iterator[pa.RecordBatch]:
    """Give batches in their order, with the leaf of each row; ahead: how many are begun before."""
    coming: deque[Future[pa.RecordBatch]] = deque()
    text: list[str] | None = None
    for batch in batches:
        if text is None:
            text = repeated(pa.table(batch), MAX_SPILLED_DICTIONARY_SHARE)
        coming.append(pool.submit(_with_leaf, batch, text, leaf_of))
        if len(coming) > ahead:
            yield coming.popleft().result()
    while coming:
        yield coming.popleft().result()


def _with_leaf(batch: pa.RecordBatch, text: Sequence[str], leaf_of: LeafOf) -> pa.RecordBatch:
    columns = coded(pa.table(batch), text)
    return pa.RecordBatch.from_pydict({**columns, REGION: pa.array(leaf_of(columns))})


@contextmanager
def _undamaged() -> Iterator[None]:
    """Raise AnonError where a file of routed rows cannot be read."""
    try:
        yield
    except (pa.ArrowInvalid, OSError):
        raise AnonError(
            "release",
            "a file of routed rows must be as it was written",
            "one that cannot be read",
            "nothing was released; run it again",
        ) from None


_SOURCE, _HASH = "__anon_source", "__anon_hash"
_EVERY = hash_of(["*COLUMNS(*)"])  # of a row, by which it is recognized when a call resumes
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
    def numbers(self) -> list[int]:
        return [self.rows, self.xor, self.total]

    @staticmethod
    def sql_columns(hashed: str) -> str:
        """Return the columns of a statement that give ``numbers``; hashed: a column, uint64."""
        return f"count(*), coalesce(bit_xor({hashed}), 0), coalesce(sum({hashed} % {_MOD}), 0)"


@dataclass
class Routing:
    """The statements of one call on the connection of the user.

    fingerprint: of the rows that ``spill`` has read. kept: of their kept columns.
    """

    con: duckdb.DuckDBPyConnection
    call: PartsCall
    fingerprint: Fingerprint = field(default_factory=Fingerprint)
    kept: Fingerprint = field(default_factory=Fingerprint)

    @property
    def request(self) -> Request:
        return self.call.request

    @property
    def _with(self) -> str:
        columns, named = self.call.types.source(), literal(self.call.relation)
        return f"WITH {_SOURCE} AS NOT MATERIALIZED (SELECT {columns} FROM query_table({named}))"

    def _table(self, select: str) -> pa.Table:
        return self.con.sql(f"{self._with} {select}").to_arrow_table()

    def domain(self) -> Domain:
        """Return the domain of the table."""
        summary = self._table(summary_select(self.request, "duckdb", _SOURCE))
        values = {
            name: self._table(value_count_select(self.request, name, "duckdb", _SOURCE))
            for name in self.request.protected
        }
        return table_domain(self.request, summary, values)

    def tree(self, domain: Domain, wanted: int) -> RegionTree:
        """Return the routing tree for regions of ``wanted`` rows.

        Raises AnonError if a stratum cannot be a class.
        """
        request, paths = self.request, self.call.paths
        strata = table_strata(request, domain, "duckdb", _SOURCE, self._table, paths)
        return cutting.grow(request, domain, self._sample(domain.rows), wanted, paths, strata)

    def _sample(self, rows: int) -> pa.Table:
        """Return a sample of so many rows."""

        def sample(m: int) -> pa.Table:
            return self._table(sql.sample_select(self.request, "duckdb", _SOURCE, m))

        return sql.sampled(rows, sql.one_in(rows), sample)[0]

    def spill(self, tree: RegionTree, spilled: SpilledRows, rows: int) -> dict[str, str]:
        """Write the rows of the table, by leaf, and return the checksum of each file by name.

        rows: their number.
        """
        function, leaves = self.request.function, LeafRows(self.request, tree)
        with RowsDone(function, "routed", rows) as done:
            return spilled.write(
                function, self._batches(), leaves.leaves_of, done, self._add_kept, self.call.threads
            )

    def _add_kept(self, columns: Mapping[str, pa.Array]) -> None:
        """Add the kept columns of rows to their fingerprint, hashed as those of a region are."""
        kept = {name: columns[name] for name in self.request.kept or list(columns)[:1]}
        types = sql_types(list(kept.values()))
        (hashes,) = evaluated(kept, types, [self.call.kept_hash])
        self.kept.add(integers(hashes).astype(np.uint64))

    def _batches(self) -> Iterator[pa.RecordBatch]:
        select = f"SELECT *, {_EVERY} AS {_HASH} FROM {_SOURCE}"
        for batch in self.con.sql(f"{self._with} {select}").to_arrow_reader(_BATCH):
            self.fingerprint.add(batch.column(_HASH).to_numpy())
            yield batch.drop_columns([_HASH])

    def source_fingerprint(self) -> list[int]:
        """Return the fingerprint of the table as it is now."""
        rows = self.con.execute(
            f"{self._with} SELECT {Fingerprint.sql_columns('h')} "
            f"FROM (SELECT {_EVERY} AS h FROM {_SOURCE})"
        ).fetchall()
        return [int(value) for value in rows[0]]


_ROUTED = "__anon_routed"
Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class RegionRows:
    """The rows of a request, as they are spilled."""

    request: Request
    rows: SpilledRows

    def read(self, group: Group, part: int) -> pa.Table:
        """Return the rows of a region: of a group, or of one of its parts.

        Quasi-identifiers may have a dictionary, and others of few values, the same ones in each.
        """
        rows = self.rows.rows(group.leaves)
        if group.parts > 1:
            rows = rows.filter(pa.array(self._parts(rows, group.parts) == part))
        names, coded = rows.column_names, self._coded
        columns = {n: rows.column(n) if n in coded else _plain(rows.column(n)) for n in names}
        return pa.table(columns).combine_chunks()

    @cached_property
    def _coded(self) -> frozenset[str]:
        """The columns that keep the dictionary that they have in the files.

        Every file of a finished region holds the values of all of them once more.
        """
        return self.rows.of_few_values(VALUES) | frozenset(self.request.quasi)

    def tallies(
        self, con: duckdb.DuckDBPyConnection, domain: Domain, regions: Regions
    ) -> list[Tally]:
        """Return the counts of each region; con: a connection of this call's own."""
        counted = partial(self._counted, con, regions)
        return counted_regions(self.request, domain, regions.count, counted)

    def _counted(
        self, con: duckdb.DuckDBPyConnection, regions: Regions, name: str | None
    ) -> pa.Table:
        entity = self.request.entity
        if name is None and entity is None:
            return self._row_counts(regions)
        read = dict.fromkeys(column for column in (name, entity) if column is not None)
        tables = (
            pa.table({**{column: _plain(table.column(column)) for column in read}, REGION: region})
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
        counts, region_rows = self.rows.counts(), np.zeros(regions.count, np.int64)
        for leaf, (first, parts) in regions.of_leaf.items():
            if parts == 1:
                region_rows[first] += counts[leaf]
        for _, region in self._spread(regions):
            region_rows += np.bincount(region, minlength=regions.count)
        return pa.table(
            {"region": np.arange(regions.count), "rows": region_rows, "persons": region_rows}
        )

    def _numbered(self, regions: Regions) -> Iterator[tuple[pa.Table, Numbers]]:
        """Give all rows, and the region of each."""
        place = regions.of_leaf
        whole = [leaf for leaf, (_, parts) in sorted(place.items()) if parts == 1]
        first_of = np.array([place[leaf][0] for leaf in range(regions.tree.leaves)])
        for table, leaf in self.rows.each_run(whole) if whole else ():
            yield table, first_of[leaf]
        yield from self._spread(regions)

    def _spread(self, regions: Regions) -> Iterator[tuple[pa.Table, Numbers]]:
        """Give the rows of each group in several parts, and the region of each row."""
        first = 0
        for group in regions.groups:
            if group.parts > 1:
                rows = self.rows.rows(group.leaves)
                yield rows, first + self._parts(rows, group.parts)
            first += group.parts

    def _parts(self, rows: pa.Table, parts: int) -> Numbers:
        """Return the part of each row of a group, int64[n], so that people stay whole.

        Rows that are equal in all quasi-identifiers are dealt to the parts in turn. So each part
        has as many of them whatever their other columns are, which decide only who comes first.
        """
        request = self.request
        if request.entity is not None:
            return (self._hashes(rows, [request.entity]) % np.uint64(parts)).astype(np.int64)
        quasi = self._hashes(rows, [*request.quasi])
        order = np.lexsort((self._hashes(rows, request.kept), quasi))
        alike = quasi[order]
        begins = np.flatnonzero(np.append(True, alike[1:] != alike[:-1])[: len(alike)])
        turn = np.empty(len(order), np.uint64)
        turn[order] = np.arange(len(order)) - np.repeat(begins, np.diff(begins, append=len(order)))
        return ((quasi % np.uint64(parts) + turn) % np.uint64(parts)).astype(np.int64)

    def _hashes(self, table: pa.Table, names: Sequence[str]) -> npt.NDArray[np.uint64]:
        """Return a hash of some columns of each row, uint64[n]."""
        if not names:
            return np.zeros(table.num_rows, np.uint64)
        columns = {name: _plain(table.column(name)).combine_chunks() for name in names}
        hashed = hash_of([str((self.request.seed + 1) % 2**31), *map(quote, names)])
        (values,) = evaluated(columns, sql_types(list(columns.values())), [hashed])
        hashes: npt.NDArray[np.uint64] = integers(values).astype(np.uint64)
        return hashes


def _plain(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return values without a dictionary, so that equal ones of two runs are equal to DuckDB."""
    kind = values.type
    return values.cast(kind.value_type) if pa.types.is_dictionary(kind) else values
