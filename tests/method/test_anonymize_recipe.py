"""anonymize_recipe: the release of a recipe is that of its call, and a recipe that lies is refused."""

import hashlib
import json

import pytest

from anon_sql import AnonError
from anon_sql.hosts import recipes
from tests.sentence import fails

TABLE = (
    "SELECT 20 + i % 40 AS age, ['Accra', 'Bonn', 'Cape'][1 + i % 3] AS city, 'x' || i % 4 AS "
    'illness, i AS id, \'said \' || i % 9 AS "re""marks" FROM range(400) AS made(i)'
)
RECIPE = """
recipe = 1
[source]
file = "people.parquet"
schema_sha256 = "{schema}"
sha256 = "{content}"
[release]
k = 7
l = 2
seed = 3
effort = "fast"
weights = {{ age = 2.0 }}
[roles]
identifier = ["id"]
quasi = ["age", "city"]
sensitive = ["illness"]
exclude = ['re"marks']
[hierarchies]
city = "trees/city.csv"
[statement]
environment = "public"
[accepted]
choice = "We agreed."
"""
CALL = (
    "anonymize('people', k := 7, l := 2, seed := 3, effort := 'fast', weights := MAP {'age': 2.0}, "
    "identifiers := 'id', quasi := ['age', 'city'], sensitive := 'illness', exclude := ['re\"marks'], "
    "hierarchy := 'tree')"
)


def schema_of(con, table):
    relation = con.table(table)
    pairs = [list(pair) for pair in zip(relation.columns, map(str, relation.types), strict=True)]
    return hashlib.sha256(json.dumps(pairs).encode()).hexdigest()


@pytest.fixture
def folder(con, tmp_path):
    con.execute(f"CREATE TABLE people AS {TABLE}")
    con.execute(f"COPY people TO '{tmp_path / 'people.parquet'}'")
    (tmp_path / "trees").mkdir()
    (tmp_path / "trees" / "city.csv").write_text("Accra;Africa;*\nBonn;Europe;*\nCape;Africa;*\n")
    con.execute(f"CREATE TABLE tree AS FROM read_hierarchies('{tmp_path}/trees/*.csv')")
    content = hashlib.sha256((tmp_path / "people.parquet").read_bytes()).hexdigest()
    text = RECIPE.format(schema=schema_of(con, "people"), content=content)
    (tmp_path / "recipe.toml").write_text(text)
    return tmp_path


def said(con, folder, old="", new=""):
    """The error of the recipe with a part of it replaced."""
    path = folder / "recipe.toml"
    text = path.read_text()
    assert old in text
    changed = folder / "changed.toml"
    changed.write_text(text.replace(old, new, 1) if old else text)
    return fails(con, f"FROM anonymize_recipe('{changed}')").removeprefix("anonymize_recipe: ")


def test_the_release_is_that_of_the_call(con, folder):
    recipe = f"FROM anonymize_recipe('{folder / 'recipe.toml'}')"
    assert con.execute(recipe).fetchall() == con.execute(f"FROM {CALL}").fetchall()
    assert [name for name, *_ in con.description] == ["age", "city", "illness"]


@pytest.mark.parametrize(
    ("method", "more"),
    [
        ("mondrian", ""),
        ("rayden", "alpha = 1.5\nvariant = 'tang'"),
        ("top_down", "strata = ['city']"),
    ],
)
def test_any_method_with_its_own_parameters(con, folder, method, more):
    text = (folder / "recipe.toml").read_text()
    text = text.replace('effort = "fast"', f'method = "{method}"\n{more}')
    call = CALL.replace("anonymize(", f"{method}(").replace("effort := 'fast', ", "")
    given = "".join(f", {each.replace('=', ':=')}" for each in more.split("\n") if each)
    call = call[:-1] + given + ")"
    (folder / "other.toml").write_text(text)
    recipe = f"FROM anonymize_recipe('{folder / 'other.toml'}')"
    assert con.execute(recipe).fetchall() == con.execute(f"FROM {call}").fetchall()


def test_a_path_is_relative_to_the_working_directory(con, folder, monkeypatch):
    monkeypatch.chdir(folder)
    assert len(con.execute("FROM anonymize_recipe('recipe.toml')").fetchall()) == 400


def test_a_table_of_an_attached_database(con, folder):
    con.execute(f"ATTACH '{folder / 'clinic.duckdb'}' AS clinic")
    con.execute("CREATE TABLE clinic.main.people AS FROM people")
    text = (folder / "recipe.toml").read_text()
    lines = [line for line in text.splitlines() if not line.startswith("sha256")]
    named = "\n".join(lines).replace(
        'file = "people.parquet"', 'database = "clinic.duckdb"\ntable = "main.people"'
    )
    (folder / "table.toml").write_text(named)
    recipe = f"FROM anonymize_recipe('{folder / 'table.toml'}')"
    assert con.execute(recipe).fetchall() == con.execute(f"FROM {CALL}").fetchall()
    con.execute("DETACH clinic")
    assert "clinic" in fails(con, recipe)


