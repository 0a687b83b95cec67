"""Weights of quasi-identifiers: 1 each changes nothing, more detail where a column weighs more."""

import json
from decimal import Decimal

import pytest

import anon_sql
from tests.command import refused, run
from tests.conftest import QUASI
from tests.sentence import fails

METHODS = ["anonymize", "basic_mondrian", "dop", "k_member", "mondrian", "mondrian_cof", "oka"]
METHODS += ["rayden", "top_down"]
NAMES = ["age", "city", "born", "sex"]
CALL = f"quasi := {NAMES}, sensitive := 'illness'"
TREE = """
    CREATE TABLE h AS SELECT * FROM (VALUES
        ('city', 'Accra', 1, 'S'), ('city', 'Bonn', 1, 'N'), ('city', 'Cape Town', 1, 'S'),
        ('city', 'Delhi', 1, 'N'), ('city', 'Accra', 2, '*'), ('city', 'Bonn', 2, '*'),
        ('city', 'Cape Town', 2, '*'), ('city', 'Delhi', 2, '*')
    ) AS v (attribute, value, level, label)
"""
LOSS = "SELECT attribute, ncp FROM attribute_loss('{raw}', '{released}', quasi := {names})"


def losses(con, raw, released, names=NAMES):
    query = LOSS.format(raw=raw, released=released, names=list(names))
    return dict(con.execute(query).fetchall())


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("weight", "more"), [(1, ""), (7.3, ", l := 2, hierarchy := 'h'")])
def test_equal_weights_are_none(people, method, weight, more):
    people.execute(TREE)
    plain = people.execute(f"FROM {method}('people', k := 6, {CALL}{more})").fetchall()
    given = f"MAP {{{', '.join(f'{name!r}: {weight}' for name in NAMES)}}}"
    call = f"FROM {method}('people', k := 6, {CALL}{more}, weights := {given})"
    assert people.execute(call).fetchall() == plain


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_legal_true_and_of_more_detail(people, method):
    """A column that weighs much loses less than without; the release is as legal as any."""
    people.execute(f"CREATE TABLE plain AS FROM {method}('people', k := 6, {CALL}, l := 2)")
    before = losses(people, "people", "plain")
    heavier = 0
    for name in ("age", "city", "born"):
        people.execute(
            f"CREATE OR REPLACE TABLE r AS FROM {method}('people', k := 6, {CALL}, l := 2, "
            f"weights := MAP {{{name.upper()!r}: 20}})"
        )
        heavier += losses(people, "people", "r")[name] <= before[name]
    failed = people.execute(
        f"FROM audit('people', 'r', k := 6, l := 2, quasi := {NAMES}, sensitive := 'illness') "
        "WHERE property IN ('k', 'l', 'true_labels', 'rows') AND NOT passed"
    )
    assert failed.fetchall() == []
    assert heavier >= (1 if method == "dop" else 2)  # dop's default loss counts numbers alone


def test_canon(people):
    """The columns of canon, which takes numbers alone."""
    names = ["age", "born"]
    call = f"quasi := {names}, keep := ['city', 'sex']"
    people.execute(f"CREATE TABLE plain AS FROM canon('people', {call})")
    equal = f"FROM canon('people', {call}, weights := MAP {{'age': 2, 'born': 2}})"
    assert people.execute(equal).fetchall() == people.execute("FROM plain").fetchall()
    people.execute(f"CREATE TABLE r AS FROM canon('people', {call}, weights := MAP {{'born': 9}})")
    assert (
        losses(people, "people", "r", names)["born"]
        < (losses(people, "people", "plain", names)["born"])
    )


@pytest.mark.parametrize("method", ["anonymize", "top_down", "rayden", "mondrian"])
def test_a_column_of_weight_0_is_none(people, method):
    """The classes are those that the other columns make."""
    zero = f"FROM {method}('people', k := 6, {CALL}, weights := MAP {{'born': 0, 'age': 0}})"
    people.execute(f"CREATE TABLE r AS {zero}")
    found = losses(people, "people", "r")
    assert max(found[name] for name in ("city", "sex")) < found["born"]
    assert people.sql("SELECT min(n) FROM (SELECT count(*) AS n FROM r GROUP BY ALL)")


@pytest.mark.slow
def test_doubling_a_weight_never_raises_the_loss_on_adult(adult):
    """Five seeds of effort 'best', whose other efforts draw nothing; rows of Adult."""
    adult.execute("CREATE TABLE part AS FROM adult WHERE hash(fnlwgt) % 40 = 0")
    call = f"anonymize('part', k := 10, quasi := {QUASI}, keep := ['*']"
    for seed in range(5):
        how = f"seed := {seed}, effort := 'best', rounds := 1"
        adult.execute(f"CREATE OR REPLACE TABLE plain AS FROM {call}, {how})")
        before = losses(adult, "part", "plain", QUASI)
        name = QUASI[seed]
        doubled = f"{call}, {how}, weights := MAP {{'{name}': 2}})"
        adult.execute(f"CREATE OR REPLACE TABLE r AS FROM {doubled}")
        assert losses(adult, "part", "r", QUASI)[name] <= before[name]


