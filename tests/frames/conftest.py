"""A table of many types, with NULLs and values that are hard to hold."""

import pytest

PEOPLE = """
CREATE TABLE people AS SELECT
    CASE WHEN i % 31 > 0 THEN (i * 7 % 60 + 20)::INT END AS age,
    CASE WHEN i % 17 > 0 THEN 'c' || (i * i % 9) END AS city,
    'd' || (i * 13 % 5) AS illness, i % 140 AS person, i::BIGINT AS n, i // 7 AS class_id
FROM range(280) t(i);
CREATE TABLE kinds AS SELECT
    (i * 7 % 60)::SMALLINT AS number, DATE '1970-01-01' + (i * 37 % 9000)::INT AS born,
    (i * 3 % 50 + .25)::DECIMAL(9, 2) AS pay, ((i * 11 % 40)::HUGEINT << 90) AS huge,
    i % 3 = 0 AS member, (i * 5 % 23 / 4)::DOUBLE AS score,
    TIMESTAMP '2020-01-01' + INTERVAL (i * 5 % 90) HOUR AS seen,
    TIMESTAMPTZ '2020-01-01 00:00:00+00' + INTERVAL (i * 5 % 90) HOUR AS zoned,
    TIME '08:00' + INTERVAL (i * 7 % 60) MINUTE AS clock,
    ('e' || i % 4)::ENUM ('e0', 'e1', 'e2', 'e3') AS word,
    [i, i % 3] AS listed, {'a': i % 5, 'b': 'x' || i} AS packed, MAP {'k': i} AS mapped,
    CASE WHEN i % 5 = 0 THEN 'nan'::DOUBLE WHEN i % 5 > 1 THEN -0.0 END AS odd,
    md5(i::VARCHAR)::UUID AS id, ('b' || i)::BLOB AS bytes, INTERVAL (i) DAY AS span
FROM range(240) t(i);
"""


@pytest.fixture
def people(con):
    """Make the tables ``people``, ``kinds`` and the hierarchy ``tree``."""
    con.execute(PEOPLE)
    con.execute(
        "CREATE TABLE tree AS SELECT 'city' AS attribute, 'c' || i AS value, 1 AS level, "
        "'g' || (i // 3) AS label FROM range(9) t(i) "
        "UNION ALL FROM numeric_hierarchy('people', 'age', widths := [10, 20])"
    )
    return con
