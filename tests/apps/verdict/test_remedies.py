"""Remedies are tried: what lifts a rule, by more protection if it protects people, or what is in the way."""

from concurrent.futures import ThreadPoolExecutor

import duckdb
import pytest

from anon_sql import AnonError
from anon_sql.apps.verdict import remedies, trials
from anon_sql.apps.verdict.remedies import DISCLOSED, changes, first, remedied
from anon_sql.apps.verdict.rules import AMBER, GREEN, RED, VERDICT, Reason, Verdict
from anon_sql.apps.verdict.trials import MOST_CHANGES, OUT, RequestChange, Trials
from anon_sql.apps.verdict.words import REMEDIES
from tests.apps.verdict.planted import LOOSE, RARE, RAW, REQUEST, one_value
from tests.seams import LONG, Seam

WIDE = "(i * 7919) % 1009 AS w, (i * 104729) % 1013 AS x, (i * 1299709) % 997 AS y"


def reason(rule, column=None, level=RED, **more):
    limit = next((each for each in VERDICT.values() if each.rule == rule), None)
    remedy = limit.remedy if limit else "Require t."
    return Reason(
        level, rule, f"This breaks {rule}.", "SELECT 1", 0.5, column, remedy=remedy, **more
    )


def tried(con, found, request, **judging):
    """The remedies of reasons."""
    asked = {**REQUEST, "effort": "fast", **request}
    after = remedied(con, "anonymize", asked, Verdict(RED, found), judging)
    assert [each.text for each in after.reasons] == [each.text for each in found]
    return [each.remedy for each in after.reasons]


def scattered(con, rows=400):
    """Quasi-identifiers ``a`` and ``b`` that belong together, and others that belong to nothing."""
    con.execute(
        f"CREATE OR REPLACE TABLE raw AS SELECT i AS id, i // 20 AS a, i // 20 * 3 AS b, {WIDE}, "
        f"'v' || (i % 4) AS s, (i * 37) % 101 AS n FROM range({rows}) AS made(i)"
    )


def test_a_group_with_one_value_is_lifted_by_l(con):
    con.execute(RAW)
    con.execute(one_value(20))
    (said,) = tried(con, [reason("certain", "s")], LOOSE)
    assert said.startswith("l = 2 lifts it: 0% instead of ")
    assert ", loss " in said
    assert said.endswith(", tried on 1,000 rows.")


def test_the_largest_t_that_lifts_a_rule_is_said_with_what_it_was(con):
    con.execute(RAW)
    con.execute(RARE.format(200))
    (said,) = tried(con, [reason("inferred", "s")], {"t": 0.9})
    assert said.startswith("t = 0.5 instead of 0.9 lifts it: 0% instead of "), said


def test_leaving_out_the_column_with_the_greatest_loss_comes_before_a_smaller_k(con):
    scattered(con)
    request = {"quasi": ["a", "w"], "k": 40, "l": None, "t": None, "sensitive": []}
    (said,) = tried(con, [reason("gcp", level=AMBER)], request)
    assert said.startswith("Leaving out w lifts it: "), said
    assert "protects less" not in said


def test_a_smaller_k_is_left_to_the_owner_and_never_below_the_environment(con):
    scattered(con)
    request = {"quasi": ["w"], "k": 100, "l": None, "t": None, "sensitive": []}
    (said,) = tried(con, [reason("gcp", level=AMBER)], {**request, "k": 200})
    assert said.startswith("k = 100 instead of 200 lifts it: "), said
    assert said.endswith("A smaller k protects less, so that is your decision.")
    (said,) = tried(con, [reason("gcp")], {**request, "k": 11}, environment="public")
    assert said == VERDICT["gcp"].remedy  # which 400 rows do not break


@pytest.mark.slow
def test_what_no_change_lifts_names_the_column_in_the_way(con):
    scattered(con, 30)
    request = {"quasi": ["w", "x", "y"], "k": 10, "l": None, "t": None, "sensitive": []}
    (said,) = tried(con, [reason("query_error")], request)
    assert said.startswith("None of these lifts it: leaving out "), said
    assert "k = 5" in said
    assert "tried on 30 rows. " in said
    assert said.endswith(" stands in the way.")


