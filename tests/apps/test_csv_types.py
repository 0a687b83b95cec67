"""What columns of a CSV file become: nothing of a text is lost on the way into a type."""

import csv
import io

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_sql.apps import files
from anon_sql.apps.csv.dialect import Dialect
from anon_sql.core.names import quote
from anon_sql.errors import AnonError
from tests.command import run
from tests.drawing import examples


def read(folder, content, dialect=None, **options):
    """The table that a file becomes."""
    path = folder / "in.csv"
    path.write_bytes(content.encode())
    con = duckdb.connect()
    files.read_source(con, path, "made", dialect=dialect or Dialect(",", header=True), **options)
    return con.table("made")


@pytest.mark.parametrize(
    ("texts", "kind", "printed"),
    [
        (["1", "-2", "9223372036854775807"], "BIGINT", None),
        (["1", " 2", "3 "], "BIGINT", ["1", "2", "3"]),
        (["1", "9223372036854775808"], "HUGEINT", None),
        (["1", "007"], "VARCHAR", None),
        (["00123", "04567"], "VARCHAR", None),
        (["+49301234", "+4989"], "VARCHAR", None),
        (["1e5", "2e3"], "VARCHAR", None),
        (["1E5", "2"], "VARCHAR", None),
        (["1.5", "2e-05", "3"], "DOUBLE", ["1.5", "2e-05", "3.0"]),
        (["1.50", ".5", "-0.25"], "DOUBLE", ["1.5", "0.5", "-0.25"]),
        (["0.1234567890123456789", "0.1000000000000000000"], "DECIMAL(20,19)", None),
        (["1" * 30 + ".5"], "DECIMAL(31,1)", None),
        (["1" * 50, "2"], "VARCHAR", None),
        (["1" * 50 + ".5"], "VARCHAR", None),
        (["1,5", "2,5"], "VARCHAR", None),
        (["1_000"], "VARCHAR", None),
        (["0x1F"], "VARCHAR", None),
        (["nan", "1.5"], "VARCHAR", None),
        (["inf"], "VARCHAR", None),
        (["-"], "VARCHAR", None),
        (["."], "VARCHAR", None),
        (["1.2.3"], "VARCHAR", None),
        (["true", "false"], "BOOLEAN", None),
        (["True", "False"], "VARCHAR", None),
        (["t", "f"], "VARCHAR", None),
        (["2020-01-31", "1999-12-01"], "DATE", None),
        (["31.01.2020"], "VARCHAR", None),
        (["01/02/2020"], "VARCHAR", None),
        (["2020-1-31"], "VARCHAR", None),
        (["2020-02-30"], "VARCHAR", None),
        (["12:30:00", "23:59:59"], "TIME", None),
        (["12:30"], "VARCHAR", None),
        (
            ["2020-01-31T12:30", "2020-01-31 12:30:00.25"],
            "TIMESTAMP",
            ["2020-01-31 12:30:00", "2020-01-31 12:30:00.25"],
        ),
        (
            ["2020-01-31", "2020-01-31T12:30"],
            "TIMESTAMP",
            ["2020-01-31 00:00:00", "2020-01-31 12:30:00"],
        ),
        (["2020-01-31", "2020-02-30 12:30"], "VARCHAR", None),
        (["2020-01-31T12:30:00Z"], "VARCHAR", None),
        (["2020-01-31T12:30:00+02:00"], "VARCHAR", None),
        (["2020-01-31 12:30:00.123456789"], "VARCHAR", None),
        (["NULL", "1"], "VARCHAR", None),
        (["NaN"], "VARCHAR", None),
        (["epoch", "infinity"], "VARCHAR", None),
    ],
)
def test_types(tmp_path, texts, kind, printed):
    out = io.StringIO()
    csv.writer(out).writerows([["a", "b"], *([text, "x"] for text in texts), ["", "x"]])
    found = read(tmp_path, out.getvalue())
    assert [str(each) for each in found.types] == [kind, "VARCHAR"]
    values = [value for (value,) in found.project("a::VARCHAR").fetchall()]
    assert values == [*(printed or texts), None]


def test_the_last_of_many_rows_decides(tmp_path):
    rows = "".join(f"{i},{i}.5,2020-01-01\n" for i in range(5000))
    found = read(tmp_path, "a,b,c\n" + rows + "007,x,0\n")
    assert [str(each) for each in found.types] == ["VARCHAR"] * 3
    assert len(found.fetchall()) == 5001


