"""What the engine says of tables: who stands alone, whose rows they are, rows before and after."""

import duckdb
import pytest

from anon_sql.apps.studio.bench import Bench
from anon_sql.apps.studio.session import Session
from anon_sql.errors import AnonError
from tests.apps.studio.conftest import PEOPLE, ROLES


def opened(folder, sql, roles):
    """A bench on a table, and a session with roles."""
    file, spilled = folder / "people.parquet", folder / "spilled"
    duckdb.connect().execute(f"COPY ({sql}) TO '{file}'")
    spilled.mkdir()
    bench, session = Bench({"path": str(file), "start": str(folder)}, spilled), Session(folder)
    session.open(bench.table(), bench.roles())
    for role, columns in roles.items():
        session.apply("role", role, columns)
    return bench, session


LIKE_LABELS = (
    "SELECT 18 + i % 60 AS age, ['Washington, D.C.', '{odd', '[60,80[', '*', 'x}', '[1, 5]'][i % 6 + 1]"
    " AS place, 'ill' || i % 5 AS illness FROM range(600) AS made(i)"
)


def test_roles_and_preview_of_texts_that_look_like_labels(tmp_path):
    roles = {"quasi": ["age", "place"], "sensitive": ["illness"]}
    bench, session = opened(tmp_path, LIKE_LABELS, roles)
    alone, at_risk = (each["value"] for each in bench.risk(session.recipe, [])["figures"])
    by = "GROUP BY age, place HAVING count(*) < "
    asked = "SELECT coalesce(sum(n), 0) / 600 FROM (SELECT count(*) AS n FROM raw "
    assert [alone, at_risk] == [
        float(bench.con.execute(f"{asked}{by}{limit})").fetchall()[0][0]) for limit in (2, 12)
    ]
    found = {each["name"]: each["value"] for each in bench.preview(session.recipe)["figures"]}
    assert found["smallest_class"] >= 5


TWICE = (  # a and its copies b and c single out the same rows, and d singles out none
    "SELECT i // 2 * 7 % 997 AS a, 'b' || i // 2 * 7 % 997 AS b, i // 2 * 7 % 997 + 1000 AS c, "
    "i % 2 AS d, i % 3 AS illness FROM range(400) AS made(i)"
)


def test_columns_are_spare_only_together_with_those_that_are_left_out_too(tmp_path):
    roles = {"quasi": ["a", "b", "c", "d"], "sensitive": ["illness"]}
    bench, session = opened(tmp_path, TWICE, roles)
    found = bench.risk(session.recipe, [])
    whole = found["figures"][0]["value"]
    assert whole == 1
    left_out = found["without"]["columns"]
    assert len(set(left_out) & {"a", "b", "c"}) == 2
    assert "d" not in left_out
    assert found["without"]["figure"]["value"] == whole
    sql = found["without"]["figure"]["sql"]
    assert not [name for name in left_out if f"'{name}'" in sql]
    session.apply("role", "exclude", left_out)
    assert bench.risk(session.recipe, [])["without"] is None


def test_no_column_is_spare_where_nobody_stands_alone(tmp_path):
    sql = "SELECT i % 3 AS a, i % 3 AS b, i % 5 AS illness FROM range(90) AS made(i)"
    bench, session = opened(tmp_path, sql, {"quasi": ["a", "b"], "sensitive": ["illness"]})
    assert bench.risk(session.recipe, [])["without"] is None


VISITS = (
    "SELECT i AS visit_id, 'p' || i % 300 AS patient_id, 20 + i % 300 % 60 AS age, "
    "'c' || i % 300 % 9 AS city, 'd' || i % 7 AS diagnosis FROM range(900) AS made(i)"
)


def test_an_identifier_that_repeats_is_proposed_to_count_people_by(tmp_path):
    bench, session = opened(tmp_path, VISITS, {})
    assert session.tables["release"]["entity"] == "patient_id"
    (found,) = session.repeating
    assert (found["column"], found["figure"]["value"]) == ("patient_id", 300)
    assert bench.con.execute(found["figure"]["sql"]).fetchall() == [(300,)]
    assert session.parsed.parameters["entity"] == "patient_id"
    session.apply("entity", "")
    assert "entity" not in session.tables["release"]
    assert session.tables["release"]["unit"] == "row"
    session.apply("entity", "patient_id")
    assert "unit" not in session.tables["release"]


