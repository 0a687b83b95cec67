"""safe_harbor: each of the 18 identifiers, and what is still against the rule, counted by hand."""

import datetime

import duckdb
import pytest

import anon_sql
from anon_sql.core.names import quote
from tests.sentence import fails

# 60 rows in which every direct identifier differs, and one column per identifier.
PATIENTS = """
CREATE TABLE patients AS SELECT
    'Person ' || chr(65 + (i % 26)::INTEGER) || i AS patient_name, i || ' Elm Lane' AS street,
    '(617) 555-' || lpad((i * 37)::VARCHAR, 4, '0') AS phone,
    '617-556-' || lpad((i * 41)::VARCHAR, 4, '0') AS fax, 'p' || i || '@example.org' AS email,
    lpad((100 + i)::VARCHAR, 3, '0') || '-45-' || (6000 + i) AS ssn, 'M' || (880000 + i * 3) AS mrn,
    'HP' || (4400 + i * 7) AS health_plan_no, 'A' || (9100 + i * 11) AS account_no,
    'L' || (7200 + i * 13) AS license_no, 'B-' || (310 + i) || '-KX' AS vehicle_plate,
    'SN' || (55000 + i * 17) AS device_serial, 'https://example.org/u/' || i AS url,
    '10.0.' || (i % 7) || '.' || (i * 3 % 250) AS ip, md5('f' || i) AS fingerprint,
    'img_' || i || '.jpg' AS photo, md5('o' || i) AS other,
    DATE '1921-01-15' + (i * 491)::INTEGER AS birth_date,
    DATE '2023-01-02' + (i * 5)::INTEGER AS admission_date,
    CASE WHEN i % 9 = 0 THEN DATE '2024-02-01' + i::INTEGER END AS death_date,
    ['03601', '02139', '02116', '05901', '10204', '60601'][1 + i % 6] AS zip,
    ['Acworth', 'Cambridge', 'Boston', 'Averill', 'New York', 'Chicago'][1 + i % 6] AS city,
    ['NH', 'MA', 'MA', 'VT', 'NY', 'IL'][1 + i % 6] AS state,
    CASE i WHEN 1 THEN 103 WHEN 2 THEN 89 WHEN 3 THEN 89 ELSE 88 + i % 9 - 4 * (i % 13) END::INTEGER
        AS age,
    ['flu', 'asthma', 'gout'][1 + i % 3] AS diagnosis
FROM range(60) AS r(i)
"""
LETTERS = {
    **dict(zip(["patient_name", "street", "phone", "fax", "email", "ssn"], "ABDEFG", strict=True)),
    **dict(zip(["mrn", "health_plan_no", "account_no", "license_no"], "HIJK", strict=True)),
    **dict(zip(["vehicle_plate", "device_serial", "url", "ip"], "LMNO", strict=True)),
    **dict(zip(["fingerprint", "photo", "other"], "PQR", strict=True)),
    **dict.fromkeys(["birth_date", "admission_date", "death_date", "age"], "C"),
    **dict.fromkeys(["zip", "city"], "B"),
    **dict.fromkeys(["state", "diagnosis"]),
}
FEW = ["036", "059", "102"]
OLDER = "SELECT count(*), count(DISTINCT age) FROM patients WHERE age > 89"


def rows(con, table, **arguments):
    """Return the rows of safe_harbor by column name, each as a dictionary."""
    named = "".join(f", {name} := ${name}" for name in arguments)
    result = con.sql(f"FROM safe_harbor('{table}'{named})", params=arguments or None)
    return {row["column_name"]: row for row in result.to_arrow_table().to_pylist()}


def left(con, table, **arguments):
    """Return the remaining rows and values of each column."""
    found = rows(con, table, **arguments)
    return {name: (row["remaining_rows"], row["remaining_values"]) for name, row in found.items()}


def of_values(con, name, values, kind="VARCHAR", **arguments):
    """Return the row of safe_harbor for a table of one column."""
    con.execute(f"CREATE OR REPLACE TABLE one ({quote(name)} {kind})")
    con.executemany("INSERT INTO one VALUES (?)", [[value] for value in values])
    return rows(con, "one", **arguments)[name]


@pytest.fixture
def patients(con):
    con.execute(PATIENTS)
    con.execute(f"CREATE TABLE few AS SELECT unnest({FEW}) AS zip3")
    return con


def test_each_of_the_18_identifiers(patients):
    found = rows(patients, "patients")
    assert {name: row["paragraph"] for name, row in found.items()} == LETTERS
    assert {"A", *"BCDEFGHIJKLMNOPQR"} == {row["paragraph"] for row in found.values()} - {None}


