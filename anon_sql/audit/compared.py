"""The request of an audit, its properties, and the rows and columns that it compares."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, reduce
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql import kernels
from anon_sql.audit.parameters import LEVELS, NAME, SIZE, Audit
from anon_sql.core.common_parameters import PERSON
from anon_sql.core.labels.reading import Bools, Coverage, Ints
from anon_sql.core.ordered import read_ordered
from anon_sql.core.parameters import read_group
from anon_sql.core.printing import printed
from anon_sql.core.roles import Roles, fold
from anon_sql.errors import AnonError, Argument, Parameter
from anon_sql.measures.pair import require_released, require_types
from anon_sql.measures.uniqueness import counts
from anon_sql.pipeline.request import entity_of
from anon_sql.privacy.k_anonymity import KAnonymity
from anon_sql.privacy.model import ValueModel


@dataclass(frozen=True)
class AuditRequest:
    """A checked call of ``audit``.

    k: None if it is only measured. models: those that are measured, with or without a requirement.
    entity: the column that identifies the person. unit: what must be protected. kinds: the kind of
    each column that is or looks like an identifier of the raw table, see ``Identifier``. synthetic:
    number of rows that were added. unique_share: largest allowed share of rows that are unique on
    the kept columns together. previous: names of earlier releases. previous_share: largest allowed
    share of people that attacks on all releases expose. series: whether the release is of a series.

    types: SQL type by quasi-identifier; values: by sensitive column. The rest are names of columns.
    shared: those of the raw table, beside quasi-identifiers, that the release has too. dropped:
    kept columns that the release lacks. added: columns that the raw table lacks. identifiers:
    declared identifiers; leftover: those in the release. loose: shared columns without a role.
    keys: shared columns whose type is that of keys. ordered: those of ordered categories.
    """

    k: int | None
    models: tuple[ValueModel, ...]
    suppressed: str
    synthetic: int
    unique_share: float
    previous: Any
    previous_share: float
    series: bool
    entity: str | None
    types: Mapping[str, str]
    values: Mapping[str, str]
    shared: tuple[str, ...]
    dropped: tuple[str, ...]
    added: tuple[str, ...]
    identifiers: tuple[str, ...]
    leftover: tuple[str, ...]
    loose: frozenset[str]
    keys: frozenset[str] = frozenset()
    unit: str = PERSON
    kinds: Mapping[str, str] = field(default_factory=dict)
    ordered: tuple[str, ...] = ()


def audit_request(
    roles: Roles,
    raw: Mapping[str, str],
    released: Mapping[str, str],
    options: Mapping[str, Any],
    series: bool,
    kinds: Mapping[str, str],
) -> AuditRequest:
    """Check a call. raw, released: SQL types of the raw table and its release, by column name;
    options: parameters by name; series, kinds: as in ``AuditRequest``.

    Raises AnonError for a call that cannot be carried out.
    """
    release = {fold(name): kind for name, kind in released.items()}
    require_types(NAME, roles.quasi, raw, release, values=True)
    require_released(NAME, roles.sensitive, list(released))
    size: Any = read_group(SIZE, NAME, options)
    models = [model(**vars(read_group(group, NAME, options))) for model, group in LEVELS.items()]
    parameters = read_group(Audit, NAME, options)
    for model in models:
        if model.required and not roles.sensitive:
            raise AnonError(
                NAME,
                Parameter(model.name) + " needs a sensitive column",
                None,
                "pass " + Argument("sensitive", ["illness", ...]),
            )
    person = _entity(parameters.entity, raw, roles.quasi)
    others = [name for name in raw if name not in roles.quasi]
    shared = tuple(name for name in others if fold(name) in release)
    return AuditRequest(
        k=vars(size)[KAnonymity.name],
        models=tuple(model for model in models if model.level is not None),
        suppressed=parameters.suppressed,
        synthetic=parameters.synthetic,
        unique_share=parameters.unique_share,
        previous=parameters.previous,
        previous_share=parameters.previous_share,
        series=series,
        entity=person,
        types={name: raw[name] for name in roles.quasi},
        values={name: raw[name] for name in roles.sensitive},
        shared=shared,
        dropped=tuple(name for name in roles.keep if name not in shared),
        added=tuple(name for name in released if fold(name) not in map(fold, raw)),
        identifiers=roles.left_out,
        leftover=tuple(name for name in roles.left_out if name in shared),
        loose=frozenset(name for name in roles.none if name in shared and name != person),
        keys=frozenset(name for name in shared if raw[name] in KEY_TYPES and name != person),
        unit=parameters.unit,
        kinds=kinds,
        ordered=read_ordered(NAME, parameters.ordered, raw, (*roles.quasi, *roles.sensitive)),
    )


def _entity(name: object, raw: Mapping[str, str], quasi: Sequence[str]) -> str | None:
    person = entity_of(NAME, name, raw)
    if person in quasi:
        rule = Parameter("entity") + " must tell persons apart"
        raise AnonError(NAME, rule, f"the quasi-identifier {person}")
    return person


ROW = pa.struct(
    [
        ("property", pa.string()),
        ("required", pa.float64()),
        ("found", pa.float64()),
        ("passed", pa.bool_()),
        ("example", pa.string()),
        ("meaning", pa.string()),
    ]
)
KEY_TYPES = ("INTEGER", "BIGINT", "HUGEINT", "UINTEGER", "UBIGINT", "UHUGEINT", "UUID")
TOO_MANY = "too many rows share their kept values"


@dataclass(frozen=True)
class Property:
    """One row of ``audit``. required, found: numbers. passed: None if undecided. meaning: a
    sentence with figures, but without values and labels. example: labels, names of columns and
    counts, never an identifier or a sensitive value."""

    property: str
    required: float | None
    found: float | None
    passed: bool | None
    meaning: str
    example: str | None = None

    def row(self) -> dict[str, object]:
        return asdict(self)


def is_at_least(required: float, found: float) -> bool:
    """Whether a level is at least the required one, up to rounding."""
    return found >= required * (1 - 1e-9)


def is_at_most(required: float, found: float) -> bool:
    """Whether a level is at most the required one, up to rounding."""
    return found <= required + 1e-9


def none_of(
    name: str, found: int, sentences: tuple[str, str, str], example: str | None = None
) -> Property:
    """Return a property that passes if ``found`` is 0; sentences: for none, for one, and for more,
    whose number replaces ``{}``."""
    meaning = sentences[min(found, 2)].format(f"{found:,}")
    return Property(name, 0, found, found == 0, meaning, example)


def no_columns(name: str, columns: Sequence[str], sentences: tuple[str, str, str]) -> Property:
    """Return a property that passes if there are no such columns."""
    return none_of(name, len(columns), sentences, ", ".join(columns) or None)


def undecided(row: Property) -> Property:
    """Return the property as undecided."""
    return replace(row, passed=None)


BY_ADDED = "; added rows leave it undecided."


def with_added_rows(row: Property, *, unless_failed: bool = False) -> Property:
    """Return the property as undecided, because the release has added rows."""
    if row.passed is None or (unless_failed and row.passed is False):
        return row
    meaning = f"{row.meaning.removesuffix('.')}{BY_ADDED}"
    return replace(row, passed=None, meaning=meaning)


OF_PRESENT = ("rows", "kept_values", "true_labels", "covered_rows", "matched_rows")


def in_series(row: Property) -> Property:
    """Return the property of a release of a series. A failure is undecided: the file does not show
    which people wait."""
    if row.passed is not False or row.property not in OF_PRESENT:
        return row
    meaning = (
        f"{row.meaning.removesuffix('.')}; former rows and persons who wait leave it undecided."
    )
    return replace(row, passed=None, meaning=meaning)


Marks = npt.NDArray[np.uint64]
Rows = slice | npt.NDArray[Any]  # positions, or whether each row is meant
ALL = slice(None)
BLOCK_ROWS = 1 << 20  # rows that are weighed at a time


@dataclass(frozen=True)
class Hashed:
    """A 64-bit hash of each row's value, 0 for NULL.

    distinct: the distinct hashes if they are few; ``rows`` then holds positions in it. None:
    ``rows`` holds the hashes themselves.
    """

    rows: npt.NDArray[Any]
    distinct: Marks | None = None

    def hashes(self, rows: Rows = ALL) -> Marks:
        """Return the hashes of some rows, uint64[…]."""
        codes = self.rows[rows]
        return codes if self.distinct is None else self.distinct[codes]

    def select(self, rows: Rows) -> "Hashed":
        """Return the column of some rows."""
        return Hashed(self.rows[rows], self.distinct)

    def coded(self) -> tuple[Marks, Ints]:
        """Return the distinct hashes and the position of each row's hash among them."""
        if self.distinct is not None:
            return self.distinct, self.rows
        distinct, places = np.unique(self.rows, return_inverse=True)
        return distinct, places.reshape(-1)


