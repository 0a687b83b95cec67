"""Release some rows of a table in a database of its own, as asked and with one change at a time."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import duckdb

from anon_sql.apps.manifest import UNIQUE
from anon_sql.apps.verdict.figures import TABLES, Drawn, Measured, arguments, measure, rows_of
from anon_sql.apps.verdict.rules import AMBER, RED, VERDICT, Reason, Verdict, verdict
from anon_sql.core import stopping
from anon_sql.core.duckdb_internals.hashing import hash_of
from anon_sql.core.names import literal, quote
from anon_sql.core.parameters import takes
from anon_sql.core.roles import REST, fold
from anon_sql.core.stopping import STOPPED
from anon_sql.errors import AnonError
from anon_sql.hosts.duckdb.errors import as_raised
from anon_sql.hosts.duckdb.interrupting import interrupt
from anon_sql.hosts.duckdb.register import register
from anon_sql.methods.method import find_method

ROWS = 5_000  # of a table that a trial releases
FEWER = 1_000  # where the time of a method grows with their square
BEST_ROWS = 500  # rows that are released with effort := 'best', whose time grows most
MOST_CHANGES = 6  # changes that are tried for a verdict
OUT = "leaving out"
_ROLES = ("quasi", "sensitive", "identifiers", "keep")


@dataclass(frozen=True)
class RequestChange:
    """A change of one parameter, or a column that is left out (``name`` is ``OUT``)."""

    name: str
    value: Any

    def words(self, request: Mapping[str, Any]) -> str:
        """Return the change in words, with what it was before."""
        if self.name == OUT:
            return f"{OUT} {self.value}"
        before = request.get(self.name)
        if self.name == "t" and before in (None, 1):
            return f"t = {self.value:g}"
        value, was = (f"{n:g}" if isinstance(n, (int, float)) else n for n in (self.value, before))
        return f"{self.name} = {value}" + ("" if was is None else f" instead of {was}")


@dataclass(frozen=True)
class Trial:
    """The verdict on the release of some rows, and what was measured for it."""

    verdict: Verdict
    measured: Measured

    @cached_property
    def figures(self) -> Mapping[tuple[str, str | None], float | None]:
        """Return the figures by name and column."""
        return {(each.name, each.column): each.value for each in self.measured.figures}

    def breaks(self, reason: Reason) -> bool:
        """Return whether the trial has a reason, as red as it was."""
        levels = (RED,) if reason.level == RED else (RED, AMBER)
        return any(_same(each, reason) and each.level in levels for each in self.verdict.reasons)

    def figure(self, reason: Reason) -> float | None:
        """Return the figure that a reason is judged by."""
        for name, limit in VERDICT.items():
            column = reason.column if limit.rule == reason.rule else None
            if (
                limit.rule == reason.rule
                and (value := self.figures.get((name, column))) is not None
            ):
                return value
        return None

    @property
    def lost(self) -> float | None:
        """Return the loss of the table."""
        return self.figures.get(("gcp", None))

    def reddens(self, before: "Trial") -> bool:
        """Return whether a rule is red that was not."""
        was = [each for each in before.verdict.reasons if each.level == RED]
        return any(
            each.level == RED and not any(_same(each, other) for other in was)
            for each in self.verdict.reasons
        )


@dataclass
class Trials:
    """Releases of some rows of ``raw``, each with its verdict, made once.

    rows: of ``raw``; of: how many the table has. request: what is asked of the release, with its
    options. judging: what ``verdict`` takes besides. queried: whether queries are measured.
    """

    con: duckdb.DuckDBPyConnection
    rows: int
    of: int
    method: str
    request: Mapping[str, Any]
    judging: Mapping[str, Any]
    queried: bool = True
    made: dict[RequestChange | None, Trial | None] = field(default_factory=dict)
    by_loss: list[str] = field(default_factory=list)  # quasi-identifiers, the most lost first
    refused: dict[RequestChange | None, AnonError] = field(default_factory=dict)
    _drawn: dict[tuple[str, ...], Drawn] = field(default_factory=dict)

    def trial(self, change: RequestChange | None) -> Trial | None:
        """Return a trial with a change; None if such a release cannot be made."""
        if change not in self.made:
            self.made[change] = self._judged(change)
        return self.made[change]

    @property
    def spent(self) -> bool:
        """Return whether no other change is tried."""
        return len(self.made) > MOST_CHANGES

    @property
    def where(self) -> str:
        """Return on how many rows, in words."""
        return f"{self.rows:,} of {self.of:,} rows" if self.rows < self.of else f"{self.of:,} rows"

    def _judged(self, change: RequestChange | None) -> Trial | None:
        try:
            measured = self._measured(change)
        except AnonError as error:
            if error.rule == STOPPED:
                raise
            self.refused[change] = error
            return None
        except duckdb.InterruptException:
            raise
        except duckdb.Error:
            return None
        return Trial(verdict(measured, **self.judging), measured)

    def _measured(self, change: RequestChange | None) -> Measured:
        request = dict(self.request)
        out = [change.value] if change and change.name == OUT else []
        if change and change.name != OUT:
            request[change.name] = change.value
        for role in _ROLES:
            request[role] = [
                name for name in request.get(role) or [] if fold(name) not in map(fold, out)
            ]
        named = {fold(name) for role in _ROLES for name in request[role]}
        named |= {fold(request["entity"])} if request.get("entity") else set()
        every = self.con.table("raw").columns
        others = out if REST in request["keep"] else [n for n in every if fold(n) not in named]
        request |= {"exclude": others, UNIQUE: None}
        parameters = takes(self.method)
        call = {n: v for n, v in request.items() if n in parameters and v not in (None, [])}
        if call.get("effort") == "best" and self.rows > BEST_ROWS:
            call["effort"] = "good"
        with as_raised():
            made = f"{self.method}('raw'{arguments(call)})"
            self.con.execute(f"CREATE OR REPLACE TABLE released AS FROM {made}")
            measured = measure(
                self.con,
                request,
                [],
                drawn=self._queries(request),
                form=request.get("format"),
            )
            if change is None:
                roles = {name: request[name] for name in ("quasi", "hierarchy")}
                lost = (
                    f"FROM attribute_loss({TABLES}{arguments(roles)}) ORDER BY ncp DESC, attribute"
                )
                self.by_loss = [each["attribute"] for each in rows_of(self.con, lost)]
            return measured

    def _queries(self, request: Mapping[str, Any]) -> Drawn:
        names = tuple(request["quasi"])
        if names not in self._drawn:
            self._drawn[names] = (Drawn if self.queried else _Undrawn)(self.con, request)
        return self._drawn[names]


class _Undrawn(Drawn):
    """No queries: their error stays unknown."""

    of_stars = None

    def error(self, selectivity: float = 0, released: str = "") -> dict[str, Any]:
        return {"mean": None}


def _same(each: Reason, other: Reason) -> bool:
    return (each.rule, each.column) == (other.rule, other.column)


@contextmanager
def trials(
    con: duckdb.DuckDBPyConnection,
    method: str,
    request: Mapping[str, Any],
    judging: Mapping[str, Any],
    *,
    rows: int = ROWS,
    queried: bool = True,
) -> Iterator[Trials]:
    """Copy rows of ``raw``, and its hierarchies, to a database in memory for trials.

    The arguments are those of ``Trials``. The rows of one person stay together.
    """
    quadratic = (description := find_method(method)) is not None and description.quadratic
    rows = min(rows, FEWER) if quadratic else rows
    table = con.table("raw")
    ((count,),) = con.execute("SELECT count(*) FROM raw").fetchall()
    columns = list(map(quote, table.columns))
    person = [quote(request["entity"])] if request.get("entity") else []
    hashes = [hash_of(names) for names in (person, columns) if names]
    chosen = f"FROM raw ORDER BY {', '.join(hashes)} LIMIT {rows}" if count > rows else "FROM raw"
    copied = {"raw": chosen}
    if request.get("hierarchy"):
        name = request["hierarchy"]
        copied[name] = f"FROM query_table({literal(name)})"
    with (
        duckdb.connect(config={"threads": 2}) as trial,
        stopping.reaching(lambda: interrupt(trial)),
    ):
        register(trial)
        trial.execute("SET TimeZone = 'UTC'")
        for name, sql in copied.items():
            copy(con.sql(sql), trial, name)
        yield Trials(trial, min(count, rows), count, method, request, judging, queried)


class NotCopied(Exception):
    """A table has a type that another database cannot take."""


def copy(
    relation: duckdb.DuckDBPyRelation,
    con: duckdb.DuckDBPyConnection,
    name: str,
    kind: str = "TABLE",
) -> None:
    """Make a table of the rows of a relation in another database, with its types.

    kind: TABLE, or TEMP TABLE. Raises NotCopied.
    """
    pairs = zip(relation.columns, relation.types, strict=True)
    types = ", ".join(f"{quote(column)} {type_}" for column, type_ in pairs)
    rows = relation.to_arrow_table()
    try:
        con.execute(f"CREATE {kind} {quote(name)} ({types})")
        con.register("__anon_copied", rows)
        con.execute(f"INSERT INTO {quote(name)} FROM __anon_copied")
        con.unregister("__anon_copied")
    except duckdb.InterruptException:
        raise
    except duckdb.Error as error:
        raise NotCopied from error
