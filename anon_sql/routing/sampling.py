"""Choose a sample of the rows by a hash of their values, whatever their order."""

from collections.abc import Sequence

from sqlglot import exp

from anon_sql.core.columns import is_number
from anon_sql.pipeline.request import Request
from anon_sql.routing.references import column, modulo, relation, row_hash

ROWS = 200_000  # rows of a sample
WEIGHT = "weight"


def one_in(rows: int, wanted: int = ROWS) -> int:
    """Return m for a sample of about ``wanted`` rows, one in m."""
    return max(1, rows // wanted)


def sample_select(
    request: Request, dialect: str, source: str, m: int, hashed: Sequence[str] | None = None
) -> str:
    """Return the statement that samples one row in m.

    Its columns are ``quasi_i`` for quasi-identifier number i, text as VARCHAR, and ``weight``, the
    number of sampled rows with these values. Rows that are equal in every column that is read are
    all in the sample or none is; if none is, sample again with a smaller m. hashed: the columns
    whose hash decides; None for ``spread_by``.
    """
    taken = [
        exp.alias_(value(name, sql_type, request.function), f"quasi_{at}")
        for at, (name, sql_type) in enumerate(request.quasi.items())
    ]
    query = exp.select(*taken, exp.alias_(exp.Count(this=exp.Star()), WEIGHT))
    query = query.from_(relation(source))
    if m > 1:
        names = spread_by(request) if hashed is None else hashed
        rest = modulo(row_hash(names, request.seed, dialect), m)
        query = query.where(exp.EQ(this=rest, expression=exp.Literal.number(0)))
    return query.group_by(*(each.this for each in taken)).sql(dialect)


def value(name: str, sql_type: str, function: str) -> exp.Expression:
    """Return a quasi-identifier as it is compared: text of any type as VARCHAR."""
    if is_number(function, name, sql_type) or sql_type == "VARCHAR":
        return column(name)
    return exp.cast(column(name), exp.DataType.Type.VARCHAR)


def spread_by(request: Request) -> list[str]:
    """Return the columns whose hash chooses a sample: all that are read."""
    named = [*request.quasi, *request.kept]
    return named if request.entity is None else [*named, request.entity]
