"""Linked releases are judged by person: kept columns, illnesses of groups, and reference tables.

The attacks read the released files with Arrow and count people in Python.
"""

import random
import tomllib
from collections import Counter, defaultdict

import pyarrow.parquet as pq
import pytest

import anon_sql
from anon_sql import AnonError
from tests.command import refused, run
from tests.inserting import insert

pytestmark = pytest.mark.makes_functions
PEOPLE = 200
ILL = ["flu", "gout", "burn", "cut", "cold"]


def tables(con, *, ill=None, seed=5):
    """Make ``person`` and ``visit``; ill: returns the illness of a person's visit."""
    draw = random.Random(seed)
    persons, visits = [], []
    for at in range(PEOPLE):
        city = draw.randrange(5)
        persons.append(
            (
                at,
                1950 + 5 * draw.randrange(8),
                city,
                f"19{50 + at % 40}-{at % 12 + 1}-{at % 28 + 1}",
                7 + 3 * city,
            )
        )
        for _ in range(draw.choice([2, 2, 3])):
            illness = ill(at, city) if ill else draw.choice(ILL)
            visits.append((at, draw.randrange(3), illness, 40_000 + at * 17, f"t{illness}"))
    con.execute(
        "CREATE TABLE person (person_id INT PRIMARY KEY, born INT, city INT, exact TEXT, town_code INT)"
    )
    con.execute(
        "CREATE TABLE visit (person_id INT REFERENCES person, ward INT, illness TEXT, chart INT, "
        "treatment TEXT)"
    )
    insert(con, "person", persons)
    insert(con, "visit", visits)


RECIPE = """
recipe = 1
[source]
database = "raw.duckdb"
root = "person"
[release]
k = 5
l = {l}
effort = "fast"
[roles]
confirmed = true
identifier = ["person.person_id"]
quasi = ["person.born", "person.city", "visit.person_id", "visit.ward"]
sensitive = ["visit.illness"]
keep = [{kept}]
exclude = [{dropped}]
[accepted]
gcp = "Few people."
suppression = "Few people."
inferred = "Few people."
"""
COLUMNS = ("person.exact", "person.town_code", "visit.chart", "visit.treatment")


def released(folder, kept=(), l=2, **made):  # noqa: E741
    """Write the tables and a recipe, and return what the command says and its exit code."""
    with anon_sql.connect(str(folder / "raw.duckdb")) as con:
        tables(con, **made)
    names = [", ".join(f'"{n}"' for n in COLUMNS if (n in kept) is want) for want in (True, False)]
    (folder / "r.toml").write_text(RECIPE.format(l=l, kept=names[0], dropped=names[1]))
    found = run("release", folder / "r.toml", f"{folder}/out/")
    assert (folder / "out").exists() == (found.exit_code == 0)
    return found


def shown(folder, kept, l=2, **made):  # noqa: E741
    """Release the same tables without the verdict, and return the rows of each table."""
    with anon_sql.connect() as con:
        tables(con, **made)
        anon_sql.release_linked(
            con, "person", into=f"{folder}/shown/", k=5, l=l, effort="fast",
            identifiers=["person.person_id"],
            quasi=["person.born", "person.city", "visit.person_id", "visit.ward"],
            sensitive=["visit.illness"], keep=list(kept),
            exclude=[name for name in COLUMNS if name not in kept],
        )  # fmt: skip
    return [
        pq.read_table(folder / "shown" / f"{name}.parquet").to_pylist()
        for name in ("person", "visit")
    ]


def test_a_release_that_keeps_nothing_is_not_red(tmp_path):
    found = released(tmp_path)
    assert found.exit_code == 0, found.output
    assert "kept" not in found.stderr
    assert "certain" not in found.stderr


def test_exact_birth_dates_are_red_as_in_one_table(tmp_path):
    found = released(tmp_path, ["person.exact"])
    assert found.exit_code == 3
    assert "red kept: For 100% of the rows of person, fewer than k people" in found.stderr
    assert "person.exact" in found.stderr
    persons, _ = shown(tmp_path, ["person.exact"])
    assert max(Counter(row["exact"] for row in persons).values()) < 5


def test_a_chart_number_of_one_person_is_red(tmp_path):
    """It has two or three rows, which are one person's."""
    found = released(tmp_path, ["visit.chart"])
    assert found.exit_code == 3
    assert "red kept: For 100% of the rows of visit, fewer than k people" in found.stderr
    _, visits = shown(tmp_path, ["visit.chart"])
    owners = defaultdict(set)
    for row in visits:
        owners[row["chart"]].add(row["person_id"])
    assert {len(each) for each in owners.values()} == {1}


def test_a_number_with_several_rows_of_one_person_is_suggested_as_identifier(tmp_path):
    with anon_sql.connect(str(tmp_path / "raw.duckdb")) as con:
        tables(con)
        found = con.execute("SELECT role FROM suggest_roles('visit') WHERE column_name = 'chart'")
        assert found.fetchall() != [("identifier",)]  # by row
    path = tmp_path / "r.toml"
    made = run("roles", tmp_path / "raw.duckdb", "--root", "person", "--recipe", path)
    assert made.exit_code == 0, made.output
    roles = tomllib.loads(path.read_text("utf-8"))["roles"]
    assert "visit.chart" in roles["identifier"]
    assert "visit.ward" in roles["quasi"] + roles["keep"]


