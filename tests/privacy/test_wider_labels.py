"""Labels that were widened after the release: true where they cover their values."""

import json

import pytest

from tests.command import run
from tests.privacy.test_audit import audit, failed
from tests.sentence import fails

GIVEN = "quasi := ['age', 'city'], sensitive := 'ill'"
LISTS = {"quasi": ["age", "city"], "sensitive": ["ill"]}
FORMS = ("label", "typed")
MEASURES = [
    *("gcp", "iloss", "dm", "dm_star", "cavg", "k_anonymity", "l_diversity", "suppression_rate"),
    *("t_closeness",),
]


@pytest.fixture
def old(con):
    """``t``, its release ``r`` and the same with wider labels, ``w``, in both formats."""
    con.execute(
        "CREATE TABLE t AS SELECT [17, 30, 80, 97][1 + i % 4] AS age, "
        "if(i % 4 < 2, 'c', 'ab'[1 + i % 2]) AS city, 'xyz'[1 + i % 3] AS ill FROM range(24) r(i)"
    )
    for form in FORMS:
        con.execute(
            f"CREATE TABLE r_{form} AS FROM mondrian('t', k := 12, {GIVEN}, format := '{form}')"
        )
    con.execute("CREATE TABLE w_label AS FROM r_label; CREATE TABLE w_typed AS FROM r_typed")
    con.execute("UPDATE w_label SET age = '[80, 120]', city = '{a, b, zzz}' WHERE city <> 'c'")
    con.execute(
        "UPDATE w_typed SET age = {'min': 80, 'max': 120}, city = ['a', 'b', 'zzz'] WHERE len(city) = 2"
    )
    assert con.execute("SELECT DISTINCT age, city FROM w_label ORDER BY age").fetchall() == [
        ("[17, 30]", "c"),
        ("[80, 120]", "{a, b, zzz}"),
    ]
    return con


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("measure", MEASURES)
def test_a_wider_label_counts_what_it_covers_of_the_domain(old, measure, form):
    given = GIVEN.partition(", sens")[0] if measure not in ("l_diversity", "t_closeness") else GIVEN
    found = [
        old.execute(f"SELECT {measure}('t', '{name}_{form}', {given})").fetchone() for name in "rw"
    ]
    assert found[0] == found[1]


@pytest.mark.parametrize("form", FORMS)
def test_a_label_wider_than_the_domain_loses_one(old, form):
    age, city = {
        "label": ("'[0, 1000]'", "'{Rome, a, b, c, zzz}'"),
        "typed": ("{'min': 0, 'max': 1000}", "['Rome', 'a', 'b', 'c', 'zzz']"),
    }[form]
    old.execute(f"UPDATE w_{form} SET age = {age}, city = {city}")
    found = old.execute(
        f"FROM attribute_loss('t', 'w_{form}', quasi := ['age', 'city'])"
    ).fetchall()
    assert [row[-1] for row in found] == [1, 1]
    assert failed(old, f"w_{form}", "t", 12, **LISTS) == {}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "call",
    [
        "utility('t', '{}', quasi := ['age', 'city'])",
        "attribute_loss('t', '{}', quasi := ['age', 'city'])",
        "query_error('t', '{}', ['SELECT count(*) FROM t WHERE age >= 90', "
        "'SELECT count(*) FROM t WHERE city = ''a'' AND age < 100'], quasi := ['age', 'city'])",
        "workload_error('t', '{}', ['SELECT count(*) FROM t WHERE age >= 90'], quasi := ['age', 'city'])",
        f"attack_linking('t', '{{}}', {GIVEN})",
        f"attack_background('t', '{{}}', {GIVEN})",
        f"attack_homogeneity('t', '{{}}', {GIVEN})",
        f"(SELECT * EXCLUDE releases FROM composition('t', ['{{}}', 'r_label'], {GIVEN}))",
    ],
)
def test_a_wider_label_is_read_as_what_it_covers(old, call, form):
    rows = [old.execute(f"FROM {call.format(f'{name}_{form}')}").fetchall() for name in "rw"]
    assert rows[0] == rows[1]
    assert rows[0]


@pytest.mark.parametrize("form", FORMS)
def test_classes_keep_their_size_under_wider_labels(old, form):
    rows = [
        old.execute(
            f"SELECT size, ncp FROM equivalence_classes('t', '{name}_{form}', {GIVEN}) ORDER BY ALL"
        ).fetchall()
        for name in "rw"
    ]
    assert rows[0] == rows[1]


@pytest.mark.parametrize("form", FORMS)
def test_an_audit_counts_wider_labels_and_passes_them(old, form):
    found = audit(old, f"w_{form}", "t", 12, **LISTS)
    assert {name for name, row in found.items() if row[2] is False} == set()
    shown = {"label": "[80, 120]", "typed": "{'min': 80, 'max': 120}"}[form]
    assert found["wider_labels"] == (None, 2, None, f"age: {shown}")
    assert audit(old, f"r_{form}", "t", 12, **LISTS)["wider_labels"] == (None, 0, None, None)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("which", ["age", "city"])
