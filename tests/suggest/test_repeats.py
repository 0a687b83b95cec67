"""Which column repeats another, against a count in plain Python; suggestions hold as they are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_sql import datasets
from tests.drawing import examples
from tests.inserting import insert

NAMES = ["a", "b", "c"]


def repeats(con, table="t"):
    return dict(
        con.execute(f"SELECT column_name, repeats FROM suggest_roles('{table}')").fetchall()
    )


def plain(rows, texts):
    """The column that each repeats, of columns none of which is an identifier."""
    columns = list(zip(*rows, strict=True))
    counts = [len(set(column)) for column in columns]
    known = [at for at in range(len(columns)) if 1 < counts[at] <= len(rows) / 2]
    found = [None] * len(columns)

    def tells(other, at):
        return len(set(zip(columns[other], columns[at], strict=True))) == counts[other]

    for other in sorted(known, key=lambda at: (counts[at], at)):
        for at in known:
            if at == other or found[at] is not None or not tells(other, at):
                continue
            if tells(at, other) and ((texts[at], at) < (texts[other], other) or found[other] == at):
                continue
            found[at] = other
    return {NAMES[at]: None if of is None else NAMES[of] for at, of in enumerate(found)}


def test_against_a_count_in_plain_python(con):
    con.execute("CREATE TABLE t (a INTEGER, b VARCHAR, c INTEGER)")
    value = st.integers(0, 3)

    @examples(40)
    @given(st.lists(st.tuples(value, st.none() | value.map(str), value), min_size=1, max_size=14))
    def equal(rows):
        con.execute("DELETE FROM t")
        insert(con, "t", rows)
        assert repeats(con) == plain(rows, [False, True, False])

    equal()


def test_text_repeats_its_number(con):
    con.execute(
        "CREATE TABLE t AS SELECT 'class ' || i % 5 AS education, i % 5 AS education_num, "
        "i % 10 AS finer, i AS id FROM range(100) AS made(i)"
    )
    found = repeats(con)
    assert found == {"education": "education_num", "education_num": "finer", "finer": None,
                     "id": None}  # fmt: skip


def test_an_empty_table_and_one_of_one_row(con):
    con.execute(
        "CREATE TABLE none (a INTEGER, b VARCHAR); CREATE TABLE one AS SELECT 1 AS a, 2 AS b"
    )
    assert set(repeats(con, "none").values()) == {None}
    assert set(repeats(con, "one").values()) == {None}


@pytest.mark.parametrize("make", [datasets.people, datasets.stays, datasets.adult])
def test_suggestions_as_they_are_lead_to_a_release_that_audit_passes(con, make):
    name = make.__name__
    make(con)
    found = con.execute(f"SELECT column_name, role FROM suggest_roles('{name}')").fetchall()
    roles = {
        parameter: [column for column, role in found if role == known]
        for parameter, known in (
            ("quasi", "quasi"), ("sensitive", "sensitive"), ("identifiers", "identifier"),
            ("keep", "keep"),
        )
    }  # fmt: skip
    listed = ", ".join(f"{parameter} := ${parameter}" for parameter in roles)
    con.execute(f"CREATE TABLE r AS FROM mondrian('{name}', k := 5, {listed})", roles)
    failed = con.execute(
        f"SELECT property FROM audit('{name}', 'r', k := 5, {listed}) WHERE passed IS false", roles
    ).fetchall()
    assert failed == []
