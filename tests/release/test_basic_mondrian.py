"""Basic Mondrian: the paper's table, cuts along trees, and Adult with its hierarchies."""

from collections import Counter

import pytest

from tests.oracles import quoted
from tests.test_hierarchical import hierarchy

QUASI = [
    "age",
    "workclass",
    "education",
    "marital_status",
    "occupation",
    "race",
    "sex",
    "native_country",
]
KEPT = "relationship education_num fnlwgt capital_gain capital_loss hours_per_week income split".split()


def test_the_patients_of_lefevre(con):
    """LeFevre et al. 2006, figures 1 and 2: k = 2, multidimensional, the first cut by sex."""
    con.execute(
        "CREATE TABLE patients AS SELECT * FROM (VALUES ('Male', 25, 53711), ('Female', 25, 53712), "
        "('Male', 26, 53711), ('Male', 27, 53710), ('Female', 27, 53712), ('Male', 28, 53711)) "
        "AS v(sex, age, zipcode)"
    )
    rows = con.execute(
        "FROM basic_mondrian('patients', k := 2, quasi := ['sex', 'age', 'zipcode'])"
    ).fetchall()
    assert Counter(rows) == {
        ("Male", "[25, 26]", "53711"): 2,
        ("Female", "[25, 27]", "53712"): 2,
        ("Male", "[27, 28]", "[53710, 53711]"): 2,
    }


JOBS = {
    "nurse": ["health", "*"],
    "doctor": ["health", "*"],
    "clerk": ["office", "*"],
    "lawyer": ["office", "*"],
    "judge": ["office", "*"],
}


@pytest.mark.parametrize(
    ("rows", "wanted"),
    [
        # the root into its two children; health into its leaves, office not: judge stands alone
        ("nurse nurse doctor doctor clerk clerk judge", {"nurse": 2, "doctor": 2, "office": 3}),
        # the second child would be left with one row: no cut, although the first has enough
        ("nurse nurse doctor doctor clerk", {"*": 5}),
        # a child without rows is no obstacle, and the node reached is the lowest
        ("clerk clerk lawyer lawyer judge judge", {"clerk": 2, "lawyer": 2, "judge": 2}),
        ("clerk lawyer", {"office": 2}),
    ],
)
def test_a_node_is_replaced_by_its_children_where_each_has_k_rows(con, rows, wanted):
    hierarchy(con, {"job": JOBS})
    con.execute(f"CREATE TABLE t AS SELECT unnest({rows.split()}) AS job")
    found = con.execute(
        "FROM basic_mondrian('t', k := 2, quasi := ['job'], hierarchy := 'h')"
    ).fetchall()
    assert Counter(job for (job,) in found) == wanted


def test_null_is_cut_off_where_both_sides_have_k_rows(con):
    hierarchy(con, {"job": JOBS})
    con.execute("CREATE TABLE t AS SELECT unnest(['nurse', 'nurse', NULL, NULL]) AS job")
    call = "FROM basic_mondrian('{}', k := 2, quasi := ['job'], hierarchy := 'h')"
    assert Counter(con.execute(call.format("t")).fetchall()) == {("nurse",): 2, (None,): 2}
    con.execute("CREATE TABLE u AS SELECT unnest(['nurse', 'nurse', NULL]) AS job")
    assert Counter(con.execute(call.format("u")).fetchall()) == {("*",): 3}


@pytest.mark.parametrize(
    "k", [5, *(pytest.param(k, marks=pytest.mark.slow) for k in (10, 25, 50, 100))]
)
def test_adult_with_its_hierarchies(con, shared_data, k):
    con.execute(f"CREATE TABLE adult AS FROM '{shared_data}/adult.parquet'")
    con.execute(f"CREATE TABLE h AS FROM read_hierarchies('{shared_data}/hierarchies/adult/*.csv')")
    con.execute(
        f"CREATE TABLE r AS FROM basic_mondrian('adult', k := {k}, quasi := {QUASI}, "
        f"keep := {KEPT}, hierarchy := 'h')"
    )
    found = con.execute(f"SELECT count(*) FROM r GROUP BY {quoted(QUASI)}").fetchall()
    sizes = [size for (size,) in found]
    assert min(sizes) >= k
    assert sum(sizes) == 48_842
    loss, smallest = con.execute(
        f"SELECT gcp('adult', 'r', quasi := {QUASI}, hierarchy := 'h'), "
        f"k_anonymity('adult', 'r', quasi := {QUASI}, hierarchy := 'h')"
    ).fetchall()[0]
    assert smallest == min(sizes)
    assert loss < {5: 0.16, 10: 0.27, 25: 0.39, 50: 0.46, 100: 0.52}[k]
