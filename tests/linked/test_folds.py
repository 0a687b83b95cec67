"""The last check before tables are written refuses folds of fewer persons, and values that l
forbids."""

import numpy as np
import pyarrow as pa
import pytest

from anon_sql import AnonError
from anon_sql.hosts.linked import rows_of_table, schema_of
from anon_sql.linked.folds import require_folds
from anon_sql.linked.options import LinkedCall, Linking
from anon_sql.linked.release import plan, released


@pytest.fixture
def made(hospital_of):
    con = hospital_of(200)
    schema = schema_of(con, "release_linked", "person", roles={})
    given = {name: rows_of_table(con, node) for name, node in schema.nodes.items()}
    asked = LinkedCall("release_linked", 5, Linking(l=2))
    found = plan(asked, schema, given)
    return schema, {n: released(asked, schema, found, node)[0] for n, node in schema.nodes.items()}


def test_a_release_passes(made):
    schema, tables = made
    folded = require_folds("release_linked", schema, tables, 5, 2)
    assert np.bincount(folded.fold["person"]).min() >= 5


def test_faults_are_refused(made):
    schema, tables = made
    visits, codes = tables["visit"], tables["diagnosis"]
    faults = {
        "must have at least 5 persons": {"visit": visits.slice(1)},
        "every released row must be below one": {"visit": visits.slice(0, visits.num_rows - 9)},
        "new keys must be different": {"person": pa.concat_tables([tables["person"]] * 2)},
        "must be lacked by at least 1 persons": {
            "diagnosis": codes.set_column(1, "code", pa.array(["A"] * codes.num_rows))
        },
    }
    faults["must have at least 5 persons"]["diagnosis"] = codes.slice(0, 0)
    for sentence, changed in faults.items():
        with pytest.raises(AnonError, match=sentence):
            require_folds("release_linked", schema, {**tables, **changed}, 5, 2)


def test_l_is_counted_over_all_slots(made):
    """Each slot has many values, but one value is had by everybody in some slot."""
    schema, tables = made
    with pytest.raises(AnonError, match="must be lacked by at least"):
        require_folds("release_linked", schema, tables, 5, 40)