def test_other_content_and_another_schema_are_refused(con, folder):
    con.execute(f"COPY (FROM people LIMIT 399) TO '{folder / 'people.parquet'}'")
    assert said(con, folder).startswith(
        "the source must have the sha256 that the recipe states, got other content; remove the line"
    )
    text = (folder / "recipe.toml").read_text()
    line = next(line for line in text.splitlines() if line.startswith("sha256"))
    con.execute(
        f"COPY (SELECT * REPLACE (id::INT AS id) FROM people) TO '{folder / 'people.parquet'}'"
    )
    assert said(con, folder, line).startswith(
        "the source must have the schema that the recipe was written for"
    )
    con.execute(f"COPY (SELECT *, 1 AS more FROM people) TO '{folder / 'people.parquet'}'")
    assert said(con, folder, line) == (
        "every column of the source must have a role in the recipe, got no role for more"
    )
    con.execute(f"COPY (SELECT * EXCLUDE (id) FROM people) TO '{folder / 'people.parquet'}'")
    assert said(con, folder, line) == (
        "the source must have every column of the recipe, got no column called id"
    )
    (folder / "people.parquet").unlink()
    assert said(con, folder).startswith("the source of the recipe must exist, got no 'people.parq")


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("k = 7", "kk = 7", "[release] must have known keys only, got 'kk'"),
        (
            "[roles]",
            "[rolls]",
            "the recipe must have known keys only, got 'rolls'; did you mean ro",
        ),
        ("recipe = 1", "recipe = 2", "the recipe must be one of form 1"),
        ("recipe = 1", "recipe = ", "the recipe must be TOML, got a mistake at line 2"),
        ('["id"]', '["*"]', "[roles] must name every column, got * in identifier"),
        ('["id"]', '["id", "AGE"]', "a column has one role, got age twice"),
        ('["id"]', '"id"', "identifier in [roles] has another type, got str"),
        (
            '"people.parquet"',
            '"/people.parquet"',
            "file must be relative to the recipe, got an abs",
        ),
        ('file = "people.parquet"', "", "[source] must have a file, or a database and a table"),
        ('"trees/city.csv"', '"trees/town.csv"', "the hierarchy of city must be in a file of that"),
        ('"public"', '"friends"', "environment must be public, contract or secure, got 'friends'"),
        (
            '"We agreed."',
            '" "',
            "choice in [accepted] must be a sentence of two words or more",
        ),
        ("choice =", "chance =", "[accepted] must have known keys only, got 'chance'"),
        (
            'effort = "fast"',
            'method = "mondrian"\nalpha = 2',
            "[release] must have known keys only",
        ),
        (
            "k = 7",
            'k = 7\nmethod = "mondrain"',
            "method must be a release function, got 'mondrain'",
        ),
        (
            "k = 7",
            'k = 7\nmethod = "release_linked"',
            "method must be a release function, got 'release_linked'",
        ),
        ("k = 7", 'k = "seven"', "anonymize: k must be a whole number"),
        ("k = 7", "k = 7\nparts = 2", "parts must be left out, got a number"),
    ],
)
def test_what_is_refused(con, folder, old, new, error):
    assert said(con, folder, old, new).startswith(error)


def test_errors_of_anonymize_are_passed_on(con, folder):
    assert "k must be at most" in said(con, folder, "k = 7", "k = 401")


def test_a_recipe_that_is_no_file(con, tmp_path):
    assert fails(con, f"FROM anonymize_recipe('{tmp_path / 'none.toml'}')").startswith(
        "anonymize_recipe: the recipe must be a file of text, got "
    )
    assert fails(con, f"FROM anonymize_recipe('{tmp_path / 'none.toml'}')").endswith(
        "none.toml', which does not exist"
    )


def test_a_recipe_that_is_written_is_read(tmp_path):
    names = ['a "b"\\c', "Größe\n\t", "\x7f'", "[x]"]
    path = tmp_path / "r.toml"
    recipes.write(
        path,
        {"file": "a b.csv", "schema_sha256": "0", "null": ["?", ""], "header": True},
        {"quasi": names[:2], "exclude": names[2:]},
        release={"method": "mondrian", "k": 5},
        statement={"purpose": "x", "recipient": "", "assumptions": ["y"], "environment": "public"},
        made={"anon_sql": "1", "duckdb": "2"},
    )
    found = recipes.read_recipe("release", path)
    assert (found.method, found.parameters) == ("mondrian", {"k": 5})
    assert found.roles == {
        "quasi": names[:2],
        "exclude": names[2:],
        "identifiers": [],
        "sensitive": [],
        "keep": [],
    }
    assert (found.confirmed, found.environment, found.accepted) == (False, "public", {})
    assert found.file == tmp_path / "a b.csv"


def test_a_recipe_holds_no_value_and_no_absolute_path(folder):
    text = (folder / "recipe.toml").read_text()
    assert str(folder) not in text
    with pytest.raises(AnonError, match="of form 1"):
        recipes.read_recipe("release", _written(folder, "x = 1"))


def _written(folder, text):
    path = folder / "other.toml"
    path.write_text("recipe = 0" if text else text)
    return path
