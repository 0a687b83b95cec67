"""Synthetic records for the sensitive values that are rare, as positions of real rows' values."""

from collections.abc import Mapping
from math import ceil
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql import interrupt, methods, options
from anon_sql.arrow import first, lists
from anon_sql.calls.binding import HELPER
from anon_sql.calls.partition import refuse_identifying
from anon_sql.clusters.k_means import scikit_learn
from anon_sql.errors import AnonError
from anon_sql.generators.attributes import Attribute, RealRows
from anon_sql.generators.generate import generate
from anon_sql.registry import udf

_CODE, _NUMBER = HELPER + "code_", HELPER + "number_"
_ROUNDING = 1e-9
_POSITIONS = pa.map_(pa.string(), pa.list_(pa.int32()))


@udf("__anon_synthesize", "MAP(VARCHAR, INTEGER[])", volatile=True)
def synthesize(plans: Any, packed: Any, given: Any) -> pa.Array:
    """By released column, where in its list each synthetic record's value stands.

    packed: of each column a hash of every value, and the value as a DOUBLE. A sensitive column
    after the first one gets records of its own, beside those of the others.
    """
    plan, columns = first(plans), dict[str, Any](lists(packed))
    function = plan["function"]
    method = methods.find(function)
    chosen = options.read(function, method.options, first(given))
    names = [name.removeprefix(_CODE) for name in columns if name.startswith(_CODE)]
    interrupt.begin()
    if not plan["sensitive"]:
        raise AnonError(
            function,
            "synthetic records need a sensitive column",
            "none",
            "pass sensitive := 'illness' or declare it",
        )
    if columns[_CODE + names[0]] is None:
        return pa.array([None], _POSITIONS)
    refuse_identifying(function, plan["k"], columns)
    scikit_learn(function)
    attributes = [_attribute(name, columns) for name in names]
    order = np.lexsort([attribute.codes for attribute in attributes])
    attributes = [
        Attribute(a.name, a.codes[order], None if a.numbers is None else a.numbers[order])
        for a in attributes
    ]
    found = [np.zeros((0, len(names)), dtype=np.int32)]
    for name in plan["sensitive"]:
        at = names.index(name)
        present = columns[_CODE + name].is_valid().to_numpy(zero_copy_only=False)[order]
        counts = wanted(attributes[at].codes[present], chosen["target_ratio"])
        if counts:
            real = RealRows(attributes, at)
            more = (plan["seed"], chosen["epochs"])
            found.append(generate(function, chosen["generator"], real, counts, *more))
    records = np.concatenate(found)
    positions = [(name, order[records[:, at]] + 1) for at, name in enumerate(names)]
    return pa.array([positions], _POSITIONS)


def wanted(codes: npt.NDArray[np.int64], target: float) -> Mapping[int, int]:
    """How many records each sensitive value gets, by its code: so many that the most frequent value
    has at most ``target`` times its rows (Majeed and Hwang 2025, equation 1)."""
    known, counts = np.unique(codes, return_counts=True)
    enough = ceil(counts.max(initial=0) / target - _ROUNDING)
    pairs = zip(known.tolist(), counts.tolist(), strict=True)
    return {code: enough - count for code, count in pairs if count < enough}


def _attribute(name: str, columns: Mapping[str, Any]) -> Attribute:
    """A column whose codes follow the hashes, so that they do not depend on the rows' order."""
    hashes, numbers = columns[_CODE + name], columns[_NUMBER + name]
    present = hashes.is_valid().to_numpy(zero_copy_only=False)
    known, codes = np.unique(hashes.fill_null(0).to_numpy(), return_inverse=True)
    codes = np.where(present, codes.reshape(-1), len(known)).astype(np.int64)
    values = numbers.fill_null(np.nan).to_numpy().astype(np.float64)
    values = np.where(np.isfinite(values), values, np.nan)
    return Attribute(name, codes, None if np.isnan(values).all() else values)
