"""The first page of a report: its facts equal SQL, no path and no value is on it, and it is one page."""

import json
import re
import shlex
from copy import deepcopy
from html import unescape

import duckdb
import pytest

from anon_sql import AnonError
from anon_sql.hosts.files import digest
from tests.apps.report.pages import ROLES, page, printed_pages
from tests.command import run

pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")

from anon_sql.apps.report import recipient, rendering
from anon_sql.apps.report.figure_files import draw
from anon_sql.apps.report.page import of_release
from anon_sql.apps.verdict import of_recipe

WIDE = 34
GOOD = (
    "SELECT (i // 20) * 20 + 2 * (i % 10) AS age, (i // 20 * 7) % 50 * 2 + i % 2 AS height, "
    "'v' || i % 4 AS illness, i * 37 % 101 AS cost, 'p' || i AS email FROM range(1000) AS made(i)"
)
STATED = """[roles]
confirmed = true
identifier = ["email"]
quasi = ["age", "height"]
sensitive = ["illness", "cost"]

[statement]
purpose = "A test"
recipient = "Nobody"

[accepted]
choice = "Four were agreed."

"""
QUASI = [f"a_quasi_identifier_{at:02}" for at in range(WIDE)]


def summary(text):
    """The text of the first page, without tags."""
    body = text[text.index('<section class="summary"') : text.index('<div class="annex">')]
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", body)).split())


@pytest.fixture(scope="module")
def said(made):
    return json.loads(page(made, "report.json"))


def test_facts_are_those_of_sql(made, said):
    raw, safe = made / "people.parquet", made / "safe.parquet"
    own = said["summary"]
    with duckdb.connect() as plain:
        groups = f"SELECT count(*) AS n FROM '{raw}' GROUP BY age, \"se<b>x\", born"
        for name, most in (("alone", 1), ("fewer", 4)):
            ((share,),) = plain.execute(
                f"SELECT (SELECT coalesce(sum(n), 0) FROM ({groups}) WHERE n <= {most}) / count(*) "
                f"FROM '{raw}'"
            ).fetchall()
            assert own["today"][name] == share
        plain.execute(f"CREATE VIEW raw AS FROM '{raw}'")
        assert plain.execute(own["today"]["sql"]).fetchall() == [
            (own["today"]["alone"], own["today"]["fewer"])
        ]
        ((one, all_),) = plain.execute(
            "SELECT sum(n) FILTER (values = 1), sum(n) FROM (SELECT count(*) AS n, "
            f"count(DISTINCT illness) AS values FROM '{safe}' GROUP BY age, \"se<b>x\", born)"
        ).fetchall()
    (illness,) = own["disclosed"]
    assert illness["certain"] == (one or 0) / all_
    assert own["raw"] | {"dated": ""} == {
        "name": "people.parquet",
        "dated": "",
        "rows": 120,
        "columns": 5,
        "sha256": digest(raw),
    }
    assert own["again"]["released_sha256"] == digest(safe)
    assert own["columns"] == {
        "generalized": ["age", "se<b>x", "born"],
        "sensitive": ["illness"],
        "unchanged": [],
        "identifiers": ["name"],
        "left_out": [],
    }
    shown = summary(page(made))
    for text in (digest(raw), digest(safe), "120 rows, 5 columns", "k = 10, l = 2", "seed 42"):
        assert text in shown
    assert said["recommended"]["why"].startswith("5 is the least for the environment “contract”.")
    assert f"recommended k {said['recommended']['why'][:100]}" in shown
    assert re.search(r"file of \d{4}-\d\d-\d\d \d\d:\d\d UTC", shown)


def test_no_path_and_no_value(made, said):
    shown = summary(page(made))
    for text in (shown, json.dumps(said["summary"])):
        assert str(made) not in text
        assert not re.search(r"secret\d|illness\d|<i>\$|/tmp|2000-0", text)


def test_the_command_makes_the_same_file(folder, said):
    words = shlex.split(said["summary"]["again"]["command"])
    assert words[:4] == ["anon-sql", "release", "people.parquet", "safe.parquet"]
    result = run("release", folder / words[2], folder / "again.parquet", *words[4:])
    assert result.exit_code == 0, result.output
    assert digest(folder / "again.parquet") == digest(folder / "safe.parquet")


def test_a_red_release_has_no_line_to_sign_on(made):
    shown = summary(page(made))
    assert "Do not release this as it is" in shown
    assert "Data protection officer" not in shown


