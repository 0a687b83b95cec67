"""verify of linked tables finds every edit of the manifest, and takes no name outside the folder."""

import json
import shutil
from pathlib import Path

import duckdb
import pytest

import anon_sql
from anon_sql import AnonError, datasets
from anon_sql.hosts.files import digest
from tests.command import refused, run

pytestmark = pytest.mark.makes_functions


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A hospital and its release with a manifest, made once."""
    folder = tmp_path_factory.mktemp("made")
    with anon_sql.connect(str(folder / "hospital.duckdb")) as con:
        datasets.hospital(con, 120)
    out = run(
        *("release", folder / "hospital.duckdb", f"{folder}/out/", "--root", "person"),
        *("--k", 5, "--l", 2, "--surplus", "unlink", "--manifest"),
    )
    assert out.exit_code == 0, out.output
    return folder


@pytest.fixture
def folder(made, tmp_path):
    return Path(shutil.copytree(made, tmp_path, dirs_exist_ok=True))


def edited(folder, change):
    path = folder / "out.anon.json"
    written = json.loads(path.read_text("utf-8"))
    change(written)
    path.write_text(json.dumps(written), "utf-8")


def verify(folder, *, raw=False):
    more = ("--raw", folder / "hospital.duckdb") if raw else ()
    return refused("verify", f"{folder}/out/", *more)


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        ("../visit.parquet", False),
        ("../visit.parquet", True),
        ("sub/visit.parquet", False),
        (".visit.parquet", True),
        ("", False),
    ],
)
def test_a_name_that_is_not_that_of_a_file_in_the_folder_is_refused(folder, name, raw):
    shutil.copy(folder / "out" / "visit.parquet", folder)

    def change(written):
        files = written["output"]["files"]
        files[name] = files.pop("visit.parquet")

    edited(folder, change)
    assert "got one with another output.files in" in verify(folder, raw=raw)


def test_an_absolute_name_is_refused(folder):
    def change(written):
        files = written["output"]["files"]
        files[str(folder / "out" / "visit.parquet")] = files.pop("visit.parquet")

    edited(folder, change)
    assert "got one with another output.files in" in verify(folder)


@pytest.mark.parametrize("name", ["../visit", "/tmp/visit", "a/b", "..", "."])
def test_a_table_of_such_a_name_is_refused(folder, name):
    def change(written):
        written["tables"][name] = written["tables"].pop("visit")

    edited(folder, change)
    assert "got one with another tables in" in verify(folder)


def test_a_table_without_a_file_and_a_file_without_a_table_are_refused(folder):
    edited(folder, lambda written: written["output"]["files"].pop("visit.parquet"))
    assert "fit together, got another output.files in" in verify(folder)
    sha256 = digest(folder / "out" / "visit.parquet")
    edited(folder, lambda written: written["output"]["files"].update({"visit.csv": sha256}))
    assert "fit together, got another output.files in" in verify(folder)


def test_a_missing_folder_and_a_missing_file_are_said(folder):
    (folder / "out" / "visit.parquet").unlink()
    assert "(no visit.parquet)" in verify(folder)
    shutil.rmtree(folder / "out")
    assert verify(folder) == (
        f"verify: the released tables must be in a folder, got '{folder}/out', which does not exist"
    )
    said = refused("report", folder / "hospital.duckdb", f"{folder}/out/", "-o", folder / "r.html")
    assert said.endswith(f"in a folder, got '{folder}/out', which does not exist")
    (folder / "out.anon.json").unlink()
    assert verify(folder) == (
        f"verify: OUT must be a file or a folder, got '{folder}/out', which does not exist"
    )


FIGURES = {
    "persons": lambda m: m.update(persons=m["persons"] + 1),
    "classes": lambda m: m.update(classes=m["classes"] - 1),
    "smallest_class": lambda m: m.update(smallest_class=50),
    "rows of visit": lambda m: m["tables"]["visit"].update(rows=m["tables"]["visit"]["rows"] + 1),
    "unlinked of visit": lambda m: m["tables"]["visit"].update(unlinked=0),
}
OF_RAW = {
    "left_out of visit": lambda m: m["tables"]["visit"].update(left_out=1),
    "raw_rows of visit": lambda m: m["tables"]["visit"].update(raw_rows=1),
    "orphans of visit": lambda m: m["tables"]["visit"].update(orphans=3),
    "gcp of visit": lambda m: m["tables"]["visit"].update(gcp=0.01),
    "gcp of person": lambda m: m["tables"]["person"].update(gcp=None),
}


@pytest.mark.parametrize("raw", [False, True])
def test_a_figure_that_the_files_tell_is_counted_again(folder, raw):
    for change in FIGURES.values():
        edited(folder, change)
    said = verify(folder, raw=raw)
    assert [name for name in FIGURES if f"{name}: as written (" not in said] == []


def test_a_figure_of_the_raw_tables_is_counted_again_or_listed_as_not_checked(folder):
    for change in OF_RAW.values():
        edited(folder, change)
    said = verify(folder, raw=True)
    assert [name for name in OF_RAW if f"{name}: as written (" not in said] == []
    alone = run("verify", f"{folder}/out/")
    assert alone.exit_code == 3
    assert "not checked  raw rows, rows left out, orphans and gcp: as written" in alone.stdout


def role_of_link(written, child, role):
    (link,) = (each for each in written["links"] if each["child"] == child)
    link["role"] = role


ASKED = {
    "k": (lambda m: m["parameters"].update(k=1), "checks: as written (k"),
    "k below 1": (lambda m: m["parameters"].update(k=0), "another parameters.k in"),
    "l": (lambda m: m["parameters"].update(l=1), "checks: as written (l of"),
    "typed": (lambda m: m["parameters"].update(format="typed"), "the format is typed"),
    "median": (lambda m: m["parameters"].update(format="median"), "the format is median"),
    "format": (lambda m: m["parameters"].update(format="xml"), "another parameters.format in"),
    "known link": (lambda m: role_of_link(m, "visit", "keep"), "got another tables.person in"),
    "kept link": (lambda m: role_of_link(m, "diagnosis", "sensitive"), "checks: as written"),
    "no role": (lambda m: role_of_link(m, "diagnosis", None), "another links.role in"),
    "no sensitive": (
        lambda m: m["tables"]["diagnosis"]["roles"].update(sensitive=[], keep=["code"]),
        "checks: as written",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("change", "says"), ASKED.values(), ids=ASKED)
def test_what_was_asked_for_cannot_be_edited_alone(folder, change, says):
    edited(folder, change)
    assert says in verify(folder, raw=True)


def test_a_check_that_the_manifest_records_as_failed_fails(folder):
    def change(written):
        for check in written["checks"]:
            if check["property"] == "true_labels of visit":
                check.update(passed=False, found=3)

    edited(folder, change)
    assert "audit: true_labels of visit, as the manifest records it (3, none allowed)" in verify(
        folder
    )
    assert "checks: as written (true_labels of visit)" in verify(folder, raw=True)


def test_without_recorded_checks_what_was_required_is_not_checked(folder):
    edited(folder, lambda written: written.pop("checks"))
    for raw in ([], ["--raw", folder / "hospital.duckdb"]):
        found = run("verify", f"{folder}/out/", *raw)
        assert found.exit_code == 3
        assert "not checked  what was required of the release" in found.stdout


def test_other_raw_tables_are_told(folder):
    with duckdb.connect(str(folder / "hospital.duckdb")) as con:
        con.execute("DROP TABLE diagnosis; ALTER TABLE visit RENAME ward TO station")
    said = verify(folder, raw=True)
    assert "the raw tables have the columns they had (visit.ward, diagnosis)" in said


@pytest.mark.parametrize("name", ["../evil", "/evil", "a/evil", ".evil"])
def test_a_raw_table_never_names_a_file_outside_the_folder(tmp_path, name):
    precious = tmp_path / "evil.parquet"
    precious.write_text("precious")
    with anon_sql.connect() as con:
        datasets.hospital(con, 40)
        con.execute(f'CREATE VIEW "{name}" AS FROM visit')
        call = {
            "links": [f'"{name}".person_id -> patient.person_id'],
            "identifiers": ["patient.person_id", f'"{name}".visit_id'],
            "quasi": ["patient.born", f'"{name}".person_id', f'"{name}".ward'],
            "exclude": [f'"{name}".visited', f'"{name}".days'],
            "l": 1,
        }
        con.execute("CREATE VIEW patient AS SELECT person_id, born FROM person")
        with pytest.raises(AnonError, match="must have the name of a file"):
            anon_sql.release_linked(con, "patient", into=f"{tmp_path}/out/", **call)
        anon_sql.release_linked(con, "patient", into="safe", **call)  # a schema may have it
        con.execute("DROP SCHEMA safe CASCADE")
    assert precious.read_text() == "precious"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["evil.parquet"]
