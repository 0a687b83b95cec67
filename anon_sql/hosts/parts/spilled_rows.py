"""Keep the rows of a table in files, sorted by leaf in runs: a file a run, a group a leaf.

Text with few distinct values is stored as a dictionary.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.core import interrupt
from anon_sql.hosts.parts.grouped_files import (
    open_groups,
    read_groups,
    starts_of,
    write_groups,
)
from anon_sql.hosts.parts.rows_done import RowsDone
from anon_sql.hosts.parts.sealed_files import checksum
from anon_sql.routing.runs import coded, repeated, runs, together

RUN_ROWS, RUN_BYTES = 2_000_000, 256 << 20  # of a run, at most
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
    ) -> dict[str, str]:
        """Write rows, one run while the next is read; leaf_of: returns the leaf of each row.

        Returns the checksum of each file by name.
        """
        self.folder.mkdir()
        before: Future[None] | None = None
        text: list[str] = []
        checksums: dict[str, str] = {}
        with ThreadPoolExecutor(1) as pool:
            for number, run in enumerate(runs(batches, RUN_ROWS, RUN_BYTES)):
                interrupt.check(function)
                if number == 0:
                    text = repeated(run)
                if before is not None:
                    before.result()
                file = self.folder / f"{number:06}"
                before = pool.submit(self._write, file, run, text, leaf_of, checksums)
                done.advance(run.num_rows)
            if before is not None:
                before.result()
        return checksums

    def _write(
        self,
        file: Path,
        run: pa.Table,
        text: list[str],
        leaf_of: LeafOf,
        checksums: dict[str, str],
    ) -> None:
        columns = coded(run, text)
        write_groups(file, columns, leaf_of(columns), self.leaves)
        made = checksum(file)
        assert made is not None
        checksums[file.name] = made

    @staticmethod
    def intact(folder: Path, checksums: Mapping[str, str]) -> bool:
        """Return whether a folder holds the files of these checksums, and no others."""
        files = list(folder.iterdir())
        with ThreadPoolExecutor() as pool:
            found = pool.map(checksum, files)
        return {file.name: made for file, made in zip(files, found, strict=True)} == checksums

    def counts(self) -> npt.NDArray[np.int64]:
        """Return int64[leaves], the rows of each leaf."""
        found = np.zeros(self.leaves, np.int64)
        for reader in self._each():
            found += np.diff(starts_of(reader))
        return found

    def rows(self, leaves: Sequence[int]) -> pa.Table:
        """Return the rows of some leaves; a dictionary has the values of all of them."""
        return together([read_groups(reader, leaves) for reader in self._each()])

    def each_run(
        self, leaves: Sequence[int] | None = None
    ) -> Iterator[tuple[pa.Table, npt.NDArray[np.int32]]]:
        """Give the rows of some leaves, or of all, run by run, and the leaf of each row."""
        chosen = np.arange(self.leaves, dtype=np.int32)
        if leaves is not None:
            chosen = chosen[list(leaves)]
        for reader in self._each():
            leaf = np.repeat(chosen, np.diff(starts_of(reader))[chosen])
            yield read_groups(reader, chosen.tolist()), leaf

    def _each(self) -> Iterator[pa.RecordBatchFileReader]:
        for run in sorted(self.folder.iterdir()):
            with open_groups(run) as reader:
                yield reader
