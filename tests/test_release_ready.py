"""A version is released only if its tag, changelog and addresses are complete."""

import re
import tomllib
from pathlib import Path

import pytest

from tests.release_ready import ROOT, missing, notes, placeholders

pytestmark = pytest.mark.quick

PROJECT = '[project]\nversion = "1.2.0"\n'
CHANGES = "# Changelog\n\n## 1.2.0 (2027-01-05)\n\n- Better.\n\n## 1.1.0 (2026-12-01)\n\n- Good.\n"
CITED = "cff-version: 1.2.0\nversion: 1.2.0\n"
ADDRESSES = '[repository]\nvalue = "a place"\nplaces = ["README.md"]\n'


@pytest.fixture
def project(tmp_path):
    for name, text in [
        ("pyproject.toml", PROJECT),
        ("CHANGELOG.md", CHANGES),
        ("CITATION.cff", CITED),
        ("placeholders.toml", ADDRESSES),
    ]:
        (tmp_path / name).write_text(text)
    return tmp_path


def test_a_version_that_is_ready(project):
    assert list(missing("v1.2.0", project)) == []
    assert notes("1.2.0", project) == "- Better."
    assert notes("1.1.0", project) == "- Good."
    assert notes("1.0.0", project) is None


@pytest.mark.parametrize(
    ("name", "before", "after", "said"),
    [
        ("pyproject.toml", "1.2.0", "1.2.1", "the tag must be v1.2.1"),
        ("CHANGELOG.md", "2027-01-05", "unreleased", "CHANGELOG.md must have the heading"),
        ("CITATION.cff", "\nversion: 1.2.0", "\nversion: 1.1.0", "CITATION.cff must have version"),
        ("placeholders.toml", "a place", "", "placeholders.toml: repository is empty"),
    ],
)
def test_what_is_missing_is_said(project, name, before, after, said):
    path = project / name
    path.write_text(path.read_text().replace(before, after))
    assert said in "\n".join(missing("v1.2.0", project))


def test_every_place_of_a_placeholder_exists_and_no_page_names_an_address():
    listed = tomllib.loads((ROOT / "placeholders.toml").read_text("utf-8"))
    for each in listed.values():
        for place in each["places"]:
            assert (ROOT / place.partition(":")[0]).is_file(), place
    if "repository" in placeholders():
        for path in [*ROOT.glob("*.md"), ROOT / "CITATION.cff", ROOT / "pyproject.toml"]:
            found = re.findall(
                r"https?://(?:www\.)?github\.com/\S*anon[-_]sql", Path(path).read_text("utf-8")
            )
            assert not found, path


def test_workflows_name_actions_by_their_hash():
    used = [
        line.strip()
        for path in (ROOT / ".github" / "workflows").glob("*.yml")
        for line in path.read_text("utf-8").splitlines()
        if "uses: " in line
    ]
    assert used
    assert all(re.search(r"@[0-9a-f]{40} # v\d", line) for line in used)
