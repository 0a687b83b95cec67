"""Print the statements that hash rows and count those of each region."""

from collections.abc import Mapping, Sequence

from sqlglot import exp

from anon_sql.pipeline.request import Request
from anon_sql.routing.references import REGION, ROWS, column, relation, row_hash
from anon_sql.routing.sampling import spread_by
from anon_sql.routing.whole_table import counted


def hashed_select(
    request: Request, dialect: str, source: str, hashes: Mapping[str, Sequence[str]]
) -> str:
    """Return the statement of every row with hashes; hashes: the columns of each, by its name."""
    hashed = [
        exp.alias_(row_hash(names, request.seed + 1, dialect), name, quoted=True)
        for name, names in hashes.items()
    ]
    every = exp.Column(this=exp.Star(), table=exp.to_identifier(ROWS, quoted=True))
    return exp.select(every, *hashed).from_(relation(source)).sql(dialect)


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


def together(request: Request) -> list[str]:
    """Return the columns whose hash spreads rows over parts: persons stay whole."""
    return spread_by(request) if request.entity is None else [request.entity]
