"""The state of a series in a DuckDB file, which is written with the release that it is of.

A file system cannot change two files at once. So the state is written before the release gets its
name, together with the state before and with what is being written, the manifest too; once all have
their names, both are removed. Whatever stops in between is finished or undone by the next call: a
release that somebody may have is never forgotten.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex
from typing import Any

import duckdb

from anon_sql.audit.series import PROPERTIES
from anon_sql.core.names import literal
from anon_sql.core.pseudonyms import KEY
from anon_sql.errors import AnonError
from anon_sql.hosts.duckdb.errors import as_raised
from anon_sql.hosts.duckdb.macros import transaction
from anon_sql.hosts.files import digest, remove_temporary
from anon_sql.hosts.recipes import Recipe
from anon_sql.hosts.series import InSeries

STATE = "temp.anon_series"  # of a series, while it is read or made
_STATE, _BEFORE, _WRITING = "anon_series", "anon_series_before", "anon_series_writing"
_RULE = "the state of a series must be the DuckDB file that holds it"
_NONE = "SELECT NULL::BIGINT AS cohort, NULL::VARCHAR AS person, NULL::VARCHAR AS tuple WHERE false"


@dataclass(frozen=True)
class SeriesFile:
    """The file with the state of a series, its key, and parameters of series_next."""

    path: Path
    key: str = KEY
    options: Mapping[str, Any] = field(default_factory=dict)
    _name: str = field(default_factory=lambda: f"anon_series_{token_hex(4)}", repr=False)

    def load(
        self, con: duckdb.DuckDBPyConnection, function: str, *, may_create: bool = False
    ) -> None:
        """Make ``STATE`` from the file. may_create: write the file if there is none yet."""
        if not may_create and not self.path.is_file():
            raise AnonError(function, _RULE, f"'{self.path}', which does not exist")
        mode = "" if may_create else " (READ_ONLY)"
        self._attach(con, function, mode)
        tables = _tables(con, self._name)
        if not may_create and _STATE not in tables:
            raise AnonError(function, _RULE, f"'{self.path}', which has no table {_STATE}")
        if _STATE in tables:
            con.execute(f"CREATE TEMP TABLE {_STATE} AS FROM {self._name}.main.{_STATE}")

    def _attach(self, con: duckdb.DuckDBPyConnection, function: str, mode: str = "") -> None:
        try:
            con.execute(f"ATTACH {literal(str(self.path))} AS {self._name}{mode}")
        except duckdb.Error as error:
            got = f"'{self.path}', which cannot be opened"
            in_use = any(word in str(error).lower() for word in ("lock", "already attached"))
            hint = "close or detach what else has it open" if in_use else None
            raise AnonError(function, _RULE, got, hint) from None

    def detach(self, con: duckdb.DuckDBPyConnection) -> None:
        """Close the file."""
        con.execute(f"DETACH DATABASE IF EXISTS {self._name}")

    def release(self, con: duckdb.DuckDBPyConnection, method: str, call: Mapping[str, Any]) -> int:
        """Make ``released`` from ``raw``, and the next ``STATE``; return the number of rows.

        call: the parameters of the method by name.
        """
        options = {name: value for name, value in call.items() if name != "k"}
        options |= {**self.options, "key": self.key}
        in_series = InSeries("raw", STATE, method, call["k"], options)
        in_series.check()
        self.load(con, "release", may_create=True)
        with as_raised():
            in_series.step(con)
            sql, parameters = in_series.select
            con.execute(f"CREATE TEMP TABLE released AS {sql}", parameters)
        ((rows,),) = con.execute("SELECT count(*) FROM released").fetchall()
        return int(rows)

    def save(self, con: duckdb.DuckDBPyConnection) -> None:
        """Write the next state."""
        con.execute(f"CREATE OR REPLACE TABLE {self._name}.main.{_STATE} AS FROM {STATE}")

    def save_with(
        self, con: duckdb.DuckDBPyConnection, unnamed: Sequence[tuple[Path, Path]]
    ) -> None:
        """Write the next state, the one before, and which file is about to get which name.

        unnamed: the release, and then its manifest, if any.
        """
        home = f"{self._name}.main"
        before = f"FROM {home}.{_STATE}" if _STATE in _tables(con, self._name) else _NONE
        with transaction(con):
            con.execute(f"CREATE OR REPLACE TABLE {home}.{_BEFORE} AS {before}")
            con.execute(
                f"CREATE OR REPLACE TABLE {home}.{_WRITING} "
                "(temporary VARCHAR, target VARCHAR, sha256 VARCHAR)"
            )
            for temporary, target in unnamed:
                paths = [str(temporary), str(target.resolve()), digest(temporary)]
                con.execute(f"INSERT INTO {home}.{_WRITING} VALUES (?, ?, ?)", paths)
            self.save(con)

    @contextmanager
    def finished(self, con: duckdb.DuckDBPyConnection) -> Iterator[None]:
        """Undo the next state if an error keeps the release from its name, else confirm it."""
        try:
            yield
        except BaseException:
            if _WRITING in _tables(con, self._name):
                _settle(con, self._name, undo=not _writing(con, self._name)[0].named)
            raise
        _settle(con, self._name, undo=False)

    def recover(self) -> str | None:
        """Finish or undo what a killed process has left of a release; say what was done, if any.

        To be called before the temporary file of that release is removed; it is removed here.
        """
        if not self.path.is_file():
            return None
        with duckdb.connect() as con:
            self._attach(con, "release")
            if _WRITING not in _tables(con, self._name):
                return None
            released, *manifests = _writing(con, self._name)
            named = released.named
            undo = not named and released.unnamed
            if named:
                for manifest in manifests:
                    manifest.finish()
            _settle(con, self._name, undo=undo)
        for written in (released, *manifests):
            remove_temporary(written.target)
        if named:
            return None
        if undo:
            return (
                f"the last release of the series did not become '{released.target}', and is undone"
            )
        return (
            f"the last release of the series was stopped, and '{released.target}' is not there; it "
            "counts as made, because somebody may have it"
        )


def naming(state: SeriesFile | None) -> dict[str, str]:
    """Return the parameters of ``audit`` and ``anon_manifest`` that name ``STATE``, if any."""
    return {} if state is None else {"series": STATE, "key": state.key}


def _tables(con: duckdb.DuckDBPyConnection, home: str) -> set[str]:
    rows = con.execute(
        "SELECT table_name FROM duckdb_tables() WHERE database_name = ? AND schema_name = 'main'",
        [home],
    )
    return {name for (name,) in rows.fetchall()}


@dataclass(frozen=True)
class _PendingFile:
    """A temporary file, the name that it is to get, and its hash."""

    temporary: Path
    target: Path
    sha256: str

    @property
    def named(self) -> bool:
        return self.target.is_file() and digest(self.target) == self.sha256

    @property
    def unnamed(self) -> bool:
        return self.temporary.is_file() and digest(self.temporary) == self.sha256

    def finish(self) -> None:
        """Give the file its name, if it is there and has none."""
        if self.unnamed:
            self.temporary.replace(self.target)


def _writing(con: duckdb.DuckDBPyConnection, home: str) -> list[_PendingFile]:
    """Return the files of a release: itself, and then its manifest, if any."""
    rows = con.execute(
        f"SELECT temporary, target, sha256 FROM {home}.main.{_WRITING} ORDER BY rowid"
    ).fetchall()
    return [
        _PendingFile(Path(temporary), Path(target), sha256) for temporary, target, sha256 in rows
    ]


def _settle(con: duckdb.DuckDBPyConnection, home: str, *, undo: bool) -> None:
    """Remove what is kept while a release is written; undo: after putting the state before back."""
    with transaction(con):
        if undo:
            con.execute(
                f"CREATE OR REPLACE TABLE {home}.main.{_STATE} AS FROM {home}.main.{_BEFORE}"
            )
        con.execute(f"DROP TABLE IF EXISTS {home}.main.{_BEFORE}")
        con.execute(f"DROP TABLE IF EXISTS {home}.main.{_WRITING}")


def require_kept(function: str, checks: Sequence[Mapping[str, Any]], into: str) -> None:
    """Raise AnonError if a check of the series fails. checks: rows of ``audit``."""
    failed = [
        check["property"]
        for check in checks
        if check["property"] in PROPERTIES and check["passed"] is False
    ]
    if failed:
        rule = "the release must keep what its series promises"
        hint = f"nothing was written to '{into}'; please report this"
        raise AnonError(function, rule, ", ".join(failed), hint)


def of_recipe(recipe: Recipe) -> SeriesFile | None:
    """Return the state that a recipe names."""
    if not recipe.series:
        return None
    options = dict(recipe.series)
    path, key = recipe.path.parent / options.pop("file"), options.pop("key", KEY)
    return SeriesFile(path, key, options)
