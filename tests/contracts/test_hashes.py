"""The hash of a row: its values, and that SQL and Python say the same.

Hashes decide the order of rows, vantage points, samples and regions. If a value here changes with a
version of DuckDB, releases change with it: the version of the row hash must rise.
"""

import re
from pathlib import Path

import pytest

from anon_sql.core.duckdb_internals.hashing import ROW_HASH, hashes_apart, row_hash, sort_key
from anon_sql.core.names import quote
from anon_sql.hosts.duckdb.sql_files import sql_files

pytestmark = [pytest.mark.quick, pytest.mark.oldest]

ROOT = Path(__file__).resolve().parents[2]
VALUES = {  # an expression, and the hash of a row that has it alone
    "NULL": 4226914104280384648,
    "NULL::VARCHAR": 4226914104280384648,
    "NULL::DOUBLE": 4226914104280384648,
    "NULL::INTEGER": 4226914104280384648,
    "true": 9779894755609661447,
    "1::TINYINT": 9779894755609661447,
    "1::SMALLINT": 9779894755609661447,
    "1": 9779894755609661447,
    "-1": 4368087419919415515,
    "1::BIGINT": 9779894755609661447,
    "1::HUGEINT": 376757797945120473,
    "(-1)::HUGEINT": 14338265970983731716,
    "0::HUGEINT": 10561341313396420962,
    "1::UTINYINT": 9779894755609661447,
    "1::USMALLINT": 9779894755609661447,
    "1::UINTEGER": 9779894755609661447,
    "1::UBIGINT": 9779894755609661447,
    "1::UHUGEINT": 376757797945120473,
    "1.5::FLOAT": 14113381807579669129,
    "1.5::DOUBLE": 10543677898185085008,
    "0.0::DOUBLE": 464867528850538596,
    "-0.0::DOUBLE": 10947214825235556383,
    "-0.0::FLOAT": 10947214825235556383,
    "'nan'::DOUBLE": 1159089667514767189,
    "-('nan'::DOUBLE)": 17078860774671286913,
    "'inf'::DOUBLE": 10936552806861905925,
    "1.5::DECIMAL(4, 1)": 16040011765346065716,
    "1.5::DECIMAL(9, 1)": 16040011765346065716,
    "1.5::DECIMAL(18, 1)": 16040011765346065716,
    "1.5::DECIMAL(38, 1)": 731742183135605944,
    "'a'": 3259265816812478911,
    "''": 3977665867662711987,
    "'ä'": 12405619281944210736,
    "'a text of more than twelve bytes'": 15809585824517226936,
    "'a' COLLATE nocase": 3259265816812478911,
    "'a'::BLOB": 3259265816812478911,
    "'101'::BIT": 8612925281897484567,
    "'a'::ENUM ('b', 'a')": 3259265816812478911,
    "'{\"a\": 1}'::JSON": 17538074768147691388,
    "'b9c0a1a2-0000-4000-8000-000000000001'::UUID": 15769683699090609053,
    "DATE '2020-02-29'": 10847582521172978619,
    "TIME '12:34:56.789'": 5520821039944497074,
    "TIMETZ '12:34:56+02'": 10054735163381831137,
    "TIMESTAMP '2020-02-29 12:34:56'": 14904674702448339217,
    "'2020-02-29 12:34:56'::TIMESTAMP_S": 11570543190013825627,
    "'2020-02-29 12:34:56'::TIMESTAMP_MS": 10215812414449578006,
    "'2020-02-29 12:34:56'::TIMESTAMP_NS": 14988270819455488646,
    "TIMESTAMPTZ '2020-02-29 12:34:56+00'": 14904674702448339217,
    "INTERVAL 30 DAY": 6184177736593455515,
    "INTERVAL 1 MONTH": 10565518187592148244,
    "[1, NULL]": 12569711426340956114,
    "[1, 2]::INTEGER[2]": 2828140357842912769,
    "{'a': 1, 'b': 'x'}": 3884347344311050754,
    "MAP {'a': 1}": 9155149790183725045,
    "union_value(a := 1)": 16673609834609780175,
    "[]::INTEGER[]": 6616640419606352843,
    "NULL::INTEGER[]": 15056397337984683287,
    "NULL::BIT[]": 15056397337984683287,
    "NULL::STRUCT(a INTEGER)": 4226914104280384648,
    "1::VARIANT": 1627635336219488785,
    "[true]::VARIANT": 10292564850464326481,
    "['101'::BIT]": 12723916199383341914,
    "{'BIT': 1}": 3954449801351208192,
    "{'a': TIMETZ '12:34:56+02'}": 8436012639971843582,
    "'BIT'::ENUM ('BIT')": 12664930997267149495,
    "'101'::BIT::VARIANT": 17569224358905408879,
    "1::BIGNUM": 12333555865271810323,
    "'12:00:00'::TIME_NS": 4610000590220136028,
}
SEVERAL = {
    ("1", "'a'"): 17064324523669523080,
    ("'a'", "1"): 3341921736438327689,
    ("1", "NULL"): 8117296049798182847,
    ("NULL", "1"): 1036083101029146214,
    ("NULL", "NULL"): 13481362708405266917,
    ("1", "-0.0::DOUBLE", "[1]"): 15801264417714461036,
    ("1", "2", "3", "'a'", "DATE '2020-02-29'", "1.5::DOUBLE"): 13287684217175522795,
    ("1", "0.0::DOUBLE"): 4655223204394204131,
    ("1", "-0.0::DOUBLE"): 8154333188673762736,
    ("1::HUGEINT", "-0.0::DOUBLE"): 17337571486600214424,
}


