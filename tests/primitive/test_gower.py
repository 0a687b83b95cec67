"""``gower()`` in SQL against the gower package, a plain twin, and by hand."""

import itertools

import pytest

import anon_sql
from tests.sentence import fails


@pytest.fixture(scope="module")
def con():
    with anon_sql.connect() as connection:
        yield connection


def distance(con, a, b, ranges):
    return con.execute(f"SELECT gower({a}, {b}, {ranges})").fetchall()[0][0]


def twin(a, b, ranges):
    """The mean over what both have; numbers by their range, text by equality."""
    parts = []
    for name, width in ranges.items():
        x, y = a[name], b[name]
        if x is None or y is None:
            continue
        if width is None:
            parts.append(float(x != y))
        else:
            parts.append(min(abs(x - y) / width, 1.0) if width else 0.0)
    return sum(parts) / len(parts) if parts else None


def pairs(con, table):
    """Distances of all pairs of rows, by row ids, and the rows themselves."""
    rows = con.execute(
        f"SELECT a.id, b.id, gower(a, b, gower_ranges('{table}', ['age', 'city', 'sex', 'dose'])) "
        f"FROM {table} AS a, {table} AS b ORDER BY ALL"
    ).fetchall()
    columns = ("id", "age", "city", "sex", "dose")
    found = con.execute(f"SELECT {', '.join(columns)} FROM {table} ORDER BY id").fetchall()
    return rows, [dict(zip(columns, row, strict=True)) for row in found]


def made(con, nulls):
    con.execute(
        f"CREATE OR REPLACE TABLE people AS SELECT i AS id, "
        f"if({nulls} AND i % 3 = 0, NULL, 18 + (i * 7919) % 60) AS age, "
        f"if({nulls} AND i % 4 = 0, NULL, ['Accra', 'Bonn', 'Delhi'][1 + i % 3]) AS city, "
        f"if({nulls} AND i % 5 < 3, NULL, ['f', 'm'][1 + i % 2]) AS sex, "
        f"if({nulls} AND i % 2 = 0, NULL, (1 + (i * 31) % 100) / 10) AS dose FROM range(40) AS r(i)"
    )


def test_the_gower_package_finds_the_same(con):
    package = pytest.importorskip("gower")
    made(con, nulls=False)
    rows, _ = pairs(con, "people")
    frame = con.execute("SELECT age::DOUBLE AS age, city, sex, dose FROM people ORDER BY id").df()
    matrix = package.gower_matrix(frame, cat_features=[False, True, True, False])
    for a, b, found in rows:
        assert found == pytest.approx(float(matrix[a, b]), abs=2e-6)


@pytest.mark.parametrize("nulls", [False, True])
def test_the_twin_finds_the_same(con, nulls):
    made(con, nulls=nulls)
    rows, records = pairs(con, "people")
    ranges = {"age": None, "city": None, "sex": None, "dose": None}
    for name in ("age", "dose"):
        present = [record[name] for record in records if record[name] is not None]
        ranges[name] = max(present) - min(present)
    expected = [twin(a, b, ranges) for a, b in itertools.product(records, records)]
    assert [row[2] for row in rows] == pytest.approx(expected, abs=1e-12)
    assert (None in expected) is nulls


