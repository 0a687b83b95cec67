"""audit of many rows, which are compared part by part: as of all at once."""

import pytest

from anon_sql.audit import classes, persons, reading
from anon_sql.audit import rows as alike_parts
from anon_sql.audit import rows as truth


@pytest.fixture
def stays(con):
    """Persons of one to five stays, and a release with false labels, a row lost and some added;
    ``note`` tells nearly every row apart, ``ill`` none."""
    con.execute(
        "CREATE TABLE v AS SELECT 20 + who % 50 AS age, who, "
        "['flu', 'gout', 'cold', 'ulcer'][1 + (who + n * (who % 3)) % 4] AS ill, "
        "(who * 10 + n) // 2 AS note FROM range(300) AS p(who), range(5) AS s(n) WHERE n <= who % 5"
    )
    con.execute(
        "CREATE TABLE r AS FROM anonymize('v', k := 4, qids := ['age'], sensitive := ['ill'], "
        "keep := ['note'], identifiers := ['who'])"
    )
    con.execute(
        "CREATE TABLE wrong AS SELECT * FROM r WHERE rowid <> 7 UNION ALL SELECT * FROM r LIMIT 900"
    )
    con.execute("UPDATE wrong SET age = '[20, 22]' WHERE note % 9 = 1")
    return con


@pytest.mark.parametrize("released", ["r", "wrong"])
@pytest.mark.parametrize("rows", [1, 20, 500])
@pytest.mark.parametrize("kept", ["'note'", ""])
def test_parts(stays, monkeypatch, released, rows, kept):
    sql = (
        f"FROM audit('v', '{released}', 4, l := 2, l_kind := 'entropy', t := 0.5, qids := ['age'], "
        f"sensitive := ['ill'], keep := [{kept}]::VARCHAR[], entity := 'who')"
    )
    whole = stays.sql(sql).fetchall()
    monkeypatch.setattr(alike_parts, "ROWS", rows)
    monkeypatch.setattr(persons, "ROWS", rows)
    monkeypatch.setattr(classes, "BLOCK", rows)
    monkeypatch.setattr(reading, "FEW", rows // 2)
    assert stays.sql(sql).fetchall() == whole
    found = {row[0]: row[2] for row in whole}
    for name in ("kept values", "labels", "raw rows", "matching"):
        assert (found[name] == 0) == (released == "r")


def test_number_of_parts(monkeypatch):
    monkeypatch.setattr(alike_parts, "ROWS", 100)
    assert [alike_parts._count(rows) for rows in (0, 1, 100, 101, 250, 10**9)] == [
        1,
        1,
        1,
        2,
        4,
        256,
    ]


@pytest.mark.parametrize("looks", [0, 40])
def test_too_many_comparisons(stays, monkeypatch, looks):
    """What follows from the comparisons is not told, also where some parts have been compared."""
    for name in ("v", "wrong"):
        stays.execute(
            f"CREATE VIEW {name}_alike AS "
            f"SELECT * EXCLUDE (note) REPLACE (if(note % 10 = 0, ill, 'flu') AS ill) FROM {name}"
        )
    sql = (
        "FROM audit('v_alike', 'wrong_alike', 4, qids := ['age'], sensitive := ['ill'], "
        "entity := 'who')"
    )
    whole = {row[0]: row for row in stays.sql(sql).fetchall()}
    monkeypatch.setattr(alike_parts, "ROWS", 5)
    monkeypatch.setattr(truth, "LOOKS", looks)
    found = {row[0]: row for row in stays.sql(sql).fetchall()}
    changed = {name for name, row in found.items() if row != whole[name]}
    assert changed == {"k", "labels", "raw rows", "matching"}
    assert all(found[name][2] is found[name][3] is None for name in changed)
