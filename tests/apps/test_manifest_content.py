"""What a manifest says of constraints, effort and purpose, and that it is verified."""

import json

from anon_sql.apps import manifest
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
        "assumptions": ["it's one"],
    }
    lines = run("verify", out, "--raw", people).stdout.splitlines()
    assert {"holds    audit: beta", "holds    audit: delta"} <= set(lines)
    assert refused(*call, "--overwrite", "--method", "mondrian", "--effort", "best") == (
        "release: --effort must come with --method anonymize, got --method mondrian"
    )
    assert refused(*call, "--overwrite", "--beta", 0) == (
        "anonymize: --beta must be a number above 0, got 0.0"
    )
