"""The page of a report: what never is on it, and what is refused."""

import json
import re
import sys
from html import unescape

import duckdb
import pytest

from anon_sql.apps import manifest
from anon_sql.errors import AnonError
from tests.apps.report.pages import PEOPLE, ROLES, drawn, first_screen, page
from tests.command import refused, run


@pytest.mark.slow
def test_identifiers_and_sensitive_values_are_not_there(made):
    text = page(made)
    for shown in (text, *drawn(text)):
        assert not re.search(r"secret\d|illness\d", shown)
    assert "illness" in text  # the name of the column


@pytest.mark.slow
def test_sensitive_values_are_there_if_asked(folder):
    result = run(
        *("report", folder / "people.parquet", folder / "safe.parquet"),
        *("-o", folder / "asked.html", "--show-sensitive"),
    )
    assert result.exit_code == 0, result.output
    text = page(folder, "asked.html")
    assert len(re.findall(r'<th scope="row">illness\d</th>', text)) == 4
    assert (
        '<th scope="row">illness0</th><td class="number">30</td><td class="number">30</td>' in text
    )
    assert not re.search(r"secret\d", text)


@pytest.mark.slow
def test_names_and_values_are_escaped(made):
    text = page(made)
    assert "se&lt;b&gt;x" in text
    assert "&lt;i&gt;$0" in text
    assert not re.search(r"<b>|<i>", text)
    assert [svg for svg in drawn(text) if "<i>$0" in unescape(svg)]


@pytest.mark.slow
def test_nothing_is_loaded(made):
    text = page(made)
    assert "default-src 'none'; img-src data:" in unescape(text)
    assert "<script" not in text
    for source in re.findall(r'(?:src|href)="([^"]*)"', text):
        assert source.startswith("data:")


@pytest.mark.slow
def test_without_a_manifest_roles_must_be_named(folder):
    manifest.beside(folder / "safe.parquet").unlink()
    call = ["report", folder / "people.parquet", folder / "safe.parquet", "-o", folder / "b.html"]
    assert refused(*call) == (
        "report: RELEASED must have a manifest, or its quasi-identifiers must be named, "
        "got neither; pass --quasi age,zip"
    )
    result = run(*call, *ROLES, "--k", 200)
    assert result.exit_code == 0, result.output
    text = page(folder, "b.html")
    said_first = first_screen(text)
    assert (
        "✗ Do not release this as it is “k” fails: The smallest class has 10 rows; at least 200 are required. A person"
        in said_first
    )
    assert "versions not recorded" in said_first


@pytest.mark.slow
def test_the_share_of_unique_rows_that_is_accepted(folder):
    """One that is given replaces that of the manifest, and 0 without either."""
    pytest.importorskip("jinja2")
    raw, safe = folder / "few.csv", folder / "few_safe.csv"
    raw.write_text("age,job\n" + "30,cook\n" * 3 + "30,judge\n")
    roles = ["--quasi", "age", "--keep", "*", "--k", 2]
    assert run("release", raw, safe, *roles, "--unique-share", 0.25, "--manifest").exit_code == 0

    def drawn_with(*options):
        out = folder / "few.json"
        result = run("report", raw, safe, "-o", out, "--format", "json", "--overwrite", *options)
        assert result.exit_code == 0, result.output
        said = json.loads(out.read_text("utf-8"))["verdict"]
        assert "25% of the rows are unique on the columns kept unchanged" in str(said)
        return said["heading"] == "Do not release this as it is"

    assert not drawn_with()
    assert drawn_with("--unique-share", 0)
    manifest.beside(safe).unlink()
    assert drawn_with(*roles)
    assert not drawn_with(*roles, "--unique-share", 0.25)


def test_the_manifest_of_another_file_is_refused(folder):
    safe = folder / "safe.parquet"
    duckdb.connect().execute(f"COPY (FROM '{safe}' ORDER BY illness) TO '{safe}'")
    call = ["report", folder / "people.parquet", safe, "-o", folder / "b.html"]
    assert refused(*call).startswith("report: the manifest must be of RELEASED, got ")


def test_a_release_without_rows(folder):
    empty = folder / "none.parquet"
    duckdb.connect().execute(f"COPY (FROM '{folder / 'safe.parquet'}' LIMIT 0) TO '{empty}'")
    call = ["report", folder / "people.parquet", empty, *ROLES, "-o", folder / "n.json"]
    result = run(*call, "--format", "json")
    assert result.exit_code == 0, result.output
    assert "“rows” fails: The release has 0 rows; there must be 120" in (
        folder / "n.json"
    ).read_text("utf-8")


def test_pages_that_cannot_be(folder):
    call = ["report", folder / "people.parquet", folder / "safe.parquet", "-o"]
    assert refused(*call, folder / "a.pdf").startswith("report: -o must end in .html")
    assert "in a directory that exists" in refused(*call, folder / "no" / "a.html")
    assert "--overwrite replaces it" in refused(*call, folder / "report.html")
    assert "-o must end in .json" in refused(*call, folder / "a.html", "--format", "json")
    empty = folder / "empty.parquet"
    duckdb.connect().execute(f"COPY ({PEOPLE} LIMIT 0) TO '{empty}'")
    assert refused("report", empty, empty, *ROLES, "-o", folder / "a.html") == (
        "report: RAW must have rows"
    )


def test_without_the_extra_it_says_what_to_install(monkeypatch):
    from anon_sql.apps.cli.report import drawing

    for name in ("page", "rendering"):
        monkeypatch.delitem(sys.modules, f"anon_sql.apps.report.{name}", raising=False)
        monkeypatch.delattr(f"anon_sql.apps.report.{name}", raising=False)
    monkeypatch.setitem(sys.modules, "jinja2", None)  # such as cannot be imported
    with pytest.raises(AnonError, match=r"pip install 'anon-sql\[report\]'"):
        drawing("report")


@pytest.mark.slow
def test_levels_of_full_domain(folder, con):
    con.execute(
        "COPY (SELECT i * 7 % 30 AS age, i * i % 9 AS size, i % 3 AS stage "
        f"FROM range(120) AS made(i)) TO '{folder / 'raw.csv'}'"
    )
    call = ["--method", "full_domain", "--quasi", "age,size", "--sensitive", "stage", "--k", 4]
    made = run("release", folder / "raw.csv", folder / "made.csv", *call, "--manifest")
    assert made.exit_code == 0, made.output
    named = ["report", folder / "raw.csv", folder / "made.csv", "-o"]
    assert run(*named, folder / "levels.html").exit_code == 0
    assert run(*named, folder / "levels.json", "--format", "json").exit_code == 0
    said = json.loads((folder / "levels.json").read_text())
    first, *others = said["levels"]
    assert first["best"]
    assert not any(node["best"] for node in others)
    assert first["classes"] == said["utility"]["classes"]
    assert all(node["loss"] >= first["loss"] for node in others if node["legal"])
    text = page(folder, "levels.html")
    assert text.count("<h2>Levels</h2>") == 1
    assert "<h2>Levels</h2>" not in page(folder)
