"""``release --manifest`` and ``verify``: what holds, and what each change of a file is called."""

import hashlib
import json
import shutil
from pathlib import Path

import duckdb
import pytest

from anon_sql.apps import manifest
from tests.command import refused, run

ROLES = ["--quasi", "sex,age", "--sensitive", "illness", "--identifier", "name", "--keep", "*"]
PEOPLE = (
    "SELECT 'n' || i AS name, 20 + i % 40 AS age, if(i % 3 = 0, 'f', 'm') AS sex, "
    "['flu', 'cold', 'gout'][1 + i % 3 * i % 3] AS illness, (i % 5) / 2 AS dose "
    "FROM range(200) AS r(i)"
)


def write(sql, path):
    duckdb.connect().execute(f"COPY ({sql}) TO '{path}'")
    return path


@pytest.fixture
def people(tmp_path):
    return write(PEOPLE, tmp_path / "people.csv")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with a release in two formats, made once: a manifest holds no path."""
    folder = tmp_path_factory.mktemp("made")
    raw = write(PEOPLE, folder / "people.csv")
    for name in ("safe.csv", "safe.parquet"):
        out = folder / name
        result = run("release", raw, out, "--k", 10, "--l", 2, *ROLES, "--manifest")
        assert result.exit_code == 0, result.output
        assert f"{out}.anon.json: the manifest" in result.stdout
    return folder


@pytest.fixture
def folder(made, people):
    return Path(shutil.copytree(made, people.parent, dirs_exist_ok=True))


@pytest.fixture
def safe(folder):
    return folder / "safe.csv"


def changed(path, change):
    """Write the manifest beside a file anew."""
    beside = manifest.beside(path)
    written = json.loads(beside.read_text())
    change(written)
    beside.write_text(json.dumps(written))


def again(path, sql):
    """Write a file anew, and the hash in its manifest, so that nothing else tells."""
    con = duckdb.connect()
    con.execute(f"CREATE TABLE t AS FROM '{path}'")
    con.execute(f"COPY ({sql}) TO '{path}'")
    changed(path, lambda written: written["output"].update(sha256=manifest.digest(path)))


@pytest.mark.parametrize("name", ["safe.csv", "safe.parquet"])
def test_what_was_released_is_verified(people, folder, name):
    safe = folder / name
    result = run("verify", safe, "--raw", people)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert {line.split()[0] for line in lines} == {"holds", "noted"}  # rare kept values are noted
    assert "holds    audit: l" in lines
    alone = run("verify", safe)
    assert alone.exit_code == 3, alone.output
    assert "holds    k is at least 10" in alone.stdout
    assert "holds    l of illness is at least 2" in alone.stdout
    for what in ("audit: true_labels", "audit: row_numbers", "measures and loss: as written"):
        assert f"not checked  {what}\n" in alone.stdout
    assert "not checked  audit: k\n" not in alone.stdout
    assert alone.stdout.endswith("could not be checked; pass --raw to check more\n")


def test_what_a_manifest_says(people, safe):
    written = json.loads(manifest.beside(safe).read_text())
    assert written["method"] == "anonymize"
    assert written["parameters"]["k"] == 10
    assert written["parameters"]["seed"] == 42
    assert written["parameters"]["suppressed"] == "keep"
    assert written["parameters"]["options"] == {"format": "label"}
    assert written["roles"]["keep"] == ["dose"]
    assert written["roles"]["without_role"] == []
    assert written["parameters"]["unique_share"] == 0
    assert written["achieved"]["k"] >= 10
    assert written["output"] == {"sha256": hashlib.sha256(safe.read_bytes()).hexdigest()}
    text = manifest.beside(safe).read_text()
    for word in ("n1", "flu", "gout", str(people.parent), people.name, safe.name):
        assert f'"{word}"' not in text
        assert f"{word}/" not in text
    assert hashlib.sha256(people.read_bytes()).hexdigest() not in text


def test_another_file_is_told(people, safe):
    safe.write_bytes(safe.read_bytes().replace(b"cold", b"gout", 1))
    for arguments in ([], ["--raw", people]):
        assert refused("verify", safe, *arguments).startswith(
            "verify: the release must be what its manifest says, got failed: the file is the one "
            "that was written (another SHA-256)"
        )


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT *, 'n1' AS name FROM t", "no identifier is left (name)"),
        ("SELECT * EXCLUDE (sex) FROM t", "every quasi-identifier is there (no column called sex)"),
        ("SELECT * FROM t LIMIT 3", "k is at least 10"),
        ("SELECT * REPLACE ('flu' AS illness) FROM t", "l of illness is at least 2 (1)"),
    ],
)
def test_what_the_release_alone_tells(people, safe, sql, said):
    again(safe, sql)
    for arguments in ([], ["--raw", people]):
        assert said in refused("verify", safe, *arguments)


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT * REPLACE (dose + 100 AS dose) FROM t", "audit: kept_values (200, 0 required)"),
        ("SELECT *, 1 AS added FROM t", "audit: added_columns (1, 0 required)"),
        ("SELECT *, row_number() OVER () AS n FROM t", "audit: row_numbers"),
        ("SELECT * REPLACE ('*' AS sex, '*' AS age) FROM t", "measures: as written"),
    ],
)
def test_what_the_raw_table_tells(people, safe, sql, said):
    again(safe, sql)
    assert run("verify", safe).exit_code == 3
    assert said in refused("verify", safe, "--raw", people)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda m: m["achieved"].update(k=99), "achieved: as written (k)"),
        (lambda m: m["measures"].update(gcp=0.01), "measures: as written (gcp)"),
        (lambda m: m["loss"][1].update(ncp=0.9), "loss: as written (age)"),
        (lambda m: m["parameters"].update(k=150), "k is at least 150"),
        (lambda m: m["parameters"].update(t=0.001), "audit: t"),
        (lambda m: m["roles"].update(quasi=["age"], keep=["sex"]), "as written"),
    ],
)
def test_another_manifest_is_told(people, safe, change, said):
    changed(safe, change)
    assert said in refused("verify", safe, "--raw", people)


def test_another_raw_table_is_told(people, safe):
    write(f"SELECT * RENAME (dose AS amount) FROM ({PEOPLE})", people)
    assert "the raw table has the columns it had (other columns)" in refused(
        "verify", safe, "--raw", people
    )
    write(f"SELECT * FROM ({PEOPLE}) LIMIT 150", people)
    assert "200 rows in the second and 150 in the first" in refused("verify", safe, "--raw", people)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no JSON in"),
        ("[]", "another in"),
        ('{"manifest": 2}', "another in"),
        ('{"manifest": 1}', "one with another statement in"),
        ("\xff", "no JSON in"),
    ],
)
def test_what_is_no_manifest(safe, text, said):
    manifest.beside(safe).write_bytes(text.encode("latin-1"))
    sentence = refused("verify", safe)
    assert sentence.startswith("verify: the manifest must be one of form 1, got ")
    assert said in sentence


def test_a_manifest_with_a_part_missing(safe):
    for part in manifest.read_manifest("verify", manifest.beside(safe)):
        if part not in ("manifest", "method"):
            before = manifest.beside(safe).read_text()
            changed(safe, lambda written, part=part: written.pop(part))
            assert f"one with another {part}" in refused("verify", safe)
            manifest.beside(safe).write_text(before)


def test_no_manifest(people, safe):
    assert refused("verify", people) == (
        f"verify: OUT must have a manifest beside it, got no '{people}.anon.json'; "
        "anon-sql release --manifest writes one"
    )
    missing = people.with_name("no.csv")
    assert refused("verify", safe, "--raw", missing).startswith("verify: --raw must be a file")


def test_nothing_is_overwritten_unasked(people):
    out = people.with_name("safe.csv")
    manifest.beside(out).write_text("precious")
    sentence = refused("release", people, out, *ROLES, "--manifest")
    assert sentence.startswith("release: the manifest must be a new file, got ")
    assert not out.exists()
    assert run("release", people, out, *ROLES, "--manifest", "--overwrite").exit_code == 0
    assert run("verify", out, "--raw", people).exit_code == 0
    unfinished = [path.name for path in people.parent.iterdir() if ".tmp" in path.name]
    assert unfinished == []


def test_checks_that_fail_are_said_at_once(people):
    write(f"SELECT * REPLACE (if(name = 'n1', 'n0', name) AS name) FROM ({PEOPLE})", people)
    out = people.with_name("safe.csv")
    arguments = ["release", people, out, "--quasi", "age,sex", "--keep", "name,*", "--manifest"]
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    assert (
        "200 rows are unique on the kept columns together, 100.0% of the release" in result.stderr
    )
    assert "name alone 99.0% of the rows are unique" in result.stderr
    assert "checks that fail: identifying_combinations" in result.stdout
    assert "audit: identifying_combinations" in refused("verify", out, "--raw", people)
    allowed = run(*arguments, "--unique-share", 1, "--overwrite")
    assert allowed.exit_code == 0, allowed.output
    assert "unique on the kept columns" not in allowed.stderr
    assert run("verify", out, "--raw", people).exit_code == 0


@pytest.mark.parametrize("as_folder", [False, True])
def test_hierarchies_from_a_file_or_a_folder(people, as_folder):
    trees = people.with_name("trees" if as_folder else "trees.csv")
    if as_folder:
        trees.mkdir()
        (trees / "sex.csv").write_text("f;anyone\nm;anyone\n")
    else:
        trees.write_text("attribute,value,level,label\nsex,f,1,anyone\nsex,m,1,anyone\n")
    out = people.with_name("safe.parquet")
    arguments = ["--method", "basic_mondrian", "--k", 60, "--hierarchy", trees, "--manifest"]
    result = run("release", people, out, *ROLES, *arguments)
    assert result.exit_code == 0, result.output
    labels = {sex for (sex,) in duckdb.execute(f"SELECT DISTINCT sex FROM '{out}'").fetchall()}
    assert labels <= {"f", "m", "anyone", "*"}
    assert refused("verify", out, "--raw", people) == (
        "verify: a release made with a hierarchy needs it again; pass --hierarchy"
    )
    assert run("verify", out, "--raw", people, "--hierarchy", trees).exit_code == 0


def test_promises_of_the_release(people):
    write(f"SELECT * REPLACE ('n' || length(name) || age % 20 AS name) FROM ({PEOPLE})", people)
    out = people.with_name("safe.csv")
    roles = [
        "--quasi",
        "age,sex",
        "--sensitive",
        "illness",
        "--k",
        4,
        "--entity",
        "name",
        "--keep",
        "*",
    ]
    promises = ["--l", 1.5, "--l-kind", "entropy", "--t", 0.6]
    result = run("release", people, out, *roles, *promises, "--manifest")
    assert result.exit_code == 0, result.output
    written = json.loads(manifest.beside(out).read_text())
    assert written["achieved"]["l"] is None  # the release does not tell whose rows are whose
    undecided = run("verify", out, "--raw", people)
    assert undecided.exit_code == 3, undecided.output
    assert "unknown  audit: l (unknown, 1.5 required)\n" in undecided.stdout
    assert "unknown  audit: t (unknown, 0.6 required)\n" in undecided.stdout
    many = sum(line.startswith("unknown") for line in undecided.stdout.splitlines())
    assert undecided.stdout.endswith(f"but {many} properties could not be checked\n")
    dropped = ["--suppressed", "drop", "--overwrite", "--manifest"]
    assert run("release", people, out, *ROLES, *dropped).exit_code == 0
    assert run("verify", out, "--raw", people).exit_code == 0
    recursive = ["--l", 2, "--l-kind", "recursive", "--c", 2, "--overwrite", "--manifest"]
    assert run("release", people, out, *ROLES, *recursive).exit_code == 0
    assert run("verify", out, "--raw", people).exit_code == 0


@pytest.mark.parametrize("form", ["mean", "median"])
def test_one_value_of_each_class_in_a_csv(tmp_path, people, form):
    """The text of a CSV is read as the numbers that it holds."""
    out = tmp_path / "safe.csv"
    made = run("release", people, out, "--k", 10, *ROLES, "--format", form, "--manifest")
    assert made.exit_code == 0, made.output
    assert run("verify", out, "--raw", people).exit_code == 0
    written = json.loads((tmp_path / "safe.csv.anon.json").read_text())
    assert written["measures"]["gcp"] is None
    said = refused("report", people, out, "--output", tmp_path / "page.html")
    assert said.startswith(f"report: the release must show labels, got one with --format {form}")
