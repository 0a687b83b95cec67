"""Make a release to report on it: the partition of a method and what the release suppresses."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.pipeline.partition import Prepared, placed, prepare, settled
from anon_sql.pipeline.release import labelled
from anon_sql.pipeline.request import Request
from anon_sql.pipeline.source import Source


@dataclass(frozen=True)
class Made:
    """A release, for statistics.

    class_of: int32[n], the classes of the method, -1 for rows that it suppressed. starred: bool[n],
    rows that are suppressed in the release, shown or left out. Both are in canonical order. stats:
    those of the method.
    """

    prepared: Prepared
    class_of: npt.NDArray[np.int32]
    starred: npt.NDArray[np.bool_]
    stats: Mapping[str, float]

    @property
    def rows(self) -> int:
        return len(self.class_of)

    @property
    def suppressed(self) -> int:
        return int(self.starred.sum())

    @property
    def unrecovered(self) -> int:
        """Return how many suppressed rows the method itself suppressed."""
        return int((self.starred & (self.class_of < 0)).sum())

    @property
    def classes(self) -> int:
        """Return how many classes have rows that are not suppressed."""
        return len(np.unique(self.class_of[~self.starred]))


def made(source: Source, request: Request, paths: pa.StructArray | None) -> Made:
    """Return the release of the source's rows. Raises AnonError as ``release`` does."""
    prepared = prepare(source, request, paths)
    table = prepared.table
    found = settled(table, prepared.call, prepared.method, request.suppressed)
    released = labelled(prepared, placed(table, found), source, request, paths)
    return Made(prepared, found.classes, released.suppressed[table.order], found.stats)
