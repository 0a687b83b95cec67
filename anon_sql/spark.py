"""Release and measure Spark DataFrames (extra ``spark``).

``anonymize``, and every other release method that does not take quadratic time, is a function from
a DataFrame to a DataFrame; ``gcp``, ``k_anonymity`` and ``utility`` measure; ``register`` makes the
methods table functions of a session.
"""

from collections.abc import Callable, Mapping
from functools import partial
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any

from anon_sql.core.common_parameters import IN_SQL
from anon_sql.core.parameters import Declaration, takes
from anon_sql.errors import PYTHON
from anon_sql.hosts.spark.measures import gcp, k_anonymity, utility
from anon_sql.hosts.spark.register import register
from anon_sql.hosts.spark.release import PART_ROWS, in_regions
from anon_sql.hosts.spark.release import released as _released

if TYPE_CHECKING:
    anonymize: Callable[..., Any]

__all__ = ["gcp", "k_anonymity", "register", "utility"]


def _method(
    function: str,
    df: Any,
    k: int = 5,
    *,
    part_rows: int = PART_ROWS,
    hierarchy: Any = None,
    **parameters: Any,
) -> Any:
    """Return a release of a DataFrame, a DataFrame that Spark computes when it is read.

    hierarchy: a DataFrame of Spark or pandas or an Arrow table. part_rows: rows that one task
    releases; it needs about 1 kB of memory for each. Raises AnonError as in SQL.
    """
    return _released(function, df, k, part_rows, hierarchy, parameters)


def __getattr__(name: str) -> Any:
    """Return the function of a release method."""
    if name not in in_regions():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    function = partial(_method, name)
    parameters = {each: one for each, one in takes(name).items() if each not in IN_SQL}
    descriptions = "\n".join(f"{each}: {one.spelled(PYTHON)}" for each, one in parameters.items())
    function.__doc__ = f"{_method.__doc__}\n{descriptions}\n"
    function.__signature__ = _signature(parameters)  # type: ignore[attr-defined]
    return function


def _signature(parameters: Mapping[str, Declaration]) -> Signature:
    """Return the signature of a release of Spark: all parameters of the method by name."""
    before = [Parameter("df", Parameter.POSITIONAL_OR_KEYWORD)]
    k = Parameter("k", Parameter.POSITIONAL_OR_KEYWORD, default=parameters["k"].default)
    rows = Parameter("part_rows", Parameter.KEYWORD_ONLY, default=PART_ROWS)
    others = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=one.default)
        for name, one in parameters.items()
        if name != "k"
    ]
    return Signature([*before, k, rows, *others])


def __dir__() -> list[str]:
    return [*__all__, *in_regions()]
