"""Tell callers which rows of a release its kept columns single out, whatever its labels say."""

import sys
import warnings
from collections.abc import Sequence

import duckdb
import numpy as np

from anon_sql.audit.columns import unique_sentence
from anon_sql.core.arrow import integers
from anon_sql.core.names import quote
from anon_sql.errors import AnonWarning
from anon_sql.pipeline.request import Request

MEASURED = 5_000_000  # rows of a release in parts that are looked at


def kept_of(request: Request) -> list[str]:
    """Return the columns that are released as they are, but for the sensitive ones."""
    return [name for name in request.kept if name not in request.sensitive]


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
    found = con.sql(f"SELECT {marks} FROM ({select})").to_arrow_table()
    columns = {
        name: np.array(integers(values.combine_chunks()))
        for name, values in zip(kept, found.columns, strict=True)
    }
    return unique_sentence(share, kept, columns.__getitem__, found.num_rows, k)


def warn(function: str, sentence: str | None) -> None:
    """Warn the caller of the package, if there is a sentence."""
    if sentence is not None:
        hint = "generalize, round or leave out one of these columns, and see audit"
        warnings.warn(f"{function}: {sentence}; {hint}", AnonWarning, stacklevel=depth())


def depth() -> int:
    """Return how many frames lie between the caller of this function and that of the package."""
    own = ("anon_sql", "contextlib")  # which calls what a context manager decorates
    levels, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals["__name__"].startswith(own):
        levels, frame = levels + 1, frame.f_back
    return levels
