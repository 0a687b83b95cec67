"""Recipes of tables that belong together: what the command releases by them, and what is refused."""

import json
import shutil
import tomllib

import pytest

import anon_sql
from anon_sql import datasets
from anon_sql.hosts.files import digest
from tests.command import refused, run
from tests.sentence import fails

pytestmark = pytest.mark.makes_functions

RECIPE = """
recipe = 1

[source]
database = "hospital.duckdb"
root = "person"
sha256 = "{content}"

[release]
k = 6
l = 2
surplus = "unlink"
seed = 7
effort = "good"
weights = {{ "visit.ward" = 2.0 }}
bin_width = {{ "visit.visited" = 30 }}

[roles]
confirmed = true
identifier = ["person.person_id", "visit.visit_id"]
quasi = [
    "person.born", "person.sex", "person.postcode",
    "visit.person_id", "visit.visited", "visit.ward",
]
sensitive = ["diagnosis.code"]
keep = ["visit.days", "diagnosis.visit_id"]

[hierarchies]
ward = "trees/ward.csv"

[statement]
purpose = "A study of wards."

[accepted]
gcp = "Few persons."
suppression = "Few persons."
kept = "Few persons."
"""
LINKS = 'links = ["visit.person_id -> person.person_id", "diagnosis.visit_id -> visit.visit_id"]\n'
ROLES = (
    *("--identifier", "person.person_id,visit.visit_id"),
    *("--quasi", "person.born,person.sex,person.postcode"),
    *("--quasi", "visit.person_id,visit.visited,visit.ward"),
    *("--sensitive", "diagnosis.code", "--keep", "visit.days,diagnosis.visit_id"),
)


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    place = tmp_path_factory.mktemp("stored")
    with anon_sql.connect(str(place / "hospital.duckdb")) as con:
        datasets.hospital(con, 440, roles=False)
        wards = [ward for (ward,) in con.execute("SELECT DISTINCT ward FROM visit").fetchall()]
    (place / "trees").mkdir()
    (place / "trees" / "ward.csv").write_text("".join(f"{ward};*\n" for ward in sorted(wards)))
    (place / "r.toml").write_text(RECIPE.format(content=digest(place / "hospital.duckdb")))
    return place


@pytest.fixture
def folder(stored, tmp_path):
    names = shutil.ignore_patterns("out", "out.anon.json")
    return shutil.copytree(stored, tmp_path, dirs_exist_ok=True, ignore=names)


@pytest.fixture(scope="module")
def by_recipe(stored):
    """The folder after a release by the recipe, made once."""
    made = run("release", stored / "r.toml", f"{stored}/out/")
    assert made.exit_code == 0, made.output
    return [stored / "out", stored / "out.anon.json"]


@pytest.fixture
def released(folder, by_recipe):
    """A copy of the folder with the release in it."""
    shutil.copytree(by_recipe[0], folder / "out")
    shutil.copy(by_recipe[1], folder)
    return folder


def changed(folder, *pairs):
    text = (folder / "r.toml").read_text()
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new, 1)
    (folder / "changed.toml").write_text(text)
    return folder / "changed.toml"


def labels(folder):
    """The released rows without their keys."""
    with anon_sql.connect() as con:
        return [
            con.sql(f"SELECT {columns} FROM '{folder}/{table}.parquet' ORDER BY ALL").fetchall()
            for table, columns in (
                ("person", "* EXCLUDE (person_id)"),
                ("visit", "* EXCLUDE (person_id, visit_id)"),
                ("diagnosis", "code"),
            )
        ]


