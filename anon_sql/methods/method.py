"""Release methods and their steps, one a file: a method maps a table to classes.

A method registers itself with ``@method`` under the name of its SQL function, with the group of
its own parameters.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from anon_sql.core.bin_width import BinWidth
from anon_sql.core.common_parameters import (
    ColumnRoles,
    EntityColumn,
    Hierarchies,
    Output,
    Seed,
    SeriesState,
    StrataColumns,
    Transparent,
    Weights,
)
from anon_sql.core.forks import ForkLock
from anon_sql.core.ordered import OrderedColumns
from anon_sql.core.parameters import Columns, NoOptions, declare, param, parameters_of
from anon_sql.core.running import Workers
from anon_sql.core.table import QuasiTable
from anon_sql.errors import Words
from anon_sql.privacy import MODELS
from anon_sql.privacy.constraint import Constraint

# Sentences that several methods add to common parameters.
NOT_DROPPED = (
    "This function suppresses no rows on request: 'drop' is refused if a class is * in every "
    "quasi-identifier."
)
NO_CHOICE = "It has no effect: the method makes no random choices."
NO_COHORTS = "Refused: a column that is generalized alike in all rows fits no cohorts."
BY_NODES = "Columns in it are labelled by its nodes."
COMMON: tuple[type, ...] = (
    ColumnRoles,
    *MODELS,
    EntityColumn,
    Output,
    Seed,
    Hierarchies,
    StrataColumns,
    Weights,
    BinWidth,
    OrderedColumns,
)
Options = TypeVar("Options")


@dataclass(frozen=True)
class GivenClasses:
    """The classes that come with a table."""

    classes: Any = param(
        "class_id",
        Columns(one=True),
        "column of class ids; a row without one is in no class",
        bound=True,
    )


@dataclass(frozen=True)
class Call(Generic[Options]):
    """One call of a method: everything it may read besides the table.

    All arrays are in canonical order. A method is called with the rows of one stratum, unless it is
    ``across_strata``.

    constraint: what the rows of a class must satisfy, of the real rows alone if ``real`` is not
    None. options: the method's own parameters. classes: int32[n], from a column of the table. real:
    bool[n], False for rows that a method added; None without such rows. strata: int32[n], the
    stratum of each row, which no class crosses; None for one stratum. fixed: the columns that make
    up the strata. suppressed_released: whether suppressed rows are released, as a class that must
    be legal. one_value: whether the release shows a mean or median of each class. rows: of the
    whole table, if the rows of the call are some of them, as the rows of a stratum are; None: all.
    secret: a key, if the release is transparent: its classes disclose nothing about sensitive
    values. by_size: whether a transparent release goes by the size of classes.
    """

    function: str
    constraint: Constraint
    seed: int
    workers: Workers
    options: Options
    classes: npt.NDArray[np.int32] | None = None
    real: npt.NDArray[np.bool_] | None = None
    strata: npt.NDArray[np.int32] | None = None
    fixed: tuple[str, ...] = ()
    suppressed_released: bool = True
    one_value: bool = False
    rows: int | None = None
    secret: bytes | None = field(default=None, repr=False)
    by_size: bool = False


@dataclass(frozen=True)
class Partition:
    """Classes of a table's rows.

    classes: int32[n], -1 for suppressed, ids in no particular order.
    stats: counts by name.
    nodes: int32[n, d] if the method chose the hierarchy node of each label, equal within a class
        (-1 for NULL); without it a label is the lowest common ancestor.
    """

    classes: npt.NDArray[np.int32]
    stats: Mapping[str, float] = field(default_factory=dict)
    nodes: npt.NDArray[np.int32] | None = None


@dataclass(frozen=True)
class Method:
    """A registered method, or a step that makes classes.

    takes: the group of its own parameters.
    what, paper, cost, needs: in words, as ``anon_methods`` lists them: what it does (empty for a
        step), its source, the growth of time with n rows, what a table must have.
    doi: of the papers, with '; ' between them; None where they have none.
    columns: the types of quasi-identifiers that it takes, empty for all.
    perturbative: whether the release has rows that the table lacks.
    quadratic: whether its time grows with the square of the rows or classes.
    needs_all_rows: why it cannot release a table in parts; None if it can.
    across_strata: whether it is called with the rows of all strata, and keeps classes within them.
    suppresses_k: whether it may suppress k rows if no limit is set, instead of none.
    """

    name: str
    takes: type
    run: Callable[[QuasiTable, Call[Any]], Partition]
    what: str = ""
    paper: str = ""
    doi: str | None = None
    cost: str = ""
    needs: str | None = None
    columns: tuple[type, ...] = ()
    perturbative: bool = False
    quadratic: bool = False
    needs_all_rows: str | None = None
    across_strata: bool = False
    suppresses_k: bool = False

    @property
    def in_regions(self) -> bool:
        """Return whether the regions of a large table can be released one by one, in any number."""
        return self.needs_all_rows is None and not self.quadratic

    @property
    def takes_classes(self) -> bool:
        """Return whether classes come with the table."""
        return issubclass(self.takes, GivenClasses)

    def fits(self, table: QuasiTable) -> bool:
        """Return whether every quasi-identifier is of a type that the method takes."""
        return not self.columns or all(isinstance(c, self.columns) for c in table.columns)


_methods: dict[str, Method] = {}
_loading = ForkLock()
Run = Callable[[QuasiTable, Call[Any]], Partition]


def method(
    name: str,
    *,
    takes: type = NoOptions,
    only: tuple[str, ...] | None = None,
    without: tuple[str | type, ...] = (),
    defaults: Mapping[str, Any] | None = None,
    notes: Mapping[str, str | Words] | None = None,
    adds: tuple[str, ...] = (),
    **facts: Any,
) -> Callable[[Run], Run]:
    """Register a method, or a step of one, under the name of its SQL function.

    takes: the group of its own parameters.
    only, without: the common parameters that it has, or lacks.
    defaults, notes: other defaults of common parameters, and sentences that follow theirs.
    adds: the columns that the function adds.
    facts: further fields of ``Method``.
    """
    parameter_names = () if only is None else (*only, *parameters_of(takes))
    releases = facts.get("what") and not facts.get("perturbative")  # classes of rows of the table

    def register(run: Run) -> Run:
        declare(
            name,
            *COMMON,
            *((SeriesState,) if facts.get("what") else ()),
            *((Transparent,) if releases and not facts.get("needs_all_rows") else ()),
            takes,
            only=parameter_names or None,
            without=without if releases else (*without, "series"),
            defaults=defaults,
            notes=notes,
            adds=adds,
        )
        _methods[name] = Method(name, takes, run, **facts)
        return run

    return register


def find_method(name: str) -> Method | None:
    """Return the method of a SQL function; None for one that makes no classes by itself."""
    if name not in _methods:
        load()
    return _methods.get(name)


def release_methods() -> dict[str, Method]:
    """Return the methods that make a release by themselves, by name."""
    load()
    return {name: _methods[name] for name in sorted(_methods) if _methods[name].what}


def load() -> None:
    """Import every module of the package of methods, so that it registers its methods."""
    with _loading:  # a statement of several steps asks from several threads
        package = import_module("anon_sql.methods")
        for module in iter_modules(package.__path__):
            import_module(f"{package.__name__}.{module.name}")
