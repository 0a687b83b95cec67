"""Bins: values are cut before rows are grouped, labels show the ends of bins, k and truth hold."""

import json
from datetime import date, datetime, time, timedelta
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import anon_sql
from anon_sql.pipeline import compute
from tests.command import refused, run
from tests.sentence import fails

METHODS = ["anonymize", "basic_mondrian", "dop", "k_member", "mondrian", "mondrian_cof", "oka"]
METHODS += ["rayden", "top_down", "full_domain"]
CALL = (
    "quasi := ['age', 'city', 'born', 'sex'], sensitive := 'illness', keep := ['*'], "
    "identifiers := ['person_id']"
)
STEPS = "bin_width := MAP {'age': 5, 'born': 7}"
MONDAY = date(2000, 1, 3)


def test_by_hand(con):
    """Ages of two bins, of negative numbers and of NULL; classes of two."""
    con.execute(
        "CREATE TABLE t AS SELECT unnest([21, 24, 37, 39, -3, -5, NULL, NULL]) AS age, 0 AS kept"
    )
    call = (
        "FROM mondrian('t', k := 2, quasi := ['age'], keep := ['kept'], bin_width := MAP {'age': 5}"
    )
    labels = con.execute(f"SELECT age, count(*) {call}) GROUP BY ALL ORDER BY ALL").fetchall()
    assert labels == [("[-5, -1]", 2), ("[20, 24]", 2), ("[35, 39]", 2), (None, 2)]
    labels = con.execute(f"SELECT DISTINCT age {call}, format := 'typed') ORDER BY ALL").fetchall()
    ends = [(-5, -1), (20, 24), (35, 39), (None, None)]
    assert labels == [({"min": low, "max": high},) for low, high in ends]
    plain = call.split(", bin_width", maxsplit=1)[0] + ")"
    ones = call.replace("5}", "1}") + ")"
    assert con.execute(ones).fetchall() == con.execute(plain).fetchall()


def test_a_class_of_several_steps(con):
    con.execute("CREATE TABLE t AS SELECT unnest([2, 14, 23, 23, 30, 31]) AS n")
    call = "FROM mondrian('t', k := 6, quasi := ['n'], bin_width := MAP {'N': 10})"
    assert con.execute(call).fetchall() == [("[0, 39]",)] * 6


@pytest.mark.parametrize(
    ("method", "form"), [(name, ("label", "typed")[at % 2]) for at, name in enumerate(METHODS)]
)
def test_labels_are_true_and_end_with_steps(people, method, form):
    """What the audit says of the rows, and the ends of every label computed again."""
    people.execute(f"CREATE TABLE r AS FROM {method}('people', k := 6, {CALL}, {STEPS}, format := "
                   f"'{form}')")  # fmt: skip
    checks = people.execute(
        f"SELECT property, passed FROM audit('people', 'r', k := 6, {CALL}) WHERE property IN "
        "('k', 'true_labels', 'covered_rows', 'matched_rows', 'rows', 'label_spelling')"
    ).fetchall()
    assert len(checks) == 6
    assert all(passed for _, passed in checks)
    ends = (
        "age.min::INTEGER, age.max::INTEGER, born.min::DATE, born.max::DATE"
        if form == "typed"
        else "anon_min(age)::INTEGER, anon_max(age)::INTEGER, anon_min(born)::DATE, "
        "anon_max(born)::DATE"
    )
    found = people.execute(f"SELECT {ends} FROM r").fetchall()
    assert len(found) == 120
    for low, high, first, last in found:
        assert low is None or (low % 5 == 0 and high % 5 == 4)
        assert first is None or ((first - MONDAY).days % 7 == 0 and (last - MONDAY).days % 7 == 6)
    lost = people.execute(
        f"SELECT gcp('people', 'r', {CALL.split(', sens', maxsplit=1)[0]})"
    ).fetchone()
    assert 0 < lost[0] <= 1


