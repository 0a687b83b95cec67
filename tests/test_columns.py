"""Columns as arrays: exact keys and points; and tables that are very wide, long, small or odd."""

import decimal
from fractions import Fraction
from math import copysign

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import anon_sql
from anon_sql.columns import NULL_POINT, categories, gaps, numbers
from anon_sql.exact import comparable
from tests.test_roles import fails

WIDE = {  # SQL type: Arrow type, smallest and largest value
    "TINYINT": (pa.int8(), -(2**7), 2**7 - 1),
    "BIGINT": (pa.int64(), -(2**63), 2**63 - 1),
    "UBIGINT": (pa.uint64(), 0, 2**64 - 1),
    "DECIMAL(18,3)": (pa.decimal128(18, 3), -(10**18) + 1, 10**18 - 1),
    "DECIMAL(38,10)": (pa.decimal128(38, 10), -(10**38) + 1, 10**38 - 1),
    "HUGEINT": (pa.decimal128(38, 0), -(2**127), 2**127 - 1),
    "UHUGEINT": (pa.decimal128(38, 0), 0, 2**128 - 1),
}


@pytest.fixture(scope="module")
def con():
    with anon_sql.connect() as connection:
        yield connection


def array(values, kind):
    """Unscaled integers and None as an Arrow array, 128-bit values in their two halves."""
    if not pa.types.is_decimal(kind):
        return pa.array(values, kind)
    given = [(value or 0) % 2**128 for value in values]
    halves = np.array([[v % 2**64, v >> 64] for v in given], dtype=np.uint64).reshape(-1)
    bits = np.packbits([value is not None for value in values], bitorder="little")
    buffers = [pa.py_buffer(bits.tobytes()), pa.py_buffer(halves.tobytes())]
    return pa.Array.from_buffers(kind, len(values), buffers)


@st.composite
def columns(draw):
    sql_type = draw(st.sampled_from(list(WIDE)))
    _, least, most = WIDE[sql_type]
    near = draw(st.integers(least, most))
    value = st.one_of(
        st.none(),
        st.integers(least, most),
        st.integers(max(least, near - 5), min(most, near + 5)),
        st.sampled_from([least, most]),
    )
    return sql_type, draw(st.lists(value, min_size=1, max_size=8))


@settings(max_examples=300, deadline=None)
@given(columns())
@example(("HUGEINT", [-1, 1, None]))
@example(("UHUGEINT", [2**127, 2**127 - 1]))
@example(("DECIMAL(38,10)", [-15_000_000_000, 20_000_000_000]))
def test_keys_and_points_are_exact(column):
    sql_type, values = column
    kind = WIDE[sql_type][0]
    made = numbers("test", "v", sql_type, array(values, kind))
    known = [value for value in values if value is not None]
    assert made.present.tolist() == [value is not None for value in values]
    for i, a in enumerate(values):
        for j, b in enumerate(values):
            if a is not None and b is not None:
                assert (made.keys[i] < made.keys[j]) is np.bool_(a < b)
    width = max(known) - min(known) if known else 0
    scale = kind.scale if pa.types.is_decimal(kind) else 0
    assert made.width == pytest.approx(float(Fraction(width, 10**scale)), rel=1e-15)
    for value, point in zip(values, made.points, strict=True):
        if value is None:
            assert point == NULL_POINT
        else:
            exact = Fraction(value - min(known), width) if width else 0
            assert point == pytest.approx(float(exact), rel=1e-15)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False) | st.none(), min_size=1, max_size=8)
)
@example([1.7e308, -1.7e308, 0.0])
@example([5e-324, 0.0])
@example([0.0, -0.0])
def test_floats_keep_their_order(values):
    made = numbers("test", "v", "DOUBLE", pa.array(values, pa.float64()))
    assert np.isfinite(made.width)
    assert made.present.tolist() == [value is not None for value in values]
    known = [(v, copysign(1, v)) for v in values if v is not None]  # -0.0 comes before 0.0
    keys, points = made.keys[made.present].tolist(), made.points[made.present]
    assert [known.index(value) for value in sorted(known)] == [keys.index(k) for k in sorted(keys)]
    assert ((points >= 0) & (points <= 1)).all()
    assert (made.points[~made.present] == NULL_POINT).all()


@settings(max_examples=300, deadline=None)
@given(columns(), st.integers(0, 8), st.integers(0, 8))
@example(("HUGEINT", [-(2**127), -1, None, 0, 2**127 - 1]), 2, 4)
@example(("UHUGEINT", [0, 2**127, 2**128 - 1, 2**63]), 1, 2)
def test_keys_of_several_arrays_compare(column, first, second):
    sql_type, values = column
    cuts = sorted([first, second])
    parts = [values[: cuts[0]], values[cuts[0] : cuts[1]], values[cuts[1] :]]
    parts = [part for part in parts if part]
    made = comparable(sql_type, [array(part, WIDE[sql_type][0]) for part in parts])
    assert [len(keys) for keys in made] == [len(part) for part in parts]
    known = [
        (value, key)
        for value, key in zip(values, np.concatenate(made), strict=True)
        if value is not None
    ]
    for a, near in known:
        for b, far in known:
            assert (a < b, a == b) == (near < far, near == far)