def test_rows_and_values_are_counted(patients):
    found = left(patients, "patients", restricted="few")
    direct = {
        name: counts for name, counts in found.items() if LETTERS[name] not in ("B", "C", None)
    }
    assert set(direct.values()) == {(60, 60)}
    (older,) = patients.execute(OLDER).fetchall()
    assert found["age"] == older
    assert older[0] > 1  # the one of 103, and others
    assert found["zip"] == (60, 6)
    assert found["city"] == (60, 6)
    assert found["death_date"] == (7, 7)
    assert found["state"] == found["diagnosis"] == (None, None)


def test_a_column_without_a_match_is_not_called_harmless(patients):
    row = rows(patients, "patients")["diagnosis"]
    assert row["reason"] == "nothing found by this check"
    assert row["to_do"] is row["identifier"] is row["paragraph"] is None


def test_after_the_rule_no_row_is_left(patients):
    patients.execute(
        "CREATE VIEW harbor AS SELECT least(age, 90) AS age, "
        f"if(left(zip, 3) IN {tuple(FEW)}, '000', left(zip, 3)) AS zip3, "
        "year(admission_date) AS admission_year, diagnosis FROM patients"
    )
    found = left(patients, "harbor", restricted="few")
    assert found.pop("diagnosis") == (None, None)
    assert set(found.values()) == {(0, 0)}
    of_89 = "SELECT count(*) FROM {} WHERE age = 89"
    before, after = (
        patients.execute(of_89.format(name)).fetchall() for name in ("patients", "harbor")
    )
    assert before == after != [(0,)]
    patients.execute(
        "CREATE TABLE safe AS FROM anonymize('harbor', k := 5, l := 2, "
        "quasi := ['age', 'zip3', 'admission_year'], sensitive := ['diagnosis'])"
    )
    assert set(left(patients, "safe", restricted="few").values()) == {(0, 0), (None, None)}


@pytest.mark.parametrize("form", ["label", "typed"])
def test_a_release_of_the_raw_values(patients, form):
    patients.execute(
        "CREATE TABLE safe AS FROM anonymize('patients', k := 5, "
        f"quasi := ['age', 'birth_date', 'zip'], keep := ['diagnosis'], exclude := ['*'], "
        f"format := '{form}')"
    )
    found = left(patients, "safe", restricted="few")
    high = "age.max" if form == "typed" else "anon_max(age)::INTEGER"
    ((above,),) = patients.execute(f"SELECT count(*) FROM safe WHERE {high} > 89").fetchall()
    assert above > 0
    assert found["age"][0] == above
    assert found["birth_date"][0] == 60


@pytest.mark.parametrize(
    ("values", "remaining"),
    [
        (["[85, 95]", "[20, 30]", "*"], (1, 1)),
        (["[85, 90]", "90", "[20, 30]"], (0, 0)),
        (["[85, 90]", "91"], (2, 2)),
        (["90+", "90+", "45"], (0, 0)),
        (["90+", "90"], (1, 1)),
        (["90 or older", ">89", "≥90", ">= 90", "90 and over", "90 plus"], (0, 0)),
        (["85+", "80-84"], (0, 0)),
        (["95+", "90+"], (1, 1)),
        ([">90"], (1, 1)),
        (["85-94", "85 to 94", "85\u201394"], (3, 3)),
        (["<90", "<=89", "under 18", "90+"], (0, 0)),
        (["300", "45"], (1, 1)),
        (["89.5", "89"], (1, 1)),
        (["90 years", "45 years"], (0, 0)),
        ([None, "", "n/a", "unknown", "*"], (0, 0)),
    ],
)  # fmt: skip
def test_ages(con, values, remaining):
    row = of_values(con, "age", values)
    assert row["paragraph"] == "C"
    assert (row["remaining_rows"], row["remaining_values"]) == remaining
    assert (row["to_do"] is None) == (remaining == (0, 0))


def test_ages_that_cannot_be_read_are_named(con):
    row = of_values(con, "age", ["old", "young", "45"])
    assert row["remaining_rows"] == 0
    assert row["reason"] == "the name says an age; 2 rows cannot be read as an age"


@pytest.mark.parametrize(
    ("name", "values", "remaining"),
    [
        ("age_months", [1068, 1092], (1, 1)),
        ("age_months", [12, 1080], (0, 0)),
        ("age_days", [32_000, 33_500], (1, 1)),
        ("edad", [90, 91, 89], (2, 2)),
        ("alter", [89, 90, 90], (0, 0)),
    ],
)
def test_ages_in_other_units_and_languages(con, name, values, remaining):
    row = of_values(con, name, values, "INTEGER")
    assert (row["remaining_rows"], row["remaining_values"]) == remaining


