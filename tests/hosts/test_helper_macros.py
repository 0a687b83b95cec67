"""Helper macros that somebody replaced are noticed, and settings of Arrow change nothing."""

import pytest

import anon_sql
from anon_sql import AnonError
from tests.sentence import fails

pytestmark = pytest.mark.oldest

TABLE = "CREATE TABLE t AS SELECT i % 12 AS n, 'abc'[1 + i % 3] AS s, i AS rid FROM range(60) r(i)"
CALL = "FROM rayden('t', k := 5, quasi := ['n'], keep := ['rid'], sensitive := 's', l := 2)"
GIVEN = "'t', k := 5, quasi := ['n'], keep := ['rid'], sensitive := 's', l := 2"
REPLACED = [
    ("__anon_sort_key(x) AS 'x'::BLOB", f"rayden({GIVEN})"),
    ("__anon_told_apart(x) AS NULL", f"rayden({GIVEN})"),
    ("__anon_mark(x) AS 1", f"sdka({GIVEN}, generator := 'bootstrap')"),
]


@pytest.mark.makes_functions
@pytest.mark.parametrize(("macro", "call"), REPLACED)
def test_a_helper_macro_that_was_replaced(con, macro, call):
    con.execute(TABLE)
    before = con.execute(f"FROM {call}").fetchall()
    con.execute(f"CREATE OR REPLACE MACRO {macro}")
    assert fails(con, f"FROM {call}") == (
        f"{call.partition('(')[0]}: the helper macros must be those of this version, got one that was replaced; "
        "call anon_sql.register(con, overwrite=True)"
    )
    with pytest.raises(AnonError, match="macros with these names must belong to anon_sql"):
        anon_sql.register(con)
    anon_sql.register(con, overwrite=True)
    assert con.execute(f"FROM {call}").fetchall() == before


KEPT = {
    "zeros": "SELECT i % 2 AS n, if(i % 3 = 0, '-0.0', '0.0')::{} AS kept FROM range(40) r(i)",
    "nans": "SELECT i % 2 AS n, if(i % 3 = 0, -('nan'::{0}), 'nan'::{0}) AS kept FROM range(40) r(i)",
    "lists": "SELECT i % 2 AS n, if(i % 3 = 0, ['-0.0', '1'], ['0.0', '1'])::{}[] AS kept FROM range(40) r(i)",
}


@pytest.mark.parametrize("kept", KEPT)
@pytest.mark.parametrize("kind", ["FLOAT", "DOUBLE"])
def test_equal_values_that_print_differently_do_not_show_the_order(con, kept, kind):
    """-0.0 equals 0.0 and -nan equals nan, but they print differently: rows are told apart."""
    source = KEPT[kept].format(kind)
    con.execute(f"CREATE TABLE one AS {source} ORDER BY i")
    con.execute(f"CREATE TABLE two AS {source} ORDER BY hash(i)")
    call = "SELECT n, kept::VARCHAR FROM mondrian('{}', k := 5, quasi := ['n'], keep := ['kept'])"
    one, two = (con.execute(call.format(name)).fetchall() for name in ("one", "two"))
    assert one == two
    assert len(set(one)) == 4


def test_arrow_with_view_types(con):
    """Types of a later version of Arrow are read like those of the first one."""
    if not con.execute("SELECT name FROM duckdb_settings() WHERE name = 'arrow_output_version'"):
        pytest.skip("needs the setting arrow_output_version")
    con.execute(TABLE)
    call = CALL.replace("['n']", "['n', 's']").replace(
        "sensitive := 's', l := 2", "format := 'typed'"
    )
    before = [con.execute(each).fetchall() for each in (CALL, call)]
    con.execute("SET arrow_output_version = '1.5'")
    assert [con.execute(each).fetchall() for each in (CALL, call)] == before
