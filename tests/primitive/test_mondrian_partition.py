"""mondrian_partition: mondrian's classes as a column, and nothing that looks like a release."""

import pytest

from tests.sentence import fails

QUASI = "age, city, sex, born"


@pytest.mark.parametrize("partitioning", ["strict", "relaxed"])
def test_the_sources_columns_and_the_classes_of_the_release(people, partitioning):
    how = f"partitioning := '{partitioning}'"
    found = people.sql(f"FROM mondrian_partition('people', k := 7, {how})")
    assert found.columns == [
        *("person_id", "age", "city", "sex", "born", "score", "illness", "class_id"),
    ]
    people.execute(f"CREATE TABLE p AS FROM mondrian_partition('people', k := 7, {how})")
    sizes = [n for (n,) in people.execute("SELECT count(*) FROM p GROUP BY class_id").fetchall()]
    assert sum(sizes) == 120
    assert min(sizes) >= 7
    if partitioning == "relaxed":
        assert max(sizes) <= 13
    roles = "quasi := ['age', 'city', 'sex', 'born'], identifiers := ['person_id'], "
    labelled = f"generalize('p', k := 7, {roles} sensitive := ['illness'], keep := ['score'])"
    both = [
        sorted(people.execute(f"SELECT {QUASI}, score, illness FROM {release}").fetchall(), key=str)
        for release in (labelled, f"mondrian('people', k := 7, {how})")
    ]
    assert both[0] == both[1]


def test_a_column_called_class_id_is_refused(con):
    con.execute("CREATE TABLE t AS SELECT i % 3 AS a, i AS class_id FROM range(30) r(i)")
    assert fails(con, "FROM mondrian_partition('t', quasi := ['a'])") == (
        "mondrian_partition: the table must not have a column class_id, got class_id; rename it"
    )


def test_an_empty_table(con):
    con.execute("CREATE TABLE t (a INTEGER, b VARCHAR)")
    assert con.execute("FROM mondrian_partition('t', quasi := ['a'])").fetchall() == []
