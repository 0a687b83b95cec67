"""What a table that fits into memory is written as: the rows of the SQL function, in its order."""

import pytest

import anon_sql

pytestmark = pytest.mark.oldest

TABLE = """
    CREATE TYPE moods AS ENUM ('sad', 'glad', 'it''s');
    CREATE TABLE given AS SELECT 18 + i * 7919 % 60 AS age,
        if(i % 17 = 0, NULL, 'town ' || i * i % 9) AS "ci""ty.x",
        DATE '1990-01-01' + (i * 104729 % 9000)::INTEGER AS born,
        (i * 31 % 70)::DECIMAL(9, 2) AS cost,
        if(i % 11 = 0, NULL, i * 13 % 4) AS ill, i % 9 / 4.0 AS score,
        ['sad', 'glad', 'it''s'][i % 3 + 1]::moods AS mood, (i * 12345)::HUGEINT * 10::HUGEINT ** 20 AS huge,
        [i % 5, NULL] AS list, {'a': i % 3, 'b': 'x' || i % 2} AS both, md5('' || i)::UUID AS key,
        (i * 37)::BIT AS bits, TIMESTAMPTZ '2020-01-01 12:00:00+02' + i * INTERVAL 1 HOUR AS seen,
        i AS rowid, i AS id
    FROM range(400) r(i);
    CREATE TABLE tree AS SELECT 'ci"ty.x' AS attribute, 'town ' || i AS value, 1 AS level,
        'district ' || i % 3 AS label FROM range(9) r(i);
"""
REST = ["list", "both", "key", "bits", "huge", "rowid", "*"]
ROLES = f"quasi := {{quasi}}, sensitive := 'ill', identifiers := ['id'], keep := {REST}"
QUASI = ["age", 'ci"ty.x', "born", "cost"]
CALLS = {
    "text": ("anonymize", {"k": 5}),
    "rules": ("anonymize", {"k": 5, "l": 2, "t": 0.6, "effort": "fast"}),
    "ends": ("mondrian", {"k": 5, "format": "typed"}),
    "means": ("rayden", {"k": 7, "format": "mean"}),
    "medians": ("anonymize", {"k": 7, "format": "median", "effort": "fast"}),
    "middles": ("mondrian", {"k": 7, "format": "midpoint"}),
    "levels": ("full_domain", {"k": 5, "hierarchy": "tree", "suppressed": "keep"}),
    "left out": (
        "anonymize",
        {"k": 5, "suppressed": "drop", "suppression_limit": 0.3, "effort": "fast"},
    ),
    "as before": ("full_domain", {"k": 5, "like": "earlier"}),
    "records added": ("sdka", {"k": 5, "generator": "bootstrap"}),
}


@pytest.fixture
def given(con):
    con.execute(TABLE)
    con.execute(
        "CREATE TABLE earlier AS FROM full_domain('given', k := 10, "
        + ROLES.format(quasi=QUASI)
        + ")"
    )
    return con


@pytest.mark.parametrize(("method", "asked"), CALLS.values(), ids=CALLS)
def test_what_is_written_is_the_release_of_sql(given, method, asked):
    names = ", ".join(f"{name} := ${name}" for name in asked)
    select = f"FROM {method}('given', {names}, {ROLES.format(quasi=QUASI)})"
    given.execute(f"CREATE TABLE wanted AS {select}", asked)
    wanted = given.table("wanted")
    options = dict(asked, quasi=QUASI, sensitive=["ill"], identifiers=["id"], keep=REST)
    made = anon_sql.release(given, "given", into="made", method=method, **options)
    found = given.table("made")
    assert (found.columns, found.types) == (wanted.columns, wanted.types)
    assert found.to_arrow_table().equals(wanted.to_arrow_table())
    assert made.parts == 1


def test_roles_are_those_of_comments(given):
    for name, role in {"age": "quasi", "born": "quasi", "id": "identifier"}.items():
        given.execute(f"COMMENT ON COLUMN given.{name} IS 'anon:{role}'")
    wanted = given.sql(f"FROM anonymize('given', k := 5, keep := {REST})").to_arrow_table()
    anon_sql.release(given, "given", into="made", k=5, keep=REST)
    assert given.table("made").to_arrow_table().equals(wanted)


def test_rows_of_an_open_transaction_are_released(given):
    given.begin()
    given.execute("DELETE FROM given WHERE age < 40")
    options = {"quasi": QUASI, "sensitive": ["ill"], "identifiers": ["id"], "keep": REST}
    made = anon_sql.release(given, "given", into="made", k=5, **options)
    assert made.rows == given.sql("FROM given").count("*").fetchall()[0][0] < 400
    given.rollback()
    assert not given.sql("SELECT 1 FROM duckdb_tables() WHERE table_name = 'made'").fetchall()
