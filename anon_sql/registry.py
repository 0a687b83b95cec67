"""Python functions that SQL calls: ``@udf`` files a record, ``install`` registers it.

This module knows neither DuckDB nor numba, so that importing a method costs nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Udf:
    """One Arrow function: ``call`` gets and returns Arrow arrays, one value a row."""

    name: str
    returns: str
    call: Callable[..., Any]
    binds: bool  # evaluated while a statement is bound, so it must be cheap and pure
    # never evaluated again: a macro that is stored in a file forgets AS MATERIALIZED, and DuckDB
    # then repeats a step of a release for each that reads it unless the step is volatile
    volatile: bool
    # handed a name of the open database first, which no file has: a copy of one would share it
    owned: bool


_udfs: dict[str, Udf] = {}


def udf(
    name: str,
    returns: str,
    *,
    binds: bool = False,
    volatile: bool = False,
    owned: bool = False,
) -> Callable[[Callable[..., Any]], Any]:
    """File a function as SQL function ``name`` whose result has the SQL type ``returns``.

    Raises ValueError where another function has the name already.
    """

    def file(call: Callable[..., Any]) -> Callable[..., Any]:
        known = _udfs.get(name)
        if known is not None and known.call.__qualname__ != call.__qualname__:
            raise ValueError(f"two functions are called {name}")
        _udfs[name] = Udf(name, returns, call, binds, volatile, owned)
        return call

    return file


Catalog = Callable[[str, str], list[dict[str, Any]]]
_catalog: list[Catalog] = []


def use_catalog(look_up: Catalog) -> None:
    """Set what answers ``catalog``; ``install`` does it, the one module that opens a cursor."""
    _catalog[:] = [look_up]


def catalog(token: str, relation: str) -> list[dict[str, Any]]:
    """Columns of the committed tables whose name stands in ``relation``, in the database of
    ``token``; see ``relation.find`` for their keys."""
    return _catalog[0](token, relation)


def udfs() -> list[Udf]:
    """All records, by name."""
    return [_udfs[name] for name in sorted(_udfs)]
