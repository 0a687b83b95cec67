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


SAME = {  # values of several types that are one person each
    "5": [
        "5::TINYINT",
        "5::HUGEINT",
        "5.00::DECIMAL(9, 2)",
        "5::DECIMAL(3, 0)",
        "'5'",
        "'5'::BLOB",
    ],
    "0.5": ["0.5::DECIMAL(2, 2)", "0.50::DECIMAL(18, 4)", "'0.5'"],
    "-0.5": ["-0.5::DECIMAL(1, 1)", "-0.50::DECIMAL(38, 3)", "'-0.5'"],
    "100": ["100", "100::DECIMAL(5, 0)", "100.0::DECIMAL(5, 1)", "'100'"],
    "0": ["0", "0::DECIMAL(2, 2)", "0::DECIMAL(4, 2)", "'0'::ENUM('0', '1')"],
    "day": [
        "DATE '2024-02-29'",
        "TIMESTAMP '2024-02-29'",
        "TIMESTAMP_NS '2024-02-29'",
        "'2024-02-29'",
    ],
    "005": ["'005'"],
    "5.00": ["'5.00'"],
    "true": ["true", "'true'"],
}


def test_persons_are_compared_by_value_whatever_the_type(con):
    """5, '5' and 5.00 are one person; '005' is another."""
    anon_sql.ledger(con)
    spelt = [(person, value) for person, values in SAME.items() for value in values]
    for person, value in spelt:
        con.execute(f"CREATE OR REPLACE TABLE now AS SELECT {value} AS person")
        enter(con, "now", f"{person}: {value}")
    for person, value in spelt:
        con.execute(f"CREATE OR REPLACE TABLE now AS SELECT {value} AS person")
        shared = {name: count for name, _, _, count, _ in overlap(con, "now")}
        assert shared == {f"{p}: {v}": int(p == person) for p, v in spelt}, value


def test_an_entry_with_another_key(con):
    anon_sql.ledger(con)
    con.execute("CREATE TABLE may AS SELECT i AS person FROM range(9) t(i)")
    enter(con, "may", "May")
    enter(con, "may", "again", key="another secret key")
    found = {name: (shared, share) for name, _, _, shared, share in overlap(con, "may")}
    assert found == {"May": (9, 1), "again": (None, None)}
