"""Columns of a released file that show means or medians: numbers, which a CSV holds as text."""

from collections.abc import Mapping, Sequence
from typing import Any

import duckdb

from anon_sql.core.labels.one_value import FORMS, is_one_value, type_of
from anon_sql.core.names import quote
from anon_sql.core.roles import fold
from anon_sql.errors import AnonError


def form_of(written: Mapping[str, Any] | None) -> str | None:
    """Return 'mean' or 'median' if the manifest says so, else None."""
    options = written and written["parameters"]["options"]
    form = options.get("format") if isinstance(options, Mapping) else None
    return form if form in FORMS else None


def cast_values(
    con: duckdb.DuckDBPyConnection, function: str, table: str, qids: Sequence[str], form: object
) -> None:
    """Give the means or medians in a table their type, by that in the relation ``raw``.

    qids: the quasi-identifiers. form: the format of the release. What is no value of the type
    becomes NULL.
    """
    if form not in FORMS:
        return
    raw, released = (con.sql(f"FROM {quote(name)}") for name in ("raw", table))
    kinds = dict(zip(map(fold, raw.columns), map(str, raw.types), strict=True))
    own = {fold(name): name for name in released.columns}
    for name in qids:
        kind = kinds[fold(name)]
        if is_one_value(function, name, kind, str(form)):
            column, wanted = quote(own[fold(name)]), type_of(kind, str(form))
            con.execute(
                f"ALTER TABLE {quote(table)} ALTER {column} TYPE {wanted} "
                f"USING TRY_CAST({column} AS {wanted})"
            )


def require_labels(function: str, written: Mapping[str, Any] | None) -> None:
    """Raise AnonError for a release of means or medians."""
    form = form_of(written)
    if form is not None:
        raise AnonError(
            function,
            "the release must show labels",
            f"one with --format {form}",
            "anon-sql verify, and audit() and value_loss() in SQL, read it",
        )
