"""anon_sql.recipe: rows only after the verdict, and the rows that were judged."""

from concurrent.futures import ThreadPoolExecutor

import duckdb
import pytest

import anon_sql
from anon_sql import AnonError
from anon_sql.apps.verdict import figures, of_recipe
from anon_sql.hosts import recipe_source, recipes
from anon_sql.pipeline import compute
from tests.apps.verdict.planted import RAW
from tests.command import run
from tests.seams import LONG, Seam
from tests.sentence import fails

ROLES = {"identifier": ["id"], "quasi": ["a", "b"], "sensitive": ["s", "n"]}
CALL = (
    "anonymize('raw', k := 5, l := 2, t := 0.5, identifiers := ['id'], quasi := ['a', 'b'], "
    "sensitive := ['s', 'n'])"
)
LEFT = "SELECT count(*) FROM duckdb_tables() WHERE database_name = '__anon_recipes'"


@pytest.fixture
def folder(con, tmp_path):
    con.execute(RAW)
    con.execute("ALTER TABLE raw ALTER n TYPE DECIMAL(9, 1)")
    con.execute(f"COPY raw TO '{tmp_path / 'people.parquet'}'")
    con.execute(f"ATTACH '{tmp_path / 'clinic.duckdb'}' AS clinic")
    con.execute("CREATE TABLE clinic.main.people AS FROM raw")
    yield tmp_path
    con.execute("DETACH clinic; DETACH DATABASE IF EXISTS __anon_recipes")


def written(con, folder, text="", confirmed="true", **release):
    """A recipe with some text at its end."""
    raw = duckdb.read_parquet(str(folder / "people.parquet"), connection=con)
    types = dict(zip(raw.columns, map(str, raw.types), strict=True))
    path = folder / "r.toml"
    recipes.write(
        path,
        {"file": "people.parquet", "schema_sha256": recipe_source.schema_sha256(types)},
        ROLES,
        release={"k": 5, "l": 2, "t": 0.5, **release},
        statement={"environment": "contract"},
        made={},
    )
    said = path.read_text().replace("confirmed = false", f"confirmed = {confirmed}")
    path.write_text(said.replace("[accepted]", f"[accepted]\n{text}"))
    return path


def refused(con, path):
    with pytest.raises(AnonError) as caught:
        anon_sql.recipe(con, path)
    assert con.execute(LEFT).fetchall() == [(0,)]
    return str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "name"),
    [(compute, "require_true"), (of_recipe, "measure"), (figures, "questions")],
    ids=["while it releases", "before it judges", "while it judges"],
)
def test_a_stop_ends_it_and_leaves_nothing(con, folder, monkeypatch, module, name):
    path = written(con, folder)
    with monkeypatch.context() as patch, ThreadPoolExecutor(1) as pool:
        seam = Seam.at(patch, module, name)
        answer = pool.submit(anon_sql.recipe, con, path)
        seam.arrived()
        anon_sql.interrupt(con)
        seam.go()
        with pytest.raises((duckdb.Error, AnonError), match=r"stopped on request|INTERRUPT"):
            answer.result(LONG)
    assert con.execute(LEFT).fetchall() == [(0,)]
    assert len(anon_sql.recipe(con, path).fetchall()) > 0


def test_green_gives_the_rows_of_the_call(con, folder):
    found = anon_sql.recipe(con, written(con, folder))
    expected = con.sql(f"FROM {CALL}")
    assert (found.columns, found.types) == (expected.columns, expected.types)
    assert found.fetchall() == expected.fetchall()
    other = anon_sql.recipe(con, str(written(con, folder, k=10)))
    assert found.fetchall() != other.fetchall()  # each keeps its rows
    (folder / "people.parquet").unlink()
    assert found.fetchall() == expected.fetchall()  # those that were judged


def test_tables_of_the_user_are_neither_read_nor_changed(con, folder):
    path = written(con, folder)
    con.execute(
        "CREATE OR REPLACE TABLE raw AS SELECT 1 AS x; CREATE TEMP TABLE released AS SELECT 2 AS y"
    )
    assert len(anon_sql.recipe(con, path).fetchall()) == 1000
    assert con.execute("FROM raw, released").fetchall() == [(1, 2)]


def test_another_method_and_an_attached_database(con, folder):
    path = written(
        con, folder, "query_error = 'Few rows here.'\ngcp = 'Few rows here.'", method="mondrian"
    )
    text = path.read_text().replace(
        'file = "people.parquet"', 'database = "clinic.duckdb"\ntable = "main.people"'
    )
    path.write_text(text)
    expected = con.execute(f"FROM {CALL.replace('anonymize', 'mondrian')}").fetchall()
    assert anon_sql.recipe(con, path).fetchall() == expected


