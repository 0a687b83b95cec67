"""What follows from declared parameters is fresh, and one line adds a parameter everywhere."""

import re
import shutil
import subprocess
import sys

import pytest

from anon_sql.apps import generate
from anon_sql.core.common_parameters import IN_SQL, Transparent
from anon_sql.core.parameters import _functions, declared, parameters_of, takes
from anon_sql.hosts.duckdb import sql_files as headers
from anon_sql.hosts.duckdb.sql_files import folder, sql_files
from anon_sql.methods.method import _methods, method
from anon_sql.methods.mondrian import Mondrian
from anon_sql.privacy import MODELS

pytestmark = pytest.mark.quick
ROOT = folder().parent


def test_every_generated_file_is_fresh():
    assert generate.main(["--check"]) == 0, "run ./generate"


def test_a_stale_page_is_named(tmp_path, monkeypatch, capsys):
    stale = tmp_path / "reference.md"
    monkeypatch.setattr(generate, "files", lambda: {stale: "new"})
    assert generate.main(["--check"]) == 1
    assert generate.main([]) == 0
    assert generate.main(["--check"]) == 0
    stale.write_text("old")
    assert generate.main(["--check"]) == 1
    assert "reference.md is stale: run ./generate" in capsys.readouterr().err
    assert generate.main(["--wrong"]) == 2


def test_a_signature_keeps_its_order_and_appends():
    """Arguments are passed by position too."""
    headers.entries()
    (file,) = [file for file in sql_files() if file.name == "rayden"]
    before = [name for name, _ in file.signature]
    swapped = file.text.replace("seed := 42, alpha := 2.0", "alpha := 2.0, seed := 42")
    without = re.sub(r",\s+ordered := \S+\n\)", "\n)", swapped)
    assert without != swapped != file.text
    made = generate.with_parameters(headers.replace_text(file, without))
    names = [name for name, _ in headers.replace_text(file, made).signature]
    at = before.index("seed")
    assert names == [*before[:at], "alpha", "seed", *before[at + 2 :]]


def test_a_parameter_that_nobody_declares_is_an_error():
    headers.entries()
    (file,) = [file for file in sql_files() if file.name == "rayden"]
    text = file.text.replace("seed := 42", "sead := 42")
    with pytest.raises(ValueError, match=r"release/rayden.sql: sead is not declared"):
        generate.with_parameters(headers.replace_text(file, text))


@pytest.mark.parametrize("name", ["compare", "tradeoff", "rayden_stats", "dop_stats", "sdka_stats"])
def test_what_reports_on_a_release_takes_its_parameters(name):
    headers.entries()
    of = name.removesuffix("_stats") if name.endswith("_stats") else "mondrian"
    lacks = (
        set() if name.endswith("_stats") else {"partitioning", "columns", "format", "suppressed"}
    )
    if name == "compare":
        lacks |= {"bin_width"}  # it measures classes without their labels
    if name == "tradeoff":
        lacks |= {"l", "l_kind", "c"}
    secret = {"key", *parameters_of(Transparent)}  # which needs one
    assert set(takes(of)) - {"k", *secret, *IN_SQL} - lacks <= set(takes(name))


def test_the_functions_of_releases_are_declared():
    names = {file.name for file in sql_files() if file.folder == "release"}
    headers.entries()
    assert names <= set(declared())


@pytest.fixture
def newest():
    """A method that is registered for one test."""
    method("newest", takes=Mondrian, what="Cuts.", cost="n")(lambda table, call: None)
    yield "newest"
    del _methods["newest"], _functions["newest"]


def test_a_new_method_gets_its_first_files(newest, tmp_path):
    """All that its declaration says stands in the macro."""
    made = generate.first_files(newest, tmp_path)
    (macro, text), (test, _) = made.items()
    assert (macro.name, test.name) == ("newest.sql", "test_newest.py")
    names = [name for name, _ in headers.parsed(newest, "release", text).signature]
    assert names[:2] == ["tbl", "k"]
    assert {*names} == {"tbl", *takes(newest)}
    with pytest.raises(ValueError, match="no @method is called oldest"):
        generate.first_files("oldest", tmp_path)
    with pytest.raises(ValueError, match=r"rayden\.sql is there already"):
        generate.first_files("rayden", ROOT)


