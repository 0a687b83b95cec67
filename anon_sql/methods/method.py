"""Release methods and their steps, one a file: a partitioner maps a table to class ids.

A method registers itself with ``@method`` under the name of its SQL function.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pkgutil import iter_modules
from threading import RLock
from typing import Any

import numpy as np
import numpy.typing as npt

from anon_sql.core.parameters import Option
from anon_sql.core.running import Workers
from anon_sql.core.table import QuasiTable
from anon_sql.privacy.constraint import Constraint


@dataclass(frozen=True)
class Call:
    """One call of a method: everything it may read besides the table.

    constraint: what the rows of a class must satisfy, of the real rows alone where ``real`` is
    given. classes: int32[n], given with the table; real: bool[n], False for rows that a method
    added, None where there are none; strata: int32[n], the stratum of each row, None for one. All
    in canonical order. A method is called with the rows of one stratum, unless it is
    ``across_strata``. shown: whether suppressed rows are released, as a class that must be legal.
    one_value: whether the release shows a mean or median of each class. rows: of the whole table,
    where the rows of the call are some of them, as those of a stratum are; None: all.
    """

    function: str
    constraint: Constraint
    seed: int
    workers: Workers
    options: Mapping[str, Any]
    classes: npt.NDArray[np.int32] | None = None  # given with the table, canonical order
    real: npt.NDArray[np.bool_] | None = None  # which rows are; None: all. constraint is of them
    strata: npt.NDArray[np.int32] | None = None  # that no class crosses
    fixed: tuple[str, ...] = ()  # the columns that make up the strata
    shown: bool = True  # suppressed rows, as one class
    one_value: bool = False
    rows: int | None = None


@dataclass(frozen=True)
class Partition:
    """Classes of a table's rows.

    classes: int32[n], -1 for suppressed, ids in no particular order. stats: counts by name. nodes:
    int32[n, d] where the method chose the hierarchy node of each label, equal within a class (-1
    for NULL); without it a label is the lowest common ancestor.
    """

    classes: npt.NDArray[np.int32]
    stats: Mapping[str, float] = field(default_factory=dict)
    nodes: npt.NDArray[np.int32] | None = None


@dataclass(frozen=True)
class Facts:
    """Description of a release method, as ``anon_methods`` lists it.

    cost: growth of time with n rows. needs: what a table must have, in words; takes: the column
    types that meet it, empty for all. perturbative: whether the release has rows that the table
    lacks. global_levels: whether all rows of a column are generalized to the same level.
    """

    what: str
    paper: str
    cost: str
    needs: str | None = None
    takes: tuple[type, ...] = ()
    perturbative: bool = False
    global_levels: bool = False

    @property
    def in_regions(self) -> bool:
        """Return whether the method may release the regions of a large table one by one.

        It must not decide for all rows together, nor take quadratic time.
        """
        quadratic = "^2" in self.cost or "²" in self.cost
        return not (quadratic or self.perturbative or self.global_levels)

    def fits(self, table: QuasiTable) -> bool:
        """Return whether every quasi-identifier is of a type that the method takes."""
        return not self.takes or all(isinstance(column, self.takes) for column in table.columns)


@dataclass(frozen=True)
class Method:
    """A registered partitioner.

    options: its own parameters. given: whether classes come with the table. adds: columns of the
    result that the table must not have. facts: None for a step that makes no release.
    across_strata: whether it is called with the rows of all strata, and keeps classes within them.
    suppresses_k: whether a suppression_limit of NULL lets it suppress k rows instead of none.
    """

    name: str
    options: Mapping[str, Option]
    run: Callable[[QuasiTable, Call], Any]
    given: bool = False  # classes come with the table
    adds: tuple[str, ...] = ()  # columns of the result that the table must not have
    facts: Facts | None = None
    across_strata: bool = False
    suppresses_k: bool = False


_methods: dict[str, Method] = {}
_looking = RLock()


def method(
    name: str,
    *,
    given: bool = False,
    adds: tuple[str, ...] = (),
    facts: Facts | None = None,
    across_strata: bool = False,
    suppresses_k: bool = False,
    **options: Option,
) -> Callable[[Callable[..., Any]], Any]:
    """Register a partitioner, or a step of one, under the name of its SQL function."""

    def file(run: Callable[..., Any]) -> Callable[..., Any]:
        _methods[name] = Method(name, options, run, given, adds, facts, across_strata, suppresses_k)
        return run

    return file


def find_method(name: str) -> Method:
    """Return the method of a SQL function."""
    if name not in _methods:
        _look()
    return _methods[name]


def release_methods() -> dict[str, Method]:
    """Return the methods that make a release by themselves, by name."""
    _look()
    return {name: _methods[name] for name in sorted(_methods) if _methods[name].facts}


def _look() -> None:
    """Import every module of the package of methods, so that it registers its methods."""
    with _looking:  # a statement of several steps asks from several threads
        package = import_module("anon_sql.methods")
        for module in iter_modules(package.__path__):
            import_module(f"{package.__name__}.{module.name}")