def test_the_rows_are_those_of_the_command_without_a_recipe(released):
    folder = released
    again = run(
        *("release", folder / "hospital.duckdb", f"{folder}/again/", "--root", "person", *ROLES),
        *("--k", 6, "--l", 2, "--surplus", "unlink", "--seed", 7, "--effort", "good"),
        *("--weights", "visit.ward=2", "--bin-width", "visit.visited=30"),
        *("--hierarchy", folder / "trees"),
    )
    assert again.exit_code == 0, again.output
    assert labels(folder / "out") == labels(folder / "again")
    written = json.loads((folder / "out.anon.json").read_text("utf-8"))
    assert written["recipe"] == {"sha256": digest(folder / "r.toml")}
    assert written["statement"]["purpose"] == "A study of wards."
    assert written["parameters"]["k"] == 6
    assert str(folder) not in json.dumps(written)


@pytest.mark.slow
def test_a_release_is_verified_and_reported_by_its_recipe(released):
    folder, recipe = released, released / "r.toml"
    checked = run("verify", f"{folder}/out/", "--recipe", recipe)
    assert checked.exit_code == 0, checked.output
    assert "holds    the recipe is the one that was used" in checked.output
    assert "without --raw" not in checked.output
    assert "holds    audit: true_labels of visit" in checked.output
    raw = ("verify", f"{folder}/out/", "--raw", folder / "hospital.duckdb")
    assert "a release made with a hierarchy needs it again" in refused(*raw)
    checked = run(*raw, "--hierarchy", folder / "trees")
    assert "holds    audit: true_labels of visit" in checked.output
    other = changed(folder, ("seed = 7", "seed = 8"))
    said = refused("verify", f"{folder}/out/", "--recipe", other)
    assert "the recipe is the one that was used (another SHA-256)" in said
    said = refused("verify", f"{folder}/out/", "--recipe", recipe, "--raw", "hospital.duckdb")
    assert said == (
        "verify: tables that belong together are checked by --raw and --hierarchy, or --recipe, got "
        "another option"
    )
    pytest.importorskip("jinja2")
    pytest.importorskip("matplotlib")
    page = folder / "report.json"
    made = run("report", recipe, f"{folder}/out/", "-o", page, "--format", "json")
    assert made.exit_code == 0, made.output
    said = json.loads(page.read_text())["verdict"]
    assert said["state"] == "amber"
    assert said["heading"] == "No check fails, and the steward has accepted what is open"
    assert {each["accepted"] for each in said["reasons"]} == {"Few persons."}


def reported(folder, *source):
    """The checks of a report on a release, by name."""
    page = folder / "report.json"
    made = run("report", *source, f"{folder}/out/", "-o", page, "--format", "json", "--overwrite")
    assert made.exit_code == 0, made.output
    return {each["property"]: each["passed"] for each in json.loads(page.read_text())["checks"]}


def test_a_report_compares_labels_of_a_hierarchy_with_the_raw_values(released):
    pytest.importorskip("jinja2")
    pytest.importorskip("matplotlib")
    folder, recipe, raw = released, released / "r.toml", released / "hospital.duckdb"
    given = (raw, "--hierarchy", folder / "trees")
    checks = reported(folder, recipe)
    assert checks["audit: true_labels of visit"] is True
    assert all(checks.values())
    said = refused("report", raw, f"{folder}/out/", "-o", folder / "other.html")
    assert said == "report: a release made with a hierarchy needs it again; pass --hierarchy"
    both = refused("report", recipe, f"{folder}/out/", "-o", folder / "x.html", *given[1:])
    assert both.startswith(
        "report: a recipe must come without --hierarchy, because it names its own"
    )
    none = (folder / "no.duckdb", f"{folder}/out/", *given[1:])
    missing = refused("report", *none, "-o", folder / "x.html")
    assert missing.startswith("report: RAW must be a file"), missing
    with anon_sql.connect(str(raw)) as con:  # planted: wards of which the labels know nothing
        wards = con.execute("SELECT DISTINCT ward FROM visit ORDER BY ward").fetchall()
        con.execute("UPDATE visit SET ward = ? WHERE ward = ?", [*wards[0], *wards[1]])
    checks = reported(folder, *given)
    wrong = {what for what, passed in checks.items() if passed is False}
    assert wrong >= {"audit: true_labels of visit", "audit: true_labels of diagnosis"}, wrong
    assert "audit: true_labels of person" not in wrong


