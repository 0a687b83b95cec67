"""anon-sql release --series: the state lies in a DuckDB file."""

import duckdb
import pytest

from tests.command import run
from tests.series.months import KEY, make_month


@pytest.fixture
def month(con, tmp_path):
    def write(first, end):
        make_month(con, first, end)
        con.execute(f"COPY people TO '{tmp_path}/people.csv'")

    write(0, 200)
    return write


def call(tmp_path, out, *more):
    return run(
        "release", str(tmp_path / "people.csv"), str(tmp_path / out),
        "--series", str(tmp_path / "series.duckdb"), "--series-key", KEY,
        "--quasi", "age,city", "--sensitive", "illness", "--keep", "ward", "--entity", "person",
        *more,
    )  # fmt: skip


def releases(tmp_path):
    with duckdb.connect(str(tmp_path / "series.duckdb")) as con:
        return con.execute(
            "SELECT len((tuple::JSON -> 'releases')::JSON[]) FROM anon_series "
            "WHERE cohort IS NULL AND person IS NULL"
        ).fetchall()


def test_two_months(tmp_path, month):
    first = call(tmp_path, "may.csv", "--l", "2")
    assert first.exit_code == 0, first.output
    assert "release 1 of the series" in first.output
    month(30, 230)
    second = call(tmp_path, "june.parquet")
    assert second.exit_code == 0, second.output
    assert "release 2 of the series" in second.output
    assert "rows of former ones" in second.output
    assert releases(tmp_path) == [(2,)]


def test_a_refused_release_leaves_the_state(tmp_path, month):
    assert call(tmp_path, "may.csv").exit_code == 0
    month(30, 230)
    found = call(tmp_path, "june.csv", "--k", "5000")
    assert found.exit_code != 0
    assert "at least k = 5000" in found.output
    assert not (tmp_path / "june.csv").exists()
    assert releases(tmp_path) == [(1,)]


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--manifest",), "a release of a series takes no such option, got --manifest"),
        (("--regions", "2"), "a release of a series takes no such option, got --regions"),
        (("--method", "datafly"), "must go with a method whose classes can be whole cohorts"),
    ],
)
def test_what_is_refused(tmp_path, month, more, says):
    found = call(tmp_path, "may.csv", *more)
    assert found.exit_code != 0
    assert says in " ".join(found.output.split())
