"""What a privacy measure asks of its call: sensitive columns, how they are compared, parameters."""

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from anon_sql.arrow import first
from anon_sql.calls.protection import ranked
from anon_sql.constraints import KINDS
from anon_sql.measures.checked import types_of
from anon_sql.measures.sensitive import require_any, require_bound, require_released
from anon_sql.options import Choice, Number, Positive
from anon_sql.registry import udf

KIND = Choice(KINDS)
_ALLOWED = "STRUCT(kind VARCHAR, c DOUBLE, sensitive VARCHAR[], numbers VARCHAR[])"


@udf("__anon_measure_protected", _ALLOWED)
def protected(
    function: Any, scope: Any, plan: Any, raw_types: Any, released_types: Any, kind: Any, c: Any
) -> pa.Array:
    """The sensitive columns of a call, which of them are numbers, dates or times, and the kind of
    diversity with its c, or an AnonError."""
    name, sensitive = first(function), first(plan)["sensitive"]
    allowed = {
        "kind": KIND.read(name, "kind", first(kind)),
        "c": Positive().read(name, "c", first(c)),
    }
    require_bound(name, sensitive, first(scope))
    require_any(name, sensitive)
    release = types_of(released_types)
    require_released(name, sensitive, release)
    raw = types_of(raw_types)
    numbers = numbers_of(name, sensitive, raw)
    return pa.array([{**allowed, "sensitive": list(sensitive), "numbers": numbers}])


def numbers_of(function: str, columns: Iterable[str], types: Mapping[str, str]) -> list[str]:
    """The columns that are numbers, dates or times."""
    return [column for column in columns if ranked(function, column, types[column])]


@udf("__anon_measure_threshold", "DOUBLE")
def threshold(function: Any, given: Any) -> pa.Array:
    """The threshold of a risk, or an AnonError."""
    return pa.array([Number(0, 1).read(first(function), "threshold", first(given))])