ADDED = '    patience: float = param(1.0, Number(0), "how long Datafly waits")\n'
TRIED = """
import anon_sql, inspect
con = anon_sql.connect()
con.sql("CREATE TABLE t AS SELECT 1 AS a, 2 AS b FROM range(9)")
print(con.sql("SELECT text FROM anon_help('datafly') WHERE part = 'patience'").fetchall())
for call in ("patience := 2", "patience := -1"):
    try:
        con.sql(f"FROM datafly('t', k := 2, quasi := 'a', keep := 'b', {call})").fetchall()
    except Exception as error:
        print(str(error).partition("AnonError: ")[2].splitlines()[0])
try:
    anon_sql.release(con, "t", into="r", k=2, method="datafly", quasi="a", keep="b", patience=-2)
except anon_sql.AnonError as error:
    print(error)
"""


@pytest.mark.slow
def test_a_parameter_is_added_by_one_line(tmp_path):
    """In a copy of the tree: signature, structs, help, reference, errors, command line, Python."""
    for part in ("anon_sql", "sql", "docs"):
        shutil.copytree(ROOT / part, tmp_path / part, ignore=shutil.ignore_patterns("__pycache__"))
    file = tmp_path / "anon_sql" / "methods" / "datafly.py"
    text = file.read_text("utf-8")
    first = "    suppression_limit: float | None = param(\n"
    assert text.count(first) == 1
    file.write_text(text.replace(first, ADDED + first), "utf-8")

    def run(*arguments):
        found = subprocess.run(
            [sys.executable, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        return found.returncode, found.stdout, found.stderr

    code, _, said = run("-m", "anon_sql.apps.generate", "--check")
    assert code == 1
    assert set(said.splitlines()) == {
        f"{name} is stale: run ./generate" for name in ("datafly.sql", "frames.pyi", "reference.md")
    }
    assert run("-m", "anon_sql.apps.generate")[0] == 0
    made = (tmp_path / "sql" / "release" / "datafly.sql").read_text("utf-8")
    assert "-- patience: how long Datafly waits.\n" in made
    assert re.search(r" ordered := NULL,\s+patience := 1.0\n\)", made)
    assert re.search(r"struct_pack\([^()]*patience := patience", made)
    assert (
        "- `patience`: how long Datafly waits."
        in (tmp_path / "docs/look-up/reference.md").read_text()
    )
    code, shown, said = run("-c", TRIED)
    assert code == 0, said
    lines = shown.splitlines()
    assert lines[0] == "[('how long Datafly waits.',)]"
    assert lines[1].startswith("datafly: every quasi-identifier needs a hierarchy")
    assert lines[2] == "datafly: patience must be a number of at least 0, got -1"
    assert lines[3] == "datafly: patience must be a number of at least 0, got -2"
    code, shown, _ = run("-m", "anon_sql.apps.cli.app", "release", "--help")
    assert code == 0
    assert "--patience" in shown


PLAIN = {
    "help",
    "ledger",
    "linked",
    "pseudonym",
    "reader",
}  # folders of functions that are not declared
UNDECLARED = {
    "series_forget",
    "series_status",
    *("anon_methods", "anon_roles", "gower", "paper_queries", "suggest_roles"),
    *("anonymize_recipe", "check_hierarchy", "read_hierarchies"),
    *(model.__module__.rpartition(".")[2] for model in MODELS),
}


def test_functions_with_parameters_of_their_own_are_declared():
    headers.entries()
    found = {file.name for file in sql_files() if file.public and file.folder not in PLAIN}
    assert found - UNDECLARED <= set(declared())


@pytest.mark.parametrize("name", ["gcp", "risk", "classification", "numeric_hierarchy"])
def test_a_relation_that_a_call_must_name_is_described_by_hand(name):
    """Parameters without a default are positional; all others come from the declaration."""
    entry = headers.find("", name)
    (file,) = [file for file in sql_files() if file.name == name]
    required = [each for each, word in file.signature if ":=" not in word]
    assert [each for names, _ in entry.arguments for each in names] == [*entry.names]
    assert not {*required} & {*takes(name)}
