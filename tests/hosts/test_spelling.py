"""Each host spells an error in its own way, whatever the columns of the table are called."""

from threading import Thread

import duckdb
import pytest

import anon_sql
from anon_sql import AnonError
from anon_sql.apps.cli.release import release
from anon_sql.apps.cli.spelling import Options
from anon_sql.errors import Argument, Parameter, SpelledAs
from anon_sql.hosts.duckdb import errors, registry
from anon_sql.hosts.spark.frame import SPARK, frame_of, requested
from tests.command import refused
from tests.sentence import fails

pytestmark = pytest.mark.oldest

NAMES = ("previous", "keep", "k", "seed", "l", "o'clock")
OPTIONS = {"quasi": "quasi", "identifiers": "identifier"}
REST = {"quasi": ["previous"], "keep": ["k", "*"]}
ROLE = "; name it in identifiers, quasi, sensitive or keep, or pass keep"
NONE = "every column needs a role, got no role for keep, k, seed, l, o'clock; "
TREE = "must have the columns attribute, value, level and label, got nothing in "
MAKES = "; read_hierarchies() and numeric_hierarchy() make one"


@pytest.fixture
def t(con, tmp_path):
    con.execute(
        "CREATE TABLE t AS SELECT i % 4 AS previous, 'p' || i % 3 AS keep, i AS k, 's' || i % 2 "
        "AS seed, 'l' || i % 2 AS l, i % 5 AS \"o'clock\" FROM range(12) r(i)"
    )
    con.execute(f"COPY t TO '{tmp_path}/t.parquet'")
    return con