@pytest.mark.slow
def test_what_a_steward_accepted_is_said_in_the_same_words(tmp_path):
    pytest.importorskip("jinja2")
    pytest.importorskip("matplotlib")
    raw, recipe, safe = (tmp_path / each for each in ("people.csv", "r.toml", "safe.parquet"))
    duckdb.connect().execute(f"COPY ({GOOD}) TO '{raw}'")
    assert run("roles", raw, "--recipe", recipe).exit_code == 0
    text = recipe.read_text("utf-8")
    text = text[: text.index("[roles]")] + STATED + text[text.index("[made]") :]
    recipe.write_text(re.sub(r"\bk = \d+", "k = 4", text), "utf-8")
    result = run("release", recipe, safe)
    assert result.exit_code == 0, result.output
    assert run("report", recipe, safe, "-o", tmp_path / "r.html").exit_code == 0
    shown = summary(page(tmp_path, "r.html"))
    assert "! No check fails, and the steward has accepted what is open" in shown
    assert "10 Accepted by the steward choice: Four were agreed. 11" in shown
    assert "source people.csv, file of" in shown
    assert "anon-sql release r.toml safe.parquet" in shown
    assert f"recipe {digest(recipe)} (SHA-256)" in shown
    assert "identifiers email, left out" in shown
    assert shown.endswith("13 Signed Data steward Data protection officer Date")
    assert "promised k = 4, l = 2, t = 0.5 found" in shown
    assert (
        "columns removed: email; rows filtered: none; types converted from text: age BIGINT"
        in shown
    )
    assert re.search(r"recommended k (5|10|25) is the .* This release has k = 4\.", shown)
    recipe.write_text(recipe.read_text("utf-8").replace('"Nobody"', '" - "'), "utf-8")
    assert run("release", recipe, safe, "--overwrite").exit_code == 0
    assert run("report", recipe, safe, "-o", tmp_path / "r.html", "--overwrite").exit_code == 0
    assert summary(page(tmp_path, "r.html")).endswith(
        "13 Signed A release without a purpose and a recipient cannot be signed: state both, and "
        "report again."
    )
    assert run("report", raw, safe, "-o", tmp_path / "other.html").exit_code == 0
    other = summary(page(tmp_path, "other.html"))
    assert "The recipe of the release says what was accepted; it was not given" in other
    assert "By the recipe whose SHA-256 is below" in other


def test_without_a_manifest_nothing_is_invented(folder):
    (folder / "safe.parquet.anon.json").unlink()
    out = folder / "bare.html"
    call = ("report", folder / "people.parquet", folder / "safe.parquet", *ROLES, "-o", out)
    assert run(*call).exit_code == 0
    shown = summary(out.read_text("utf-8"))
    assert "Not known from the files given." in shown
    assert "versions not recorded" in shown


def test_duckdb_alone_checks_the_file(folder, said, monkeypatch):
    """A connection without the functions of this package, in the folder of the file."""
    monkeypatch.chdir(folder)
    check = said["summary"]["check"]
    with duckdb.connect() as bare:
        result = bare.execute(check["sql"])
        names = [column[0] for column in result.description]
        assert dict(zip(names, result.fetchone(), strict=True)) == check["figures"]
        assert bare.execute(
            "SELECT count(*) FROM duckdb_functions() WHERE function_name = 'anonymize'"
        ).fetchone() == (0,)
    assert list(check["figures"]) == ["rows", "groups", "k", "l of illness"]
    assert check["figures"]["k"] >= 10
    assert check["figures"]["l of illness"] >= 2
    shown = summary(page(folder))
    assert f"{check['sql']};" in shown
    assert (
        f"rows = 120, groups = {check['figures']['groups']}, k = {check['figures']['k']}" in shown
    )


