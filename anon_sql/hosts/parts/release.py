"""Release a table of any size: in one statement where it fits into memory, else in parts."""

import hashlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import duckdb

from anon_sql.core import stopping
from anon_sql.core.table import Domain
from anon_sql.errors import AnonError, Parameter
from anon_sql.hosts import files as parquet_files
from anon_sql.hosts.call import RelationCall
from anon_sql.hosts.parquet import ArrowRows
from anon_sql.hosts.parts.call import PartsCall, in_parts
from anon_sql.hosts.parts.checking import check_together
from anon_sql.hosts.parts.regions import FinishedRegions, RegionFiles, SequentialReader
from anon_sql.hosts.parts.running import Budget, RowsDone, budget, side_by_side
from anon_sql.hosts.parts.spilling import RegionRows, Routing, SpilledRows
from anon_sql.hosts.parts.workspace import Place, Workspace
from anon_sql.pipeline.compute import require_all_parts
from anon_sql.regions import plan
from anon_sql.regions.rows import Regions
from anon_sql.version import VERSION

_EVERY, _ORDERED = "__anon_every", "__anon_ordered"


@dataclass(frozen=True)
class Written:
    """What was written: rows of the table, rows left out, and parts; 1 for one statement.

    Of a series, whose rows are not those of the table: its rows, and none left out.
    """

    rows: int
    suppressed: int
    parts: int


@dataclass(frozen=True)
class ReleasedFiles:
    """A release whose rows lie in files.

    select: the query of its rows in no order. ordered: queries to be run in turn, each once, one
    for each output file: together they give the rows in the order in which they are written.
    arrow: the same as Arrow, empty where a Parquet file of it would hold something else.
    """

    select: str
    ordered: tuple[str, ...]
    written: Written
    arrow: tuple[ArrowRows, ...]


@dataclass(frozen=True)
class PartsOptions:
    """The options of a call for its parts; see ``release``.

    in_files: whether the rows are written to several files.
    """

    parts: int | None = None
    part_rows: int | None = None
    resume: bool = False
    in_files: bool = False

    @property
    def wanted(self) -> bool:
        return self.parts is not None or self.part_rows is not None or self.resume


def one_statement(call: RelationCall, rows: int, options: PartsOptions) -> bool:
    """Return whether a release of so many rows is made in one statement."""
    return rows == 0 or (not options.wanted and call.fits(rows))


@contextmanager
def released_in_parts(
    con: duckdb.DuckDBPyConnection, relation_call: RelationCall, place: Place, options: PartsOptions
) -> Iterator[ReleasedFiles]:
    """Give the release of a table while the files of its rows exist.

    The files are removed at the end, but left for a later call if ``resume`` is set and the work is
    interrupted.
    """
    call = in_parts(con, relation_call)
    call.require_parts()
    workspace = Workspace(place)
    workspace.open(resume=options.resume)
    keep = options.resume
    try:
        with (
            closing(duckdb.connect(config={"threads": call.threads})) as scratch,
            stopping.reaching(scratch.interrupt),
        ):
            scratch.execute("SET memory_limit = ?", [call.memory])
            scratch.execute("SET temp_directory = ?", [str(workspace.temporary)])
            routed = _routed(Routing(con, call), workspace, scratch, options)
            finished, written = _released(call, workspace, scratch, routed)
            con.register(_EVERY, finished.every())
            rows = written.rows - written.suppressed
            files = parquet_files.number_of_files(rows) if options.in_files else 1
            every = finished.ordered(rows)
            ordered = SequentialReader(every, parquet_files.ROWS) if files > 1 else every
            con.register(_ORDERED, ordered)
            select = f"SELECT {_columns(call)} FROM"
            selects = (f"{select} {_ORDERED}",) * files
            arrow = (ordered.only(_names(call)),) * files if _same_in_arrow(call) else ()
            try:
                yield ReleasedFiles(f"{select} {_EVERY}", selects, written, arrow)
            finally:
                con.unregister(_EVERY)
                con.unregister(_ORDERED)
        keep = False
    except AnonError:
        keep = keep and workspace.state() is not None
        raise
    finally:
        workspace.close(keep=keep)


class _Routed(NamedTuple):
    """Rows in files, and the plan of their regions. kept: fingerprint of the kept columns."""

    domain: Domain
    rows: RegionRows
    regions: Regions
    sizes: Budget
    kept: list[int]


