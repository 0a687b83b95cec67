"""Datafly: the paper's table step by step, suppression, and Adult with its hierarchies."""

from collections import Counter

import duckdb
import pytest

from tests.inserting import insert
from tests.oracles import quoted
from tests.release.test_basic_mondrian import KEPT, QUASI
from tests.sentence import fails
from tests.test_hierarchical import hierarchy

# Sweeney 2002, figure 4 of "Achieving k-anonymity …": k = 2.
PATIENTS = """
    black 1965-09-20 male 02141; black 1965-02-14 male 02141; black 1965-10-23 female 02138
    black 1965-08-24 female 02138; black 1964-11-07 female 02138; black 1964-12-01 female 02138
    white 1964-10-23 male 02138; white 1965-03-15 female 02139; white 1964-08-13 male 02139
    white 1964-05-05 male 02139; white 1967-02-13 male 02138; white 1967-03-21 male 02138
"""
NAMES = ["race", "birth", "sex", "zip"]


@pytest.fixture
def patients(con):
    rows = [row.split() for line in PATIENTS.strip().splitlines() for row in line.split(";")]
    con.execute("CREATE TABLE patients (race VARCHAR, birth DATE, sex VARCHAR, zip VARCHAR)")
    insert(con, "patients", rows)
    con.execute(
        "CREATE TABLE h AS FROM date_hierarchy('patients', 'birth', ['year']) "
        "UNION ALL FROM prefix_hierarchy('patients', 'zip', [4]) "
        "UNION ALL SELECT 'race', unnest(['black', 'white']), 1, '*' "
        "UNION ALL SELECT 'sex', unnest(['male', 'female']), 1, '*'"
    )
    return con


def run(con, **more):
    given = "".join(f", {name} := {value!r}" for name, value in more.items())
    call = f"FROM datafly('patients', k := 2, quasi := {NAMES}, hierarchy := 'h'{given})"
    return Counter(con.execute(call).fetchall())


def test_the_table_of_sweeney(patients):
    """Dates have twelve values and go up to years; two rows are left and suppressed."""
    assert run(patients) == {
        ("black", "1965", "male", "02141"): 2,
        ("black", "1965", "female", "02138"): 2,
        ("black", "1964", "female", "02138"): 2,
        ("white", "1964", "male", "02139"): 2,
        ("white", "1967", "male", "02138"): 2,
        ("*", "*", "*", "*"): 2,
    }


def test_without_suppression_it_goes_on(patients):
    """Years and zip codes tie at three values, then race and sex at two: the first one goes up."""
    wanted = {
        ("*", "*", "male", "0214*"): 2,
        ("*", "*", "female", "0213*"): 5,
        ("*", "*", "male", "0213*"): 5,
    }
    assert run(patients, suppression_limit=0) == wanted
    assert run(patients, suppression_limit=1 / 13) == wanted
    one = run(patients, suppression_limit=1 / 12)  # a row is left, and the rows of a class join it
    assert one["*", "*", "*", "*"] == 3
    assert one["black", "*", "female", "02138"] == 4
    assert run(patients, suppression_limit=2 / 12) == run(patients)
    assert run(patients, suppression_limit=1.0) == {("*", "*", "*", "*"): 12}


def test_suppressed_rows_are_a_class_or_left_out(patients):
    """One row alone may not be shown as *: the rows of the smallest class join it."""
    patients.execute("DELETE FROM patients WHERE birth = DATE '1965-03-15'")
    found = run(patients)
    assert found["*", "*", "*", "*"] == 3
    assert sum(found.values()) == 11
    assert min(found.values()) >= 2
    found = run(patients, suppressed="drop")
    assert sum(found.values()) == 10
    assert ("*", "*", "*", "*") not in found


