"""attack_downcoding: by hand, against a count in plain Python, and that steps lower what it finds."""

import datetime
import struct
from collections import Counter, defaultdict
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_sql import datasets
from tests.conftest import QUASI
from tests.drawing import examples
from tests.inserting import insert
from tests.sentence import fails

HIDDEN = ("ends", "guessed", "uniform", "frequent", "gain", "known_share", "sure")


def attack(con, released="label", quasi=("a",), more=", id := 'rid'"):
    found = con.execute(
        f"FROM attack_downcoding('raw', '{released}', quasi := {list(quasi)}{more})"
    )
    names = [name for name, *_ in found.description]
    return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


def test_by_hand(con):
    con.execute("CREATE TABLE raw AS FROM (VALUES (1, 20), (2, 24), (3, 22), (4, 30), (5, 30), "
                "(6, 40), (7, 41), (8, NULL), (9, 50)) AS v (rid, a)")  # fmt: skip
    con.execute("CREATE TABLE label AS FROM (VALUES (1, '[20, 24]'), (2, '[20, 24]'), "
                "(3, '[20, 24]'), (4, '30'), (5, '30'), (6, '[40, 43]'), (7, '[40, 43]'), "
                "(8, NULL), (9, '*')) AS v (rid, a)")  # fmt: skip
    (row,) = attack(con)
    frequent = 3 / 5 + 2 / 4  # all values of either range are as likely
    assert row == {
        "attribute": "a",
        "rows": 7,
        "exact": 2,
        "exact_share": 2 / 7,
        "ends": 5,  # 20, 24, twice 30, 40
        "guessed": 1.5,
        "uniform": pytest.approx(frequent),
        "frequent": pytest.approx(frequent),
        "gain": pytest.approx((1.5 - frequent) / 5),
        "known_share": 3.5 / 7,
        "sure": 0,  # nobody is 43
    }
    con.execute("UPDATE label SET a = '[40, 41]' WHERE a = '[40, 43]'")
    assert attack(con)[0]["sure"] == 4
    con.execute("UPDATE label SET a = '[20, 30]' WHERE a = '30'")  # twice 21 to 24, once 25 to 30
    (row,) = attack(con)
    assert row["frequent"] == pytest.approx(3 / 5 + 2 / 2)


def test_a_hierarchy_by_hand(con):
    """Of three rows of north, two show a village of it, so that whoever is in a town is missed."""
    con.execute("CREATE TABLE tree AS SELECT 'a' AS attribute, value, level, label FROM (VALUES "
                "('v1', 1, 'village'), ('v2', 1, 'village'), ('t1', 1, 'town'), ('v1', 2, 'north'), "
                "('v2', 2, 'north'), ('t1', 2, 'north'), ('s', 1, 's'), ('s', 2, 's')) "
                "AS v (value, level, label)")  # fmt: skip
    con.execute("CREATE TABLE raw AS FROM (VALUES (1, 'v1'), (2, 't1'), (3, 'v2'), (4, 'v1'), "
                "(5, 'v2'), (6, 's')) AS v (rid, a)")  # fmt: skip
    con.execute("CREATE TABLE label AS FROM (VALUES (1, 'north'), (2, 'north'), (3, 'north'), "
                "(4, 'village'), (5, 'village'), (6, 's')) AS v (rid, a)")  # fmt: skip
    (row,) = attack(con, more=", id := 'rid', hierarchy := 'tree'")
    guessed = 2 + 2 / 2  # villages; v1 and v2 are shown alike
    uniform = 2 / 3 + 1 / 3 + 2 / 3 + 2 / 2
    assert row == {
        "attribute": "a",
        "rows": 6,
        "exact": 1,
        "exact_share": 1 / 6,
        "ends": None,
        "guessed": guessed,
        "uniform": pytest.approx(uniform),
        "frequent": None,
        "gain": pytest.approx((guessed - uniform) / 5),
        "known_share": 4 / 6,
        "sure": None,
    }


def double_key(x):
    (bits,) = struct.unpack("<q", struct.pack("<d", x))
    return bits if bits >= 0 else bits ^ (2**63 - 1)


