"""One query of a user as a tree of what is known to be harmless; all else is refused by name.

This is a list of what is allowed, never of what is not: a part of sqlglot's tree that is not
named here is an error, so neither a second table nor a function can come through.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from anon_sql.core.names import split
from anon_sql.core.roles import fold
from anon_sql.errors import AnonError

_AGGREGATES: Mapping[type[exp.Expression], str] = {
    exp.Count: "count",
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Min: "min",
    exp.Max: "max",
}
_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
_TYPED = ("DATE", "TIME", "TIMESTAMP", "TIMESTAMPTZ")  # DATE '2020-01-01'
_EXACT = 2**53
ALLOWED = "SELECT count(*) FROM adult WHERE age > 40 AND sex = 'Female' is what one may look like"


@dataclass(frozen=True)
class Query:
    """aggregate: its name; column: what it is of, None for count(*); where: the condition, every
    name quoted and unqualified; groups: the columns of GROUP BY."""

    text: str
    aggregate: str
    column: str | None
    where: exp.Expression | None
    groups: tuple[str, ...]

    @property
    def call(self) -> str:
        """The aggregate as SQL."""
        inside = "*" if self.column is None else exp.to_identifier(self.column, quoted=True).sql()
        return f"{self.aggregate}({inside})"


def parse(function: str, text: object, relation: str) -> Query:
    """The query, or AnonError that names the clause that is not allowed.

    relation: the raw table as the call names it; the query may also call it ``raw``.
    """
    if not isinstance(text, str):
        raise AnonError(function, "a query must be a text", "NULL", ALLOWED)
    try:
        statements = sqlglot.parse(text, read="duckdb")
    except (SqlglotError, RecursionError):
        raise AnonError(function, "a query must be SQL", "what cannot be parsed", ALLOWED) from None
    if len(statements) != 1:
        raise AnonError(function, "a query must be one SELECT", f"{len(statements)} statements")
    select = statements[0]
    if not isinstance(select, exp.Select):
        got = "nothing" if select is None else select.key.upper()
        raise AnonError(function, "a query must be one SELECT", got, ALLOWED)
    try:
        return _query(function, text, select, relation)
    except RecursionError:
        raise AnonError(function, "a query must be readable", "too many brackets") from None


def _query(function: str, text: str, select: exp.Select, relation: str) -> Query:
    _require_parts(function, select, ("expressions", "from", "from_", "where", "group"))
    source = select.args.get("from_") or select.args.get("from")
    if source is None:
        raise _refused(function, "a SELECT without FROM")
    _require_table(function, source, relation)
    grouped = select.args.get("group")
    groups: tuple[str, ...] = ()
    if grouped is not None:
        _require_parts(function, grouped, ("expressions",), "GROUP BY")
        groups = tuple(_column(function, part, "GROUP BY") for part in grouped.expressions)
        if not groups:
            raise _refused(function, "GROUP BY ALL")
    found = [_output(function, part, groups) for part in select.expressions]
    calls = [one for one in found if one is not None]
    if len(calls) != 1:
        raise AnonError(
            function,
            "a query must have one count, sum, avg, min or max",
            f"{len(calls)}",
            "write a query for each",
        )
    where = select.args.get("where")
    condition = None if where is None else where.this
    if condition is not None:
        _require_condition(function, condition)
        condition = condition.copy()
        for column in condition.find_all(exp.Column):
            column.replace(exp.column(exp.to_identifier(column.name, quoted=True)))
    return Query(text, *calls[0], condition, groups)


def _require_table(function: str, source: exp.Expression, relation: str) -> None:
    table = source.this
    if not isinstance(table, exp.Table):
        raise _refused(function, f"{table.key.upper()} in FROM")
    _require_parts(function, table, ("this", "db", "catalog"), "FROM")
    if not isinstance(table.this, exp.Identifier):
        raise _refused(function, "a function in FROM")
    parts = [fold(part.name) for part in table.parts]
    wanted = [fold(part) for part in split(relation)]
    if parts not in (wanted, [fold(relation)], ["raw"]):
        raise AnonError(
            function,
            "a query must read the raw table alone",
            "another table in FROM",
            f"write FROM raw or FROM {relation}",
        )


def _output(
    function: str, node: exp.Expression, groups: tuple[str, ...]
) -> tuple[str, str | None] | None:
    """What a column of the result is: (aggregate, column), or None for one of GROUP BY."""
    if isinstance(node, exp.Alias):
        node = node.this
    name = _AGGREGATES.get(type(node))
    if name is None:
        if isinstance(node, exp.Column):
            column = _column(function, node, "SELECT")
            if fold(column) in {fold(group) for group in groups}:
                return None
            raise _refused(function, "a column that is not in GROUP BY in SELECT")
        raise _refused(function, f"{_said(node)} in SELECT")
    extra = [key for key, value in node.args.items() if value and key not in ("this", "big_int")]
    if extra or (isinstance(node.this, exp.Star) and name != "count"):
        raise _refused(function, f"{_said(node)} of more than one column")
    if isinstance(node.this, exp.Star) or (name == "count" and node.this is None):
        return name, None
    return name, _column(function, node.this, name)


def _require_condition(function: str, node: exp.Expression) -> None:
    if isinstance(node, (exp.And, exp.Or)):
        _require_condition(function, node.this)
        _require_condition(function, node.expression)
    elif isinstance(node, (exp.Not, exp.Paren)):
        _require_condition(function, node.this)
    elif isinstance(node, _COMPARISONS):
        _require_parts(function, node, ("this", "expression"), "WHERE")
        sides = [node.this, node.expression]
        for side in sides:
            _require_value(function, side)
        if not any(isinstance(side, exp.Column) for side in sides):
            raise _refused(function, f"{_said(node)} without a column in WHERE")
    elif isinstance(node, exp.Between):
        _require_parts(function, node, ("this", "low", "high"), "BETWEEN")
        _column(function, node.this, "BETWEEN")
        for side in (node.args["low"], node.args["high"]):
            _require_constant(function, side)
    elif isinstance(node, exp.In):
        _require_parts(function, node, ("this", "expressions"), "IN")
        _column(function, node.this, "IN")
        for one in node.expressions:
            _require_constant(function, one)
    elif isinstance(node, exp.Is) and isinstance(node.expression, exp.Null):
        _column(function, node.this, "IS NULL")
    elif isinstance(node, exp.Like):
        _require_parts(function, node, ("this", "expression", "negate"), "LIKE")
        _column(function, node.this, "LIKE")
        _require_constant(function, node.expression)
    else:
        raise _refused(function, f"{_said(node)} in WHERE")


def _require_value(function: str, node: exp.Expression) -> None:
    if isinstance(node, exp.Column):
        _column(function, node, "WHERE")
    else:
        _require_constant(function, node)


def _require_constant(function: str, node: exp.Expression) -> None:
    inner = node.this if isinstance(node, exp.Neg) else node
    if isinstance(inner, exp.Cast) and type(inner) is exp.Cast and inner is node:
        kind = inner.args["to"]
        plain = isinstance(inner.this, exp.Literal) and inner.this.is_string
        if plain and kind.sql(dialect="duckdb") in _TYPED:
            return
    if type(inner) is exp.Boolean and inner is node:
        return
    if type(inner) is not exp.Literal or (inner is not node and inner.is_string):
        raise _refused(function, f"{_said(node)} in WHERE")
    if not inner.is_string and "e" in inner.name.lower() and abs(float(inner.name)) > _EXACT:
        raise _refused(function, "a number with an exponent beyond 2^53")


def _column(function: str, node: exp.Expression, where: str) -> str:
    if not isinstance(node, exp.Column) or isinstance(node.this, exp.Star):
        raise _refused(function, f"{_said(node)} in {where}")
    if any(value for key, value in node.args.items() if key != "this"):
        raise _refused(function, f"a qualified column in {where}")
    if fold(node.name).startswith("__anon_"):
        raise _refused(function, "a column whose name begins with __anon_")
    return node.name


def _require_parts(
    function: str, node: exp.Expression, allowed: tuple[str, ...], where: str = ""
) -> None:
    for key, value in node.args.items():
        if value and key not in allowed:
            clause = key.strip("_").replace("_", " ").upper()
            raise _refused(function, f"{clause} in {where}" if where else clause)


def _said(node: exp.Expression) -> str:
    """A clause as an error names it: its kind, a function by its name, never what is in it."""
    if isinstance(node, exp.Anonymous):
        return f"the function {node.name}"
    if isinstance(node, exp.Func) and not isinstance(node, (exp.And, exp.Or, exp.Cast)):
        return f"the function {node.sql_name().lower()}"
    return node.key.upper()


def _refused(function: str, clause: str) -> AnonError:
    return AnonError(function, "a query holds what is not allowed", clause, ALLOWED)
