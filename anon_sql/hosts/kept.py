"""Tell callers which rows of a release its kept columns single out, whatever its labels say."""

import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import duckdb
import numpy as np

from anon_sql.audit.columns import unique_sentence
from anon_sql.core.arrow import integers
from anon_sql.core.names import literal, quote
from anon_sql.core.roles import PARAMETER, fold
from anon_sql.errors import AnonWarning
from anon_sql.measures.uniqueness import UNIQUE_SHARE
from anon_sql.pipeline.request import Request

MEASURED = 5_000_000  # rows of a release in parts that are looked at


def kept_of(request: Request) -> list[str]:
    """Return the columns that are released as they are, but for the sensitive ones."""
    return [name for name in request.kept if name not in request.sensitive]


def columns_besides(
    con: duckdb.DuckDBPyConnection, select: str, labelled: Iterable[str]
) -> list[str]:
    """Return the columns of a release but for the quasi-identifiers and the sensitive ones.

    select: a query of the release. labelled: the names of these columns.
    """
    without = {fold(name) for name in labelled}
    return [name for name in con.sql(select).columns if fold(name) not in without]


def unique_on_kept(
    con: duckdb.DuckDBPyConnection,
    select: str,
    kept: Sequence[str],
    share: float,
    k: int | None = None,
) -> str | None:
    """Return a sentence about the rows of a release that few others equal on its kept columns.

    The result is None if the unique ones are at most ``share`` of the rows, as in ``audit``, whose
    hashes of values are compared, and if few have combinations that fewer than k rows have. con:
    with the functions of this package. select: a query of the release.
    """
    if not kept:
        return None
    marks = ", ".join(f"__anon_audit_mark({quote(name)})" for name in kept)
    hashes = con.sql(f"SELECT {marks} FROM ({select})").to_arrow_table()
    columns = {
        name: np.array(integers(values.combine_chunks()))
        for name, values in zip(kept, hashes.columns, strict=True)
    }
    return unique_sentence(share, kept, columns.__getitem__, hashes.num_rows, k)


def unique_in_series(
    con: duckdb.DuckDBPyConnection,
    table: str,
    select: str,
    parameters: Mapping[str, Any],
) -> str | None:
    """Return what ``unique_on_kept`` says of a release of a series.

    table: its raw table, whose comments may declare roles. parameters: of the release.
    """
    roles = {name: parameters[name] for name in PARAMETER.values() if parameters.get(name)}
    arguments = "".join(f", {name} := ${name}" for name in roles)
    result = con.execute(
        f"SELECT column_name FROM anon_roles({literal(table)}{arguments}) "
        "WHERE role IN ('quasi', 'sensitive')",
        roles,
    )
    kept = columns_besides(con, select, [name for (name,) in result.fetchall()])
    return unique_on_kept(con, select, kept, UNIQUE_SHARE, parameters.get("k"))


def warn(function: str, sentence: str | None) -> None:
    """Warn the caller of the package, if there is a sentence."""
    if sentence is not None:
        hint = "generalize, round or leave out one of these columns, and see audit"
        warnings.warn(f"{function}: {sentence}; {hint}", AnonWarning, stacklevel=depth())


def depth() -> int:
    """Return how many frames lie between the caller of this function and that of the package."""
    passed_over = ("anon_sql", "contextlib")  # which calls what a context manager decorates
    levels, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals["__name__"].startswith(passed_over):
        levels, frame = levels + 1, frame.f_back
    return levels
