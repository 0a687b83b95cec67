"""Count the strata of a whole table, and refuse them if one cannot be a class."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.core.arrow import integers
from anon_sql.core.columns import is_number
from anon_sql.core.running import Workers
from anon_sql.core.table import Domain, read_table
from anon_sql.errors import AnonError
from anon_sql.pipeline.partition import HINT, in_source_order, refused, strata_of
from anon_sql.pipeline.request import Request
from anon_sql.regions.counts import MAX_CELLS, Limits, counted_regions
from anon_sql.regions.sql import count_select, relation, value

if TYPE_CHECKING:
    from sqlglot import exp
else:
    from anon_sql.core import sql_trees as exp

MAX_STRATA = 1_000_000  # strata of a table
_MAX_CELLS = MAX_CELLS // 10  # counts of a sensitive value in a stratum that are held at a time
Numbers = npt.NDArray[np.int64]
Values = Mapping[str, pa.Array]
Run = Callable[[str], pa.Table]


@dataclass(frozen=True)
class Strata:
    """The s strata of a table.

    types: SQL type of each of their columns. values: one value of each stratum by column, text as
    such whatever its type. rows: int64[s].
    """

    types: Mapping[str, str]
    values: Values
    rows: Numbers

    def of_rows(self, function: str, values: Values) -> Numbers:
        """Return the stratum of each row, int64[n], -1 for none; values: by column."""
        many = len(self.rows)
        both = {n: pa.concat_arrays([self.values[n], values[n]]) for n in self.types}
        hashes = pa.array(np.zeros(len(both[next(iter(both))]), np.uint64))
        table = read_table(function, self.types, both, hashes, Workers(function))
        codes_in_order = strata_of(table, tuple(self.types))
        assert codes_in_order is not None
        codes = in_source_order(table, codes_in_order)
        number: Numbers = np.full(int(codes.max()) + 1, -1, np.int64)
        number[codes[:many]] = np.arange(many)
        of_row: Numbers = number[codes[many:]]
        return of_row


def table_strata(
    request: Request,
    domain: Domain,
    dialect: str,
    source: str,
    run: Run,
    paths: pa.StructArray | None = None,
) -> Strata | None:
    """Return the strata of a relation; None for a request without.

    run: returns the result of a statement. paths: the rows of the hierarchy. Raises AnonError if a
    stratum cannot be a class, as a release in one statement does, or if there are more than
    ``MAX_STRATA``.
    """
    if not request.strata:
        return None
    counting = _Counting(request, domain, Limits(request, domain, paths), dialect, source, run)
    counted = run(counting.select(None, most=MAX_STRATA + 1))
    if counted.num_rows > MAX_STRATA:
        many, smallest = counting.too_small()
        if many:
            raise counting.refusal(many, smallest)
        rule = f"a release in parts must have at most {MAX_STRATA:,} strata"
        raise AnonError(request.function, rule, "more", HINT)
    rows = integers(counted.column("rows").combine_chunks()).astype(np.int64)
    types = {name: request.quasi[name] for name in request.strata}
    strata = Strata(types, counting.values(counted), rows)
    short = counting.short(strata, counted)
    if len(short):
        raise counting.refusal(len(short), int(short.min()))
    return strata


@dataclass(frozen=True)
class _Counting:
    """The statements that count strata."""

    request: Request
    domain: Domain
    limits: Limits
    dialect: str
    source: str
    run: Run

    @property
    def by(self) -> dict[str, exp.Expression]:
        """Return the columns of strata as they are grouped, by their names in results.

        DuckDB groups bytes instead of text, of which a collation could make some equal.
        """
        expressions = {}
        for i, name in enumerate(self.request.strata):
            kind, function = self.request.quasi[name], self.request.function
            expression = value(name, kind, function)
            if self.dialect == "duckdb" and not is_number(function, name, kind):
                expression = exp.Anonymous(this="system.main.encode", expressions=[expression])
            expressions[f"stratum_{i}"] = expression
        return expressions

    def select(self, name: str | None, most: int | None = None) -> str:
        """Return the statement that counts each stratum; name: of a protected column, or None."""
        return count_select(self.request, self.dialect, self.source, name, self.by, most)

    def values(self, counted: pa.Table) -> Values:
        """Return the columns of strata in the result of a statement, by name."""
        names = zip(self.request.strata, self.by, strict=True)
        columns = {name: counted.column(alias).combine_chunks() for name, alias in names}
        return {
            name: values.cast(pa.string()) if pa.types.is_binary(values.type) else values
            for name, values in columns.items()
        }

    def short(self, strata: Strata, counted: pa.Table) -> Numbers:
        """Return the rows of each stratum that cannot be a class.

        counted: the rows and persons of each stratum.
        """
        request = self.request
        if not request.protected and request.entity is None:
            return strata.rows[strata.rows < self.limits.constraint.smallest]
        tables: dict[str | None, pa.Table] = {None: counted}
        tables |= {name: self.run(self.select(name)) for name in request.protected}
        numbers = {name: self._numbers(strata, table) for name, table in tables.items()}
        widest = max(
            [1, *(len(distribution.keys) + 1 for distribution in self.domain.sensitive.values())]
        )
        step, short = max(1, _MAX_CELLS // widest), []
        for first in range(0, len(strata.rows), step):
            many = min(step, len(strata.rows) - first)
            within = {
                name: _within(table, numbers[name] - first, many) for name, table in tables.items()
            }
            for tally in counted_regions(request, self.domain, many, within.__getitem__):
                if self.limits.shortfall(tally) > 0:
                    short.append(tally.rows)
        return np.array(short, np.int64)

    def _numbers(self, strata: Strata, table: pa.Table) -> Numbers:
        numbers = strata.of_rows(self.request.function, self.values(table))
        if (numbers < 0).any():
            raise AnonError(
                self.request.function,
                "the table must not change while it is released",
                "strata that were not there before",
                "nothing was released; run it again",
            )
        return numbers

    def too_small(self) -> tuple[int, int]:
        """Return the number of strata with too few rows for a class, and the rows of the
        smallest."""
        counts = exp.select(exp.alias_(exp.Count(this=exp.Star()), "n"))
        counts = counts.from_(relation(self.source)).group_by(*self.by.values())
        many = exp.alias_(exp.Count(this=exp.Star()), "many")
        least = exp.alias_(exp.Min(this=exp.column("n")), "least")
        smallest = exp.Literal.number(self.limits.constraint.smallest)
        query = exp.select(many, least).from_(counts.subquery("strata"))
        query = query.where(exp.LT(this=exp.column("n"), expression=smallest))
        (counted,) = self.run(query.sql(self.dialect)).to_pylist()
        return int(counted["many"]), int(counted["least"] or 0)

    def refusal(self, many: int, smallest: int) -> AnonError:
        """Return the error for ``many`` illegal strata, or for the whole table if it is not
        legal."""
        request, function = self.request, self.request.function

        def counted(name: str | None) -> pa.Table:
            select = count_select(request, self.dialect, self.source, name, {})
            table = self.run(select)
            return table.append_column("region", pa.array(np.zeros(table.num_rows, np.int64)))

        (total,) = counted_regions(request, self.domain, 1, counted)
        if self.limits.shortfall(total) > 0:
            return self.limits.refuse(function, total)
        return refused(function, self.limits.requirement, many, smallest)


def _within(table: pa.Table, numbers: Numbers, many: int) -> pa.Table:
    """Return the counts of the strata 0 to ``many``, exclusive, as regions."""
    kept = (numbers >= 0) & (numbers < many)
    return table.filter(pa.array(kept)).append_column("region", pa.array(numbers[kept]))
