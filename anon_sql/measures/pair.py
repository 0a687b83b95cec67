"""The input of measures: the domains of a raw table and the classes of its release, never rows."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.core.arrow import integers
from anon_sql.core.columns import is_number
from anon_sql.core.labels.types import ONE_VALUE, type_of
from anon_sql.core.parameters import Columns, RelationOf, param
from anon_sql.core.roles import Roles, fold
from anon_sql.errors import COMMENTS, AnonError, Argument, Parameter, Where, did_you_mean
from anon_sql.measures.loss import OTHER, AttributeDomain, Penalties, penalties


@dataclass(frozen=True)
class PairColumns:
    """Which columns of a raw table its release generalizes, and how."""

    quasi: Any = param(
        None,
        Columns(),
        "the quasi-identifiers",
        null=Where(COMMENTS, "the columns declared in comments on the raw table"),
        bound=True,
    )
    hierarchy: Any = param(
        None,
        RelationOf("attribute, value, level and label"),
        "hierarchies that the release was made with",
        null="none",
        relation=True,
    )


@dataclass(frozen=True)
class SensitiveColumns:
    """Which columns are sensitive."""

    sensitive: Any = param(
        None,
        Columns(),
        "sensitive column or list of columns, in addition to those declared",
        bound=True,
    )


ORDER = "the raw table must come first and its release second"
TREE_HINT = "name " + Argument("hierarchy") + " if the release was made with one"
HINT = "the raw table comes first and its release second; " + TREE_HINT
Ints = npt.NDArray[np.int64]


def read_penalties(
    function: str,
    domains: Sequence[AttributeDomain],
    labels: Mapping[str, pa.Array],
    classes: Mapping[str, Ints],
    form: str,
    *,
    all_rows: bool,
) -> dict[str, Penalties]:
    """Return the loss of the labels of each quasi-identifier, by name.

    labels: by name; classes: how many classes show each, int64[m]. all_rows: whether the release
    has as many rows as the raw table. Raises AnonError if a label cannot be read or covers
    nothing that the raw column holds.
    """
    by_column = penalties(domains, labels, form)
    for column in domains:
        _require_labels(function, column, by_column[column.name], classes[column.name], all_rows)
    return by_column


def require_no_more_rows(function: str, rows: int, released: int) -> None:
    """Raise AnonError if a release has more rows than its raw table."""
    if released > rows:
        got = f"{released:,} rows in the second and {rows:,} in the first"
        raise AnonError(function, ORDER, got, "swap them")


def _require_labels(
    function: str, column: AttributeDomain, lost: Penalties, classes: Ints, all_rows: bool
) -> None:
    malformed, other = (
        int(classes[chosen].sum()) for chosen in (np.isnan(lost.loss), lost.loss == OTHER)
    )
    if malformed:
        kinds = "a number, [low, high]" if column.number else "a value, {…}"
        kinds = kinds if column.tree is None else "a node of its hierarchy"
        raise AnonError(
            function,
            f"a label of {column.name} must be {kinds} or *",
            _counted(malformed, "other"),
            TREE_HINT if column.tree is None else None,
        )
    if other and all_rows and column.tree is None and not lost.quoted and column.label_like:
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


def row_pairs(function: str, name: str, raw: pa.Array, released: pa.Array) -> npt.NDArray[np.int64]:
    """Return the released row of each raw row, matched by ids, int64[n]; -1 if it is left out.

    name: of the column. Raises AnonError for ids that are NULL, repeat, or have no raw row.
    """
    unique = Parameter("id") + " must identify rows"
    coded = pa.concat_arrays([raw, released]).dictionary_encode()
    codes = integers(coded.indices.fill_null(-1)).astype(np.int64)
    raw_codes, released_codes = codes[: len(raw)], codes[len(raw) :]
    for side in (raw_codes, released_codes):
        if (side < 0).any() or len(np.unique(side)) < len(side):
            raise AnonError(function, unique, f"{name} with NULLs or repeats")
    row_of_code = np.full(len(coded.dictionary), -1, np.int64)
    row_of_code[released_codes] = np.arange(len(released_codes))
    rows: npt.NDArray[np.int64] = row_of_code[raw_codes]
    if int((rows >= 0).sum()) < len(released_codes):
        got = f"a released {name} that the raw table lacks"
        raise AnonError(function, unique, got)
    return rows


_LABEL = ("VARCHAR", "ENUM(")
_RANGE = re.compile(r'STRUCT\("?min"? .*, "?max"? .*\)')
_SET = "VARCHAR[]"


@dataclass(frozen=True)
class Pair:
    """One call of a measure, its types checked.

    rows: of the raw table. types: SQL types of its columns, by name; released: of the release's
    columns. domains: of the quasi-identifiers, in their order. labels: of each quasi-identifier
    what every class shows, by name; sizes: int64[m], the rows of each class. is_single: whether one
    table is measured, whose cells are values: it has no domains, and no class is suppressed.
    """

    function: str
    roles: Roles
    rows: int
    types: Mapping[str, str]
    released: Mapping[str, str]
    domains: Sequence[AttributeDomain]
    labels: Mapping[str, pa.Array]
    sizes: npt.NDArray[np.int64]
    is_single: bool = False

    @property
    def released_rows(self) -> int:
        """The number of rows of the release."""
        return int(self.sizes.sum())

    @cached_property
    def losses(self) -> dict[str, Penalties]:
        """The NCP of every class in each quasi-identifier, by name; see ``read_penalties``."""
        if self.is_single:
            return {}
        all_rows = self.rows == self.released_rows
        classes = dict.fromkeys(self.labels, np.ones_like(self.sizes))
        return read_penalties(
            self.function, self.domains, self.labels, classes, "share", all_rows=all_rows
        )

    @property
    def one_value(self) -> list[str]:
        """Return the quasi-identifiers of which the release shows one value of each class."""
        kinds = {fold(name): kind for name, kind in self.released.items()}
        names = [column.name for column in self.domains]
        return [name for name in names if is_one_value(self.types[name], kinds[fold(name)])]

    def suppressed(self, by_column: Mapping[str, Penalties]) -> npt.NDArray[np.bool_]:
        """Return which classes are suppressed in every quasi-identifier, bool[m]."""
        if self.is_single:
            return np.zeros(len(self.sizes), np.bool_)
        stars = [by_column[column.name].star for column in self.domains]
        return np.asarray(np.logical_and.reduce(stars))

    def require_no_more_rows(self) -> None:
        """Raise AnonError if the release has more rows than the raw table."""
        require_no_more_rows(self.function, self.rows, self.released_rows)


def require_types(
    function: str,
    quasi: Sequence[str],
    types: Mapping[str, str],
    released: Mapping[str, str],
    *,
    values: bool = False,
) -> None:
    """Raise AnonError unless the release has labels of every quasi-identifier.

    types: SQL types of the raw table, by name; released: of the release, by folded name. values:
    whether a column may show one value of each class instead of labels.
    """
    missing = [column for column in quasi if fold(column) not in released]
    if missing:
        raise AnonError(
            function,
            "the release must have every quasi-identifier",
            f"no column called {', '.join(missing)}",
            did_you_mean(missing[0], released),
        )
    for column in quasi:
        if not (values and is_one_value(types[column], released[fold(column)])):
            _require_type(function, column, types[column], released[fold(column)])


def require_any(function: str, sensitive: Sequence[str]) -> None:
    """Raise AnonError if no column is sensitive."""
    if not sensitive:
        raise AnonError(
            function,
            "at least one sensitive column is needed",
            None,
            "pass "
            + Argument("sensitive", ["illness", ...])
            + Where(COMMENTS, " or declare it: COMMENT ON COLUMN t.illness IS 'anon:sensitive'"),
        )


def require_released(function: str, sensitive: Sequence[str], released: Sequence[str]) -> None:
    """Raise AnonError if the release, whose columns are given, lacks a sensitive one."""
    columns = {fold(name) for name in released}
    for column in sensitive:
        if fold(column) not in columns:
            raise AnonError(
                function,
                "the release must have every sensitive column",
                f"no column called {column}",
                did_you_mean(column, released),
            )


def is_label(sql_type: str) -> bool:
    """Return whether a released column holds labels, not structs or lists."""
    return sql_type.startswith(_LABEL) and sql_type != _SET


def is_one_value(raw: str, released: str) -> bool:
    """Return whether a released column can show means or medians of a raw column, by their types.

    An unchanged column of numbers, dates or times counts as a column of medians.
    """
    if is_label(released) or released.startswith("STRUCT") or released.endswith("]"):
        return False
    number = not raw.startswith((*_LABEL, "BOOLEAN", "UUID"))
    return number and released in (raw, *(type_of(raw, form) for form in ONE_VALUE))


def _require_type(function: str, column: str, raw: str, released: str) -> None:
    if _RANGE.fullmatch(raw) or raw == _SET:
        raise AnonError(function, ORDER, f"{column} of type {raw} in the first", "swap them")
    number = is_number(function, column, raw)
    if is_label(released):
        return
    if _RANGE.fullmatch(released) if number else released == _SET:
        return
    if raw == "VARCHAR" and not released.endswith(("]", ")")):
        raise AnonError(
            function,
            ORDER,
            f"{column} as VARCHAR in the first and as {released} in the second",
            "swap them, or read a file of labels as text",
        )
    raise AnonError(
        function,
        f"a release must hold labels of {column}, or structs and lists",
        released,
        "make it with a release function, or read a file of labels as text"
        if not is_one_value(raw, released)
        else "make it with "
        + Argument("format", "label")
        + "; value_loss() measures what one value per class loses",
    )
