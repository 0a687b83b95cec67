"""Suggested roles, taken as they are, lead to a release that passes the audit."""

import pytest

from anon_sql.core.names import quote

ROLES = {"quasi": "quasi", "sensitive": "sensitive", "identifier": "identifiers", "keep": "keep"}
REAL = ["bank", "student_mat", "student_por", "heart_cleveland"]


def released_as_suggested(con, table):
    """Release a table by the roles that are suggested for it; return what the audit says."""
    roles = {name: [] for name in ROLES.values()}
    for name, role in con.execute(
        f"SELECT column_name, role FROM suggest_roles('{table}')"
    ).fetchall():
        roles[ROLES[role]].append(name)
    call = ", ".join(
        f"{name} := [{', '.join(repr(each) for each in names)}]::VARCHAR[]"
        for name, names in roles.items()
    )
    con.execute(
        f"CREATE OR REPLACE TABLE released AS FROM anonymize('{table}', k := 5, {call}, "
        "effort := 'fast')"
    )
    unique = 0
    if roles["keep"]:  # counted by plain SQL, too
        names = ", ".join(map(quote, roles["keep"]))
        (unique,) = con.execute(
            f"SELECT count(*) FROM (FROM released SELECT 1 GROUP BY {names} HAVING count(*) = 1)"
        ).fetchone()
    audit = con.execute(
        f"SELECT property, passed FROM audit('{table}', 'released', k := 5, {call})"
    ).fetchall()
    return roles, unique, dict(audit)


def wide(con, rows=400):
    """Make a table of thirty columns of unknown names, of which twenty single out few rows alone."""
    columns = ", ".join(
        f"CASE WHEN i % {150 + at} = {at} AND {at} % 3 > 0 THEN i ELSE i // {1 + at} % 2 END AS x{at}"
        for at in range(30)
    )
    con.execute(f"CREATE OR REPLACE TABLE wide AS SELECT {columns} FROM range({rows}) AS made(i)")


def test_a_release_of_thirty_columns_of_unknown_names_passes(con):
    wide(con)
    roles, unique, audit = released_as_suggested(con, "wide")
    assert roles["keep"]
    assert roles["quasi"]
    assert unique == 0
    assert audit["identifying_combinations"] is not False
    assert False not in audit.values()


@pytest.mark.parametrize("table", REAL)
def test_a_release_of_a_real_table_passes(con, shared_data, table):
    con.execute(f"CREATE TABLE t AS FROM read_parquet('{shared_data / table}.parquet')")
    _, unique, audit = released_as_suggested(con, "t")
    assert unique == 0
    assert [name for name, passed in audit.items() if passed is False] == []


def test_a_column_that_numbers_the_rows_is_an_identifier_whatever_its_name_says(con):
    con.execute("CREATE TABLE t AS SELECT i AS salary, i % 3 AS ward FROM range(100) AS made(i)")
    found = dict(con.execute("SELECT column_name, role FROM suggest_roles('t')").fetchall())
    assert found["salary"] == "identifier"