@pytest.mark.parametrize("file", ["it's.csv", "safe.tsv", "rows.csv.gz", "out/"])
def test_duckdb_alone_checks_each_kind_of_file(tmp_path, con, monkeypatch, file):
    columns = '\'a"b\' || i // 5 AS "q\'1", i // 5 AS "GROUP", i % 3 AS "s;--"'
    con.execute(f"CREATE TABLE released AS SELECT {columns} FROM range(20) AS r(i)")
    monkeypatch.chdir(tmp_path)
    if file.endswith("/"):
        (tmp_path / "out").mkdir()
        con.execute("COPY released TO 'out/release-00000.parquet'")
    else:
        delimiter = "\\t" if "tsv" in file else ","
        con.execute(
            f"COPY released TO '{file.replace(chr(39), chr(39) * 2)}' "
            f"(FORMAT csv, HEADER, DELIMITER '{delimiter}')"
        )
    request = {"quasi": ["q'1", "GROUP"], "sensitive": ["s;--"]}
    check = recipient.at_once(con, request, file.rstrip("/"))
    assert check["figures"] == {"rows": 20, "groups": 4, "k": 5, "l of s;--": 3}
    with duckdb.connect() as bare:
        assert bare.execute(check["sql"]).fetchone() == (20, 4, 5, 3)


def test_what_is_undecided_is_named(said):
    facts = deepcopy(said)
    for check in facts["checks"]:
        check |= {"passed": check["property"] not in ("k", "true_labels") or None, "required": 1.0}
    assert "0 failed, 2 undecided: k, true_labels" in summary(of_release(facts, draw(facts)))
    for check in facts["checks"]:
        check["passed"] = None
    shown = summary(of_release(facts, draw(facts)))
    assert f"{len(facts['checks'])} undecided: rows, k, people, " in shown
    assert f"and {len(facts['checks']) - 6} more" in shown


def test_no_level_that_was_not_asked_for_is_promised():
    required = {"k": 10, "l": 1, "l_kind": "distinct", "t": 1.0, "beta": None, "delta": None}
    assert rendering.promised(required) == ["k = 10"]
    asked = {**required, "l": 2.5, "l_kind": "entropy", "t": 0.3, "max_share": 0.5}
    assert rendering.promised(asked) == [
        "k = 10",
        "l = 2.5 (entropy)",
        "t = 0.3",
        "max_share = 0.5",
    ]


def test_the_annex_repeats_nothing_of_the_first_page(made, said):
    text = page(made)
    annex = text[text.index('<div class="annex">') :]
    for part in ("A &lt;test&gt;", "No list of the persons", "Command"):
        assert part not in annex
    assert list(rendering.overflow(said)) == ["Reasons of the verdict"]  # with what was tried
    long = "Words about a release that a person wrote. " * 9
    facts = deepcopy(said)
    facts["statement"] |= {"purpose": long, "recipient": "b", "assumptions": []}
    facts["summary"]["columns"]["left_out"] = [f"column_{at}" for at in range(40)]
    found = rendering.overflow(facts)
    assert list(found) == ["Reasons of the verdict", "Purpose", "Columns: left out"]
    assert found["Purpose"] == [long]
    short = deepcopy(said)
    for each in short["verdict"]["reasons"]:
        each["text"] = each["text"][:99]
    assert rendering.of_summary(short).count('<div class="annex">') == 0
    assert rendering.of_summary(facts).count(long) == 1


def test_a_release_is_signed_with_a_purpose_and_a_recipient():
    for wrong in ({}, {"purpose": "A study"}, {"purpose": "A study", "recipient": " . "}):
        assert not of_recipe.stated(wrong)
        with pytest.raises(AnonError, match="must be stated before a release is signed"):
            of_recipe.require_stated("studio", wrong)
    of_recipe.require_stated("studio", {"purpose": "A study", "recipient": "Ärzte ohne Grenzen"})


