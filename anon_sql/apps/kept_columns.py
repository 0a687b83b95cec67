"""Count the rows of a release that are unique on its kept columns together."""

from collections.abc import Sequence

import duckdb
import numpy as np

from anon_sql.audit.identifying import unique_at_most
from anon_sql.core.arrow import integers
from anon_sql.core.names import quote
from anon_sql.core.roles import fold


def kept_columns(con: duckdb.DuckDBPyConnection, table: str, labelled: Sequence[str]) -> list[str]:
    """Return the columns of a release but for the quasi-identifiers and the sensitive ones."""
    without = {fold(name) for name in labelled}
    return [name for name in con.table(table).columns if fold(name) not in without]


def unique_on_kept(
    con: duckdb.DuckDBPyConnection, table: str, kept: Sequence[str], share: float
) -> str | None:
    """Return a sentence about the rows of a release that are unique on its kept columns together.

    The result is None if they are at most ``share`` of the rows, as in ``audit``, whose hashes of
    values are compared. con: with the functions of this package.
    """
    if not kept:
        return None
    marks = ", ".join(f"__anon_audit_mark({quote(name)})" for name in kept)
    found = con.sql(f"SELECT {marks} FROM {quote(table)}").to_arrow_table()
    columns = {
        name: np.array(integers(values.combine_chunks()))
        for name, values in zip(kept, found.columns, strict=True)
    }
    looked = unique_at_most(share, kept, columns.__getitem__, found.num_rows)
    if looked.passed or looked.found is None:
        return None
    rows = round(looked.found * found.num_rows)
    one = "1 row is" if rows == 1 else f"{rows:,} rows are"
    return (
        f"{one} unique on the kept columns together, {looked.found:.1%} of the release: "
        f"{looked.example}; whoever knows these values finds the row"
    )
