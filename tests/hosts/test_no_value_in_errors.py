"""No error contains a value of the data: a planted one in every column, and many failing calls."""

import duckdb
import pytest

import anon_sql
from anon_sql.hosts.duckdb import sql_files
from anon_sql.hosts.duckdb.errors import error_text

pytestmark = pytest.mark.oldest

CANARY = "Zanzibarella"
MISREAD = f"{CANARY} 12345"  # a name that is a value, since a header was misread
K = f"keep := ['listed', '{MISREAD}', '*']"
ROLES = "quasi := ['age', 'name']"
CALLS = [
    "FROM rayden('t', quasi := ['age'], keep := ['*'])",
    f"FROM rayden('t', quasi := ['nobody'], {K})",
    "FROM rayden('t', quasi := ['age'])",
    f"FROM rayden('t', quasi := ['{CANARY.lower()[:6]}'], {K})",
    f"FROM rayden('t', quasi := ['age', 'age'], {K})",
    f"FROM rayden('t', quasi := ['listed'], {K})",
    f"FROM rayden('t', quasi := ['unreal'], {K})",
    f"FROM rayden('t', {ROLES}, k := 900, {K})",
    f"FROM rayden('t', {ROLES}, sensitive := ['illness'], l := 90, {K})",
    f"FROM rayden('t', {ROLES}, entity := 'nobody', {K})",
    f"FROM rayden('t', {ROLES}, hierarchy := 't', {K})",
    f"FROM rayden('t', {ROLES}, hierarchy := 'few', {K})",
    f"FROM rayden('t', {ROLES}, hierarchy := 'bad', {K})",
    f"FROM rayden('t', {ROLES}, hierarchy := 'twice', {K})",
    f"FROM rayden('t', {ROLES}, hierarchy := 'leaf', {K})",
    f"FROM rayden('t', {ROLES}, hierarchy := 'few', {K}, format := 'typed')",
    f"FROM canon('t', {ROLES}, {K})",
    f"FROM datafly('t', {ROLES}, {K})",
    f"FROM basic_mondrian('t', {ROLES}, hierarchy := 'bad', {K})",
    f"FROM full_domain('t', {ROLES}, {K}, like := 'broken')",
    f"FROM full_domain('t', {ROLES}, {K}, like := 'released', hierarchy := 'few')",
    f"FROM full_domain('t', {ROLES}, {K}, k := 9, like := 't')",
    f"FROM anonymize('t', {ROLES}, hierarchy := 'bad', {K}, time_limit := 1)",
    "FROM generalize('t', k := 5, quasi := ['age'], classes := 'name')",
    "FROM generalize('t', k := 5, quasi := ['age'], classes := 'nobody')",
    f"FROM attack_linking('t', 't', 'illness', {ROLES})",
    f"FROM attack_downcoding('t', 'broken', {ROLES})",
    f"FROM attack_downcoding('t', 'released', id := 'nobody', {ROLES})",
    f"FROM mondrian('t', {ROLES}, {K}, bin_width := MAP {{'age': 'x'}})",
    f"FROM mondrian('t', {ROLES}, {K}, bin_width := MAP {{'name': 5}})",
    f"FROM value_loss('t', 'released', {ROLES})",
    f"SELECT gcp('t', 'broken', {ROLES})",
    f"SELECT gcp('broken', 't', {ROLES})",
    f"SELECT gcp('t', 'released', {ROLES}, hierarchy := 'bad')",
    f"SELECT l_diversity('t', 'broken', {ROLES}, sensitive := 'illness')",
    f"SELECT t_closeness('t', 'other', {ROLES}, sensitive := 'illness')",
    f"SELECT t_closeness('t', 'released', {ROLES}, sensitive := 'illness', hierarchy := 'bad')",
    f"FROM utility('t', 'broken', k := 5, {ROLES})",
    f"FROM audit('t', 'other', k := 5, {ROLES}, hierarchy := 'bad')",
    f"FROM audit('released', 't', k := 5, {ROLES})",
    f"FROM risk('t', 'released', {ROLES}, population := 'few')",
    f"FROM query_error('t', 'released', ['SELECT sum(name) FROM raw'], {ROLES})",
    f"FROM query_error('t', 'released', ['SELECT sum(illness) FROM raw'], {ROLES})",
    f"FROM query_error('t', 'released', ['SELECT count(*) FROM raw WHERE age > name'], {ROLES})",
    f"FROM query_error('t', 'released', ['SELECT count(*) FROM raw WHERE illness > 3'], {ROLES})",
    f"FROM query_error('t', 'broken', ['SELECT count(*) FROM raw WHERE age > 30'], {ROLES})",
    f"FROM query_error('t', 'released', ['SELECT count(*) FROM raw WHERE age > ''x'''], {ROLES})",
    f"FROM query_error('t', 'released', ['SELECT count(*) FROM raw WHERE nobody'], {ROLES})",
    f"FROM classification('t', 'released', 'nobody', {ROLES})",
    f"FROM compare('t', {ROLES}, methods := ['nobody'])",
    "SELECT anon_min(name || '[') FROM t",
    "SELECT anon_max('[' || name) FROM t",
    "SELECT anon_mid('{' || name) FROM t",
    "SELECT anon_values('''' || name) FROM t",
    "SELECT anon_values(name, hierarchy := 'few', attribute := 'name') FROM t",
    "SELECT anon_values(name, hierarchy := 'leaf', attribute := 'name') FROM t",
    "FROM check_hierarchy('t', 't')",
    "FROM numeric_hierarchy('t', 'name', [10])",
    "FROM date_hierarchy('t', 'name')",
    "FROM anon_roles('nobody')",
]