def plain(rows):
    """The figures of rows of a whole number, or NULL, the ends of its label, or None for * and NULL,
    and a class."""
    rows = [row for row in rows if row[1] is not None]
    labels = Counter(ends for _, ends, _ in rows)
    values = {end for low, high in labels for end in range(low, high + 1)}
    likely = {
        value: sum(
            Fraction(many, high - low + 1)
            for (low, high), many in labels.items()
            if low <= value <= high
        )
        for value in values
    }
    found = dict.fromkeys(("exact", "ends", "guessed", "uniform", "frequent"), Fraction(0))
    classes = defaultdict(set)
    for value, (low, high), number in rows:
        classes[low, high, number].add(value)
        found["exact"] += low == high
        found["ends"] += value in (low, high)
        if low == high or value is None or not low <= value <= high:
            continue
        inside = range(low, high + 1)
        most = [other for other in inside if likely[other] == max(likely[x] for x in inside)]
        found["guessed"] += Fraction(value in (low, high), 2)
        found["uniform"] += Fraction(1, len(inside))
        found["frequent"] += Fraction(value in most, len(most))
    wide = [key for key in classes if key[0] < key[1]]
    true = all({low, high} <= classes[low, high, number] for low, high, number in wide)
    found["sure"] = 2 * len(wide) * true
    best = max(found["uniform"], found["frequent"])
    hidden = len(rows) - found["exact"]
    found["gain"] = (found["guessed"] - best) / hidden if hidden else None
    known = found["exact"] + max(found["guessed"], best)
    found["known_share"] = known / len(rows) if rows else None
    found["exact_share"] = found["exact"] / len(rows) if rows else None
    return {"attribute": "a", "rows": len(rows), **found}


MADE = {
    "INTEGER": lambda n: n,
    "HUGEINT": lambda n: n + 2**70,
    "DECIMAL(30,2)": lambda n: Fraction(n, 100),
    "DATE": lambda n: datetime.date(2020, 2, 20) + datetime.timedelta(n),
    "TIMESTAMP": lambda n: (
        datetime.datetime(1969, 12, 31, 23, 59, 59, 999990) + datetime.timedelta(microseconds=n)
    ),
}
ROW = st.tuples(st.none() | st.integers(0, 12), st.integers(0, 4))


@pytest.mark.parametrize("kind", MADE)
@pytest.mark.parametrize("form", ["label", "typed"])
def test_against_a_count_in_plain_python(con, kind, form):
    """Labels of classes, some as wide as their values, some wider, some of them false."""
    column = f"a STRUCT(min {kind}, max {kind})" if form == "typed" else "a VARCHAR"
    con.execute(f"CREATE TABLE raw (rid INTEGER, a {kind})")
    con.execute(f"CREATE TABLE label (rid INTEGER, {column}, b VARCHAR)")
    con.execute("ALTER TABLE raw ADD COLUMN b VARCHAR")

    def text(value):
        made = MADE[kind](value)
        return f"{float(made):.2f}" if isinstance(made, Fraction) else str(made)

    @examples(20)
    @given(
        st.lists(ROW, min_size=1, max_size=25),
        st.lists(st.tuples(st.integers(0, 3), st.integers(-1, 3)), min_size=5, max_size=5),
        st.integers(0, 4),
    )
    def equal(rows, wider, starred):
        con.execute("DELETE FROM raw; DELETE FROM label")
        of_class = defaultdict(list)
        for value, number in rows:
            of_class[number].append(value)
        ends, shown = {}, {}
        for number, values in of_class.items():
            known = [value for value in values if value is not None]
            less, more = wider[number] if wider[number][0] < 3 else (0, 0)
            if known and more < 0 and min(known) == max(known):
                more = 0
            ends[number] = (min(known) - less, max(known) + more) if known else None
            if number == starred and len(known) < len(values):
                ends[number] = None
            shown[number] = None
            if ends[number] is not None:
                low, high = map(text, ends[number])
                label = low if low == high else f"[{low}, {high}]"
                shown[number] = {"min": low, "max": high} if form == "typed" else label
        insert(con, "raw", [(i, None if v is None else text(v), "cdefg"[c])
                            for i, (v, c) in enumerate(rows)])  # fmt: skip
        insert(con, "label", [(i, shown[c], "cdefg"[c]) for i, (_, c) in enumerate(rows)])
        wanted = plain([(value, ends[number], number) for value, number in rows])
        (found,) = attack(con, quasi=("a", "b"))
        assert found == {
            name: pytest.approx(float(each)) if isinstance(each, Fraction) else each
            for name, each in wanted.items()
        }

    equal()


