"""A text of a released column that equals a raw value is this value, whatever it looks like."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from anon_sql.core.labels import grammar
from anon_sql.core.labels.as_printed import RawValues, as_printed, counted_as_printed, raw_values
from anon_sql.core.labels.grammar import STAR
from tests.core.test_labels import WRITTEN

pytestmark = pytest.mark.quick

NUMBERS = raw_values([])


def shown(released: dict[str, list[str | None]], **values: RawValues) -> dict[str, list]:
    columns = {name: pa.array(column, pa.string()) for name, column in released.items()}
    rows = np.ones(len(next(iter(columns.values()))), np.int64)
    return {name: column.to_pylist() for name, column in as_printed(columns, values, rows).items()}


def test_a_value_that_looks_like_a_label_is_printed_as_a_release_prints_it():
    values = raw_values(WRITTEN)
    assert values.quoted == {word: text for word, text in WRITTEN.items() if text != word}
    values = replace(values, nulls=1)
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
    rows = {name: np.ones(len(each), np.int64) for name, each in columns.items()}
    found, gone, null_gone = counted_as_printed(columns, values, rows, gone=True)
    assert (gone, null_gone) == (True, False)
    assert found["x"][0].to_pylist() == ["'*'", "a", "'L\\'Aquila'"]
    assert found["x"][1].tolist() == [True, False, False]
    assert found["y"][0].to_pylist() == ["c", "*"]
    assert not found["y"][1].any()
    alone = {name: each[:1] for name, each in columns.items() if name == "x"}
    rows = {"x": np.ones(1, np.int64)}
    assert counted_as_printed(alone, values, rows, gone=True).gone is False


def test_structs_lists_numbers_and_unused_words_of_an_enum_are_left_alone():
    enum = pa.DictionaryArray.from_arrays([0, 1], ["a", "L'Aquila", "{a, b}"])
    columns = {"e": enum, "l": pa.array([["{x}"], None]), "n": pa.array([1, None])}
    values = {"e": raw_values(enum), "l": raw_values(["{x}"]), "n": NUMBERS}
    found = as_printed(columns, values, np.ones(2, np.int64))
    assert found["e"].to_pylist() == ["a", "'L\\'Aquila'"]
    assert found["l"] is columns["l"]
    assert found["n"] is columns["n"]


def test_null_may_hide_any_value_only_in_a_table_of_values_with_more_nulls_than_the_raw_one():
    values = {"x": raw_values(["*", "a"], nulls=1), "y": raw_values(["c", "d"], nulls=1)}
    columns = {"x": pa.array(["*", None, "a"]), "y": pa.array(["c", None, "d"])}

    def read(rows: list[int], **others: pa.Array) -> list[list[str | None]]:
        released = columns | others
        found = as_printed(released, {**values, "n": NUMBERS}, np.array(rows))
        return [found[name].to_pylist() for name in ("x", "y")]

    assert read([3, 1, 3]) == [["'*'", None, "a"], ["c", None, "d"]]
    assert read([3, 2, 3]) == [["'*'", "*", "a"], ["c", "*", "d"]]
    assert read([3, 1, 3], n=pa.array([1.5, None, 2.5])) == read([3, 2, 3])
    for label in ("{c, d}", "*"):  # where labels are shown, NULL is the label of NULLs
        shows_labels = pa.array([label, None, "d"])
        assert read([3, 2, 3], y=shows_labels)[1] == [label, None, "d"]
    assert read([3, 2, 3], n=pa.array([["a"], [], None]))[1] == ["c", None, "d"]


def test_counted_nulls_say_whether_rows_of_them_are_suppressed():
    values = {"x": raw_values(["a"], nulls=1), "y": raw_values(["c"], nulls=3)}
    columns = {"x": pa.array(["a", None]), "y": pa.array(["c", None])}
    for often, hidden, gone in ((1, 0, False), (2, 1, False), (4, 2, True)):
        rows = dict.fromkeys(columns, np.array([5, often]))
        found = counted_as_printed(columns, values, rows, gone=False)
        assert sum(STAR in labels.to_pylist() for labels, _ in found.columns.values()) == hidden
        assert found.null_gone is gone
