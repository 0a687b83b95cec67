"""What every privacy model says of itself is true: closed, monotone, and measured as it is held."""

from importlib import import_module

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from anon_sql.hosts.duckdb.sql_files import sql_files
from anon_sql.privacy import MODELS, VALUE_MODELS
from anon_sql.privacy.class_values import class_values, table_values
from anon_sql.privacy.constraint import Sensitive, constraint
from anon_sql.privacy.l_diversity import LDiversity
from tests.drawing import examples

pytestmark = pytest.mark.quick
LEVELS = {"l": [2, 3], "t": [0.1, 0.3], "beta": [0.3, 1], "delta": [0.5, 1.5]}
WORDS = [
    (model, {name: word})
    for model in VALUE_MODELS
    for name, known in model.parameters().items()
    for word in getattr(known.accepts, "words", ())
]
EVERY = [*WORDS, *((model, {}) for model in VALUE_MODELS if model not in [m for m, _ in WORDS])]
ROW = st.tuples(st.integers(0, 3), st.integers(0, 5), st.integers(0, 3))
TABLES = st.lists(ROW, min_size=4, max_size=24)  # value, person and class of each row


def of(model, words, data):
    level = data.draw(st.sampled_from(LEVELS.get(model.name, [0.4, 0.6, 0.8])))
    return model(**{model.name: level}, **words)


def held(model, drawn, persons=False):
    """Return the constraint of drawn values, and their classes."""
    values, people, classes = (np.array(part, np.int32) for part in zip(*drawn, strict=True))
    values, people = (
        np.unique(part, return_inverse=True)[1].astype(np.int32) for part in (values, people)
    )
    column = Sensitive("s", values, int(values.max()) + 1, False)
    return constraint(1, [column], people if persons else None, [model]), classes


@pytest.mark.parametrize(("model", "words"), EVERY)
@examples(60)
@given(drawn=TABLES, data=st.data())
def test_measured_as_it_is_held(model, words, drawn, data):
    made = of(model, words, data)
    limits, classes = held(made, drawn)
    dense = np.unique(classes, return_inverse=True)[1].reshape(-1)
    keys = pa.array([bytes([1 + value]) for value, _, _ in drawn], pa.binary())
    once = np.ones(len(drawn), np.int64)
    reached = made.measure(class_values(dense, keys, once), table_values(keys, once))
    legal = limits.legal(dense.astype(np.int32), int(dense.max()) + 1)
    assert legal.tolist() == (~made.fails(reached)).tolist()


@pytest.mark.parametrize(("model", "words"), EVERY)
@examples(60)
@given(drawn=TABLES, data=st.data())
def test_a_union_of_legal_classes_is_legal_where_it_says_so(model, words, drawn, data):
    made = of(model, words, data)
    assert made.closed
    limits, classes = held(made, drawn)
    legal = limits.legal(classes, 4)[classes]
    assume(legal.any())
    assert limits.legal(np.where(legal, 0, -1).astype(np.int32), 1)[0]


def test_distinct_values_alone_are_monotone():
    monotone = [(model, words) for model, words in EVERY if model(**words).monotone]
    assert monotone == [(LDiversity, {"l_kind": "distinct"})]


@pytest.mark.parametrize("persons", [False, True])
@examples(60)
@given(drawn=TABLES, level=st.sampled_from([2, 3]))
def test_any_rows_may_join_a_class_of_a_monotone_model(persons, drawn, level):
    limits, classes = held(LDiversity(l=level), drawn, persons)
    legal = limits.legal(classes, 4)[np.unique(classes)]
    assume(legal.any())
    assert limits.legal(np.zeros_like(classes), 1)[0]


def test_each_is_a_file_named_as_the_function_that_measures_it():
    functions = {file.name for file in sql_files() if file.folder == "privacy"}
    for model in MODELS:
        assert model.__module__.rpartition(".")[2] in functions
        assert import_module(model.__module__).__doc__.startswith(f"{model.title}: ")
        assert model.name in model.parameters()
        assert model.broken.endswith(".")
