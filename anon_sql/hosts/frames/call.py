"""Run one call on frames: a release by the core, anything else by the macro of its name."""

import itertools
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

import duckdb
import pyarrow as pa

from anon_sql.core import stopping
from anon_sql.core.names import literal, quote
from anon_sql.core.roles import fold
from anon_sql.errors import AnonError, Argument, Parameter, Python, SpelledAs
from anon_sql.hosts.arrow.database import Settings, cursor, settings_of
from anon_sql.hosts.arrow.frame import Frame
from anon_sql.hosts.arrow.release import earlier_labels, earlier_quasi, released, warn_of_rows
from anon_sql.hosts.arrow.rows import ArrowColumns, of_relation, unreadable
from anon_sql.hosts.call import paths_of
from anon_sql.hosts.duckdb.errors import as_raised, own_error_text
from anon_sql.hosts.duckdb.listening import passed_on
from anon_sql.hosts.frames.kinds import as_frame, is_file
from anon_sql.hosts.kept import unique_in_series, warn

DATA = "data"  # what Python calls the parameter tbl
_TABLES = ("data", "raw", "released")  # frames that are passed by position
_NAMED = (
    "hierarchy",
    "population",
    "control",
    "restricted",
    "ledger",
    "like",
    "releases",
    "previous",
    "state",
    "series",
)
_PREFIX = "anon_frame_"
_numbers = itertools.count(1)


class FrameSpelling(Python):
    """The spelling of calls on frames."""

    def parameter(self, name: str, in_sql: str | None) -> str:
        return DATA if name == "tbl" else name

    def relation(self, name: str) -> str:
        return name.removeprefix(_PREFIX).partition("_")[2] if name.startswith(_PREFIX) else name


FRAMES = FrameSpelling()


def release(function: str, call: Mapping[str, Any]) -> Any:
    """Return the release of ``data``, a frame of the same kind.

    call: the arguments of the Python function by name. Raises AnonError as the SQL function does.
    """
    if call.get("series") is not None:  # its rows come from the state
        return _in_series(function, call)
    with ExitStack() as open_, _settled(function, call) as (settings, arguments):
        scratch = open_.enter_context(cursor(settings, function))
        frame = as_frame(function, DATA, arguments.pop(DATA), scratch, settings.connection)
        hierarchy, like = arguments.pop("hierarchy", None), arguments.get("like")
        paths = None
        if hierarchy is not None:
            with _room(function, settings) as room, as_raised():
                paths = paths_of(room.con, room.named("hierarchy", hierarchy))
        if like is not None:
            quasi = earlier_quasi(function, frame.columns, settings, arguments)
            with _room(function, settings) as room:
                arguments["like"] = earlier_labels(room.con, room.named("like", like), quasi)
        released_frame = released(function, frame, arguments, settings, scratch, paths, warns=True)
        warn_of_rows(function, frame.columns, settings, arguments)
        return released_frame


def _in_series(function: str, call: Mapping[str, Any]) -> Any:
    """Return a release of a series. Warns of rows that are unique on the kept columns."""
    with _settled(function, call) as (settings, arguments), _room(function, settings) as room:
        rows = room.rows(arguments)
        raw, *_ = room.views  # the first is of the data
        view = f"{_PREFIX}{next(_numbers)}_made"
        room.views[view] = rows
        room.con.from_arrow(rows).create_view(view)
        warn(function, unique_in_series(room.con, raw, f"FROM {view}", arguments))
        assert room.first is not None  # the data
        return room.first.from_table(rows)


def table(function: str, call: Mapping[str, Any]) -> Any:
    """Return the result of a table function, a frame of the kind of its first frame."""
    with _settled(function, call) as (settings, arguments), _room(function, settings) as room:
        rows = room.rows(arguments)
        return rows if room.first is None else room.first.from_table(rows)


def value(function: str, call: Mapping[str, Any]) -> Any:
    """Return the result of a scalar function."""
    with _settled(function, call) as (settings, arguments), _room(function, settings) as room:
        called, parameters = room.call(arguments)
        statement = f"SELECT {quote(function)}({called})"
        ((answer,),) = room.ask(lambda: room.con.execute(statement, parameters).fetchall())
        return answer


@contextmanager
def _settled(function: str, call: Mapping[str, Any]) -> Iterator[tuple[Settings, dict[str, Any]]]:
    """Give the settings of a call and its other arguments, tuples as lists."""
    arguments = {
        name: list(value) if isinstance(value, tuple) else value for name, value in call.items()
    }
    names = ("threads", "time_zone", "connection")
    with SpelledAs(FRAMES), stopping.call(), stopping.listening():
        yield settings_of(function, *(arguments.pop(name) for name in names)), arguments


