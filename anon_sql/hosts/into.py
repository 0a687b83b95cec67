"""Release a relation into a table, a file or a folder: ``anon_sql.release``."""

from typing import Any

import duckdb

from anon_sql.core import stopping
from anon_sql.core.names import literal
from anon_sql.errors import PYTHON, AnonError, Parameter, SpelledAs
from anon_sql.hosts.arrow.named import released_by_name
from anon_sql.hosts.call import relation_call
from anon_sql.hosts.duckdb.interrupting import owner_of
from anon_sql.hosts.duckdb.register import register
from anon_sql.hosts.kept import MEASURED, kept_of, unique_on_kept, warn
from anon_sql.hosts.parts.release import PartsOptions, Written, one_statement, released_in_parts
from anon_sql.hosts.parts.running import limited
from anon_sql.hosts.parts.workspace import Target
from anon_sql.hosts.series import InSeries, release_in_series
from anon_sql.measures.uniqueness import UNIQUE_SHARE


@SpelledAs(PYTHON)
def release(
    con: duckdb.DuckDBPyConnection,
    tbl: str,
    *,
    into: str,
    k: int = 5,
    method: str = "anonymize",
    memory_limit: str | None = None,
    parts: int | None = None,
    part_rows: int | None = None,
    resume: bool = False,
    overwrite: bool = False,
    series: str | None = None,
    **parameters: Any,
) -> Written:
    """Write the release of a relation to a table, to a .parquet or .csv file, or to a folder.

    into: a path that ends in '/', or that has one and is a folder, is a folder of Parquet files of
    a million rows each; the order of their names is that of the rows. method: a release function;
    parameters: those of that function. The release is made in parts if it does not fit into
    memory, or if ``parts``, ``part_rows`` or ``resume`` is given. memory_limit: as DuckDB's
    setting, for this call. parts: number of parts; part_rows: rows of a region. resume: go on
    from what an interrupted call has finished, and let Ctrl-C leave what is finished in a private
    folder beside the target. overwrite: replace the target, a folder only if it holds nothing but a
    release. series: a table with the state of a series, made where there is none; the next state
    and the release are written in one transaction, the caller's if one is open, and ``parameters``
    are those of series_next, too. Raises AnonError, and writes nothing, if the release is refused.
    """
    register(con)
    target = Target(con, into, overwrite)
    target.require_new()
    options = PartsOptions(parts, part_rows, resume, in_files=target.folder)
    with stopping.call(*owner_of(con), encloses=True), limited(con, memory_limit):
        rows = con.execute(f"SELECT count(*) FROM query_table({literal(tbl)})").fetchall()[0][0]
        if series is not None:
            _require_whole(options, target)
            count = release_in_series(con, InSeries(tbl, series, method, k, parameters), target)
            return Written(count, 0, 1)
        call = relation_call(con, tbl, method, k, parameters)
        if one_statement(call, rows, options):
            names = {"k": k, **parameters}
            with released_by_name(con, call, names, warns=True) as select:
                count = target.write(select, {})
            return Written(rows, rows - count, 1)
        with released_in_parts(con, call, target.place(), options) as released:
            written = released.written
            arrow_files = released.arrow if target.is_parquet else ()
            target.write_each(arrow_files or released.ordered, written.rows - written.suppressed)
            if written.rows <= MEASURED:
                kept = kept_of(call.request)
                warn(method, unique_on_kept(con, released.select, kept, UNIQUE_SHARE, k))
    return written


def _require_whole(options: PartsOptions, target: Target) -> None:
    """Raise AnonError for a release of a series that is to be made in parts."""
    if options.wanted or target.folder:
        raise AnonError(
            "release",
            Parameter("series") + " must come without parts and folders",
            "a folder" if target.folder else "parts",
            "the persons of a cohort may lie in several parts",
        )