@dataclass(frozen=True)
class Raw:
    """The N rows of a raw table, as n distinct ones.

    values: the u distinct values of each quasi-identifier. often: int64[u], the number of table
    rows with each value. places: whole numbers [n], the position of each row's value in ``values``.
    weights: int32[n], the number of table rows that each row stands for. Equal rows may be
    separate; with ``entity`` they always are. marks: hashes of every other column that the release
    has, and of ``entity``. ascending: whether a column ascends in scan order. distinct: of each
    sensitive column, structs of key (see ``TableValues``), mark and value; empty if no model needs
    the order of values. identifiers: uint64[N], hashes of the values of each identifier in all
    rows, 0 for NULL. row_of: int32[N], the distinct row of each table row; empty without
    identifiers.
    """

    values: Mapping[str, pa.Array]
    often: Mapping[str, Ints]
    places: Mapping[str, Ints]
    weights: npt.NDArray[np.int32]
    marks: Mapping[str, Hashed]
    ascending: Mapping[str, bool]
    distinct: Mapping[str, pa.StructArray]
    identifiers: Mapping[str, Marks] = field(default_factory=dict)
    row_of: npt.NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))

    def apart(self, name: str) -> "Raw":
        """Return the table with equal rows separate, and an identifier among the marks."""
        marks = {n: column.select(self.row_of) for n, column in self.marks.items()}
        return replace(
            self,
            places={n: column[self.row_of] for n, column in self.places.items()},
            weights=np.ones(len(self.row_of), np.int32),
            marks={**marks, name: Hashed(self.identifiers[name])},
        )

    def ascends(self, name: str) -> bool:
        return bool(named(self.ascending, name))


