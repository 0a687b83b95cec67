"""k-anonymous tables and what they cost, as SQL functions in DuckDB."""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from anon_sql import release
from anon_sql.errors import AnonError
from anon_sql.version import VERSION as __version__

if TYPE_CHECKING:
    from anon_sql.hosts.duckdb.declare import declare
    from anon_sql.hosts.duckdb.install import connect, register, unregister

__all__ = ["AnonError", "__version__", "connect", "declare", "register", "release", "unregister"]


def __getattr__(name: str) -> Any:
    """Import DuckDB and its host with the first function that is asked for, or ``spark``."""
    if name == "spark":
        return import_module("anon_sql.spark")
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from anon_sql.hosts.duckdb import declare, install

    return getattr(declare if name == "declare" else install, name)


class _Release(ModuleType):
    """The room ``release``, which is also the function ``anon_sql.release(con, tbl, into=…)``."""

    def __call__(self, *given: Any, **named: Any) -> Any:
        """Write the release of a relation to a table or a file; see ``hosts.parts.in_parts``."""
        from anon_sql.hosts.parts.in_parts import release

        return release(*given, **named)


release.__class__ = _Release
