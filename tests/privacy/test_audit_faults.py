"""audit: each fault that is planted in a release is found."""

import pytest

from tests.privacy.test_audit import audit, failed
from tests.sentence import fails


def test_a_class_of_k_less_one(wide):
    """One row says another thing than its class; the label is still true."""
    _, *label = wide.execute(
        "SELECT count(*), age, city, sex, born FROM r WHERE age[1] = '[' AND born[1] = '[' "
        "GROUP BY ALL HAVING count(*) = 5 ORDER BY ALL LIMIT 1"
    ).fetchall()[0]
    wide.execute(
        "UPDATE r SET city = '*' WHERE rowid = (SELECT min(rowid) FROM r WHERE (age, sex, born) = "
        "(?, ?, ?) AND city IS NOT DISTINCT FROM ?)",
        [label[0], label[2], label[3], label[1]],
    )
    found = audit(wide)
    assert found["k"][:3] == (5, 1, False)
    assert "city: *" in found["k"][3]
    assert failed(wide) == {"k": 1}


def test_a_label_that_excludes_its_own_value(wide):
    wide.execute(
        "UPDATE r SET age = '[76, 77]' WHERE weight = (SELECT weight FROM people "
        "WHERE age < 70 ORDER BY person_id LIMIT 1)"
    )
    assert failed(wide, k=1) == {"true_labels": 1, "covered_rows": 1, "matched_rows": 1}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("age = '[' || split_part(age[2:], ', ', 1) || ',' || split_part(age, ', ', 2)", "[{},{}]"),
        ("age = '[0' || age[2:]", "[0"),
    ],
)
def test_two_spellings_of_one_range(wide, old, new):
    wide.execute(f"UPDATE r SET {old} WHERE rowid = (SELECT min(rowid) FROM r WHERE age[1] = '[')")
    found = audit(wide, k="NULL")
    assert found["label_spelling"][:3] == (0, 1, False)
    assert found["label_spelling"][3].startswith("age: [")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("column", "label"),
    [
        *(("age", x) for x in ("[20, 20]", "[30, 20]", "[20]", "{20, 30}", "x", "020", "20.0", "")),
        *(("age", x) for x in ("[020, 300]", "[20, 300.0]", "[2e1, 300]", "[300, 400]")),
        *(("city", x) for x in ("{Bonn, Accra}", "{Bonn}", "'Bonn'", "{Accra,Bonn}", "[1, 2]")),
        *(("city", x) for x in ("{Accra, Accra}", "Paris", "{Lima, Paris}", "", "a'b")),
        *(("born", x) for x in ("1950-1-1", "[1950-01-01, 1950-01-01]")),
    ],
)
def test_labels_that_no_release_prints(wide, column, label):
    wide.execute(f"UPDATE r SET {column} = ? WHERE rowid = 7", [label])
    found = audit(wide, k="NULL")
    assert found["label_spelling"][:3] == (0, 1, False)
    assert found["label_spelling"][3] == f"{column}: {label}"


def test_sets_of_a_typed_release(people):
    people.execute("CREATE TABLE r AS FROM anonymize('people', k := 5, format := 'typed')")
    assert failed(people, k="NULL") == {}
    people.execute("UPDATE r SET city = ['Bonn', 'Accra'] WHERE rowid = 3")
    people.execute("UPDATE r SET age = {'min': 30, 'max': 20} WHERE rowid = 4")
    assert failed(people, k="NULL")["label_spelling"] == 2


def test_a_sensitive_value_swapped(con):
    """Between two classes that exclude each other's rows, where others have these values too: what
    is necessary holds, and only a matching can tell."""
    con.execute(
        "CREATE TABLE t AS SELECT i + if(i > 4, 10, 0) AS a, ['x', 'y'][1 + i % 2] AS s "
        "FROM range(1, 9) AS made(i)"
    )
    con.execute("CREATE TABLE r AS SELECT if(a < 5, '[1, 4]', '[15, 18]') AS a, s FROM t")
    given = {"quasi": ["a"], "sensitive": ["s"]}
    assert failed(con, "r", "t", 4, **given) == {}
    con.execute("UPDATE r SET s = if(rowid < 4, 'y', 'x') WHERE rowid IN (1, 4)")
    assert failed(con, "r", "t", 4, **given) == {"matched_rows": 2}


