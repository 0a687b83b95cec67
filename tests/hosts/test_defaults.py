"""A parameter that is left out has the default of its function on every host."""

import pyarrow as pa
import pytest

import anon_sql
from anon_sql.core.parameters import takes
from anon_sql.hosts.spark.frame import frame_of, requested
from anon_sql.methods.method import COMMON, release_methods
from anon_sql.pipeline.request import Relation, checked

TYPES = {"age": "INTEGER", "pay": "DOUBLE", "illness": "VARCHAR"}
ROLES = {"quasi": ["age", "pay"], "sensitive": ["illness"]}


@pytest.mark.parametrize("method", sorted(release_methods()))
def test_defaults_of_a_request(method):
    """Also where they differ from those of the common parameters, as l of sdka and cut of canon."""
    request = checked(method, Relation(TYPES), ROLES)
    known = takes(method)
    assert request.k == known["k"].default
    assert request.seed == (known["seed"].default if "seed" in known else 42)
    own = release_methods()[method].takes
    for name, value in vars(request.options).items():
        assert value == known[name].default, name
    assert isinstance(request.options, own)
    levels = {model.name: model.level for model in request.models}
    assert levels == ({"l": 2} if method == "sdka" else {})
    assert own not in COMMON


def test_canon_in_parts_and_in_spark_cuts_at_the_median(con):
    con.execute(
        "CREATE TABLE t AS SELECT i * 7 % 60 AS age, i * i % 97 + 0.5 AS pay, 'd' || i % 5 AS illness "
        "FROM range(400) r(i)"
    )
    given = {"k": 5, **ROLES}
    anon_sql.release(con, "t", into="parts", method="canon", part_rows=200, **given)
    anon_sql.release(con, "t", into="chosen", method="canon", part_rows=200, cut="median", **given)
    same = "SELECT count(*) FROM (FROM parts EXCEPT ALL FROM chosen)"
    assert con.execute(same).fetchall() == [(0,)]
    arrow = pa.schema([("age", pa.int32()), ("pay", pa.float64()), ("illness", pa.string())])
    frame = frame_of("canon", arrow, {})
    assert requested("canon", frame, given, "UTC").options.cut == "median"