@pytest.mark.parametrize(
    ("name", "values", "remaining"),
    [
        ("birth_year", ["1936", "1940"], (0, 0)),
        ("birth_year", ["1935", "1936", "1940"], (2, 2)),
        ("birth_year", ["1936 or before", "1940"], (0, 0)),
        ("birth_year", ["<1937", "≤1936", "1940"], (0, 0)),
        ("birth_year", ["[1930, 1940]", "[1937, 1950]"], (1, 1)),
        ("birth_date", ["[1950-01-01, 1959-12-31]"], (0, 0)),
        ("birth_date", ["[1950-01-02, 1959-12-31]", "1950-03-02"], (2, 2)),
        ("birth_month", ["3", "March"], (2, 2)),
        ("admission_date", ["2020", "2020-03", "2020s", "[2019, 2020]", "*"], (1, 1)),
        ("admission_date", ["2020-Q1", "03/2020", "Monday"], (3, 3)),
        ("deceased", ["yes", "no", "no"], (0, 0)),
        ("date_of_death", ["1930", "1999"], (0, 0)),
        ("month", ["2020-03"], (1, 1)),
    ],
)
def test_dates(con, name, values, remaining):
    row = of_values(con, name, values, as_of=datetime.date(2026, 11, 28))
    assert row["paragraph"] == "C"
    assert (row["remaining_rows"], row["remaining_values"]) == remaining


def test_years_of_birth_are_ages_at_a_date(con):
    for day, remaining in (("2024-05-01", 0), ("2026-05-01", 1)):
        row = of_values(con, "birth_year", [1935, 1950], "INTEGER", as_of=day)
        assert row["remaining_rows"] == remaining
    assert row["to_do"] == "keep the year only; put the years of people above 89 into one category"


@pytest.mark.parametrize("kind", ["DATE", "TIMESTAMP", "TIMESTAMPTZ", "TIME"])
def test_a_column_of_dates_whose_name_says_nothing(con, kind):
    con.execute(
        f"CREATE TABLE t AS SELECT (TIMESTAMP '2024-01-01 10:00')::{kind} AS q3 FROM range(5)"
    )
    row = rows(con, "t")["q3"]
    assert (row["paragraph"], row["remaining_rows"], row["remaining_values"]) == ("C", 5, 1)


def test_texts_of_dates_whose_name_says_nothing(con):
    con.execute("CREATE TABLE t AS SELECT (DATE '2024-01-01' + i::INTEGER)::VARCHAR AS q3, "
                "'[2024-01-01, 2024-0' || (1 + i % 9) || '-05]' AS q4 FROM range(30) AS r(i)")  # fmt: skip
    found = rows(con, "t")
    assert [found[name]["paragraph"] for name in ("q3", "q4")] == ["C", "C"]
    assert [found[name]["remaining_rows"] for name in ("q3", "q4")] == [30, 30]


@pytest.mark.parametrize(
    ("values", "kind", "remaining"),
    [
        (["021", "000", "60", "*", "021**"], "VARCHAR", (0, 0)),
        (["036", "037", "036**"], "VARCHAR", (2, 2)),
        (["02139", "02139-1234", "021"], "VARCHAR", (2, 2)),
        (["{021, 036}", "{021, 022}"], "VARCHAR", (1, 1)),
        (["{02116, 02139}"], "VARCHAR", (1, 1)),
        (["SW1A 1AA"], "VARCHAR", (1, 1)),
        ([36, 21, 102], "INTEGER", (2, 2)),
        ([2139, 501], "INTEGER", (2, 2)),
        (["[21, 36]", "[21, 22]"], "VARCHAR", (1, 1)),
    ],
)
def test_zip_codes(patients, values, kind, remaining):
    row = of_values(patients, "zip", values, kind, restricted="few")
    assert (row["remaining_rows"], row["remaining_values"]) == remaining


def test_zip_codes_without_a_list_of_restricted_prefixes(con):
    row = of_values(con, "zip3", ["036", "021"])
    assert row["remaining_rows"] == 0
    assert row["reason"].endswith("; restricted prefixes were not counted")
    assert row["to_do"] == "pass the restricted prefixes as restricted"


def test_codes_of_five_digits_whose_name_says_nothing(con):
    row = of_values(con, "q1", ["02139", "60601", "10204"] * 30)
    assert (row["paragraph"], row["remaining_rows"]) == ("B", 90)
    assert row["reason"].startswith("sampled values look like ZIP codes")


@pytest.mark.parametrize(
    ("content", "got"),
    [
        ("SELECT '12345' AS zip3", "1 value that is not"),
        ("SELECT unnest(['036', 'x', '']) AS zip3", "2 values that are not"),
        ("SELECT '036' AS prefix", "1 value that is not"),
        ("SELECT NULL::VARCHAR AS zip3", "1 value that is not"),
        ("SELECT '036' AS zip3 LIMIT 0", "no rows"),
    ],
)
def test_restricted_prefixes_that_are_none(patients, content, got):
    patients.execute(f"CREATE OR REPLACE TABLE few AS {content}")
    message = fails(patients, "FROM safe_harbor('patients', restricted := 'few')")
    rule = "safe_harbor: restricted must have prefixes of three digits in its column zip3"
    assert message == f"{rule}, got {got}"


