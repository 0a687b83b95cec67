"""Print the statements that sample, hash and count rows, with names always quoted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.core.arrow import integers
from anon_sql.core.columns import infinite, is_number, numbers
from anon_sql.core.duckdb_internals.hashing import HASH, sort_key
from anon_sql.core.names import quote
from anon_sql.core.printing import evaluated, sql_types
from anon_sql.core.table import Distribution, Domain
from anon_sql.errors import AnonError
from anon_sql.pipeline.request import Request

if TYPE_CHECKING:
    from sqlglot import exp
else:
    from anon_sql.core import sql_trees as exp

ROWS_ALIAS = "anon_rows"  # the alias of the rows in statements
REGION = "__anon_region"  # the column that numbers the region of a row


def column(name: str) -> exp.Column:
    """Return a reference to a column of the rows."""
    return exp.column(name, table=ROWS_ALIAS, quoted=True)


def relation(name: str) -> exp.Table:
    """Return a reference to a relation that the host has given a plain name."""
    named = exp.TableAlias(this=exp.to_identifier(ROWS_ALIAS, quoted=True))
    return exp.Table(this=exp.to_identifier(name, quoted=True), alias=named)


def spreading_hash(names: Sequence[str], seed: int, dialect: str) -> exp.Expression:
    """Return a hash of a seed and the columns of a row, at least 0."""
    expressions = [exp.Literal.number(seed % 2**31), *map(column, names)]
    if dialect == "duckdb":
        return exp.Anonymous(this=HASH, expressions=expressions)
    hashed = exp.Anonymous(this="xxhash64", expressions=expressions)
    return exp.Anonymous(this="shiftrightunsigned", expressions=[hashed, exp.Literal.number(1)])


def modulo(value: exp.Expression, by: int) -> exp.Expression:
    """Return the remainder of a value that is at least 0."""
    return exp.Mod(this=value, expression=exp.Literal.number(by))


def _zero() -> exp.Expression:
    return exp.Literal.number(0)


def summary_select(request: Request, dialect: str, source: str) -> str:
    """Return the statement of one row that summarizes the quasi-identifiers of a relation.

    Its columns are ``rows``, and for quasi-identifier number i either ``low_i`` and ``high_i`` or
    ``distinct_i``; in Spark for ``is_k_alone`` also ``different``, as ``one_in`` takes it.
    """
    if dialect == "spark":
        return _grouped_summary(request, dialect, source)
    aggregates: list[Any] = [exp.alias_(exp.Count(this=exp.Star()), "rows")]
    for c, name, number in _quasi(request):
        if number:
            aggregates.append(exp.alias_(exp.Min(this=column(name)), f"low_{c}"))
            aggregates.append(exp.alias_(exp.Max(this=column(name)), f"high_{c}"))
        else:
            aggregates.append(exp.alias_(_distinct(column(name)), f"distinct_{c}"))
    return exp.select(*aggregates).from_(relation(source)).sql(dialect)


def _grouped_summary(request: Request, dialect: str, source: str) -> str:
    """Return the statement of ``summary_select`` with rows grouped by all texts first.

    Spark counts distinct values of several columns in as many copies of each row. Of rows whose
    hash is chosen, those that are alike are a group of their own.
    """
    rows = exp.Coalesce(this=exp.Sum(this=exp.column("n")), expressions=[_zero()])
    of_all: list[Any] = [exp.alias_(rows, "rows")]
    of_group: list[Any] = [exp.alias_(exp.Count(this=exp.Star()), "n")]
    texts: list[exp.Expression] = []
    for c, name, number in _quasi(request):
        if number:
            for fold, end in ((exp.Min, f"low_{c}"), (exp.Max, f"high_{c}")):
                of_group.append(exp.alias_(fold(this=column(name)), end))
                of_all.append(exp.alias_(fold(this=exp.column(end)), end))
        else:
            texts.append(column(name))
            of_group.append(exp.alias_(column(name), f"text_{c}"))
            of_all.append(exp.alias_(_distinct(exp.column(f"text_{c}")), f"distinct_{c}"))
    if is_k_alone(request):
        hashed = spreading_hash([*request.quasi], request.seed, dialect)
        chosen = exp.Case().when(
            exp.EQ(this=modulo(hashed, HASH_MODULUS), expression=_zero()), hashed
        )
        texts.append(chosen)
        of_group.append(exp.alias_(chosen, "hashed"))
        of_all.append(exp.alias_(exp.Count(this=exp.column("hashed")), "different"))
    groups = exp.select(*of_group).from_(relation(source)).group_by(*texts)
    return exp.select(*of_all).from_(groups.subquery("groups")).sql(dialect)


class _QuasiPosition(NamedTuple):
    """A quasi-identifier: its position, its name, and whether it is not text."""

    position: int
    name: str
    is_number: bool


def _quasi(request: Request) -> Iterator[_QuasiPosition]:
    """Yield the quasi-identifiers."""
    for c, (name, sql_type) in enumerate(request.quasi.items()):
        yield _QuasiPosition(c, name, is_number(request.function, name, sql_type))


def value_count_select(request: Request, name: str, dialect: str, source: str) -> str:
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


def _distinct(operand: exp.Expression) -> exp.Expression:
    """Return the aggregate that counts distinct values, NULL as one."""
    values = exp.Count(this=exp.Distinct(expressions=[operand]))
    missing = exp.Case().when(exp.Is(this=operand.copy(), expression=exp.null()), "1").else_("0")
    nulls = exp.Coalesce(this=exp.Max(this=missing), expressions=[_zero()])
    return exp.Paren(this=exp.Add(this=values, expression=nulls))


def table_domain(
    request: Request, summary: pa.Table, value_counts: Mapping[str, pa.Table]
) -> Domain:
    """Return the domain of a table from the results of its statements.

    summary: of ``summary_select``; value_counts: of ``value_count_select``, by protected column.
    Raises AnonError for a column with NaN or infinity.
    """
    widths, distinct = {}, {}
    for c, (name, sql_type) in enumerate(request.quasi.items()):
        if not is_number(request.function, name, sql_type):
            distinct[name] = int(summary.column(f"distinct_{c}")[0].as_py())
            continue
        ends = pa.concat_arrays(
            [summary.column(f"{end}_{c}").combine_chunks() for end in ("low", "high")]
        )
        if infinite(ends).any():
            raise AnonError(
                request.function,
                f"{name} must hold finite values",
                "some that are NaN or infinite",
                "make them NULL or leave the rows out",
            )
        widths[name] = numbers(request.function, name, sql_type, ends).width
    sensitive = {name: distribution(values) for name, values in value_counts.items()}
    return Domain(int(summary.column("rows")[0].as_py()), widths, distinct, sensitive)


def distribution(value_counts: pa.Table) -> Distribution:
    """Return a distribution from the columns ``value`` and ``count``."""
    keys = sort_keys(value_counts.column("value").combine_chunks())
    order = pc.sort_indices(keys)
    counts = integers(value_counts.column("count").combine_chunks()).astype(np.int64)
    return Distribution(keys.take(order).cast(pa.binary()), counts[integers(order)])


def sort_keys(values: pa.Array) -> pa.Array:
    """Return the binary sort keys of values, the empty key for NULL."""
    if len(values) == 0:
        return pa.array([], pa.binary())
    name = "value"
    (keys,) = evaluated({name: values}, sql_types([values]), [sort_key(quote(name))])
    return keys


SAMPLE_ROWS = 200_000  # rows of a sample
DIFFERENT_ROWS = 100_000  # different rows of a sample, if the table has so many
HASH_MODULUS = 1024  # of so many different rows, one is counted
WEIGHT = "weight"


def one_in(rows: int, wanted: int = SAMPLE_ROWS, different: int | None = None) -> int:
    """Return m for a sample of about ``wanted`` rows, one in m.

    different: the number of distinct rows among one row in ``HASH_MODULUS`` by hash. The sample is
    enlarged until about ``DIFFERENT_ROWS`` distinct rows are expected in it, because few distinct
    rows would not represent the others.
    """
    many = rows // wanted
    if different is not None:
        many = min(many, different * HASH_MODULUS // DIFFERENT_ROWS)
    return max(1, many)


def sampled(rows: int, m: int, sample: Callable[[int], pa.Table]) -> tuple[pa.Table, int]:
    """Return a sample of one row in m, and m; m is decreased if most rows are equal.

    rows: of the table. sample: returns the sample of a given m, as ``sample_select`` describes it.
    Either all rows with equal quasi-identifiers are in the sample or none, so few distinct rows
    would not represent the others.
    """
    wanted = max(1, min(DIFFERENT_ROWS, rows // (2 * m)))
    rows_of_sample = sample(m)
    while m > 1 and rows_of_sample.num_rows < wanted:
        m = max(1, m * rows_of_sample.num_rows // wanted)
        rows_of_sample = sample(m)
    return rows_of_sample, m


def is_k_alone(request: Request) -> bool:
    """Return whether rows are legal together if and only if there are k of them."""
    return not (request.protected or request.entity is not None or request.strata)


def sample_select(request: Request, dialect: str, source: str, m: int) -> str:
    """Return the statement that samples one row in m, by a hash of the quasi-identifiers.

    Its columns are ``quasi_i`` for quasi-identifier number i, text as VARCHAR, and ``weight``, the
    number of sampled rows with these values. Rows that are equal in all quasi-identifiers are all
    in the sample or none is (see ``sampled``); if other columns decided, regions would disclose
    their values.
    """
    columns = [
        exp.alias_(value(name, sql_type, request.function), f"quasi_{c}")
        for c, (name, sql_type) in enumerate(request.quasi.items())
    ]
    query = exp.select(*columns, exp.alias_(exp.Count(this=exp.Star()), WEIGHT))
    query = query.from_(relation(source))
    if m > 1:
        rest = modulo(spreading_hash([*request.quasi], request.seed, dialect), m)
        query = query.where(exp.EQ(this=rest, expression=exp.Literal.number(0)))
    return query.group_by(*(column_alias.this for column_alias in columns)).sql(dialect)


def value(name: str, sql_type: str, function: str) -> exp.Expression:
    """Return a quasi-identifier as it is compared: text of any type as VARCHAR."""
    if is_number(function, name, sql_type) or sql_type == "VARCHAR":
        return column(name)
    return exp.cast(column(name), exp.DataType.Type.VARCHAR)


def dealt_select(request: Request, dialect: str, source: str, name: str) -> str:
    """Return the statement of every row with a number at least 0 that spreads it over parts.

    name: of its column. Persons stay whole. Else rows that are equal in all quasi-identifiers have
    numbers in turn, so that each part has as many of them whatever their other columns are; these
    decide only who comes first.
    """
    seed = request.seed + 1
    if request.entity is not None:
        number = spreading_hash([request.entity], seed, dialect)
    else:
        turn = exp.Window(
            this=exp.RowNumber(),
            partition_by=[column(quasi_name) for quasi_name in request.quasi],
            order=exp.Order(
                expressions=[exp.Ordered(this=spreading_hash(request.kept, seed, dialect))]
            ),
        )
        begin = modulo(spreading_hash([*request.quasi], seed, dialect), 2**62)  # no sum overflows
        number = exp.Add(this=exp.Paren(this=begin), expression=turn)
    all_columns = exp.Column(this=exp.Star(), table=exp.to_identifier(ROWS_ALIAS, quoted=True))
    dealt = exp.alias_(number, name, quoted=True)
    return exp.select(all_columns, dealt).from_(relation(source)).sql(dialect)


def count_select(
    request: Request,
    dialect: str,
    source: str,
    name: str | None,
    by: Mapping[str, exp.Expression] | None = None,
    most: int | None = None,
) -> str:
    """Return the statement that counts the rows of each region in a relation of routed rows.

    Its columns are ``region``, ``rows`` and ``persons``; with the name of a protected column,
    ``region``, ``value`` and ``count``, as in ``value_count_select``. by: the columns by which it
    groups rows instead of their region, by name. most: rows of the result.
    """
    by = {"region": column(REGION)} if by is None else by
    columns = [exp.alias_(value, alias) for alias, value in by.items()]
    groups = [*by.values()]
    if name is None:
        columns.append(exp.alias_(exp.Count(this=exp.Star()), "rows"))
        columns.append(exp.alias_(counted(request), "persons"))
    else:
        columns += [exp.alias_(column(name), "value"), exp.alias_(counted(request), "count")]
        groups.append(column(name))
    query = exp.select(*columns).from_(relation(source)).group_by(*groups)
    return (query if most is None else query.limit(most)).sql(dialect)