def _routed(
    source: Routing, workspace: Workspace, scratch: duckdb.DuckDBPyConnection, options: PartsOptions
) -> _Routed:
    """Route the rows to files, unless an earlier call has, and plan the regions.

    Rows are routed anew if what the earlier call has left is damaged. scratch: a connection of this
    call's own.
    """
    call, state = source.call, workspace.state()
    decided = _digest(call, options)
    if state is not None:
        same = state["call"] == decided
        if same and not SpilledRows.intact(workspace.spill, state["spilled"]):
            state = None
        elif not same or source.source_fingerprint() != state["rows"]:
            raise AnonError(
                "release",
                Parameter("resume")
                + " needs the source and the parameters of the call that was interrupted",
                "a source that differs" if same else "other parameters",
                "leave " + Parameter("resume") + " out to start over",
            )
    domain = source.domain()
    sizes = budget(call, domain.rows, options.parts, options.part_rows)
    if state is not None:
        sizes = replace(sizes, wanted=state["wanted"], most=state["most"])
    tree = source.tree(domain, sizes.wanted)
    stopping.check(call.request.function)
    spilled = SpilledRows(workspace.spill, tree.leaves)
    rows = RegionRows(call.request, spilled)
    if state is None:
        workspace.clear()
        workspace.done.mkdir()
        checksums = source.spill(tree, spilled, domain.rows)

    regions = plan.plan(
        call.request,
        domain,
        tree,
        partial(rows.tallies, scratch, domain),
        wanted=sizes.wanted,
        most=sizes.most,
        paths=call.paths,
    )
    if state is None:
        settings = {"rows": source.fingerprint.numbers, "wanted": sizes.wanted, "most": sizes.most}
        state = {"call": decided, **settings, "spilled": checksums, "kept": source.kept.numbers}
        workspace.remember(state)
    return _Routed(domain, rows, regions, sizes, state["kept"])


def _released(
    call: PartsCall,
    workspace: Workspace,
    scratch: duckdb.DuckDBPyConnection,
    routed: _Routed,
) -> tuple[FinishedRegions, Written]:
    """Release every region that is not finished, and check all of them together."""
    domain, spilled, regions, sizes, kept = routed
    request, rows = call.request, domain.rows
    sized = {number: size for number, size in enumerate(regions.rows) if size}
    planned = sum(sized.values())
    if planned != rows:
        rule, hint = "every row must be in a part", "nothing was released; please report this"
        raise AnonError(request.function, rule, f"{planned:,} of {rows:,}", hint)
    slices = FinishedRegions.slices_of(rows, sizes.wanted)
    finished = FinishedRegions(call, workspace.done, slices, tuple(sized), workspace.run)
    there = {number: finished.rows(number) for number in sized}
    left = {number: size for number, size in sized.items() if there[number] is None}
    released = sum(count or 0 for count in there.values())
    places = [(group, part) for group in regions.groups for part in range(group.parts)]
    files = RegionFiles(call, domain, spilled, finished, places)
    with RowsDone(request.function, "released", sum(left.values()), len(left)) as done:
        released += side_by_side(request.function, files.release, left, sizes.threads, done)
    check_together(scratch, call, domain, finished, released, kept)
    require_all_parts(request, rows, released)
    if released != rows and request.suppressed != "drop":
        got = f"{released:,} of {rows:,}"
        raise AnonError(request.function, "every row must be released", got)
    return finished, Written(rows, rows - released, sum(size > 0 for size in regions.rows))


def _columns(call: PartsCall) -> str:
    """Return the columns of a release, in the order of the table, as a SQL list."""
    return ", ".join(call.types.released(call.request, name) for name in _names(call))


def _names(call: PartsCall) -> list[str]:
    released = {*call.request.quasi, *call.request.kept}
    return [name for name in call.types.raw if name in released]


def _same_in_arrow(call: PartsCall) -> bool:
    """Return whether a Parquet file of Arrow holds what that of the query holds."""
    return all(call.types.as_it_is(call.request, name) for name in _names(call))


def _digest(call: PartsCall, options: PartsOptions) -> str:
    """Return a hash of everything that decides a release, but the rows."""
    paths = None if call.paths is None else call.paths.to_pylist()
    request = replace(call.request, threads=1)
    decided = (
        VERSION,
        duckdb.__version__,
        call.relation,
        request,
        call.types,
        paths,
        options.parts,
    )
    return hashlib.sha256(repr((*decided, options.part_rows)).encode()).hexdigest()