def test_a_wider_label_that_does_not_cover_its_value_is_false(old, form, which):
    shown = {
        ("age", "label"): "'[81, 120]'",
        ("age", "typed"): "{'min': 81, 'max': 120}",
        ("city", "label"): "'{b, zzz}'",
        ("city", "typed"): "['b', 'zzz']",
    }[which, form]
    old.execute(f"UPDATE w_{form} SET {which} = {shown} WHERE age::VARCHAR LIKE '%120%'")
    found = failed(old, f"w_{form}", "t", 12, **LISTS)
    assert found["matched_rows"] == 6
    assert found["covered_rows"] == 6


@pytest.mark.parametrize("form", FORMS)
def test_a_label_that_covers_no_value_is_refused_and_misspelt(old, form):
    beyond = {"label": "'[98, 120]'", "typed": "{'min': 98, 'max': 120}"}[form]
    old.execute(f"UPDATE w_{form} SET age = {beyond} WHERE age::VARCHAR LIKE '%120%'")
    found = failed(old, f"w_{form}", "t", 12, **LISTS)
    assert (found["true_labels"], found["label_spelling"]) == (12, 1)
    assert fails(old, f"SELECT gcp('t', 'w_{form}', quasi := ['age', 'city'])") == (
        "gcp: a label of age must name what the raw table holds, got 1 class with nothing of it; the raw "
        "table comes first and its release second; name hierarchy := if the release was made with one"
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "values", "label", "covered"),
    [
        ("UTINYINT", (10, 255), "[0, 300]", 2),
        ("UTINYINT", (10, 255), "[-20, 254.5]", 1),
        ("TINYINT", (-100, 120), "[-200, 0]", 1),
        ("TINYINT", (-100, 120), "[-1e30, 1000]", 2),
        ("INTEGER", (80, 81), "[80.2, 99.9]", 1),
        ("INTEGER", (80, 81), "[79.5, 80.5]", 1),
        ("BIGINT", (2**63 - 1, 0), "[-10, 9223372036854775808]", 2),
        ("HUGEINT", (-(2**127), 2**127 - 1), f"[{-(2**127) - 1}, {2**127}]", 2),
        ("UHUGEINT", (0, 2**128 - 1), f"[-1, {2**128}]", 2),
        ("DECIMAL(4,1)", ("17.2", "17.3"), "[17.25, 43]", 1),
        ("DECIMAL(4,1)", ("17.2", "999.9"), "[17, 1000]", 2),
        ("DECIMAL(38,2)", ("0.01", "-0.01"), "[0.001, 1]", 1),
        ("DOUBLE", ("17.3", "42.8"), "[17, 43]", 2),
        ("FLOAT", ("17.3", "42.8"), "[17.5, 1e+30]", 1),
        ("DATE", ("1999-12-31", "2000-06-01"), "[2000-01-01, 9999-12-31]", 1),
        ("TIMESTAMP", ("2000-01-01 10:00", "2000-06-01"), "[2000-01-01, 2000-12-31]", 2),
        ("TIMESTAMP_S", ("2000-01-01 10:00", "2000-06-01"), "[2000-01-01, 2000-12-31]", 2),
        ("TIMESTAMP_NS", ("2000-01-01", "2262-04-11"), "[1600-01-01, 2400-01-01]", 2),
        ("TIMESTAMP_NS", ("2000-01-01", "2262-04-11"), "[2100-01-01, 2400-01-01]", 1),
        (
            "TIMESTAMPTZ",
            ("2000-01-01", "2000-06-01"),
            "[1999-01-01 00:00:00+00, 2000-02-01 00:00:00+00]",
            1,
        ),
        ("TIME", ("10:00:00", "18:30:00"), "[08:00:00, 24:00:00]", 2),
    ],
)
def test_ends_outside_the_type_cover_what_lies_between_them(con, kind, values, label, covered):
    con.execute(f"CREATE TABLE t (n {kind}, s INTEGER)")
    con.executemany(
        f"INSERT INTO t SELECT $1::{kind}, $2", [(str(n), i) for n in values for i in range(2)]
    )
    con.execute("CREATE TABLE r AS SELECT $1 AS n, s FROM t", [label])
    found = audit(con, "r", "t", 4, quasi=["n"], keep=["s"])
    assert found["covered_rows"][1] == 4 - 2 * covered
    assert found["matched_rows"][1] == 4 - 2 * covered
    assert found["true_labels"][2] is True
    assert found["label_spelling"][2] is ("1e30" not in label), found["label_spelling"]
    assert found["wider_labels"][1] == 1
    loss = con.execute("SELECT gcp('t', 'r', quasi := ['n'])").fetchone()[0]
    assert loss == 1 if covered == 2 else 0 <= loss < 1
    assert con.execute("SELECT k_anonymity('t', 'r', quasi := ['n'])").fetchone() == (4,)
    query = "SELECT count(*) FROM t WHERE n IS NOT NULL"
    answer = f"FROM query_error('t', 'r', ['{query}'], quasi := ['n'])"
    assert con.execute(answer).fetchall()


