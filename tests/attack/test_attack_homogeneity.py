"""attack_homogeneity: by hand, in agreement with l_diversity, and what it refuses."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.drawing import examples
from tests.inserting import insert
from tests.sentence import fails


def row(attribute, classes, exposed, rows, exposed_rows):
    return {
        "attribute": attribute,
        "classes": classes,
        "exposed_classes": exposed,
        "class_share": exposed / classes,
        "rows": rows,
        "exposed_rows": exposed_rows,
        "row_share": exposed_rows / rows,
    }


def test_by_hand(wards, shape, attacked):
    """The suppressed rows hold one value each: flu and NULLs, 3, z."""
    found = attacked("attack_homogeneity", shape, ["a"], sensitive="['s', 'n', 'W']")
    assert found == [row(name, 3, 1, 10, 3) for name in ("s", "n", "w")]


def test_overlapping_labels_are_classes_all_the_same(clinic, shape, attacked):
    found = attacked("attack_homogeneity", shape, sensitive="['stage', 'illness']")
    assert found == [row("illness", 4, 4, 6, 6), row("stage", 4, 3, 6, 4)]


def test_an_empty_release(clinic, attacked):
    clinic.execute("CREATE TABLE none AS FROM label LIMIT 0")
    (found,) = attacked("attack_homogeneity", "none", sensitive="'stage'")
    assert (found["classes"], found["exposed_classes"], found["rows"]) == (0, 0, 0)
    assert (found["class_share"], found["row_share"]) == (None, None)


def test_more_rows_than_the_raw_table(clinic, attacked):
    """A release with added rows: no other measure reads it."""
    clinic.execute("INSERT INTO label SELECT 9, 'a', '[22, 30]', 'flu' FROM range(9)")
    found = attacked("attack_homogeneity", sensitive="['stage', 'illness']")
    assert found == [row("illness", 4, 3, 15, 4), row("stage", 4, 2, 15, 2)]
    said = fails(clinic, "SELECT k_anonymity('raw', 'label', quasi := ['age', 'city'])")
    assert said.startswith("k_anonymity: the raw table must come first")


def test_none_where_l_is_two(con, attacked):
    con.execute(
        "CREATE TABLE raw (a INTEGER, s VARCHAR); CREATE TABLE label (a VARCHAR, s VARCHAR)"
    )
    rows = st.tuples(st.integers(0, 3), st.none() | st.sampled_from("abc"))

    @examples(25)
    @given(st.lists(rows, min_size=1, max_size=12))
    def holds(made):
        con.execute("DELETE FROM raw; DELETE FROM label")
        insert(con, "raw", made)
        con.execute("INSERT INTO label SELECT a::VARCHAR, s FROM raw")
        (found,) = attacked("attack_homogeneity", quasi=["a"], sensitive="'s'")
        classes = {}
        for a, s in made:
            classes.setdefault(a, []).append(s)
        exposed = [rows for rows in classes.values() if len(set(rows) - {None}) < 2]
        assert found["exposed_classes"] == len(exposed)
        assert found["exposed_rows"] == sum(map(len, exposed))
        least = con.execute("SELECT l_diversity('raw', 'label', 's', quasi := ['a'])").fetchall()[
            0
        ][0]
        assert (least >= 2) == (not exposed)

    holds()


def test_declared_columns(people):
    people.execute("CREATE TABLE r AS FROM rayden('people', k := 5)")
    wanted = people.execute(
        "SELECT count(*), count_if(d < 2) FROM "
        "(SELECT count(DISTINCT illness) AS d FROM r GROUP BY age, city, sex, born)"
    ).fetchall()
    found = people.execute(
        "SELECT classes, exposed_classes FROM attack_homogeneity('people', 'r')"
    ).fetchall()
    assert found == wanted


ATTACKS = ["homogeneity", "inference", "skewness", "linking", "background"]


@pytest.mark.parametrize("attack", ATTACKS)
def test_what_all_attacks_refuse(clinic, attack):
    name = f"attack_{attack}"
    said = fails(clinic, f"FROM {name}('raw', 'label', quasi := ['age', 'city'])")
    assert said.startswith(f"{name}: at least one sensitive column is needed")
    said = fails(clinic, f"FROM {name}('raw', 'label', 'stage')")
    assert said.startswith(f"{name}: at least one quasi-identifier is needed")
    said = fails(clinic, f"FROM {name}('raw', 'label', 'ill', quasi := ['age'])")
    assert said.startswith(f"{name}: sensitive must name columns of the table, got 'ill'")
    said = fails(clinic, f"FROM {name}('typed', 'raw', 'stage', quasi := ['age'])")
    assert said.startswith(f"{name}: the raw table must come first and its release second")
    clinic.execute("UPDATE label SET age = '{3' WHERE age IS NULL")
    said = fails(clinic, f"FROM {name}('raw', 'label', 'stage', quasi := ['age'])")
    assert said.startswith(f"{name}: a label of age must be a number, [low, high] or *")
    clinic.execute("ALTER TABLE label DROP COLUMN illness")
    said = fails(clinic, f"FROM {name}('raw', 'label', 'illness', quasi := ['city'])")
    assert said.startswith(f"{name}: the release must have every sensitive column")
