"""Text in labels: what is bare, what stands in quotes, and that every label reads back."""

import re
import unicodedata

import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import strategies as st

import anon_sql
from anon_sql.core.labels import grammar as labels
from tests.drawing import examples
from tests.sentence import fails

pytestmark = pytest.mark.quick

WRITTEN = {
    "Private": "Private",
    "State gov": "State gov",
    "a-b_c.d;e:f/g|h#i%j&k+l=m~n`o?p!q@r$s^t(u)<v>": "a-b_c.d;e:f/g|h#i%j&k+l=m~n`o?p!q@r$s^t(u)<v>",
    "39": "39",
    "-1.5e+10": "-1.5e+10",
    "2000-01-01": "2000-01-01",
    "null": "null",
    "Null": "Null",
    "**": "**",
    "*a": "*a",
    "NULLs": "NULLs",
    "é": "é",
    "e\u0301": "e\u0301",
    "😀👩\u200d👩\u200d👧": "😀👩\u200d👩\u200d👧",
    "\u200b": "\u200b",
    "": "''",
    "*": "'*'",
    "NULL": "'NULL'",
    " ": "' '",
    " a": "' a'",
    "a ": "'a '",
    "\u00a0a": "'\u00a0a'",
    "a\u3000": "'a\u3000'",
    "a\tb": "'a\tb'",
    "a\nb": "'a\nb'",
    "a\x00b": "'a\x00b'",
    "\x7f": "'\x7f'",
    "\x85a": "'\x85a'",
    "a\x9fb": "'a\x9fb'",
    "a, b": "'a, b'",
    "{x}": "'{x}'",
    "[70-80)": "'[70-80)'",
    "[1, 2]": "'[1, 2]'",
    'say "a"': "'say \"a\"'",
    "it's": "'it\\'s'",
    "'": "'\\''",
    "\\": "'\\\\'",
    "\\'": "'\\\\\\''",
    "'a'": "'\\'a\\''",
}
MALFORMED = {
    "": "no value where one must be",
    "[1, 2": "a range that is not [low, high]",
    "[1,2]": "a range that is not [low, high]",
    "[1, 2] ": "a range that is not [low, high]",
    "[1]": "a range that is not [low, high]",
    "[]": "no value where one must be",
    "[1, 2, 3]": "a range that is not [low, high]",
    "[1, *]": "a value that must stand in quotes",
    "[a b, 'c]": "a quote that does not close",
    "{a": "a set that does not close or go on with ', '",
    "{a,b}": "a set that does not close or go on with ', '",
    "{a, b} ": "a set that does not close or go on with ', '",
    "{a, b}, c": "a set that does not close or go on with ', '",
    "{a ,b}": "a value that must stand in quotes",
    "{a,  b}": "a value that must stand in quotes",
    "{a, *}": "a value that must stand in quotes",
    "{NULL, a}": "a value that must stand in quotes",
    "{}": "no value where one must be",
    "{, a}": "no value where one must be",
    "{a, }": "no value where one must be",
    "{{a}}": "no value where one must be",
    "'abc": "a quote that does not close",
    "'": "a quote that does not close",
    "{'a, b}": "a quote that does not close",
    "'a\\": "a quote that does not close",
    "'a\\n'": "a quote that does not close",
    "'a'b": "text after the end of a value",
    "'a''b'": "text after the end of a value",
    "it's": "text after the end of a value",
    "a, b": "text after the end of a value",
    "a}": "text after the end of a value",
    "a]": "text after the end of a value",
    'say "a"': "a value that must stand in quotes",
    "\\": "no value where one must be",
    "NULL": "a value that must stand in quotes",
    " a": "a value that must stand in quotes",
    "a\u00a0": "a value that must stand in quotes",
    "a\tb": "a value that must stand in quotes",
}
texts = st.one_of(
    st.text(max_size=8),
    st.text(alphabet="ab ,'\\{}[]\"*\n\u00a0", max_size=6),
    st.sampled_from(list(WRITTEN)),
)
sets = st.lists(texts, min_size=1, max_size=6, unique=True)


@pytest.fixture(scope="module")
def con():
    with anon_sql.connect() as connection:
        connection.execute("CREATE TABLE t (class_id INTEGER, c INTEGER, v VARCHAR)")
        yield connection


def by_bytes(values):
    return sorted(values, key=str.encode)


def released(con, classes, form="label"):
    """Label of each class of texts, in order, from a table where each text stands twice."""
    con.execute("DELETE FROM t")
    ids = [at for at, values in enumerate(classes) for _ in values for _ in range(2)]
    rows = [value for values in classes for value in values for _ in range(2)]
    con.execute("INSERT INTO t SELECT unnest($1), unnest($1), unnest($2::VARCHAR[])", [ids, rows])
    found = con.execute(
        "SELECT c, any_value(v), count(DISTINCT v), count(*) "
        f"FROM generalize('t', k := 2, quasi := ['v'], keep := ['*'], format := '{form}') GROUP BY c ORDER BY c"
    ).fetchall()
    assert [row[0] for row in found] == list(range(len(classes)))
    assert [row[2:] for row in found] == [(1, 2 * len(values)) for values in classes]
    return [row[1] for row in found]


def needs_quotes(value):
    """The contract's words, one by one."""
    blanks = value[:1].isspace() or value[-1:].isspace()
    controls = any(unicodedata.category(char) == "Cc" for char in value)
    return value in ("", "*", "NULL") or blanks or controls or bool(set(value) & set("[]{},'\"\\"))


@pytest.mark.parametrize("value", WRITTEN)
def test_one_value(value):
    assert labels.of_set([value]) == WRITTEN[value]
    assert labels.values(WRITTEN[value]) == [value]


