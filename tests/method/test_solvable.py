"""Every call that the whole table satisfies is answered: classes and shown suppressed rows are legal.

Tables are small, so that suppression often leaves too few rows for a class.
"""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_sql.core.running import Workers
from anon_sql.errors import AnonError
from anon_sql.methods.method import Call, find_method
from anon_sql.pipeline.partition import legal_partition
from anon_sql.privacy.constraint import Constraint, Sensitive, constraint
from anon_sql.privacy.l_diversity import KINDS, LDiversity
from anon_sql.privacy.t_closeness import TCloseness
from tests.drawing import examples
from tests.method.test_improving import made

pytestmark = pytest.mark.quick

OPTIONS = {
    "anonymize": {
        "effort": ["fast", "good", "best"],
        "time_limit": [1.0],
        "rounds": [1],
        "suppression_limit": [None, 0.2, 0.7],
    },
    "canon": {"vantage": ["random", "farthest"], "cut": ["balanced", "median"], "tries": [1, 8]},
    "dop": {
        "eps": [None, 0.01, 0.2],
        "min_samples": [None, 2, 4],
        "loss": ["lil", "ncp"],
        "noise": ["class", "split", "suppress"],
    },
    "mondrian": {"partitioning": ["strict", "relaxed"], "columns": ["any", "widest"]},
    "mondrian_cof": {
        "alpha": [0.0, 0.5, 2.0],
        "threshold": [None, 0.0, 1.0],
        "partitioning": ["strict", "relaxed"],
        "repair": ["cap", "merge"],
        "unrecovered": ["return", "suppress"],
        "distance": ["gower", "codes"],
    },
    "rayden": {
        "alpha": [0.0, 0.5, 2.0],
        "threshold": [None, 0.0, 1.0],
        "vantage": ["random", "farthest"],
        "cut": ["balanced", "median", "aligned"],
        "tries": [1, 8],
        "repair": ["cap", "merge"],
        "variant": ["rayden", "tang", "pyod"],
        "unrecovered": ["return", "suppress"],
    },
    "generalize": {},
    **{name: {} for name in ("basic_mondrian", "k_member", "oka", "top_down")},
}


@st.composite
def calls(draw):
    """A method, a table of few rows, a call of it, and what becomes of suppressed rows."""
    name = draw(st.sampled_from(sorted(OPTIONS)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = draw(st.integers(2, 60))
    holes = draw(st.sampled_from([0.0, 0.3]))
    columns = {
        "x": pa.array(rng.integers(0, draw(st.sampled_from([1, 5, 99])), n, endpoint=True)),
        "y": pa.array(rng.integers(0, 4, n) / 4, mask=rng.random(n) < holes),
    }
    if name != "canon":
        columns["c"] = pa.array(
            [f"c{v}" for v in rng.integers(0, 3, n)], pa.string(), mask=rng.random(n) < holes
        )
    limits = draw(limits_of(n, rng))
    try:
        limits.require(name, n)
    except AnonError:
        limits = Constraint(min(limits.k, n))
    classes = None
    if name == "generalize":
        classes = rng.integers(-1, max(1, n // (2 * limits.k)), n).astype(np.int32)
        legal = limits.legal(classes, n)
        classes = (
            ranked(np.append(-1, np.where(legal[classes] & (classes >= 0), classes, -1)))[1:] - 1
        )
    options = {key: draw(st.sampled_from(values)) for key, values in OPTIONS[name].items()}
    mode, workers = draw(st.sampled_from(["keep", "drop"])), Workers(name, 1)
    seed, shown = draw(st.integers(0, 3)), mode == "keep"
    own = find_method(name).takes(**options)
    call = Call(name, limits, seed, workers, own, classes, suppressed_released=shown)
    weights = draw(st.sampled_from([None, [1.0, 0.3, 0.0], [0.01, 1.0, 0.7]]))
    weights = None if weights is None else np.array(weights[: len(columns)])
    return replace(made(n, **columns), weights=weights), call, mode


@st.composite
def limits_of(draw, n, rng):
    """k alone, or k with l, t and persons."""
    k = draw(st.sampled_from([1, 2, 3, n // 2 or 1, max(1, 4 * n // 5), n]))
    if draw(st.booleans()):
        return Constraint(k)
    many = draw(st.integers(1, 4))
    codes = ranked((rng.random(n) ** 2 * many).astype(np.int32))
    persons = rng.integers(0, draw(st.sampled_from([2, n // 3 + 1, n])), n).astype(np.int32)
    return constraint(
        k,
        [Sensitive("s", codes, int(codes.max()) + 1, draw(st.booleans()))],
        ranked(persons) if draw(st.booleans()) else None,
        (
            LDiversity(l=draw(st.sampled_from([1.0, 2.0])), l_kind=draw(st.sampled_from(KINDS))),
            TCloseness(t=draw(st.sampled_from([0.0, 0.1, 0.3, 1.0]))),
        ),
    )


def ranked(values):
    """The values numbered from 0 without gaps."""
    return np.unique(values, return_inverse=True)[1].reshape(-1).astype(np.int32)


@examples(200)
@given(calls())
def test_every_class_is_legal(given):
    table, call, mode = given
    found = legal_partition(table, call, find_method(call.function)).classes
    assert call.constraint.legal(found, int(found.max()) + 1).all()
    suppressed = np.flatnonzero(found < 0)
    assert mode == "drop" or len(suppressed) == 0 or call.constraint.allows(suppressed)