def test_a_code_of_the_city_and_a_treatment_are_judged(tmp_path):
    found = released(tmp_path, ["person.town_code", "visit.treatment"])
    assert found.exit_code == 3
    assert "person.town_code" in found.stderr
    assert (
        "red kept: Sensitive values can be computed from kept ones: visit.treatment" in found.stderr
    )
    assert "Declare visit.treatment as sensitive too" in found.stderr


def test_groups_with_one_illness_are_red(tmp_path):
    """Without l, the illness of a person is that of the city."""
    made = {"ill": lambda _, city: ILL[city]}
    found = released(tmp_path, l=1, **made)
    assert found.exit_code == 3
    assert "red certain: For" in found.stderr
    assert "have the same visit.illness" in found.stderr
    persons, visits = shown(tmp_path, [], l=1, **made)
    ill, groups = defaultdict(set), defaultdict(set)
    for row in visits:
        ill[row["person_id"]].add(row["illness"])
    for row in persons:
        groups[row["born"], row["city"], row["visit_rows"]] |= ill[row["person_id"]]
    alone = sum(len(groups[row["born"], row["city"], row["visit_rows"]]) == 1 for row in persons)
    assert alone > 0.2 * PEOPLE


def test_a_reference_table_of_single_people_is_refused_before_anything_is_written(tmp_path):
    with anon_sql.connect(str(tmp_path / "raw.duckdb")) as con:
        con.execute(
            "CREATE TABLE firm AS SELECT i AS firm_id, 'Street ' || i AS street FROM range(100) r(i)"
        )
        con.execute("ALTER TABLE firm ADD PRIMARY KEY (firm_id)")
        con.execute(
            "CREATE TABLE person (person_id INT PRIMARY KEY, born INT, firm_id BIGINT REFERENCES firm)"
        )
        con.execute("INSERT INTO person SELECT i, 1950 + i % 10, i FROM range(100) AS r(i)")
    given = ("release", tmp_path / "raw.duckdb", f"{tmp_path}/out/", "--root", "person", "--k", 5)
    roles = (
        "--quasi",
        "person.born",
        "--identifier",
        "person.person_id",
        "--keep",
        "person.firm_id,firm.firm_id,firm.street",
    )
    said = refused(*given, *roles)
    assert said == (
        "release: linked_audit must find no fault before anything is written, got reference_rows of "
        "firm; the least is used by 1 persons; leave this table out, or combine rows that few people "
        "use"
    )
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "out.anon.json").exists()


def test_a_refused_release_leaves_a_schema_as_it_was(con):
    con.execute("CREATE TABLE firm (firm_id INT PRIMARY KEY, street TEXT)")
    con.execute("INSERT INTO firm SELECT i, 'Street ' || i FROM range(60) AS r(i)")
    con.execute(
        "CREATE TABLE person (person_id INT PRIMARY KEY, born INT, firm_id INT REFERENCES firm)"
    )
    con.execute("INSERT INTO person SELECT i, 1950 + i % 10, i FROM range(60) AS r(i)")
    with pytest.raises(AnonError, match="reference_rows of firm"):
        anon_sql.release_linked(
            con, "person", into="safe", k=5, quasi=["person.born"], identifiers=["person.person_id"],
            keep=["person.firm_id", "firm.firm_id", "firm.street"],
        )  # fmt: skip
    left = "SELECT count(*) FROM duckdb_tables() WHERE schema_name = 'safe' OR table_name LIKE '\\_\\_anon%' ESCAPE '\\'"
    assert con.execute(left).fetchall() == [(0,)]


def test_a_kept_enum_does_not_list_values_that_no_row_has(con):
    con.execute("CREATE TYPE mood AS ENUM ('a', 'it''s, (b)', 'gone')")
    con.execute(
        "CREATE TABLE person (person_id INT PRIMARY KEY, born INT, mood mood, moods mood[])"
    )
    con.execute(
        "INSERT INTO person SELECT i, 1950 + i % 5, 'a', ['it''s, (b)'] FROM range(40) AS r(i)"
    )
    anon_sql.release_linked(
        con, "person", into="safe", k=5, quasi=["person.born"], identifiers=["person.person_id"],
        keep=["person.mood", "person.moods"],
    )  # fmt: skip
    types = dict(
        con.execute("SELECT column_name, column_type FROM (DESCRIBE safe.person)").fetchall()
    )
    assert (types["mood"], types["moods"]) == ("VARCHAR", "VARCHAR[]")
    assert con.execute("SELECT DISTINCT mood, moods FROM safe.person").fetchall() == [
        ("a", ["it's, (b)"])
    ]
    con.execute("DROP SCHEMA safe CASCADE; DROP TABLE person; DROP TYPE mood")
