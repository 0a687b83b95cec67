"""``anon-sql release --series``: the next release of a series, with its state in a DuckDB file."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import duckdb

import anon_sql
from anon_sql.apps.cli import console
from anon_sql.apps.cli import options as arguments
from anon_sql.apps.cli.console import stoppable
from anon_sql.apps.cli.output import read_source
from anon_sql.apps.cli.progress import Progress, showing
from anon_sql.apps.csv.dialect import Dialect
from anon_sql.core.names import literal
from anon_sql.errors import AnonError

STATE = "anon_series_file.main.anon_series"


def in_series(
    source: Path,
    out: str,
    series: Path,
    method: str,
    parameters: Mapping[str, Any],
    others: Mapping[str, Any],
    written_as: Dialect,
    memory_limit: str | None,
    overwrite: bool,
    progress: Progress,
) -> None:
    """Read a file, and write the next state of a series and its release; say what it holds.

    parameters: those of the method and of series_next. others: options that it cannot have, by
    name. Raises AnonError, and leaves the state as it was, if the release is refused.
    """
    for option, value in others.items():
        if value:
            rule = "a release of a series takes no such option"
            raise AnonError("release", rule, option, "leave it out")
    with anon_sql.connect() as con:
        work = partial(
            _released, con, source, out, series, method, parameters, written_as, memory_limit,
            overwrite,
        )  # fmt: skip
        stoppable(con, showing("release", progress, work))


def _released(
    con: duckdb.DuckDBPyConnection,
    source: Path,
    out: str,
    series: Path,
    method: str,
    parameters: Mapping[str, Any],
    written_as: Dialect,
    memory_limit: str | None,
    overwrite: bool,
) -> None:
    read_source(con, source, "raw", written_as, memory_limit)
    con.execute(f"ATTACH {literal(str(series))} AS anon_series_file")
    given = {name: value for name, value in parameters.items() if value not in (None, [])}
    roles = {name: given.get(name, []) for name in ("qids", "sensitive", "identifiers", "keep")}
    arguments.name_rest(con, roles, given.get("entity"))
    given |= {name: names for name, names in roles.items() if names}
    hierarchy = arguments.read_hierarchy(con, "release", given.pop("hierarchy", None), "hierarchy")
    if hierarchy:
        given["hierarchy"] = hierarchy
    k = given.pop("k", 5)
    if float(given.get("l", 0)).is_integer() and "l" in given:  # elsewhere l may be a fraction
        given["l"] = int(given["l"])
    anon_sql.release(
        con,
        "raw",
        into=out,
        k=k,
        method=method,
        series=STATE,
        overwrite=overwrite,
        **given,
    )
    number, present, former, waiting, share = con.execute(
        "SELECT release, present, former, waiting, largest_waiting_share "
        f"FROM series_status('{STATE}') ORDER BY release DESC LIMIT 1"
    ).fetchall()[0]
    console.say(f"{out}: {method}, k = {k}, release {number} of the series, from {source}")
    console.say(f"{present:,} persons, {former:,} rows of former ones, {waiting:,} persons wait")
    if share > 0.1:
        console.warn(
            f"in a group of like persons {share:.0%} wait, because a value is frequent there; who "
            "has it is likelier to be guessed; see anon-sql help releasing-again"
        )
