"""The verdict on tables that belong together: each limit from both sides, and what settles amber."""

import copy
import json

import pytest

import anon_sql
from anon_sql import AnonError
from anon_sql.apps.verdict.linked import LINKED, judged_tables
from anon_sql.apps.verdict.rules import VERDICT, stricter

NAME = "out.anon.json"
GOOD = {
    "parameters": {"k": 5, "l": 2},
    "links": [
        {"child": "visit", "role": "quasi"},
        {"child": "code", "role": "keep"},
    ],
    "tables": {
        "person": {
            "roles": {"quasi": ["born"], "sensitive": []},
            "gcp": 0.1, "raw_rows": 1000, "left_out": 0, "unlinked": 0,
        },
        "visit": {
            "roles": {"quasi": ["ward"], "sensitive": ["cost"]},
            "gcp": 0.2, "raw_rows": 3000, "left_out": 0, "unlinked": 0,
        },
        "code": {
            "roles": {"quasi": [], "sensitive": []},
            "gcp": None, "raw_rows": 0, "left_out": 0, "unlinked": 0,
        },
    },
}  # fmt: skip


def changed(table=None, parameters=None, **figures):
    written = copy.deepcopy(GOOD)
    if table is not None:
        written["tables"][table] |= figures
    written["parameters"] |= parameters or {}
    return written


def said(written, **options):
    found = judged_tables(written, NAME, **options)
    return found.level, [(each.level, each.rule, each.column) for each in found.reasons]


def test_a_release_that_loses_little_is_green():
    assert said(GOOD) == ("green", [])


@pytest.mark.parametrize(
    ("table", "figure", "value", "level", "rule"),
    [
        ("person", "gcp", 0.3, "green", None),
        ("person", "gcp", 0.301, "amber", "gcp"),
        ("visit", "gcp", 0.5, "amber", "gcp"),
        ("visit", "gcp", 0.501, "red", "gcp"),
        ("visit", "left_out", 150, "green", None),
        ("visit", "left_out", 151, "amber", "suppression"),
        ("visit", "left_out", 600, "amber", "suppression"),
        ("visit", "left_out", 601, "red", "suppression"),
        ("visit", "unlinked", 150, "green", None),
        ("visit", "unlinked", 151, "amber", "suppression"),
        ("visit", "unlinked", 2999, "amber", "suppression"),
    ],
)
def test_each_limit_from_both_sides(table, figure, value, level, rule):
    reasons = [] if rule is None else [(level, rule, table)]
    assert said(changed(table, **{figure: value})) == (level, reasons)


def test_the_numbers_are_those_of_one_table():
    for name, known in (("gcp", "gcp"), ("left_out", "suppression_rate")):
        assert (LINKED[name].amber, LINKED[name].red) == (VERDICT[known].amber, VERDICT[known].red)


def test_choices_are_amber():
    assert said(changed(parameters={"k": 4}))[1] == [("amber", "choice", None)]
    assert said(GOOD, environment="public")[1] == [("amber", "choice", None)]
    assert said(changed("visit", roles={"quasi": ["ward"], "sensitive": []}))[1] == [
        ("amber", "choice", None)
    ]
    alone = changed(parameters={"k": 1})
    assert said(alone)[0] == "red"


def test_a_link_that_is_sensitive_or_known_is_a_column():
    written = changed("visit", roles={"quasi": [], "sensitive": []})
    written["tables"]["person"]["roles"]["quasi"] = []
    written["links"][1]["role"] = "sensitive"
    assert said(written) == ("green", [])
    written["links"][0]["role"] = "keep"
    assert said(written)[0] == "red"  # no quasi-identifier at all


def test_a_sentence_settles_amber_and_never_red():
    lossy = changed("visit", gcp=0.4)
    assert judged_tables(lossy, NAME).open == ["gcp"]
    found = judged_tables(lossy, NAME, accepted={"gcp": "Enough."})
    assert (found.level, found.open) == ("amber", [])
    assert judged_tables(changed("visit", gcp=0.6), NAME, accepted={"gcp": "No."}).level == "red"
    broken = judged_tables(lossy, NAME, ["audit: k"], accepted={"audit": "No.", "gcp": "Yes."})
    assert broken.level == "red"
    assert broken.reasons[0].text == "“audit: k” fails."


def test_limits_may_be_stricter_and_never_laxer():
    limits = stricter("release", {"unlinked": {"red": 0.1}}, LINKED)
    assert said(changed("visit", unlinked=400), limits=limits)[0] == "red"
    with pytest.raises(AnonError, match=r"the limit left_out must be at most 0\.05 for amber"):
        stricter("release", {"left_out": {"amber": 0.06}}, LINKED)
    with pytest.raises(AnonError, match="a limit must be one of"):
        stricter("release", {"query_error": {"red": 0.1}}, LINKED)


def test_each_figure_is_what_its_statement_says(tmp_path):
    written = changed("visit", gcp=0.4, left_out=300, unlinked=200)
    written["tables"]['o"dd . t'] = written["tables"].pop("visit")
    path = tmp_path / "it's.json"
    path.write_text(json.dumps(written), "utf-8")
    found = judged_tables(written, str(path))
    assert len(found.reasons) == 3
    with anon_sql.connect() as con:
        for each in found.reasons:
            assert con.execute(each.sql).fetchall() == [(pytest.approx(each.found),)]