def test_hostile_names(con):
    names = ['a"b', "c.d", "MAP", "été", "it's", "key", "value"]
    columns = ", ".join(f'(i * {at + 3}) % 11 AS "{n.replace(chr(34), chr(34) * 2)}"'
                        for at, n in enumerate(names))  # fmt: skip
    con.execute(f"CREATE TABLE t AS SELECT {columns} FROM range(60) AS r(i)")
    weights = dict(zip(names, (Decimal("0.5"), 2, 1, 0, 3, 1, 4), strict=True))
    query = "FROM anonymize('t', k := 4, quasi := $names, weights := $weights)"
    for given in (weights, {"key": list(weights), "value": [float(w) for w in weights.values()]}):
        assert len(con.execute(query, {"names": names, "weights": given}).fetchall()) == 60


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("MAP {'agee': 2}", "weights must name quasi-identifiers, got 'agee'; did you mean age?"),
        ("MAP {'illness': 2}", "weights must name quasi-identifiers, got 'illness'"),
        ("MAP {'age': 2, 'AGE': 1}", "weights must name each column once, got 'AGE' twice"),
        ("MAP {'age': -1}", "weights must be finite numbers of at least 0, got -1 for 'age'"),
        ("MAP {'age': 'nan'::DOUBLE}", "numbers of at least 0, got nan for 'age'"),
        ("MAP {'age': 'inf'::DOUBLE}", "numbers of at least 0, got inf for 'age'"),
        ("MAP {'age': NULL}", "numbers of at least 0, got NULL for 'age'"),
        ("MAP {'age': '2'}", "numbers of at least 0, got a VARCHAR for 'age'"),
        ("MAP {'age': true}", "numbers of at least 0, got a BOOLEAN for 'age'"),
        (f"MAP {{{', '.join(f'{n!r}: 0' for n in NAMES)}}}",
         "a quasi-identifier must have a weight above 0, got 0 for every one"),
        ("3", "weights must be a MAP from column names to numbers, got 3"),
        ("['age']", "weights must be a MAP from column names to numbers, got a list"),
        ("MAP {1: 2}", "weights must be a MAP from column names to numbers, got a list"),
    ],
)  # fmt: skip
def test_what_is_refused(people, given, said):
    assert said in fails(people, f"FROM mondrian('people', {CALL}, weights := {given})")


def test_methods_without_weights(people):
    people.execute(TREE)
    for call in ("datafly('people', hierarchy := 'h', ", "sdka('people', "):
        assert "does not support the supplied arguments" in fails(
            people, f"FROM {call}{CALL}, weights := MAP {{'age': 2}})"
        )


@pytest.mark.parametrize("method", ["anonymize", "rayden"])
def test_tradeoff(people, method):
    figures = []
    for weights in ("NULL", "MAP {'age': 5, 'city': 0}"):
        given = f"k := 6, weights := {weights}"
        people.execute(f"CREATE OR REPLACE TABLE r AS FROM {method}('people', {given})")
        said = people.execute(f"SELECT gcp, classes FROM utility('people', 'r', {given})")
        ((gcp, classes),) = said.fetchall()
        call = f"'people', method := '{method}', ks := [6], ls := [1], weights := {weights}"
        found = people.execute(f"SELECT gcp, classes, query_error FROM tradeoff({call})")
        figures += found.fetchall()
        assert figures[-1][:2] == (pytest.approx(gcp, rel=1e-12), classes)
    assert figures[0][2] != figures[1][2]


def test_on_the_command_line(people, tmp_path):
    people.execute(f"COPY people TO '{tmp_path}/people.csv'")
    call = ["release", f"{tmp_path}/people.csv", f"{tmp_path}/r.csv", "--quasi", "age,city"]
    call += ["--identifier", "person_id", "--keep", "*", "--unique-share", "1"]
    call += ["--weights", "age=3,City=0.5"]
    run(*call, "--manifest")
    written = json.loads((tmp_path / "r.csv.anon.json").read_text("utf-8"))
    matter = {"age": 3, "City": 0.5}
    assert written["parameters"]["options"] == {"format": "label", "weights": matter}
    measures = written["measures"]
    assert measures["gcp"] != pytest.approx(measures["weighted_gcp"])
    verify = ["verify", f"{tmp_path}/r.csv", "--raw", f"{tmp_path}/people.csv"]
    assert run(*verify).exit_code == 0
    for changed, said in ((0.0, "measures: as written (weighted_gcp)"), (None, "holds")):
        other = {**measures, "weighted_gcp": changed}
        if changed is None:  # as earlier versions wrote it
            del other["weighted_gcp"]
        text = json.dumps({**written, "measures": other})
        (tmp_path / "r.csv.anon.json").write_text(text, "utf-8")
        assert said in (run(*verify).stdout if changed is None else refused(*verify))
    again = [*call[:-1], "age", "--overwrite"]
    assert "--weights must be a column, = and a number, each column once, got 'age'" in (
        refused(*again)
    )
    again[-2] = "ages=3"
    assert "--weights must name quasi-identifiers, got 'ages'; did you mean age?" in refused(*again)


def test_in_parts(people):
    """A release in parts takes weights, and refuses what one statement refuses."""
    call = {"quasi": NAMES, "sensitive": ["illness"], "k": 5}
    for name, weights in (("plain", None), ("r", {"born": 16})):
        anon_sql.release(
            people, "people", into=name, method="mondrian", part_rows=120, weights=weights, **call
        )
    assert losses(people, "people", "r")["born"] < losses(people, "people", "plain")["born"]
    with pytest.raises(anon_sql.AnonError, match="weights must name quasi-identifiers"):
        anon_sql.release(people, "people", into="x", weights={"nothing": 2}, **call)
