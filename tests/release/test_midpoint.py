"""format := 'midpoint': the middle of the range that the format 'label' shows."""

import json
from collections import Counter
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

import anon_sql
from anon_sql import frames
from anon_sql.core.labels import grammar
from anon_sql.core.labels import one_value as values
from anon_sql.hosts.duckdb.sql_files import sql_files
from tests.command import run
from tests.drawing import examples
from tests.inserting import insert
from tests.sentence import fails

METHODS = [file.name for file in sql_files() if file.folder == "release"]
NEEDS = {"datafly": ", hierarchy := 'tree'", "sdka": ", generator := 'bootstrap', sensitive := 's'"}
NO_STAR = """UPDATE t SET "w;--" = 'star' WHERE "w;--" = '*'"""  # which no hierarchy has as a leaf
QUASI = ['a "1', "x", "select", "w;--"]
ROLES = f"quasi := {QUASI}, keep := ['rid', 's']"


@pytest.fixture
def table(con):
    con.execute("""CREATE TABLE t AS SELECT i * 7919 % 90 AS "a ""1", (i * 104729 % 977) / 7.0 AS x,
        DATE '1990-01-01' + (i * 31 % 5000)::INTEGER AS "select",
        if(i % 19 = 0, NULL, ['q', 'r''s', '*', '{q, z}'][1 + i // 9 % 4]) AS "w;--", i % 4 AS s,
        i AS rid FROM range(150) r(i)""")
    con.execute("""CREATE TABLE tree AS SELECT 'w;--' AS attribute, w AS value, l AS level,
        [w, if(ascii(w) % 2 = 0, 'even', 'odd'), 'all'][1 + l] AS label
        FROM (SELECT unnest(['q', 'r''s', 'star', '{q, z}']) AS w), range(3) r(l)""")
    return con


def both(con, method, call):
    """Make the releases ``label`` and ``mid`` of one call."""
    for name, form in (("label", "label"), ("mid", "midpoint")):
        con.execute(f"CREATE OR REPLACE TABLE {name} AS FROM {method}({call}, format := '{form}')")


def failed(con, roles=ROLES, k=5):
    """Return the properties of the release ``mid`` that fail its audit."""
    call = f"audit('t', 'mid', k := {k}, {roles}, unique_share := 1)"
    found = con.execute(f"SELECT property FROM {call} WHERE passed = false").fetchall()
    return {name for (name,) in found} - {"row_numbers"}


def is_node(label):
    return label in ("even", "odd")


