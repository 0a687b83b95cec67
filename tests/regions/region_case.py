"""The regions of rows as SQL: an oracle for the kernel that routes them."""

from sqlglot import exp

from anon_sql.regions.sql import (
    REGION,
    ROWS_ALIAS,
    column,
    dealt_select,
    modulo,
    value,
)
from anon_sql.regions.tree import Leaf, Test

CUTS = "anon_cuts"  # the alias of the relation of cut points
DEALT = "anon_dealt"  # the column of the numbers that spread rows over parts


def routed_select(request, regions, source, cuts, *, rows=True):
    """Return the statement of every row of a relation with the number of its region.

    The number is the column ``REGION``, from 0. cuts: a relation of one row with the cut points, the
    columns ``cut_0``, ``cut_1``, …. rows: whether the columns of the relation are in the result.
    """
    region = _region(request, regions, regions.tree.root)
    number = exp.alias_(region, REGION, quoted=True, copy=False)
    star = exp.Star(except_=[exp.to_identifier(DEALT)])
    every = [exp.Column(this=star, table=exp.to_identifier(ROWS_ALIAS, quoted=True))]
    query = exp.select(*(every if rows else []), number, copy=False)
    dealt = dealt_select(request, "duckdb", source, DEALT)
    query = query.from_(exp.maybe_parse(dealt, dialect="duckdb").subquery(ROWS_ALIAS), copy=False)
    points = exp.Table(this=exp.to_identifier(cuts, quoted=True)).as_(CUTS, table=True, quoted=True)
    query = query.join(points, join_type="cross", copy=False)
    return query.sql("duckdb", copy=False)


def _region(request, regions, node):
    """Return the number of the region of a row, as an expression that is never NULL."""
    if isinstance(node, Leaf):
        first, parts = regions.of_leaf[node.number]
        number = exp.Literal.number(first)
        if parts == 1:
            return number
        part = exp.cast(modulo(column(DEALT), parts), exp.DataType.Type.INT)
        return exp.Add(this=number, expression=part)
    yes, no = (_region(request, regions, side) for side in (node.yes, node.no))
    if isinstance(yes, exp.Literal) and yes == no:
        return yes
    if node.null:
        chosen, other = exp.If(this=_fails(request, node), true=no), yes
    else:
        chosen, other = exp.If(this=_passes(request, node), true=yes), no
    return exp.Case(ifs=[chosen], default=other)  # its methods would copy the branches


def _passes(request, node):
    """Return a test that is true for the values that pass; NULL gives NULL, or passes."""
    held = value(node.column, request.quasi[node.column], request.function)
    if node.test is Test.MISSING:
        return exp.Is(this=held, expression=exp.null())
    points = [exp.column(f"cut_{at}", table=CUTS, quoted=True) for at in node.points]
    if node.test is Test.AT_MOST:
        return exp.LTE(this=held, expression=points[0])
    return exp.In(this=held, expressions=points)


def _fails(request, node):
    """Return a test that is true for the values that do not pass; NULL gives NULL, or passes."""
    passes = _passes(request, node)
    if isinstance(passes, exp.LTE):
        return exp.GT(this=passes.this, expression=passes.expression)
    return exp.Not(this=passes)