def test_amber_and_red_write_nothing(folder):
    for pair, code, level in (
        (('gcp = "Few persons."', ""), 4, "amber"),
        (("[accepted]", "[stricter]\ngcp = { red = 0.1 }\n[accepted]"), 3, "red"),
    ):
        made = run("release", changed(folder, pair), f"{folder}/out/")
        assert made.exit_code == code, made.output
        assert f"release: the verdict is {level}; nothing was written" in made.output
        assert f"{level} gcp: The labels of visit have lost" in made.output
        assert not (folder / "out").exists()
        assert not (folder / "out.anon.json").exists()


def test_a_refused_release_leaves_the_one_that_is_there(released):
    folder = released
    before = {path.name: digest(path) for path in (folder / "out").iterdir()}
    recipe = changed(folder, ("k = 6", "k = 100"))
    assert run("release", recipe, f"{folder}/out/", "--overwrite").exit_code == 3
    assert {path.name: digest(path) for path in (folder / "out").iterdir()} == before


def test_a_column_can_be_dropped(folder):
    recipe = changed(
        folder, ('"visit.days", ', ""), ("confirmed", 'exclude = ["visit.days"]\nconfirmed')
    )
    made = run("release", recipe, f"{folder}/out/")
    assert made.exit_code == 0, made.output
    with anon_sql.connect() as con:
        assert "days" not in con.sql(f"FROM '{folder}/out/visit.parquet'").columns
    checked = run("verify", f"{folder}/out/", "--recipe", recipe)
    assert checked.exit_code == 0, checked.output


def test_a_link_that_is_dropped_is_not_released(folder):
    recipe = changed(
        folder,
        (', "diagnosis.visit_id"', ""),
        ("confirmed", 'exclude = ["diagnosis.visit_id"]\nconfirmed'),
    )
    said = refused("release", recipe, f"{folder}/out/")
    assert said.startswith(
        "release: every linked table must be released or left out, got diagnosis that is neither"
    )
    assert not (folder / "out").exists()


def test_a_first_recipe_is_written_and_releases(folder):
    path = folder / "first.toml"
    made = run("roles", folder / "hospital.duckdb", "--root", "person", "--recipe", path)
    assert made.exit_code == 0, made.output
    found = tomllib.loads(path.read_text("utf-8"))
    roles = found["roles"]
    assert roles["identifier"] == ["person.person_id", "visit.visit_id"]
    assert {"visit.person_id", "diagnosis.visit_id", "visit.ward", "person.born"} <= set(
        roles["quasi"]
    )
    assert found["source"]["sha256"] == digest(folder / "hospital.duckdb")
    assert refused("release", path, f"{folder}/out/").startswith("release: [roles] of tables")
    lax = path.read_text("utf-8").replace("confirmed = false", "confirmed = true", 1)
    path.write_text(lax.replace("k = 5", "k = 2", 1), "utf-8")
    made = run("release", path, f"{folder}/out/")
    assert made.exit_code in (0, 3, 4), made.output  # by the verdict on roles that nobody has read
    assert "schema" not in made.output
    with anon_sql.connect(str(folder / "hospital.duckdb")) as con:
        con.execute("ALTER TABLE diagnosis ALTER code TYPE BLOB USING code::BLOB")
    kept = [line for line in path.read_text("utf-8").splitlines() if line[:6] != "sha256"]
    path.write_text("\n".join(kept), "utf-8")
    said = refused("release", path, f"{folder}/other/")
    assert said.startswith("release: the source must have the schema that the recipe was written")