def hashed(con, values):
    """Return the hash of a row of some values by the macro and by the Python function."""
    columns = ", ".join(f"{value} AS __anon_kept_{at}" for at, value in enumerate(values))
    con.execute(
        f"CREATE OR REPLACE TEMP TABLE one AS SELECT {columns}, 0::TINYINT AS __anon_kept_z"
    )
    macro = "SELECT __anon_hash FROM __anon_row_hashed('one')"
    types = con.execute("DESCRIBE one").fetchall()[:-1]
    function = f"SELECT {row_hash({quote(name): kind for name, kind, *_ in types})} FROM one"
    return con.execute(macro).fetchall()[0][0], con.execute(function).fetchall()[0][0]


@pytest.mark.parametrize("value", VALUES)
def test_the_hash_of_a_value_of_each_type(con, value):
    assert hashed(con, [value]) == (VALUES[value],) * 2


@pytest.mark.parametrize("values", SEVERAL)
def test_the_hash_of_several_columns(con, values):
    assert hashed(con, values) == (SEVERAL[values],) * 2


def test_a_collation_does_not_count_in_sql(con):
    """DuckDB 2.0.1 hashes a text by its collation, 1.5 by its bytes."""
    con.execute("SET default_collation = 'nocase'")
    assert hashed(con, ["'a'"])[0] == VALUES["'a'"]
    assert hashed(con, ["'A'"])[0] != VALUES["'a'"]


HASHES = (
    *(4717996019076358352, 12561829011207016135, 13787848793156543929),
    *(16748857609561410660, 6250315044274023003),
)


def test_the_hash_alone_that_orders_classes_and_spreads_rows(con):
    found = con.execute(
        "SELECT hash(1), hash('a'), hash(NULL), hash(1, 'a'), hash('a', 1)"
    ).fetchall()
    assert found == [HASHES]


def test_text_hashes_as_its_bytes_and_integers_as_any_other_of_their_value(con):
    pairs = ["hash('a') = hash('a'::BLOB)", "hash(1::TINYINT) = hash(1::BIGINT)"]
    assert con.execute(f"SELECT {', '.join(pairs)}").fetchall() == [(True, True)]


def test_the_version_of_the_row_hash_is_said_alike(con):
    assert con.execute("SELECT __anon_row_hash_version()").fetchall() == [(ROW_HASH,)]


@pytest.mark.parametrize("kind", ["DOUBLE", "HUGEINT", "BIT", "INTERVAL", "INTEGER[]"])
def test_both_know_which_types_need_their_text(con, kind):
    assert not hashes_apart(kind)
    assert con.execute(f"SELECT __anon_hashes_apart(NULL::{kind})").fetchall() == [(False,)]


SORTED = {  # values in their order, which is that of their keys
    "integers": ["NULL", "-300", "-1", "0", "1", "300"],
    "doubles": [
        "NULL",
        "'-inf'::DOUBLE",
        "-1.5",
        "0.0::DOUBLE",
        "2e300",
        "'inf'::DOUBLE",
        "'nan'::DOUBLE",
    ],
    "texts": ["NULL", "''", "'A'", "'a'", "'a '", "'aa'", "'ä'"],
    "dates": ["NULL", "DATE '1900-01-01'", "DATE '2020-02-29'"],
    "lists": ["NULL", "[]::INTEGER[]", "[1]", "[1, 2]", "[2]"],
}


@pytest.mark.parametrize("values", SORTED)
def test_sort_keys_are_in_the_order_of_the_values(con, values):
    rows = ", ".join(f"({value})" for value in SORTED[values])
    keys = con.execute(
        f"SELECT {sort_key('x')}, __anon_sort_key(x) FROM (VALUES {rows}) v(x)"
    ).fetchall()
    assert all(one == other for one, other in keys)
    assert keys[0] == (b"", b"")
    assert [one for one, _ in keys] == sorted({one for one, _ in keys})


def test_equal_values_have_one_sort_key(con):
    found = con.execute(
        f"SELECT {sort_key('a')} = {sort_key('b')} FROM (SELECT 0.0::DOUBLE AS a, -0.0::DOUBLE AS b)"
    ).fetchall()
    assert found == [(True,)]


@pytest.mark.parametrize(
    ("name", "home"), [("hash", "anon_row_hash"), ("create_sort_key", "anon_key")]
)
def test_one_file_of_sql_and_one_of_python_call_the_hash_and_the_sort_key(name, home):
    called = re.compile(rf"(?<!\w){name}\(")
    files = {file.name for file in sql_files() if called.search(re.sub("--.*", "", file.text))}
    assert files == {home}
    modules = {
        path.stem
        for path in ROOT.glob("anon_sql/**/*.py")
        if re.search(rf"main\.{name}\b|[\"]{name}\(", path.read_text("utf-8"))
    }
    assert modules == {"hashing"}