# A call; its error in SQL, by the command line, in Python, and in Spark, which is that of Python
# unless it is given, and None where only the rows show the fault.
CASES = [
    (
        {"keep": []},
        NONE + "declare it (COMMENT ON COLUMN t.name IS 'anon:keep'), name it in identifiers, "
        "quasi, sensitive or keep, or pass keep := ['*'] to release all of them as they are",
        NONE + "name it in --identifier, --quasi, --sensitive or --keep, or pass --keep '*' to "
        "release all of them as they are; anon-sql roles suggests roles",
        NONE + "declare it (COMMENT ON COLUMN t.name IS 'anon:keep'), name it in identifiers, "
        "quasi, sensitive or keep, or pass keep=['*'] to release all of them as they are",
        NONE + "name it in identifiers, quasi, sensitive or keep, or pass keep=['*'] to release "
        "all of them as they are",
    ),
    (
        {"quasi": ["previos"]},
        "quasi must name columns of the table, got 'previos'; did you mean previous? "
        "(previous, keep, k, seed, l, o'clock)",
        "--quasi must name columns of the table, got 'previos'; did you mean previous? "
        "(previous, keep, k, seed, l, o'clock)",
        "quasi must name columns of the table, got 'previos'; did you mean previous? "
        "(previous, keep, k, seed, l, o'clock)",
    ),
    (
        {"identifiers": ["sed"]},
        "identifiers must name columns of the table, got 'sed'; did you mean seed? "
        "(previous, keep, k, seed, l, o'clock)",
        "--identifier must name columns of the table, got 'sed'; did you mean seed? "
        "(previous, keep, k, seed, l, o'clock)",
        "identifiers must name columns of the table, got 'sed'; did you mean seed? "
        "(previous, keep, k, seed, l, o'clock)",
    ),
    (
        {"quasi": ["previous", "keep"], "keep": ["keep", "*"]},
        "a column has one role, got keep as quasi and as keep; leave it out of keep",
        "a column has one role, got keep as quasi and as keep; leave it out of --keep",
        "a column has one role, got keep as quasi and as keep; leave it out of keep",
        "a column has one role, got keep as quasi and as keep; leave it out of keep",
    ),
    (
        {"quasi": ["k", "previous", "k"]},
        "quasi must name each column once, got 'k' twice",
        "--quasi must name each column once, got 'k' twice",
        "quasi must name each column once, got 'k' twice",
    ),
    (
        {"sensitive": ["seed", "seed"]},
        "sensitive must name each column once, got 'seed' twice",
        "--sensitive must name each column once, got 'seed' twice",
        "sensitive must name each column once, got 'seed' twice",
    ),
    (
        {"k": 0},
        "k must be a whole number of at least 1, got 0",
        "--k must be a whole number of at least 1, got 0",
        "k must be a whole number of at least 1, got 0",
    ),
    (
        {"k": 900},
        "k must be at most the number of rows, 12, got k := 900",
        "--k must be at most the number of rows, 12, got --k 900",
        "k must be at most the number of rows, 12, got k=900",
        None,
    ),
    (
        {"l": 2},
        "l and t need a sensitive column; pass sensitive := ['illness', …] or declare "
        "it: COMMENT ON COLUMN t.illness IS 'anon:sensitive'",
        "--l and --t need a sensitive column; pass --sensitive illness",
        "l and t need a sensitive column; pass sensitive=['illness', …] or declare "
        "it: COMMENT ON COLUMN t.illness IS 'anon:sensitive'",
        "l and t need a sensitive column; pass sensitive=['illness', …]",
    ),
    (
        {"beta": 1},
        "beta and delta need a sensitive column; pass sensitive := ['illness', …] or "
        "declare it: COMMENT ON COLUMN t.illness IS 'anon:sensitive'",
        "--beta and --delta need a sensitive column; pass --sensitive illness",
        "beta and delta need a sensitive column; pass sensitive=['illness', …] or "
        "declare it: COMMENT ON COLUMN t.illness IS 'anon:sensitive'",
        "beta and delta need a sensitive column; pass sensitive=['illness', …]",
    ),
    (
        {"l": 3, "sensitive": ["l"]},
        "l must be at most what the whole table has in l, 2 (distinct), got l := 3",
        "--l must be at most what the whole table has in l, 2 (distinct), got --l 3",
        "l must be at most what the whole table has in l, 2 (distinct), got l=3",
        None,
    ),
    (
        {"l": 1.5, "sensitive": ["seed"]},
        "l must be a whole number where l_kind is 'distinct', got 1.5; l_kind := 'entropy' takes "
        "fractions",
        "--l must be a whole number where --l-kind is 'distinct', got 1.5; --l-kind entropy takes "
        "fractions",
        "l must be a whole number where l_kind is 'distinct', got 1.5; l_kind='entropy' takes "
        "fractions",
    ),
    (
        {"t": 2.5},
        "t must be a number of at least 0 and at most 1, got 2.5",
        "--t must be a number of at least 0 and at most 1, got 2.5",
        "t must be a number of at least 0 and at most 1, got 2.5",
    ),
    (
        {"strata": ["seed"]},
        "strata must name quasi-identifiers, got 'seed'; choose from previous",
        "--strata must name quasi-identifiers, got 'seed'; choose from previous",
        "strata must name quasi-identifiers, got 'seed'; choose from previous",
    ),
    (
        {"weights": {"l": 1.0}},
        "weights must name quasi-identifiers, got 'l'; choose from previous",
        "--weights must name quasi-identifiers, got 'l'; choose from previous",
        "weights must name quasi-identifiers, got 'l'; choose from previous",
    ),
    (
        {"weights": {"previous": 0.0}},
        *["a quasi-identifier must have a weight above 0, got 0 for every one"] * 3,
    ),
    (
        {"entity": "clock"},
        "entity must name a column of the table, got 'clock'; did you mean o'clock? "
        "(previous, keep, k, seed, l, o'clock)",
        "--entity must name a column of the table, got 'clock'; did you mean o'clock? "
        "(previous, keep, k, seed, l, o'clock)",
        "entity must name a column of the table, got 'clock'; did you mean o'clock? "
        "(previous, keep, k, seed, l, o'clock)",
    ),
    (
        {"suppression_limit": 2.0},
        "suppression_limit must be a number of at least 0 and at most 1, got 2.0",
        "--suppression-limit must be a number of at least 0 and at most 1, got 2.0",
        "suppression_limit must be a number of at least 0 and at most 1, got 2.0",
    ),
    (
        {"suppression_limit": 0.5, "format": "mean"},
        "suppression_limit must be 0 where means or medians are shown, got suppression_limit := "
        "0.5; leave it out, or show labels",
        "--suppression-limit must be 0 where means or medians are shown, got --suppression-limit "
        "0.5; leave it out, or show labels",
        "suppression_limit must be 0 where means or medians are shown, got suppression_limit=0.5; "
        "leave it out, or show labels",
        None,
    ),
    (
        {"quasi": ["previous", "keep"], "strata": ["previous", "keep"], "k": 2},
        "every stratum must have at least 2 rows, got 12 that do not, the smallest of 1 row; "
        "leave a column out of strata, or round its values first",
        "every stratum must have at least 2 rows, got 12 that do not, the smallest of 1 row; "
        "leave a column out of --strata, or round its values first",
        "every stratum must have at least 2 rows, got 12 that do not, the smallest of 1 row; "
        "leave a column out of strata, or round its values first",
        None,
    ),
]


