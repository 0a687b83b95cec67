"""``anon-sql release IN OUT``: read one table, bind its roles, release, judge, write and tell."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import typer

from anon_sql.apps import files, manifest
from anon_sql.apps.cli import console
from anon_sql.apps.cli import options as arguments
from anon_sql.apps.cli.earlier import (
    check_earlier,
    enter,
    open_ledger,
    read_earlier,
    read_like,
    require_apart,
)
from anon_sql.apps.cli.options import ReleaseCall
from anon_sql.apps.cli.output import (
    Entering,
    ReleasedRelation,
    ReleaseOutput,
    ReleaseRequest,
    describe,
    in_table,
    read_source,
    say_manifest,
    split,
    warning_of_blanks,
)
from anon_sql.apps.cli.people import require_people
from anon_sql.apps.cli.progress import on_database
from anon_sql.apps.cli.spelling import command_line
from anon_sql.apps.cli.standard_input import is_input, shown
from anon_sql.apps.cli.suggestions import (
    by_role,
    entity_of,
    reading,
    reading_options,
    show,
    suggestions,
)
from anon_sql.core.common_parameters import UNIT
from anon_sql.core.roles import PARAMETER, REST, fold, has_tag
from anon_sql.errors import Words
from anon_sql.hosts.call import relation_call
from anon_sql.hosts.duckdb.roles import comments_on
from anon_sql.hosts.files import means_folder
from anon_sql.hosts.kept import columns_besides, unique_on_kept
from anon_sql.hosts.parts.release import PartsOptions

NO_ROLES = 2  # exit code


class Judged(NamedTuple):
    """What is measured of a release; unique: a warning of rows that kept columns single out."""

    measures: Mapping[str, Any]
    unique: str | None


def release(call: ReleaseCall) -> None:
    """Release one table, and tell what was made."""
    output, request = prepared(call)
    before, entity = call.earlier, call.parameters.get("entity")

    def work(con: duckdb.DuckDBPyConnection) -> None:
        noticed = read_rows(con, call)
        bound = bind(con, call, request)
        again: list[str] = []
        entering = None
        if before.ledger and entity:
            again = open_ledger(con, before.ledger, entity, before.ledger_key)
            entering = Entering(partial(enter, con, output.target.name, before.ledger_key))
        previous = before.previous
        earlier = read_earlier(con, "release", previous, bound.roles) if previous else {}
        with in_table(con, bound, output.target) as released:
            judged = judge(con, call, bound, released)
            share = before.previous_share
            together = require_apart(con, [*earlier], share, bound.call) if earlier else []
            described = partial(describe, con, bound, earlier=earlier)
            made = output.write(con, released, described, entering)
            tell(call, bound, judged.measures)
            for row in together:
                row.show()
            warn(con, call, bound, noticed, judged.unique, again)
            tell_next(call, output, made, alone=not output.in_files)

    on_database("release", call.progress, work)


def prepared(call: ReleaseCall) -> tuple[ReleaseOutput, ReleaseRequest]:
    """Return what is to be written, and what is asked, before any row is read.

    Raises AnonError for files that cannot be read or must not be written, and for options that do
    not fit together.
    """
    parameters, large = call.parameters, call.large
    output = ReleaseOutput(Path(call.out), means_folder(call.out), call.with_manifest)
    output.prepare(call.source, parameters.get("format"), call.overwrite)
    roles = {name: parameters.get(name, []) for name in manifest.ROLES}
    like = parameters.get("like")
    declared = files.in_database(call.source) is not None  # its comments may declare roles
    if call.has_earlier:
        check_earlier(call, roles["sensitive"] or [REST] * declared)
    named = {"like": like.name} if like else {}
    required, options = split(call.method, {**parameters, **named})
    stated = call.statement.of_release() | {
        manifest.UNIQUE: call.protection.unique_share,
        UNIT: str(call.protection.unit),
        manifest.LIMIT: call.earlier.previous_share,
        "options": options,
    }
    in_parts = PartsOptions(large.parts, large.part_rows, large.resume, output.in_files)
    return output, ReleaseRequest(fold(call.method), required, options, roles, {}, stated, in_parts)


def read_rows(con: duckdb.DuckDBPyConnection, call: ReleaseCall) -> dict[str, Words]:
    """Make ``raw`` from IN, and return what was noticed in its columns.

    Without any role, print the suggested ones and the call with them. Raises typer.Exit then.
    """
    source, written_as = call.source, call.written_as
    noticed = read_source(con, source, "raw", written_as, call.large.memory_limit)
    arguments.note_file(source, noticed)
    declared = any(map(has_tag, comments_on(con, "raw").values()))
    if not declared and not any(call.parameters.get(name) for name in manifest.ROLES):
        _suggest(con, call)
        raise typer.Exit(NO_ROLES)
    return noticed


def _suggest(con: duckdb.DuckDBPyConnection, call: ReleaseCall) -> None:
    """Print the suggested roles of ``raw``, and the call with them as its last line.

    The call also reads numbers, dates and missing values as such, as the roles were suggested.
    """
    proposed, _ = reading(con, call.source, call.written_as, again=True)
    suggested = suggestions(con, "release")
    show(suggested)
    columns, entity = by_role(suggested), entity_of(suggested)
    if not columns["quasi"]:
        console.note(
            "release: no column has a role, and none is suggested as a quasi-identifier; nothing "
            "was written. Name quasi-identifiers in --quasi"
        )
        return
    added = {PARAMETER[role]: names for role, names in columns.items() if names}
    if entity is not None and "entity" not in call.parameters:
        added["entity"] = [entity]
    read_as = reading_options(proposed, call.written_as)
    if read_as:
        console.say("The command also says how the file writes numbers, dates and missing values.")
    console.say(command_line(call.context, added, read_as))
    console.note(
        "release: no column has a role; nothing was written. Check the suggested roles, then run "
        "the command above"
    )


def _check(con: duckdb.DuckDBPyConnection, request: ReleaseRequest) -> None:
    """Raise AnonError for the first fault of a call, as every host does, before roles are named."""
    values = {**request.required, **request.options}
    others = {name: value for name, value in values.items() if name not in ("k", "like")}
    named = {role: names or None for role, names in request.roles.items()}
    relation_call(con, "raw", request.method, values["k"], {**others, **named})


def bind(
    con: duckdb.DuckDBPyConnection,
    call: ReleaseCall,
    request: ReleaseRequest,
    *,
    in_series: bool = False,
) -> ReleaseRequest:
    """Return what is asked with the columns of each role, and with the relations of other files.

    in_series: whether the release is one of a series, whose state checks the call.
    """
    parameters, roles = call.parameters, dict(request.roles)
    trees = arguments.read_hierarchy(con, "release", parameters.get("hierarchy"), "hierarchy")
    if not in_series:
        _check(con, request)
    arguments.name_roles(con, request.method, roles, parameters.get("entity"), releases=True)
    relations = {"hierarchy": trees}
    if call.has_earlier:
        check_earlier(call, roles["sensitive"])
    if "like" in parameters:
        read_like(con, parameters["like"])
        relations["like"] = "like"
    return replace(request, roles=roles, relations=relations)


def judge(
    con: duckdb.DuckDBPyConnection,
    call: ReleaseCall,
    request: ReleaseRequest,
    released: ReleasedRelation,
    *,
    in_series: bool = False,
) -> Judged:
    """Measure ``released``. Raises AnonError if its classes hold too few people.

    in_series: whether it is a release of a series, whose rows are not those of ``raw``.
    """
    k, roles = request.required["k"], request.roles
    measures = released.measures or arguments.measured(
        con,
        "FROM __anon_utility('utility', 'raw', 'released', ?, ?, ?, ?, __anon_own := ?)",
        [
            *(k, roles["quasi"], request.relations["hierarchy"]),
            *(request.options.get("weights"), in_series),
        ],
    )
    counted = not released.measures
    require_people(con, request.call, call.protection.unit, counted=counted)
    if not counted:
        return Judged(measures, None)
    kept = columns_besides(con, "FROM released", [*roles["quasi"], *roles["sensitive"]])
    share = call.protection.unique_share
    return Judged(measures, unique_on_kept(con, "FROM released", kept, share, k))


def tell(call: ReleaseCall, request: ReleaseRequest, measures: Mapping[str, Any]) -> None:
    """Print what was made, and its measures."""
    console.say(
        f"{call.out}: {request.method}, k = {request.required['k']}, from {shown(call.source)}"
    )
    console.show_measures(measures)


def warn(
    con: duckdb.DuckDBPyConnection,
    call: ReleaseCall,
    request: ReleaseRequest,
    noticed: Mapping[str, Words],
    unique: str | None,
    again: Sequence[str] = (),
) -> None:
    """Warn of what was noticed in quasi-identifiers of a file, and of blanks around texts.

    unique: warning of ``judge``; again: of people who are in earlier releases.
    """
    quasi = {fold(column) for column in request.roles["quasi"]}
    of_columns = [str(text) for column, text in noticed.items() if fold(column) in quasi]
    blanks = warning_of_blanks(con, "pass --trim", call.written_as.trim)
    for warning in filter(None, (*of_columns, unique, blanks, *again)):
        console.warn(warning)


def tell_next(
    call: ReleaseCall, output: ReleaseOutput, made: Mapping[str, Any] | None, *, alone: bool
) -> None:
    """Print where the manifest is, and which command gives a verdict on the release.

    alone: whether ``report`` needs no more than the two files and the roles.
    """
    if made and call.with_manifest:
        say_manifest(output.manifest, made)
    by = "release by a recipe for a verdict: anon-sql help release-by-a-recipe"
    if alone and not is_input(call.source):
        by = f"for a verdict: {shlex.join(['anon-sql', 'report', f'{call.source}', call.out])}"
        by += " -o report.html" + ("" if call.with_manifest else ", with the roles of this call")
    console.note(f"release: {call.out} was not judged; {by}")
