"""``anon-sql release --series``: release one table as the next release of a series."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import duckdb

from anon_sql.apps.cli import console, one_table
from anon_sql.apps.cli.options import ReleaseCall, changed, refuse
from anon_sql.apps.cli.output import Entering, ReleasedRelation, ReleaseRequest, describe
from anon_sql.apps.cli.progress import on_database
from anon_sql.hosts.files import means_folder
from anon_sql.hosts.series_file import STATE, SeriesFile, require_kept


def release(call: ReleaseCall) -> None:
    """Release one table as the next release of a series, and tell what was made."""
    refuse(
        "a release of a series takes no such option",
        [
            *changed(call.earlier),
            *(["--key"] if "key" in call.parameters else []),
            *(option for option in changed(call.large) if option != "--memory-limit"),
            *(["a folder"] if means_folder(call.out) else []),
        ],
    )
    options_of_series = call.series
    assert options_of_series.series is not None
    options = {"leavers": options_of_series.leavers, "l": call.parameters.get("l")}
    state = SeriesFile(options_of_series.series, options_of_series.series_key, options)
    recover(state)
    call = replace(call, parameters={n: v for n, v in call.parameters.items() if n != "l"})
    output, request = one_table.prepared(call)

    def work(con: duckdb.DuckDBPyConnection) -> None:
        noticed = one_table.read_rows(con, call)
        bound = one_table.bind(con, call, request, in_series=True)
        released = released_in(con, state, bound)
        judged = one_table.judge(con, call, bound, released, in_series=True)
        by = entering(con, state)
        made = output.write(con, released, partial(describe, con, bound, state), by)
        one_table.tell(call, bound, {n: v for n, v in judged.measures.items() if n != "rows"})
        say_series(con)
        one_table.warn(con, call, bound, noticed, judged.unique)
        one_table.tell_next(call, output, made, alone=False)

    on_database("release", call.progress, work)


def say_series(con: duckdb.DuckDBPyConnection) -> None:
    """Print what the last release of a series is about."""
    number, present, former, waiting, share = con.execute(
        "SELECT release, present, former, waiting, largest_waiting_share "
        f"FROM series_status('{STATE}') ORDER BY release DESC LIMIT 1"
    ).fetchall()[0]
    console.say(
        f"release {number} of the series: {present:,} persons, {former:,} rows of former ones, "
        f"{waiting:,} persons wait"
    )
    if share > 0.1:
        console.warn(
            f"in a group of like persons {share:.0%} wait, because a value is frequent there; who "
            "has it is likelier to be guessed; see anon-sql help releasing-again"
        )


def recover(state: SeriesFile | None) -> None:
    """Settle what a killed command has left of the last release of a series."""
    notice = None if state is None else state.recover()
    if notice is not None:
        console.warn(notice)


def released_in(
    con: duckdb.DuckDBPyConnection, state: SeriesFile, request: ReleaseRequest
) -> ReleasedRelation:
    """Make ``released`` from ``raw``, and the next state."""
    return ReleasedRelation(state.release(con, request.method, request.call), ["FROM released"])


def entering(con: duckdb.DuckDBPyConnection, state: SeriesFile) -> Entering:
    """Return how the state is written with the release, a file, and its manifest."""

    def enter(made: Mapping[str, Any], unnamed: Sequence[tuple[Path, Path]]) -> None:
        require_kept("release", made["checks"], unnamed[0][1].name)
        state.save_with(con, unnamed)

    return Entering(enter, state.finished(con))
