"""suggest_roles: roles as a knowledgeable person would choose them, and counts that are exact."""

from collections import Counter

import hypothesis.strategies as st
import pytest
from hypothesis import given

import anon_sql
from anon_sql.core.names import quote
from tests.inserting import insert
from tests.role import planted
from tests.role.expected_roles import EXPECTED, PLANTED
from tests.sentence import fails

HOSTILE = ['a"b', "select", "ä.ö", "x y", "a;DROP TABLE t", "columns", "tbl", "__row", "marks", "'"]


def suggested(con, relation="t"):
    """The rows of suggest_roles by column name."""
    result = con.execute(f"FROM suggest_roles('{relation}')")
    names = [column[0] for column in result.description]
    return {row[0]: dict(zip(names, row, strict=True)) for row in result.fetchall()}


def unique_rows(rows):
    """The number of rows that occur once, by plain counting."""
    return sum(count == 1 for count in Counter(rows).values())


def kept_alone(con, relation, found):
    """The share of rows that the suggested keep columns single out together, by plain SQL."""
    kept = [quote(name) for name, row in found.items() if row["role"] == "keep"]
    if not kept:
        return 0
    groups = f"SELECT count(*) AS n FROM {relation} GROUP BY {', '.join(kept)}"
    return con.execute(f"SELECT count(*) FILTER (n = 1) / sum(n) FROM ({groups})").fetchall()[0][0]


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] * (name not in ("adult", "heart_cleveland")))
        for name in EXPECTED
    ],
)
def test_real_tables(con, shared_data, name):
    path = f"{shared_data}/{name}.parquet"
    found = suggested(con, path)
    assert list(found) == con.sql(f"FROM '{path}'").columns
    chosen = {column: row["role"] for column, row in found.items()}
    wrong = {c: r for c, r in chosen.items() if r not in EXPECTED[name][c].split("|")}
    assert wrong == {}
    assert kept_alone(con, f"'{path}'", found) <= 0.01


@pytest.fixture
def made(con):
    planted.make(con, "t")
    return con


def test_planted_identifiers(made):
    found = suggested(made)
    assert {column: row["role"] for column, row in found.items()} == PLANTED
    reasons = {column: row["reason"] for column, row in found.items()}
    for column, said in {
        "alpha": "10% of sampled values look like an e-mail",
        "beta": "a phone number",
        "gamma": "an IBAN",
        "delta": "a card number",
        "epsilon": "an IP address",
        "zeta": "a web address",
        "eta": "a UUID",
        "theta": "97% of its values are different",
        "kappa": "free text",
        "phoneHome": "the name says a phone number",
        "salaire": "the name says income or wealth; alone it singles out",
    }.items():
        assert said in reasons[column]
    assert found["gamma"]["null_share"] == 0.95
    assert found["theta"]["unique_share"] == pytest.approx(560 / 600)


def test_no_value_is_shown(made):
    values = made.execute("SELECT COLUMNS(*)::VARCHAR FROM t").fetchall()
    texts = {v for row in values for v in row if v and len(v) > 5}
    shown = " ".join(str(v) for row in suggested(made).values() for v in row.values())
    assert not [text for text in texts if text in shown]


def test_the_values_of_an_enum_are_not_shown(con):
    con.execute("CREATE TABLE t AS SELECT 'secret'::ENUM('secret', 'o''ther') AS e FROM range(9)")
    assert suggested(con)["e"]["column_type"] == "ENUM"


def test_declared_roles_change_nothing(made):
    before = suggested(made)
    anon_sql.declare(made, "t", keep=["alpha"], quasi=["flag"], identifier=["edad"])
    assert suggested(made) == before
    made.execute("COMMENT ON COLUMN t.level IS 'anon: unknown'")
    assert suggested(made) == before
    made.execute("CREATE VIEW seen AS FROM t")
    assert suggested(made, "seen") == before
    with_cte = made.execute(
        "WITH t AS (SELECT edad FROM t) SELECT column_name FROM suggest_roles('t')"
    )
    assert with_cte.fetchall() == [("edad",)]


