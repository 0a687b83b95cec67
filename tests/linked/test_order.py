"""The order of released rows tells nothing: rows that look alike are in a random order."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from anon_sql.hosts.linked import rows_of_table, schema_of
from anon_sql.linked.options import LinkedCall, Linking
from anon_sql.linked.release import new_keys, plan, released


@pytest.fixture
def hospital(hospital_of):
    return hospital_of(200)


def test_rows_that_look_alike_are_in_a_random_order(hospital):
    schema = schema_of(hospital, "release_linked", "person", roles={})
    given = {name: rows_of_table(hospital, node) for name, node in schema.nodes.items()}
    asked = LinkedCall("release_linked", 5, Linking(surplus="unlink"))
    made = plan(asked, schema, given)
    # keys that are numbers of raw rows show the order of raw rows in the release
    numbered = replace(made, keys={name: np.arange(len(keys)) for name, keys in made.keys.items()})
    for name, column in (("person", "person_id"), ("visit", "visit_id"), ("diagnosis", "visit_id")):
        node = schema.nodes[name]
        first, second = (released(asked, schema, numbered, node)[0] for _ in range(2))
        shown = [each for each in first.column_names if each not in node.renewed]
        assert first.select(shown).to_pylist() == second.select(shown).to_pylist()
        one, other = (table.column(column).to_numpy() for table in (first, second))
        assert (one != other).any()


def test_new_keys_are_different():
    keys = new_keys(1000)
    assert len(set(keys.tolist())) == 1000
    assert min(keys) >= 0
    assert not set(keys.tolist()) & set(new_keys(1000).tolist())


def test_texts_that_repeat_are_held_once(hospital):
    schema = schema_of(hospital, "release_linked", "person", roles={})
    for node in schema.nodes.values():
        values = rows_of_table(hospital, node).values
        for field in values.schema:
            own = values.column(field.name)
            few = 4 * len(own.unique()) < len(own)
            kind = own.type.value_type if pa.types.is_dictionary(own.type) else own.type
            if pa.types.is_string(kind):
                assert pa.types.is_dictionary(own.type) == (few and field.name not in node.renewed)
            raw = hospital.execute(f'SELECT "{field.name}" FROM {node.table.relation}').fetchall()
            assert own.to_pylist() == [value for (value,) in raw]