@pytest.mark.parametrize("rule", DISCLOSED)
@pytest.mark.parametrize("t", [None, 1.0, 0.4, 0.1])
def test_a_rule_that_protects_people_is_lifted_by_more_protection_only(rule, t):
    request = {**REQUEST, "k": 10, "l": 1, "t": t}
    for each in changes(reason(rule, "s"), Trials(None, 1, 1, "anonymize", request, {})):
        before = {"t": 1.0, **{n: v for n, v in request.items() if v is not None}}[each.name]
        assert each.value < before if each.name == "t" else each.value > before


@pytest.mark.parametrize("rule", sorted({limit.rule for limit in VERDICT.values()} - {*DISCLOSED}))
def test_no_remedy_asks_for_less_than_the_environment_needs(rule):
    request = {**REQUEST, "k": 12, "t": 0.1}
    few = Trials(None, 1, 1, "anonymize", request, {"environment": "public"}, by_loss=["a", "b"])
    found = list(changes(reason(rule, "a"), few))
    assert found
    assert all(each.value >= 11 for each in found if each.name == "k")
    assert all(each.value <= 0.5 for each in found if each.name == "t")


def test_a_k_below_the_environment_is_tried(con):
    con.execute(RAW)
    low = Reason(AMBER, "choice", "k is 5.", "", 5, remedy="Require k = 11.")
    (said,) = tried(con, [low], {}, environment="public")
    assert said.startswith("k = 11 instead of 5 lifts it, loss ")


@pytest.mark.slow
def test_few_rows_are_tried_whatever_their_order(con, monkeypatch):
    monkeypatch.setattr(trials, "ROWS", 300)
    monkeypatch.setitem(remedies.trials.__wrapped__.__kwdefaults__, "rows", 300)
    scattered(con)
    request = {"quasi": ["a", "w", "x", "y"], "k": 20, "t": 0.1}
    found = [reason("query_error"), reason("gcp"), reason("lifted", "s", AMBER)]
    said = tried(con, found, request)
    assert all("300 of 400 rows" in each for each in said[:2]), said
    con.execute("CREATE OR REPLACE TABLE raw AS FROM raw ORDER BY id DESC")
    assert tried(con, found, request) == said


@pytest.mark.slow
def test_at_most_six_changes_are_tried(con, monkeypatch):
    scattered(con, 60)
    made = []
    release = Trials._measured

    def noted(self, change):
        made.append(change)
        return release(self, change)

    monkeypatch.setattr(Trials, "_measured", noted)
    rules = [reason(rule, level=AMBER) for rule in ("query_error", "gcp", "columns")]
    rules += [reason(rule, name) for rule in DISCLOSED for name in ("s", "n")]
    tried(con, rules, {"quasi": ["a", "w", "x", "y"], "k": 20, "t": 0.9})
    assert len(made) <= 1 + MOST_CHANGES
    assert len(set(made)) == len(made)
    assert made[0] is None


def test_what_is_green_accepted_decided_otherwise_or_of_a_series_is_not_tried(con, monkeypatch):
    monkeypatch.setattr(Trials, "trial", lambda *_: pytest.fail("tried"))
    con.execute(RAW)
    green = Verdict(GREEN, [])
    assert remedied(con, "anonymize", REQUEST, green, {}) is green
    left = [
        reason("gcp", level=AMBER, accepted="It is enough."),
        Reason(AMBER, "roles", "Unread.", "", remedy="Read them."),
    ]
    assert tried(con, left, {}) == [each.remedy for each in left]
    assert tried(con, [reason("gcp")], {"series": "state"}) == [reason("gcp").remedy]
    assert tried(con, [reason("gcp")], {"quasi": []}) == [reason("gcp").remedy]
    other = Verdict(RED, [reason("gcp")])
    assert remedied(con, "made elsewhere", REQUEST, other, {}) is other


UNIQUE = "SELECT found FROM audit('raw', 'released') WHERE property = 'identifying_combinations'"
RARE_ONES = "SELECT found FROM audit('raw', 'released') WHERE property = 'rare_combinations'"