def test_a_release_with_the_suggested_roles(made):
    roles = {name: row["role"] for name, row in suggested(made).items()}
    by_role = {role: [c for c, r in roles.items() if r == role] for role in set(roles.values())}
    anon_sql.declare(made, "t", **by_role)
    made.execute("CREATE TABLE r AS FROM anonymize('t', k := 5, effort := 'fast')")
    assert made.table("r").columns == [c for c, role in roles.items() if role != "identifier"]
    audit = "SELECT passed FROM audit('t', 'r', k := 5, unique_share := 0.01) WHERE property = '{}'"
    for told in ("identifying_combinations", "identifiers", "k"):
        assert made.execute(audit.format(told)).fetchall() == [(True,)]


def test_files_and_data_frames(made, tmp_path):
    before = suggested(made)
    made.execute(f"COPY t TO '{tmp_path}/t.parquet'")
    assert suggested(made, f"{tmp_path}/t.parquet") == before
    made.execute(f"COPY t TO '{tmp_path}/t.csv'")
    from_csv = suggested(made, f"{tmp_path}/t.csv")
    assert {c: row["role"] for c, row in from_csv.items()} == PLANTED
    frame = made.execute("SELECT edad, alpha FROM t").df()
    made.register("frame", frame)
    assert {c: row["role"] for c, row in suggested(made, "frame").items()} == {
        "edad": "quasi",
        "alpha": "identifier",
    }
    made.unregister("frame")


def test_the_order_of_rows_and_threads_change_nothing(made):
    before = suggested(made)
    made.execute("CREATE TABLE turned AS FROM t ORDER BY iota")
    made.execute("SET threads = 1")
    assert suggested(made, "turned") == before
    made.execute("RESET threads")


ROWS = st.lists(
    st.tuples(
        st.sampled_from([None, 1, 2, 3]),
        st.sampled_from([None, "", "a", "b"]),
        st.sampled_from([None, 0.0, 1.5]),
        st.sampled_from([1, 2, 3]),
    ),
    min_size=1,
    max_size=12,
)


def test_counts_equal_plain_counting(con):
    con.execute("CREATE TABLE t (age INTEGER, city VARCHAR, zip DOUBLE, email INTEGER)")

    @given(ROWS)
    def holds(rows):
        con.execute("DELETE FROM t")
        insert(con, "t", rows)
        found = suggested(con)
        quasi = [0, 1, 2]
        roles = [row["role"] for row in found.values()]
        assert roles == ["quasi", "quasi", "quasi", "identifier"]

        def unique(at):
            return unique_rows([tuple(row[i] for i in at) for row in rows]) if at else 0

        for at, row in enumerate(found.values()):
            values = [each[at] for each in rows]
            assert row["distinct_values"] == len(set(values) - {None})
            assert row["null_share"] == values.count(None) / len(rows)
            assert row["unique_share"] == unique([at]) / len(rows)
            others = [i for i in quasi if i != at]
            assert row["adds_share"] == (unique([*others, at]) - unique(others)) / len(rows)

    holds()


def test_blanks_around_values_are_counted(con):
    con.execute(
        "CREATE TABLE t AS SELECT ['Bonn', ' Bonn', 'Ulm' || chr(160), chr(9) || 'Ulm'][1 + i % 4] "
        "AS city, 'x ' || i AS name, 'a b' AS fine, i % 4 AS n, NULL::VARCHAR AS none, "
        "['a ', 'b'][1 + i % 2]::ENUM('a ', 'b') AS kind FROM range(40) AS r(i)"
    )
    found = suggested(con)
    assert found["city"]["reason"].endswith("; blanks around the values of 30 rows")
    assert found["kind"]["reason"].endswith("; blanks around the values of 20 rows")
    assert not any("blanks" in found[name]["reason"] for name in ("name", "fine", "n", "none"))


def test_the_only_column_adds_what_it_singles_out(con):
    con.execute("CREATE TABLE t AS SELECT unnest([1, 1, 2, NULL]) AS age")
    assert suggested(con)["age"]["unique_share"] == 0.5
    assert suggested(con)["age"]["adds_share"] == 0.5


def test_hostile_names(con):
    listed = ", ".join(f"i % 3 AS {quote(name)}" for name in HOSTILE)
    con.execute(f"""CREATE TABLE "t' x.y" AS SELECT {listed} FROM range(99) AS r(i)""")
    assert list(suggested(con, """"t'' x.y\"""")) == HOSTILE
    con.execute("CREATE TABLE t AS SELECT 1 AS __anon_row")
    assert "must not begin with __anon_" in fails(con, "FROM suggest_roles('t')")