def test_a_unique_value_swapped(wide):
    wide.execute(
        "CREATE TEMP TABLE two AS (SELECT weight FROM r WHERE sex = 'f' ORDER BY 1 LIMIT 1) "
        "UNION ALL (SELECT weight FROM r WHERE sex = 'm' ORDER BY 1 LIMIT 1)"
    )
    wide.execute(
        "UPDATE r SET weight = (SELECT sum(weight) FROM two) - weight WHERE weight IN (FROM two)"
    )
    assert failed(wide)["kept_values"] == 2  # score and illness stand beside another weight
    wide.execute("ALTER TABLE people DROP COLUMN score; ALTER TABLE r DROP COLUMN score")
    wide.execute("ALTER TABLE people DROP COLUMN illness; ALTER TABLE r DROP COLUMN illness")
    assert failed(wide) == {"true_labels": 2, "covered_rows": 2, "matched_rows": 2}


def test_a_row_lost(wide):
    wide.execute("DELETE FROM r WHERE rowid = 9")
    assert failed(wide) == {"rows": 399, "k": 1, "suppressed_rows": 1}
    assert audit(wide, k="NULL")["rows"][1:] == (399, False, "1 left out")


def test_a_row_lost_beside_suppressed_ones(wide):
    wide.execute("UPDATE r SET age = '*', city = '*', sex = '*', born = '*' WHERE rowid < 20")
    assert "rows" not in failed(wide)
    wide.execute("DELETE FROM r WHERE rowid = 9")
    assert failed(wide)["rows"] == 399


def test_a_row_added(wide):
    ((one, other),) = wide.execute(
        "SELECT one.rowid, other.rowid FROM r AS one JOIN r AS other USING (age, city, sex, born) "
        "WHERE one.illness <> other.illness AND one.score <> other.score ORDER BY ALL LIMIT 1"
    ).fetchall()
    wide.execute(f"INSERT INTO r FROM r WHERE rowid = {one}")
    assert failed(wide) == {"rows": 401, "kept_values": 1, "matched_rows": 1}
    wide.execute(f"DELETE FROM r WHERE rowid = {other}")
    assert failed(wide) == {"kept_values": 1, "covered_rows": 1, "matched_rows": 1}
    assert audit(wide)["kept_values"][3] in ("score, illness, weight", "score, weight")


def test_a_kept_column_that_was_dropped(wide):
    """Without a value no released row has those of a raw row; other columns may be left out."""
    wide.execute("ALTER TABLE r DROP COLUMN weight")
    assert audit(wide)["kept_values"] == (0, 400, False, "without weight")
    wide.execute("CREATE TABLE few AS FROM r LIMIT 0")
    assert audit(wide, "few")["kept_values"][:3] == (0, 0, True)


def test_a_row_number_left_in(wide):
    wide.execute("CREATE TABLE more AS SELECT *, row_number() OVER () AS n FROM r")
    found = audit(wide, "more")
    assert found["row_numbers"] == (0, 1, False, "n")
    assert found["added_columns"] == (0, 1, False, "n")
    wide.execute("CREATE TABLE again AS SELECT * REPLACE (row_number() OVER () AS score) FROM r")
    assert "row_numbers" in failed(wide, "again")


def test_a_column_that_keeps_the_order(con):
    con.execute("CREATE TABLE t AS SELECT i AS a, i * 3 + i % 2 AS visit FROM range(40) AS made(i)")
    con.execute("CREATE TABLE r AS FROM rayden('t', k := 5, quasi := ['a'], keep := ['visit'])")
    assert failed(con, "r", "t", quasi=["a"]) == {"identifying_columns": 1, "row_numbers": 1}
    assert failed(con, "r", "t", quasi=["a"], keep=["visit"]) == {}


