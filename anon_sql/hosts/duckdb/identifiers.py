"""Find the identifiers of a relation that people may have several rows by."""

from collections.abc import Collection, Iterable, Mapping

import duckdb

from anon_sql.core.names import quote
from anon_sql.core.roles import fold
from anon_sql.hosts.duckdb.looks import shapes_of
from anon_sql.measures.person_keys import Identifier
from anon_sql.suggest.roles import Shape, kind_of, suggested

FIRST = 2_000  # rows that identifiers are looked for in


def without(types: Mapping[str, str], labelled: Iterable[str]) -> dict[str, str]:
    """Return the SQL type of each column that is no quasi-identifier and not sensitive."""
    folded = {fold(name) for name in labelled}
    return {name: kind for name, kind in types.items() if fold(name) not in folded}


def kinds_of(shapes: Iterable[Shape], identifiers: Iterable[str]) -> dict[str, str]:
    """Return the kind of each column that is an identifier, or whose first rows look like one.

    identifiers: columns with this role. shapes: of the first rows of each column that may be one.
    """
    with_role = {fold(name) for name in identifiers}
    kinds = {}
    for shape in shapes:
        suggestion = suggested(shape)
        by_values = suggestion is not None and suggestion.role == "identifier"
        if by_values or fold(shape.name) in with_role:
            kinds[shape.name] = kind_of(shape)
    return kinds


def identifiers_of(
    con: duckdb.DuckDBPyConnection,
    table: str,
    labelled: Collection[str],
    identifiers: Collection[str],
) -> list[Identifier]:
    """Return the identifiers of a relation. How alike rows with one value are is not measured.

    con: with the functions of this package. labelled: quasi-identifiers and sensitive columns,
    which are none. identifiers: columns with this role.
    """
    relation = con.table(table)
    types = without(dict(zip(relation.columns, map(str, relation.types), strict=True)), labelled)
    measured = []
    for name, kind in kinds_of(shapes_of(con, types, quote(table), FIRST), identifiers).items():
        counted = f"SELECT count({quote(name)}), count(DISTINCT {quote(name)}) FROM {quote(table)}"
        ((filled, values),) = con.execute(counted).fetchall()
        measured.append(Identifier(name, kind, filled, values))
    return measured