class _Room:
    """A cursor with the functions of the package, and the frames of one call as views.

    first: the frame whose kind the result has, None for a call without frames.
    """

    def __init__(self, function: str, settings: Settings, con: duckdb.DuckDBPyConnection):
        self.function, self.settings, self.con = function, settings, con
        self.first: Frame | None = None
        self.views: dict[str, pa.Table] = {}  # DuckDB does not hold the rows of a view

    def add(self, parameter: str, columns: ArrowColumns) -> str:
        """Return the name of a view of a table, on which comments say its roles."""
        name = f"{_PREFIX}{next(_numbers)}_{parameter}"
        names = list(columns.types)
        rows = columns.read(names)
        self.views[name] = rows
        columns.restored(self.con.from_arrow(rows), names).create_view(name)
        spelled = {column_name.lower(): column_name for column_name in names}
        for folded, text in columns.comments.items():
            if text is None:
                continue
            column = quote(spelled[folded])
            self.con.execute(f"COMMENT ON COLUMN {quote(name)}.{column} IS {literal(text)}")
        return name

    def table(self, parameter: str, data: Any) -> str:
        """Return the name of a view of a frame that was passed by position."""
        frame = as_frame(self.function, parameter, data, self.con, self.settings.connection)
        self.first = self.first or frame
        return self.add(parameter, frame.columns)

    def named(self, parameter: str, data: Any) -> str:
        """Return the name of a view of a frame, of a file or of a relation of the connection."""
        connection = self.settings.connection
        if not isinstance(data, str) or is_file(data, refused=connection is None):
            frame = as_frame(self.function, parameter, data, self.con, connection)
            return self.add(parameter, frame.columns)
        if connection is None:
            raise AnonError(
                self.function,
                Parameter(parameter) + " must be a frame, a file or a relation of a connection",
                "a name without a connection",
                "pass the frame itself, or " + Argument("connection"),
            )
        try:
            relation = connection.sql(f"FROM query_table({literal(data)})")
        except duckdb.Error as error:
            raise unreadable(self.function, error) from None
        return self.add(parameter, of_relation(self.function, relation, self.con))

    def call(self, arguments: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """Return the arguments of a call as SQL, and the values of its parameters."""
        texts: list[str] = []
        parameters: dict[str, Any] = {}
        for name, argument in arguments.items():
            before = "" if name in _POSITIONAL else f"{quote(name)} := "
            if argument is None:
                continue
            if name == "released" and self._names_columns(arguments, argument):
                text, parameters[name] = f"${name}", argument
            elif name in _TABLES:
                text = literal(self.table(name, argument))
            elif name in _NAMED and isinstance(argument, list):
                text = f"[{', '.join(literal(self.named(name, data)) for data in argument)}]"
            elif name in _NAMED:
                text = literal(self.named(name, argument))
            elif name in ("weights", "bin_width") and isinstance(argument, Mapping):
                text = f"MAP(${name}_names, ${name}_values)"
                parameters |= {
                    f"{name}_names": list(argument),
                    f"{name}_values": list(argument.values()),
                }
            else:
                text, parameters[name] = f"${name}", argument
            texts.append(before + text)
        return ", ".join(texts), parameters

    def rows(self, arguments: Mapping[str, Any]) -> pa.Table:
        """Return the result of the table function."""
        called, parameters = self.call(arguments)
        statement = f"FROM {quote(self.function)}({called})"
        return self.ask(lambda: self.con.sql(statement, params=parameters).to_arrow_table())

    def _names_columns(self, arguments: Mapping[str, Any], second: Any) -> bool:
        """Return whether sensitive columns of the raw table are named in place of its release."""
        if self.first is None or "sensitive" not in arguments:
            return False
        names = [second] if isinstance(second, str) else second
        columns = {fold(name) for name in self.first.columns.types}
        return isinstance(names, list) and all(
            isinstance(name, str) and fold(name) in columns for name in names
        )

    def ask(self, fetch: Callable[[], Any]) -> Any:
        """Return what a statement gives; raise AnonError for what DuckDB refuses."""
        try:
            with as_raised(), stopping.reaching(self.con.interrupt), passed_on(self.con):
                return fetch()
        except duckdb.InterruptException:
            stopping.check(self.function)
            raise
        except duckdb.Error as error:
            wrapped = own_error_text(error)
            if wrapped is None:
                raise unreadable(self.function, error) from None
            function, _, rule = wrapped.partition(": ")
            raise AnonError(function, rule) from None


_POSITIONAL = (*_TABLES, "releases", "state", "persons")


@contextmanager
def _room(function: str, settings: Settings) -> Iterator[_Room]:
    with cursor(settings, function, registered=True) as con:
        room = _Room(function, settings, con)
        try:
            yield room
        finally:
            for name in room.views:
                con.execute(f"DROP VIEW IF EXISTS {quote(name)}")