@pytest.mark.parametrize("method", METHODS)
def test_a_release_tells_steps_alone(people, method):
    """Other values of the same bins, in another order, give the same release."""
    people.execute("""
        CREATE TABLE moved AS SELECT * REPLACE (
            (age // 5 * 5 + (age * 7 + 3) % 5)::INTEGER AS age,
            time_bucket(INTERVAL 7 DAY, born) + (hash(born) % 7)::INTEGER AS born
        ) FROM people ORDER BY hash(age, born, city)
    """)
    assert people.sql("FROM moved EXCEPT FROM people").fetchall()
    found = [
        people.execute(f"FROM {method}('{name}', k := 6, {CALL}, {STEPS})").fetchall()
        for name in ("people", "moved")
    ]
    assert found[0] == found[1]


def bin_widths_of(value, step, kind):
    """The ends of the step of a value, in exact arithmetic."""
    if isinstance(value, datetime):
        start = datetime(2000, 1, 3, tzinfo=value.tzinfo)
        length = timedelta(microseconds=int(step * 10**6))
        low = start + (value - start) // length * length
        return low, low + length
    if isinstance(value, date):
        low = MONDAY + timedelta((value - MONDAY).days // int(step) * int(step))
        return low, low + timedelta(int(step) - 1)
    if isinstance(value, time):
        micro = ((value.hour * 60 + value.minute) * 60 + value.second) * 10**6 + value.microsecond
        low = micro // (step * 10**6) * step
        midnight = datetime(2000, 1, 1)
        ends = [midnight + timedelta(microseconds=int(low * 10**6 + n * 10**6)) for n in (0, step)]
        return ends[0].time(), ends[1].time()
    low = Fraction(value) // step * step
    whole = "INT" in kind or kind.endswith(",0)")
    return low, low + step - whole


@pytest.mark.parametrize(
    ("kind", "made", "step"),
    [
        ("TINYINT", "(h % 200)::INTEGER - 100", "7"),
        ("UBIGINT", "18446744073709551000 + h % 500", "3"),
        ("BIGINT", "(h % 1000)::BIGINT - 500", "12"),
        ("HUGEINT", "(h % 1000)::HUGEINT * 100000000000000000000 - 7", "100000000000000000000"),
        ("DECIMAL(6,2)", "((h % 20000)::INTEGER - 10000) / 100", "0.25"),
        ("DECIMAL(30,3)", "((h % 20000)::INTEGER - 10000) / 1000", "0.5"),
        ("DECIMAL(9,0)", "(h % 300)::INTEGER - 100", "10"),
        ("DOUBLE", "((h % 20000)::INTEGER - 10000) / 4096", "0.25"),
        ("FLOAT", "((h % 20000)::INTEGER - 10000) / 512", "2"),
        ("DATE", "DATE '1999-12-20' + (h % 60)::INTEGER", "10"),
        ("TIMESTAMP", "TIMESTAMP '1969-12-20' + to_seconds((h % 9000000)::BIGINT)", "86400"),
        ("TIMESTAMP_S", "TIMESTAMP '1969-12-20' + to_seconds((h % 9000000)::BIGINT)", "3600"),
        ("TIMESTAMP_MS", "TIMESTAMP '2020-12-20' + to_seconds((h % 9000)::BIGINT)", "0.5"),
        ("TIMESTAMP_NS", "TIMESTAMP '2020-12-20' + to_seconds((h % 90000)::BIGINT)", "60"),
        ("TIMESTAMPTZ", "TIMESTAMP '1969-12-20' + to_seconds((h % 9000000)::BIGINT)", "86400"),
        ("TIME", "TIME '03:00:00' + to_seconds((h % 60000)::BIGINT)", "900"),
    ],
)
def test_every_type(con, kind, made, step):
    """Random values, one in ten of them NULL, in classes whose labels lie on the grid."""
    con.execute("SET TimeZone = 'UTC'")
    con.execute(
        f"CREATE TABLE t AS SELECT CASE WHEN i % 10 > 0 THEN ({made})::{kind} END AS x, i "
        "FROM (SELECT i, hash(i * 31) AS h FROM range(200) r(i))"
    )
    call = f"'t', k := 4, quasi := ['x'], keep := ['i'], bin_width := MAP {{'x': {step}}}"
    con.execute(f"CREATE TABLE r AS FROM mondrian({call})")
    con.execute(f"CREATE TABLE typed AS FROM mondrian({call}, format := 'typed')")
    smallest = con.execute("SELECT min(n) FROM (SELECT count(*) AS n FROM r GROUP BY x)")
    assert smallest.fetchone()[0] >= 4
    rows = con.execute(
        f"SELECT t.x, anon_min(r.x)::{kind}, anon_max(r.x)::{kind}, typed.x.min, typed.x.max, r.x "
        "FROM t JOIN r USING (i) JOIN typed USING (i)"
    ).fetchall()
    exact = con.execute("SELECT typeof(x) FROM t LIMIT 1").fetchone()[0]
    starts = {bin_widths_of(row[0], Fraction(step), exact)[0] for row in rows if row[0] is not None}
    stops = {bin_widths_of(row[0], Fraction(step), exact)[1] for row in rows if row[0] is not None}
    narrow = 0
    for value, low, high, least, most, label in rows:
        assert (low, high) == (least, most)
        if value is None or low is None:
            assert label in (None, "*")
            continue
        own = bin_widths_of(value, Fraction(step), exact)
        assert low <= own[0] <= value <= own[1] <= high
        assert low in starts
        assert high in stops
        narrow += 1
    assert narrow >= 160


@pytest.mark.parametrize(
    ("kind", "values", "labels"),
    [
        ("TINYINT", "-128, -127, 126, 127", ["[-128, -126]", "[125, 127]"]),
        ("UTINYINT", "0, 1, 255, 255", ["255", "[0, 4]"]),
        ("BIGINT", "-9223372036854775808, -9223372036854775807, 9223372036854775807, "
         "9223372036854775806", ["[-9223372036854775808, -9223372036854775806]",
                                 "[9223372036854775805, 9223372036854775807]"]),
        ("UBIGINT", "18446744073709551615, 18446744073709551615, 3, 4",
         ["18446744073709551615", "[0, 4]"]),
        ("HUGEINT", "'-170141183460469231731687303715884105728', "
         "'-170141183460469231731687303715884105727', '170141183460469231731687303715884105727', "
         "'170141183460469231731687303715884105726'",
         ["[-170141183460469231731687303715884105728, -170141183460469231731687303715884105726]",
          "[170141183460469231731687303715884105725, 170141183460469231731687303715884105727]"]),
        ("UHUGEINT", "'340282366920938463463374607431768211455', "
         "'340282366920938463463374607431768211455', 0, 1",
         ["340282366920938463463374607431768211455", "[0, 4]"]),
        ("DECIMAL(3,1)", "-99.9, -99.8, 99.8, 99.9", ["[-99.9, -95.0]", "[95.0, 99.9]"]),
        ("DATE", "'5877642-06-25 (BC)', '5877642-06-26 (BC)', '5881580-07-10', '5881580-07-10'",
         ["[5877642-06-25 (BC), 5877642-06-29 (BC)]", "[5881580-07-08, 5881580-07-10]"]),
        ("TIMESTAMP", "'290309-12-22 (BC) 00:00:00', '290309-12-22 (BC) 00:00:00', "
         "'294247-01-10 04:00:54.775806', '294247-01-10 04:00:54.775806'",
         ["[290309-12-22 (BC) 00:00:00, 290309-12-22 (BC) 00:00:05]",
          "[294247-01-10 04:00:50, 294247-01-10 04:00:54.775806]"]),
        ("TIMESTAMP_NS", "'1677-09-22 00:00:01', '1677-09-22 00:00:01', "
         "'2262-04-11 23:47:16.854775806', '2262-04-11 23:47:16.854775806'",
         ["[1677-09-22 00:00:00, 1677-09-22 00:00:05]",
          "[2262-04-11 23:47:15, 2262-04-11 23:47:16.854775806]"]),
        ("TIME", "'00:00:00', '00:00:01', '24:00:00', '24:00:00'",
         ["24:00:00", "[00:00:00, 00:00:05]"]),
        ("DOUBLE", "-0.0, 0.0, 14.999, 10", ["[0.0, 5.0]", "[10.0, 15.0]"]),
    ],
)  # fmt: skip
def test_next_to_the_bounds_of_a_type(con, kind, values, labels):
    listed = ", ".join(f"(({value.strip()})::{kind})" for value in values.split(","))
    con.execute(f"CREATE TABLE t AS SELECT * FROM (VALUES {listed}) AS v (x)")
    call = "'t', k := 2, quasi := ['x'], bin_width := MAP {'x': 5}"
    found = con.execute(f"SELECT DISTINCT x FROM mondrian({call})").fetchall()
    assert sorted(label for (label,) in found) == sorted(labels)
    typed = con.execute(
        f"SELECT count(*) FROM mondrian({call}, format := 'typed') WHERE x.min <= x.max"
    )
    assert typed.fetchone()[0] == 4


def test_decimal_multiples_are_printed_short(con):
    """Multiples of 0.1 that binary arithmetic would print as 0.30000000000000004."""
    con.execute(
        "CREATE TABLE t AS SELECT x::DOUBLE AS x FROM (SELECT i / 100 AS x FROM range(200) r(i))"
    )
    call = "FROM mondrian('t', k := 10, quasi := ['x'], bin_width := MAP {'x': 0.1})"
    found = con.execute(f"SELECT DISTINCT x {call} ORDER BY anon_min(x)::DOUBLE").fetchall()
    assert found == [(f"[{i / 10}, {(i + 1) / 10}]",) for i in range(20)]


@pytest.mark.parametrize(
    ("step", "kind"), [(0.1, "DOUBLE"), (3.7, "DOUBLE"), (1e300, "DOUBLE"), (0.3, "FLOAT")]
)
def test_floats_lie_in_their_steps(con, step, kind):
    """Numbers at and next to multiples, where divisions are rounded."""
    kept = np.float32 if kind == "FLOAT" else np.float64
    at = (np.arange(-100, 101) * step).astype(kept)
    x = np.concatenate([at, np.nextafter(at, kept(-np.inf)), np.nextafter(at, kept(np.inf))])
    t = pa.table({"x": x, "i": np.arange(len(x))})
    con.register("t", t)
    rows = con.execute(
        "SELECT t.x, r.x.min, r.x.max FROM t JOIN mondrian('t', k := 1, quasi := ['x'], "
        "keep := ['i'], bin_width := $bin_width, format := 'typed') AS r USING (i)",
        {"bin_width": {"x": step}},
    ).fetchall()
    assert len(rows) == len(x)
    for value, low, high in rows:
        assert low <= value <= high
        assert high - low == pytest.approx(step, rel=1e-4)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("MAP {'agee': 2}", "bin_width must name quasi-identifiers, got 'agee'; did you mean age?"),
        ("MAP {'illness': 2}", "bin_width must name quasi-identifiers, got 'illness'"),
        ("MAP {'age': 2, 'AGE': 1}", "bin_width must name each column once, got 'AGE' twice"),
        ("MAP {'city': 2}", "bin_width must be of numbers, dates or times, got city, which is text"),
        ("MAP {'age': 0}", "bin_width must be finite numbers above 0, got 0 for age"),
        ("MAP {'age': -1}", "bin_width must be finite numbers above 0, got -1 for age"),
        ("MAP {'age': NULL}", "bin_width must be finite numbers above 0, got NULL for age"),
        ("MAP {'age': 'inf'::DOUBLE}", "bin_width must be finite numbers above 0, got inf for age"),
        ("MAP {'age': '2'}", "bin_width must be finite numbers above 0, got a VARCHAR for age"),
        ("MAP {'age': true}", "bin_width must be finite numbers above 0, got a BOOLEAN for age"),
        ("MAP {'age': 2.5}", "bin_width of age must be multiples of 1, got 2.5"),
        ("MAP {'born': 0.5}", "bin_width of born must be multiples of 1, got 0.5"),
        ("5", "bin_width must be a MAP from column names to numbers, got 5"),
        ("MAP {'age': 5}, format := 'mean'", "format := 'mean' shows none of the ranges that bins need"),
        ("MAP {'age': 5}, hierarchy := 'h'",
         "bin_width must apply to columns without a hierarchy, got age"),
    ],
)  # fmt: skip
def test_what_is_refused(people, given, said):
    people.execute(
        "CREATE TABLE h AS SELECT 'age' AS attribute, age::VARCHAR AS value, 1 AS level, "
        "'*' AS label FROM people GROUP BY age"
    )
    assert said in fails(people, f"FROM mondrian('people', {CALL}, bin_width := {given})")


