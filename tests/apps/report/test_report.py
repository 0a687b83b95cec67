"""The page of a report: what is on it, and what never is."""

import re
import shutil
import sys
from base64 import b64decode
from html import unescape

import duckdb
import pytest

from anon_sql.apps import manifest
from anon_sql.errors import AnonError
from tests.command import refused, run

PEOPLE = (
    "SELECT 'secret' || i AS name, 20 + i % 45 AS age, '<i>$' || i % 3 AS \"se<b>x\", "
    "'illness' || i % 4 AS illness, DATE '2000-01-01' + (i * 31 % 900)::INTEGER AS born "
    "FROM range(300) AS r(i)"
)
ROLES = ["--quasi", "age,se<b>x,born", "--sensitive", "illness", "--identifier", "name"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with a table, its release with a manifest, and the report."""
    pytest.importorskip("jinja2")
    pytest.importorskip("matplotlib")
    folder = tmp_path_factory.mktemp("report")
    raw, safe = folder / "people.parquet", folder / "safe.parquet"
    duckdb.connect().execute(f"COPY ({PEOPLE}) TO '{raw}'")
    for arguments in (
        ("release", raw, safe, "--k", 10, "--l", 2, *ROLES, "--manifest"),
        ("report", raw, safe, "-o", folder / "report.html"),
    ):
        result = run(*arguments)
        assert result.exit_code == 0, result.output
    return folder


@pytest.fixture
def folder(made, tmp_path):
    return shutil.copytree(made, tmp_path, dirs_exist_ok=True)


def page(folder, name="report.html"):
    return (folder / name).read_text(encoding="utf-8")


def drawn(text):
    """The charts, each as SVG."""
    return [
        b64decode(found).decode()
        for found in re.findall(r"data:image/svg\+xml;base64,(\S+?)\"", text)
    ]


def test_every_section_is_there(made):
    text = page(made)
    for title in (
        "What was released, and how",
        "Checks",
        "Classes and loss",
        "Risk of being found again",
        "Error of queries",
        "Raw and released",
    ):
        assert f"<h2>{title}</h2>" in text
    assert "anonymize, seed 42" in text
    assert '<span class="none">0 failed</span>' in text
    assert len(drawn(text)) == 5
    assert text.count(" alt=") == 5


def test_figures_are_those_of_the_functions(made):
    import anon_sql

    with anon_sql.connect() as con:
        con.execute(f"CREATE TABLE raw AS FROM '{made / 'people.parquet'}'")
        con.execute(f"CREATE TABLE safe AS FROM '{made / 'safe.parquet'}'")
        qids = ["age", "se<b>x", "born"]
        losses = con.execute("FROM attribute_loss('raw', 'safe', qids := ?)", [qids]).fetchall()
        ages = con.sql("SELECT count(*) FROM raw WHERE age >= 25 AND age < 30").fetchall()[0][0]
    text = page(made)
    for _, ncp in losses:
        assert f'<td class="number">{ncp:.3g}</td>' in text
    assert f'<th scope="row">25</th><td class="number">{ages}</td>' in text


def test_identifiers_and_sensitive_values_are_not_there(made):
    text = page(made)
    for shown in (text, *drawn(text)):
        assert not re.search(r"secret\d|illness\d", shown)
    assert "illness" in text  # the name of the column


def test_sensitive_values_are_there_if_asked(folder):
    result = run(
        *("report", folder / "people.parquet", folder / "safe.parquet"),
        *("-o", folder / "asked.html", "--show-sensitive"),
    )
    assert result.exit_code == 0, result.output
    text = page(folder, "asked.html")
    assert len(re.findall(r'<th scope="row">illness\d</th>', text)) == 4
    assert (
        '<th scope="row">illness0</th><td class="number">75</td><td class="number">75</td>' in text
    )
    assert not re.search(r"secret\d", text)


def test_names_and_values_are_escaped(made):
    text = page(made)
    assert "se&lt;b&gt;x" in text
    assert "&lt;i&gt;$0" in text
    assert not re.search(r"<b>|<i>", text)
    assert [svg for svg in drawn(text) if "<i>$0" in unescape(svg)]


def test_nothing_is_loaded(made):
    text = page(made)
    assert "default-src 'none'; img-src data:" in unescape(text)
    assert "<script" not in text
    for source in re.findall(r'(?:src|href)="([^"]*)"', text):
        assert source.startswith("data:")


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
    assert "No manifest lies beside the release" in text
    assert re.search(r"✗ failed</td><th scope=\"row\">k</th>", text)


def test_the_share_of_unique_rows_that_is_accepted(folder):
    """One that is given replaces that of the manifest, and 0 without either."""
    pytest.importorskip("jinja2")
    raw, safe = folder / "few.csv", folder / "few_safe.csv"
    raw.write_text("age,job\n" + "30,cook\n" * 3 + "30,judge\n")
    roles = ["--quasi", "age", "--keep", "*", "--k", 2]
    assert run("release", raw, safe, *roles, "--unique-share", 0.25, "--manifest").exit_code == 0
    said = "25 % of the rows are unique on the kept columns together"

    def drawn_with(*options):
        result = run("report", raw, safe, "-o", folder / "few.html", "--overwrite", *options)
        assert result.exit_code == 0, result.output
        return said in page(folder, "few.html")

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


def test_pages_that_cannot_be(folder):
    call = ["report", folder / "people.parquet", folder / "safe.parquet", "-o"]
    assert refused(*call, folder / "a.pdf").startswith("report: -o must end in .html")
    assert "in a directory that exists" in refused(*call, folder / "no" / "a.html")
    assert "--overwrite replaces it" in refused(*call, folder / "report.html")
    empty = folder / "empty.parquet"
    duckdb.connect().execute(f"COPY ({PEOPLE} LIMIT 0) TO '{empty}'")
    assert refused("report", empty, empty, *ROLES, "-o", folder / "a.html") == (
        "report: RAW must have rows, got none"
    )


def test_without_the_extra_it_says_what_to_install(monkeypatch):
    from anon_sql.apps.commands.report import drawing

    monkeypatch.delitem(sys.modules, "anon_sql.apps.report.page", raising=False)
    monkeypatch.delattr("anon_sql.apps.report.page", raising=False)
    monkeypatch.setitem(sys.modules, "jinja2", None)  # such as cannot be imported
    with pytest.raises(AnonError, match=r"pip install 'anon-sql\[report\]'"):
        drawing("report")


def test_sweep(folder):
    call = ["sweep", folder / "people.parquet", *ROLES, "-o", folder / "sweep.html"]
    result = run(*call, "--methods", "mondrian,oka,datafly", "--ks", "5,20,900")
    assert result.exit_code == 0, result.output
    text = page(folder, "sweep.html")
    for method in ("mondrian", "oka", "datafly"):
        assert text.count(f'<th scope="row">{method}</th>') == 3
    assert len(drawn(text)) == 3
    assert not [svg for svg in drawn(text) if "datafly" in svg]
    assert not re.search(r"secret\d|illness\d|<b>", text)
    assert refused(*call, "--overwrite", "--ks", "5,x") == (
        "sweep: --ks must be whole numbers, got '5,x'; write --ks 5,10,25"
    )
    assert "mondrian" in refused(*call, "--overwrite", "--methods", "mondrain")
