"""Print the assignment of rows to regions as SQL."""

from sqlglot import exp

from anon_sql.core.columns import is_number
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


def cuts_select(request: Request, regions: Regions, dialect: str, source: str | None = None) -> str:
    """Return the statement that makes the relation of cut points, one row of typed columns.

    Its parameters are ``Tree.texts`` in order, as ``?``; with a source, they are the columns
    ``cut_0``, ``cut_1``, … of that relation instead.
    """
    found = []
    for at, each in enumerate(regions.tree.points):
        text = exp.Placeholder() if source is None else exp.column(f"cut_{at}", quoted=True)
        kind = request.quasi[each.column]
        number = is_number(request.function, each.column, kind)
        typed = exp.DataType.build(kind if number else "VARCHAR", dialect="duckdb")
        found.append(exp.alias_(exp.Cast(this=text, to=typed), f"cut_{at}", quoted=True))
    query = exp.select(*found, exp.alias_(exp.Literal.number(0), "cut_none"))
    return (query if source is None else query.from_(relation(source, CUTS))).sql(dialect)


def routed_select(
    request: Request, regions: Regions, dialect: str, source: str, cuts: str, *, rows: bool = True
) -> str:
    """Return the statement of every row of a relation with the number of its region.

    The number is the column ``REGION``, from 0. cuts: the relation that ``cuts_select`` makes.
    rows: whether the columns of the relation are in the result.
    """
    return _routed(request, regions, dialect, source, cuts, rows=rows).sql(dialect, copy=False)


def count_select(
    request: Request, regions: Regions, dialect: str, source: str, cuts: str, name: str | None
) -> str:
    """Return the statement that counts the rows of each region.

    Its columns are ``region``, ``rows`` and ``persons``; with the name of a protected column,
    ``region``, ``value`` and ``count``, as in ``whole_table.held_select``.
    """
    from anon_sql.routing.whole_table import counted

    routed = _routed(request, regions, dialect, source, cuts, rows=True)
    region = exp.column(REGION, table=ROWS, quoted=True)
    found = [exp.alias_(region, "region")]
    groups: list[exp.Expression] = [region]
    if name is None:
        found.append(exp.alias_(exp.Count(this=exp.Star()), "rows"))
        found.append(exp.alias_(counted(request), "persons"))
    else:
        found += [exp.alias_(column(name), "value"), exp.alias_(counted(request), "count")]
        groups.append(column(name))
    query = exp.select(*found).from_(routed.subquery(ROWS, copy=False), copy=False)
    return query.group_by(*groups, copy=False).sql(dialect, copy=False)


def _routed(
    request: Request, regions: Regions, dialect: str, source: str, cuts: str, *, rows: bool
) -> exp.Select:
    region = _region(request, regions, regions.tree.root, dialect)
    number = exp.alias_(region, REGION, quoted=True, copy=False)
    every = [exp.Column(this=exp.Star(), table=exp.to_identifier(ROWS, quoted=True))]
    query = exp.select(*(every if rows else []), number, copy=False)
    query = query.from_(relation(source), copy=False)
    return query.join(relation(cuts, CUTS), join_type="cross", copy=False)


def _region(request: Request, regions: Regions, node: Cut | Leaf, dialect: str) -> exp.Expression:
    """Return the number of the region of a row, as an expression that is never NULL."""
    if isinstance(node, Leaf):
        first, parts = regions.of_leaf[node.number]
        number = exp.Literal.number(first)
        if parts == 1:
            return number
        hashed = row_hash(_together(request), request.seed + 1, dialect)
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


def _together(request: Request) -> list[str]:
    """Return the columns whose hash spreads rows over parts: persons stay whole."""
    return spread_by(request) if request.entity is None else [request.entity]
