"""A sentence keeps its parameters as tokens, which every host spells in its own way."""

import pickle
from decimal import Decimal

import pytest

from anon_sql.apps.cli.release import release
from anon_sql.apps.cli.spelling import Options
from anon_sql.errors import (
    COMMENTS,
    PYTHON,
    SQL,
    AnonError,
    Argument,
    Parameter,
    RelationName,
    SpelledAs,
    Where,
    did_you_mean,
    joined,
    listed,
    looks_like_name,
)
from anon_sql.hosts.spark.frame import SPARK
from anon_sql.hosts.spark.register import SPARK_SQL

pytestmark = pytest.mark.quick

HOSTS = {
    "sql": SQL,
    "command": Options(release),
    "python": PYTHON,
    "spark": SPARK,
    "spark_sql": SPARK_SQL,
}
COMMENT = Where(COMMENTS, " or declare it")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (Parameter("l"), ["l", "--l", "l", "l", "l"]),
        (Parameter("quasi"), ["quasi", "--quasi", "quasi", "quasi", "quasi"]),
        (Parameter("synthetic"), ["synthetic", "synthetic", "synthetic", "synthetic", "synthetic"]),
        (
            Parameter("hierarchy", "the relation"),
            ["the relation", "--hierarchy", "the relation", "the relation", "the relation"],
        ),
        (Argument("l", 2), ["l := 2", "--l 2", "l=2", "l=2", "l => 2"]),
        (Argument("l", Decimal("2.5")), ["l := 2.5", "--l 2.5", "l=2.5", "l=2.5", "l => 2.5"]),
        (
            Argument("l_kind", "entropy"),
            [
                "l_kind := 'entropy'",
                "--l-kind entropy",
                "l_kind='entropy'",
                "l_kind='entropy'",
                "l_kind => 'entropy'",
            ],
        ),
        (
            Argument("keep", ["*"]),
            ["keep := ['*']", "--keep '*'", "keep=['*']", "keep=['*']", "keep => array('*')"],
        ),
        (
            Argument("keep", ["o'clock"]),
            [
                "keep := ['o''clock']",
                "--keep 'o'\"'\"'clock'",
                'keep=["o\'clock"]',
                'keep=["o\'clock"]',
                "keep => array('o''clock')",
            ],
        ),
        (
            Argument("quasi", ["a,b", "c"]),
            [
                "quasi := ['a,b', 'c']",
                "--quasi '\"a,b\",c'",
                "quasi=['a,b', 'c']",
                "quasi=['a,b', 'c']",
                "quasi => array('a,b', 'c')",
            ],
        ),
        (
            Argument("sensitive", ["illness", ...]),
            [
                "sensitive := ['illness', …]",
                "--sensitive illness",
                "sensitive=['illness', …]",
                "sensitive=['illness', …]",
                "sensitive => array('illness', …)",
            ],
        ),
        (
            Argument("quasi", [...]),
            ["quasi := […]", "--quasi …", "quasi=[…]", "quasi=[…]", "quasi => array(…)"],
        ),
        (Argument("like", ...), ["like := …", "--like …", "like=…", "like=…", "like => …"]),
        (
            Argument("hierarchy"),
            ["hierarchy :=", "--hierarchy", "hierarchy=", "hierarchy=", "hierarchy =>"],
        ),
        (
            Argument("weights", {"age": 2}),
            [
                "weights := MAP {'age': 2}",
                "--weights age=2",
                "weights={'age': 2}",
                "weights={'age': 2}",
                "weights => map('age', 2)",
            ],
        ),
        (
            "pass it" + COMMENT,
            ["pass it or declare it", "pass it", "pass it or declare it", "pass it", "pass it"],
        ),
        (RelationName("safe"), ["'safe'"] * 5),
        (
            joined(" and ", [Parameter("l"), Parameter("t"), "more"]),
            ["l and t and more", "--l and --t and more", *["l and t and more"] * 3],
        ),
    ],
    ids=str,
)
def test_every_host_has_its_own_spelling(words, said):
    assert [words.spelled(host) for host in HOSTS.values()] == said


def test_an_error_is_spelled_by_its_host():
    error = AnonError("rayden", Parameter("k") + " must be 1", 0, "pass " + Argument("k", 1))
    assert (error.function, error.got) == ("rayden", "0")
    assert str(error) == "rayden: k must be 1, got 0; pass k := 1"
    assert repr(error) == "AnonError('rayden: k must be 1, got 0; pass k := 1')"
    assert error.render(Options(release)) == "rayden: --k must be 1, got 0; pass --k 1"

    @SpelledAs(PYTHON)
    def fails():
        raise error

    with pytest.raises(AnonError, match=r"^rayden: k must be 1, got 0; pass k=1$"):
        fails()
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    assert error.render(SQL) == "rayden: k must be 1, got 0; pass k := 1"


def test_a_hint_that_a_host_lacks_is_left_out():
    error = AnonError("rayden", "a role is needed", None, Where(COMMENTS, "declare it"))
    assert str(error) == "rayden: a role is needed; declare it"
    assert error.render(SPARK) == "rayden: a role is needed"


@pytest.mark.parametrize(
    "text", ["got 'quasi'", "must be l := 2", "leave it out of keep", "\ue000k"]
)
def test_text_is_no_parameter(text):
    for host in HOSTS.values():
        assert AnonError("rayden", text).render(host) == f"rayden: {text}"


def test_what_looks_like_a_name():
    for name in ("o'clock", "l’âge", "'s", "age", "ill ness", "net (%)"):  # noqa: RUF001
        assert looks_like_name(name) == (name != "'s")
    for value in ("12", "o'clock 12345", "'1975-03-01'", "x" * 64, "a\nb"):
        assert not looks_like_name(value)
    assert listed(["age", "o'clock", "8.5"]) == (
        "age, o'clock and 1 column whose name looks like a value"
    )
    assert did_you_mean("oclock", ["o'clock", "k"]) == "did you mean o'clock? (o'clock, k)"
