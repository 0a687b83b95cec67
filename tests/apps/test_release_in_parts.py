"""``anon-sql release`` in parts: the same file as in one statement, and the manifest beside it."""

import duckdb
import pytest

from tests.command import refused, run

ROLES = ["--quasi", "age,city", "--sensitive", "illness", "--identifier", "id", "--keep", "*"]


def write(folder):
    """Write the raw file and return its path."""
    path = folder / "peo'ple [1].parquet"
    duckdb.sql(
        "SELECT 18 + i * 7919 % 60 AS age, 'city ' || i * i % 9 AS city, i % 4 AS illness, i AS id, "
        "i % 7 AS score FROM range(600) r(i)"
    ).write_parquet(str(path))
    return path


@pytest.fixture
def source(tmp_path):
    return write(tmp_path)


@pytest.mark.parametrize("ending", ["parquet", "csv.gz"])
def test_a_file_in_parts(source, tmp_path, ending):
    target = tmp_path / f"safe.{ending}"
    options = ["--k", "5", "--part-rows", "100", "--method", "mondrian", "--manifest"]
    result = run("release", source, target, *options, *ROLES)
    assert result.exit_code == 0, result.output
    assert "600" in result.stdout
    found = duckdb.execute(
        f"SELECT count(*), count(DISTINCT score), min(n) FROM (FROM '{target}') JOIN (SELECT age, city, count(*) AS n FROM '{target}' GROUP BY ALL) USING (age, city)"
    )
    assert found.fetchall()[0] >= (600, 7, 5)
    assert run("verify", target, "--raw", source).exit_code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        [source.name, target.name, f"{target.name}.anon.json"]
    )


def test_refusals_in_parts_are_in_the_words_of_the_command(source, tmp_path):
    target = tmp_path / "safe.parquet"
    said = refused("release", source, target, "--k", "700", "--parts", "3", *ROLES)
    assert said.startswith("anonymize: --k must be at most the number of rows, 600, got --k 700")
    said = refused("release", source, target, "--parts", "3", "--part-rows", "9", *ROLES)
    assert said == "anonymize: the number of parts or their rows may be given"
    assert list(tmp_path.iterdir()) == [source]
