"""Every text of DuckDB's errors that the package looks for, provoked in DuckDB."""

import subprocess
import sys
from contextlib import suppress

import duckdb
import pytest

from anon_sql.core.duckdb_internals.error_texts import (
    is_older_storage,
    is_open_end,
)
from anon_sql.errors import AnonError
from anon_sql.hosts.duckdb import errors

pytestmark = [pytest.mark.quick, pytest.mark.oldest]

TABLES = """
CREATE TABLE t AS SELECT 'Zanzibar' AS name, 7 AS age;
CREATE TABLE keyed(id INTEGER PRIMARY KEY, n INTEGER NOT NULL, CHECK (n > 0));
CREATE TABLE child(id INTEGER REFERENCES keyed(id));
INSERT INTO keyed VALUES (1, 1);
CREATE MACRO dm_star(raw, released) AS 1;
CREATE MACRO rayden(tbl, k := 5, quasi := NULL) AS TABLE SELECT COLUMNS(lambda c: c = tbl) FROM t;
CREATE MACRO named(tbl) AS TABLE FROM query_table(tbl);
"""


@pytest.fixture
def bare():
    con = duckdb.connect()
    con.execute(TABLES)
    return con


def raised(call, text, kind=duckdb.Error):
    """The error of a call on a text."""
    with pytest.raises(kind) as caught:
        call(text)
    return caught.value


def text_of(con, query):
    return str(raised(lambda text: con.execute(text).fetchall(), query))


MEANT = {  # statements whose errors have a meaning, by a part of what is said of them
    "a name is a text": ["FROM rayden(people)"],
    "write FROM {ours}": ["SELECT rayden('t')"],
    "write SELECT {ours}": ["FROM dm_star('t')"],
    "write := after": ["FROM rayden('age', k := 5, quasi = ['age'], 5)"],
    "in a call write": ["SELECT k = 5 FROM t"],
    "a label of a release": ["SELECT avg(name) FROM t", "SELECT name > 30 FROM named('t')"],
    "format := 'typed'": ["SELECT name.min FROM t", "SELECT name.max FROM t"],
    "a call takes a name": ["FROM rayden((FROM t))"],
}


@pytest.mark.parametrize("hint", MEANT)
def test_a_mistake_has_the_text_that_is_looked_for(bare, hint):
    (pattern,) = (pattern for pattern, meant in errors._MISTAKES if hint in meant)
    for query in MEANT[hint]:
        assert pattern.search(text_of(bare, query))


def test_a_star_in_a_call_of_a_release(con):
    con.execute("CREATE TABLE t AS SELECT 1 AS a")
    (pattern,) = (pattern for pattern, meant in errors._MISTAKES if "keep := ['*']" in meant)
    assert pattern.search(text_of(con, "FROM rayden('t', keep := *)"))


def test_every_mistake_is_here():
    assert len(MEANT) + 1 == len(errors._MISTAKES)


def test_a_macro_that_lacks_a_parameter(bare):
    found = errors._MACRO.search(text_of(bare, "FROM rayden('t', qids := 1)"))
    assert found["ours"] == "rayden"


REFUSED = [  # statements whose errors quote values, in the order of the patterns
    ["SELECT name::INTEGER FROM t", "SELECT name::DOUBLE FROM t", "SELECT name::UUID FROM t"],
    ["SELECT (300 + age)::TINYINT FROM t"],
    ["SELECT name::DATE FROM t", "SELECT name::TIMESTAMP FROM t"],
    ["SELECT name::TIME FROM t", "SELECT ('2020-13-4' || age)::DATE FROM t"],
    ["SELECT strptime(name, '%d') FROM t"],
    ["SELECT json_extract(name, '$.a') FROM t"],
    ["SELECT 2147483647 + age FROM t", "SELECT 2147483647 * age FROM t"],
    ["INSERT INTO keyed VALUES (1, 1)"],
    ["INSERT INTO keyed VALUES (2, NULL)"],
    ["INSERT INTO keyed VALUES (2, -1)"],
    ["INSERT INTO child VALUES (9)"],
    [
        *("SELECT (SELECT i FROM range(3) r(i))", "SELECT map(['a', 'a'], [1, 2])"),
        *("PREPARE p AS SELECT $x + 1; EXECUTE p", "SELECT repeat(name, 4000000000) FROM t"),
    ],
    ["SELECT printf('%d', name) FROM t"],
    ["SELECT age::DATE FROM t"],
]


@pytest.mark.parametrize("at", range(len(errors._REFUSALS)), ids=lambda at: errors._KNOWN[at][0])
def test_a_refusal_begins_as_is_looked_for(bare, at):
    for query in REFUSED[at]:
        kind, text = errors._RISKY.match(text_of(bare, query)).groups()
        assert errors._REFUSALS[at][0].match(text), kind


def test_a_cast_names_its_column(bare):
    found = errors._SOURCE.search(text_of(bare, "SELECT name::INTEGER FROM t"))
    assert found[1] == "name"


@pytest.mark.parametrize("content", ["PAR", "abcd" * 10])
def test_a_file_that_is_no_parquet_file(bare, tmp_path, content):
    path = tmp_path / "small.parquet"
    path.write_text(content)
    kind, text = errors._RISKY.match(text_of(bare, f"FROM '{path}'")).groups()
    assert errors._REFUSALS[11][0].match(text), kind