def test_floating_point_numbers(con):
    """Nobody guesses a number by chance, but an end, or a number that the release shows alone."""
    con.execute("CREATE TABLE raw AS SELECT i AS rid, [0.5, 2.5, 1.5, 1.5, -0.0][i] AS a "
                "FROM range(1, 6) r(i)")  # fmt: skip
    con.execute("UPDATE raw SET a = a::DOUBLE")
    con.execute("CREATE TABLE label AS SELECT rid, ['[0.5, 2.5]', '[0.5, 2.5]', '1.5', "
                "'[-1.0, 2.0]', '[-1.0, 2.0]'][rid] AS a FROM raw")  # fmt: skip
    con.execute("ALTER TABLE raw ALTER a TYPE DOUBLE")
    (row,) = attack(con)
    within = double_key(2.5) - double_key(0.5) + 1
    assert (row["exact"], row["ends"], row["guessed"], row["frequent"]) == (1, 3, 1, 1)
    assert 2 / within < row["uniform"] < 1e-12
    assert row["known_share"] == 2 / 5


def test_without_an_id(con):
    con.execute("CREATE TABLE raw AS SELECT hash(i) % 30 AS a, i % 4 AS b, 'x' || i % 3 AS c, i AS rid "
                "FROM range(300) r(i)")  # fmt: skip
    con.execute("CREATE TABLE label AS FROM mondrian('raw', k := 3, quasi := ['a', 'b', 'c'], "
                "keep := ['rid'])")  # fmt: skip
    quasi = ("a", "b", "c")
    known, unknown = attack(con, quasi=quasi), attack(con, quasi=quasi, more="")
    assert [row["attribute"] for row in known] == ["a", "b"]
    for row, other in zip(known, unknown, strict=True):
        assert other == row | dict.fromkeys(HIDDEN)
        assert row["exact"] < row["ends"] <= row["rows"] == 300
    con.execute("CREATE TABLE added AS FROM label UNION ALL FROM label")
    assert attack(con, "added", quasi, "")[0]["rows"] == 600


def test_rows_left_out_and_an_empty_release(con):
    con.execute("CREATE TABLE raw AS SELECT i AS a, i AS rid FROM range(9) r(i)")
    con.execute("CREATE TABLE label AS SELECT '[0, 3]' AS a, i AS rid FROM range(4) r(i)")
    (row,) = attack(con)
    assert (row["rows"], row["ends"], row["guessed"], row["sure"]) == (4, 2, 1, 2)
    for where in ("false", "true"):
        con.execute(f"CREATE OR REPLACE TABLE none AS SELECT if({where}, '*', a) AS a, rid "
                    f"FROM label WHERE {where}")  # fmt: skip
        (row,) = attack(con, "none")
        assert (row["rows"], row["exact"], row["guessed"], row["sure"]) == (0, 0, 0, 0)
        assert (row["exact_share"], row["gain"], row["known_share"]) == (None, None, None)


def test_any_order_of_rows_and_number_of_threads(people):
    call = "k := 4, quasi := ['age', 'born', 'city'], sensitive := 'illness', keep := ['rid', '*']"
    people.execute("CREATE TABLE raw AS SELECT *, row_number() OVER () AS rid FROM "
                   "(SELECT * EXCLUDE (person_id) FROM people)")  # fmt: skip
    people.execute(f"CREATE TABLE label AS FROM mondrian('raw', {call})")
    wanted = attack(people, quasi=("age", "born", "city"))
    people.execute("CREATE OR REPLACE TABLE raw AS FROM raw ORDER BY hash(rid)")
    people.execute("CREATE OR REPLACE TABLE label AS FROM label ORDER BY hash(rid, 1)")
    people.execute("SET threads = 1")
    assert attack(people, quasi=("age", "born", "city")) == wanted
    assert all(row["guessed"] > 0 for row in wanted)


