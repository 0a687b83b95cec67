"""ledger_overlap: which persons were released before, to the person."""

from hypothesis import given
from hypothesis import strategies as st

import anon_sql
from tests.drawing import examples
from tests.inserting import insert
from tests.ledger.released import KEY, enter


def overlap(con, table, entity="person", key=KEY):
    call = "FROM ledger_overlap($table, 'anon_ledger', entity := $entity, key := $key)"
    return con.execute(call, {"table": table, "entity": entity, "key": key}).fetchall()


def test_to_the_person(con):
    person = st.sampled_from(["", " ", "5", "05", "Ada", "ada", "Zoë", "Zoe\u0308", "'", "\\x41"])
    rows = st.lists(person, max_size=12)

    @examples(15)
    @given(st.lists(rows, max_size=3), rows)
    def drawn(months, now):
        con.execute("DROP TABLE IF EXISTS anon_ledger")
        anon_sql.ledger(con)
        for at, held in enumerate([*months, now]):
            con.execute("CREATE OR REPLACE TABLE month (person VARCHAR)")
            insert(con, "month", [(one,) for one in held])
            if at < len(months):
                enter(con, "month", f"month {at}")
        found = overlap(con, "month")
        assert [(name, persons, shared) for name, _, persons, shared, _ in found] == [
            (f"month {at}", len(set(held)), len(set(held) & set(now)))
            for at, held in enumerate(months)
        ]
        assert all(share == (row[3] / len(set(now)) if now else None) for *row, share in found)

    drawn()


def test_a_person_of_another_type_is_the_same(con):
    anon_sql.ledger(con)
    con.execute("CREATE TABLE may AS SELECT i AS person FROM range(9) t(i)")
    con.execute(
        "CREATE TABLE june AS SELECT (i + 5)::VARCHAR AS \"SELECT 'é' x\" FROM range(9) t(i)"
    )
    con.execute("CREATE TABLE july AS SELECT i::VARCHAR::BLOB AS person FROM range(3) t(i)")
    enter(con, "may", "May")
    assert overlap(con, "june", "select 'é' X")[0][3] == 4
    assert overlap(con, "july")[0][3] == 3


def test_an_entry_with_another_key(con):
    anon_sql.ledger(con)
    con.execute("CREATE TABLE may AS SELECT i AS person FROM range(9) t(i)")
    enter(con, "may", "May")
    enter(con, "may", "again", key="another secret key")
    found = {name: (shared, share) for name, _, _, shared, share in overlap(con, "may")}
    assert found == {"May": (9, 1), "again": (None, None)}
