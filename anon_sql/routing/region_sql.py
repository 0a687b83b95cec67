"""Print the statements that hash rows and count those of each region."""

from collections.abc import Mapping

from sqlglot import exp

from anon_sql.pipeline.request import Request
from anon_sql.routing.references import REGION, ROWS, column, relation, row_hash
from anon_sql.routing.sampling import spread_by
from anon_sql.routing.whole_table import counted


def hashed_select(request: Request, dialect: str, source: str, name: str) -> str:
    """Return the statement of every row with the hash that spreads it over parts, a column."""
    hashed = exp.alias_(row_hash(together(request), request.seed + 1, dialect), name, quoted=True)
    every = exp.Column(this=exp.Star(), table=exp.to_identifier(ROWS, quoted=True))
    return exp.select(every, hashed).from_(relation(source)).sql(dialect)


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
    ``region``, ``value`` and ``count``, as in ``whole_table.held_select``. by: what it groups rows
    by instead of their region, with the names of these columns. most: rows of the result.
    """
    by = {"region": column(REGION)} if by is None else by
    found = [exp.alias_(value, alias) for alias, value in by.items()]
    groups = [*by.values()]
    if name is None:
        found.append(exp.alias_(exp.Count(this=exp.Star()), "rows"))
        found.append(exp.alias_(counted(request), "persons"))
    else:
        found += [exp.alias_(column(name), "value"), exp.alias_(counted(request), "count")]
        groups.append(column(name))
    query = exp.select(*found).from_(relation(source)).group_by(*groups)
    return (query if most is None else query.limit(most)).sql(dialect)


def together(request: Request) -> list[str]:
    """Return the columns whose hash spreads rows over parts: persons stay whole."""
    return spread_by(request) if request.entity is None else [request.entity]
