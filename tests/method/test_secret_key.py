"""A secret key decides random choices: the same key gives the same release, and without it the
release cannot be repeated.
"""

import json

import pytest

import anon_sql.frames
from anon_sql import AnonError
from tests.command import refused, run
from tests.inserting import insert
from tests.method.test_value_blind import QUASI, TYPES, made, others
from tests.sentence import fails

KEY, OTHER = "correct horse battery", "correct horse batterz"
COLUMNS = ", ".join(f"{name} {kind}" for name, kind in TYPES.items())
CALL = f"k := 4, quasi := {QUASI!r}, sensitive := 'ill', keep := ['income', 'rid']"


@pytest.fixture
def table(con, monkeypatch):
    monkeypatch.setenv("ANON_KEY", KEY)
    quasi = list(made(200, wide=False))
    rows = [(*q, *o) for q, o in zip(quasi, others(200, 1), strict=True)]
    con.execute(f"CREATE TABLE t ({COLUMNS})")
    insert(con, "t", rows)
    con.execute(f"CREATE TABLE turned ({COLUMNS})")
    insert(con, "turned", rows[::-1])
    return con


def released(con, key=None, table="t", method="rayden"):
    """Return the labels of each row by its number."""
    key = "" if key is None else f", key := '{key}'"
    rows = con.execute(f"SELECT rid, {', '.join(QUASI)} FROM {method}('{table}', {CALL}{key})")
    return {rid: labels for rid, *labels in rows.fetchall()}


@pytest.mark.parametrize("method", ["rayden", "oka", "top_down"])
def test_the_key_decides(table, method):
    first = released(table, KEY, method=method)
    assert released(table, KEY, method=method) == first
    assert released(table, "env:ANON_KEY", method=method) == first
    assert released(table, KEY, "turned", method=method) == first
    assert released(table, OTHER, method=method) != first  # at least who of equal rows is where
    assert released(table, method=method) != first


def test_so_does_the_seed_beside_it(table):
    other = table.execute(
        f"SELECT rid, {', '.join(QUASI)} FROM rayden('t', {CALL}, key := '{KEY}', seed := 7)"
    )
    assert {rid: labels for rid, *labels in other.fetchall()} != released(table, KEY)


def test_frames_and_parts_take_the_same_key(table):
    wanted = released(table, KEY)
    arrow = table.execute("FROM t").to_arrow_table()
    call = {"k": 4, "quasi": QUASI, "sensitive": "ill", "keep": ["income", "rid"]}
    found = anon_sql.frames.rayden(arrow, key="env:ANON_KEY", **call).to_pylist()
    assert {row["rid"]: [row[name] for name in QUASI] for row in found} == wanted
    anon_sql.release(table, "t", into="parts", method="rayden", key=KEY, parts=1, **call)
    rows = table.execute(f"SELECT rid, {', '.join(QUASI)} FROM parts").fetchall()
    table.execute("DROP TABLE parts")
    assert {rid: labels for rid, *labels in rows} == wanted


def test_no_plan_and_no_error_shows_it(table):
    call = f"rayden('t', {CALL}, key := '{KEY}')"
    ((_, plan),) = table.execute(f"EXPLAIN FROM {call}").fetchall()
    assert KEY not in plan
    assert "at least 16 bytes" in fails(table, f"FROM rayden('t', {CALL}, key := 'Zz9-secret')")
    assert "Zz9-secret" not in fails(table, f"FROM rayden('t', {CALL}, key := 'Zz9-secret')")
    missing = fails(table, f"FROM rayden('t', {CALL}, key := 'env:ANON_NO_KEY')")
    assert "must be set" in missing
    with pytest.raises(AnonError, match="where DuckDB is not asked"):
        anon_sql.frames.rayden(
            table.execute("FROM t").to_arrow_table(), quasi=["age"], key="secret:mine", keep="*"
        )


def test_a_command_line_and_a_recipe_name_a_variable(table, tmp_path):
    raw, safe = tmp_path / "raw.parquet", tmp_path / "safe.parquet"
    table.execute(f"COPY t TO '{raw}'")
    roles = [
        "--quasi",
        ",".join(QUASI),
        "--sensitive",
        "ill",
        "--keep",
        "income",
        "--exclude",
        "rid",
    ]
    call = ["release", raw, safe, "--k", "4", "--method", "rayden", "--unique-share", "1", *roles]
    assert "others see a command line" in refused(*call, "--key", KEY)
    assert not safe.exists()
    run(*call, "--key", "env:ANON_KEY", "--manifest")
    written = json.loads((tmp_path / "safe.parquet.anon.json").read_text())
    assert KEY not in json.dumps(written)
    assert "env:ANON_KEY" in json.dumps(written["parameters"])
    again = ["--key", "env:ANON_KEY", "--series", tmp_path / "s.duckdb", "--entity", "rid"]
    assert "--key" in refused(*call, *again, "--overwrite")