def test_restricted_prefixes_as_numbers(patients):
    patients.execute(
        "CREATE OR REPLACE TABLE few AS SELECT unnest([36, 59]) AS zip3, 'VT' AS state"
    )
    row = of_values(patients, "zip", ["036", "059", "102"], restricted="few")
    assert row["remaining_rows"] == 2


@pytest.mark.parametrize("as_of", ["soon", 2026, "2026-13-01"])
def test_a_date_that_is_none(con, as_of):
    con.execute("CREATE TABLE t AS SELECT 40 AS age")
    with pytest.raises(duckdb.Error, match="as_of must be a date, such as 2027-01-31"):
        rows(con, "t", as_of=as_of)


def test_identifiers_that_are_removed_or_hidden(con):
    con.execute(
        "CREATE TABLE t AS SELECT '*' AS patient_name, NULL AS ssn, '' AS email FROM range(9)"
    )
    assert set(left(con, "t").values()) == {(0, 0)}
    con.execute("INSERT INTO t VALUES ('Ada', NULL, 'a@b.org')")
    assert left(con, "t") == {"patient_name": (1, 1), "ssn": (0, 0), "email": (1, 1)}


@pytest.mark.parametrize(
    ("name", "kind", "value"),
    [
        ("remarks", "VARCHAR", "seen by Dr. Smith in Boston last May"),
        ("payload", "BLOB", b"abc"),
        ("tags", "VARCHAR[]", ["a"]),
        ("extra", "STRUCT(a INTEGER, b VARCHAR)", {"a": 1, "b": "x"}),
    ],
)
def test_values_that_may_hold_anything(con, name, kind, value):
    row = of_values(con, name, [value], kind)
    assert (row["paragraph"], row["remaining_rows"]) == (None, 1)
    assert row["identifier"] == "any of the 18 may be in the values"
    assert row["to_do"] == "look into the values, or remove"


@pytest.mark.parametrize(
    ("name", "letter"),
    [
        ("employer", "A"), ("place_of_birth", "B"), ("county", "B"), ("latitude", "B"),
        ("country", None), ("state", None), ("state_city", "B"), ("birthplace", "B"),
        ("telefax", "E"), ("nhs_number", "I"), ("driver_license", "K"), ("iban", "J"),
        ("imei", "M"), ("vin", "L"), ("voice_print", "P"), ("profile_picture", "Q"),
        ("patient_id", "H"), ("member_id", "I"), ("homepage", "N"), ("income", None),
    ],
)  # fmt: skip
def test_names(con, name, letter):
    con.execute(f"CREATE TABLE t AS SELECT 'v' || i % 7 AS {quote(name)} FROM range(30) AS r(i)")
    assert rows(con, "t")[name]["paragraph"] == letter


def test_odd_tables(con):
    con.execute("CREATE TABLE none (age INTEGER, zip VARCHAR, note VARCHAR)")
    assert left(con, "none") == {"age": (0, 0), "zip": (0, 0), "note": (0, 0)}
    hostile = "ä\"; SELECT 'x"
    con.execute(
        f'CREATE TABLE {quote(hostile)} AS SELECT 95 AS {quote(hostile + " age")}, 1 AS "x y"'
    )
    found = con.execute("FROM safe_harbor(?)", [quote(hostile)]).fetchall()
    assert [row[6] for row in found] == [1, None]
    with_cte = "WITH t AS (SELECT 91 AS age) SELECT remaining_rows FROM safe_harbor('t')"
    assert con.execute(with_cte).fetchall() == [(1,)]
    con.execute("CREATE TABLE t AS SELECT 1 AS __anon_x")
    assert "must not begin with __anon_" in fails(con, "FROM safe_harbor('t')")


def test_no_part_of_the_result_has_a_value(patients):
    shown = str(patients.execute("FROM safe_harbor('patients', restricted := 'few')").fetchall())
    for value in ("Elm Lane", "@example", "Cambridge", "02139", "036", "103", "asthma", "1921"):
        assert value not in shown


def test_frames_and_threads(patients):
    raw = patients.sql("FROM patients").to_arrow_table()
    few = patients.sql("FROM few").to_arrow_table()
    day = datetime.date(2026, 1, 1)
    expected = list(rows(patients, "patients", restricted="few", as_of=day).values())
    assert anon_sql.frames.safe_harbor(raw, restricted=few, as_of=day).to_pylist() == expected
    patients.execute("SET threads = 1")
    assert list(rows(patients, "patients", restricted="few", as_of=day).values()) == expected
