"""Text that is numbers or dates in another notation, and sets too large to read, are judged."""

import pytest

from anon_sql.apps.verdict.figures import measure
from anon_sql.apps.verdict.rules import verdict

QUASI = ["born", "weight"]
TEXTS = """
    SELECT strftime(DATE '1930-01-01' + (i * 7919 % 30000)::INTEGER, '%d.%m.%Y') AS born,
        replace(printf('%.1f', 50 + i * 31 % 500 / 10.0), '.', ',') AS weight,
        'abcde'[1 + i % 5] AS ill
    FROM range(300) AS t(i)
"""
TYPED = (
    "SELECT strptime(born, '%d.%m.%Y')::DATE AS born, replace(weight, ',', '.')::DOUBLE AS weight, "
    f"ill FROM ({TEXTS})"
)


def released(con, raw, quasi=QUASI):
    """The request of a release of a table, and the losses of its columns."""
    con.execute(f"CREATE OR REPLACE TABLE raw AS {raw}")
    con.execute(
        "CREATE OR REPLACE TABLE released AS FROM anonymize('raw', k := 5, quasi := $q, "
        "sensitive := 'ill', effort := 'fast')",
        {"q": quasi},
    )
    request = dict.fromkeys(("l", "t", "beta", "delta", "max_share", "l_kind", "hierarchy"))
    roles = {"quasi": quasi, "sensitive": ["ill"], "identifiers": [], "keep": []}
    return {**request, "k": 5, **roles}


def reasons(con, request):
    return {each.rule: each for each in verdict(measure(con, request, [])).reasons}


def test_dates_and_numbers_that_stay_text_are_red_and_lose_the_range_that_they_span(con):
    judged = verdict(measure(con, released(con, TEXTS), [])).reasons
    found = {each.column: each for each in judged if each.rule == "texts"}
    assert found["born"].level == "red"
    assert "born is text although its values are dates written dd.mm.yyyy" in found["born"].text
    assert "numbers with a decimal comma. Read them as DOUBLE" in found["weight"].text
    for name in QUASI:
        assert con.sql(found[name].sql).fetchall() == [(found[name].found,)]
    assert found["born"].found > 0.3


def test_the_same_table_with_types_breaks_no_such_rule(con):
    found = reasons(con, released(con, TYPED))
    assert "texts" not in found
    ((gcp,),) = con.sql(
        "SELECT gcp FROM utility('raw', 'released', quasi := ['born', 'weight'])"
    ).fetchall()
    assert gcp < 0.3


def test_the_loss_of_a_set_of_texts_is_the_range_that_it_spans(con):
    con.execute(
        "CREATE TABLE raw AS SELECT unnest(['01.01.2000', '11.01.2000', '21.01.2000', "
        "'10.04.2000']) AS day"
    )
    con.execute(
        "CREATE TABLE released AS SELECT unnest(['{01.01.2000, 11.01.2000}', "
        "'{01.01.2000, 11.01.2000}', '{10.04.2000, 21.01.2000}', '{10.04.2000, 21.01.2000}']) AS day"
    )
    ((ncp,),) = con.sql(
        "SELECT ncp FROM attribute_loss('raw', 'released', quasi := 'day')"
    ).fetchall()
    assert ncp == pytest.approx((0.5 + 0.8) / 2)  # of 100 days, and half of the four values


def test_a_hierarchy_makes_texts_readable(con):
    request = released(con, TEXTS)
    con.execute(
        "CREATE TABLE trees AS SELECT DISTINCT 'born' AS attribute, born AS value, "
        "unnest([1, 2]) AS level, unnest([born[-4:], '*']) AS label FROM raw"
    )
    con.execute(
        "CREATE OR REPLACE TABLE released AS FROM anonymize('raw', k := 5, quasi := 'born', "
        "sensitive := 'ill', exclude := 'weight', hierarchy := 'trees', effort := 'fast')"
    )
    assert "texts" not in reasons(con, {**request, "quasi": ["born"], "hierarchy": "trees"})


def test_sets_of_more_values_than_a_reader_can_use_are_counted(con):
    codes = "SELECT 'k' || i % 40 AS code, 'abcde'[1 + i % 5] AS ill FROM range(400) AS t(i)"
    request = released(con, codes, ["code"])
    assert "sets" not in reasons(con, request)
    con.execute(
        "CREATE OR REPLACE TABLE released AS SELECT if(substr(code, 2)::INTEGER < 21, all_codes, "
        "code) AS code, ill FROM raw, (SELECT '{' || string_agg(code, ', ' ORDER BY code) || '}' AS "
        "all_codes FROM (SELECT DISTINCT code FROM raw WHERE substr(code, 2)::INTEGER < 21))"
    )
    found = reasons(con, request)["sets"]
    assert (found.level, found.column, found.found) == ("red", "code", 0.525)
    assert con.sql(found.sql).fetchall() == [(found.found,)]