def test_an_empty_table_and_one_row(con):
    con.execute(
        "CREATE TABLE t (email VARCHAR, age INTEGER, income INTEGER, x VARCHAR, l INTEGER[])"
    )
    found = suggested(con)
    assert [row["role"] for row in found.values()] == [
        *("identifier", "quasi", "sensitive"),
        *("quasi", "identifier"),
    ]
    assert {row["unique_share"] for row in found.values()} == {None}
    con.execute("INSERT INTO t VALUES ('a@b.org', 1, 2, 'x', [1])")
    found = suggested(con)
    assert [row["role"] for row in found.values()] == [
        *("identifier", "quasi", "sensitive"),
        *("quasi", "identifier"),
    ]
    assert {row["unique_share"] for row in found.values()} == {1}


def test_a_column_of_nulls(con):
    con.execute(
        "CREATE TABLE t AS SELECT NULL::VARCHAR AS x, NULL::BLOB AS phone, i % 2 AS k, NULL AS n FROM range(50) AS r(i)"
    )
    found = suggested(con)
    assert [row["role"] for row in found.values()] == ["keep", "identifier", "keep", "keep"]
    assert found["x"]["distinct_values"] == 0
    assert found["x"]["null_share"] == 1


def test_types_that_cannot_be_generalized(con):
    con.execute(
        """CREATE TABLE t AS SELECT [i] AS l, {'a': i} AS s, MAP {'k': i} AS m, 'x'::BLOB AS b,
        '101'::BIT AS c, INTERVAL 1 DAY AS d, '{"a": 1}'::JSON AS j, uuid() AS u,
        union_value(num := i) AS n, i % 2 AS plain FROM range(50) AS r(i)"""
    )
    roles = {name: row["role"] for name, row in suggested(con).items()}
    assert roles == {**dict.fromkeys("lsmbcdjun", "identifier"), "plain": "keep"}


def test_lists_that_run_together_differ(con):
    con.execute("CREATE TABLE t AS SELECT unnest([[[1], [2]], [[1, 2]], [[1, 2]]]) AS l")
    assert suggested(con)["l"]["distinct_values"] == 2


def test_codes_without_a_telling_name(con):
    con.execute(
        "CREATE TABLE t AS SELECT i * 17 AS x, i * 1.5::DOUBLE AS y, i % 9 AS z FROM range(500) AS r(i)"
    )
    roles = {name: row["role"] for name, row in suggested(con).items()}
    assert roles == {"x": "identifier", "y": "quasi", "z": "keep"}


def test_identifiers_of_few_persons(con):
    """Flags may have the name of an identifier, but a person may own many rows."""
    con.execute(
        """CREATE TABLE t AS SELECT i % 3 AS patient_id, i % 2 AS phone, i % 9 AS worker_id,
        i % 30 AS type_id, i % 2 AS "Name", 'w' || i % 40 AS weird_id FROM range(2000) AS r(i)"""
    )
    roles = {name: row["role"] for name, row in suggested(con).items()}
    assert roles == {
        **dict.fromkeys(["patient_id", "worker_id", "Name", "weird_id"], "identifier"),
        "phone": "quasi",
        "type_id": "quasi",  # phone can be computed from it
    }


def test_columns_that_are_harmless_alone(con):
    """Ten columns of four values: each is harmless, together they single most rows out."""
    listed = ", ".join(f"(hash(i || 'q{at}') >> 20)::BIGINT % 4 AS q{at}" for at in range(10))
    con.execute(f"CREATE TABLE t AS SELECT {listed} FROM range(2000) AS r(i)")
    found = suggested(con)
    assert {row["role"] for row in found.values()} == {"quasi", "keep"}
    assert kept_alone(con, "t", found) <= 0.01


def test_a_table_that_does_not_fit_is_refused(con):
    con.execute("CREATE VIEW t AS SELECT i AS a, i AS b FROM range(10000000) AS r(i)")
    con.execute("SET memory_limit = '200MB'")
    message = fails(con, "FROM suggest_roles('t')")
    con.execute("RESET memory_limit")
    assert message.startswith("suggest_roles: the table must fit into memory, ")
    assert "got 10,000,000 rows" in message