def test_units_of_other_types(con):
    con.execute(
        "CREATE TABLE t AS SELECT (i / 100)::DECIMAL(9,2) AS d, (i * 1e15)::DOUBLE AS f, "
        "TIMESTAMP '2020-01-01' + to_seconds(i) AS s FROM range(50) r(i)"
    )
    call = "FROM mondrian('t', quasi := ['d', 'f', 's'], bin_width := MAP {{'{}': {}}})"
    assert "bin_width of d must be multiples of 0.01, got 0.125" in fails(
        con, call.format("d", 0.125)
    )
    assert "bin_width of s must be multiples of 0.000001" in fails(con, call.format("s", 1e-7))
    assert "bin_width of f must be wide enough for DOUBLE to tell apart" in fails(
        con, call.format("f", "0.001")
    )


@pytest.mark.parametrize(
    ("methods", "bin_width"),
    [
        (("anonymize", "mondrian"), STEPS),
        (("full_domain", "top_down"), "bin_width := MAP {'age': 7, 'born': 400}"),
    ],
)
def test_compare_measures_the_labels_of_bins(people, methods, bin_width):
    call = CALL.replace("'age', ", "'age', 'weight', ")
    people.execute("ALTER TABLE people ADD COLUMN weight DOUBLE")
    people.execute("UPDATE people SET weight = 40 + hash(person_id) % 1000 / 13")
    bin_width = bin_width.replace("}", ", 'weight': 2.5}")
    for method in methods:
        found = people.execute(
            "SELECT suppressed, classes, smallest_class, dm, dm_star, cavg, gcp, iloss "
            f"FROM compare('people', methods := ['{method}'], ks := [6], {call}, {bin_width})"
        ).fetchall()
        people.execute(
            f"CREATE OR REPLACE TABLE safe AS FROM {method}('people', k := 6, {call}, {bin_width})"
        )
        by_labels = people.execute(
            "SELECT suppressed, classes, smallest_class, dm, dm_star, cavg, gcp, iloss "
            "FROM utility('people', 'safe', k := 6, "
            "quasi := ['age', 'weight', 'city', 'born', 'sex'])"
        ).fetchall()
        assert found[0] == pytest.approx(by_labels[0], rel=1e-12), method


