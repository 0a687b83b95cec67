"""Release and measure pandas, Polars and PyArrow tables, relations of DuckDB and files.

Each function has the name and the parameters of the SQL function; docs/look-up/reference.md
describes both, and so does ``anon-sql help NAME``.
A release comes back in the kind of frame that was given, and so does what a measure returns as a
table. A path gives a PyArrow table. A release of a relation has the rows of the SQL function on the
table, in the same order. PyArrow, Polars and pandas hold values of some types in another type, for
instance UUID as text; if such a column is kept, the order of rows, and the choice between rows
with equal quasi-identifiers, can differ from SQL on the original table. Every function also takes

threads: number of threads; None for those of the connection, or all cores without one.
time_zone: of timestamps that are written without one; that of a connection comes before 'UTC'.
connection: of DuckDB, whose settings, and whose relations as hierarchies, are used.

The functions are made from sql/ and the declared parameters when they are first used; frames.pyi,
which ./generate writes, shows them to editors and type checkers.
"""

from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from inspect import Signature
from typing import Any, Literal, TypeAlias  # noqa: F401 - in annotations

from anon_sql.hosts.frames import call
from anon_sql.hosts.frames.signatures import FrameFunction, function_of_name, names

Columns: TypeAlias = str | Sequence[str] | None
Frame: TypeAlias = Any  # a pandas, Polars or PyArrow table, a relation of DuckDB, or a path
Weights: TypeAlias = Mapping[str, float] | None

__all__ = list(names())


def __getattr__(name: str) -> Callable[..., Any]:
    """Make a function when it is first used."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = made = _function(function_of_name(name))
    return made


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _function(described: FrameFunction) -> Callable[..., Any]:
    """Return the function that passes its arguments on, with its signature and documentation."""
    signature = Signature(described.parameters, return_annotation=described.returns)
    run = {"release": call.release, "table": call.table, "value": call.value}[described.kind]

    def function(*values: Any, **named: Any) -> Any:
        try:
            bound = signature.bind(*values, **named)
        except TypeError as error:
            raise TypeError(f"{described.name}() {error}{_hint(signature, named)}") from None
        bound.apply_defaults()
        return run(described.name, bound.arguments)

    function.__name__ = function.__qualname__ = described.name
    function.__doc__ = described.documentation
    function.__signature__ = signature  # type: ignore[attr-defined]
    function.__annotations__ = {
        **{name: each.annotation for name, each in signature.parameters.items()},
        "return": described.returns,
    }
    return function


def _hint(signature: Signature, named: Mapping[str, Any]) -> str:
    """Return a parameter that an unknown name may stand for."""
    unknown = next((name for name in named if name not in signature.parameters), "")
    near = get_close_matches(unknown, signature.parameters, 1)
    return f"; did you mean {near[0]}?" if near else ""
