"""Release one region, from its rows to the file of its release."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from anon_sql.core.table_domain import Domain
from anon_sql.errors import AnonError
from anon_sql.hosts.parts.checked_call import Asked
from anon_sql.hosts.parts.finished_regions import FinishedRegions
from anon_sql.hosts.parts.region_rows import RegionRows
from anon_sql.pipeline.release_table import release_table
from anon_sql.routing.regions import Group


@dataclass(frozen=True)
class RegionFiles:
    """What the release of a region needs: the call, the table's domain, the rows of regions.

    regions: the group and the part of each region by number.
    """

    asked: Asked
    domain: Domain
    rows: RegionRows
    finished: FinishedRegions
    regions: Sequence[tuple[Group, int]]

    def release(self, number: int, rows: int) -> int:
        """Write the release of a region of so many rows and return its number of rows.

        The entity is among its columns, for ``whole_check``. Raises AnonError if the release is not
        legal.
        """
        request = self.asked.request
        table = self.rows.read(*self.regions[number])
        if table.num_rows != rows:
            raise AnonError(
                request.function,
                "a region must hold the rows that were counted",
                f"{table.num_rows:,} of {rows:,}",
                "nothing was released; run it again",
            )
        if request.entity is not None:
            request = replace(request, kept=(*request.kept, request.entity))
        request = replace(request, threads=1)
        found = release_table(table, request, self.asked.paths, self.domain, coded=True)
        if found.num_rows != rows and request.suppressed != "drop":
            raise AnonError(
                request.function,
                "every row of a region must be released",
                f"{found.num_rows:,} of {rows:,}",
                "nothing was released; please report this",
            )
        self.finished.write(number, found)
        return int(found.num_rows)