def test_one_value_in_sql(con):
    assert released(con, [[value] for value in WRITTEN]) == list(WRITTEN.values())
    assert released(con, [[value] for value in WRITTEN], "typed") == [[value] for value in WRITTEN]
    read = con.execute("SELECT anon_values(unnest($1))", [list(WRITTEN.values())]).fetchall()
    assert read == [([value],) for value in WRITTEN]


def test_sets_in_sql(con):
    classes = [["b, c", "a", "b"], ["", "*", "NULL"], ["😀", "\uffff", "z", "Z", "é", "e\u0301"]]
    assert released(con, classes) == [
        "{a, b, 'b, c'}",
        "{'', '*', 'NULL'}",
        "{Z, e\u0301, z, é, \uffff, 😀}",
    ]
    assert released(con, classes, "typed") == [by_bytes(values) for values in classes]


@examples(500)
@given(texts)
def test_a_value_is_bare_whenever_it_may_be(value):
    assert (labels.text(value) == value) is not needs_quotes(value)
    assert (labels.text(value)[:1] == "'") is needs_quotes(value)


@examples(500)
@given(sets)
@example(["'", "\\", "\\'", "', '", "', "])
@example(["}", "{", ", ", "a, b}"])
def test_sets_read_back_exactly(values):
    label = labels.of_set(by_bytes(values))
    assert labels.values(label) == by_bytes(values)
    assert (label[0] == "{") is (len(values) > 1)


@examples(300)
@given(st.lists(sets, min_size=2, max_size=2))
def test_two_sets_never_share_a_label(two):
    first, second = (by_bytes(values) for values in two)
    assert (labels.of_set(first) == labels.of_set(second)) is (first == second)


@examples(300)
@given(st.one_of(st.text(max_size=12), st.text(alphabet="ab12 ,'\\{}[]*", max_size=12)))
def test_what_reads_as_text_is_what_would_be_written(label):
    """A reader takes nothing but what the writer writes, save for needless quotes and order."""
    try:
        values = labels.values(label)
    except ValueError:
        return
    if values is not None:
        again = labels.of_set(values)
        assert labels.values(again) == values
        assert again == label or "'" in label or label == f"{{{again}}}"


@examples(12, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(sets, min_size=3, max_size=20))
def test_any_text_through_sql(con, classes):
    shown = released(con, classes)
    ordered = [by_bytes(values) for values in classes]
    assert shown == [labels.of_set(values) for values in ordered]
    read = con.execute("SELECT anon_values(unnest($1))", [shown]).fetchall()
    assert [row[0] for row in read] == ordered
    assert released(con, classes, "typed") == ordered


def test_a_text_of_100_kb(con):
    long = ["a" * 100_000, "a" * 99_999 + "'", "\\" * 50_000 + " "]
    shown = released(con, [long, long[:1], long[1:2]])
    assert [labels.values(label) for label in shown] == [by_bytes(long), long[:1], long[1:2]]
    assert shown[1] == long[0]
    assert len(shown[2]) == 100_000 + 3


@pytest.mark.parametrize("label", MALFORMED)
@pytest.mark.parametrize("reader", [labels.values, labels.bounds])
def test_a_malformed_label(label, reader):
    with pytest.raises(ValueError, match=f"^{re.escape(MALFORMED[label])}$"):
        reader(label)


@pytest.mark.parametrize(
    ("label", "ends"),
    [
        ("*", None),
        ("Private", None),
        ("'39'", None),
        ("{1, 2}", None),
        ("12:00 noon", None),
        ("2000-01-01 or so", None),
        ("1e", None),
        ("\u0663", None),
        ("nan", None),
        ("[a, b]", ("a", "b")),  # of ordered categories
        ("['a, b', c]", ("a, b", "c")),
        ("[1, nan]", ("1", "nan")),
        ("[\u0661, \u0662]", ("\u0661", "\u0662")),
        ("[2000-01-01, 2000-1-2]", ("2000-01-01", "2000-1-2")),
        ("39", ("39", "39")),
        ("-0.0", ("-0.0", "-0.0")),
        (".5", (".5", ".5")),
        ("1e-05", ("1e-05", "1e-05")),
        ("[-1.7e+308, .25]", ("-1.7e+308", ".25")),
        ("[0044-03-15 (BC), 10000-01-01]", ("0044-03-15 (BC)", "10000-01-01")),
        ("[0044-03-15 (BC) 10:00:00+00, 24:00:00]", ("0044-03-15 (BC) 10:00:00+00", "24:00:00")),
    ],
)
def test_ends_of_a_label(label, ends):
    assert labels.bounds(label) == ends


@pytest.mark.parametrize("label", ["[a, b]", "[1, nan]", "[\u0661, \u0662]", "[1, 2000-1-2]"])
@pytest.mark.parametrize(
    "values", ["i % 5", "DATE '2000-01-01' + (i % 3)::INTEGER", "'v' || i % 2"]
)
def test_a_range_of_categories_is_no_label_of_numbers_dates_or_text(con, label, values):
    con.execute(
        f"CREATE OR REPLACE TABLE numbers AS SELECT {values} AS a, 's' AS s FROM range(20) AS made(i)"
    )
    con.execute("CREATE OR REPLACE TABLE shown AS SELECT $1::VARCHAR AS a, s FROM numbers", [label])
    assert "got 1 class with other" in fails(con, "SELECT gcp('numbers', 'shown', quasi := 'a')")
    audit = "FROM audit('numbers', 'shown', k := 2, quasi := 'a', keep := 's')"
    found = con.sql(f"SELECT found, passed {audit} WHERE property = 'true_labels'")
    assert found.fetchall() == [(20, False)]