def in_sql(con, call):
    return fails(con, f"FROM anonymize('t', {', '.join(f'{n} := {sql(call[n])}' for n in call)})")


def sql(value):
    if isinstance(value, dict):
        return f"MAP {value}"
    if isinstance(value, list):
        return f"[{', '.join(map(sql, value))}]"
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else repr(value)


def by_command(folder, call):
    options = []
    for name, value in call.items():
        texts = value if isinstance(value, list) else [value]
        if isinstance(value, dict):
            texts = [f"{column}={number}" for column, number in value.items()]
        option = "--" + OPTIONS.get(name, name).replace("_", "-")
        options += [part for text in texts for part in (option, text)]
    return refused("release", folder / "t.parquet", folder / "out.csv", *options)


def in_python(con, call):
    with pytest.raises(AnonError) as error:
        anon_sql.release(con, "t", into="out", **call)
    return str(error.value)


def in_spark(con, call):
    columns = con.table("t").limit(0).to_arrow_table().schema
    with pytest.raises(AnonError) as error, SpelledAs(SPARK):
        requested("anonymize", frame_of("anonymize", columns, {}), call, "UTC")
    return str(error.value)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}")
def test_every_host_spells_an_error(t, tmp_path, case):
    given, of_sql, of_command, of_python, *of_spark = case
    call = {**REST, **given}
    assert in_sql(t, call) == f"anonymize: {of_sql}"
    assert by_command(tmp_path, call) == f"anonymize: {of_command}"
    assert in_python(t, call) == f"anonymize: {of_python}"
    expected = of_spark[0] if of_spark else of_python
    if expected is not None:
        assert in_spark(t, call) == f"anonymize: {expected}"


@pytest.mark.slow
@pytest.mark.parametrize(
    "call",
    [
        {"quasi": ["NAME", "other"], "keep": ["NAME", "*"]},
        {"quasi": ["other", "NAME", "NAME"], "keep": ["*"]},
        {"quasi": ["other"], "keep": []},
        {"quasi": ["other"], "keep": ["*"], "strata": ["NAME"]},
        {"quasi": ["other"], "keep": ["*"], "sensitive": ["NAME"], "l": 7},
        {"quasi": ["NAME"], "keep": ["*"], "entity": "nobody"},
        {"quasi": ["NAME"], "keep": ["*"], "weights": {"other": 1.0}},
        {"quasi": ["NAME"], "keep": ["*"], "sensitive": ["nobody"]},
        {"quasi": ["NAME"], "keep": ["*"]},
    ],
    ids=str,
)
def test_a_column_keeps_its_name(con, tmp_path, call):
    said = {}
    for column in ("plain", *NAMES):
        kind = "STRUCT(a INT)" if call == {"quasi": ["NAME"], "keep": ["*"]} else "VARCHAR"
        con.execute(
            f'CREATE OR REPLACE TABLE t ("{column}" {kind}, other VARCHAR);'
            "INSERT INTO t SELECT NULL, i % 2 FROM range(20) r(i)"
        )
        con.execute(f"COPY t TO '{tmp_path}/t.parquet'")
        own = renamed(call, column)
        said[column] = in_sql(con, own), by_command(tmp_path, own), in_python(con, own)
    for name in NAMES:
        assert [text.replace("plain", name) for text in said["plain"]] == list(said[name])
        assert all(name in text for text in said[name])