def test_a_class_that_is_diverse_by_null_alone(wide):
    wide.execute("CREATE TEMP TABLE c AS SELECT age, city, sex, born FROM r GROUP BY ALL LIMIT 1")
    for table in ("people", "r"):
        wide.execute(f"ALTER TABLE {table} ADD COLUMN x VARCHAR")
    wide.execute("UPDATE r SET x = if(weight::INTEGER % 2 = 0, 'a', 'b')")
    wide.execute(
        "UPDATE r SET x = if(rowid % 2 = 0, 'a', NULL) WHERE (age, city, sex, born) IN (FROM c)"
    )
    wide.execute("UPDATE people SET x = r.x FROM r WHERE r.weight = people.weight")
    found = audit(wide, l=2, sensitive=["x"])
    assert found["l"][:3] == (2, 1, False)
    assert failed(wide, l=1, sensitive=["x"]) == {}


def test_a_leftover_identifier(wide):
    wide.execute(
        "CREATE TABLE left_in AS SELECT r.*, people.PERSON_ID FROM r JOIN people USING (weight)"
    )
    found = audit(wide, "left_in")
    assert found["identifiers"] == (0, 1, False, "person_id")
    assert found["row_numbers"][2] is False
    assert audit(wide, raw="people", quasi=["age", "city", "sex", "born"])["identifiers"][2] is True


def test_nobody_declared_the_columns(con):
    con.execute(
        "CREATE TABLE t AS SELECT i AS a, 'mail' || i // 1.05 AS mail, i % 3 AS s FROM range(60) AS made(i)"
    )
    con.execute("CREATE TABLE r AS SELECT '[0, 59]' AS a, mail, s FROM t")
    found = audit(con, "r", "t", quasi=["a"])
    assert found["identifying_columns"] == (0, 1, False, "mail")
    assert found["identifiers"][2] is None
    assert audit(con, "r", "t", quasi=["a"], keep=["mail"])["identifying_columns"][2] is True


FAULTY = [
    ("'flu', 1, 'A'), ('flu', 1, 'B'", "a value of s with two labels at a level"),
    ("'flu', 1, 'A'), ('flu', 2, 'B'), ('gout', 1, 'A'), ('gout', 2, 'C'", "2 parents"),
    ("'flu', 1, 'gout'), ('gout', 1, 'A'", "the label of 1 other values"),
    ("'flu', 1, 'A'", "1 value that it lacks"),
]


@pytest.mark.parametrize(("rows", "got"), FAULTY)
def test_no_sensitive_value_is_in_an_error(con, rows, got):
    con.execute(
        "CREATE TABLE t AS SELECT i AS a, ['flu', 'gout'][1 + i % 2] AS s FROM range(8) AS made(i)"
    )
    con.execute("CREATE TABLE r AS SELECT '[0, 7]' AS a, s FROM t")
    rows = "), ('s', ".join(rows.split("), ("))
    con.execute(
        f"CREATE TABLE tree AS FROM (VALUES ('s', {rows})) AS made(attribute, value, level, label)"
    )
    call = "FROM audit('t', 'r', t := 0.5, quasi := ['a'], sensitive := ['s'], hierarchy := 'tree')"
    said = fails(con, call)
    assert said.startswith("audit: ")
    assert got in said
    assert not any(f"'{word}'" in said or f" {word} " in said for word in ("flu", "gout", "A", "B"))


def test_a_class_of_nulls_alone_is_no_fault_without_l(con):
    """A release with l = 1, which requires nothing, may have one; a required l fails."""
    con.execute(
        "CREATE TABLE visits AS SELECT i // 5 AS age, if(i < 5, NULL, 'a' || i % 3) AS x "
        "FROM range(20) AS r(i)"
    )
    con.execute(
        "CREATE TABLE r AS FROM anonymize('visits', k := 5, quasi := ['age'], sensitive := ['x'])"
    )
    call = "FROM audit('visits', 'r', k := 5, l := {}, quasi := ['age'], sensitive := ['x'])"
    levels = [
        con.execute(
            f"SELECT found, passed, meaning {call.format(l)} WHERE property = 'l'"
        ).fetchone()
        for l in (1, 2)  # noqa: E741
    ]
    assert levels[0] == (0, True, "The smallest l of a class is 0; l = 1 requires nothing.")
    assert levels[1][:2] == (0, False)