@pytest.fixture(scope="module")
def planted():
    """Tables that no test writes to."""
    with anon_sql.connect() as con:
        yield plant(con)


def plant(con):
    con.execute(
        "CREATE TABLE t AS SELECT 20 + i % 9 AS age, $1 || i % 5 AS name, $1 || i % 3 AS illness, "
        f"[$1] AS listed, CASE WHEN i = 3 THEN 'nan'::DOUBLE ELSE i END AS unreal, i AS \"{MISREAD}\" "
        "FROM range(40) r(i)",
        [CANARY],
    )
    con.execute(f"CREATE TABLE released AS FROM rayden('t', {ROLES}, {K})")
    con.execute("CREATE TABLE broken AS SELECT * REPLACE ('[' || name AS age) FROM released")
    con.execute("CREATE TABLE other AS SELECT * REPLACE (illness || 'x' AS illness) FROM released")
    con.execute("CREATE TABLE few(attribute VARCHAR, value VARCHAR, level INT, label VARCHAR)")
    for table in ("bad", "twice", "leaf"):
        con.execute(f"CREATE TABLE {table} AS FROM few")
    con.execute("INSERT INTO few VALUES ('name', 'x', 1, '*')")
    names = "(SELECT DISTINCT name FROM t)"
    con.execute(f"INSERT INTO bad SELECT 'name', name, NULL, name FROM {names}")
    con.execute(f"INSERT INTO twice SELECT 'name', name, 1, 'x' || i FROM {names}, range(2) r(i)")
    con.execute(f"INSERT INTO leaf SELECT 'name', name, 1, $1 || '1' FROM {names}", [CANARY])
    return con


@pytest.mark.parametrize("call", CALLS)
def test_the_text_of_an_error_has_no_value(planted, call):
    with pytest.raises(duckdb.Error) as caught:
        planted.execute(call).fetchall()
    assert CANARY not in error_text(caught.value, call)
    if "AnonError" in str(caught.value):
        assert CANARY not in str(caught.value)


@pytest.mark.slow
def test_the_examples_of_all_functions_on_another_table(planted):
    """Each fails or does not; none says a value."""
    texts = []
    for entry in sql_files.entries():
        for table in ("t", "few", "leaf", "broken"):
            call = entry.example.replace("'people'", f"'{table}'").replace("'release'", "'broken'")
            try:
                planted.execute(call.rstrip(";")).fetchall()
            except duckdb.Error as error:
                texts.append(error_text(error, call))
                texts += [str(error)] if "AnonError" in str(error) else []
    assert len(texts) > 100
    assert [text for text in texts if CANARY in text] == []