def renamed(value, name):
    if isinstance(value, dict):
        return {renamed(key, name): renamed(each, name) for key, each in value.items()}
    if isinstance(value, list):
        return [renamed(each, name) for each in value]
    return name if value == "NAME" else value


def test_the_hierarchy_is_a_relation_an_option_or_a_parameter(t, tmp_path):
    call = {**REST, "hierarchy": "t"}
    lacks = "attribute, value, label"
    assert in_sql(t, call) == f"hierarchy: the relation {TREE}{lacks}{MAKES}"
    assert in_python(t, call) == f"hierarchy: the relation {TREE}{lacks}{MAKES}"
    t.execute(f"COPY (SELECT NULL AS attribute) TO '{tmp_path}/h.parquet'")
    said = by_command(tmp_path, {**REST, "hierarchy": f"{tmp_path}/h.parquet"})
    assert said.startswith(f"release: --hierarchy {TREE}attribute")


def test_an_earlier_release_is_a_file(t, tmp_path):
    earlier = tmp_path / "keep.parquet"
    t.execute(f"COPY (SELECT 's0' AS seed) TO '{earlier}'")
    said = by_command(tmp_path, {**REST, "sensitive": ["seed"], "previous": [str(earlier)]})
    assert said == (
        f"release: every release must have a quasi-identifier, got no such column in '{earlier}'; "
        "choose from seed"
    )


def test_a_hint_writes_a_name_as_the_host_needs_it(con):
    con.execute('CREATE TABLE t ("o\'clock" INT, keep INT)')
    con.execute("COMMENT ON COLUMN t.\"o'clock\" IS 'anon:quasi'")
    rule = "a declared quasi-identifier must be in quasi or in keep, got neither for o'clock; "
    hint = "add it to one of them, for example "
    call = {"quasi": ["keep"]}
    assert in_sql(con, call) == f"anonymize: {rule}{hint}keep := ['o''clock']"
    assert in_python(con, call) == f'anonymize: {rule}{hint}keep=["o\'clock"]'


def test_only_sql_takes_a_comparison_for_a_value(t):
    rule = "anonymize: k must be a whole number of at least 1, got a BOOLEAN"
    said = in_sql(t, {"k": True, **REST})
    assert said == f"{rule}; write k := 7, since k = 7 is a comparison"
    assert in_python(t, {"k": True, **REST}) == rule


def test_an_error_that_duckdb_has_wrapped_is_found_by_its_text():
    error = AnonError("rayden", Parameter("l") + " must be text", Argument("l", 2))
    wrapped = f"Invalid Input Error: Python exception occurred while executing the UDF: AnonError: {error}\n\nAt:\n"
    assert errors.error_text(wrapped, spelling=Options(release)) == str(error)
    registry.remember(error)
    said = "rayden: --l must be text, got --l 2"
    assert errors.error_text(wrapped, spelling=Options(release)) == said
    with pytest.raises(AnonError) as raised, errors.as_raised():
        raise duckdb.InvalidInputException(wrapped)
    assert raised.value.render(Options(release)) == said

    def many(of):
        for at in range(100):
            registry.remember(AnonError("rayden", f"rule {of} {at}"))

    threads = [Thread(target=many, args=(of,)) for of in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert registry.remembered(str(error)) is None
    assert errors.error_text(wrapped, spelling=Options(release)) == str(error)
    kept = [registry.remembered(f"rayden: rule {of} {at}") for of in range(4) for at in range(100)]
    assert sum(found is not None for found in kept) == 64
