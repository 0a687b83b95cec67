"""Listen to the calls on one connection: ``anon_sql.listen``."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import duckdb

from anon_sql.core import stopping
from anon_sql.core.duckdb_internals.error_texts import is_interruption
from anon_sql.core.listening import Listener, Step
from anon_sql.core.stopping import STOPPED, Stop
from anon_sql.errors import AnonError
from anon_sql.hosts.duckdb.errors import own_error_text
from anon_sql.hosts.duckdb.interrupting import owner_of


@contextmanager
def listen(
    callback: Callable[[Step], None], con: duckdb.DuckDBPyConnection | None = None
) -> Iterator[None]:
    """Let ``callback`` take the steps of the calls made meanwhile.

    con: the connection of the calls; None for those that this thread makes on data frames. A step
    has ``function``, ``done``, ``total`` (None where unknown), ``note`` and ``seconds``. The
    callback runs in any thread, one step at a time, and should be quick. Raises one
    AnonError for a call that is stopped, by ``interrupt``, by Ctrl-C or by DuckDB's own interrupt;
    and what the callback has raised, once the calls are done. Raises AnonError for a connection
    that is not registered.
    """
    owner = (None, None) if con is None else owner_of(con)
    if con is not None and owner == (None, None):
        raise AnonError(
            "listen",
            "the connection must be registered",
            None,
            "call anon_sql.register(con) before",
        )
    listener = Listener(callback)
    with stopping.call(*owner, encloses=con is not None) as stop:
        stop.listener = listener
        try:
            yield
        except (duckdb.Error, RuntimeError, KeyboardInterrupt) as error:
            function = _stopped(error)
            if function is None:
                raise
            raise AnonError(
                function or listener.function or "listen",
                STOPPED,
                hint="nothing was released",
            ) from None
        finally:
            listener.close()
    if listener.error is not None:
        raise listener.error


def _stopped(error: BaseException) -> str | None:
    """Return the function that was stopped, '' where it is not known; None for other errors."""
    if isinstance(error, (KeyboardInterrupt, duckdb.InterruptException)) or is_interruption(error):
        return ""
    wrapped = own_error_text(error) if isinstance(error, duckdb.Error) else None
    function, _, reason = (wrapped or "").partition(": ")
    return function if reason.startswith(STOPPED) else None


@contextmanager
def passed_on(con: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Let the listener of this thread's call hear those on a private connection too."""
    stop = stopping.current()
    if stop is None or stop.listener is None:
        yield
        return
    ((name, number),) = con.execute(
        "SELECT __anon_interrupting_database(1), system.main.current_connection_id()"
    ).fetchall()
    within = Stop(name, number, encloses=True)
    within.listener = stop.listener
    try:
        yield
    finally:
        within.encloses = False
