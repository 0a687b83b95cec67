"""What a report says: its first screen, its sections, and figures equal to the functions'."""

import json
import re
from html import unescape

import duckdb
import pytest

import anon_sql
from anon_sql.apps.manifest import LEVELS
from anon_sql.apps.report import recipient
from anon_sql.apps.report.figure_files import size_steps
from anon_sql.apps.verdict.figures import Measured, attacked_by_method
from anon_sql.apps.verdict.rules import AMBER, verdict
from anon_sql.apps.verdict.words import CONSEQUENCE, per_thousand, percent
from anon_sql.audit.columns import DETERMINED, RARE, REVEALING
from anon_sql.audit.series import PROPERTIES as OF_SERIES
from tests.apps.report.pages import ROLES, drawn, first_screen, page
from tests.command import run
from tests.privacy.test_audit import PROPERTIES


def test_every_section_is_there(made):
    text = page(made)
    for title in (
        "Checks",
        "Isolation",
        "Linkage",
        "Inference",
        "Not covered",
        "What analysts lose",
        "Figures that standards ask for",
        "How the release was made",
        "Check the file yourself",
    ):
        assert f"<h2>{title}</h2>" in text
    for title in ("Groups", "Unchanged columns", "Re-identification risk"):
        assert f"<h3>{title}</h3>" in text
    assert "anonymize, seed 42" in text
    assert len(drawn(text)) == text.count(" alt=") == 6
    assert all(re.findall(r'<img [^>]*alt="([^"]+)"', text))


def test_the_first_screen_says_what_a_reader_signs(made):
    said = first_screen(page(made))
    assert said.startswith(
        "Release report: safe.parquet ✗ Do not release this as it is The error of counts is "
    )
    for text in (
        "generalized age, se<b>x, born sensitive, kept illness other, kept none",
        "identifiers name, left out",
        "promised k = 10, l = 2 found",
        "The assumed attacker knows the quasi-identifiers of a person, and that the person is in",
        "purpose A <test> recipient Nobody assumptions None is known No list of the persons",
        "Legal questions. The figures are facts about two files, not a certificate.",
    ):
        assert text in said


@pytest.mark.parametrize("name", ["k", "l", "t", "beta", "delta"])
def test_a_constraint_that_cannot_be_decided_does_not_hold(name):
    check = {"property": name, "required": 2.0, "found": None, "passed": None, "meaning": "Why."}
    request = {"k": 5, "quasi": ["age"], "sensitive": ["illness"]}
    found = verdict(Measured([], [check], "FROM audit()", generalized=["age"], request=request))
    assert found.level == AMBER
    assert [each.text for each in found.reasons] == [
        f"Whether {name} holds cannot be decided: Why."
    ]


def test_what_an_attacker_learns_who_knows_the_method(made, said):
    with anon_sql.connect() as con:
        con.execute(f"CREATE TABLE raw AS FROM '{made / 'people.parquet'}'")
        con.execute(f"CREATE TABLE released AS FROM '{made / 'safe.parquet'}'")
        call = "FROM attack_minimality('raw', 'released', k := 10, l := 2, identifiers := 'name', "
        con.execute(
            f"{call} quasi := $q, sensitive := 'illness')", {"q": ["age", "se<b>x", "born"]}
        )
        names = [column[0] for column in con.description]
        (row,) = (dict(zip(names, each, strict=True)) for each in con.fetchall())
        assert said["method_known"] == {"rows": [row], "note": ""}
        (figure,) = (each for each in said["verdict"]["figures"] if each["name"] == "minimality")
        assert con.execute(figure["sql"]).fetchall() == [(figure["value"],)]
        assert (figure["column"], figure["value"]) == ("illness", row["gain"])
    assert "an attacker who knows the method, its parameters and which group" in page(made)