def test_a_column_of_numbers_that_is_text_is_said(tmp_path):
    rows = "".join(f"{i},{i:05},{'abc'[i % 3]}\n" for i in range(100)) + "N/A,,x\n"
    path = tmp_path / "in.csv"
    path.write_text("age,zip,word\n" + rows)
    result = run("release", path, tmp_path / "out.csv", "--quasi", "age", "--keep", "zip,*")
    assert result.exit_code == 0, result.output
    assert result.stderr.splitlines()[0] == (
        "warning: age is text, since 1 of its 101 values are not plain numbers, the first in row "
        "101; --null names texts that are NULL"
    )
    assert "zip is text" not in result.stderr
    options = ["--overwrite", "--null", "N/A", "--quasi", "age", "--keep", "zip,*"]
    assert "is text" not in run("release", path, tmp_path / "out.csv", *options).stderr


def test_a_column_of_nothing_is_text(tmp_path):
    assert [str(each) for each in read(tmp_path, 'a,b\n1,\n2,""\n').types] == ["BIGINT", "VARCHAR"]


FIELD = st.text(
    st.one_of(
        st.sampled_from("\"',;\n\r 0179.-+eE:T"),
        st.characters(codec="utf-8", exclude_characters="\0"),
    ),
    max_size=6,
)


@pytest.mark.slow
@examples(90)
@given(data=st.data())
def test_what_python_reads(tmp_path_factory, data):
    """The texts of every row, in order; NULL for an empty field."""
    width = data.draw(st.integers(1, 4))
    rows = data.draw(st.lists(st.lists(FIELD, min_size=width, max_size=width), max_size=12))
    out = io.StringIO()
    delimiter = data.draw(st.sampled_from(",;\t|"))
    quoting = data.draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
    ends = data.draw(st.sampled_from(["\n", "\r\n", "\r"]))
    writer = csv.writer(out, delimiter=delimiter, quoting=quoting, lineterminator=ends)
    header = [f"c{at}" for at in range(width)]
    writer.writerows([header, *rows])
    content = out.getvalue()
    lines = list(csv.reader(io.StringIO(content, newline=""), delimiter=delimiter))
    if any(len(line) != width for line in lines if line) or not lines[0]:
        with pytest.raises(AnonError, match=r"line \d"):
            read(tmp_path_factory.mktemp("csv"), content, Dialect(delimiter, header=True))
        return
    expected = [[text or None for text in line or [""]] for line in lines[1:] if line or width == 1]
    found = read(
        tmp_path_factory.mktemp("csv"), content, Dialect(delimiter, header=True), labels=False
    )
    assert found.columns == header
    assert len(found.fetchall()) == len(expected)
    for at, (name, kind) in enumerate(zip(found.columns, found.types, strict=True)):
        values = [value for (value,) in found.project(f"{quote(name)}::VARCHAR").fetchall()]
        texts = [line[at] for line in expected]
        if kind == "VARCHAR":
            assert values == texts
        else:
            same = [
                float(t) if t and t.strip(" \t") and kind in ("BIGINT", "DOUBLE") else t
                for t in texts
            ]
            assert [v for v in values if v is not None] != [] or not any(same)
            if kind in ("BIGINT", "DOUBLE"):
                numbers = [None if v is None else float(v) for v in values]
                assert numbers == [s if isinstance(s, float) else None for s in same]
    as_release = read(
        tmp_path_factory.mktemp("csv"), content, Dialect(delimiter, header=True), labels=True
    )
    assert [[t or None for t in row] for row in as_release.fetchall()] == expected


@pytest.mark.slow
@examples(300)
@given(
    header=st.sampled_from(["a,b", "a", '"a","b"', '"a\n",b', "\ufeffa,b", '\ufeff"a","b"']),
    body=st.text(st.sampled_from('",,,\n\n\rx 1'), max_size=40),
)
def test_any_text_is_read_as_python_reads_it_or_refused(tmp_path_factory, header, body):
    content = header + "\n" + body
    plain = content.removeprefix("\ufeff")
    folder = tmp_path_factory.mktemp("csv")
    dialect = Dialect(",", header=True)
    try:
        first, *lines = csv.reader(io.StringIO(plain, newline=""), strict=True)
    except csv.Error:
        lines, first = [["refused"]], []
    width = len(first)
    if any(len(line) != width for line in lines if line):
        with pytest.raises(AnonError, match=r"line \d|lines \d"):
            read(folder, content, dialect)
        return
    expected = [line or [""] for line in lines if line or width == 1]
    found = read(folder, content, dialect, labels=True)
    assert found.columns == [name.strip() for name in first]
    assert [[text or "" for text in row] for row in found.fetchall()] == expected