@dataclass(frozen=True)
class ReleasedTable:
    """A release as c classes of m distinct rows.

    labels: of each quasi-identifier, an array of c. sizes: int64[c], rows per class. class_of:
    int32[m], ascending. weights: int32[m], as in ``Raw``. marks: hashes of every other column,
    class by class. views: of the same columns.
    """

    labels: Mapping[str, pa.Array]
    sizes: Ints
    class_of: npt.NDArray[np.int32]
    weights: npt.NDArray[np.int32]
    marks: Mapping[str, Hashed]
    views: Mapping[str, "ColumnView"]

    def view(self, name: str) -> "ColumnView":
        view: ColumnView = named(self.views, name)
        return view


@dataclass(frozen=True)
class Compared:
    """n distinct raw rows and m distinct released rows in c classes. columns: of each
    quasi-identifier, which of its values each label covers."""

    request: AuditRequest
    raw: Raw
    released: ReleasedTable
    columns: Mapping[str, Coverage]

    @property
    def rows(self) -> int:
        return int(self.raw.weights.sum(dtype=np.int64))

    @property
    def released_rows(self) -> int:
        return int(self.sizes.sum())

    @property
    def left_out(self) -> int:
        return max(self.rows + self.request.synthetic - self.released_rows, 0)

    @property
    def sizes(self) -> Ints:
        return self.released.sizes

    @property
    def class_of(self) -> npt.NDArray[np.int32]:
        """The class of each different released row, ascending."""
        return self.released.class_of

    @cached_property
    def suppressed(self) -> Bools:
        """Which classes have ``*`` in every quasi-identifier."""
        suppressed: Bools = np.all([column.star for column in self.columns.values()], axis=0)
        return suppressed

    def raw_marks(self, name: str, rows: Rows = ALL) -> Marks:
        """Return hashes of the values of different raw rows."""
        column: Hashed = named(self.raw.marks, name)
        return column.hashes(rows)

    def marks(self, name: str, rows: Rows = ALL) -> Marks:
        """Return hashes of the values of different released rows, class by class."""
        column: Hashed = named(self.released.marks, name)
        return column.hashes(rows)

    def repeated_marks(self, name: str, times: int = 2) -> Marks:
        """Return the hashes of all released rows, in no order; equal rows at most so many times."""
        return self.marks(name, self._repeated(times))

    def _repeated(self, times: int) -> Rows:
        """Return the distinct released rows, each as often as it occurs, at most so many times."""
        weights = self.released.weights
        if not (weights > 1).any():
            return ALL
        return np.repeat(np.arange(len(weights)), np.minimum(weights, times))

    def raw_hashes(self, rows: Rows) -> Marks:
        """Return a hash of some raw rows over the columns that both relations have."""
        count = len(self.raw.weights[rows])
        return _mixed(count, [self.raw_marks(n, rows) for n in self.request.shared])

    def hashes(self, rows: Rows) -> Marks:
        """Return a hash of some released rows over the columns that both relations have."""
        return _mixed(len(self.class_of[rows]), [self.marks(n, rows) for n in self.request.shared])

    def texts(self, name: str, some: Bools | Ints) -> list[str | None]:
        """Return some labels of a column as text; what DuckDB prints of structs and lists."""
        labels = self.columns[name].labels
        labels = labels.take(pa.array(np.arange(len(labels))[some]))
        if pa.types.is_string(labels.type):
            return list(labels.to_pylist())
        return list(printed([labels], [self.request.types[name]])[0].to_pylist())

    def where(self, classes: Sequence[int] | Ints) -> str | None:
        """Return the labels of one of these classes, the first in the order of their text."""
        texts = [
            [text or "NULL" for text in self.texts(name, column.label_of[classes])]
            for name, column in self.columns.items()
        ]
        first = min(zip(*texts, strict=True), default=None)
        if first is None:
            return None
        return ", ".join(f"{n}: {x}" for n, x in zip(self.columns, first, strict=True))


