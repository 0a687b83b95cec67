"""k-anonymous tables and what they cost, as SQL functions in DuckDB."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from anon_sql.errors import AnonError, AnonWarning
from anon_sql.version import VERSION as __version__

if TYPE_CHECKING:
    from anon_sql.apps.verdict.of_recipe import recipe
    from anon_sql.frames import anonymize, k_anonymity, l_diversity, t_closeness
    from anon_sql.hosts.duckdb.interrupting import interrupt
    from anon_sql.hosts.duckdb.ledger import ledger
    from anon_sql.hosts.duckdb.listening import listen
    from anon_sql.hosts.duckdb.register import connect, register, unregister
    from anon_sql.hosts.duckdb.roles import declare
    from anon_sql.hosts.into import release
    from anon_sql.hosts.linked import release_linked

__all__ = [
    "AnonError",
    "AnonWarning",
    "__version__",
    "anonymize",
    "connect",
    "declare",
    "interrupt",
    "k_anonymity",
    "l_diversity",
    "ledger",
    "listen",
    "recipe",
    "register",
    "release",
    "release_linked",
    "t_closeness",
    "unregister",
]
_OF_FRAMES = ("anonymize", "k_anonymity", "l_diversity", "t_closeness")
_PLACES = {
    "declare": "duckdb.roles",
    "interrupt": "duckdb.interrupting",
    "ledger": "duckdb.ledger",
    "listen": "duckdb.listening",
    "release": "into",
    "release_linked": "linked",
}


def __getattr__(name: str) -> Any:
    """Import a host with the first of its functions that is asked for, or a module of functions."""
    if name in ("datasets", "frames", "spark"):
        return import_module(f"anon_sql.{name}")
    if name in _OF_FRAMES:
        return getattr(import_module("anon_sql.frames"), name)
    if name == "recipe":
        return import_module("anon_sql.apps.verdict.of_recipe").recipe
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    host = import_module(f"anon_sql.hosts.{_PLACES.get(name, 'duckdb.register')}")
    return getattr(host, name)