def test_a_column_is_generalized_as_a_whole(con):
    """A class that agrees on a value shows the level of all others; NULL is a value below the root."""
    hierarchy(con, {"s": {v: ["AB" if v in "ab" else "CD", "*"] for v in "abcd"}})
    con.execute("CREATE TABLE t AS SELECT unnest(['a', 'b', 'c', 'c', NULL, NULL]) AS s")
    call = "FROM datafly('t', k := 2, quasi := ['s'], hierarchy := 'h', suppression_limit := 0)"
    assert Counter(con.execute(call).fetchall()) == {("AB",): 2, ("CD",): 2, (None,): 2}
    con.execute("INSERT INTO t VALUES ('b'), ('d')")
    con.execute("DELETE FROM t WHERE s IS NULL")
    con.execute("INSERT INTO t VALUES (NULL)")
    assert Counter(con.execute(call).fetchall()) == {("*",): 7}


def test_every_quasi_identifier_needs_a_hierarchy(con):
    con.execute("CREATE TABLE t AS SELECT i % 2 AS a, i % 3 AS b, i % 2 AS c FROM range(9) AS r(i)")
    hierarchy(con, {"c": {"0": ["*"], "1": ["*"]}})
    for given in ("", ", hierarchy := 'h'"):
        said = fails(con, f"FROM datafly('t', k := 2, quasi := ['a', 'b', 'c']{given})")
        assert said == (
            "datafly: every quasi-identifier needs a hierarchy, got no hierarchy for "
            f"{'a, b' if given else 'a, b, c'}; add one, or use basic_mondrian, which takes columns without"
        )


@pytest.mark.parametrize("limit", ["1.5", "-0.1", "'all'", "true"])
def test_the_limit_is_a_share(patients, limit):
    with pytest.raises(
        duckdb.Error, match="datafly: suppression_limit must be a number of at least 0"
    ):
        patients.execute(
            f"FROM datafly('patients', quasi := {NAMES}, hierarchy := 'h', suppression_limit := {limit})"
        ).fetchall()


@pytest.mark.parametrize("k", [5, pytest.param(100, marks=pytest.mark.slow)])
def test_adult_with_its_hierarchies(con, shared_data, k):
    con.execute(f"CREATE TABLE adult AS FROM '{shared_data}/adult.parquet'")
    con.execute(f"CREATE TABLE h AS FROM read_hierarchies('{shared_data}/hierarchies/adult/*.csv')")
    con.execute(
        f"CREATE TABLE r AS FROM datafly('adult', k := {k}, quasi := {QUASI}, keep := {KEPT}, "
        "hierarchy := 'h')"
    )
    found = con.execute(f"SELECT {quoted(QUASI)}, count(*) FROM r GROUP BY ALL").fetchall()
    sizes = {row[:-1]: row[-1] for row in found}
    assert min(sizes.values()) >= k
    assert sum(sizes.values()) == 48_842
    listed = con.execute("SELECT DISTINCT attribute, label, level FROM h").fetchall()
    for at, name in enumerate(QUASI):  # one level a column, save for suppressed rows and NULL
        shown = {row[at] for row in sizes if row != ("*",) * len(QUASI)} - {None}
        known = {level for of, label, level in listed if of == name and label in shown - {"*"}}
        assert len(known) <= 1
        assert shown == {"*"} or "*" not in shown


@pytest.mark.slow
def test_hierarchies_with_faults_on_adult(con, shared_data):
    """They lack the age 89 and call one child of a root by two names, which is no fault of a tree."""
    con.execute(f"CREATE TABLE adult AS FROM '{shared_data}/adult.parquet'")
    con.execute(
        f"CREATE TABLE h AS FROM read_hierarchies('{shared_data}/hierarchies/adult_anjana/*.csv')"
    )
    call = f"FROM datafly('adult', k := 10, quasi := {QUASI}, keep := {KEPT}, hierarchy := 'h')"
    assert fails(con, call) == (
        "datafly: the hierarchy must cover every value of age, got 1 value that it lacks; "
        "check_hierarchy() lists them"
    )
    con.execute("INSERT INTO h SELECT attribute, '89', level, label FROM h WHERE value = '88'")
    con.execute(f"CREATE TABLE r AS {call}")
    sizes = con.execute(f"SELECT count(*) FROM r GROUP BY {quoted(QUASI)}").fetchall()
    assert min(size for (size,) in sizes) >= 10
    quasi = f"quasi := {QUASI}, hierarchy := 'h'"
    assert con.execute(f"SELECT k_anonymity('adult', 'r', {quasi}) >= 10").fetchall() == [(True,)]