def test_a_first_recipe_of_a_folder_with_links_and_hostile_names(folder):
    (folder / "raw").mkdir()
    with anon_sql.connect() as con:
        con.execute('CREATE TABLE p AS SELECT i AS "id.\'x", i % 7 AS "a b" FROM range(60) r(i)')
        con.execute('CREATE TABLE c AS SELECT i % 60 AS "of, it", i % 3 AS s FROM range(180) r(i)')
        for table in ("p", "c"):
            con.execute(f"COPY {table} TO '{folder}/raw/{table}.parquet'")
    path = folder / "first.toml"
    made = run(
        *("roles", folder / "raw", "--root", "p", "--recipe", path),
        *("--link", """c."of, it" -> p."id.'x\""""),
    )
    assert made.exit_code == 0, made.output
    roles = tomllib.loads(path.read_text("utf-8"))["roles"]
    assert roles["identifier"] == ["""p."id.'x\""""]
    assert 'c."of, it"' in roles["quasi"]
    path.write_text(
        path.read_text("utf-8").replace("confirmed = false", "confirmed = true", 1), "utf-8"
    )
    made = run("release", path, f"{folder}/out/")
    assert made.exit_code in (0, 3, 4), made.output
    assert refused("roles", folder / "raw", "--root", "p").startswith(
        "roles: --root must come with"
    )
    assert refused("roles", folder / "raw", "--link", "x").startswith("roles: --link and")


def test_a_folder_of_files_with_links(folder):
    (folder / "raw").mkdir()
    with anon_sql.connect(str(folder / "hospital.duckdb"), read_only=True) as con:
        for table in datasets.HOSPITAL:
            con.execute(f"COPY {table} TO '{folder}/raw/{table}.parquet'")
    content = next(x for x in (folder / "r.toml").read_text().splitlines() if x[:6] == "sha256")
    source = ('database = "hospital.duckdb"', f'folder = "raw"\n{LINKS}')
    recipe = changed(folder, source, (content, ""), ("seed = 7", 'seed = 7\nformat_files = "csv"'))
    made = run("release", recipe, f"{folder}/out/")
    assert made.exit_code == 0, made.output
    names = {path.name for path in (folder / "out").iterdir()}
    assert names == {"person.csv", "visit.csv", "diagnosis.csv"}
    recipe = changed(folder, source)
    assert refused("release", recipe, f"{folder}/other/") == (
        "release: sha256 in [source] must be that of a database, got a folder"
    )


def test_a_table_can_be_left_out(folder):
    recipe = changed(
        folder,
        ('root = "person"', 'root = "person"\nleave_out = ["diagnosis"]'),
        ('sensitive = ["diagnosis.code"]', ""),
        (', "diagnosis.visit_id"', ""),
        ("l = 2", "l = 1"),
        ("[accepted]", '[accepted]\nchoice = "Wards are public."'),
    )
    made = run("release", recipe, f"{folder}/out/")
    assert made.exit_code == 0, made.output
    assert {path.name for path in (folder / "out").iterdir()} == {"person.parquet", "visit.parquet"}


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("k = 6", "kk = 6", "[release] must have known keys only, got 'kk'; did you mean k"),
        ("k = 6", "k = 6\nt = 0.2", "[release] must have known keys only, got 't'"),
        ("k = 6", 'k = "six"', "--k must be a whole number"),
        ("k = 6", "k = 441", "there must be at least 441 persons, got 440 rows of person"),
        ('root = "person"', 'root = ""', "[source] must have a root, and a database or a folder"),
        (
            'root = "person"',
            'root = "person"\nfolder = "raw"',
            "[source] must have a root, and a database or a folder, got another source",
        ),
        ('"hospital.duckdb"', '"/hospital.duckdb"', "database must be relative to the recipe"),
        ('"hospital.duckdb"', '"none.duckdb"', "the source of the recipe must exist, got no 'no"),
        ('sha256 = "', 'sha256 = "0', "the source must have the sha256 that the recipe states"),
        (
            "confirmed = true",
            "confirmed = false",
            "[roles] of tables that belong together must be confirmed, got confirmed = false; read "
            "them, then write true",
        ),
        ('"visit.days"', '"visit.*"', "[roles] must name every column, got * in keep"),
        ('"visit.days"', '"days"', "--keep must name columns with their tables"),
        ('"visit.days"', '"visit.day"', "--keep must name columns of linked tables"),
        (
            '"visit.days", ',
            "",
            "every column, key and link needs a role, got no role for visit.days",
        ),
        (
            'gcp = "Few persons."',
            'gcp = ""',
            "gcp in [accepted] must be a sentence of two words or more",
        ),
        (
            "[accepted]",
            "[accepted]\nloss = 'x'",
            "[accepted] must have known keys only, got 'loss'",
        ),
        (
            "[accepted]",
            "[stricter]\nleft_out = { amber = 0.2 }\n[accepted]",
            "the limit left_out must be at most 0.05 for amber, got 0.2",
        ),
        (
            "[statement]",
            '[statement]\nenvironment = "all"',
            "environment must be public, contract or secure",
        ),
        (
            "[release]",
            'schema_sha256 = "0"\n[release]',
            "the source must have the schema that the recipe was written for, got columns of other "
            "types or in another order, or other links; anon-sql roles SOURCE --root TABLE --recipe "
            "PATH writes a recipe for this one",
        ),
        ("[statement]", "[stated]", "the recipe must have known keys only, got 'stated'"),
        ('"trees/ward.csv"', '"trees/sex.csv"', "the hierarchy of ward must be in a file of that"),
    ],
)
def test_what_is_refused(folder, old, new, error):
    said = refused("release", changed(folder, (old, new)), f"{folder}/out/")
    assert said.partition(": ")[2].startswith(error), said
    assert not (folder / "out").exists()
    assert not (folder / "out.anon.json").exists()