def test_a_recipe_holds_no_secret(con, tmp_path, monkeypatch):
    monkeypatch.setenv("ANON_KEY", KEY)
    con.execute("CREATE TABLE t AS SELECT i % 60 AS age, i % 3 AS ill FROM range(200) r(i)")
    con.execute(f"COPY t TO '{tmp_path / 'raw.parquet'}'")
    recipe = tmp_path / "r.toml"
    run("roles", tmp_path / "raw.parquet", "--recipe", recipe)
    text = recipe.read_text()
    recipe.write_text(text.replace("[release]", f'[release]\nkey = "{KEY}"'))
    said = refused("release", recipe, tmp_path / "safe.parquet")
    assert "key in [release] must be env:" in said
    assert KEY not in said


def test_the_statistics_are_those_of_the_release_with_the_key(con):
    con.execute("CREATE TABLE p AS SELECT hash(i) % 60 AS age, i % 5 AS city FROM range(200) r(i)")
    counts = {}
    for key in ["NULL", *(f"'{KEY}{number}'" for number in range(6))]:
        given = f"'p', k := 4, alpha := 1.0, quasi := ['age', 'city'], key := {key}"
        stats = f"SELECT detected, classes FROM mondrian_cof_stats({given})"
        counts[key] = con.execute(stats).fetchone()
        released = f"SELECT count(DISTINCT (age, city)) FROM mondrian_cof({given})"
        assert con.execute(released).fetchone() == counts[key][1:]
    assert len({classes for _, classes in counts.values()}) > 1
    for name in ("rayden", "dop", "anonymize"):
        for key in ("NULL", f"'{KEY}'"):
            given = f"'p', k := 4, quasi := ['age', 'city'], key := {key}"
            (classes,) = con.execute(f"SELECT classes FROM {name}_stats({given})").fetchone()
            released = f"SELECT count(DISTINCT (age, city)) FROM {name}({given})"
            assert con.execute(released).fetchone() == (classes,)


def test_synthetic_rows_depend_on_the_key(table):
    def synthetic(key):
        call = f"k := 4, quasi := {QUASI!r}, sensitive := 'ill', exclude := ['income', 'rid']"
        given = f"'t', {call}, generator := 'bootstrap', target_ratio := 1, key := {key}"
        (count,) = table.execute(f"SELECT synthetic_rows FROM sdka_stats({given})").fetchone()
        rows = table.execute(f"FROM sdka({given})").fetchall()
        assert len(rows) == 200 + count
        return sorted(map(str, rows))

    pytest.importorskip("sklearn")
    first = synthetic(f"'{KEY}'")
    assert synthetic("'env:ANON_KEY'") == first
    assert synthetic(f"'{OTHER}'") != first
    assert synthetic("NULL") != first


def test_linked_tables_take_a_key(table, tmp_path):
    person = "person (id INTEGER PRIMARY KEY, age INTEGER, city INTEGER, ill VARCHAR)"
    people = "SELECT i, hash(i) % 60, i * 13 % 5, 'i' || hash(i, 1) % 4 FROM range(200) r(i)"
    table.execute(f"CREATE TABLE {person}")
    table.execute(f"INSERT INTO person {people}")
    roles = {
        "quasi": "person.age,person.city",
        "identifiers": "person.id",
        "sensitive": "person.ill",
    }
    named = {role: columns.split(",") for role, columns in roles.items()}

    def labels(name):
        return sorted(table.execute(f"SELECT age, city, ill FROM {name}").fetchall())

    def linked(key):
        made = anon_sql.release_linked(
            table, "person", into="safe", overwrite=True, k=4, key=key, **named
        )
        assert KEY not in json.dumps(made.manifest)
        return labels("safe.person"), made.manifest["parameters"]["key"]

    table.execute("CREATE SCHEMA safe")
    first, written = linked("env:ANON_KEY")
    assert written == "env:ANON_KEY"
    assert linked(KEY) == (first, "a secret")
    assert linked(OTHER)[0] != first
    assert linked(None)[0] != first
    given = ", ".join(f"{role} := {columns!r}" for role, columns in named.items())
    call = f"linked_plan('person', k := 4, {given}, key := '{KEY}')"
    ((_, plan),) = table.execute(f"EXPLAIN FROM {call}").fetchall()
    assert KEY not in plan
    table.execute(f"CREATE TABLE plan AS FROM {call}")
    assert labels("linked_table('person', 'plan')") == first
    with pytest.raises(AnonError, match="at least 16 bytes") as short:
        anon_sql.release_linked(table, "person", into="safe", overwrite=True, key="Zz9", **named)
    assert "Zz9" not in str(short.value)
    assert "at least 16 bytes" in fails(table, f"FROM linked_plan('person', {given}, key := 'Zz9')")
    database = tmp_path / "raw.duckdb"
    table.execute(f"ATTACH '{database}' AS file")
    table.execute(f"CREATE TABLE file.{person}")
    table.execute(f"INSERT INTO file.person {people}")
    table.execute("DETACH file")
    call = ["release", database, f"{tmp_path}/safe/", "--root", "person", "--k", "4"]
    call += ["--quasi", roles["quasi"], "--identifier", roles["identifiers"]]
    call += ["--sensitive", roles["sensitive"]]
    assert "others see a command line" in refused(*call, "--key", KEY)
    run(*call, "--key", "env:ANON_KEY", "--manifest")
    assert labels(f"'{tmp_path}/safe/person.parquet'") == first
    run("verify", f"{tmp_path}/safe/", "--raw", database)
