"""anon_values: the members of a text label."""

import duckdb
import pytest

pytestmark = [pytest.mark.quick, pytest.mark.oldest]


@pytest.mark.parametrize(
    ("shown", "wanted"),
    [
        ("'Private'", ["Private"]),
        ("'{Private, State-gov}'", ["Private", "State-gov"]),
        (r"'{''a, b'', ''c\''d'', ''*'', ''''}'", ["a, b", "c'd", "*", ""]),
        ("'''[70-80)'''", ["[70-80)"]),
        ("['x', 'y']", ["x", "y"]),
        ("'*'", None),
        ("'[17, 23]'", None),
        ("NULL::VARCHAR", None),
    ],
)
def test_members(con, shown, wanted):
    assert con.execute(f"SELECT anon_values({shown})").fetchall() == [(wanted,)]


@pytest.mark.parametrize(
    ("shown", "wanted"),
    [
        ("'Non-Government'", ["Private", "Self-emp"]),
        ("'Private'", ["Private"]),
        ("'''[17, 20['''", ["it's"]),
        (r"'''it\''s'''", ["it's"]),
        ("'*'", None),
        ("NULL::VARCHAR", None),
        ("['x', 'y']", ["x", "y"]),
    ],
)
def test_the_leaves_of_a_node(con, shown, wanted):
    con.execute(
        "CREATE OR REPLACE TABLE h AS SELECT * FROM (VALUES ('job', 'Private', 1, 'Non-Government'), "
        "('job', 'Self-emp', 1, 'Non-Government'), ('job', 'it''s', 1, '[17, 20['), "
        "('other', 'Private', 1, 'x')) AS v(attribute, value, level, label)"
    )
    call = f"anon_values({shown}, hierarchy := 'h', attribute := 'JOB')"
    assert con.execute(f"SELECT {call}").fetchall() == [(wanted,)]
    many = f"SELECT list(anon_values(l, hierarchy := 'h', attribute := 'job')) FROM (SELECT {shown} AS l FROM range(3000))"
    assert con.execute(many).fetchall() == [([wanted] * 3000,)]


def test_what_is_no_node_is_an_error(con):
    con.execute(
        "CREATE OR REPLACE TABLE h AS SELECT 'age' AS attribute, '1' AS value, 1 AS level, 'x' AS label"
    )
    for label, attribute, said in (
        ("y", "age", "anon_values: a label must be a node of the hierarchy or [*]"),
        ("x", "nix", "anon_values: attribute must name one that the hierarchy has, got 'nix'"),
    ):
        with pytest.raises(duckdb.Error, match=said):
            con.execute(f"SELECT anon_values('{label}', 'h', '{attribute}')").fetchall()