def test_without_a_constraint_nothing_is_attacked_and_another_release_says_why(folder):
    raw, safe = folder / "people.parquet", folder / "safe.parquet"
    for constraint, lacks in ((("--l", 2), True), ((), False)):
        given = ("--k", 10, *constraint, *ROLES, "--manifest", "--overwrite")
        assert run("release", raw, safe, *given).exit_code == 0
        path = folder / "safe.parquet.anon.json"
        path.write_text(path.read_text().replace('"seed": 42', '"seed": 43'))
        if lacks:
            path.write_text(
                path.read_text().replace('"method": "anonymize"', '"method": "mondrian"')
            )
        out = folder / "again.json"
        result = run("report", raw, safe, "-o", out, "--format", "json", "--overwrite")
        assert result.exit_code == 0, result.output
        found = json.loads(out.read_text())["method_known"]
        assert found["rows"] == []
        assert ("the call must make the classes" in found["note"]) == lacks


def test_a_large_table_and_a_slow_method_are_not_attacked(con):
    con.execute("CREATE TABLE raw AS SELECT i AS a, i % 2 AS s FROM range(6000) made(i)")
    con.execute("CREATE TABLE released AS SELECT a::VARCHAR AS a, s FROM raw")
    asked = {"k": 2, "l": 2, "quasi": ["a"], "sensitive": ["s"]}
    slow = "The table has more than 5,000 rows, and this method takes long."
    for method, own, note in (
        ("k_member", {}, slow),
        ("anonymize", {"effort": "best"}, slow),
        ("mondrian", {}, "attack_minimality: the call must make"),
    ):
        found = attacked_by_method(con, method, asked | own)
        assert found["rows"] == []
        assert found["note"].startswith(note)
    assert attacked_by_method(con, "mondrian", asked | {"l": 1}) == {"rows": [], "note": ""}


@pytest.fixture(scope="module")
def said(made):
    """The report as JSON."""
    return json.loads(page(made, "report.json"), parse_constant=pytest.fail)


def test_figures_are_those_of_the_functions(made, said):
    quasi, pair = ["age", "se<b>x", "born"], "'raw', 'safe'"

    with anon_sql.connect() as con:
        con.execute(f"CREATE TABLE raw AS FROM '{made / 'people.parquet'}'")
        con.execute(f"CREATE TABLE safe AS FROM '{made / 'safe.parquet'}'")

        def rows(text, **given):
            found = con.execute(f"FROM {text}", {"quasi": quasi, **given})
            names = [column[0] for column in found.description]
            return [dict(zip(names, row, strict=True)) for row in found.fetchall()]

        assert said["loss"] == rows(f"attribute_loss({pair}, quasi := $quasi)")
        assert [said["utility"]] == rows(f"utility({pair}, k := 10, quasi := $quasi)")
        assert [said["risk"]] == rows(f"risk({pair}, quasi := $quasi)")
        for level in said["risk_levels"]:
            (risk,) = rows(f"risk({pair}, quasi := $quasi, threshold := $t)", t=1 / level["one_in"])
            assert level["rows"] == risk["prosecutor_at_risk"]
        checks = rows(
            f"audit({pair}, 10, 2, quasi := $quasi, sensitive := ['illness'], "
            "identifiers := ['name'])"
        )
        assert [{name: each[name] for name in checks[0]} for each in said["checks"]] == checks
        (attacks,) = said["attacks"]
        given = f"{pair}, 'illness', quasi := $quasi"
        (same,) = rows(f"attack_homogeneity({given})")
        (uneven,) = rows(
            f"attack_skewness({given}, threshold := $t)", t=attacks["skewness_threshold"]
        )
        (linked,) = rows(f"attack_linking({given})")
        (guessed,) = rows(f"attack_background({given}, known := 2)")
        assert attacks == {
            "column": "illness",
            "persons": linked["persons"],
            "homogeneity": same["row_share"],
            "skewness": uneven["row_share"],
            "skewness_threshold": (1 + 1 / 4) / 2,
            "reidentified": linked["reidentified_share"],
            "disclosed": linked["disclosed_share"],
            "known": 2,
            "guessed": guessed["guessed_share"],
            "guessed_without_knowledge": guessed["baseline"],
            "largest_share": attacks["largest_share"],
            "largest_share_in_table": 1 / 4,
        }
        ((largest,),) = con.execute(
            'SELECT max(n / (SELECT count(*) FROM safe AS s WHERE row(s.age, s."se<b>x", s.born) = '
            'label)) FROM (SELECT row(age, "se<b>x", born) AS label, count(*) AS n FROM safe '
            "GROUP BY label, illness)"
        ).fetchall()
        assert attacks["largest_share"] == largest
        ages = con.execute("SELECT count(*) FROM raw WHERE age >= 25 AND age < 30").fetchall()[0][0]
    text = page(made)
    assert f'<th scope="row">25</th><td class="number">{ages}</td>' in text
    for name in ("reidentified", "disclosed", "homogeneity", "skewness", "guessed"):
        assert f"<strong>{per_thousand(attacks[name])}</strong>" in text
    for level in said["risk_levels"]:
        assert f'<td class="number">{percent(level["share"])}</td>' in text
    for each in said["query_errors"]:
        assert f'<td class="number">{percent(each["median"])}</td>' in text