def _mixed(rows: int, columns: Sequence[Marks]) -> Marks:
    return reduce(
        kernels.hashing.mix,
        (column.view(np.int64) for column in columns),
        np.zeros(rows, np.uint64),
    )


def weighed(numbers: npt.NDArray[Any], weights: npt.NDArray[Any], count: int) -> Ints:
    """Return the sum of the weights of each number, int64[count]."""
    sums = np.zeros(count, np.int64)
    for first in range(0, len(numbers), BLOCK_ROWS):
        some = slice(first, first + BLOCK_ROWS)
        np.add.at(sums, numbers[some].astype(np.int64), weights[some].astype(np.int64))
    return sums


def named(columns: Mapping[str, Any], name: str) -> Any:
    """Return the entry of a column, whose name may differ in upper and lower case."""
    if name in columns:
        return columns[name]
    folded = fold(name)
    return next(values for column, values in columns.items() if fold(column) == folded)


ADDED = (
    "The release has no column that the raw table lacks.",
    "The release has 1 column that the raw table lacks.",
    "The release has {} columns that the raw table lacks.",
)
IDENTIFIERS = (
    "The release has no declared identifier.",
    "The release still has 1 declared identifier.",
    "The release still has {} declared identifiers.",
)
IDENTIFYING = (
    "No column without a role has a different value in nearly every row.",
    "1 column without a role has a different value in nearly every row.",
    "{} columns without a role have a different value in nearly every row.",
)
ROW_NUMBERS = (
    "No column numbers the rows.",
    "1 column numbers the rows.",
    "{} columns number the rows.",
)
NEARLY = 0.9  # share of distinct values from which a column looks identifying


@dataclass(frozen=True)
class ColumnView:
    """A kept column of the release. present: number of values that are not NULL. consecutive:
    whether they are as many whole numbers as lie between the least and the greatest. hashed:
    whether all look like results of ``anon_pseudonym``."""

    present: int
    consecutive: bool
    hashed: bool


def column_properties(compared: Compared) -> list[Property]:
    """Return the properties of added, identifying and ascending columns."""
    request, k = compared.request, compared.request.k or 1
    free = {*request.loose, *request.added}
    nearly, numbers = [], []
    for name in [*request.shared, *request.added]:
        view = compared.released.view(name)
        if name not in free and not view.consecutive:
            continue
        distinct = counts(compared.marks(name).copy())[1] - (view.present < compared.released_rows)
        if distinct <= k:
            continue
        if name in free and distinct >= NEARLY * view.present:
            nearly.append(name)
        ascending = name in request.loose and compared.raw.ascends(name)
        if (view.consecutive or ascending) and distinct == view.present:
            numbers.append(name)
    left_in = no_columns("identifiers", request.leftover, IDENTIFIERS)
    if not request.identifiers:
        left_in = replace(left_in, passed=None, meaning="No column is declared as an identifier.")
    return [
        no_columns("added_columns", request.added, ADDED),
        left_in,
        no_columns("identifying_columns", nearly, IDENTIFYING),
        no_columns("row_numbers", numbers, ROW_NUMBERS),
    ]
