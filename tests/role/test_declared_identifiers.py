"""A declared identifier never leaves, whatever a call says; other declared roles give way."""

import duckdb
import pyarrow as pa
import pytest

import anon_sql
from tests.command import refused, run
from tests.sentence import fails

ORDERS = (
    "SELECT i AS order_id, i // 3 AS customer_id, 20 + i % 40 AS age, "
    "['Bonn', 'Jena'][1 + i % 2] AS city, ['a', 'b', 'c'][1 + i % 3] AS item, i % 4 AS rating "
    "FROM range(240) AS made(i)"
)
IDENTIFIERS = ["order_id", "customer_id"]
ROLES = "quasi := ['age', 'city'], sensitive := ['item']"
OPTIONS = ("--quasi", "age,city", "--sensitive", "item")
SAID = (
    "{}: a declared identifier must not be released, got customer_id in {}: its comment says "
    "anon:identifier; change the comment if it may leave"
)


def declare(con, table):
    anon_sql.declare(con, table, identifier=IDENTIFIERS)


@pytest.fixture
def orders(con):
    con.execute(f"CREATE TABLE orders AS {ORDERS}")
    declare(con, "orders")
    return con


@pytest.fixture
def warehouse(tmp_path):
    """A database file, whose table has a hostile name beside the plain one."""
    with duckdb.connect(str(tmp_path / "w.duckdb")) as con:
        con.execute(f"CREATE TABLE orders AS {ORDERS}; CREATE SCHEMA s")
        con.execute(f'CREATE TABLE s."o:r""ders" AS {ORDERS}')
        declare(con, "orders")
        declare(con, 's."o:r""ders"')
    return tmp_path


def header(path):
    return path.read_text("utf-8").splitlines()[0].split(",")


@pytest.mark.quick
def test_sql_drops_it_and_refuses_its_name(orders):
    left = ["age", "city", "item", "rating"]
    assert orders.sql(f"FROM anonymize('orders', {ROLES}, keep := ['*'])").columns == left
    for role in ("keep", "sensitive", "quasi"):
        given = {"quasi": "['age', 'city']", "sensitive": "['item']", "keep": "['*']"}
        given[role] = given[role].replace("]", ", 'Customer_Id']")
        call = ", ".join(f"{name} := {value}" for name, value in given.items())
        assert fails(orders, f"FROM anonymize('orders', {call})") == SAID.format("anonymize", role)


@pytest.mark.quick
def test_it_may_be_named_where_it_is_left_out(orders):
    for role in ("identifiers", "exclude"):
        call = f"'orders', {ROLES}, keep := ['*'], {role} := ['customer_id']"
        assert "customer_id" not in orders.sql(f"FROM anonymize({call})").columns
        roles = dict(orders.sql(f"SELECT column_name, role FROM anon_roles({call})").fetchall())
        assert roles["customer_id"] == "identifier"


@pytest.mark.quick
def test_a_call_overrides_every_other_declared_role(orders):
    anon_sql.declare(
        orders, "orders", quasi=["age", "city"], sensitive=["item"], exclude=["rating"]
    )
    given = "keep := ['city', 'rating'], sensitive := ['age'], quasi := ['item']"
    found = orders.sql(f"FROM anonymize('orders', k := 2, {given})")
    assert found.columns == ["age", "city", "item", "rating"]
    raw = orders.execute("SELECT DISTINCT city FROM orders ORDER BY ALL").fetchall()
    assert found.project("city").distinct().order("city").fetchall() == raw
    shown = "SELECT column_name, role, source FROM anon_roles('orders', {})"
    assert orders.sql(shown.format("sensitive := ['age'], keep := ['rating']")).fetchall() == [
        ("order_id", "identifier", "comment"),
        ("customer_id", "identifier", "comment"),
        ("age", "sensitive", "call"),
        ("city", "quasi", "comment"),
        ("item", "sensitive", "comment"),
        ("rating", "keep", "call"),
    ]
    one = "a column has one role, got age as sensitive and as keep; leave it out of keep"
    call = "FROM anonymize('orders', sensitive := ['age'], keep := ['age'])"
    assert fails(orders, call) == f"anonymize: {one}"