def test_no_entity_is_proposed_for_one_row_per_person(tmp_path):
    _, session = opened(tmp_path, PEOPLE, ROLES)
    assert "entity" not in session.tables["release"]
    assert session.repeating == []
    session.apply("entity", "")
    assert "unit" not in session.tables["release"]


MIXED = (
    "SELECT 'n' || i AS name, 18 + i * 7 % 60 AS age, (1000 + i * 13 % 400) / 10.0 AS weight, "
    "DATE '1950-01-01' + (i * 97 % 9000)::INTEGER AS born, ['Bern', 'Genf', 'Chur', 'a, b'][i % 4 + 1] "
    "AS town, if(i % 11 = 0, NULL, 'v' || i % 3) AS illness FROM range(800) AS made(i)"
)
MIXED_ROLES = {
    "identifier": ["name"],
    "quasi": ["age", "weight", "born", "town"],
    "sensitive": ["illness"],
}


def test_each_raw_row_stands_beside_a_released_row_that_covers_it(tmp_path):
    bench, session = opened(tmp_path, MIXED, MIXED_ROLES)
    with pytest.raises(AnonError):
        bench.pairs(session.recipe, 0, False)
    bench.preview(session.recipe)
    found = bench.pairs(session.recipe, 16, False)
    assert found["columns"] == ["age", "weight", "born", "town", "illness", "name"]
    assert "name" not in found["released"]
    raw = bench.con.execute("SELECT COLUMNS(*)::VARCHAR FROM raw LIMIT 8 OFFSET 16").fetchall()
    released = set(bench.con.execute("SELECT COLUMNS(*)::VARCHAR FROM released").fetchall())
    assert len(found["rows"]) == 8
    for (before, after), expected in zip(found["rows"], raw, strict=True):
        assert before == [*expected[1:], "•••"]
        assert after[5] is None
        assert tuple(after[:5]) in released
        assert after[4] == before[4]
        low, high = after[0].strip("[]").split(", ") if after[0][0] == "[" else [after[0]] * 2
        assert int(low) <= int(before[0]) <= int(high)
        assert before[3] == after[3] or before[3] in after[3]
    assert bench.pairs(session.recipe, 0, True)["rows"][0][0][5] == "n0"
    session.apply("k", 9)
    with pytest.raises(AnonError):
        bench.pairs(session.recipe, 0, False)


def test_rows_of_a_release_with_a_hierarchy_or_without_suppressed_rows(tmp_path):
    lines = [f"{age};{age // 20 * 20}+;all" for age in range(80)]
    (tmp_path / "age.csv").write_text("\n".join(lines))
    bench, session = opened(tmp_path, MIXED, MIXED_ROLES)
    session.apply("hierarchy", True, ["age"])
    bench.preview(session.recipe)
    rows = bench.pairs(session.recipe, 0, False)["rows"]
    assert all(after is not None for _, after in rows)
    assert {after[0] for _, after in rows} & {"all", "20+", "40+", "60+", "0+"}
    session.tables["release"] |= {"suppressed": "drop", "suppression_limit": 0.5}
    bench.preview(session.recipe)
    assert len(bench.pairs(session.recipe, 0, False)["rows"]) == 8


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_blanks_that_merge_values_are_removed_as_the_recipe_says(tmp_path, ending):
    towns = "['Bern', 'Bern  ', 'Genf'][i % 3 + 1]"
    sql = f"SELECT i AS id, {towns} AS town, 20 + i % 50 AS age FROM range(300) AS made(i)"
    file, spilled = tmp_path / f"people{ending}", tmp_path / "spilled"
    duckdb.connect().execute(f"COPY ({sql}) TO '{file}'")
    spilled.mkdir()
    bench = Bench({"path": str(file), "start": str(tmp_path)}, spilled)
    facts = bench.table()
    assert facts["merged"] == ["town"]
    assert facts["relation"] == {"name": None, "call": None}  # DuckDB alone keeps the blanks
    assert bench.roles()["tables"]["source"]["trim"] is True
    assert bench.con.sql("SELECT count(DISTINCT town) FROM raw").fetchall() == [(2,)]
