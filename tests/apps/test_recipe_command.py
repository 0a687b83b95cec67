"""Recipes on the command line: written by roles, read by release, report and verify."""

import json
import re
from shutil import copytree

import duckdb
import pytest

from anon_sql.hosts.files import digest
from tests.command import refused, run

GOOD = (
    "SELECT (i // 20) * 20 + 2 * (i % 10) AS age, (i // 20 * 7) % 50 * 2 + i % 2 AS height, "
    "'v' || i % 4 AS illness, i * 37 % 101 AS cost, 'p' || i AS email FROM range(1000) AS made(i)"
)
ROLES = """
[roles]
confirmed = true
identifier = ["email"]
quasi = ["age", "height"]
sensitive = ["illness", "cost"]
"""


@pytest.fixture(scope="module")
def first_recipe(tmp_path_factory):
    """A folder with a table and a recipe that releases it, which tests copy."""
    tmp_path = tmp_path_factory.mktemp("first")
    duckdb.connect().execute(f"COPY ({GOOD}) TO '{tmp_path / 'people.csv'}'")
    result = run("roles", tmp_path / "people.csv", "--recipe", tmp_path / "r.toml")
    assert result.exit_code == 0, result.output
    text = (tmp_path / "r.toml").read_text()
    assert str(tmp_path) not in text
    roles = text.index("[roles]"), text.index("[statement]")
    text = text[: roles[0]] + ROLES.strip() + "\n\n" + text[roles[1] :]
    text = text.replace("l = 1\n", "l = 2\nt = 0.5\n")
    (tmp_path / "r.toml").write_text(text)
    return tmp_path


@pytest.fixture
def folder(first_recipe, tmp_path):
    return copytree(first_recipe, tmp_path, dirs_exist_ok=True)


def test_the_first_recipe_requires_l_and_t_of_sensitive_columns(tmp_path):
    run("data", "people", "--into", tmp_path / "people.csv")
    run("roles", tmp_path / "people.csv", "--recipe", tmp_path / "r.toml")
    assert "k = 5\nl = 2\nt = 0.5\n" in (tmp_path / "r.toml").read_text()


UNEVEN = """
SELECT i % 4 AS sex, i // 4 % 10 AS age, i // 40 % 5 AS education,
    if(i // 40 % 5 < 2 AND i % 7 < 6 OR i % 100 = 7, 'yes', 'no') AS diabetes
FROM range(3000) AS made(i)
"""


@pytest.mark.slow
@pytest.mark.parametrize("data", ["people", "adult --rows 3000", "stays", "uneven"])
def test_the_first_recipe_leads_to_a_release_or_names_the_column_in_the_way(tmp_path, data):
    raw, recipe = tmp_path / "raw.csv", tmp_path / "r.toml"
    if data == "uneven":
        duckdb.connect().execute(f"COPY ({UNEVEN}) TO '{raw}'")
    else:
        run("data", *data.split(), "--into", raw)
    told = run("roles", raw, "--recipe", recipe)
    assert told.exit_code == 0, told.output
    assert " rows were released to try it; the verdict was " in told.output
    written = recipe.read_text()
    recipe.write_text(written.replace("confirmed = false", "confirmed = true"))
    result = run("release", recipe, tmp_path / "safe.parquet")
    assert result.exit_code in (0, 3, 4), result.output
    reds = [line for line in result.output.splitlines() if line.startswith("red ")]
    if result.exit_code == 3:
        assert "the verdict was red" in told.output
        for line in reds:
            assert line.endswith(" stands in the way.") or " lifts it" in line
    assert (data == "people") == bool(reds), result.output  # sixty rows are too few
    assert (
        ("because with t = 0.5" in told.output) == (data == "uneven") == ("t = 0.5" not in written)
    )


def changed(folder, *pairs):
    text = (folder / "r.toml").read_text()
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new, 1)
    path = folder / "changed.toml"
    path.write_text(text)
    return path


def left(folder):
    return {path.name for path in folder.iterdir()} - {"people.csv", "r.toml", "changed.toml"}