def test_a_recipient_counts_the_same_without_the_package(made, said, tmp_path, monkeypatch):
    monkeypatch.chdir(made)
    assert [each["what"] for each in said["recipient"]] == [
        *("rows", "groups that look alike", "rows of the smallest group (k)"),
        "fewest values of illness in a group (l)",
    ]
    rows, _, k, least = (each["expected"] for each in said["recipient"])
    assert (rows, k >= 10, least >= 2) == (120, True, True)
    with duckdb.connect() as plain:
        for each in said["recipient"]:
            assert plain.execute(each["sql"]).fetchall() == [(each["expected"],)]
    for each in said["recipient"]:
        assert unescape(page(made)).count(each["sql"] + ";") == 1


@pytest.mark.parametrize("ending", [".csv", ".tsv.gz", ".parquet", ""])
def test_a_recipient_reads_every_kind_of_file(con, tmp_path, monkeypatch, ending):
    monkeypatch.chdir(tmp_path)
    name = f"sa'fe{ending}"
    con.execute(
        "CREATE TABLE released AS SELECT '[1, ' || i % 3 || ']' AS \"a\"\"b\", i % 2 AS s "
        "FROM range(60) AS made(i)"
    )
    text = {".csv": "(HEADER)", ".tsv.gz": "(HEADER, DELIMITER '\t', COMPRESSION gzip)"}
    if ending:
        con.execute(f"COPY released TO 'sa''fe{ending}' {text.get(ending, '')}")
    else:
        (tmp_path / name).mkdir()
        con.execute("COPY released TO 'sa''fe/release-00000.parquet'")
    found = recipient.checks(con, {"quasi": ['a"b'], "sensitive": ["s"]}, name)
    assert [each["expected"] for each in found] == [60, 3, 20, 2]
    with duckdb.connect() as plain:
        for each in found:
            assert plain.execute(each["sql"]).fetchall() == [(each["expected"],)]


def test_worst_groups_are_the_largest_relative_errors(said):
    for each, worst in zip(said["distributions"], said["worst_groups"], strict=True):
        errors = [
            abs(released - raw) / raw
            for raw, released in zip(each["raw"], each["released"], strict=True)
            if raw >= max(1, sum(each["raw"]) / 100)
        ]
        assert worst["error"] == max(errors)


def test_shares_are_never_rounded_to_none_or_all():
    assert [percent(x) for x in (0, 0.0004, 0.001, 0.2501, 0.9999, 1)] == [
        *("0%", "less than 0.1%", "0.1%", "25%", "more than 99.9%", "100%")
    ]
    assert [per_thousand(x) for x in (0, 0.0001, 0.0012, 0.9999, 1)] == [
        *("0", "less than 1", "1", "more than 999", "1,000")
    ]


def test_each_property_of_an_audit_is_explained():
    only_if_found = {RARE, DETERMINED, REVEALING}
    assert set(CONSEQUENCE) == {*PROPERTIES, *OF_SERIES, *LEVELS, *only_if_found}


def test_classes_are_put_into_steps():
    one = [{"rows": size, "classes": 2} for size in (5, 7)]
    assert size_steps(one) == [("5", 2), ("6", 0), ("7", 2)]
    many = [{"rows": size, "classes": 1} for size in (1, 4, 12, 320)]
    assert size_steps(many) == [
        *(("1", 1), ("2", 0), ("3 to 4", 1), ("5 to 9", 0), ("10 to 19", 1)),
        *(("20 to 49", 0), ("50 to 99", 0), ("100 to 199", 0), ("200 to 499", 1)),
    ]
    assert size_steps([]) == []
