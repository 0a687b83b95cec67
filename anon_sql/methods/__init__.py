"""Release methods and their steps, one a file: a partitioner maps a table to class ids.

A method files itself with ``@method``; the SQL function of the same name finds it here.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pkgutil import iter_modules
from threading import RLock
from typing import TYPE_CHECKING, Any

from anon_sql.options import Option

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from anon_sql.constraints import Constraint
    from anon_sql.table import QuasiTable
    from anon_sql.workers import Workers


@dataclass(frozen=True)
class Call:
    """One call of a method: what it may look at beside the table."""

    function: str
    constraint: "Constraint"
    seed: int
    workers: "Workers"
    options: Mapping[str, Any]
    classes: "npt.NDArray[np.int32] | None" = None  # given with the table, canonical order
    real: "npt.NDArray[np.bool_] | None" = None  # which rows are; None: all. constraint is of them


@dataclass(frozen=True)
class Partition:
    """classes: int32[n], -1 for suppressed, ids in no particular order; stats: counts by name.

    nodes: int32[n, d] where each column's label is a node of its hierarchy, one for a whole class
    (-1 for NULL); else a label is the lowest common ancestor.
    """

    classes: "npt.NDArray[np.int32]"
    stats: Mapping[str, float] = field(default_factory=dict)
    nodes: "npt.NDArray[np.int32] | None" = None


@dataclass(frozen=True)
class Facts:
    """What ``anon_methods`` says of a release method. cost: how time grows with n rows; needs: what
    a table must have, takes: the classes of columns that meet it, none for all of them;
    perturbative: the release has rows that the table has not.
    """

    what: str
    paper: str
    cost: str
    needs: str | None = None
    takes: tuple[type, ...] = ()
    perturbative: bool = False

    def fits(self, table: "QuasiTable") -> bool:
        """Whether every quasi-identifier is what the method needs."""
        return not self.takes or all(isinstance(column, self.takes) for column in table.columns)


@dataclass(frozen=True)
class Method:
    """A partitioner with the parameters of its own; facts are those of a release method."""

    name: str
    options: Mapping[str, Option]
    run: Callable[["QuasiTable", Call], Any]
    given: bool = False  # classes come with the table
    adds: tuple[str, ...] = ()  # columns of the result that the table must not have
    facts: Facts | None = None


_methods: dict[str, Method] = {}
_looking = RLock()


def method(
    name: str,
    *,
    given: bool = False,
    adds: tuple[str, ...] = (),
    facts: Facts | None = None,
    **options: Option,
) -> Callable[[Callable[..., Any]], Any]:
    """File a partitioner, or a step of one, under the name of its SQL function."""

    def file(run: Callable[..., Any]) -> Callable[..., Any]:
        _methods[name] = Method(name, options, run, given, adds, facts)
        return run

    return file


def find(name: str) -> Method:
    """The method of a SQL function."""
    if name not in _methods:
        _look()
    return _methods[name]


def releases() -> dict[str, Method]:
    """The methods that make a release by themselves, by name."""
    _look()
    return {name: _methods[name] for name in sorted(_methods) if _methods[name].facts}


def _look() -> None:
    """Import every file of this package, so that it files its methods."""
    with _looking:  # a statement of several steps asks from several threads
        for module in iter_modules(__path__):
            import_module(f"{__name__}.{module.name}")
