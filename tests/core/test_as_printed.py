"""A text of a released column that equals a raw value is this value, whatever it looks like."""

import pyarrow as pa
import pytest

from anon_sql.core.labels import grammar
from anon_sql.core.labels.as_printed import RawValues, as_printed, counted_as_printed, raw_values
from tests.core.test_labels import WRITTEN

pytestmark = pytest.mark.quick

NUMBERS = raw_values([])


def shown(released: dict[str, list[str | None]], **values: RawValues) -> dict[str, list]:
    columns = {name: pa.array(column, pa.string()) for name, column in released.items()}
    return {name: column.to_pylist() for name, column in as_printed(columns, values).items()}


def test_a_value_that_looks_like_a_label_is_printed_as_a_release_prints_it():
    values = raw_values(WRITTEN)
    assert values.quoted == {word: text for word, text in WRITTEN.items() if text != word}
    assert shown({"x": [*WRITTEN, None]}, x=values) == {"x": [*WRITTEN.values(), None]}


@pytest.mark.parametrize(
    "text", ["Washington, D.C.", "L'Aquila", "[60,80[", "{x}", "[1, 2]", '"a"', " x", "", "'a'"]
)
def test_an_unquoted_value_that_no_release_prints_is_itself_beside_labels(text):
    values = raw_values([text, "a", "b"])
    said = shown({"x": [text, "a", "{a, b}", "*"]}, x=values)
    assert said == {"x": [grammar.text(text), "a", "{a, b}", "*"]}


def test_a_text_that_is_a_value_and_a_label_is_a_label_only_where_labels_are_printed():
    values = raw_values(["*", "{a, b}", "a", "b"])
    table = ["*", "{a, b}", "a", "b"]
    assert shown({"x": table}, x=values) == {"x": ["'*'", "'{a, b}'", "a", "b"]}
    release = [*table, "'{a, b}'"]
    assert shown({"x": release}, x=values) == {"x": release}
    assert shown({"x": table, "y": ["[1, 2]"] * 4}, x=values, y=NUMBERS)["x"] == table


def test_a_value_that_no_release_prints_says_that_no_text_is_a_label():
    values = raw_values(["*", "a", "b", "L'Aquila"])
    assert shown({"x": ["*", "L'Aquila", "{a, b}"]}, x=values) == {
        "x": ["'*'", "'L\\'Aquila'", "{a, b}"]
    }


def test_a_row_of_stars_is_suppressed_where_a_star_is_no_value():
    text, plain = raw_values(["*", "a", "L'Aquila"]), raw_values(["c", "d"])
    rows = {"x": ["*", "*", "L'Aquila"], "y": ["*", "c", "d"]}
    assert shown(rows, x=text, y=plain)["x"] == ["*", "'*'", "'L\\'Aquila'"]
    assert shown(rows, x=text, y=raw_values(["*", "c", "d"])) == {
        "x": ["'*'", "'*'", "'L\\'Aquila'"],
        "y": ["'*'", "c", "d"],
    }


def test_a_hierarchy_prints_its_leaves_in_quotes_and_its_labels_as_they_are():
    values = raw_values(["{x}", "a, b", "c"], pa.array(["letters", "one, two"]))
    assert shown({"x": ["{x}", "letters", "a, b"]}, x=values) == {
        "x": ["'{x}'", "letters", "'a, b'"]
    }
    assert not values.prints("{c, c}")
    assert values.prints("letters")
    assert values.prints("'one, two'")


def test_counted_labels_say_which_of_them_stood_for_stars():
    columns = {"x": pa.array(["*", "a", "L'Aquila"]), "y": pa.array(["c", "*"])}
    values = {"x": raw_values(["*", "a", "L'Aquila"]), "y": raw_values(["c"])}
    found, gone = counted_as_printed(columns, values, gone=True)
    assert gone
    assert found["x"][0].to_pylist() == ["'*'", "a", "'L\\'Aquila'"]
    assert found["x"][1].tolist() == [True, False, False]
    assert found["y"][0].to_pylist() == ["c", "*"]
    assert not found["y"][1].any()
    alone = {name: each[:1] for name, each in columns.items() if name == "x"}
    assert counted_as_printed(alone, values, gone=True)[1] is False


def test_structs_lists_numbers_and_unused_words_of_an_enum_are_left_alone():
    enum = pa.DictionaryArray.from_arrays([0, 1], ["a", "L'Aquila", "{a, b}"])
    columns = {"e": enum, "l": pa.array([["{x}"], None]), "n": pa.array([1, None])}
    values = {"e": raw_values(enum), "l": raw_values(["{x}"]), "n": NUMBERS}
    found = as_printed(columns, values)
    assert found["e"].to_pylist() == ["a", "'L\\'Aquila'"]
    assert found["l"] is columns["l"]
    assert found["n"] is columns["n"]