@pytest.mark.quick
def test_python_reads_the_comments_of_a_relation_and_of_a_frame(orders, tmp_path):
    given = {"quasi": ["age", "city"], "sensitive": ["item"]}
    said = SAID.format("anonymize", "keep")
    for into in ("safe", f"{tmp_path / 'safe.csv'}"):
        anon_sql.release(orders, "orders", into=into, keep=["*"], **given)
        with pytest.raises(anon_sql.AnonError) as caught:
            anon_sql.release(orders, "orders", into=f"{into}2", keep=["customer_id", "*"], **given)
        assert str(caught.value) == said
    assert orders.table("safe").columns == ["age", "city", "item", "rating"]
    assert header(tmp_path / "safe.csv") == ["age", "city", "item", "rating"]
    rows = orders.table("orders").to_arrow_table()
    tagged = {"comment": "anon:identifier"}
    fields = [f.with_metadata(tagged) if f.name in IDENTIFIERS else f for f in rows.schema]
    frame = rows.cast(pa.schema(fields))
    assert anon_sql.anonymize(frame, keep=["*"], **given).column_names == [
        *("age", "city", "item", "rating")
    ]
    with pytest.raises(anon_sql.AnonError) as caught:
        anon_sql.anonymize(frame, keep=["customer_id", "*"], **given)
    assert str(caught.value) == said


def test_parts_leave_it_out(orders):
    given = {"quasi": ["age", "city"], "sensitive": ["item"], "parts": 2}
    anon_sql.release(orders, "orders", into="safe", keep=["*"], **given)
    assert orders.table("safe").columns == ["age", "city", "item", "rating"]
    with pytest.raises(anon_sql.AnonError, match="a declared identifier must not be released"):
        anon_sql.release(orders, "orders", into="other", keep=["customer_id", "*"], **given)


@pytest.mark.quick
@pytest.mark.parametrize(
    ("table", "more"),
    [("main.orders", ()), ("orders", ("--parts", 2)), ('s."o:r""ders"', ())],
)
def test_the_command_line_reads_the_comments(warehouse, table, more):
    source, safe = f"{warehouse / 'w.duckdb'}:{table}", warehouse / "safe.csv"
    result = run("release", source, safe, *OPTIONS, "--keep", "*", "--manifest", *more)
    assert result.exit_code == 0, result.output
    assert header(safe) == ["age", "city", "item", "rating"]
    assert run("verify", safe, "--raw", source).exit_code == 0
    said = refused("release", source, warehouse / "b.csv", *OPTIONS, "--keep", "customer_id,*")
    assert said == SAID.format("anonymize", "--keep")
    assert not (warehouse / "b.csv").exists()


@pytest.mark.quick
def test_the_command_line_needs_no_role_that_is_declared(warehouse):
    with duckdb.connect(str(warehouse / "w.duckdb")) as con:
        anon_sql.declare(con, "orders", quasi=["age", "city"], sensitive=["item"], keep=["rating"])
    source = f"{warehouse / 'w.duckdb'}:main.orders"
    assert run("release", source, warehouse / "a.csv").exit_code == 0
    assert header(warehouse / "a.csv") == ["age", "city", "item", "rating"]
    again = run("release", source, warehouse / "b.csv", *OPTIONS, "--keep", "rating")
    assert again.exit_code == 0, again.output
    assert (warehouse / "a.csv").read_bytes() == (warehouse / "b.csv").read_bytes()


@pytest.mark.quick
def test_the_command_roles_shows_what_is_declared(warehouse):
    with duckdb.connect(str(warehouse / "w.duckdb")) as con:
        con.execute("COMMENT ON COLUMN orders.rating IS 'From 0 to 3. anon:exclude'")
    source = f"{warehouse / 'w.duckdb'}:main.orders"
    shown = run("roles", source)
    assert shown.exit_code == 0, shown.output
    assert "declared: the comment says anon:exclude" in shown.stdout
    assert shown.stdout.count("declared: the comment says anon:identifier") == 2
    sql = run("roles", source, "--sql").stdout.splitlines()
    assert """COMMENT ON COLUMN "orders"."rating" IS 'From 0 to 3. anon:exclude';""" in sql
    assert """COMMENT ON COLUMN "orders"."customer_id" IS 'anon:identifier';""" in sql
    assert "meta: {anon: exclude}" in run("roles", source, "--dbt").stdout
    assert run("roles", source, "--recipe", warehouse / "r.toml").exit_code == 0
    text = (warehouse / "r.toml").read_text()
    assert 'identifier = ["order_id", "customer_id"]' in text
    assert 'exclude = ["rating"]' in text


