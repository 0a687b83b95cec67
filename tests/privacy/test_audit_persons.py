"""audit over persons, of many rows part by part, and of columns of pseudonyms."""

from collections import Counter
from math import exp, log

import pytest

from anon_sql.audit import classes, persons, reading
from anon_sql.audit import rows as alike_parts
from anon_sql.audit import rows as truth
from tests.privacy.test_audit import audit


def visits(con):
    """Three persons of 4, 2 and 2 rows; a release of two classes, 1 to 4 and 5 to 8."""
    con.execute(
        "CREATE TABLE v AS FROM (VALUES (1, 'p', 1), (2, 'p', 2), (3, 'p', 3), (4, 'q', 4), "
        "(5, 'q', 5), (6, 'o', 6), (7, 'o', 7), (8, 'p', 8)) AS made(a, who, s)"
    )
    con.execute("CREATE TABLE r AS SELECT if(a < 5, '[1, 4]', '[5, 8]') AS a, s FROM v")


def test_persons(con):
    visits(con)
    given = {"quasi": ["a"], "entity": "'who'", "keep": ["s"]}
    assert audit(con, "r", "v", 3, **given)["k"] == (3, 2, False, "a: [1, 4]")
    assert audit(con, "r", "v", 2, **given)["k"] == (2, 2, True, "a: [1, 4]")
    con.execute("CREATE TABLE told AS SELECT r.*, who FROM r JOIN v USING (s)")
    assert audit(con, "told", "v", 3, **given)["k"][:3] == (3, 2, False)


def by_persons(con, sensitive):
    """l of each kind and t of ``r``, whose column ``who`` says whose a row is, by counting."""
    raw = Counter(
        value for value, _ in set(con.execute(f"SELECT {sensitive}, who FROM v").fetchall())
    )
    told = set(con.execute(f"SELECT age, {sensitive}, who FROM told").fetchall())
    found = {"distinct": [], "entropy": [], "recursive": [], "t": []}
    for label in {row[0] for row in told}:
        counts = Counter(value for own, value, _ in told if own == label)
        many = sorted(counts.values(), reverse=True)
        shares = [count / sum(many) for count in many]
        found["distinct"].append(len(many))
        found["entropy"].append(exp(-sum(share * log(share) for share in shares)))
        tails = [sum(many[at:]) for at in range(len(many))]
        found["recursive"].append(sum(many[0] < 1.5 * tail for tail in tails))
        apart = [abs(counts[v] / sum(many) - raw[v] / raw.total()) for v in raw]
        found["t"].append(sum(apart) / 2)
    return {name: (max if name == "t" else min)(values) for name, values in found.items()}


@pytest.fixture
def stays(con):
    """Persons of one to five stays, some with the same illness twice in a class; ``note`` tells
    nearly every row, ``ward`` few."""
    con.execute(
        "CREATE TABLE v AS SELECT 20 + who % 50 AS age, who, "
        "['flu', 'gout', 'cold', 'ulcer'][1 + (who + n * (who % 3)) % 4] AS ill, "
        "who * 10 + n AS note FROM range(90) AS p(who), range(5) AS s(n) WHERE n <= who % 5"
    )
    return con


OF_PERSONS = {"quasi": ["age"], "sensitive": ["ill"], "keep": ["note"], "entity": "'who'"}


@pytest.mark.slow
@pytest.mark.parametrize("method", ["anonymize", "rayden"])
@pytest.mark.parametrize(
    ("kind", "level", "t"), [("distinct", 3, 0.4), ("entropy", 2.5, 0.3), ("recursive", 2, 0.35)]
)
def test_l_and_t_of_persons(stays, method, kind, level, t):
    given = "quasi := ['age'], sensitive := ['ill'], keep := ['note'], entity := 'who'"
    more = f"l := {level}, l_kind := '{kind}', c := 1.5, t := {t}"
    stays.execute(f"CREATE TABLE r AS FROM {method}('v', k := 4, {given}, {more})")
    stays.execute("CREATE TABLE told AS SELECT r.*, who FROM r JOIN v USING (note)")
    wanted = by_persons(stays, "ill")
    for released in ("r", "told"):
        more = {"l": level, "l_kind": f"'{kind}'", "c": 1.5, "t": t}
        found = audit(stays, released, "v", 4, **OF_PERSONS, **more)
        assert found["l"][:3] == (level, pytest.approx(wanted[kind]), True)
        assert found["t"][:3] == (t, pytest.approx(wanted["t"]), True)
        assert found["k"][2] is True
        above = {"l": wanted[kind] + 0.1, "t": wanted["t"] - 0.01, "l_kind": f"'{kind}'", "c": 1.5}
        found = audit(stays, released, "v", 4, **OF_PERSONS, **above)
        assert found["l"][2] is found["t"][2] is False
        assert found["l"][3].startswith("ill in age: ")


