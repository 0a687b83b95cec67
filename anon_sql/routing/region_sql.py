"""Print the assignment of rows to regions as SQL."""

from sqlglot import exp

from anon_sql.pipeline.request import Request
from anon_sql.routing.references import (
    CUTS,
    REGION,
    ROWS,
    column,
    modulo,
    point,
    relation,
    row_hash,
)
from anon_sql.routing.regions import Regions
from anon_sql.routing.route_tree import Cut, Leaf, Test
from anon_sql.routing.sampling import spread_by, value
from anon_sql.routing.whole_table import counted


def routed_select(
    request: Request, regions: Regions, dialect: str, source: str, cuts: str, *, rows: bool = True
) -> str:
    """Return the statement of every row of a relation with the number of its region.

    The number is the column ``REGION``, from 0. cuts: the relation of ``cut_points``. rows: whether
    the columns of the relation are in the result.
    """
    region = _region(request, regions, regions.tree.root, dialect)
    number = exp.alias_(region, REGION, quoted=True, copy=False)
    every = [exp.Column(this=exp.Star(), table=exp.to_identifier(ROWS, quoted=True))]
    query = exp.select(*(every if rows else []), number, copy=False)
    query = query.from_(relation(source), copy=False)
    query = query.join(relation(cuts, CUTS), join_type="cross", copy=False)
    return query.sql(dialect, copy=False)


def hashed_select(request: Request, dialect: str, source: str, name: str) -> str:
    """Return the statement of every row with the hash that spreads it over parts, a column."""
    hashed = exp.alias_(row_hash(together(request), request.seed + 1, dialect), name, quoted=True)
    every = exp.Column(this=exp.Star(), table=exp.to_identifier(ROWS, quoted=True))
    return exp.select(every, hashed).from_(relation(source)).sql(dialect)


def count_select(request: Request, dialect: str, source: str, name: str | None) -> str:
    """Return the statement that counts the rows of each region in a relation of routed rows.

    Its columns are ``region``, ``rows`` and ``persons``; with the name of a protected column,
    ``region``, ``value`` and ``count``, as in ``whole_table.held_select``.
    """
    region = column(REGION)
    found = [exp.alias_(region, "region")]
    groups: list[exp.Expression] = [region]
    if name is None:
        found.append(exp.alias_(exp.Count(this=exp.Star()), "rows"))
        found.append(exp.alias_(counted(request), "persons"))
    else:
        found += [exp.alias_(column(name), "value"), exp.alias_(counted(request), "count")]
        groups.append(column(name))
    return exp.select(*found).from_(relation(source)).group_by(*groups).sql(dialect)


def _region(request: Request, regions: Regions, node: Cut | Leaf, dialect: str) -> exp.Expression:
    """Return the number of the region of a row, as an expression that is never NULL."""
    if isinstance(node, Leaf):
        first, parts = regions.of_leaf[node.number]
        number = exp.Literal.number(first)
        if parts == 1:
            return number
        hashed = row_hash(together(request), request.seed + 1, dialect)
        part = exp.cast(modulo(hashed, parts), exp.DataType.Type.INT)
        return exp.Add(this=number, expression=part)
    yes, no = (_region(request, regions, side, dialect) for side in (node.yes, node.no))
    if isinstance(yes, exp.Literal) and yes == no:
        return yes
    if node.null:
        chosen, other = exp.If(this=_fails(request, node), true=no), yes
    else:
        chosen, other = exp.If(this=_passes(request, node), true=yes), no
    return exp.Case(ifs=[chosen], default=other)  # its methods would copy the branches


def _passes(request: Request, node: Cut) -> exp.Expression:
    """Return a test that is true for the values that pass; NULL gives NULL, or passes."""
    held = value(node.column, request.quasi[node.column], request.function)
    if node.test is Test.MISSING:
        return exp.Is(this=held, expression=exp.null())
    points = [point(at) for at in node.points]
    if node.test is Test.AT_MOST:
        return exp.LTE(this=held, expression=points[0])
    return exp.In(this=held, expressions=points)


def _fails(request: Request, node: Cut) -> exp.Expression:
    """Return a test that is true for the values that do not pass; NULL gives NULL, or passes."""
    passes = _passes(request, node)
    if isinstance(passes, exp.LTE):
        return exp.GT(this=passes.this, expression=passes.expression)
    return exp.Not(this=passes)


def together(request: Request) -> list[str]:
    """Return the columns whose hash spreads rows over parts: persons stay whole."""
    return spread_by(request) if request.entity is None else [request.entity]