def test_a_recipe_that_keeps_it_is_refused_everywhere(warehouse):
    source, recipe = f"{warehouse / 'w.duckdb'}:main.orders", warehouse / "r.toml"
    assert run("roles", source, "--recipe", recipe).exit_code == 0
    text = recipe.read_text().replace('"order_id", "customer_id"]', '"customer_id"]')
    recipe.write_text(text.replace("keep = [", 'keep = ["order_id", '))
    said = SAID.format("anonymize", "{}").replace("customer_id", "order_id")
    assert refused("release", recipe, warehouse / "a.csv") == said.format("--keep")
    assert not (warehouse / "a.csv").exists()
    with anon_sql.connect() as con:
        con.execute(f"ATTACH '{warehouse / 'w.duckdb'}' AS w (READ_ONLY)")
        assert fails(con, f"FROM anonymize_recipe('{recipe}')") == said.format("keep")
        with pytest.raises(anon_sql.AnonError, match="a declared identifier must not be released"):
            anon_sql.recipe(con, recipe)


def test_a_release_that_has_it_fails_its_check(warehouse):
    """Also where the comment was written after the release."""
    source, safe = f"{warehouse / 'w.duckdb'}:main.orders", warehouse / "safe.csv"
    with duckdb.connect(str(warehouse / "w.duckdb")) as con:
        con.execute("COMMENT ON COLUMN orders.customer_id IS NULL")
    given = (*OPTIONS, "--keep", "customer_id,rating", "--manifest", "--unique-share", 1)
    assert run("release", source, safe, *given).exit_code == 0
    with duckdb.connect(str(warehouse / "w.duckdb")) as con:
        declare(con, "orders")
    assert "a declared identifier must not be released" in refused("verify", safe, "--raw", source)


def test_an_unclear_comment_is_refused(warehouse):
    with duckdb.connect(str(warehouse / "w.duckdb")) as con:
        con.execute("COMMENT ON COLUMN orders.rating IS 'anon: identifer'")
    source = f"{warehouse / 'w.duckdb'}:main.orders"
    for call in (("roles", source), ("release", source, warehouse / "a.csv", *OPTIONS)):
        assert "the comment on column rating is not clear" in refused(*call)


@pytest.mark.quick
def test_a_series_leaves_it_out(orders, monkeypatch):
    monkeypatch.setenv("ANON_KEY", "0123456789abcdef0123456789abcdef")
    people = "* REPLACE (['a', 'b', 'c'][1 + customer_id % 3] AS item) FROM orders"
    orders.execute(f"CREATE TABLE people AS SELECT DISTINCT ON (customer_id) {people}")
    declare(orders, "people")
    given = {"quasi": ["age", "city"], "sensitive": ["item"], "entity": "customer_id"}
    with pytest.raises(anon_sql.AnonError) as caught:
        anon_sql.release(
            orders, "people", into="safe", series="state", l=2, keep=["order_id", "*"], **given
        )
    assert "a declared identifier must not be released, got order_id in keep" in str(caught.value)
    anon_sql.release(orders, "people", into="safe", series="state", l=2, keep=["*"], **given)
    assert orders.table("safe").columns == ["age", "city", "item", "rating"]


def test_linked_tables_leave_it_out(con):
    con.execute(
        "CREATE TABLE person AS SELECT i AS person_id, 20 + i % 9 AS age, i AS code "
        "FROM range(90) AS made(i)"
    )
    anon_sql.declare(con, "person", identifier=["person_id", "code"])
    given = {"quasi": ["person.age"], "into": "safe"}
    con.execute("CREATE SCHEMA safe")
    with pytest.raises(anon_sql.AnonError) as caught:
        anon_sql.release_linked(con, "person", keep=["person.code"], **given)
    assert str(caught.value) == SAID.format("release_linked", "keep").replace(
        "customer_id", "person.code"
    )
    anon_sql.release_linked(con, "person", keep=["*"], **given)
    assert con.sql("FROM safe.person").columns == ["age"]
