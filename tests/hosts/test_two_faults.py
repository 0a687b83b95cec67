"""A call with two faults is refused for the same one in SQL, Python and Spark, and by options."""

import pyarrow as pa
import pytest

import anon_sql
from anon_sql import AnonError
from anon_sql.apps.cli.release import release
from anon_sql.apps.cli.spelling import Options
from anon_sql.errors import SQL
from anon_sql.hosts.spark.frame import frame_of, requested
from tests.command import refused
from tests.sentence import fails

pytestmark = pytest.mark.oldest

FAULTS = {  # in the order in which they are found
    "k": 0,
    "entity": "nobody",
    "quasi": ["age", "nothing"],
    "sensitive": "age",
    "format": "html",
    "l": 0,
    "effort": "none",
    "keep": [],
    "strata": ["job"],
    "weights": {"nothing": 1.0},
}
CALL = {"k": 2, "quasi": ["age", "city"], "keep": ["*"]}
COLUMNS = {"age": pa.int64(), "city": pa.string(), "job": pa.string()}


@pytest.fixture
def t(con):
    con.execute(
        "CREATE TABLE t AS SELECT i AS age, 'c' || i AS city, 'j' AS job FROM range(9) r(i)"
    )
    return con


@pytest.mark.slow
@pytest.mark.parametrize("first", [*FAULTS][:-1])
def test_the_same_fault_is_named(t, first):
    """The first of two, whatever the second is."""
    frame = frame_of("anonymize", pa.schema(list(COLUMNS.items())), {})
    alone = {**CALL, first: FAULTS[first]}
    said = in_sql(t, alone)
    for second in [*FAULTS][[*FAULTS].index(first) + 1 :]:
        call = {**alone, second: FAULTS[second]}
        assert said == in_sql(t, call)
        error = raised(anon_sql.release, t, "t", into="out", method="anonymize", **call)
        assert said == error.render(SQL)
        assert said == str(raised(requested, "anonymize", frame, call, "UTC"))


def in_sql(con, call):
    listed = ", ".join(f"{name} := {literal(value)}" for name, value in call.items())
    return fails(con, f"FROM anonymize('t', {listed})")


def literal(value):
    return f"MAP {value}" if isinstance(value, dict) else repr(value)


def raised(function, *given, **named):
    with pytest.raises(AnonError) as error:
        function(*given, **named)
    return error.value


@pytest.mark.parametrize("other", ["entity", "quasi", "l", "strata"])
def test_the_command_line_names_it_too(t, tmp_path, other):
    table = tmp_path / "t.parquet"
    t.execute(f"COPY t TO '{table}'")
    options = {"entity": "--entity=nobody", "quasi": "--quasi=age,nothing", "l": "--l=0"}
    options["strata"] = "--strata=job"
    quasi = [] if other == "quasi" else ["--quasi=age,city"]
    said = refused(
        "release", table, tmp_path / "o.csv", "--k=0", "--keep=*", *quasi, options[other]
    )
    call = {**CALL, "k": 0, other: FAULTS[other]}
    error = raised(anon_sql.release, t, "t", into="out", method="anonymize", **call)
    assert said == error.render(Options(release))