def test_red_is_refused_whatever_is_accepted(con, folder):
    con.execute("UPDATE raw SET s = 'v1' WHERE id < 500")
    con.execute(f"COPY raw TO '{folder / 'people.parquet'}'")
    path = written(con, folder, "certain = 'Known to all.'", l=1, t=1.0)
    said = refused(con, path)
    assert said.startswith("recipe: not released, because the verdict is red (certain). For ")
    assert "v1" not in said


def test_amber_needs_its_sentence(con, folder):
    path = written(con, folder, confirmed="false")
    assert refused(con, path) == (
        "recipe: not released, because [accepted] has no sentence for roles. The roles of the columns are not confirmed. Read them, and set confirmed = true."
    )
    path = written(con, folder, "roles = 'Read by two.'", confirmed="false")
    assert len(anon_sql.recipe(con, path).fetchall()) == 1000


def test_stricter_limits_and_other_errors_are_those_of_the_recipe(con, folder):
    path = written(con, folder)
    path.write_text(f"{path.read_text()}\n[stricter]\ngcp = {{ amber = 0.001, red = 0.002 }}\n")
    assert "(gcp)" in refused(con, path)
    path.write_text(path.read_text().replace("red = 0.002", "red = 0.7"))
    assert "the limit gcp must be at most 0.5 for red" in refused(con, path)
    path = written(con, folder, k=2000)
    with pytest.raises(AnonError, match="k must be at most the number of rows"):
        anon_sql.recipe(con, path)


def test_a_database_that_is_only_read(folder, con):
    path = written(con, folder, "choice = 'All agreed.'")
    duckdb.connect(str(folder / "own.duckdb")).close()
    with anon_sql.connect(str(folder / "own.duckdb"), read_only=True) as own:
        assert len(anon_sql.recipe(own, path).fetchall()) == 1000


def test_unique_rows_that_are_accepted_are_told_as_of_other_releases(con, folder):
    text = "audit = 'All have agreed.'\nkept = 'All have agreed.'"
    con.execute(
        "ALTER TABLE raw ADD COLUMN bed INT; UPDATE raw SET bed = if(id < 20, id * 37 % 101, -1)"
    )
    con.execute(f"COPY raw TO '{folder / 'people.parquet'}'")
    path = written(con, folder, text, unique_share=0.05)
    path.write_text(path.read_text().replace('"n"]', '"n"]\nkeep = ["bed"]'))
    with pytest.warns(anon_sql.AnonWarning) as told:
        anon_sql.recipe(con, path)
    ((text, file),) = [(str(each.message), each.filename) for each in told]
    assert file == __file__
    assert text.startswith(
        "recipe: 20 rows are unique on the kept columns together, 2.0% of the release: bed"
    )


LINES = (
    "SELECT 'p' || i AS name, i // 20 AS age, 40 + i // 25 / 2 AS weight, "
    "if(i % 5 = 0, '-', 'v' || i % 4) AS illness, if(i // 20 % 2 = 0, 'Köln', 'Ulm') AS place "
    "FROM range(1000) AS made(i)"
)
WRITTEN = {
    "all else too": (
        "DELIMITER ';', QUOTE '$', HEADER false", "windows-1252",
        ["--null", "-", "--delimiter", ";", "--quote", "$", "--no-header", "--encoding", "windows-1252"],
    ),
    "blanks around": ("", "utf-8", ["--null", "-", "--trim"]),
}  # fmt: skip


@pytest.mark.parametrize("name", WRITTEN)
def test_a_csv_file_is_read_as_the_recipe_says_or_not_at_all(con, tmp_path, name):
    options, encoding, said = WRITTEN[name]
    sql = LINES.replace("'Ulm'", "if(i % 3 = 0, 'Ulm ', 'Ulm')") if "--trim" in said else LINES
    con.execute(f"COPY ({sql}) TO '{tmp_path / 'p.csv'}' (FORMAT csv, {options or 'HEADER true'})")
    text = (tmp_path / "p.csv").read_text("utf-8")
    (tmp_path / "p.csv").write_bytes(text.encode(encoding))
    path = tmp_path / "r.toml"
    assert run("roles", tmp_path / "p.csv", *said, "--recipe", path).exit_code == 0
    text = path.read_text().replace("confirmed = false", "confirmed = true")
    accepted = "\n".join(f'{rule} = "It is a test."' for rule in ("choice", "gcp", "columns"))
    path.write_text(text.replace("[accepted]", f"[accepted]\n{accepted}"))
    done = run("release", path, tmp_path / "out.parquet")
    assert done.exit_code == 0, done.stderr
    found = anon_sql.recipe(con, path)
    assert found.fetchall() == duckdb.sql(f"FROM '{tmp_path / 'out.parquet'}'").fetchall()
    assert "-" not in {value for row in found.fetchall() for value in row}
    refusal = fails(con, f"FROM anonymize_recipe('{path}')")
    assert "[source] must not say how the file is read for DuckDB to read it, got " in refusal
    assert "null" in refusal
    con.execute("DETACH DATABASE IF EXISTS __anon_recipes")