def test_a_column_that_only_a_comment_gives_a_role_is_refused(folder):
    with anon_sql.connect(str(folder / "hospital.duckdb")) as con:
        con.execute("""ALTER TABLE diagnosis ADD COLUMN "new.col""umn" INTEGER""")
        con.execute("""COMMENT ON COLUMN diagnosis."new.col""umn" IS 'anon:keep'""")
    content = next(x for x in (folder / "r.toml").read_text().splitlines() if x[:6] == "sha256")
    said = refused("release", changed(folder, (content, "")), f"{folder}/out/")
    rule = "release: every column of the source must have a role in the recipe, got no role for "
    assert said.startswith(rule)
    named = """'diagnosis."new.col""umn"'"""
    recipe = changed(folder, (content, ""), ('"visit.days"', f"'visit.days', {named}"))
    made = run("release", recipe, f"{folder}/out/")
    assert made.exit_code == 0, made.output


def test_options_that_a_recipe_has_or_linked_tables_lack_are_refused(folder):
    alone = "release: a recipe must come without options of roles"
    for option in (("--root", "person"), ("--surplus", "unlink"), ("--k", 6)):
        said = refused("release", folder / "r.toml", f"{folder}/out/", *option)
        assert said.startswith(alone)
    for option in (("--memory-limit", "1GB"), ("--resume",)):
        said = refused("release", folder / "r.toml", f"{folder}/out/", *option)
        assert said == (
            f"release: tables that belong together take no such option, got {option[0]}; leave it "
            "out"
        )
    assert refused("release", folder / "r.toml", f"{folder}/out.parquet").startswith(
        "release: OUT must be a folder that ends in '/'"
    )


def test_a_single_table_is_refused(con, folder):
    sentence = (
        "the recipe must be one of a single table, got one with root; anon-sql release RECIPE "
        "OUT/ releases tables that belong together"
    )
    recipe = folder / "r.toml"
    assert fails(con, f"FROM anonymize_recipe('{recipe}')") == f"anonymize_recipe: {sentence}"
    with pytest.raises(anon_sql.AnonError) as error:
        anon_sql.recipe(con, recipe)
    assert str(error.value) == f"recipe: {sentence}"
    assert refused("studio", recipe).partition(": ")[2] == sentence
    con.execute(f"COPY (SELECT 1 AS x) TO '{folder}/x.parquet'")
    said = refused("verify", folder / "x.parquet", "--recipe", recipe)
    assert said.partition(": ")[2] == sentence
