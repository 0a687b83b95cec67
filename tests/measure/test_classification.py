"""classification: what a model learns from raw values and from labels."""

import sys

import pyarrow as pa
import pytest

from anon_sql.measures.loss import AttributeDomain
from anon_sql.queries.classify import Encoder, labels, values
from tests.sentence import fails

MODELS = ["random_forest", "knn", "svm", "naive_bayes"]


@pytest.fixture
def learnable(con):
    """Illness follows from age and city, save for one row in ten."""
    con.execute(
        """
        CREATE TABLE t AS
        SELECT age, city, if((age > 45 OR city = 'Bonn') <> (i % 10 = 3), 'ill', 'well') AS illness
        FROM (
            SELECT i, 20 + i * 7919 % 60 AS age, ['Accra', 'Bonn', 'Delhi'][1 + i * i % 7 % 3] AS city
            FROM range(600) AS made(i))
        """
    )
    return con


def ask(con, released, rest="", quasi="['age', 'city']"):
    call = f"'t', '{released}', target := 'illness', quasi := {quasi}{rest}"
    return con.execute(f"FROM classification({call})").fetchall()


@pytest.mark.parametrize("model", MODELS)
def test_the_same_data_teach_the_same(learnable, model):
    """k = 1: same values, same split, same scores; k > 1 in both formats alike."""
    for name, k, form in [("one", 1, "label"), ("six", 6, "label"), ("typed", 6, "typed")]:
        learnable.execute(
            f"CREATE TABLE {name} AS FROM rayden('t', k := {k}, quasi := ['age', 'city'], "
            f"keep := ['illness'], format := '{form}')"
        )
    raw, released = ask(learnable, "one", f", model := '{model}'")
    assert (raw[0], released[0]) == ("raw", "released")
    assert raw[1:] == released[1:]
    assert raw[3] + raw[4] == 600
    assert raw[4] == 180
    assert raw[1] > 0.7
    six, typed = (ask(learnable, name, f", model := '{model}'") for name in ("six", "typed"))
    assert six == typed
    assert six[1][1] > 0.6
    assert six[1:] == ask(learnable, "six", f", model := '{model}', baseline := 'none'")


def test_accuracy_and_f_measure_by_hand(learnable):
    """One column that tells all, and one value that nothing tells."""
    learnable.execute(
        "CREATE OR REPLACE TABLE t AS SELECT i % 2 AS age, if(i % 2 = 0, 'a', 'b') AS illness FROM range(100) AS r(i)"
    )
    learnable.execute("CREATE TABLE r AS SELECT '[0, 1]' AS age, illness FROM t")
    found = ask(learnable, "r", ", model := 'naive_bayes', positive := 'b'", "['age']")
    assert found[0][1:] == (1.0, 1.0, 70, 30)
    assert found[1][1] == 0.5


def test_what_cannot_be_learned(learnable, monkeypatch):
    learnable.execute(
        "CREATE TABLE r AS FROM rayden('t', k := 3, quasi := ['age', 'city'], keep := ['illness'])"
    )

    def call(rest):
        return fails(learnable, f"FROM classification('t', 'r', quasi := ['age', 'city'], {rest})")

    assert call("target := 'ilness'") == (
        "classification: target must name a column of the raw table, got 'ilness'; "
        "did you mean illness? (age, city, illness)"
    )
    assert call("target := 'city'").startswith("classification: target must be a column that")
    assert call("target := 'illness', model := 'x'").startswith("classification: model must be one")
    assert call("target := 'illness', held_out := 0").startswith("classification: held_out must")
    assert call("target := 'illness', baseline := 'x'").startswith("classification: baseline must")
    monkeypatch.setitem(sys.modules, "sklearn.svm", None)
    assert call("target := 'illness'") == (
        "classification: scikit-learn must be installed; pip install 'anon-sql[ml]'"
    )


def column(kind, words=()):
    """Numbers from 0 to 40, or words."""
    return AttributeDomain("x", kind, kind != "VARCHAR", 0.0, 20.0, tuple(words), False)


def test_features():
    middles = labels(column("INTEGER"), pa.array(["[10, 20]", "17", "*", None]))
    assert middles == [15, 17, None, None]
    text = column("VARCHAR", "abc")
    assert labels(text, pa.array(["{a, b}", "a", "*"])) == [("a", "b"), ("a",), None]
    assert labels(text, pa.array([["a", "c"], [], None])) == [("a", "c"), None, None]
    assert values(text, pa.array(["*", "{a, b}"])) == [("*",), ("{a, b}",)]
    days = labels(column("DATE"), pa.array(["[1970-01-01, 1970-01-03]"]))
    assert days == [86400e6]


def test_what_a_wider_label_covers_of_the_domain_is_a_feature():
    assert labels(column("INTEGER"), pa.array(["[30, 90]", "[-20, 20]"])) == [35, 10]
    assert labels(column("VARCHAR", "ab"), pa.array(["{a, b, zzz}"])) == [("a", "b")]


def test_an_encoder_knows_the_training_part_alone():
    encoder = Encoder([("a",), ("b",), ("a", "b")])
    assert encoder.encode([("a", "z"), ("z",), None]).tolist() == [[0.5, 0], [0, 0], [0.5, 0.5]]
    numbers = Encoder([1.0, 3.0])
    assert numbers.encode([3.0, None, 5.0]).tolist() == [[1], [0], [3]]