def test_functions_without_steps(people):
    for call in ("sdka('people', ", "lattice('people', ", "anonymize_stats('people', "):
        said = fails(people, f"FROM {call}quasi := ['age'], bin_width := MAP {{'age': 5}})")
        assert "does not support the supplied arguments" in said


def test_an_earlier_release(people):
    people.execute(f"CREATE TABLE r AS FROM full_domain('people', k := 6, {CALL})")
    said = fails(people, f"FROM full_domain('people', k := 6, {CALL}, {STEPS}, \"like\" := 'r')")
    assert "bin_width must be left out with like" in said


def test_in_parts(people):
    call = {"k": 6, "quasi": ["age", "city", "born", "sex"], "keep": ["*"], "bin_width": {"age": 5}}
    with pytest.raises(
        anon_sql.AnonError, match="bin_width must be left out of a release in parts"
    ):
        anon_sql.release(people, "people", into="r", method="mondrian", parts=2, **call)
    assert people.execute("SELECT 1 FROM duckdb_tables() WHERE table_name = 'r'").fetchall() == []


def test_given_classes_and_strata(people):
    people.execute("CREATE TABLE c AS SELECT *, age // 20 AS class_id FROM people WHERE age >= 0")
    call = "keep := ['person_id', '*'], quasi := ['age'], bin_width := MAP {'age': 20}"
    found = people.execute(f"SELECT DISTINCT age, class_id FROM generalize('c', k := 1, {call})"
                           .replace("DISTINCT age, class_id", "DISTINCT age")).fetchall()  # fmt: skip
    ages = people.execute("SELECT DISTINCT age // 20 * 20 FROM people WHERE age >= 0").fetchall()
    assert sorted(found) == sorted((f"[{low}, {low + 19}]",) for (low,) in ages)
    call = "k := 1, quasi := ['age', 'city'], keep := ['person_id', '*'], strata := ['age']"
    query = f"SELECT DISTINCT age FROM mondrian('c', {call}, bin_width := MAP {{'age': 20}})"
    assert sorted(people.execute(query).fetchall()) == sorted(found)


