"""A release of a frame is that of the SQL call: row for row, in order, in the same types."""

import polars as pl
import pytest

import anon_sql
from anon_sql import frames
from anon_sql.core.duckdb_internals.hashing import mark
from anon_sql.core.names import quote
from anon_sql.core.parameters import takes
from anon_sql.methods.method import release_methods
from tests.frames.sql import as_sql

QUASI, KINDS = ["age", "city"], ["number", "born", "pay", "huge", "member", "score", "word"]
ROLES = {"quasi": QUASI, "sensitive": "illness", "keep": "n", "identifiers": ["person", "class_id"]}
METHODS = sorted(set(release_methods()) - {"generalize", "canon", "top_down", "sdka", "k_member"})


def compare(con, function, table, **arguments):
    """Require equal releases of a relation and of a PyArrow table, in frames and in SQL."""
    call = getattr(frames, function)
    by_name = {"connection": con} if {"hierarchy", "like"} & {*arguments} else {}
    rows = con.sql(f"FROM {table}")
    wanted, made = con.sql(as_sql(function, table, arguments)), call(rows, **arguments, **by_name)
    assert made.columns == wanted.columns
    assert made.types == wanted.types
    assert repr(made.fetchall()) == repr(wanted.fetchall())  # NaN is not NaN
    sent = rows.to_arrow_table()  # whose types are others than those of the relation
    con.register("sent", sent)
    wanted = con.sql(as_sql(function, "sent", arguments)).to_arrow_table()
    made = call(sent, **arguments, **by_name)
    assert made.column_names == wanted.column_names
    assert repr(made.to_pylist()) == repr(wanted.to_pylist())
    con.unregister("sent")
    return wanted


@pytest.mark.parametrize("method", METHODS)
def test_every_method(people, method):
    more = {"hierarchy": "tree"} if "hierarchy" in takes(method) else {}
    compare(people, method, "people", k=4, **ROLES, **more)


def test_methods_of_numbers_few_rows_or_added_rows(people):
    people.execute("CREATE TABLE few AS FROM people WHERE age IS NOT NULL LIMIT 90")
    compare(people, "canon", "few", k=4, quasi="age", keep=["person", "n", "*"])
    compare(people, "k_member", "few", k=4, **ROLES)
    compare(people, "sdka", "people", k=4, generator="bootstrap", **ROLES)
    compare(people, "generalize", "people", k=2, quasi=QUASI, keep=["illness", "n", "person"])


@pytest.mark.slow
@pytest.mark.parametrize(
    "more",
    [
        {"format": "typed"},
        {"format": "mean"},
        {"format": "median"},
        {"format": "midpoint"},
        {"effort": "fast"},
        {"effort": "best", "rounds": 2},
        {"l": 2, "t": 0.5},
        {"l": 2, "l_kind": "entropy", "format": "typed"},
        {"beta": 2},
        {"strata": "city", "k": 2},
        {"weights": {"age": 3.0}},
        {"hierarchy": "tree", "format": "typed"},
        {"suppression_limit": 0.1, "suppressed": "drop"},
        {"seed": 7, "k": 1},
    ],
)
def test_every_option(people, more):
    compare(people, "anonymize", "people", **{"k": 4, **ROLES, **more})


def test_persons_are_counted(people):
    roles = {"quasi": QUASI, "keep": ["illness", "n", "class_id"], "entity": "person"}
    wanted = compare(people, "anonymize", "people", k=3, **roles)
    assert "person" not in wanted.column_names


@pytest.mark.parametrize("form", ["label", "typed", "median", "midpoint"])
def test_every_type_of_a_quasi_identifier(people, form):
    for quasi in (KINDS[:4], [*KINDS[4:], "clock"], ["seen", "zoned"]):
        compare(people, "anonymize", "kinds", k=4, quasi=quasi, keep=REST, format=form)


REST = ["listed", "packed", "mapped", "id", "bytes", "span", "*"]
KEPT = {
    "UUID": "md5(i::VARCHAR)::UUID",
    "ENUM": "('e' || i % 4)::ENUM('e0', 'e1', 'e2', 'e3')",
    "HUGEINT": "i::HUGEINT << 70",
    "UHUGEINT": "i::UHUGEINT",
    "BIT": "i::BIT",
    "TIMETZ": "TIMETZ '12:00:00+01' + INTERVAL (i) MINUTE",
    "UNION": "union_value(n := i)",
    "BIGNUM": "i::VARCHAR::BIGNUM",
    "BLOB": "('b' || i)::BLOB",
    "INTERVAL": "INTERVAL (i) DAY",
    "TIMESTAMP_S": "(TIMESTAMP '2000-01-01' + INTERVAL (i) DAY)::TIMESTAMP_S",
}


