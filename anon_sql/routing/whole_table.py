"""Compute the domain of a whole table by aggregates that the host runs."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from anon_sql.core.arrow import integers
from anon_sql.core.columns import infinite, is_number, numbers
from anon_sql.core.names import quote
from anon_sql.core.printing import evaluated, sql_types
from anon_sql.core.table_domain import Distribution, Domain
from anon_sql.errors import AnonError
from anon_sql.pipeline.release_table import SORT_KEY
from anon_sql.pipeline.request import Request
from anon_sql.routing.references import column, relation

_ZERO = exp.Literal.number(0)


def summary_select(request: Request, dialect: str, source: str) -> str:
    """Return the statement of one row that summarizes the quasi-identifiers of a relation.

    Its columns are ``rows``, and for quasi-identifier number i either ``low_i`` and ``high_i`` or
    ``distinct_i``.
    """
    if dialect == "spark":
        return _grouped_summary(request, dialect, source)
    found: list[Any] = [exp.alias_(exp.Count(this=exp.Star()), "rows")]
    for at, name, number in _quasi(request):
        if number:
            found.append(exp.alias_(exp.Min(this=column(name)), f"low_{at}"))
            found.append(exp.alias_(exp.Max(this=column(name)), f"high_{at}"))
        else:
            found.append(exp.alias_(_distinct(column(name)), f"distinct_{at}"))
    return exp.select(*found).from_(relation(source)).sql(dialect)


def _grouped_summary(request: Request, dialect: str, source: str) -> str:
    """Return the statement of ``summary_select`` with rows grouped by all texts first.

    Spark counts distinct values of several columns in as many copies of each row.
    """
    rows = exp.Coalesce(this=exp.Sum(this=exp.column("n")), expressions=[_ZERO])
    of_all: list[Any] = [exp.alias_(rows, "rows")]
    of_group: list[Any] = [exp.alias_(exp.Count(this=exp.Star()), "n")]
    texts = []
    for at, name, number in _quasi(request):
        if number:
            for fold, end in ((exp.Min, f"low_{at}"), (exp.Max, f"high_{at}")):
                of_group.append(exp.alias_(fold(this=column(name)), end))
                of_all.append(exp.alias_(fold(this=exp.column(end)), end))
        else:
            texts.append(column(name))
            of_group.append(exp.alias_(column(name), f"text_{at}"))
            of_all.append(exp.alias_(_distinct(exp.column(f"text_{at}")), f"distinct_{at}"))
    groups = exp.select(*of_group).from_(relation(source)).group_by(*texts)
    return exp.select(*of_all).from_(groups.subquery("groups")).sql(dialect)


def _quasi(request: Request) -> Iterator[tuple[int, str, bool]]:
    """Give the number and the name of each quasi-identifier, and whether it is no text."""
    for at, (name, sql_type) in enumerate(request.quasi.items()):
        yield at, name, is_number(request.function, name, sql_type)


def held_select(request: Request, name: str, dialect: str, source: str) -> str:
    """Return the statement that counts the values of a protected column of a relation.

    Its columns are ``value`` and ``count``: rows, or persons if the request has an entity.
    """
    query = exp.select(exp.alias_(column(name), "value"), exp.alias_(counted(request), "count"))
    return query.from_(relation(source)).group_by(column(name)).sql(dialect)


def counted(request: Request) -> exp.Expression:
    """Return the aggregate that counts rows, or persons if the request has an entity."""
    if request.entity is None:
        return exp.Count(this=exp.Star())
    return _distinct(column(request.entity))


def _distinct(held: exp.Expression) -> exp.Expression:
    """Return the aggregate that counts distinct values, NULL as one."""
    values = exp.Count(this=exp.Distinct(expressions=[held]))
    missing = exp.Case().when(exp.Is(this=held.copy(), expression=exp.null()), "1").else_("0")
    nulls = exp.Coalesce(this=exp.Max(this=missing), expressions=[_ZERO])
    return exp.Paren(this=exp.Add(this=values, expression=nulls))


def table_domain(request: Request, summary: pa.Table, held: Mapping[str, pa.Table]) -> Domain:
    """Return the domain of a table from the results of its statements.

    summary: of ``summary_select``; held: of ``held_select``, by protected column. Raises AnonError
    for a column with NaN or infinity.
    """
    widths, distinct = {}, {}
    for at, (name, sql_type) in enumerate(request.quasi.items()):
        if not is_number(request.function, name, sql_type):
            distinct[name] = int(summary.column(f"distinct_{at}")[0].as_py())
            continue
        ends = pa.concat_arrays(
            [summary.column(f"{end}_{at}").combine_chunks() for end in ("low", "high")]
        )
        if infinite(ends).any():
            raise AnonError(
                request.function,
                f"{name} must hold finite values",
                "some that are NaN or infinite",
                "make them NULL or leave the rows out",
            )
        widths[name] = numbers(request.function, name, sql_type, ends).width
    sensitive = {name: distribution(values) for name, values in held.items()}
    return Domain(int(summary.column("rows")[0].as_py()), widths, distinct, sensitive)


def distribution(held: pa.Table) -> Distribution:
    """Return a distribution from the columns ``value`` and ``count``."""
    keys = sort_keys(held.column("value").combine_chunks())
    order = pc.sort_indices(keys)
    counts = integers(held.column("count").combine_chunks()).astype(np.int64)
    return Distribution(keys.take(order).cast(pa.binary()), counts[integers(order)])


def sort_keys(values: pa.Array) -> pa.Array:
    """Return the binary sort keys of values, the empty key for NULL."""
    if len(values) == 0:
        return pa.array([], pa.binary())
    name = "value"
    (found,) = evaluated({name: values}, sql_types([values]), [SORT_KEY.format(quote(name))])
    return found