READ = "FROM read_csv('{}', header := true, auto_detect := false, delim := ',', quote := '\"', "
WRONG = {  # lines of files of an integer and a text, and what DuckDB says of them
    '1,"x': "Value with unterminated quote found",
    "1,2,3": "Expected Number of Columns: 2 Found: 3",
    "1": "Expected Number of Columns: 2 Found: 1",
    "1,\udcff\udcfe": "Invalid unicode (byte sequence mismatch) detected",
    "x,2": "Error when converting column",
    "1," + "x" * 5000: "Maximum line size of 1000 bytes exceeded",
}


@pytest.mark.parametrize("line", WRONG, ids=WRONG.values())
def test_a_line_of_a_csv_file_and_what_is_wrong_with_it(bare, tmp_path, line):
    path = tmp_path / "in.csv"
    path.write_text(f"a,b\n{line}\n", "utf-8", "surrogateescape")
    columns = "columns := {'a': 'INTEGER', 'b': 'VARCHAR'}, max_line_size := 1000)"
    text = text_of(bare, READ.format(path) + columns)
    assert errors._LINE.search(text)[1] == "2"
    assert errors._REASON.search(text)[1] == WRONG[line]


@pytest.mark.parametrize("query", ["SELECT nam FROM t", "FROM tt", "SELECT x.age FROM t"])
def test_names_that_might_have_been_meant_follow_known_words(bare, query):
    text = text_of(bare, query)
    assert errors._NAMES.search(text)


@pytest.fixture
def failing(bare):
    def fail(text):
        raise KeyError(text) if text == "key" else AnonError("rayden", "a rule", "another\n\nline")

    bare.create_function("fail", fail, ["VARCHAR"], "VARCHAR")
    return bare


def test_an_error_of_a_function_is_wrapped_in_known_words(failing):
    text = text_of(failing, "SELECT fail('key')")
    assert errors._PYTHON.search(text)[1] == "KeyError"
    found = errors._UDF.match(text_of(failing, "SELECT fail('other')"))
    assert found[1] == "AnonError: "


def test_a_sentence_of_ours_is_taken_out_of_what_surrounds_it(failing):
    assert errors.own_error_text(text_of(failing, "SELECT fail('other')")) == (
        "rayden: a rule, got another line"
    )
    text = text_of(failing, "SELECT error('rayden: a rule, got x')")
    assert errors.own_error_text(text) == "rayden: a rule, got x"
    assert errors.own_error_text(text_of(failing, "SELECT error('someone: x')")) is None


@pytest.mark.parametrize("query", ["SELECT nam FROM t", "FROM nowhere", "SELECT name::DATE FROM t"])
def test_an_error_begins_with_its_kind_and_ends_with_the_statement(bare, query):
    text = text_of(bare, query)
    assert errors._PREFIX.match(text)
    assert "LINE 1" not in errors._AFTER.sub("", text)
    assert "LINE 1" in text


@pytest.mark.parametrize("text", ["SELECT 'a", 'SELECT "a', "SELECT 1 /* a"])
def test_what_has_begun_and_not_ended_is_told_from_other_errors(text):
    assert is_open_end(raised(duckdb.extract_statements, text))
    assert not is_open_end(raised(duckdb.extract_statements, "SELEC 1"))


def test_macros_of_tables_in_a_file_that_is_too_old(tmp_path):
    path = tmp_path / "old.duckdb"
    con = duckdb.connect(path, config={"storage_compatibility_version": "v0.10.2"})
    macro = "CREATE MACRO typed(x INTEGER) AS x"
    assert is_older_storage(raised(con.execute, macro, kind=duckdb.BinderException))
    assert not is_older_storage(raised(con.execute, "SELECT nobody", kind=duckdb.BinderException))


LONG = """
import duckdb, os, signal, threading
signal.signal(signal.SIGINT, signal.default_int_handler)  # which a process in the background lacks
ended = threading.Event()

def press():
    pause = 0.5
    while not ended.wait(pause):  # again, where the signal came before the query was run,
        os.kill(os.getpid(), signal.SIGINT)
        pause = 3  # but not while the first one is being answered

threading.Thread(target=press, daemon=True).start()
try:
    duckdb.sql("SELECT sum(a.range * b.range) FROM range(1e8::INT) a, range(1e8::INT) b").fetchall()
except BaseException as error:
    ended.set()
    from anon_sql.core.duckdb_internals.error_texts import is_interruption
    print(isinstance(error, KeyboardInterrupt) or is_interruption(error), flush=True)
    os._exit(0)  # DuckDB may still work, and would be waited for
"""


def test_a_query_that_a_signal_stops():
    """DuckDB raises RuntimeError where it notices the signal, before Python can.

    Of some signals it takes no notice, so that a process that goes on is begun again.
    """
    for _ in range(8):
        with suppress(subprocess.TimeoutExpired):
            done = subprocess.run(
                [sys.executable, "-c", LONG],
                capture_output=True,
                text=True,
                check=False,
                timeout=8,
            )
            break
    assert done.stdout == "True\n", done.stderr
