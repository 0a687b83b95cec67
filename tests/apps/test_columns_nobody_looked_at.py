"""A wide file of which few columns were thought of: refused, and named in every check if kept."""

import json

import pytest

from tests.apps.report.pages import first_screen
from tests.command import refused, run

pytest.importorskip("jinja2")
COLUMNS = 33
QUASI = "age,town,sex"


@pytest.fixture
def census(con, tmp_path):
    """120 rows of three quasi-identifiers, income and 33 more columns of a few values each."""
    more = ", ".join(f"hash(i * 40 + {at}) % 4 AS answer_{at:02}" for at in range(COLUMNS))
    path = tmp_path / "census.parquet"
    con.execute(
        f"COPY (SELECT 20 + i % 50 AS age, 'town ' || i % 3 AS town, i % 2 AS sex, {more}, "
        f"i % 9 AS income FROM range(120) AS made(i)) TO '{path}'"
    )
    return path


def test_columns_without_a_role_are_listed(census):
    said = refused("release", census, census.with_name("safe.csv"), "--quasi", QUASI)
    listed = ", ".join(f"answer_{at:02}" for at in range(COLUMNS))
    assert said == (
        f"anonymize: every column needs a role, got no role for {listed}, income; name it in "
        "--identifier, --quasi, --sensitive or --keep, or pass --keep '*' to release all of them "
        "as they are; anon-sql roles suggests roles"
    )
    assert not census.with_name("safe.csv").exists()


@pytest.mark.slow
def test_columns_that_are_kept_are_named_with_their_figure(con, census):
    safe, page = census.with_name("safe.csv"), census.with_name("page.html")
    roles = ["--quasi", QUASI, "--sensitive", "income", "--keep", "*"]
    result = run("release", census, safe, *roles, "--manifest")
    assert result.exit_code == 0, result.output
    kept = ", ".join(f"answer_{at:02}" for at in range(COLUMNS))
    counted = f"SELECT count(*) FROM (SELECT 1 FROM '{safe}' GROUP BY {kept} HAVING count(*) = 1)"
    ((unique,),) = con.execute(counted).fetchall()
    assert unique > 115
    assert f"{unique} rows are unique on the kept columns together" in result.stderr
    assert "checks that fail: identifying_combinations" in result.stdout
    assert "audit: identifying_combinations" in refused("verify", safe, "--raw", census)
    result = run("report", census, safe, "-o", page)
    assert result.exit_code == 0, result.output
    said = first_screen(page.read_text("utf-8"))
    assert "✗ Do not release this as it is" in said
    assert "✓" not in said
    assert (
        "of the rows are unique on the columns kept unchanged. An attacker who knows these" in said
    )
    assert "33 columns are released unchanged, more than the 3 that are generalized." in said
    assert "other, kept 33 columns, listed in the annex" in said


@pytest.mark.slow
def test_no_report_of_such_a_release_can_be_read_as_fine(con, census):
    """Neither where unique rows are allowed, nor where nobody says what the columns are."""
    safe, facts = census.with_name("safe.csv"), census.with_name("facts.json")
    report = ["report", census, safe, "-o", facts, "--format", "json"]
    roles = ["--quasi", QUASI, "--keep", "*"]
    assert run("release", census, safe, *roles, "--unique-share", 1, "--manifest").exit_code == 0
    assert run(*report).exit_code == 0
    said = json.loads(facts.read_text("utf-8"))["verdict"]
    assert said["heading"] == "No check fails, but a decision is open"
    reasons = " ".join(each["text"] for each in said["reasons"])
    allowed = "of the rows are unique on the columns kept unchanged, which this release allows"
    assert allowed in reasons
    assert "No column was named as sensitive" in reasons
    census.with_name("safe.csv.anon.json").unlink()
    given = ["--quasi", QUASI, "--unique-share", 1, "--k", 5, "--overwrite"]
    assert run(*report, *given).exit_code == 0
    said = json.loads(facts.read_text("utf-8"))["verdict"]
    assert said["heading"] == "Do not release this as it is"
    assert "34 columns without a role can be read unchanged: answer_00, answer_01" in str(said)
