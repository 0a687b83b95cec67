"""Read the labels of a release, or say why they cannot be labels of its raw table."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.errors import AnonError
from anon_sql.measures.domain import Domain
from anon_sql.measures.penalties import OTHER, Penalties, penalties

ORDER = "the raw table must come first and its release second"
TREE_HINT = "name hierarchy := if the release was made with one"
HINT = f"the raw table comes first and its release second; {TREE_HINT}"
Ints = npt.NDArray[np.int64]


def read_penalties(
    function: str,
    domains: Sequence[Domain],
    shown: Mapping[str, pa.Array],
    classes: Mapping[str, Ints],
    form: str,
    *,
    whole: bool,
) -> dict[str, Penalties]:
    """Return what the labels of each quasi-identifier lose, by name.

    shown: labels; classes: how many classes show each, int64[m]. whole: whether the release has as
    many rows as the raw table. Raises AnonError where a label cannot be read or covers nothing that
    the raw column holds.
    """
    found = penalties(domains, shown, form)
    for column in domains:
        _require_labels(function, column, found[column.name], classes[column.name], whole)
    return found


def require_no_more_rows(function: str, rows: int, released: int) -> None:
    """Raise AnonError where a release has more rows than its raw table."""
    if released > rows:
        got = f"{released:,} rows in the second and {rows:,} in the first"
        raise AnonError(function, ORDER, got, "swap them")


def _require_labels(
    function: str, column: Domain, lost: Penalties, classes: Ints, whole: bool
) -> None:
    malformed, other = (int(classes[at].sum()) for at in (np.isnan(lost.loss), lost.loss == OTHER))
    if malformed:
        kinds = "a number, [low, high]" if column.number else "a value, {…}"
        kinds = kinds if column.tree is None else "a node of its hierarchy"
        raise AnonError(
            function,
            f"a label of {column.name} must be {kinds} or *",
            _counted(malformed, "other"),
            TREE_HINT if column.tree is None else None,
        )
    if whole and column.tree is None and not lost.quoted and column.label_like:
        raise AnonError(function, ORDER, f"labels of {column.name} in the first only", "swap them")
    if other:
        raise AnonError(
            function,
            f"a label of {column.name} must name what the raw table holds",
            _counted(other, "nothing of it"),
            HINT,
        )


def _counted(count: int, what: str) -> str:
    return f"{count:,} class{'' if count == 1 else 'es'} with {what}"