@settings(max_examples=200, deadline=None)
@given(columns())
def test_gaps_are_the_distances(column):
    sql_type, values = column
    kind = WIDE[sql_type][0]
    if sql_type == "UHUGEINT":  # Arrow does not tell it from HUGEINT
        return
    other = values[::-1]
    found = gaps(array(values, kind), array(other, kind))
    scale = kind.scale if pa.types.is_decimal(kind) else 0
    spread = max((v for v in values if v is not None), default=0)
    spread -= min((v for v in values if v is not None), default=0)
    for a, b, gap in zip(values, other, found, strict=True):
        if a is None or b is None:
            assert np.isnan(gap)
        else:
            near = float(Fraction(spread, 10**scale)) * 1e-15
            assert gap == pytest.approx(float(Fraction(abs(a - b), 10**scale)), abs=near)


@pytest.mark.parametrize("bits", [32, 64])
def test_narrow_decimals_of_later_arrow_versions(bits):
    if not hasattr(pa, f"decimal{bits}"):
        pytest.skip("this pyarrow has no narrow decimals")
    kind = getattr(pa, f"decimal{bits}")(9, 2)
    values = pa.array([decimal.Decimal("-0.05"), None, decimal.Decimal("1.25")], kind)
    made = numbers("test", "v", "DECIMAL(9,2)", values)
    assert made.width == 1.3
    assert made.keys[made.present].tolist() == [-5, 125]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text(max_size=3) | st.none(), max_size=8))
def test_codes_follow_the_bytes(values):
    made = categories("v", pa.array(values, pa.string()))
    words = sorted({value for value in values if value is not None}, key=str.encode)
    assert made.values.to_pylist() == words
    expected = [len(words) if value is None else words.index(value) for value in values]
    assert made.codes.tolist() == expected


@pytest.mark.parametrize("classes", [70, 70_000])
def test_more_categories_than_a_byte_or_two_can_count(con, classes):
    con.execute(
        "CREATE OR REPLACE TABLE t AS SELECT 'v' || i AS v, i // 2 AS class_id, i AS rid "
        f"FROM range({2 * classes}) AS r(i)"
    )
    call = "generalize('t', k := 2, qids := ['v'], keep := ['rid'])"
    pair = "['v' || (rid - rid % 2), 'v' || (rid - rid % 2 + 1)]"
    right = f"v = '{{' || array_to_string(list_sort({pair}), ', ') || '}}'"
    found = con.sql(f"SELECT count(*), count(DISTINCT v), bool_and({right}) FROM {call}").fetchall()
    assert found == [(2 * classes, classes, True)]


def test_a_class_of_more_values_than_one_short_list(con):
    con.execute(
        "CREATE OR REPLACE TABLE t AS SELECT i::VARCHAR AS v, 1 AS class_id FROM range(300) AS r(i)"
    )
    found = con.sql(
        "SELECT DISTINCT anon_values(v) FROM generalize('t', k := 2, qids := ['v'])"
    ).fetchall()
    assert found == [(sorted(map(str, range(300))),)]


@pytest.mark.parametrize("form", ["label", "typed"])
def test_seventy_quasi_identifiers(con, form):
    made = [
        f"i * {at + 3} % {at + 2} AS q{at}" if at % 2 else f"'x' || i % {at + 2} AS q{at}"
        for at in range(70)
    ]
    con.execute(f"CREATE OR REPLACE TABLE t AS SELECT {', '.join(made)} FROM range(60) AS r(i)")
    qids = [f"q{at}" for at in range(70)]
    release = f"rayden('t', k := 5, qids := {qids}, format := '{form}')"
    sizes = con.sql(f"SELECT count(*) FROM {release} GROUP BY ALL").fetchall()
    assert con.sql(f"FROM {release}").columns == qids
    assert sum(size for (size,) in sizes) == 60
    groups = con.sql(f"SELECT {', '.join(qids)}, count(*) FROM {release} GROUP BY ALL").fetchall()
    assert min(row[-1] for row in groups) >= 5


def test_two_hundred_kept_columns(con):
    made = ", ".join(f"i * {at} % 7 AS c{at}" for at in range(200))
    con.execute(f"CREATE OR REPLACE TABLE t AS SELECT i % 3 AS q, {made} FROM range(60) AS r(i)")
    released = con.sql("FROM rayden('t', k := 5, qids := ['q'])")
    assert released.columns == ["q", *(f"c{at}" for at in range(200))]
    kept = sorted(row[1:] for row in released.fetchall())
    assert kept == sorted(row[1:] for row in con.sql("FROM t").fetchall())