def test_l_and_t_of_rows_that_are_not_of_persons(con):
    """Four rows of one person and one of another: half and half, of rows four in five."""
    con.execute(
        "CREATE TABLE v AS FROM (VALUES (1, 'p', 'x', 1), (2, 'p', 'x', 2), (3, 'p', 'x', 3), "
        "(4, 'p', 'x', 4), (5, 'q', 'y', 5), (6, 'o', 'x', 6), (7, 'n', 'y', 7)) "
        "AS made(a, who, s, n)"
    )
    con.execute("CREATE TABLE r AS SELECT if(a < 6, '[1, 5]', '[6, 7]') AS a, s, n FROM v")
    given = {"quasi": ["a"], "sensitive": ["s"], "keep": ["n"], "l": 2, "l_kind": "'entropy'"}
    found = audit(con, "r", "v", 2, t=0, entity="'who'", **given)
    assert found["l"][1:3] == (pytest.approx(2), True)
    assert found["t"][1:3] == (0, True)
    found = audit(con, "r", "v", 2, t=0, **given)
    assert found["l"][2] is found["t"][2] is False


def test_l_and_t_where_nobody_can_tell_whose_the_rows_are(stays):
    """Two persons of one age, illness and note stand in classes that both could be of."""
    stays.execute("ALTER TABLE v DROP COLUMN note")
    stays.execute(
        "CREATE TABLE r AS SELECT if(who % 2 = 0, '[20, 69]', '[20, 68]') AS age, ill FROM v WHERE age < 69"
    )
    stays.execute("INSERT INTO r SELECT '[20, 69]', ill FROM v WHERE age = 69")
    given = {"quasi": ["age"], "sensitive": ["ill"], "entity": "'who'"}
    reason = "the release does not say whose rows are in a class"
    for kind in ("entropy", "recursive"):
        found = audit(stays, "r", "v", 2, l=1, l_kind=f"'{kind}'", t=1, **given)
        assert found["l"] == (1, None, None, reason)
        assert found["t"] == (1, None, None, reason)
    found = audit(stays, "r", "v", 2, l=4, t=1, **given)
    assert found["l"][:3] == (4, 4, True)  # distinct values are as many, whosever they are
    assert found["matched_rows"][2] is True


def test_l_and_t_of_persons_where_the_release_is_false(stays):
    """Each row could be told, but one that was swapped has no raw row of its own."""
    stays.execute(
        "CREATE TABLE r AS SELECT if(age < 45, '[20, 44]', '[45, 69]') AS age, ill, note FROM v"
    )
    more = {"l": 1.5, "l_kind": "'entropy'", "t": 0.9}
    found = audit(stays, "r", "v", 2, **OF_PERSONS, **more)
    assert found["l"][2] is found["t"][2] is found["matched_rows"][2] is True
    stays.execute("UPDATE r SET age = '[45, 69]' WHERE note = (SELECT min(note) FROM r)")
    found = audit(stays, "r", "v", 2, **OF_PERSONS, **more)
    assert found["matched_rows"][2] is False
    assert found["l"][2] is found["t"][2] is None


def test_persons_that_cannot_be_told(con):
    """All rows have the same kept value: each class is of p and q, or of all three."""
    visits(con)
    con.execute("UPDATE v SET s = 1; UPDATE r SET s = 1, a = '[1, 8]'")
    con.execute(
        "INSERT INTO v SELECT a, 'x', 2 FROM v LIMIT 4; INSERT INTO r SELECT '[1, 4]', 2 FROM r LIMIT 4"
    )
    given = {"quasi": ["a"], "entity": "'who'"}
    found = audit(con, "r", "v", 2, **given)["k"]
    assert found[:3] == (2, 1, False)  # the four rows of x
    con.execute(
        "UPDATE v SET who = 'y' WHERE s = 2 AND a < 3; UPDATE v SET s = 1; UPDATE r SET s = 1"
    )
    con.execute(
        "UPDATE r SET a = '[1, 8]' WHERE rowid < 4; UPDATE r SET a = '[1, 7]' WHERE rowid >= 8"
    )
    found = audit(con, "r", "v", 3, **given)["k"]
    assert found == (3, 2, None, "at least; the release does not say whose rows are in a: [1, 7]")


@pytest.fixture
def many_stays(con):
    """Persons of one to five stays, and a release with false labels, a row lost and some added;
    ``note`` tells nearly every row apart, ``ill`` none."""
    con.execute(
        "CREATE TABLE v AS SELECT 20 + who % 50 AS age, who, "
        "['flu', 'gout', 'cold', 'ulcer'][1 + (who + n * (who % 3)) % 4] AS ill, "
        "(who * 10 + n) // 2 AS note FROM range(300) AS p(who), range(5) AS s(n) WHERE n <= who % 5"
    )
    con.execute(
        "CREATE TABLE r AS FROM anonymize('v', k := 4, quasi := ['age'], sensitive := ['ill'], "
        "keep := ['note'], identifiers := ['who'])"
    )
    con.execute(
        "CREATE TABLE wrong AS SELECT * FROM r WHERE rowid <> 7 UNION ALL SELECT * FROM r LIMIT 900"
    )
    con.execute("UPDATE wrong SET age = '[20, 22]' WHERE note % 9 = 1")
    return con


