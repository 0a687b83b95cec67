"""Record the Python functions that SQL calls; ``register`` registers them on a connection.

Their last errors are remembered. DuckDB passes on the text of an error alone, and a host that
spells errors in its own way finds the error by its text.

This module imports neither DuckDB nor numba, so that importing a function is fast.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import pyarrow as pa

from anon_sql.core.forks import ForkLock
from anon_sql.errors import AnonError


@dataclass(frozen=True)
class Udf:
    """A scalar function on Arrow arrays.

    returns: SQL type of the result. volatile: whether DuckDB must not evaluate it again. A macro
    stored in a file loses AS MATERIALIZED, and DuckDB would then repeat a step of a release for
    each reference to it. owned: whether the first argument is a name of the open database, unique
    in the process; it is not stored in the file, since a copy of the file would have it too.
    """

    name: str
    returns: str
    call: Callable[..., Any]
    volatile: bool
    owned: bool


_udfs: dict[str, Udf] = {}


def udf(
    returns: str, *, volatile: bool = False, owned: bool = False
) -> Callable[[Callable[..., Any]], Any]:
    """Record a function that SQL calls as ``__anon_<module>_<function>``; see ``Udf``.

    The name tells the file of a call. Raises ValueError if another function has it.
    """

    def file(call: Callable[..., Any]) -> Callable[..., Any]:
        module = call.__module__.rpartition(".")[2]
        name = f"__anon_{module}_{call.__name__}"
        recorded = _udfs.get(name)
        if recorded is not None and recorded.call.__module__ != call.__module__:
            raise ValueError(f"two functions are called {name}")
        _udfs[name] = Udf(name, returns, _remembering(call), volatile, owned)
        return call

    return file


def require_one_call(function: str, argument: Any) -> None:
    """Raise AnonError if a call in a subquery is to run once for each row around it."""
    if len(argument) != 1:
        rule = "a call must not depend on rows of another relation"
        raise AnonError(function, rule, f"{len(argument)} rows")


def _remembering(call: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that remembers its errors."""

    @wraps(call)
    def remembering(*arguments: Any) -> Any:
        try:
            return call(*arguments)
        except AnonError as error:
            remember(error)
            raise

    return remembering


_KEPT = 64  # errors: a text is looked up at once, beside those of a few other threads
_errors: dict[str, AnonError] = {}
_lock = ForkLock()


def remember(error: AnonError) -> None:
    """Keep an error under its text, without the frames in which it was raised.

    An error that is made anew from the text of another does not replace it.
    """
    text = one_line(str(error))
    with _lock:
        kept = _errors.pop(text, None)
        _errors[text] = kept or AnonError(*error.args)
        while len(_errors) > _KEPT:
            del _errors[next(iter(_errors))]


def remembered(text: str) -> AnonError | None:
    """Return an error equal to the one with a text, if that is one of the last ones."""
    with _lock:
        error = _errors.get(one_line(text))
    return None if error is None else AnonError(*error.args)


def one_line(text: str) -> str:
    """Return a text with single spaces in place of all white space."""
    return " ".join(text.split())


_SQL = {
    pa.string(): "VARCHAR",
    pa.bool_(): "BOOLEAN",
    pa.int32(): "INTEGER",
    pa.int64(): "BIGINT",
    pa.float64(): "DOUBLE",
}


def sql_type(kind: pa.DataType) -> str:
    """Return the SQL type of an Arrow type."""
    if pa.types.is_map(kind):
        return f"MAP({sql_type(kind.key_type)}, {sql_type(kind.item_type)})"
    if pa.types.is_list(kind):
        return f"{sql_type(kind.value_type)}[]"
    if pa.types.is_struct(kind):
        fields = ", ".join(f'"{field.name}" {sql_type(field.type)}' for field in kind)
        return f"STRUCT({fields})"
    return _SQL[kind]


Catalog = Callable[[str, str], list[dict[str, Any]]]
Secrets = Callable[[str, str, str], str]
Queries = Callable[[str, str], list[tuple[Any, ...]]]
_catalog: list[Catalog] = []
_secrets: list[Secrets] = []
_queries: list[Queries] = []


def use_catalog(look_up: Catalog, secrets: Secrets, queries: Queries) -> None:
    """Set the functions behind ``catalog``, ``secret`` and ``query_rows``; ``register`` has the
    connections."""
    _catalog[:] = [look_up]
    _secrets[:] = [secrets]
    _queries[:] = [queries]


def query_rows(token: str, statement: str) -> list[tuple[Any, ...]]:
    """Return the rows of a query on what is committed in a database."""
    return _queries[0](token, statement)


def catalog(token: str, relation: str) -> list[dict[str, Any]]:
    """Return the columns of the committed tables whose names occur in ``relation``.

    token: identifies the database. The keys of each column are those of ``relation.find``.
    """
    return _catalog[0](token, relation)


def secret(token: str, function: str, name: str) -> str:
    """Return the value of a secret of the database, or raise AnonError for ``function``."""
    return _secrets[0](token, function, name)


_PACKAGES = ("anon_sql.methods", "anon_sql.hosts.duckdb", "anon_sql.hosts.duckdb.functions")


def load_functions() -> None:
    """Import the modules of SQL functions, which record themselves and what they take."""
    for name in _PACKAGES:
        package = import_module(name)
        for module in iter_modules(package.__path__):
            import_module(f"{package.__name__}.{module.name}")


def udfs() -> list[Udf]:
    """Return all recorded functions, sorted by name."""
    return [_udfs[name] for name in sorted(_udfs)]
