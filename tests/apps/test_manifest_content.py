"""What a manifest says of constraints, effort and purpose, and that it is verified."""

import json

import duckdb
import pytest

import anon_sql
from anon_sql.apps import manifest
from anon_sql.core.duckdb_internals.hashing import ROW_HASH
from anon_sql.version import VERSION
from tests.apps.test_manifest import PEOPLE, ROLES, write
from tests.command import refused, run


def test_constraints_effort_and_statements_are_written_and_verified(tmp_path):
    people = write(PEOPLE, tmp_path / "people.csv")
    out = people.with_name("bounded.parquet")
    call = ["release", people, out, *ROLES, "--beta", 0.8, "--delta", 2, "--manifest"]
    result = run(*call, "--effort", "fast", "--purpose", "A study", "--assumption", "it's one")
    assert result.exit_code == 0, result.output
    written = json.loads(manifest.beside(out).read_text("utf-8"))
    assert (written["parameters"]["beta"], written["parameters"]["delta"]) == (0.8, 2)
    assert written["parameters"]["options"] == {"format": "label", "effort": "fast"}
    assert written["achieved"]["beta"] <= 0.8
    assert written["statement"] == {
        "purpose": "A study",
        "recipient": None,
        "environment": None,
        "assumptions": ["it's one"],
        "review_by": None,
        "review": [],
    }
    lines = run("verify", out, "--raw", people).stdout.splitlines()
    assert {"holds    audit: beta", "holds    audit: delta"} <= set(lines)
    assert refused(*call, "--overwrite", "--method", "mondrian", "--effort", "best") == (
        "release: --effort must come with --method anonymize, got --method mondrian"
    )
    assert refused(*call, "--overwrite", "--beta", 0) == (
        "anonymize: --beta must be a number above 0, got 0.0"
    )


def test_t_of_numbers_in_a_csv_file_is_that_of_the_numbers(tmp_path):
    """A CSV file holds text, and t between texts is another distance than between numbers."""
    raw, out = tmp_path / "raw.csv", tmp_path / "out.csv"
    rows = [(20 + i % 40, 100.5 * (i * 7919 % 97)) for i in range(200)]
    raw.write_text("age,income\n" + "".join(f"{age},{income}\n" for age, income in rows))
    call = ["release", raw, out, "--k", 5, "--t", 0.4, "--quasi", "age", "--sensitive", "income"]
    result = run(*call, "--manifest")
    assert result.exit_code == 0, result.output
    written = json.loads(manifest.beside(out).read_text("utf-8"))
    with duckdb.connect() as con:
        anon_sql.register(con)
        ((found,),) = con.execute(
            f"CREATE TABLE raw AS FROM read_csv('{raw}'); CREATE TABLE shown AS FROM "
            f"read_csv('{out}', types := {{'age': 'VARCHAR'}}); "
            "SELECT t_closeness('raw', 'shown', ['income'], quasi := ['age'])"
        ).fetchall()
    assert written["achieved"]["t"] == pytest.approx(found, abs=1e-12)
    assert found <= 0.4
    assert run("verify", out, "--raw", raw).exit_code == 0


def released(tmp_path):
    """The raw file, its release, the path of the manifest, and what that says."""
    people = write(PEOPLE, tmp_path / "people.csv")
    out = people.with_name("released.parquet")
    assert run("release", people, out, *ROLES, "--manifest").exit_code == 0
    path = manifest.beside(out)
    return people, out, path, json.loads(path.read_text("utf-8"))


def test_a_manifest_written_before_a_privacy_model_was_known_is_verified(tmp_path):
    people, out, path, written = released(tmp_path)
    for part, names in (("parameters", ("max_share", "beta_kind")), ("achieved", ("max_share",))):
        for name in names:
            del written[part][name]
    path.write_text(json.dumps(written), "utf-8")
    result = run("verify", out, "--raw", people)
    assert result.exit_code == 0, result.output
    assert "holds    achieved: as written" in result.stdout


def test_a_report_requires_what_the_manifest_states(tmp_path):
    """Stated by an edited manifest, so that no option of the command line is needed."""
    people, out, path, written = released(tmp_path)
    page = tmp_path / "page.json"
    written["parameters"]["max_share"] = 0.01
    path.write_text(json.dumps(written), "utf-8")
    assert run("report", people, out, "--format", "json", "-o", page).exit_code == 0
    said = json.loads(page.read_text("utf-8"))
    assert said["required"]["max_share"] == 0.01
    (check,) = (check for check in said["checks"] if check["property"] == "max_share")
    assert check["passed"] is False
    assert said["verdict"]["state"] == "red"


@pytest.mark.slow
def test_versions_are_written_and_others_are_said_and_no_fault(tmp_path):
    people, out, path, written = released(tmp_path)
    here = {"anon_sql": VERSION, "duckdb": f"v{duckdb.__version__}", "row_hash": ROW_HASH}
    assert written["versions"] == here
    assert "made with" not in run("verify", out).stdout
    here_said = f"anon_sql {VERSION}, DuckDB v{duckdb.__version__} and row hash {ROW_HASH}"
    for versions, said in (
        ({**here, "row_hash": 0}, here_said.replace(f"hash {ROW_HASH}", "hash 0")),
        (
            {"anon_sql": "0.0.9", "duckdb": "v1.5.0"},
            "anon_sql 0.0.9, DuckDB v1.5.0 and no version of row hash",
        ),
    ):
        path.write_text(json.dumps({**written, "versions": versions}), "utf-8")
        result = run("verify", out, "--raw", people)
        assert result.exit_code == 0, result.output
        assert result.stdout.endswith(f"made with {said}; verified with {here_said}\n")
        assert (
            run("report", people, out, "-o", tmp_path / "page.html", "--overwrite").exit_code == 0
        )
        page = (tmp_path / "page.html").read_text("utf-8")
        assert f"DuckDB {versions['duckdb']}" in page
        assert (", row hash 0" in page) == ("row_hash" in versions)