@pytest.mark.slow
@pytest.mark.parametrize("released", ["r", "wrong"])
@pytest.mark.parametrize("rows", [1, 20, 500])
@pytest.mark.parametrize("kept", ["'note'", ""])
def test_parts(many_stays, monkeypatch, released, rows, kept):
    sql = (
        f"FROM audit('v', '{released}', 4, l := 2, l_kind := 'entropy', t := 0.5, quasi := ['age'], "
        f"sensitive := ['ill'], keep := [{kept}]::VARCHAR[], entity := 'who')"
    )
    whole = many_stays.sql(sql).fetchall()
    monkeypatch.setattr(alike_parts, "PART_ROWS", rows)
    monkeypatch.setattr(persons, "BLOCK_ROWS", rows)
    monkeypatch.setattr(classes, "BLOCK_ROWS", rows)
    monkeypatch.setattr(reading, "MAX_DISTINCT_HASHES", rows // 2)
    assert many_stays.sql(sql).fetchall() == whole
    found = {row[0]: row[2] for row in whole}
    for name in ("kept_values", "true_labels", "covered_rows", "matched_rows"):
        assert (found[name] == 0) == (released == "r")


def test_number_of_parts(monkeypatch):
    monkeypatch.setattr(alike_parts, "PART_ROWS", 100)
    assert [alike_parts._count(rows) for rows in (0, 1, 100, 101, 250, 10**9)] == [
        1,
        1,
        1,
        2,
        4,
        256,
    ]


@pytest.mark.parametrize("looks", [0, 40])
def test_too_many_comparisons(many_stays, monkeypatch, looks):
    """What follows from the comparisons is not told, also where some parts have been compared."""
    for name in ("v", "wrong"):
        many_stays.execute(
            f"CREATE VIEW {name}_alike AS "
            f"SELECT * EXCLUDE (note) REPLACE (if(note % 10 = 0, ill, 'flu') AS ill) FROM {name}"
        )
    sql = (
        "FROM audit('v_alike', 'wrong_alike', 4, quasi := ['age'], sensitive := ['ill'], "
        "entity := 'who')"
    )
    whole = {row[0]: row for row in many_stays.sql(sql).fetchall()}
    monkeypatch.setattr(alike_parts, "PART_ROWS", 5)
    monkeypatch.setattr(truth, "MAX_COMPARISONS", looks)
    found = {row[0]: row for row in many_stays.sql(sql).fetchall()}
    changed = {name for name, row in found.items() if row != whole[name]}
    assert changed == {"k", "true_labels", "covered_rows", "matched_rows"}
    assert all(found[name][2] is found[name][3] is None for name in changed)


KEY = "a secret key of the hospital"


@pytest.fixture
def coded_visits(con):
    con.execute(
        f"""
        CREATE TABLE people AS SELECT
            i AS age, anon_pseudonym(i % 7, '{KEY}') AS "who, ""x"" y",
            if(i % 2 = 0, NULL, upper(sha256(i::VARCHAR))) AS hashed,
            sha256(i::VARCHAR)[:63] AS shorter, if(i = 3, 'none', sha256('a')) AS nearly,
            NULL::VARCHAR AS empty, i % 3 AS number
        FROM range(40) AS r(i);
        CREATE TABLE r AS FROM anonymize('people', k := 5, quasi := ['age'],
            keep := ['who, "x" y', 'hashed', 'shorter', '*']);
        """
    )
    return con


def test_columns_of_pseudonyms_are_undecided(coded_visits):
    found = audit(coded_visits, quasi=["age"], keep=["*"])["pseudonyms"]
    assert found[:3] == (0, 2, None)
    assert found[3] == 'who, "x" y, hashed'


def test_a_release_without_them_passes(coded_visits):
    coded_visits.execute(
        """ALTER TABLE r DROP COLUMN hashed; ALTER TABLE r DROP COLUMN "who, ""x"" y" """
    )
    assert audit(coded_visits, quasi=["age"])["pseudonyms"] == (0, 0, True, None)


def test_a_column_that_the_raw_table_lacks(coded_visits):
    coded_visits.execute(
        f"CREATE TABLE more AS SELECT *, anon_pseudonym(number, '{KEY}') AS p FROM r"
    )
    assert audit(coded_visits, "more", quasi=["age"])["pseudonyms"][:3] == (0, 3, None)


def test_an_empty_release(coded_visits):
    coded_visits.execute("CREATE TABLE none AS FROM r LIMIT 0")
    assert audit(coded_visits, "none", quasi=["age"])["pseudonyms"] == (0, 0, True, None)
