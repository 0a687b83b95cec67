"""Methods that release a table: those of the product, and imitations made outside it."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from anon_sql.core.names import literal, quote

MEASURES = "seconds", "rows", "classes", "dm", "cavg", "gcp", "suppressed"


class Columns(NamedTuple):
    """The quasi-identifiers of a table and its hierarchies; as text, arguments of a call."""

    quasi: Sequence[str]
    hierarchy: str | None = None

    def __str__(self) -> str:
        named = f", hierarchy := {literal(self.hierarchy)}" if self.hierarchy else ""
        return f"quasi := {list(self.quasi)}{named}"


class Method:
    """A release method with options, and its name on the page."""

    def __init__(self, name: str, function: str, drawn: bool = False, **options: Any) -> None:
        self.name, self.function, self.drawn, self.options = name, function, drawn, options

    def call(self, table: str, k: int, seed: int, arguments: object) -> str:
        """Return the call of the table function as SQL."""
        own = "".join(f", {name} := {value!r}" for name, value in self.options.items())
        return f"{self.function}({literal(table)}, k := {k}, seed := {seed}, {arguments}{own})"

    def release(self, con, table: str, k: int, seed: int, columns: Columns, more: str = "") -> None:
        """Create the table ``released``; ``more`` are further arguments, as SQL."""
        call = self.call(table, k, seed, f"{columns}{more}")
        con.execute(f"CREATE OR REPLACE TABLE released AS FROM {call}")

    def measure(self, con, table: str, ks: Sequence[int], seed: int, columns: Columns) -> list:
        """Return k, MEASURES and the share of classes below k for each k."""
        own = f", options := {{{self.function!r}: {self.options}}}" if self.options else ""
        return con.execute(
            f"SELECT k, {', '.join(MEASURES)}, (smallest_class < k)::INTEGER "
            f"FROM compare({literal(table)}, methods := [{self.function!r}], ks := {list(ks)}, "
            f"seed := {seed}, {columns}{own})"
        ).fetchall()


class Imitated(Method):
    """A method that is not one of the product: ``partition`` creates ``classed``, with class_id.

    Its classes are labelled by ``generalize``, as they are, even those of fewer than k rows.
    """

    def __init__(self, name: str, partition: Callable[..., None], drawn: bool = False) -> None:
        super().__init__(name, "generalize", drawn)
        self.partition = partition

    def release(self, con, table: str, k: int, seed: int, columns: Columns, more: str = "") -> None:
        self.partition(con, table, k, seed, columns)
        con.execute(
            "CREATE OR REPLACE TABLE released AS FROM generalize('classed', k := 1, "
            f"keep := ['*'], {columns})"
        )

    def measure(self, con, table: str, ks: Sequence[int], seed: int, columns: Columns) -> list:
        found = []
        for k in ks:
            self.release(con, table, k, seed, columns)
            found += con.execute(
                f"SELECT {k}, NULL, {', '.join(MEASURES[1:])}, ? "
                f"FROM utility({literal(table)}, 'released', k := {k}, {columns})",
                [below(con, k, columns)],
            ).fetchall()
        return found


def classed(con, table: str, classes) -> None:
    """Create ``classed``, a table with an array of class ids beside its rows."""
    found = {"class_id": classes}
    con.register("found_classes", found)
    con.execute(
        f"CREATE OR REPLACE TABLE classed AS FROM {quote(table)} POSITIONAL JOIN found_classes"
    )
    con.unregister("found_classes")


def arrays(con, table: str, names: Sequence[str]) -> list:
    """Return columns of a table as arrays."""
    found = con.execute(f"SELECT {', '.join(map(quote, names))} FROM {quote(table)}").fetchnumpy()
    return [found[name] for name in names]


def below(con, k: int, columns: Columns) -> float:
    """Return the share of the classes of ``released`` that have fewer than k rows."""
    labels = ", ".join(map(quote, columns.quasi))
    return con.execute(
        f"SELECT avg((n < {k})::INTEGER) FROM "
        f"(SELECT count(*) AS n FROM released GROUP BY {labels})"
    ).fetchall()[0][0]
