"""Write references to columns and relations in statements, always quoted."""

from collections.abc import Sequence

from sqlglot import exp

ROWS = "anon_rows"  # the alias of the rows in statements
REGION = "__anon_region"  # the column that numbers the region of a row


def column(name: str) -> exp.Column:
    """Return a reference to a column of the rows."""
    return exp.column(name, table=ROWS, quoted=True)


def relation(name: str) -> exp.Table:
    """Return a reference to a relation that the host has given a plain name."""
    named = exp.TableAlias(this=exp.to_identifier(ROWS, quoted=True))
    return exp.Table(this=exp.to_identifier(name, quoted=True), alias=named)


def row_hash(names: Sequence[str], seed: int, dialect: str) -> exp.Expression:
    """Return a hash of a seed and the columns of a row, at least 0."""
    given = [exp.Literal.number(seed % 2**31), *map(column, names)]
    if dialect == "duckdb":
        return exp.Anonymous(this="system.main.hash", expressions=given)
    hashed = exp.Anonymous(this="xxhash64", expressions=given)
    return exp.Anonymous(this="shiftrightunsigned", expressions=[hashed, exp.Literal.number(1)])


def modulo(value: exp.Expression, by: int) -> exp.Expression:
    """Return the remainder of a value that is at least 0."""
    return exp.Mod(this=value, expression=exp.Literal.number(by))