@pytest.mark.parametrize("kind", KEPT)
def test_kept_values_of_a_relation_count_as_those_of_its_table(con, kind):
    """Rows are ordered, and chosen among equals, by the hash of their kept values."""
    con.execute(
        f"CREATE TABLE held AS SELECT i % 20 AS age, {KEPT[kind]} AS own FROM range(90) t(i)"
    )
    for method in ("anonymize", "rayden"):
        compare(con, method, "held", k=4, quasi="age", keep="own")


AS_BYTES = {"GEOMETRY": "('POINT (' || i || ' 0.1)')::GEOMETRY", "VARIANT": "i::VARIANT"}


@pytest.mark.parametrize("kind", AS_BYTES)
def test_values_that_arrow_holds_as_bytes_are_released_from_a_frame(con, kind):
    con.execute(f"""CREATE TABLE held AS SELECT i % 20 AS age,
        {AS_BYTES[kind]} AS own FROM range(90) t(i)""")
    sent = con.sql("FROM held").to_arrow_table()
    for data in (sent, pl.from_arrow(sent)):
        made = frames.anonymize(data, k=4, quasi="age", keep="own")
        own = made["own"].to_list() if isinstance(made, pl.DataFrame) else made["own"].to_pylist()
        assert sorted(map(str, own)) == sorted(map(str, sent["own"].to_pylist()))
    rows = con.table("held")
    if kind == "GEOMETRY":
        wanted = con.sql(as_sql("anonymize", "held", {"k": 4, "quasi": "age", "keep": "own"}))
        assert frames.anonymize(rows, k=4, quasi="age", keep="own").fetchall() == wanted.fetchall()
    else:
        with pytest.raises(
            anon_sql.AnonError, match="that Arrow or text can hold, got own of type"
        ):
            frames.anonymize(rows, k=4, quasi="age", keep="own")


def test_a_type_that_arrow_holds_as_another_can_change_the_order(con):
    """docs/do/release-a-data-frame.md says so."""
    con.execute(
        f"CREATE TABLE held AS SELECT i % 5 AS age, {KEPT['UUID']} AS own FROM range(90) t(i)"
    )
    own = con.sql(
        as_sql("mondrian", "held", {"k": 4, "quasi": "age", "keep": "own"})
    ).to_arrow_table()
    sent = con.sql("FROM held").to_arrow_table()
    made = frames.mondrian(sent, k=4, quasi="age", keep="own")
    assert made != own
    assert sorted(map(str, made.to_pylist())) == sorted(map(str, own.to_pylist()))


def test_the_connection_says_the_time_zone(people):
    people.execute("SET TimeZone = 'Europe/Berlin'")
    wanted = people.sql(as_sql("anonymize", "kinds", {"k": 4, "quasi": ["zoned"], "keep": REST}))
    rows = people.sql("FROM kinds")
    made = frames.anonymize(rows, k=4, quasi="zoned", keep=REST, connection=people)
    assert repr(made.fetchall()) == repr(wanted.fetchall())


def test_an_earlier_release_is_followed(people):
    people.execute(
        f"CREATE TABLE earlier AS {as_sql('full_domain', 'people', {'k': 20, **ROLES, 'hierarchy': 'tree'})}"
    )
    more = {"like": "earlier", "hierarchy": "tree", "suppression_limit": 1}
    compare(people, "full_domain", "people", k=20, **ROLES, **more)


def test_no_rows(people):
    people.execute("CREATE TABLE none AS FROM kinds LIMIT 0")
    for form in ("label", "typed", "mean"):
        compare(people, "anonymize", "none", k=4, quasi=KINDS, keep=REST, format=form)


def test_the_hash_of_a_value_is_that_of_sql(people):
    """Synthetic records are drawn by it."""
    kinds = people.sql("DESCRIBE kinds").fetchall()
    for name, kind, *_ in kinds:
        own = mark(quote(name), kind)
        same = f"SELECT bool_and({own} IS NOT DISTINCT FROM __anon_mark({quote(name)})) FROM kinds"
        assert people.sql(same).fetchall() == [(True,)], kind
