"""``anon-sql release --series``: the next release of a series, with its state in a DuckDB file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb

from anon_sql.apps.cli import console
from anon_sql.apps.cli.earlier import Together
from anon_sql.apps.cli.output import ReleasedRelation
from anon_sql.audit.series import PROPERTIES
from anon_sql.core.names import literal
from anon_sql.errors import AnonError
from anon_sql.hosts.duckdb.errors import as_raised
from anon_sql.hosts.recipes import Recipe
from anon_sql.hosts.series import InSeries
from anon_sql.series.next import KEY

STATE = "anon_series"  # of a series, in its file, and while it is read or made
_FILE = "anon_series_file"


@dataclass(frozen=True)
class SeriesFile:
    """The file with the state of a series, its key, and parameters of series_next."""

    path: Path
    key: str = KEY
    options: Mapping[str, Any] = field(default_factory=dict)

    def load(self, con: duckdb.DuckDBPyConnection, *, made: bool = False) -> None:
        """Make ``STATE`` from the file. made: whether there may be none yet, and it is written."""
        if not made and not self.path.is_file():
            rule = "--series must be the file of a series"
            raise AnonError("verify", rule, f"'{self.path}', which does not exist")
        mode = "" if made else " (READ_ONLY)"
        con.execute(f"ATTACH {literal(str(self.path))} AS {_FILE}{mode}")
        found = con.execute(
            "SELECT 1 FROM duckdb_tables() WHERE (database_name, schema_name, table_name) = "
            f"('{_FILE}', 'main', '{STATE}')"
        ).fetchall()
        if found or not made:
            con.execute(f"CREATE TABLE {STATE} AS FROM {_FILE}.main.{STATE}")

    def release(
        self, con: duckdb.DuckDBPyConnection, method: str, call: Mapping[str, Any]
    ) -> ReleasedRelation:
        """Make ``released`` from ``raw``, and the next ``STATE``, which ``save`` writes.

        call: the parameters of the method by name.
        """
        given = {name: value for name, value in call.items() if name != "k"}
        given |= {**self.options, "key": self.key}
        asked = InSeries("raw", STATE, method, call["k"], given)
        asked.check()
        self.load(con, made=True)
        with as_raised():
            asked.step(con)
            sql, parameters = asked.select
            con.execute(f"CREATE TEMP TABLE released AS {sql}", parameters)
        ((rows,),) = con.execute("SELECT count(*) FROM released").fetchall()
        return ReleasedRelation(rows, ["FROM released"])

    def save(self, con: duckdb.DuckDBPyConnection, made: Mapping[str, Any], released: Path) -> None:
        """Write the next state. Raises AnonError if a check of the series fails.

        made: the manifest. released: the file, not yet in its place: without the state it must
        never be there.
        """
        failed = [
            each["property"]
            for each in made["checks"]
            if each["property"] in PROPERTIES and each["passed"] is False
        ]
        if failed:
            rule = "the release must keep what its series promises"
            hint = f"nothing was written to '{released.parent.name}'; please report this"
            raise AnonError("release", rule, ", ".join(failed), hint)
        con.execute(f"CREATE OR REPLACE TABLE {_FILE}.main.{STATE} AS FROM {STATE}")


def named(state: SeriesFile | None) -> dict[str, str]:
    """Return the parameters of ``audit`` and ``anon_manifest`` that name ``STATE``."""
    return {} if state is None else {"series": STATE, "key": state.key}


def of_recipe(recipe: Recipe) -> SeriesFile | None:
    """Return the state that a recipe names."""
    if not recipe.series:
        return None
    own = dict(recipe.series)
    path, key = recipe.path.parent / own.pop("file"), own.pop("key", KEY)
    return SeriesFile(path, key, own)


def state_of(
    path: Path | None,
    key: str,
    parameters: Mapping[str, Any],
    leavers: str,
    others: Mapping[str, Any],
) -> tuple[Mapping[str, Any], SeriesFile | None]:
    """Return the parameters of the method, without l in a series, and the state that options name.

    Raises AnonError for one of the others, by name, that a release of a series cannot have.
    """
    if path is None:
        return parameters, None
    for option, value in others.items():
        if value:
            rule = "a release of a series takes no such option"
            raise AnonError("release", rule, option, "leave it out")
    own = {"leavers": leavers, "l": parameters.get("l")}
    return {n: v for n, v in parameters.items() if n != "l"}, SeriesFile(path, key, own)


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
