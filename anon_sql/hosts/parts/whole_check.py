"""Check the releases of all regions together, as one release.

Classes whose labels occur in one region were checked with the region. The union of legal classes is
legal, but for t and for entropy and recursive l of persons, who may have rows in several regions;
so classes that lie in several regions are counted again.
"""

from pathlib import Path

import duckdb
import pyarrow as pa

from anon_sql.core.names import quote
from anon_sql.core.table_domain import Domain
from anon_sql.errors import AnonError
from anon_sql.hosts.parts.checked_call import Asked
from anon_sql.hosts.parts.spilling import every_file
from anon_sql.routing.region_counts import CELLS, Limits, counted_regions

_CLASS, _FILE = "__anon_class", "__anon_file"


def label_hash(asked: Asked) -> str:
    """Return the hash of the labels of a row, as SQL."""
    cast = "::VARCHAR" if asked.request.typed else ""
    return f"system.main.hash({', '.join(quote(n) + cast for n in asked.request.quasi)})"


def check_whole(
    con: duckdb.DuckDBPyConnection, asked: Asked, domain: Domain, folder: Path, released: int
) -> None:
    """Raise AnonError unless the released rows of all regions are legal together.

    folder: of the files of all regions; released: their number of rows.
    """
    request, files = asked.request, every_file(folder)
    group = f"SELECT {label_hash(asked)} AS {_CLASS}, count(*) AS n"
    smallest, rows = con.execute(
        f"SELECT min(n), coalesce(sum(n), 0) FROM ({group} FROM {files} GROUP BY {_CLASS})"
    ).fetchall()[0]
    if rows != released:
        raise _failed(asked, "hold every row that was released", f"{rows:,} of {released:,}")
    if smallest is not None and smallest < request.k:
        raise _failed(asked, f"have at least {request.k} rows in every class", "a smaller one")
    if request.protected or request.entity is not None:
        _check_spanning(con, asked, domain, folder)


def _check_spanning(
    con: duckdb.DuckDBPyConnection, asked: Asked, domain: Domain, folder: Path
) -> None:
    """Check the classes that lie in several regions."""
    request, limits = asked.request, Limits(asked.request, domain, asked.paths)
    files = every_file(folder)
    con.execute(
        f"CREATE OR REPLACE TABLE spanning AS SELECT {_CLASS}, row_number() OVER () - 1 AS region "
        f"FROM (SELECT {label_hash(asked)} AS {_CLASS}, {_FILE} FROM {every_file(folder, _FILE)}) "
        f"GROUP BY {_CLASS} HAVING count(DISTINCT {_FILE}) > 1"
    )
    (many,) = con.execute("SELECT count(*) FROM spanning").fetchall()[0]
    widest = max([1, *(len(held.keys) + 1 for held in domain.sensitive.values())])
    step = max(1, CELLS // widest)
    for first in range(0, many, step):
        end = min(first + step, many)
        joined = (
            f"(SELECT region - {first} AS region, r.* FROM spanning JOIN "
            f"(SELECT {label_hash(asked)} AS {_CLASS}, * FROM {files}) AS r USING ({_CLASS}) "
            f"WHERE region BETWEEN {first} AND {end - 1})"
        )
        rows = _counts(con, asked, joined, None)
        held = {name: _counts(con, asked, joined, name) for name in request.protected}
        tallies = counted_regions(request, domain, end - first, rows, held)
        illegal = sum(limits.shortfall(tally) > 0 for tally in tallies)
        if illegal:
            rule = f"{limits.constraint.promise} in every class"
            raise _failed(asked, rule, f"{illegal} that {'does' if illegal == 1 else 'do'} not")


def _counts(
    con: duckdb.DuckDBPyConnection, asked: Asked, joined: str, name: str | None
) -> pa.Table:
    """Return the counts of classes, in the form of ``region_sql.count_select``."""
    entity, counted = asked.request.entity, "count(*)"
    if entity is not None:
        person = quote(entity)
        counted = f"count(DISTINCT {person}) + max(({person} IS NULL)::INTEGER)"
    if name is None:
        select = f"region, count(*) AS rows, {counted} AS persons FROM {joined} GROUP BY region"
    else:
        value = quote(name)
        select = (
            f"region, {value} AS value, {counted} AS count FROM {joined} GROUP BY region, {value}"
        )
    return con.sql(f"SELECT {select}").to_arrow_table()


def _failed(asked: Asked, rule: str, got: str) -> AnonError:
    return AnonError(
        asked.request.function,
        f"the regions together must {rule}",
        got,
        "nothing was released; release it in fewer regions",
    )