def test_an_end_that_only_rounds_to_a_value_is_a_misspelling(con):
    """0.30000000000000001 is above 0.3, and the nearest DOUBLE to both is one."""
    con.execute("CREATE TABLE t AS SELECT unnest([0.3, 20])::DOUBLE AS n, 1 AS s")
    con.execute("CREATE TABLE r AS SELECT '[0.30000000000000001, 20]' AS n, s FROM t")
    assert failed(con, "r", "t", 2, quasi=["n"], keep=["s"]) == {"label_spelling": 1}


@pytest.mark.parametrize("kind", ["DOUBLE", "DECIMAL(4,1)"])
def test_a_round_end_that_is_a_value_by_chance_is_no_misspelling(con, kind):
    con.execute(f"CREATE TABLE t AS SELECT unnest([17, 20.5, 43])::{kind} AS n, 1 AS s")
    con.execute("CREATE TABLE r AS SELECT '[17, 43]' AS n, s FROM t")
    found = audit(con, "r", "t", 3, quasi=["n"], keep=["s"])
    assert not [name for name, row in found.items() if row[2] is False]
    assert found["wider_labels"][1] == 0
    con.execute("UPDATE r SET n = '[17.00, 43]'")
    assert audit(con, "r", "t", 3, quasi=["n"], keep=["s"])["label_spelling"][:3] == (0, 1, False)


def test_a_node_above_keeps_a_release_by_a_hierarchy_true(con):
    con.execute("CREATE TABLE t AS SELECT unnest([1, 2, 3, 4]) AS n, 1 AS s")
    con.execute(
        "CREATE TABLE h AS FROM (VALUES ('n', '1', 1, 'low'), ('n', '2', 1, 'low'), "
        "('n', '3', 1, 'high'), ('n', '4', 1, 'high'), ('n', '5', 1, 'high')) "
        "AS v(attribute, value, level, label)"
    )
    con.execute("CREATE TABLE r AS SELECT if(n < 3, 'low', 'high') AS n, s FROM t")
    given = {"quasi": ["n"], "keep": ["s"], "hierarchy": "'h'"}
    assert failed(con, "r", "t", 2, **given) == {}
    con.execute("UPDATE r SET n = '[3, 9]' WHERE n = 'high'")
    found = failed(con, "r", "t", 2, **given)
    assert (found["true_labels"], found["label_spelling"]) == (2, 1)


def test_risk_counts_the_population_that_a_wider_label_matches(old):
    """88 of the population are 110 years old, in the wider label alone."""
    old.execute("CREATE TABLE everybody AS FROM t UNION ALL SELECT 110, 'a', 'x' FROM range(88)")
    call = "risk('t', '{}_label', quasi := ['age', 'city'], population := 'everybody')"
    found = [
        old.execute(f"SELECT journalist, k_map FROM {call.format(name)}").fetchone()
        for name in "rw"
    ]
    assert found == [(1 / 12, 12), (1 / 12, 12)]
    old.execute("DELETE FROM everybody WHERE city = 'c'")
    old.execute("INSERT INTO everybody SELECT 20, 'c', 'x' FROM range(88)")
    found = [old.execute(f"SELECT k_map FROM {call.format(name)}").fetchone() for name in "rw"]
    assert found == [(12,), (88,)]


@pytest.mark.slow
def test_a_widened_release_is_verified_and_reported(old, tmp_path):
    raw, wide = tmp_path / "raw.parquet", tmp_path / "wide.parquet"
    old.execute(f"COPY t TO '{raw}'; COPY w_label TO '{wide}'")
    old.execute(
        f"COPY (SELECT made.*, {{'sha256': sha256(content)}} AS output FROM anon_manifest('t', 'w_label', "
        f"k := 12, {GIVEN}) AS made, read_blob('{wide}')) TO '{wide}.anon.json' (FORMAT json)"
    )
    result = run("verify", wide, "--raw", raw)
    assert result.exit_code == 0, result.output
    assert "noted    audit: wider_labels" in result.output
    page = tmp_path / "report.html"
    roles = ["--quasi", "age,city", "--sensitive", "ill", "--k", 12]
    result = run("report", raw, wide, *roles, "--output", page)
    assert result.exit_code == 0, result.output
    assert "wider_labels" in page.read_text()


def test_a_manifest_that_counts_no_wider_labels_is_still_verified(old, tmp_path):
    raw, safe = tmp_path / "raw.parquet", tmp_path / "safe.parquet"
    old.execute(f"COPY t TO '{raw}'")
    roles = ["--quasi", "age,city", "--sensitive", "ill", "--k", 12]
    assert run("release", raw, safe, *roles, "--manifest").exit_code == 0
    beside = tmp_path / "safe.parquet.anon.json"
    written = json.loads(beside.read_text())
    kept = [check for check in written["checks"] if check["property"] != "wider_labels"]
    assert len(kept) == len(written["checks"]) - 1
    beside.write_text(json.dumps({**written, "checks": kept}))
    assert run("verify", safe, "--raw", raw).exit_code == 0