def middle(label, kind):
    """Return the middle of a label in plain Python; None for a set, a node, ``*`` and NULL."""
    if label in (None, "*") or is_node(label):
        return None
    if kind is str:
        words = grammar.values(label)
        return words[0] if len(words) == 1 else None
    ends = [kind(end) for end in label.strip("[]").split(", ")]
    low, high = ends[0], ends[-1]
    if kind == date.fromisoformat:
        return low + timedelta(days=((high - low).days + 1) // 2)
    if kind == datetime.fromisoformat:
        return low + timedelta(microseconds=((high - low) // timedelta(microseconds=1) + 1) // 2)
    return float((Fraction(low) + Fraction(high)) / 2)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_a_release_by_every_method(table, method):
    columns, roles = QUASI, ROLES
    if method == "canon":  # takes numbers alone
        columns, roles = QUASI[:3], f"quasi := {QUASI[:3]}, keep := ['rid', 's', 'w;--']"
    if method == "datafly":  # takes columns with a hierarchy alone
        table.execute(NO_STAR)
        columns, roles = QUASI[3:], f"quasi := {QUASI[3:]}, keep := ['rid', 's', '*']"
    roles = roles.replace(", 's'", "") if method == "sdka" else roles
    both(table, method, f"'t', k := 5, {roles}{NEEDS.get(method, '')}")
    sizes = table.execute(
        f"SELECT count(rid) FROM mid GROUP BY {', '.join(map(as_name, columns))}"
    ).fetchall()
    assert min(sizes) >= (5,)
    assert is_middle(table, columns)
    if method != "sdka":
        (smallest,) = table.execute(
            f"SELECT k_anonymity('t', 'mid', quasi := {columns})"
        ).fetchone()
        assert (smallest,) == min(sizes)
        assert failed(table, roles) == set()


def as_name(column):
    return '"' + column.replace('"', '""') + '"'


KINDS = {'a "1': int, "x": float, "select": date.fromisoformat, "w;--": str}


def is_middle(con, columns, kinds=KINDS):
    """Require that each midpoint is the middle of the label in the same row."""
    names = ", ".join(f"l.{as_name(c)}, m.{as_name(c)}" for c in columns)
    rows = con.execute(f"SELECT {names} FROM label l JOIN mid m USING (rid)").fetchall()
    for row in rows:
        for column, label, found in zip(columns, row[::2], row[1::2], strict=True):
            wanted = middle(label, kinds[column])
            close = pytest.approx(wanted, rel=1e-14) if isinstance(wanted, float) else wanted
            assert found == close, (column, label)
    return len(rows) > 0


NUMBERS = st.none() | st.integers(-(2**53), 2**53)
ROW = st.tuples(
    NUMBERS,
    st.none() | st.floats(allow_nan=False, allow_infinity=False, width=32),
    st.none() | st.decimals(-(10**9), 10**9, places=4),
    st.none() | st.dates(date(1, 1, 1), date(9999, 12, 31)),
    st.none() | st.datetimes(datetime(1700, 1, 1), datetime(2200, 1, 1)),
    st.sampled_from(["a", "b", "*", "{a, b}", "'a'", "", " x", "NULL", "L'Aquila", None]),
)
DRAWN = {
    "n": ("BIGINT", int),
    "x": ("DOUBLE", float),
    "p": ("DECIMAL(18, 4)", Decimal),
    "d": ("DATE", date.fromisoformat),
    "ts": ("TIMESTAMP", datetime.fromisoformat),
    "c": ("VARCHAR", str),
}


def test_each_midpoint_is_the_middle_of_its_label():
    kinds = {name: kind for name, (_, kind) in DRAWN.items()}
    with anon_sql.connect() as con:

        @examples(60)
        @given(st.lists(ROW, min_size=2, max_size=12), st.sampled_from(["mondrian", "k_member"]))
        def holds(rows, method):
            columns = ", ".join(f"{name} {kind}" for name, (kind, _) in DRAWN.items())
            con.execute(f"CREATE OR REPLACE TABLE t ({columns}, rid INTEGER)")
            insert(con, "t", [(*row, at) for at, row in enumerate(rows)])
            roles = f"quasi := {list(DRAWN)}, keep := ['rid']"
            both(con, method, f"'t', k := 2, {roles}")
            assert is_middle(con, list(DRAWN), kinds)
            assert failed(con, roles, 2) == set()

        holds()


def test_the_classes_are_those_of_labels_but_for_those_that_print_alike(table):
    both(table, "anonymize", f"'t', k := 5, {ROLES}")
    rows = table.execute(
        f"SELECT l.{', l.'.join(map(as_name, QUASI))}, m.{', m.'.join(map(as_name, QUASI))} "
        "FROM label l JOIN mid m USING (rid)"
    ).fetchall()
    shown_of = {row[:4]: row[4:] for row in rows}
    assert len(shown_of) >= len(set(shown_of.values())) > 10
    assert all(shown_of[row[:4]] == row[4:] for row in rows)


def test_types_are_those_of_means_and_nothing_is_rounded_twice(con):
    con.execute("""CREATE TABLE t AS SELECT i::UTINYINT AS tiny, (i * 9007199254740993)::HUGEINT AS huge,
        (i / 8)::DECIMAL(9, 3) AS pay, (i / 8)::FLOAT AS f, TIME '00:00:01' + to_microseconds(i) AS clock,
        TIMESTAMP '2000-01-01' + to_microseconds(i) AS moment, (DATE '2000-01-01' + i::INTEGER) AS d,
        (i < 3)::BOOLEAN AS b, (['u', 'v'][1 + i // 6])::ENUM ('u', 'v', 'w') AS e,
        TIMESTAMPTZ '2000-01-01 00:00:00+00' + to_seconds(i) AS z, i // 3 AS c FROM range(12) r(i)""")
    quasi = ["tiny", "huge", "pay", "f", "clock", "moment", "d", "b", "e", "z"]
    call = f"FROM generalize('t', k := 3, quasi := {quasi}, classes := 'c', format := '{{}}')"
    made, means = (con.sql(call.format(form)) for form in ("midpoint", "mean"))
    assert made.types == means.types
    first = "(SELECT * FROM made WHERE tiny = 1)"
    assert con.sql(
        f"SELECT DISTINCT pay, f, clock::VARCHAR, moment::VARCHAR, d::VARCHAR, b, e, epoch(z) - epoch("
        f"TIMESTAMPTZ '2000-01-01 00:00:00+00') FROM {first}"
    ).fetchall() == [
        (0.125, 0.125, "00:00:01.000001", "2000-01-01 00:00:00.000001", "2000-01-02", "true", "u", 1.0)
    ]  # fmt: skip
    call = call.replace("k := 3", "k := 2").replace("'c'", "'e2', identifiers := 'c'")
    con.execute("ALTER TABLE t ADD COLUMN e2 INTEGER; UPDATE t SET e2 = tiny // 2")
    con.execute(f"CREATE TABLE twos AS {call.format('midpoint')}")
    assert con.execute("SELECT min(moment)::VARCHAR, min(d)::VARCHAR, min(tiny) FROM twos").fetchall() == [
        ("2000-01-01 00:00:00.000001", "2000-01-02", 0.5)  # half a unit is rounded up, as in means
    ]  # fmt: skip


def test_classes_that_print_alike_are_counted_together(con):
    """Of persons: two classes of two persons each are one class of two persons."""
    con.execute("""CREATE TABLE t AS SELECT c // 4 AS class_id,
        [0, 10, 4, 6, NULL, NULL, 20, 30][1 + (c // 4) * 2 + c % 2] AS n, c % 2 + 1 AS who
        FROM range(16) r(c)""")
    call = "'t', k := {}, quasi := ['n'], keep := [], entity := 'who', format := 'midpoint'"
    con.execute(f"CREATE TABLE mid AS FROM generalize({call.format(2)})")
    assert Counter(con.execute("FROM mid").fetchall()) == {(5.0,): 8, (None,): 4, (25.0,): 4}
    assert "k must be at most the number of entities, 2" in fails(
        con, f"FROM generalize({call.format(3)})"
    )


def test_a_null_of_the_table_and_a_value_that_is_hidden_look_alike(con):
    """A class of NULLs, one of a set and one that mixes NULL with values are one class."""
    con.execute("""CREATE TABLE t AS SELECT c // 3 AS class_id, c // 9 AS n, c AS rid,
        [NULL, NULL, NULL, 'a', 'b', 'a', NULL, 'c', 'c', 'd', 'd', 'd'][1 + c] AS w
        FROM range(12) r(c)""")
    roles = "quasi := ['n', 'w'], keep := ['rid', 'class_id']"
    both(con, "generalize", f"'t', k := 3, {roles[:-13]}]")
    assert con.execute("SELECT count(DISTINCT (n, w)) FROM label").fetchall() == [(4,)]
    found = con.execute("SELECT n, w, count(*) FROM mid GROUP BY ALL").fetchall()
    assert set(found) == {(0.0, None, 9), (1.0, "d", 3)}
    order = con.execute("SELECT rid // 3 FROM mid WHERE w IS NULL").fetchall()
    assert len(list(groupby(order))) > 3  # nothing tells the former classes apart
    con.execute("ALTER TABLE t DROP COLUMN class_id")
    assert failed(con, "quasi := ['n', 'w'], keep := ['rid']", 3) == set()
    measure = "SELECT {}('t', 'mid', quasi := ['n', 'w'])"
    assert con.execute(measure.format("k_anonymity")).fetchall() == [(3,)]
    assert con.execute(measure.format("suppression_rate")).fetchall() == [(0,)]


@pytest.mark.parametrize("quasi", [["n", "w"], ["w", "v"]])
def test_a_row_of_null_is_a_suppressed_row(con, quasi):
    con.execute("""CREATE TABLE t AS SELECT if(i < 8, NULL, i // 8) AS n, if(i < 8, NULL, 'w') AS w,
        if(i < 8, chr((97 + i % 2)::INT), 'v') AS v, i // 8 AS class_id FROM range(24) r(i)""")
    con.execute("UPDATE t SET w = 'x' WHERE class_id = 0 AND v = 'a'")
    call = f"'t', k := 4, quasi := {quasi}, keep := [], identifiers := {[c for c in ('n', 'w', 'v') if c not in quasi]}, format := 'midpoint'"  # fmt: skip
    con.execute(f"CREATE TABLE mid AS FROM generalize({call})")
    for name, figure in (("suppression_rate", 1 / 3), ("k_anonymity", 8)):
        found = con.execute(f"SELECT {name}('t', 'mid', quasi := {quasi})").fetchall()
        assert found == [(pytest.approx(figure),)]
    roles = f"quasi := {quasi}, identifiers := ['class_id']"
    (rows,) = con.execute(
        f"SELECT found FROM audit('t', 'mid', k := 4, {roles}) WHERE property = 'suppressed_rows'"
    ).fetchone()
    assert rows == 8
    said = fails(con, f"FROM generalize({call}, suppressed := 'drop')")
    assert "suppressed := 'drop' may leave out at most 0 rows, got 8" in said or "no row" in said


def test_a_false_midpoint_is_caught(table, monkeypatch):
    real = values.one_values

    def wrong(*arguments):
        found = real(*arguments)
        return found.take(list(reversed(range(len(found)))))

    monkeypatch.setattr(values, "one_values", wrong)
    said = fails(table, f"FROM mondrian('t', k := 5, {ROLES}, format := 'midpoint')")
    assert said.startswith("mondrian: every midpoint must be that of its label, got ")


def test_a_hierarchy_shows_its_leaves_alone(table):
    table.execute(NO_STAR)
    table.execute("INSERT INTO tree FROM numeric_hierarchy('t', 'a \"1', widths := [10, 30])")
    columns = [QUASI[0], QUASI[3]]
    roles = f"quasi := {columns}, keep := ['rid', 's', '*'], hierarchy := 'tree'"
    table.execute('UPDATE t SET "a ""1" = 7 WHERE rid < 70')
    both(table, "basic_mondrian", f"'t', k := 3, {roles}")
    rows = table.execute(
        'SELECT DISTINCT l."a ""1", m."a ""1", l."w;--", m."w;--" FROM label l JOIN mid m USING (rid)'
    ).fetchall()
    for column in (1, 3):  # some are leaves and some are nodes
        assert len({row[column] is None for row in rows}) == 2
    for number, shown, label, text in rows:
        assert shown == (float(number) if number.isdigit() else None)
        assert text == middle(label, str)
    assert failed(table, roles, 3) == set()


def test_bins_and_the_bins_of_an_earlier_release_show_their_middle(table):
    roles = "quasi := ['a \"1', 'select'], keep := ['rid', 's', '*']"
    both(
        table,
        "mondrian",
        f"""'t', k := 5, {roles}, bin_width := MAP {{'a "1': 20, 'select': 30}}""",
    )
    found = table.execute('SELECT DISTINCT "a ""1" % 10 FROM mid').fetchall()
    assert found == [(9.5,)]
    assert is_middle(table, QUASI[:3:2])
    table.execute(f"CREATE TABLE may AS FROM full_domain('t', k := 10, {roles})")
    both(table, "full_domain", f"'t', k := 10, {roles}, like := 'may'")
    assert is_middle(table, QUASI[:3:2])
    assert table.execute('SELECT count(*) FROM mid WHERE "a ""1" IS NULL').fetchall() == [(0,)]


def test_what_needs_labels_refuses_midpoints(table):
    both(table, "mondrian", f"'t', k := 5, {ROLES}")
    asked = f"quasi := {QUASI}"
    for call in ("attack_linking('t', 'mid', 's', ", "attack_background('t', 'mid', 's', ",
                 "attack_downcoding('t', 'mid', ", "query_error('t', 'mid', ['SELECT count(*) FROM t WHERE x > 9'], ",
                 "classification('t', 'mid', target := 's', model := 'naive_bayes', "):  # fmt: skip
        said = fails(table, f"FROM {call}{asked})")
        assert (
            'a release must hold labels of a "1, or structs and lists, got DOUBLE; make it ' in said
        )
    said = fails(table, f"FROM composition('t', ['mid'], sensitive := 's', {asked})")
    assert "midpoints or values of other rows" in said
    assert table.execute(f"SELECT gcp('t', 'mid', {asked})").fetchall() == [(None,)]


def test_text_alone_is_read_by_every_measure(table):
    roles = "quasi := ['w;--'], sensitive := 's', identifiers := ['a \"1', 'x', 'select', 'rid']"
    both(table, "mondrian", f"'t', k := 12, l := 2, {roles}")
    assert failed(table, roles, 12) == set()
    for name in ("k_anonymity", "suppression_rate", "gcp"):
        measure = f"SELECT {name}('t', '{{}}', quasi := ['w;--'])"
        one, other = (table.execute(measure.format(r)).fetchall()[0][0] for r in ("label", "mid"))
        assert other >= one
    levels = "l_diversity('t', 'mid', 's', quasi := ['w;--']), t_closeness('t', 'mid', 's', quasi := ['w;--'])"  # fmt: skip
    found, t = table.execute(f"SELECT {levels}").fetchone()
    assert found >= 2
    assert t < 1
    found = table.execute("SELECT persons FROM attack_linking('t', 'mid', 's', quasi := ['w;--'])")
    assert found.fetchall() == [(150,)]


# Every host.


def test_frames_files_and_parts_give_what_sql_gives(table, tmp_path):
    call = {"k": 5, "quasi": QUASI, "keep": ["rid", "s"], "format": "midpoint"}
    wanted = table.sql(f"FROM mondrian('t', k := 5, {ROLES}, format := 'midpoint')")
    rows = wanted.fetchall()
    sent = table.sql("FROM t")
    made = frames.mondrian(sent, **call)
    assert (made.types, made.fetchall()) == (wanted.types, rows)
    assert frames.mondrian(sent.to_arrow_table(), **call).to_pylist() == wanted.to_arrow_table().to_pylist()  # fmt: skip
    assert len(frames.mondrian(sent.df(), **call)) == len(frames.mondrian(sent.pl(), **call)) == 150
    anon_sql.release(table, "t", into="parted", method="mondrian", parts=1, **call)
    assert Counter(table.table("parted").fetchall()) == Counter(rows)
    anon_sql.release(table, "t", into="mid", method="mondrian", part_rows=40, **call)
    assert table.table("mid").types == wanted.types
    assert failed(table) == set()
    table.execute(f"COPY t TO '{tmp_path}/in.parquet'")
    call = f"quasi := {QUASI}, sensitive := 's', identifiers := 'rid'"
    wanted = table.sql(f"FROM mondrian('t', k := 5, {call}, format := 'midpoint')")
    options = [word for name in QUASI for word in ("--quasi", name)]
    options += ["--identifier", "rid", "--sensitive", "s", "--k", 5, "--method", "mondrian"]
    for out in ("out.parquet", "out.csv"):
        path = (tmp_path / "in.parquet", tmp_path / out)
        done = run("release", *path, *options, "--format", "midpoint", "--manifest")
        assert done.exit_code == 0, done.output
        read = (
            f"FROM read_csv('{path[1]}', all_varchar := true)"
            if "csv" in out
            else f"FROM '{path[1]}'"
        )
        texts = table.sql(read).project("COLUMNS(*)::VARCHAR").fetchall()
        assert Counter(texts) == Counter(wanted.project("COLUMNS(*)::VARCHAR").fetchall())
        checked = run("verify", path[1], "--raw", path[0])
        assert checked.exit_code == 0, checked.output
        manifest = json.loads((tmp_path / f"{out}.anon.json").read_text())
        assert manifest["parameters"]["options"]["format"] == "midpoint"
        assert "the release must show labels, got one with --format midpoint" in run(
            "report", path[0], path[1], "-o", tmp_path / "page.html"
        ).output  # fmt: skip
    table.execute("UPDATE t SET x = x + 500")
    table.execute(f"COPY t TO '{tmp_path}/other.parquet'")
    assert run("verify", path[1], "--raw", tmp_path / "other.parquet").exit_code != 0


def test_a_series_shows_midpoints(con):
    from tests.series.months import ROLES as OF_SERIES
    from tests.series.months import make_month, released, step

    make_month(con, 0, 300)
    step(con, 2)
    labels = con.sql(f"FROM {released()}").fetchall()
    made = con.sql(f"FROM {released(more=', format := $$midpoint$$')}")
    assert [str(kind) for kind in made.types[:2]] == ["DOUBLE", "VARCHAR"]
    con.execute("CREATE TABLE made AS FROM made")
    wanted = Counter((middle(age, int), middle(city, str)) for age, city, *_ in labels)
    assert Counter(con.execute("SELECT age, city FROM made").fetchall()) == wanted
    found = con.execute(
        f"SELECT property FROM audit('people', 'made', 5, series := 'anon_series', l := 2, {OF_SERIES}) "
        "WHERE passed = false"
    ).fetchall()
    assert found == []
