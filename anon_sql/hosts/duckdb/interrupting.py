"""Stop what runs on one connection: ``anon_sql.interrupt``.

A connection tells its id only to statements of its own, and none can run beside another. So
``register`` notes it.
"""

import weakref
from collections.abc import Iterator
from contextlib import closing

import duckdb
import pyarrow as pa

from anon_sql.core import stopping
from anon_sql.errors import AnonError
from anon_sql.hosts.duckdb.registry import udf

Owner = tuple[str, int]  # a name of the open database, and DuckDB's connection id
_owners: "weakref.WeakKeyDictionary[duckdb.DuckDBPyConnection, Owner]" = weakref.WeakKeyDictionary()
_numbers: "weakref.WeakKeyDictionary[duckdb.DuckDBPyConnection, int]" = weakref.WeakKeyDictionary()


@udf("VARCHAR", volatile=True, owned=True)
def database(name: str, rows: pa.Array) -> pa.Array:
    """Return the name of the open database for each row."""
    return pa.array([name] * len(rows))


def interrupt(con: duckdb.DuckDBPyConnection) -> None:
    """Stop what runs on a connection, and on no other; call it from another thread.

    The statement, or ``anon_sql.release``, ends at its next check, which in most steps of a release
    follows within half a second: with an AnonError that says ``stopped on request``, or with
    DuckDB's InterruptException. Nothing is released, and the connection can be used again. Raises
    AnonError for a cursor that is not registered if calls of several such cursors run, and stops
    none.
    """
    name, number = owner_of(con) if con in _numbers else _left_over(con) or (None, None)
    if name is not None and number is not None:
        stopping.request(name, number)
    con.interrupt()


def owner_of(con: duckdb.DuckDBPyConnection) -> Owner | tuple[None, None]:
    """Return the owner of calls on a connection; none if it is not registered."""
    if con not in _numbers:
        return None, None
    if con not in _owners:
        name = _database(con)
        if name is None:
            return None, None
        _owners[con] = name, _numbers[con]
    return _owners[con]


def _database(con: duckdb.DuckDBPyConnection) -> str | None:
    """Return the name of a connection's database, by a cursor; None where it cannot be asked."""
    try:
        with closing(con.cursor()) as cursor:
            ((name,),) = cursor.execute("SELECT __anon_interrupting_database(1)").fetchall()
    except duckdb.Error:  # closed, or without the functions
        return None
    return str(name)


def note(con: duckdb.DuckDBPyConnection, number: int) -> None:
    """Note the connection id of a connection, and let Ctrl-C stop calls."""
    if con not in _numbers:
        weakref.finalize(con, _ended).atexit = False
    _numbers[con] = number
    stopping.listen(_any_open)


def forget(con: duckdb.DuckDBPyConnection) -> None:
    """Forget the connections of a database from which the functions are removed."""
    name, _ = _owners.get(con, (None, None))
    for other, (same, _) in list(_owners.items()):
        if same == name:
            del _owners[other], _numbers[other]
    _numbers.pop(con, None)
    _ended()


def _left_over(con: duckdb.DuckDBPyConnection) -> Owner | None:
    """Return the owner of the calls of a connection that is not registered; None if none runs."""
    name = _database(con)
    if name is None:
        return None
    owners = (owner_of(other) for other in list(_living()))
    registered = {number for other, number in owners if other == name}
    running = stopping.connections(name) - registered
    if len(running) > 1:
        raise AnonError(
            "interrupt",
            "the connection must be registered where calls of several others run",
            f"{len(running)} of them",
            "call anon_sql.register(cursor) before it is used",
        )
    return (name, running.pop()) if running else None


def _living() -> Iterator[duckdb.DuckDBPyConnection]:
    return (con for con in (ref() for ref in _numbers.keyrefs()) if con is not None)


def _ended() -> None:
    if not any(True for _ in _living()):
        stopping.unlisten()


def _any_open() -> bool:
    """Return whether a registered connection is open."""
    for con in _living():
        try:
            con.cursor().close()
        except duckdb.Error:
            continue
        return True
    return False