def test_green_writes_the_release_and_a_manifest_that_fits_the_recipe(folder):
    result = run("release", folder / "r.toml", folder / "safe.parquet")
    assert result.exit_code == 0, result.output
    assert "verdict green" in result.stdout
    assert left(folder) == {"safe.parquet", "safe.parquet.anon.json"}
    written = json.loads((folder / "safe.parquet.anon.json").read_text())
    assert written["recipe"] == {"sha256": digest(folder / "r.toml")}
    assert "people.csv" not in json.dumps(written)
    result = run("verify", folder / "safe.parquet", "--recipe", folder / "r.toml")
    assert result.exit_code == 0, result.output
    assert "holds    the recipe is the one that was used" in result.stdout
    assert "holds    measures: as written" in result.stdout
    assert "holds    method, parameters and roles: those of the recipe" in result.stdout
    other = changed(folder, ("seed = 42", "seed = 43"))
    said = refused("verify", folder / "safe.parquet", "--recipe", other)
    assert "the recipe is the one that was used (another SHA-256)" in said
    _require_parameters_of_the_recipe(folder, written)


def _require_parameters_of_the_recipe(folder, written):
    for change, name in (
        ({"parameters": {**written["parameters"], "k": 4}}, "k"),
        ({"parameters": {**written["parameters"], "t": 0.9}}, "t"),
        ({"roles": {**written["roles"], "sensitive": ["illness"], "keep": ["cost"]}}, "sensitive"),
        ({"method": "mondrian"}, "method"),
    ):
        (folder / "safe.parquet.anon.json").write_text(json.dumps(written | change))
        said = refused("verify", folder / "safe.parquet", "--recipe", folder / "r.toml")
        assert f"method, parameters and roles: those of the recipe ({name}" in said


def test_the_rows_are_those_of_the_command_without_a_recipe(folder):
    assert run("release", folder / "r.toml", folder / "safe.csv").exit_code == 0
    result = run(
        *("release", folder / "people.csv", folder / "again.csv", "--k", 5, "--l", 2, "--t", 0.5),
        *("--quasi", "age,height", "--sensitive", "illness,cost", "--identifier", "email"),
    )
    assert result.exit_code == 0, result.output
    assert (folder / "safe.csv").read_bytes() == (folder / "again.csv").read_bytes()


def test_red_writes_nothing_whatever_is_accepted(folder):
    recipe, out = changed(folder, ("k = 5", "k = 500")), folder / "safe.csv"
    sentences = "".join(
        f'{rule} = "Read by two."\n' for rule in ("gcp", "query_error", "columns", "audit")
    )
    recipe.write_text(recipe.read_text().replace("[made]", f"{sentences}[made]"))
    out.write_text("old")
    result = run("release", recipe, out, "--overwrite")
    assert result.exit_code == 3
    assert re.search(r"^red (gcp|query_error): ", result.stderr, re.MULTILINE)
    assert result.stderr.endswith("release: the verdict is red; nothing was written\n")
    assert left(folder) == {"safe.csv"}
    assert out.read_text() == "old"


def test_amber_needs_a_sentence(folder):
    recipe = changed(folder, ("confirmed = true", "confirmed = false"))
    result = run("release", recipe, folder / "safe.parquet")
    assert result.exit_code == 4
    assert "amber roles: The roles of the columns are not confirmed." in result.stderr
    assert result.stderr.endswith("[accepted]: roles\n")
    assert left(folder) == set()
    text = recipe.read_text()
    accepted = text.replace("[made]", 'roles = "Read by two of us."\n[made]')
    recipe.write_text(accepted)
    result = run("release", recipe, folder / "safe.parquet")
    assert result.exit_code == 0, result.output
    assert "(accepted: Read by two of us.)" in result.stderr
    assert "verdict amber, accepted" in result.stdout


def test_limits_can_be_stricter_and_never_laxer(folder):
    strict = "[stricter]\ngcp = { red = 0.0001 }\n[made]"
    recipe = changed(folder, ("[made]", strict))
    assert run("release", recipe, folder / "safe.parquet").exit_code == 3
    recipe = changed(folder, ("[made]", "[stricter]\ngcp = { red = 0.9 }\n[made]"))
    assert refused("release", recipe, folder / "safe.parquet") == (
        "release: the limit gcp must be at most 0.5 for red, got 0.9"
    )


def test_other_content_is_refused_unless_the_line_is_removed(folder):
    raw = folder / "people.csv"
    raw.write_text("".join(raw.read_text().splitlines(keepends=True)[:-40]))
    said = refused("release", folder / "r.toml", folder / "safe.parquet")
    assert said.startswith("release: the source must have the sha256 that the recipe states")
    line = next(x for x in (folder / "r.toml").read_text().splitlines() if x[:6] == "sha256")
    result = run("release", changed(folder, (line, "")), folder / "safe.parquet")
    assert result.exit_code == 0, result.output