def census(con, more=""):
    """What is found of ages in a release of generated records."""
    quasi = "['age', 'education_num', 'race', 'sex']"
    con.execute(f"CREATE OR REPLACE TABLE label AS FROM anonymize('raw', k := 5, quasi := {quasi}, "
                f"keep := ['rid'], sensitive := 'income', exclude := ['*']{more})")  # fmt: skip
    return attack(con, quasi=("age",))[0]


def test_steps_lower_what_is_guessed(con):
    datasets.adult(con, rows=3000)
    con.execute("CREATE TABLE raw AS SELECT age, education_num, race, sex, income, "
                "row_number() OVER () AS rid FROM adult")  # fmt: skip
    before = census(con)
    assert before["sure"] > 0
    assert before["gain"] > 0.03
    found = [census(con, f", bin_width := MAP {{'age': {step}}}") for step in (5, 10)]
    for row in found:
        assert (row["exact"], row["sure"]) == (0, 0)
        assert abs(row["gain"]) < 0.02
    known = [row["known_share"] for row in (before, *found)]
    assert known[1] < known[0] / 2
    assert known[2] < known[1]
    assert known[1] <= 0.22  # one of five years, and what the frequencies of ends add
    assert census(con, ", bin_width := MAP {'age': 1}") == before


def test_what_the_page_says_of_the_census(adult):
    """Of 30,162 persons and eight quasi-identifiers, at k = 5."""
    adult.execute(f"CREATE TABLE raw AS SELECT {', '.join(QUASI)}, row_number() OVER () AS rid "
                  "FROM adult")  # fmt: skip
    found = []
    for more in ("", ", bin_width := MAP {'age': 5}"):
        call = f"'raw', k := 5, quasi := {QUASI}, keep := ['rid']{more}"
        adult.execute(f"CREATE OR REPLACE TABLE label AS FROM anonymize({call})")
        row = attack(adult, quasi=QUASI)[0]
        found += [row[each] for each in ("exact_share", "gain", "known_share")]
    assert found == pytest.approx([0.243, 0.047, 0.467, 0, -0.003, 0.153], abs=0.001)


def test_hostile_names(con):
    name, key = "a \"' ; drop", 'r"id'
    con.execute(f'CREATE TABLE raw AS SELECT i % 30 AS "{name.replace(chr(34), chr(34) * 2)}", '
                f'i AS "{key.replace(chr(34), chr(34) * 2)}" FROM range(60) t(i)')  # fmt: skip
    con.execute("CREATE TABLE label AS FROM mondrian('raw', k := 3, quasi := ?, keep := ?)",
                [[name], [key]])  # fmt: skip
    row = con.execute("FROM attack_downcoding('raw', 'label', ?, ?)", [key, [name]]).fetchone()
    assert row[:2] == (name, 60)


@pytest.mark.parametrize(
    ("change", "call", "said"),
    [
        ("", "id := 'rids'", "id must name a column of the raw table and of the release, "
         "got 'rids'; did you mean rid?"),
        ("UPDATE label SET rid = 1", "id := 'rid'", "id must identify rows, got rid with NULLs or "
         "repeats"),
        ("UPDATE label SET rid = 77 WHERE rid = 1", "id := 'rid'", "id must identify rows, got a "
         "released rid that the raw table lacks"),
        ("ALTER TABLE label DROP rid", "id := 'rid'", "id must name a column of the raw table"),
        ("UPDATE label SET a = '[1,2'", "id := 'rid'", "a label of a must be a number, [low, high]"),
        ("CREATE OR REPLACE TABLE label AS SELECT a::DOUBLE AS a, rid FROM raw", "id := 'rid'",
         "a release must hold labels of a, or structs and lists, got DOUBLE"),
        ("", "quasi := ['b']", "quasi must name columns of the table, got 'b'"),
    ],
)  # fmt: skip
def test_what_is_refused(con, change, call, said):
    con.execute("CREATE TABLE raw AS SELECT i % 5 AS a, i AS rid FROM range(20) r(i)")
    con.execute(
        "CREATE TABLE label AS FROM mondrian('raw', k := 3, quasi := ['a'], keep := ['rid'])"
    )
    con.execute(change or "SELECT 1")
    roles = "" if "quasi" in call else ", quasi := ['a']"
    error = fails(con, f"FROM attack_downcoding('raw', 'label', {call}{roles})")
    assert error.startswith("attack_downcoding: ")
    assert said in error
