"""Check the releases of all regions together, as one release.

Classes whose labels occur in one region were checked with the region. The union of legal classes is
legal, but for t and for entropy and recursive l of people, who may have rows in several regions;
so classes that lie in several regions are counted again.
"""

import duckdb

from anon_sql.core.table import Domain
from anon_sql.errors import AnonError
from anon_sql.hosts.parts.call import PartsCall
from anon_sql.hosts.parts.regions import KEPT, LABELS, REGION_FILE, FinishedRegions
from anon_sql.hosts.parts.spilling import Fingerprint
from anon_sql.regions.counts import MAX_CELLS, Limits, counted_regions
from anon_sql.regions.sql import REGION, count_select

_CLASSES, _EVERY, _ROUTED = "__anon_classes", "__anon_every", "__anon_routed"


def check_together(
    con: duckdb.DuckDBPyConnection,
    call: PartsCall,
    domain: Domain,
    finished: FinishedRegions,
    released: int,
    kept: list[int],
) -> None:
    """Raise AnonError unless the released rows of all regions are those of the table, and legal.

    con: a connection of this call's own. released: number of released rows. kept: the fingerprint
    of the kept columns of the table, which rows that were left out are missing from.
    """
    request = call.request
    damaged = sum(finished.rows(number) is None for number in finished.numbers)
    if damaged:
        got = f"{damaged} that {'is' if damaged == 1 else 'are'} not"
        raise _failed(call, "be as they were written", got, "run it again")
    con.register(_CLASSES, finished.every_class())
    (smallest,) = con.execute(
        f"SELECT min(n) FROM (SELECT count(*) AS n FROM {_CLASSES} GROUP BY {LABELS})"
    ).fetchall()[0]
    fingerprint = f"SELECT {Fingerprint.sql_columns(KEPT)} FROM {_CLASSES}"
    rows, *sums = con.execute(fingerprint).fetchall()[0]
    if rows != released:
        got = f"{rows:,} of {released:,}"
        raise _failed(call, "hold every row that was released", got, "run it again")
    if rows == kept[0] and [rows, *sums] != kept:
        rule = "have the kept values of the rows of the table"
        raise _failed(call, rule, "other rows", "please report this")
    if smallest is not None and smallest < request.k:
        raise _failed(call, f"have at least {request.k} rows in every class", "a smaller one")
    if request.protected or request.entity is not None:
        con.register(_EVERY, finished.every())
        _check_spanning(con, call, domain)
        con.unregister(_EVERY)
    con.unregister(_CLASSES)


def _check_spanning(con: duckdb.DuckDBPyConnection, call: PartsCall, domain: Domain) -> None:
    """Check the classes that lie in several regions."""
    request, limits = call.request, Limits(call.request, domain, call.paths)
    con.execute(
        f"CREATE OR REPLACE TABLE spanning AS SELECT {LABELS}, row_number() OVER () - 1 AS region "
        f"FROM {_CLASSES} GROUP BY {LABELS} HAVING count(DISTINCT {REGION_FILE}) > 1"
    )
    (many,) = con.execute("SELECT count(*) FROM spanning").fetchall()[0]
    widest = max([1, *(len(table_values.keys) + 1 for table_values in domain.sensitive.values())])
    step = max(1, MAX_CELLS // widest)
    for first in range(0, many, step):
        end = min(first + step, many)
        con.execute(
            f"CREATE OR REPLACE VIEW {_ROUTED} AS SELECT s.region - {first} AS {REGION}, r.* "
            f"FROM spanning AS s JOIN {_EVERY} AS r USING ({LABELS}) "
            f"WHERE s.region BETWEEN {first} AND {end - 1}"
        )
        tallies = counted_regions(
            request,
            domain,
            end - first,
            lambda name: con.sql(count_select(request, "duckdb", _ROUTED, name)).to_arrow_table(),
        )
        illegal = sum(limits.shortfall(tally) > 0 for tally in tallies)
        if illegal:
            rule = f"{limits.requirement} in every class"
            raise _failed(call, rule, f"{illegal} that {'does' if illegal == 1 else 'do'} not")


def _failed(
    call: PartsCall, rule: str, got: str, hint: str = "release it in fewer parts"
) -> AnonError:
    return AnonError(
        call.request.function,
        f"the parts together must {rule}",
        got,
        f"nothing was released; {hint}",
    )