def test_a_database_is_read_and_not_written(folder):
    with duckdb.connect(str(folder / "clinic.duckdb")) as con:
        con.execute(f"CREATE SCHEMA s; CREATE TABLE s.people AS {GOOD}")
        types = con.table("s.people")
        from anon_sql.hosts import recipe_source

        pairs = dict(zip(types.columns, map(str, types.types), strict=True))
    text = (folder / "r.toml").read_text()
    kept = [x for x in text.splitlines() if not re.match(r"(schema_)?sha256|file", x)]
    source = f'[source]\ndatabase = "clinic.duckdb"\ntable = "s.people"\nschema_sha256 = "{recipe_source.schema_sha256(pairs)}"'
    (folder / "d.toml").write_text("\n".join(kept).replace("[source]", source))
    before = digest(folder / "clinic.duckdb")
    result = run("release", folder / "d.toml", folder / "safe.parquet")
    assert result.exit_code == 0, result.output
    assert digest(folder / "clinic.duckdb") == before


def test_options_beside_a_recipe_are_refused(folder):
    roles = (("--k", 9), ("--quasi", "age"), ("--method", "mondrian"), ("--delimiter", ";"))
    for more in (*roles, ("--ledger-key", "env:X"), ("--previous-share", 0.5), ("--purpose", "x")):
        said = refused("release", folder / "r.toml", folder / "safe.parquet", *more)
        assert said.startswith("release: a recipe must come without options of roles")
    said = refused("verify", folder / "x.csv", "--recipe", folder / "r.toml", "--raw", "y.csv")
    assert said.startswith("verify: OUT ")


@pytest.mark.slow
def test_a_report_by_a_recipe(folder):
    pytest.importorskip("jinja2")
    pytest.importorskip("matplotlib")
    assert run("release", folder / "r.toml", folder / "safe.parquet").exit_code == 0
    (folder / "safe.parquet.anon.json").unlink()
    out = folder / "report.json"
    result = run(
        "report", folder / "r.toml", folder / "safe.parquet", "-o", out, "--format", "json"
    )
    assert result.exit_code == 0, result.output
    said = json.loads(out.read_text())
    assert said["verdict"]["state"] == "green"
    assert said["required"]["k"] == 5
    recipe = changed(folder, ("confirmed = true", "confirmed = false"))
    out.unlink()
    assert (
        run("report", recipe, folder / "safe.parquet", "-o", out, "--format", "json").exit_code == 0
    )
    assert json.loads(out.read_text())["verdict"]["state"] == "amber"


def test_what_roles_writes(folder):
    raw = folder / "semicolons.csv"
    raw.write_text(
        "age;city\n" + "".join(f"{20 + i % 9};{'?' if i % 5 else 'Bonn'}\n" for i in range(90))
    )
    path = folder / "s.toml"
    call = ("roles", raw, "--delimiter", ";", "--null", "?", "--recipe", path)
    assert run(*call).exit_code == 0
    text = path.read_text()
    assert 'delimiter = ";"' in text
    assert 'null = ["?"]' in text
    assert refused(*call).startswith("roles: --recipe must be a new file, got ")
    assert run(*call, "--overwrite").exit_code == 0
    assert refused(*call[:-1], folder / "s.txt").startswith("roles: --recipe must end in .toml")
    assert "one format must be chosen" in refused(*call, "--sql", "--overwrite")


def test_null_trims(folder):
    raw = folder / "nulls.csv"
    raw.write_text("age,city\n" + "".join(f"{20 + i % 9}, ?\n" for i in range(90)))
    result = run("roles", raw, "--null", "?")
    assert re.search(r"city .*100\.0%", result.stdout), result.stdout


def test_unique_rows_can_be_allowed_and_are_amber(folder):
    recipe = changed(folder, ('identifier = ["email"]', 'keep = ["email"]'))
    assert run("release", recipe, folder / "safe.parquet").exit_code == 3
    text = recipe.read_text().replace("k = 5", "k = 5\nunique_share = 1.0")
    recipe.write_text(text)
    result = run("release", recipe, folder / "safe.parquet")
    assert result.exit_code == 4, result.output
    assert "amber audit: 100% of the rows are unique on the columns kept unchanged" in result.stderr
