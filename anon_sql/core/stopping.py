"""Stop running calls by tokens.

DuckDB does not interrupt Python functions. Long work in Python therefore calls ``check`` often,
which looks at the token of the thread's call. Threads that a call starts share its token. A token
knows its connection, so that a stop reaches the calls of one connection only; Ctrl-C reaches all.
It also has the listener of the call.
"""

import signal
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from anon_sql.core.listening import Listener
from anon_sql.errors import AnonError

STOPPED = "stopped on request"
T = TypeVar("T")
CHECK_ITEMS = 1 << 14  # between two looks, some 10 ms
_lock = threading.RLock()  # a signal handler may come in between
_here = threading.local()
_living: "weakref.WeakSet[Stop]" = weakref.WeakSet()


class Stop:
    """Whether a call is to stop.

    database, connection: a name of the open database and DuckDB's connection id; None without one,
        or before it is known.
    encloses: whether calls of the same connection that begin meanwhile are part of this one.
    parent: a call that this one is part of.
    """

    def __init__(
        self,
        database: str | None = None,
        connection: int | None = None,
        *,
        encloses: bool = False,
        parent: "Stop | None" = None,
    ):
        self.database, self.connection = database, connection
        self.encloses, self.parent = encloses, parent
        self.function = ""  # the function of SQL that was called, once it is known
        self.users = 0  # threads that work for the call just now
        self._requested = False
        self._stopped_connections: set[int] = set()  # before this call had a connection
        self._reached: list[Callable[[], None]] = []
        self.listener: Listener | None = None if parent is None else parent.listener
        with _lock:
            if connection is not None:
                self._belongs_to(connection)
            _living.add(self)

    @property
    def requested(self) -> bool:
        """Return whether the call, or one that it is part of, is to stop."""
        return self._requested or (self.parent is not None and self.parent.requested)

    def request(self) -> None:
        """Request that the call stops."""
        with _lock:
            self._requested = True
            reached = list(self._reached)
        for interrupt in reached:
            interrupt()

    def _request_of(self, database: str, connection: int) -> None:
        """Request a stop if the call is of a connection, or turns out to be."""
        if self.database == database:
            if self.connection == connection:
                self.request()
            elif self.connection is None:
                self._stopped_connections.add(connection)

    def _belongs_to(self, connection: int) -> None:
        with _lock:
            self.connection = connection
            enclosing = [
                other
                for other in _living
                if other.encloses
                and (other.database, other.connection) == (self.database, connection)
            ]
            self._requested |= connection in self._stopped_connections or any(
                stop.requested for stop in enclosing
            )
            listeners = (stop.listener for stop in enclosing if stop.listener is not None)
            self.listener = self.listener or next(listeners, None)


def current() -> Stop | None:
    """Return the token of the call that this thread works for; None if there is none."""
    return getattr(_here, "stop", None)


def check(function: str = "") -> None:
    """Raise AnonError if the call that this thread works for is to stop; else report to its
    listener.

    function: its name, for the error; '' for the name that an earlier look had.
    """
    stop = current()
    if stop is None:
        return
    stop.function = function or stop.function
    if stop.requested:
        raise AnonError(stop.function or "anon_sql", STOPPED, hint="nothing was released")
    if stop.listener is not None and stop.function:
        stop.listener.look(stop.function)


def watched(items: Iterable[T]) -> Iterator[T]:
    """Yield items; every CHECK_ITEMS items, stop on request."""
    for i, item in enumerate(items):
        if i % CHECK_ITEMS == 0:
            check()
        yield item


@contextmanager
def call(
    database: str | None = None, connection: int | None = None, *, encloses: bool = False
) -> Iterator[Stop]:
    """Give a new token, for what this thread does meanwhile; the arguments are of ``Stop``.

    Without a database the call is part of the one that the thread works for already.
    """
    before = current()
    stop = Stop(
        database, connection, encloses=encloses, parent=before if database is None else None
    )
    carry(stop)
    try:
        yield stop
    finally:
        stop.encloses = False
        carry(before)


def carry(stop: Stop | None) -> None:
    """Let this thread work for a call from now on, or for none."""
    before = current()
    with _lock:
        if before is not None:
            before.users -= 1
        if stop is not None:
            stop.users += 1
        _here.stop = stop


def work(stop: Stop | None, task: Callable[..., T], *arguments: Any) -> T:
    """Return ``task(*arguments)``, done for a call; this is for the threads that a call starts."""
    before = current()
    carry(stop)
    try:
        return task(*arguments)
    finally:
        carry(before)


def belongs_to(connection: int) -> None:
    """Record the connection of the call that this thread works for."""
    stop = current()
    if stop is not None:
        stop._belongs_to(connection)


@contextmanager
def reaching(interrupt: Callable[[], None]) -> Iterator[None]:
    """Let a stop of the call that this thread works for call ``interrupt`` too, meanwhile."""
    stop = current()
    if stop is None:
        yield
        return
    with _lock:
        stop._reached.append(interrupt)
    try:
        yield
    finally:
        with _lock:
            stop._reached.remove(interrupt)


def request(database: str, connection: int) -> None:
    """Request that the calls of a connection stop."""
    for stop in _all():
        stop._request_of(database, connection)


def request_all() -> None:
    """Request that every call stops, as Ctrl-C does."""
    for stop in _all():
        stop.request()


def connections(database: str) -> set[int]:
    """Return the connections of a database for which a thread works just now."""
    return {
        stop.connection
        for stop in _all()
        if stop.users and stop.database == database and stop.connection is not None
    }


def _all() -> list[Stop]:
    with _lock:
        return list(_living)


class _Handler:
    """The SIGINT handler: stop every call, and call the handler that was there ``before``.

    It steps aside when no call ``wants`` it.
    """

    def __init__(self, before: Callable[..., Any], wants: Callable[[], bool]):
        self.before, self.wants = before, wants

    def __call__(self, number: int, frame: Any) -> Any:
        request_all()
        if not any(stop.users for stop in _all()) and not self.wants():
            unlisten()
        return self.before(number, frame)


def listen(wants: Callable[[], bool]) -> None:
    """Install a SIGINT handler that stops every call and then calls the handler before it.

    wants: whether it is still needed. Does nothing outside the main thread, where Python does not
    allow it, and where SIGINT is ignored.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    before = signal.getsignal(signal.SIGINT)
    if callable(before) and not isinstance(before, _Handler):
        signal.signal(signal.SIGINT, _Handler(before, wants))


@contextmanager
def listening() -> Iterator[None]:
    """Let Ctrl-C stop every call meanwhile, as ``listen`` does."""
    listened = isinstance(signal.getsignal(signal.SIGINT), _Handler)
    listen(lambda: True)
    try:
        yield
    finally:
        if not listened:
            unlisten()


def unlisten() -> None:
    """Install the SIGINT handler again that was there before ``listen``.

    Does nothing outside the main thread, or where another has been installed since; the handler
    then stands aside when it is next called, or only passes signals on.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    handler = signal.getsignal(signal.SIGINT)
    if isinstance(handler, _Handler):
        signal.signal(signal.SIGINT, handler.before)
