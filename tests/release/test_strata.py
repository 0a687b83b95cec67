"""Quasi-identifiers that are not generalized: no class crosses them, and every promise holds."""

import json
from collections import Counter

import duckdb
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from tests.command import refused, run
from tests.drawing import examples
from tests.sentence import fails

METHODS = ["anonymize", "basic_mondrian", "dop", "k_member", "mondrian", "mondrian_cof", "oka"]
METHODS += ["rayden", "top_down"]
CALL = "quasi := ['age', 'city', 'sex'], identifiers := ['id', 'person'], sensitive := ['ill']"
TABLE = """
    CREATE OR REPLACE TABLE t AS
    SELECT
        i AS id, if(i % 19 = 0, NULL, (i * 7919) % 60) AS age, ['a', 'b', NULL][1 + i % 3] AS city,
        if(i % 7 = 0, NULL, i % 2) AS sex, (i * 13) % 4 AS ill, i // 2 AS person
    FROM range({rows}) AS r(i)
"""
STRATA = "SELECT city, sex::VARCHAR FROM {} ORDER BY ALL"


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@examples(6, suppress_health_check=list(HealthCheck))
@given(
    rows=st.integers(60, 200),
    k=st.integers(1, 9),
    more=st.sampled_from(
        [
            "l := 2",
            "t := 0.5",
            "beta := 2",
            "format := 'typed'",
            "suppressed := 'drop'",
            "seed := 7",
        ]
    ),
)
def test_classes_within_strata(con, method, rows, k, more):
    """Rows of a stratum stay there, in classes that are legal, or one sentence says why not."""
    con.execute(TABLE.format(rows=rows))
    call = f"{method}('t', k := {k}, {CALL}, strata := ['CITY', 'sex'], keep := ['*'], {more})"
    create = f"CREATE OR REPLACE TABLE r AS FROM {call}"
    (least,) = con.execute(
        "SELECT min(n) FROM (SELECT count(*) AS n FROM t GROUP BY city, sex)"
    ).fetchall()[0]
    if least < k or (least < 2 and more == "l := 2"):
        assert "every stratum must" in fails(con, create)
        return
    try:
        con.execute(create)
    except duckdb.Error:  # t and beta of a stratum
        assert more in ("t := 0.5", "beta := 2")
        assert "every stratum must" in fails(con, create)
        return
    if "typed" in more:
        con.execute(
            "CREATE OR REPLACE TABLE r AS SELECT * REPLACE (city[1] AS city, sex.min AS sex) FROM r"
        )
    released = con.execute("SELECT age, city, sex, ill FROM r").fetchall()
    assert min(Counter(row[:3] for row in map(str_of_age, released)).values()) >= k
    assert con.execute(STRATA.format("r")).fetchall() == con.execute(STRATA.format("t")).fetchall()
    if more == "l := 2":
        values = {}
        for *labels, ill in released:
            values.setdefault(tuple(labels), set()).add(ill)
        assert min(map(len, values.values())) >= 2


def str_of_age(row):
    return (str(row[0]), *row[1:])


def test_the_share_of_each_value_is_that_of_the_table(con):
    """t compares with the whole table, not with the stratum."""
    con.execute(TABLE.format(rows=200) + "; UPDATE t SET ill = 9 WHERE city = 'a'")
    call = f"FROM mondrian('t', k := 5, t := 0.3, {CALL}, keep := ['*'], strata := 'city')"
    assert "every stratum must satisfy k, l and t, got 1 that does not" in fails(con, call)


def test_persons_with_rows_in_two_strata(con):
    con.execute(TABLE.format(rows=240))
    call = "quasi := ['age', 'sex'], identifiers := ['id'], sensitive := 'ill', keep := ['city']"
    con.execute(
        f"CREATE TABLE r AS FROM anonymize('t', k := 4, l := 2, entity := 'person', {call}, "
        "strata := ['sex'])"
    )
    assert con.execute("SELECT sex::VARCHAR FROM r ORDER BY ALL").fetchall() == (
        con.execute("SELECT sex::VARCHAR FROM t ORDER BY ALL").fetchall()
    )
    assert con.execute("FROM audit('t', 'r', k := 4, l := 2, entity := 'person', quasi := ['age', "
                   "'sex'], sensitive := 'ill') WHERE property IN ('k', 'l', 'true_labels') AND NOT passed"
                   ).fetchall() == []  # fmt: skip


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("k := 80, strata := ['city']", "every stratum must have at least 80 rows, got 3 that do "
         "not, the smallest of 66 rows; leave a column out of strata"),
        ("strata := ['nothing']", "strata must name quasi-identifiers, got 'nothing'"),
        ("strata := ['id']", "strata must name quasi-identifiers, got 'id'"),
        ("strata := ['city', 'City']", "strata must name each column once, got 'City' twice"),
        ("strata := 3", "strata must be a list of column names, got int"),
    ],
)  # fmt: skip
def test_what_is_refused(con, given, said):
    con.execute(TABLE.format(rows=200))
    call = f"FROM anonymize('t', {CALL}, keep := ['*'], {given})"
    assert said in fails(con, call)


def test_one_stratum_is_the_release_without(con):
    """A column of one value as stratum changes nothing."""
    con.execute(TABLE.format(rows=200) + "; UPDATE t SET city = 'a'")
    for method in ("anonymize", "rayden"):
        call = f"FROM {method}('t', k := 5, {CALL}, keep := ['*']"
        assert (
            con.execute(call + ", strata := 'city')").fetchall()
            == con.execute(call + ")").fetchall()
        )


def test_strata_on_the_command_line(con, tmp_path):
    con.execute(TABLE.format(rows=200) + f"; COPY t TO '{tmp_path}/t.parquet'")
    call = ["release", tmp_path / "t.parquet", tmp_path / "r.parquet", "--quasi", "age,city,sex"]
    call += ["--identifier", "id,person", "--sensitive", "ill", "--keep", "*", "--strata", "city"]
    result = run(*call, "--manifest")
    assert result.exit_code == 0, result.output
    assert con.execute(f"SELECT count(DISTINCT city) FROM '{tmp_path}/r.parquet'").fetchall() == [
        (2,)
    ]
    written = json.loads((tmp_path / "r.parquet.anon.json").read_text("utf-8"))
    assert written["parameters"]["options"] == {"format": "label", "strata": ["city"]}
    assert "--strata must name quasi-identifiers" in refused(*call, "--strata", "x", "--overwrite")