@pytest.mark.parametrize(
    ("columns", "found", "sql", "said"),
    [
        ("i AS x, i % 5 AS y, 1 AS z", 1.0, UNIQUE, "Leaving out x lifts it: 0% of the rows are"),
        (
            "i AS x, i AS y, i % 5 AS z",
            1.0,
            UNIQUE,
            "Leaving out one of them does not lift it: 100%",
        ),
        (
            "i // 4 AS x, i % 5 AS y, 1 AS z",
            1.0,
            RARE_ONES,
            "Leaving out x lifts it: 0% of the rows",
        ),
        ("i // 4 AS x, i % 5 AS y, 1 AS z", 0.9, RARE_ONES, REMEDIES["identifying_combinations"]),
    ],
)
def test_the_kept_column_that_stands_out_is_named(con, columns, found, sql, said):
    con.execute(RAW)
    con.execute(
        "CREATE OR REPLACE TABLE released AS SELECT '*' AS a, '*' AS b, 's' AS s, 1 AS n, "
        f"{columns} FROM range(1000) AS made(i)"
    )
    remedy = REMEDIES["identifying_combinations"]
    kept = Reason(RED, "audit", "Some rows stand out.", sql, found, remedy=remedy)
    (text,) = tried(con, [kept], {"keep": ["x", "y", "z"]})
    assert text.startswith(said)


def test_odd_names_types_and_people_are_copied(con):
    con.execute(
        """CREATE OR REPLACE TABLE raw AS SELECT i AS "r", i // 20 AS "A ""b"" '", i // 7 AS id,
        ('v' || i % 4)::ENUM('v0', 'v1', 'v2', 'v3') AS s, (i * 37 % 101)::DECIMAL(9, 2) AS n,
        TIMESTAMPTZ '2020-01-01 00:00:00+00' + INTERVAL (i) HOUR AS "raw", [i] AS l, i::HUGEINT AS h,
        uuid() AS u, {'a': i} AS k FROM range(300) AS made(i)"""
    )
    request = {
        "quasi": ['A "b" \'', "raw", "h"],
        "identifiers": ["r", "id"],
        "entity": "id",
        "k": 60,
    }
    with trials.trials(con, "anonymize", {**REQUEST, **request}, {}, rows=100) as few:
        count = "SELECT count(*), count(DISTINCT id) FROM raw"
        assert few.con.execute(count).fetchall() == [(100, 15)]  # whole people
        assert few.con.table("raw").types == con.table("raw").types
        few.request = {**few.request, "k": 3}
        assert few.trial(None) is not None
        assert few.trial(RequestChange(OUT, "h")) is not None
        assert few.trial(RequestChange("k", 1_000)) is None


@pytest.mark.slow
def test_the_first_t_is_the_largest_that_is_not_red(con):
    con.execute(RAW)
    con.execute(RARE.format(300))
    request = {**REQUEST, "t": 0.9}
    with trials.trials(con, "anonymize", request, {}) as few:
        t, found = first(few)
    assert t == 0.5
    assert found.level != RED
    scattered(con, 30)
    request = {**request, "quasi": ["w", "x", "y"]}
    with trials.trials(con, "anonymize", request, {}) as few:
        t, found = first(few)
    assert t == 0.9
    assert found.level == RED
    assert found.reasons[0].remedy.endswith("stands in the way.")


@pytest.mark.slow
def test_a_stop_ends_a_trial(con, monkeypatch):
    import anon_sql
    from anon_sql.core import stopping
    from anon_sql.hosts.duckdb.interrupting import owner_of

    con.execute(RAW)
    con.execute(one_value(20))

    def work():
        with stopping.call(*owner_of(con), encloses=True):
            return tried(con, [reason("certain", "s")], LOOSE)

    with monkeypatch.context() as patch, ThreadPoolExecutor(1) as pool:
        seam = Seam.at(patch, trials, "measure")
        answer = pool.submit(work)
        seam.arrived()
        anon_sql.interrupt(con)
        seam.go()
        with pytest.raises((duckdb.Error, AnonError), match=r"stopped on request|INTERRUPT"):
            answer.result(LONG)
