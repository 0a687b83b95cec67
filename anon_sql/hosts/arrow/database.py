"""Open the private databases in which frames are hashed, cast and measured."""

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any

import duckdb

from anon_sql import system
from anon_sql.core.forks import ForkLock, leave
from anon_sql.core.parameters import Whole
from anon_sql.errors import AnonError, Argument, Parameter
from anon_sql.hosts.duckdb.register import register

Connection = duckdb.DuckDBPyConnection
_lock = ForkLock()
_open: dict[tuple[int, str | None], Connection] = {}
_registered: set[tuple[int, str | None]] = set()  # those with the functions of the package


@dataclass(frozen=True)
class Settings:
    """The settings of one call.

    threads: number of them. time_zone: of timestamps that are written without one. memory_limit: as
    DuckDB's setting, None for its default. connection: of the user, None if none was given.
    """

    threads: int
    time_zone: str
    memory_limit: str | None = None
    connection: Connection | None = None


def settings_of(function: str, threads: Any, time_zone: Any, connection: Any) -> Settings:
    """Return the settings of a call, or raise AnonError for what they cannot be.

    threads: None for those of the connection, or all cores without one. time_zone: 'UTC' stands for
    that of the connection.
    """
    count = None if threads is None else Whole(1).read(function, "threads", threads)
    if not isinstance(time_zone, str):
        raise AnonError(
            function, Parameter("time_zone") + " must be a name", type(time_zone).__name__
        )
    if connection is None:
        settings = Settings(count or os.cpu_count() or 1, time_zone)
        with cursor(settings, function):
            return settings
    if not isinstance(connection, Connection):
        raise AnonError(
            function,
            Parameter("connection") + " must be a connection of DuckDB",
            type(connection).__name__,
            "duckdb.connect() and anon_sql.connect() make one",
        )
    try:
        ((thread_setting, limit, zone),) = connection.execute(
            "SELECT current_setting('threads'), current_setting('memory_limit'), "
            "current_setting('TimeZone')"
        ).fetchall()
    except duckdb.Error:
        rule = Parameter("connection") + " must be open"
        raise AnonError(function, rule, "one that cannot be asked") from None
    zone = zone if time_zone == "UTC" else time_zone
    return Settings(count or int(thread_setting), zone, limit, connection)


@contextmanager
def cursor(settings: Settings, function: str, *, registered: bool = False) -> Iterator[Connection]:
    """Give a cursor on the private database of the settings, whose views other cursors see.

    registered: whether the functions of the package are needed.
    """
    key = settings.threads, settings.memory_limit
    with _lock:
        if key not in _open:
            _open[key] = duckdb.connect(config={"threads": settings.threads})
            if settings.memory_limit is not None:
                _open[key].execute("SET memory_limit = ?", [settings.memory_limit])
        if registered and key not in _registered:
            register(_open[key])
            _registered.add(key)
        opened = _open[key].cursor()
    with closing(opened):
        try:
            opened.execute("SET TimeZone = ?", [settings.time_zone])
        except duckdb.Error:
            rule = Parameter("time_zone") + " must be a time zone that DuckDB knows"
            hint = "for instance " + Argument("time_zone", "Europe/Berlin")
            raise AnonError(function, rule, None, hint) from None
        yield opened


def _leave_those_of_parent() -> None:
    """Open other databases in a child, and leave the parent's as they are."""
    for con in _open.values():
        leave(con)
    _open.clear()
    _registered.clear()


system.after_fork_in_child(_leave_those_of_parent)
