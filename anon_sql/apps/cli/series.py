"""``anon-sql release --series``: the options of a release of a series, and what is said of it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb

from anon_sql.apps.cli import console
from anon_sql.apps.cli.earlier import Together
from anon_sql.apps.cli.output import Entering, ReleasedRelation
from anon_sql.core.pseudonyms import KEY
from anon_sql.errors import AnonError
from anon_sql.hosts.series_file import STATE, SeriesFile, require_kept


def state_of(
    path: Path | None,
    key: str,
    parameters: Mapping[str, Any],
    leavers: str,
    others: Mapping[str, Any],
) -> tuple[Mapping[str, Any], SeriesFile | None]:
    """Return the parameters of the method, without l in a series, and the state that options name.

    What a killed command has left of it is settled. Raises AnonError for one of the others, by
    name, that a release of a series cannot have.
    """
    if path is None:
        if (key, leavers) != (KEY, "keep"):
            got = "--series-key" if key != KEY else "--leavers"
            raise AnonError("release", f"{got} must come with --series", "none")
        return parameters, None
    for option, value in others.items():
        if value:
            rule = "a release of a series takes no such option"
            raise AnonError("release", rule, option, "leave it out")
    state = SeriesFile(path, key, {"leavers": leavers, "l": parameters.get("l")})
    recover(state)
    return {n: v for n, v in parameters.items() if n != "l"}, state


def say_series(
    con: duckdb.DuckDBPyConnection, state: SeriesFile | None, together: Sequence[Together] = ()
) -> None:
    """Print what releases disclose together: a series, if it is one, and what attacks find."""
    for row in together:
        row.show()
    if state is None:
        return
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
    said = None if state is None else state.recover()
    if said is not None:
        console.warn(said)


def released_in(
    con: duckdb.DuckDBPyConnection, state: SeriesFile, method: str, call: Mapping[str, Any]
) -> ReleasedRelation:
    """Make ``released`` from ``raw`` by a method, and the next state."""
    return ReleasedRelation(state.release(con, method, call), ["FROM released"])


def entering(con: duckdb.DuckDBPyConnection, state: SeriesFile) -> Entering:
    """Return how the state is written with the release, a file, and its manifest."""

    def enter(made: Mapping[str, Any], unnamed: Sequence[tuple[Path, Path]]) -> None:
        require_kept("release", made["checks"], unnamed[0][1].name)
        state.save_with(con, unnamed)

    return Entering(enter, state.finished(con))