@pytest.mark.parametrize(
    ("a", "b", "ranges", "expected"),
    [
        ("{'a': 30, 's': 'f'}", "{'a': 40, 's': 'm'}", "MAP {'a': 50.0, 's': NULL}", 0.6),
        ("{'A': 30, 'x': 9}", "{'x': 1, 'a': 40}", "MAP {'a': 50}", 0.2),
        ("{'a': 1}", "{'a': 100}", "MAP {'a': 4.0}", 1.0),
        ("{'a': 1}", "{'a': 2}", "MAP {'a': 0.0}", 0.0),
        ("{'a': 1}", "{'a': NULL}", "MAP {'a': 4.0}", None),
        ("{'a': NULL, 'b': 'x'}", "{'a': 3, 'b': 'y'}", "MAP {'a': 4.0, 'b': NULL}", 1.0),
        ("{'a': 1}", "NULL", "MAP {'a': 4.0}", None),
        ("{'a': 1}", "{'a': 2}", "NULL", None),
        ("{'a': 1}", "{'a': 2}", "MAP {}", None),
        ("{'a': 1::TINYINT}", "{'a': 2.5::DECIMAL(38,10)}", "MAP {'a': 3.0}", 0.5),
        ("{'a': -1.5::DECIMAL(38,10)}", "{'a': 2::DECIMAL(38,10)}", "MAP {'a': 3.5}", 1.0),
        ("{'a': -1::HUGEINT}", "{'a': 1::HUGEINT}", "MAP {'a': 4.0}", 0.5),
        ("{'a': '-0.0'::DOUBLE}", "{'a': 0.0::DOUBLE}", "MAP {'a': 1.0}", 0.0),
        ("{'a': 9223372036854775806}", "{'a': 9223372036854775807}", "MAP {'a': 2.0}", 0.5),
        ("{'a': DATE '2000-01-01'}", "{'a': DATE '2000-01-11'}", "MAP {'a': 20.0}", 0.5),
        ("{'a': TIME '10:00:00'}", "{'a': TIME '10:00:01'}", "MAP {'a': 4e6}", 0.25),
        (
            *("{'a': TIMESTAMP_S '2000-01-01'}", "{'a': TIMESTAMP '2000-01-01 00:00:01'}"),
            *("MAP {'a': 4e6}", 0.25),
        ),
        (
            "{'a': TIMESTAMP_NS '2200-01-01 00:00:00.000000001'}",
            "{'a': TIMESTAMP_NS '2200-01-01'}",
            *("MAP {'a': 0.004}", 0.25),
        ),
        ("{'a': true}", "{'a': false}", "MAP {'a': NULL::DOUBLE}", 1.0),
        ("{'a': 'x'::ENUM('y', 'x')}", "{'a': 'x'}", "MAP {'a': NULL::DOUBLE}", 0.0),
    ],
)
def test_distance_by_hand(con, a, b, ranges, expected):
    assert distance(con, a, b, ranges) == expected
    assert distance(con, b, a, ranges) == expected


def test_each_row_has_its_own_ranges(con):
    rows = con.execute(
        "SELECT gower({'a': 0}, {'a': 1}, if(i % 5 = 4, NULL, MAP {'a': 1 + i % 5})) "
        "FROM range(5000) AS r(i)"
    ).fetchall()
    assert rows == [(None if i % 5 == 4 else 1 / (1 + i % 5),) for i in range(5000)]
    nothing = "SELECT gower({'a': i}, {'a': 1}, MAP {'a': 1}) FROM range(3) AS r(i) WHERE i > 3"
    assert con.execute(nothing).fetchall() == []


@pytest.mark.parametrize(
    ("a", "b", "ranges", "said"),
    [
        ("1", "2", "MAP {'a': 1.0}", "a and b must be structs of one record each, got int32"),
        ("{'a': 1}", "[2]", "MAP {'a': 1.0}", "a and b must be structs of one record each, got list<l: int32>"),
        ("{'a': 1}", "{'a': 2}", "{'a': 1.0}", "ranges must come from gower_ranges(), got struct<a: decimal128(2, 1)>"),
        ("{'a': 1}", "{'a': 2}", "MAP {1: 1.0}", "ranges must be a MAP(VARCHAR, DOUBLE), got a map of other types"),
        ("{'a': 1}", "{'a': 2}", "MAP {'a': 'x'}", "ranges must be a MAP(VARCHAR, DOUBLE), got a map of other types"),
        ("{'age': 1}", "{'ag': 2}", "MAP {'age': 1.0}", "a record must have every column of ranges, got no age; did you mean ag? (ag)"),
        ("{'b': 1, 'c': 2}", "{'a': 2}", "MAP {'a': 1.0}", "a record must have every column of ranges, got no a; choose from b, c"),
        ("{'a': 1}", "{'a': 'x'}", "MAP {'a': 1.0}", "a column must be text, or numbers or times of one kind that have a range, got a as int32 and string"),
        ("{'a': 'x'}", "{'a': 'x'}", "MAP {'a': 1.0}", "a column must be text, or numbers or times of one kind that have a range, got a as string"),
        ("{'a': [1]}", "{'a': [1]}", "MAP {'a': NULL::DOUBLE}", "a column must be text, or numbers or times of one kind that have a range, got a as list<l: int32>"),
        ("{'a': DATE '2000-01-01'}", "{'a': TIMESTAMP '2000-01-01'}", "MAP {'a': 1.0}", "a column must be text, or numbers or times of one kind that have a range, got a as date32[day] and timestamp[us]"),
    ],
)  # fmt: skip
def test_errors(con, a, b, ranges, said):
    assert fails(con, f"SELECT gower({a}, {b}, {ranges})") == f"gower: {said}"
