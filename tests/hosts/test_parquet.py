"""A Parquet file written from Arrow holds what DuckDB's own file of the same rows holds."""

import duckdb
import pyarrow as pa
import pytest
from pyarrow.parquet import read_metadata

from anon_sql.hosts.parquet import ROW_GROUP, holds, write_parquet
from anon_sql.hosts.parts.regions import Batches

pytestmark = pytest.mark.oldest

EACH = """SELECT i % 2 = 0 AS bool, (i % 100)::TINYINT AS tiny, i::SMALLINT AS small, i::INTEGER AS
    int, -i * 1000000000000 AS big, (i % 200)::UTINYINT AS utiny, i::USMALLINT AS usmall,
    (4294967295 - i)::UINTEGER AS uint, (18446744073709551615 - i)::UBIGINT AS ubig, if(i % 7 = 0,
    'nan', i / 3)::FLOAT AS float, if(i % 2 = 0, 0.0, -0.0)::DOUBLE AS double, if(i % 5 = 0, NULL,
    'é ''' || i % 9) AS text, '\\x01\\xFF'::BLOB AS blob, if(i % 9 = 0, 'infinity'::DATE, '1900-01-01'
    ::DATE + i::INTEGER) AS date, if(i % 9 = 0, '-infinity'::TIMESTAMP, TIMESTAMP
    '2020-01-01 00:00:00.000001' + INTERVAL (i) HOUR) AS moment, TIMESTAMPTZ '2020-01-01 00:00:00+00'
    + INTERVAL (i) HOUR AS instant FROM range(3000) r(i)"""


def read(file):
    found = duckdb.read_parquet(str(file))
    return found.columns, found.types, list(map(str, found.fetchall()))


@pytest.mark.parametrize("coded", [False, True], ids=["text", "dictionary"])
def test_files_of_arrow_and_of_a_query_hold_the_same(con, tmp_path, coded):
    con.execute("SET TimeZone = 'Asia/Tokyo'")
    table = con.sql(EACH).to_arrow_table()
    types = con.sql(EACH).types
    assert all(holds(str(kind)) for kind in types)
    if coded:
        own = table.column("text").combine_chunks().dictionary_encode()
        table = table.set_column(table.column_names.index("text"), "text", own)
    files = tmp_path / "arrow.parquet", tmp_path / "query.parquet"
    rows = Batches(table.schema, lambda: iter(table.to_batches(max_chunksize=1000)))
    for file, given in zip(files, (rows, EACH), strict=True):
        assert write_parquet(con, given, file, {"a'b": "c'd"}) == 3000
    assert read(files[0]) == read(files[1])
    assert read(files[0])[1] == types
    for file in files:
        assert read_metadata(file).metadata == {b"a'b": b"c'd"}


def test_types_of_which_files_would_differ_are_not_written_from_arrow():
    kinds = ("DECIMAL(18,3)", "UUID", "INTEGER[]", "STRUCT(a INTEGER)", "TIMESTAMP_S", "TIME")
    assert not any(map(holds, kinds))


def test_a_row_group_is_as_large_as_those_of_duckdb(con, tmp_path):
    file = tmp_path / "a.parquet"
    write_parquet(con, f"FROM range({ROW_GROUP + 1})", file, {})
    assert read_metadata(file).num_row_groups == 2


@pytest.mark.parametrize(
    "setting", ["enable_external_access = false", "disabled_filesystems = 'LocalFileSystem'"]
)
def test_a_file_of_arrow_is_not_written_where_settings_forbid_files(tmp_path, setting):
    con = duckdb.connect()
    con.execute(f"SET {setting}")
    rows = Batches(pa.schema([("a", pa.int32())]), lambda: iter([]))
    with pytest.raises(duckdb.PermissionException):
        write_parquet(con, rows, tmp_path / "a.parquet", {})
    assert not list(tmp_path.iterdir())