def test_a_label_that_shows_a_value_is_not_released(people, monkeypatch):
    """The check of what is printed: true ranges that end at no step."""
    real = compute.make_labels

    def wider(*given, cuts, **named):
        cuts = {"age": (pc.subtract(cuts["age"][0], 1), cuts["age"][1]), "born": cuts["born"]}
        return real(*given, cuts=cuts, **named)

    monkeypatch.setattr(compute, "make_labels", wider)
    said = fails(people, f"FROM mondrian('people', k := 6, {CALL}, {STEPS})")
    assert "labels must show the ends of bins, got" in said
    assert "nothing was released" in said


def test_frames_and_the_command_line(people, tmp_path):
    people.execute(f"COPY (SELECT age, city FROM people) TO '{tmp_path}/people.csv'")
    call = ["release", f"{tmp_path}/people.csv", f"{tmp_path}/r.csv", "--quasi", "age,city"]
    assert run(*call, "--bin-width", "Age=5", "--unique-share", "1", "--manifest").exit_code == 0
    label = "SELECT DISTINCT anon_min(age)::INTEGER % 5, anon_max(age)::INTEGER % 5"
    query = f"{label} FROM read_csv('{tmp_path}/r.csv', all_varchar = true) WHERE age <> '*'"
    assert people.execute(query).fetchall() == [(0, 4)]
    checked = run("verify", f"{tmp_path}/r.csv", "--raw", f"{tmp_path}/people.csv")
    assert checked.exit_code == 0, checked.output
    written = json.loads((tmp_path / "r.csv.anon.json").read_text("utf-8"))
    assert written["parameters"]["options"]["bin_width"] == {"Age": 5}
    assert "--bin-width must be a column, = and a number" in refused(*call, "--bin-width", "age")
    frame = people.sql("SELECT age, city FROM people").to_arrow_table()
    found = anon_sql.frames.anonymize(frame, k=5, quasi=["age", "city"], bin_width={"age": 5})
    rows = people.register("frame", frame).execute(
        "FROM anonymize('frame', k := 5, quasi := ['age', 'city'], bin_width := MAP {'age': 5})"
    )
    assert [tuple(row.values()) for row in found.to_pylist()] == rows.fetchall()