def test_the_identifiers_of_safe_harbor(con):
    """Each kind is dropped or generalized, although every value differs and some names say health."""
    con.execute(
        """CREATE TABLE t AS SELECT 'Person ' || i AS patient_name, i || ' Elm Lane' AS street,
        '(617) 555-' || lpad((i * 37)::VARCHAR, 4, '0') AS phone, 'n' || i * 41 AS fax,
        'p' || i || '@example.org' AS email, (100 + i) || '-45-' || (6000 + i) AS ssn,
        'M' || (880000 + i * 3) AS mrn, 'HP' || (4400 + i * 7) AS health_plan_no,
        9100 + i * 11 AS account_no, 'L' || (7200 + i * 13) AS license_no,
        'B-' || (310 + i) || '-KX' AS vehicle_plate, 'SN' || (55000 + i * 17) AS device_serial,
        'example.org/u/' || i AS url, '10.0.' || (i % 7) || '.' || (i * 3 % 250) AS ip,
        md5('f' || i) AS fingerprint, 'img_' || i || '.jpg' AS photo,
        DATE '1921-01-15' + (i * 491)::INTEGER AS birth_date,
        DATE '2023-01-02' + (i * 5)::INTEGER AS admission_date,
        CASE WHEN i % 9 = 0 THEN DATE '2024-02-01' + i::INTEGER END AS death_date,
        DATE '2023-01-02' + (i % 3)::INTEGER AS diagnosis_date,
        ['03601', '02139', '02116'][1 + i % 3] AS zip, ['Acworth', 'Boston'][1 + i % 2] AS city,
        ['flu', 'asthma', 'gout'][1 + i % 3] AS diagnosis FROM range(60) AS r(i)"""
    )
    roles = {name: row["role"] for name, row in suggested(con).items()}
    quasi = "birth_date admission_date death_date diagnosis_date zip city".split()
    assert [name for name in quasi if roles[name] != "quasi"] == []
    assert roles["diagnosis"] == "sensitive"
    others = {role for name, role in roles.items() if name not in (*quasi, "diagnosis")}
    assert others == {"identifier"}


CODES = {
    "disease": "'D' || i * 7",  # texts, whatever the name says
    "city": "'c' || i",
    "religion": "md5(i::VARCHAR)",
    "diag_x": "4400 + i * 7",  # whole numbers that are assigned
    "x": "10000 + (hash(i) >> 20)::BIGINT % 80000",
    "as_double": "CASE WHEN i > 3 THEN (4400 + i * 7)::DOUBLE END",
    "income_no": "900 + i * i",
}
MEASURES = {
    "income": "900 + i * i",
    "umsatz": "900 + i * 7",
    "y": "20000 + floor(exp(5 + 7.0 * i / 400))::INTEGER",  # thins out
    "z": "i * 1.25::DOUBLE",
    "weight": "'7' || i || ',5 kg'",
    "d": "strftime(DATE '1950-01-01' + (i * 31)::INTEGER, '%d.%m.%Y')",
    "day": "strftime(DATE '1950-01-01' + (i * 31)::INTEGER, '%Y%m%d')::INTEGER",
    "birth_year": "1600 + i",
}


def test_what_differs_in_every_row_is_an_identifier_unless_measured_or_a_date(con):
    listed = ", ".join(f"{value} AS {name}" for name, value in {**CODES, **MEASURES}.items())
    con.execute(f"CREATE TABLE t AS SELECT {listed} FROM range(400) AS r(i)")
    roles = {name: row["role"] for name, row in suggested(con).items()}
    assert [name for name in CODES if roles[name] != "identifier"] == []
    assert [name for name in MEASURES if roles[name] == "identifier"] == []


def test_flags_and_categories_are_not_identifiers(con):
    con.execute(
        """CREATE TABLE t AS SELECT i % 2 = 0 AS email, i % 7 AS phone_type, i % 4 AS product_id,
        i % 6 AS number_of_patients, i % 3 = 0 AS has_address FROM range(90) AS r(i)"""
    )
    assert "identifier" not in {row["role"] for row in suggested(con).values()}
