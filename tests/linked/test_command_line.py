"""anon-sql release --root and verify: a folder of tables, one manifest, and what is refused."""

import json
import shutil
from pathlib import Path

import pytest

import anon_sql
from anon_sql import datasets
from anon_sql.apps.manifest import with_output
from tests.command import refused, run

pytestmark = pytest.mark.makes_functions


@pytest.fixture(scope="module")
def hospital(tmp_path_factory):
    path = tmp_path_factory.mktemp("stored") / "hospital.duckdb"
    with anon_sql.connect(str(path)) as con:
        datasets.hospital(con, 200)
    return path


@pytest.fixture
def stored(hospital, tmp_path):
    return Path(shutil.copy(hospital, tmp_path))


def test_a_release_is_written_and_verified(stored, tmp_path):
    out = f"{tmp_path}/out/"
    made = run("release", stored, out, "--root", "person", "--k", 5, "--l", 2, "--manifest")
    assert made.exit_code == 0, made.output
    assert "and all rows" in made.output
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == ["diagnosis.parquet", "person.parquet", "visit.parquet"]
    written = json.loads((tmp_path / "out.anon.json").read_text("utf-8"))
    assert written["parameters"]["k"] == 5
    assert set(written["output"]["files"]) == set(names)
    for raw, code in (([], 3), (["--raw", stored], 0)):
        checked = run("verify", out, *raw)
        assert checked.exit_code == code, checked.output
        assert "fails" not in checked.output
        assert "holds    audit: k" in checked.output
        assert ("not checked  audit: true_labels of visit" in checked.output) == (code == 3)


def test_a_changed_file_does_not_verify(stored, tmp_path):
    out = f"{tmp_path}/out/"
    run("release", stored, out, "--root", "person", "--manifest")
    visits = tmp_path / "out" / "visit.parquet"
    with anon_sql.connect() as con:
        rows = con.sql(f"FROM '{visits}' OFFSET 1").to_arrow_table()
        con.register("rows", rows)
        con.execute(f"COPY rows TO '{visits}' (FORMAT parquet)")
    said = refused("verify", out)
    assert "the files are those that were written (another SHA-256 of visit.parquet)" in said
    written = json.loads((tmp_path / "out.anon.json").read_text("utf-8"))
    written = with_output(written, tmp_path / "out")
    (tmp_path / "out.anon.json").write_text(json.dumps(written), "utf-8")
    assert "audit: k (" in refused("verify", out)


@pytest.mark.parametrize("name", ["sub/raw.csv", ".raw", "raw.parquet", "link"])
def test_what_the_manifest_does_not_name_fails_by_name(stored, tmp_path, name):
    out = tmp_path / "out"
    run("release", stored, f"{out}/", "--root", "person", "--manifest")
    (out / name).parent.mkdir(exist_ok=True)
    if name == "link":
        (out / name).symlink_to(stored)
    else:
        (out / name).write_text("a row")
    said = refused("verify", f"{out}/")
    assert f"the folder holds nothing else ({name.partition('/')[0]}" in said


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--method", "mondrian"), "--method"),
        (("--parts", 2), "--parts"),
        (("--memory-limit", "1GB"), "--memory-limit"),
        (("--resume",), "--resume"),
        (("--ledger", "ledger.duckdb"), "--ledger"),
        (("--previous", "before.parquet"), "--previous"),
        (("--previous-share", 0.1), "--previous-share"),
        (("--unique-share", 0.5), "--unique-share"),
        (("--delimiter", ";"), "--delimiter"),
    ],
)
def test_options_that_linked_tables_do_not_take_are_refused(stored, tmp_path, options, named):
    said = refused("release", stored, f"{tmp_path}/out/", "--root", "person", *options)
    assert said.startswith("release: tables that belong together take no such option, got ")
    assert named in said
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "option",
    [
        ("--link", "a.b -> c.d"),
        ("--leave-out", "a"),
        ("--surplus", "unlink"),
        ("--orphans", "drop"),
    ],
)
def test_options_of_linked_tables_need_a_root(tmp_path, option):
    said = refused("release", "in.csv", f"{tmp_path}/out.csv", "--quasi", "age", *option)
    assert said == f"release: {option[0]} must come with --root"


def test_a_folder_of_files_with_links_and_roles(stored, tmp_path):
    source = tmp_path / "raw"
    source.mkdir()
    with anon_sql.connect(str(stored)) as con:
        for table in datasets.HOSPITAL:
            con.execute(f"COPY {table} TO '{source}/{table}.parquet' (FORMAT parquet)")
    made = run(
        *("release", source, f"{tmp_path}/safe/", "--root", "person", "--manifest"),
        *("--link", "visit.person_id -> person.person_id"),
        *("--link", "diagnosis.visit_id -> visit.visit_id"),
        *("--identifier", "person.person_id,visit.visit_id"),
        *("--quasi", "person.born,person.sex,person.postcode,visit.person_id,visit.visited"),
        *("--quasi", "visit.ward", "--keep", "visit.days", "--sensitive", "diagnosis.code"),
        *("--keep", "diagnosis.visit_id"),
    )
    assert made.exit_code == 0, made.output
    checked = run("verify", f"{tmp_path}/safe/", "--raw", source)
    assert checked.exit_code == 0, checked.output


def test_what_is_refused(stored, tmp_path):
    assert refused("release", stored, f"{tmp_path}/out", "--root", "person") == (
        f"release: OUT must be a folder that ends in '/' for --root, got '{tmp_path}/out'"
    )
    assert refused(
        "release", stored, f"{tmp_path}/out/", "--root", "person", "--t", 0.2
    ).startswith("release: --t does not apply to tables that belong together")
    for option, value in (("--parts", 2), ("--ledger-key", "env:X"), ("--leavers", "withdraw")):
        said = refused("release", stored, f"{tmp_path}/out/", "--root", "person", option, value)
        assert f"take no such option, got {option}; leave it out" in said
    assert not (tmp_path / "out").exists()
    said = refused("release", "in.csv", "out.csv", "--keep", "x")
    assert said.startswith("release: --quasi must name")