@pytest.fixture(scope="module")
def crowded(tmp_path_factory):
    """A report by a recipe that fills every part of the summary; and the folder."""
    pytest.importorskip("jinja2")
    pytest.importorskip("matplotlib")
    folder = tmp_path_factory.mktemp("crowded")
    columns = ", ".join(
        f"(hash(i // 20 * {WIDE} + {at}) % 3)::INTEGER AS {name}" for at, name in enumerate(QUASI)
    )
    source = ", ".join(f"(i * {at + 3}) % 7 AS sensitive_{at}" for at in range(8))
    raw = folder / f"{'a_long_name_' * 8}.parquet"
    duckdb.connect().execute(
        f"COPY (SELECT {columns}, {source}, 'p' || i AS email FROM range(400) AS made(i)) TO '{raw}'"
    )
    recipe = folder / "r.toml"
    assert run("roles", raw, "--recipe", recipe).exit_code == 0
    text = recipe.read_text("utf-8")
    hidden = [f"sensitive_{at}" for at in range(8)]
    roles = (
        f"[roles]\nconfirmed = false\nidentifier = ['email']\nquasi = {QUASI}\n"
        f"sensitive = {hidden}\n\n"
    )
    long = "Words of a steward who has much to say about all of this. " * 6
    stated = (
        f"[statement]\npurpose = '{long}'\nrecipient = '{long}'\n"
        f"assumptions = {[long] * 5}\nenvironment = 'public'\n\n"
    )
    rules = (
        *("audit", "inferred", "lifted", "l_alone", "near", "gcp", "query_error", "columns"),
        *("suppression", "distribution", "choice", "roles", "certain"),
    )
    accepted = "[accepted]\n" + "".join(f"{each} = '{long}'\n" for each in rules) + "\n"
    text = text[: text.index("[roles]")] + roles + stated + accepted + text[text.index("[made]") :]
    recipe.write_text(text, "utf-8")
    result = run("release", recipe, folder / "safe.parquet")
    if result.exit_code == 3:  # red: released without the recipe, to report on it
        command = ("release", raw, folder / "safe.parquet", "--k", 5, "--quasi", ",".join(QUASI))
        roles = ("--sensitive", ",".join(hidden), "--identifier", "email", "--manifest")
        result = run(*command, *roles)
    assert result.exit_code == 0, result.output
    result = run("report", recipe, folder / "safe.parquet", "-o", folder / "report.html")
    assert result.exit_code == 0, result.output
    return folder


@pytest.fixture
def full(said):
    """A page on which nothing is short: each list is too long, and so is each text and name."""
    long, name = "Words about a release that a person wrote. " * 9, "column_" * 9
    facts = deepcopy(said)
    own = facts["summary"]
    own["accepted"] = {f"rule_{at}": long for at in range(12)}
    own["columns"] = {role: [name[:40]] * 4 for role in own["columns"]}
    own["prepared"] = {step: [name[:40]] * 2 for step in own["prepared"]}
    own["check"]["sql"] = "-" * 200
    facts["checks"] += [
        {**facts["checks"][0], "property": f"property_{at:02}", "passed": None} for at in range(20)
    ]
    own["disclosed"] = [{**own["disclosed"][0], "column": name}] * 9
    own["raw"]["name"] = facts["files"]["released"] = f"{name}.parquet"
    own["again"] |= {"command": "anon-sql " + "-" * 191, "recipe_sha256": "f" * 64}
    reason = facts["verdict"]["reasons"][0]
    facts["verdict"] |= {"state": "amber", "reasons": [{**reason, "text": long}] * 12}
    facts["statement"] = {
        "purpose": long,
        "recipient": long,
        "assumptions": [long] * 6,
        "environment": "contract",
        "review_by": "2020-01-31",
        "review": [long] * 6,
    }
    facts["required"] |= dict.fromkeys(("k", "l", "t", "beta", "delta", "max_share"), 1.2345)
    facts["loss"] = [{**facts["loss"][0], "attribute": name, "ncp": 0.5}] * 9
    facts["recommended"]["why"] = long
    facts["criteria"]["control"] = {"name": name, "rows": 12345, "sha256": "f" * 64}
    for criterion in ("isolation", "linkage", "inference"):
        facts["criteria"][criterion]["sentence"] = long * 2
    return of_release(facts, draw(facts))


@pytest.mark.slow
def test_many_columns_are_counted_and_listed_in_the_annex(crowded):
    text = page(crowded)
    shown = summary(text)
    assert "34 columns, listed in the annex" in shown
    assert QUASI[20] not in shown
    assert ", ".join(QUASI) in unescape(text)
    assert "5 more sensitive columns: see the annex." in shown
    assert "Words of a steward" in shown
    annex = text[text.index('<div class="annex">') :]
    for at in range(8):
        assert f'<th scope="row">sensitive_{at}</th>' in annex


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["crowded", "made", "full"])
def test_it_is_one_page_of_a4(kind, request, tmp_path):
    text = request.getfixturevalue(kind)
    text = text if kind == "full" else page(text)
    first, whole = tmp_path / "first.html", tmp_path / "whole.html"
    first.write_text(text[: text.index('<div class="annex">')] + "</body></html>", "utf-8")
    whole.write_text(text, "utf-8")
    assert printed_pages(first, tmp_path) == 1
    assert printed_pages(whole, tmp_path) > 2  # the annex begins on a page of its own
