"""The exit code of verify: 0 if all that was promised holds, 1 if a check fails, 3 if one is open."""

import json
import shutil
from pathlib import Path

import pytest

from anon_sql.apps import manifest
from anon_sql.hosts.files import digest
from tests.apps.test_manifest import changed, write
from tests.command import refused, run

PEOPLE = (
    "SELECT 'Ann ' || i AS name, 'u' || i || '@example.org' AS email, 1950 + i % 40 AS birth_year, "
    "['Rome', 'Bern'][1 + i % 2] AS city, ['flu', 'cold', 'gout'][1 + i % 3] AS illness "
    "FROM range(200) AS r(i)"
)
OF_RAW = (
    *("the raw table has the columns it had", "measures and loss: as written", "audit: rows"),
    *(
        "audit: true_labels",
        "audit: matched_rows",
        "audit: identifying_combinations",
        "audit: kept_values",
    ),
)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A table and a release of it, made once."""
    folder = tmp_path_factory.mktemp("made")
    raw = write(PEOPLE, folder / "people.csv")
    roles = ("--quasi", "birth_year,city", "--sensitive", "illness", "--identifier", "name,email")
    out = run("release", raw, folder / "safe.csv", *roles, "--l", 2, "--manifest")
    assert out.exit_code == 0, out.output
    return folder


@pytest.fixture
def folder(made, tmp_path):
    return Path(shutil.copytree(made, tmp_path, dirs_exist_ok=True))


def checked(written, name):
    (check,) = (each for each in written["checks"] if each["property"] == name)
    return check


def calls(folder):
    return [], ["--raw", folder / "people.csv"]


def test_names_and_addresses_that_were_kept_fail_with_and_without_the_raw_table(tmp_path):
    raw, out = write(PEOPLE, tmp_path / "people.csv"), tmp_path / "all.csv"
    kept = ("--quasi", "birth_year,city", "--keep", "name,email,illness", "--manifest")
    assert run("release", raw, out, *kept).exit_code == 0
    alone = refused("verify", out)
    assert "audit: identifying_combinations, as the manifest records it (1, 0 required)" in alone
    assert "audit: identifying_combinations (1, 0 required)" in refused("verify", out, "--raw", raw)


def test_the_codes_of_a_good_release(folder):
    alone, whole = (run("verify", folder / "safe.csv", *call) for call in calls(folder))
    assert (alone.exit_code, whole.exit_code) == (3, 0)
    for what in OF_RAW:
        assert f"not checked  {what}\n" in alone.stdout
        assert f"not checked  {what}\n" not in whole.stdout
    assert "not checked" not in whole.stdout


@pytest.mark.parametrize("name", ["true_labels", "rows", "row_numbers", "label_spelling", "k", "l"])
def test_a_check_that_is_recorded_as_failed_fails(folder, name):
    changed(folder / "safe.csv", lambda written: checked(written, name).update(passed=False))
    for call in calls(folder):
        said = refused("verify", folder / "safe.csv", *call)
        assert f"audit: {name}, as the manifest records it" in said or "checks: as written" in said


@pytest.mark.parametrize("name", ["true_labels", "matched_rows", "identifying_columns"])
def test_a_check_that_is_recorded_as_undecided_is_named_and_ends_with_3(folder, name):
    def change(written):
        checked(written, name).update(passed=None, found=None)

    changed(folder / "safe.csv", change)
    found = run("verify", folder / "safe.csv")
    assert found.exit_code == 3
    assert (
        f"unknown  audit: {name}, as the manifest records it (unknown, 0 required)" in found.stdout
    )


@pytest.mark.parametrize("name", ["unique_range_ends", "pseudonyms"])
def test_facts_for_a_reader_are_noted_and_decide_nothing(folder, name):
    safe = folder / "safe.csv"
    changed(safe, lambda written: checked(written, name).update(passed=None, found=2))
    found = run("verify", safe)
    assert f"noted    audit: {name}, as the manifest records it (2, 0 required)" in found.stdout
    assert "1 property" not in found.stdout


def test_a_record_that_contradicts_itself_fails(folder):
    safe = folder / "safe.csv"
    for name, figures in (
        ("true_labels", {"found": 3}),
        ("k", {"found": 2, "required": 5}),
        ("k", {"required": 2}),
        ("l", {"required": 1}),
        ("rows", {"found": 199}),
        ("identifying_combinations", {"found": 0.5}),
    ):
        before = manifest.beside(safe).read_text("utf-8")
        changed(safe, lambda written, n=name, f=figures: checked(written, n).update(f))
        assert f"audit: {name}: as recorded (" in refused("verify", safe)
        manifest.beside(safe).write_text(before, "utf-8")


def test_a_level_without_a_record_is_not_checked(folder):
    safe = folder / "safe.csv"

    def change(written):
        written["parameters"]["t"] = 0.3
        written["checks"] = [each for each in written["checks"] if each["property"] != "t"]

    changed(safe, change)
    assert "not checked  audit: t\n" in run("verify", safe).stdout


def test_a_folder_has_the_same_codes(folder):
    out, raw = folder / "out", folder / "people.csv"
    roles = ("--quasi", "birth_year,city", "--sensitive", "illness", "--identifier", "name,email")
    assert run("release", raw, f"{out}/", *roles, "--manifest").exit_code == 0
    assert run("verify", out, "--raw", raw).exit_code == 0
    assert run("verify", out).exit_code == 3
    changed(out, lambda written: checked(written, "true_labels").update(passed=False))
    assert "audit: true_labels, as the manifest records it" in refused("verify", out)


def test_errors_of_use_keep_their_code(folder):
    assert "no '" in refused("verify", folder / "people.csv")
    assert run("verify", folder / "safe.csv", "--no-such-option").exit_code == 2


@pytest.mark.parametrize("name", ["../people.csv", "/etc/passwd", "a/b", ".hidden", "", "a\nb"])
def test_a_manifest_of_a_folder_names_plain_files(folder, name):
    safe = folder / "safe.csv"
    changed(safe, lambda written: written["output"].update(files=[name]))
    assert "got one with another output.files in" in refused("verify", safe)


def test_another_type_anywhere_is_refused_by_the_name_of_the_part(folder):
    safe = folder / "safe.csv"
    before = json.loads(manifest.beside(safe).read_text("utf-8"))
    for part, value in (
        ("parameters.k", "5"),
        ("parameters.k", True),
        ("parameters.options", [1]),
        ("roles.quasi", [1]),
        ("roles.keep", "age"),
        ("checks", [{"property": "k"}]),
        ("measures", {"gcp": "0"}),
        ("loss", [{"attribute": 1, "ncp": 0}]),
        ("output.sha256", digest(safe).upper()),
        ("raw.schema_sha256", "0"),
        ("method", 1),
        ("recipe", "none"),
    ):
        written, owner = json.loads(json.dumps(before)), None
        *above, key = part.split(".")
        owner = written[above[0]] if above else written
        owner[key] = value
        manifest.beside(safe).write_text(json.dumps(written), "utf-8")
        said = refused("verify", safe)
        assert said.startswith(
            "verify: the manifest must be one of form 1, got one with another "
        ), said
        assert f"another {part}" in said, said
