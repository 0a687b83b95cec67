"""Limit the rows that ``suppressed := 'drop'`` leaves out to those that a parameter asks for.

A row is suppressed if it is ``*`` in every quasi-identifier, the columns of ``strata`` included,
whatever made it so: the method, or a class that can be shown in no other way.
"""

import numpy as np
import numpy.typing as npt

from anon_sql import methods
from anon_sql.core.table_domain import Domain
from anon_sql.errors import AnonError
from anon_sql.methods.parts.joining import rows_of_share
from anon_sql.pipeline.request import Request

Bools = npt.NDArray[np.bool_]
KEEP = "suppressed := 'keep' shows them"


def most_left_out(request: Request, rows: int) -> int | None:
    """Return how many of so many rows may be left out.

    None if the call asks for the rows one by one and not by their number: rows whose class is NULL,
    or those that an option tells the method to suppress.
    """
    method = methods.find(request.function)
    if method.given or "suppress" in request.options.values():
        return None
    share = request.options.get("suppression_limit")
    if share is None:
        return request.k if method.suppresses_k else 0
    return rows_of_share(share, rows)


def require_asked(
    request: Request, suppressed: Bools, asked: Bools, domain: Domain | None = None
) -> None:
    """Raise AnonError if more rows are left out than may be, or all of them.

    suppressed: bool[n], rows that are suppressed in the release; asked: bool[n], those that the
    method suppressed. domain: of the whole table, if these are a part of its rows. What may be left
    out is then that of the whole table, of which ``require_whole`` counts all parts together.
    """
    if request.suppressed != "drop":
        return
    left, rows = int(suppressed.sum()), len(suppressed)
    most = most_left_out(request, rows if domain is None else domain.rows)
    if most is None:
        most = left - int((suppressed & ~asked).sum())
    _require_few(request, left, most)
    if domain is None:
        _require_some(request, left < rows)


def require_whole(request: Request, rows: int, released: int) -> None:
    """Raise AnonError if more of a table is left out of all its parts than may be, or everything.

    rows: of the table; released: rows of the release of all parts, each of which was checked.
    """
    if request.suppressed != "drop":
        return
    most = most_left_out(request, rows)
    if most is not None:
        _require_few(request, rows - released, most)
    _require_some(request, released > 0)


def _require_few(request: Request, left: int, most: int) -> None:
    if left > most:
        may = "no row" if most == 0 else f"at most {most:,} row{'' if most == 1 else 's'}"
        limited = "suppression_limit" in request.options
        raise AnonError(
            request.function,
            f"suppressed := 'drop' may leave out {may}",
            f"{left:,} that {'is' if left == 1 else 'are'} * in every quasi-identifier",
            f"raise suppression_limit, or {KEEP}" if limited else KEEP,
        )


def _require_some(request: Request, some: bool) -> None:
    if not some:
        raise AnonError(
            request.function,
            "a release must have a row of the table that is not suppressed",
            "none",
            KEEP,
        )
