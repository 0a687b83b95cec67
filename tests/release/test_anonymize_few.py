"""anonymize of a small table: 'good' searches, and no other method loses less."""

import numpy as np
import pyarrow as pa
import pytest

from anon_sql.core.running import Workers
from anon_sql.methods import anonymize as method
from anon_sql.methods.searching_few import evenly, improve_few, untried
from tests.method.test_improving import gcp, made, runs
from tests.release.test_anonymize import fingerprint

HEART = {(6, 3): 0.0600, (6, 5): 0.1037, (8, 3): 0.0845, (8, 5): 0.1379, (8, 10): 0.2317}


def few(*cases, first):
    """The cases, all but the first few of them slow."""
    return [
        pytest.param(*case, marks=[pytest.mark.slow] * (at >= first))
        for at, case in enumerate(cases)
    ]


def losses(con, table, k, qids, rest=""):
    """The GCP of every method that can release the table, by name."""
    found = con.execute(
        f"SELECT method, gcp FROM compare('{table}', ks := [{k}], qids := {qids}{rest}) "
        "WHERE gcp IS NOT NULL"
    ).fetchall()
    assert len(found) > 6
    return dict(found)


@pytest.mark.parametrize(("columns", "k"), few(*HEART, first=1))
def test_no_method_loses_less_on_heart(con, shared_data, columns, k):
    path = f"{shared_data}/heart_cleveland.parquet"
    qids = con.sql(f"FROM '{path}'").columns[:columns]
    found = losses(con, path, k, qids, ", keep := ['*']")
    own = found.pop("anonymize")
    assert own < min(found.values())
    assert own == pytest.approx(HEART[columns, k], rel=0.01)


@pytest.mark.parametrize(
    ("name", "k"),
    few(
        *(("student_mat", 10), ("student_mat", 3), ("student_por", 10), ("student_por", 3)), first=1
    ),
)
def test_no_method_loses_less_on_student(con, shared_data, name, k):
    path = f"{shared_data}/{name}.parquet"
    found = losses(con, path, k, con.sql(f"FROM '{path}'").columns[:7], ", keep := ['*']")
    assert min(found, key=found.get) == "anonymize"


ASKED = {
    "k": "",
    "weights": ", weights := {'age': 2, 'city': 0.5}",
    "l": ", l := 2",
    "t": ", t := 0.3",
    "entity": ", entity := 'person'",
}


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize(("rows", "k"), few((40, 3), (120, 10), (40, 10), (200, 3), first=2))
def test_no_method_loses_less_on_a_small_table(con, rows, asked, k):
    con.execute(
        "CREATE TABLE few AS SELECT 18 + (hash(i) % 60 + hash(i + 7) % 12)::INTEGER AS age, "
        "'c' || hash(i * 3 + 1) % 6 AS city, nullif(hash(i * 5 + 2) % 9, 0)::INTEGER AS code, "
        "exp((hash(i + 3) % 100) / 20.0) AS pay, ['a', 'b', 'c'][1 + (hash(i + 11) % 3)::INT] AS ill, "
        f"hash(i + 13) % {rows * 3 // 4} AS person FROM range({rows}) AS made(i)"
    )
    rest = ", sensitive := ['ill'], keep := ['*']" + ASKED[asked]
    found = losses(con, "few", k, ["age", "city", "code", "pay"], rest)
    assert found["anonymize"] <= min(found.values()) + 1e-9


def test_more_effort_never_loses_more_and_good_makes_no_random_choice(people):
    def loss(call):
        people.execute(f"CREATE OR REPLACE TABLE r AS FROM anonymize('people', k := 4, {call})")
        return people.execute("SELECT gcp('people', 'r')").fetchall()[0][0]

    fast, good = loss("effort := 'fast'"), loss("effort := 'good'")
    assert loss("effort := 'best', rounds := 2") <= good + 1e-12
    assert good < 0.97 * fast
    found = []
    for threads, seed in ((1, 1), (2, 2), (3, 3)):
        people.execute(f"SET threads = {threads}")
        found.append(fingerprint(people, f"anonymize('people', k := 4, seed := {seed})"))
    assert found[0] == found[1] == found[2]


LARGER = [
    "",
    ", strata := ['sex']",
    ", suppression_limit := 0.05",
    ", sensitive := ['ill'], l := 2",
    ", sensitive := ['ill'], l := 2, strata := ['sex']",
]


@pytest.mark.parametrize("rest", LARGER)
def test_a_table_of_more_rows_is_released_as_without_the_search(con, monkeypatch, rest):
    """So are its strata, and what is left of it after suppression; of 801 rows, here of 121."""
    assert method.SMALL == 800
    monkeypatch.setattr(method, "SMALL", 120)
    con.execute(
        "CREATE TABLE t AS SELECT (hash(i) % 60)::INTEGER AS age, 'c' || hash(i * 3) % 9 AS city, "
        "['f', 'm'][1 + i % 2] AS sex, 'i' || hash(i * 7) % 3 AS ill FROM range(121) AS made(i)"
    )
    call = f"FROM anonymize('{{}}', k := 3, qids := ['age', 'city', 'sex'], keep := ['*']{rest})"
    con.execute("CREATE TABLE small AS FROM t LIMIT 120")
    found = [con.execute(call.format(name)).fetchall() for name in ("t", "small")]
    monkeypatch.setattr(method, "SMALL", 0)
    without = [con.execute(call.format(name)).fetchall() for name in ("t", "small")]
    assert found[0] == without[0]
    assert found[1] != without[1]


@pytest.mark.parametrize(("n", "k"), [(9, 4), (7, 4), (8, 4), (40, 2), (40, 20), (97, 5), (2, 1)])
def test_improved_classes_have_k_to_2k_less_one_rows_and_lose_no_more(n, k):
    t = made(n)
    classes = runs(t, k)
    found = improve_few(t, classes, k, Workers("t"))
    sizes = np.bincount(found)
    assert (len(found), sizes.min() >= k, sizes.max() <= 2 * k - 1) == (n, True, True)
    assert gcp(t.points, t.model, found) <= gcp(t.points, t.model, classes) + 1e-12


def test_equal_rows_and_columns_of_nulls_are_no_obstacle():
    t = made(30, x=pa.array([None] * 30, pa.float64()), y=pa.array(["a"] * 30))
    assert gcp(t.points, t.model, improve_few(t, runs(t, 4), 4, Workers("t"))) == 0


def test_numbers_of_classes_are_tried_from_far_to_near_and_then_again():
    tried, found = {8}, []
    at, step = 8, 2
    for _ in range(6):
        at_, step = untried(at, step, tried, (6, 10))
        found.append(at_)
    assert found == [10, 6, 9, 7, 9, 7]


def test_even_classes_keep_the_order_of_classes():
    assert evenly(np.array([1, 0, 1, 0, 2, 2]), 2).tolist() == [0, 0, 1, 0, 1, 1]
