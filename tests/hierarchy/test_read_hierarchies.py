"""Hierarchy files: separators, quotes, ragged lines, encodings, and what is no such file."""

import duckdb
import pytest

pytestmark = [pytest.mark.quick, pytest.mark.oldest]


@pytest.fixture
def read(con, tmp_path):
    def made(**files):
        for name, content in files.items():
            data = content if isinstance(content, bytes) else content.encode()
            (tmp_path / f"{name}.csv").write_bytes(data)
        return con.execute(f"FROM read_hierarchies('{tmp_path}/*.csv')").fetchall()

    return made


def test_a_file_is_a_column_and_a_line_a_value_with_its_labels(read):
    assert read(age="1;young;*\n2;young;*\n", city="Bonn,Germany,*\n") == [
        *(("age", "1", 1, "young"), ("age", "1", 2, "*")),
        *(("age", "2", 1, "young"), ("age", "2", 2, "*")),
        *(("city", "Bonn", 1, "Germany"), ("city", "Bonn", 2, "*")),
    ]


@pytest.mark.parametrize(
    ("content", "cells"),
    [
        ('17,"[15, 20[",*\n', ["17", "[15, 20[", "*"]),
        ('17,"a;b",*\n', ["17", "a;b", "*"]),
        ("Doe, J.;people;*\n", ["Doe, J.", "people", "*"]),
        ('"say ""x""";y\r\n', ['say "x"', "y"]),
        ('"two\nlines";y', ["two\nlines", "y"]),
        ("\ufeffä;ö;*\n", ["ä", "ö", "*"]),
        ("a;;*\n", ["a", "*"]),
        ("a;*;;\n\n", ["a", "*"]),
        (";x;*\n", ["", "x", "*"]),
        ("a; b ;*\n", ["a", " b ", "*"]),
        ("a\u2028b;\x0bx\n", ["a\u2028b", "\x0bx"]),
        ("a;\n", ["a", "a"]),
    ],
)
def test_cells_are_read_as_they_are_meant(read, content, cells):
    value, *labels = cells
    assert read(c=content) == [("c", value, n, label) for n, label in enumerate(labels, 1)]


JOINED = [("a;b", "x"), ("c;d", "x"), ("e;f", "y")]


@pytest.mark.parametrize(
    "content",
    [
        "".join(f"{value},{label},*\n" for value, label in JOINED),
        "".join(f'"{value}",{label},*\n' for value, label in JOINED),
        "".join(f"{value.replace(';', ',')};{label};*\n" for value, label in JOINED),
    ],
)
def test_a_separator_within_every_value_is_not_taken_for_that_of_the_file(read, content):
    found = [(value.replace(",", ";"), n, label) for _, value, n, label in read(c=content)]
    assert found == [row for value, label in JOINED for row in ((value, 1, label), (value, 2, "*"))]


@pytest.mark.parametrize(
    "content",
    [
        "a;b,x\nc;d,y\n",  # two values with a label, or two others
        "a;b,x,top\nc;d,top\ne;f,y,top\n",  # one root speaks for commas, one length against them
    ],
)
def test_a_file_that_can_be_read_in_two_ways_is_refused(read, content):
    said = "a file must be written with one separator, semicolons or commas, got c with both"
    with pytest.raises(duckdb.Error, match=said) as refused:
        read(c=content)
    assert "double quotes" in str(refused.value)


def test_lines_may_have_different_lengths_and_there_may_be_many(read):
    lines = "".join(f"{i};{i // 10};{'x;' * (i % 2)}*\n" for i in range(30_000))
    rows = read(n=lines)
    assert len(rows) == 30_000 * 2 + 15_000
    assert rows[-3:] == [("n", "29999", 1, "2999"), ("n", "29999", 2, "x"), ("n", "29999", 3, "*")]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "got nothing in c"),
        ("a\nb\n", "every line of a file must hold a value and the labels above it"),
        ("a;x\nb\n", "got c with a line that does not"),
        (b"a;\xff\n", "a file must be UTF-8, got something else in c at byte 2"),
        ('"a;x\n', "got c with a line that does not"),
    ],
)
def test_what_is_no_hierarchy_is_refused(read, content, said):
    with pytest.raises(duckdb.Error, match=f"read_hierarchies: .*{said}"):
        read(c=content)


def test_no_file_is_an_error_and_a_list_of_files_is_none(con, tmp_path):
    with pytest.raises(duckdb.Error, match="read_hierarchies: there must be a file to read"):
        con.execute(f"FROM read_hierarchies('{tmp_path}/*.csv')").fetchall()
    for name in ("a", "b"):
        (tmp_path / f"{name}.v1.csv").write_text("x;*\n")
    paths = [f"{tmp_path}/{name}.v1.csv" for name in "ba"]
    assert con.execute(f"FROM read_hierarchies({paths})").fetchall() == [
        ("a", "x", 1, "*"),
        ("b", "x", 1, "*"),
    ]


@pytest.mark.parametrize(
    ("folder", "rows"), [("adult", 597), ("adult_anjana", 641), ("adult_taxonomy", 96)]
)
def test_the_fields_own_files(con, shared_data, folder, rows):
    found = con.execute(
        f"FROM read_hierarchies('{shared_data}/hierarchies/{folder}/*.csv')"
    ).fetchall()
    assert len(found) == rows