def test_one_row_and_k_of_one(con):
    con.execute("CREATE OR REPLACE TABLE t AS SELECT 1 AS a, 'x' AS b, NULL::DATE AS c, 7 AS kept")
    call = "FROM rayden('t', k := {}, qids := ['a', 'b', 'c'], format := '{}')"
    assert con.sql(call.format(1, "label")).fetchall() == [("1", "x", None, 7)]
    typed = [({"min": 1, "max": 1}, ["x"], {"min": None, "max": None}, 7)]
    assert con.sql(call.format(1, "typed")).fetchall() == typed
    assert fails(con, call.format(2, "label")) == (
        "rayden: k must be at most the number of rows, 1, got k := 2"
    )


@pytest.mark.parametrize("method", ["rayden", "generalize"])
@pytest.mark.parametrize("form", ["label", "typed"])
def test_an_empty_table_has_the_columns_and_types_of_a_full_one(con, method, form):
    con.execute(
        "CREATE OR REPLACE TABLE t AS SELECT i AS rid, 1::UHUGEINT AS h, 'x' AS s, now() AS z, "
        "1.5 AS d, '10:00'::TIME_NS AS n, 'a'::ENUM('a') AS e, uuid() AS u, {'x': [1]} AS kept, "
        "1::UTINYINT AS class_id FROM range(9) AS r(i)"
    )
    call = (
        f"FROM {method}('t', k := 3, qids := ['h', 's', 'z', 'd', 'n', 'e', 'u'], "
        f"identifiers := ['rid'], format := '{form}')"
    )
    full = con.sql(call)
    columns, types = full.columns, full.types
    con.execute("DELETE FROM t")
    empty = con.sql(call)
    assert (empty.columns, empty.types, empty.fetchall()) == (columns, types, [])
    if form == "typed":
        assert types[:2] == ["STRUCT(min UHUGEINT, max UHUGEINT)", "VARCHAR[]"]
    else:
        assert types[:7] == ["VARCHAR"] * 7
    assert columns == ["h", "s", "z", "d", "n", "e", "u", "kept", "class_id"][: len(columns)]


SETTINGS = [
    *("default_collation = 'NOCASE'", "old_implicit_casting = true", "integer_division = true"),
    *("preserve_identifier_case = false", "arrow_large_buffer_size = true", "threads = 1"),
    *(
        "produce_arrow_string_view = true",
        "arrow_output_list_view = true",
        "default_order = 'desc'",
    ),
    *("arrow_output_version = '1.5'", "default_null_order = 'nulls_first'", "schema = 'main'"),
    *("preserve_insertion_order = false", "ieee_floating_point_ops = false", "pivot_limit = 1"),
    *(
        "Calendar = 'buddhist'",
        "disabled_optimizers = 'expression_rewriter,statistics_propagation'",
    ),
]


@pytest.fixture(scope="module")
def usual(con):
    """A table of many types and its releases under the usual settings."""
    con.execute(
        "CREATE OR REPLACE TABLE usual AS SELECT i // 4 AS class_id, i % 7 AS a, ['x', 'X', 'é', 'e'][1 + i % 4] "
        "AS b, DATE '2000-01-01' + (i % 9)::INTEGER AS d, TIMESTAMPTZ '2000-01-01 00:00:00+00' + "
        "INTERVAL 1 HOUR * (i % 5) AS z, (i % 3)::DECIMAL(4,1) AS n, (i % 5 / 7)::DOUBLE AS f, 'Kept' || i % 3 AS kept "
        "FROM range(40) AS r(i)"
    )
    return releases(con)


def releases(con):
    qids = "['a', 'b', 'd', 'z', 'n', 'f']"
    shown = "a, b, d, epoch_us(z.min), epoch_us(z.max), n, f, kept"
    return [
        sorted(map(str, con.sql(query).fetchall()))
        for query in (
            f"FROM rayden('usual', k := 4, qids := {qids}, identifiers := ['class_id'])",
            f"FROM generalize('usual', k := 4, qids := {qids})",
            f"SELECT {shown} FROM generalize('usual', k := 4, qids := {qids}, format := 'typed')",
        )
    ]


@pytest.mark.parametrize("setting", SETTINGS)
def test_settings_do_not_show_in_a_release(con, usual, setting):
    con.execute(f"SET {setting}")
    try:
        assert releases(con) == usual
    finally:
        con.execute(f"RESET {setting.partition(' ')[0]}")


def test_the_one_setting_that_cannot_be_on(con, usual):
    con.execute("SET arrow_lossless_conversion = true")
    try:
        assert fails(con, "FROM rayden('usual', k := 4, qids := ['a'], keep := ['class_id'])") == (
            "anon_sql: arrow_lossless_conversion must be off, got on; RESET arrow_lossless_conversion"
        )
    finally:
        con.execute("RESET arrow_lossless_conversion")
