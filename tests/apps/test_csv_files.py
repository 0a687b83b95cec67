"""CSV files as they are, at the command line: every line is a row, or one error names the line."""

import csv
import gzip
import re
import shlex

import duckdb
import pytest

from tests.command import refused, run

pytestmark = pytest.mark.oldest

CANARY = "Zanzibarella"
ROWS = "".join(f"{20 + i % 40},{'fm'[i % 2]},{'flu' if i % 7 else 'cold'}\n" for i in range(120))
PEOPLE = "age,sex,illness\n" + ROWS
RELEASE = ["--k", 5, "--quasi", "age,sex", "--keep", "*"]


def written(folder, content, name="people.csv"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def released(folder, content, *options, name="people.csv"):
    """The rows of the release with k = 1, in which every value is as it was read."""
    path = written(folder, content, name)
    out = folder / "out.parquet"
    call = ("release", path, out, "--k", 1, "--overwrite", *options)
    result = run(*call, "--keep", "*")
    if found := re.search(r"leave them out by --identifier (.+), or name", result.stderr):
        named = shlex.split(found[1])[0]
        named = content.partition(",")[0] if named == "…" else named  # it looks like a value
        result = run(*call, "--keep", f"{named},*")  # what must be named
    assert result.exit_code == 0, result.output
    return duckdb.read_parquet(str(out))


def refusal(folder, content, *options, name="people.csv"):
    """What a release says about a file; it never shows a value."""
    path = written(folder, content, name)
    sentence = refused("release", path, folder / "out.csv", *RELEASE, *options)
    assert CANARY not in sentence
    assert not (folder / "out.csv").exists()
    assert sentence.startswith("release: IN must ")
    return sentence.removeprefix("release: IN must ")


def test_rows_before_a_wider_line_are_not_dropped(tmp_path):
    """DuckDB's search for a header takes the last narrower line for it."""
    rows = "".join(f"{CANARY},{i}\n" for i in range(60)) + f"{CANARY},60,more\n"
    assert refusal(tmp_path, "name,age\n" + rows).startswith(
        "have as many fields in every line as in the first, 2, got 3 in line 62"
    )
    wide = "name,age,note\n" + "".join(f"{CANARY},{i},\n" for i in range(60)) + f"{CANARY},60,x\n"
    assert len(released(tmp_path, wide, "--quasi", "age").fetchall()) == 61


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "have a header, got an empty file"),
        ("\ufeff", "have a header, got an empty file"),
        ("\n" + PEOPLE, "begin with a header, got an empty first line"),
        (",,\n1,2,3\n", "begin with a header, got an empty first line"),
        (
            PEOPLE + f"1,{CANARY}\n",
            "have as many fields in every line as in the first, 3, got 2 in line 122",
        ),
        (
            PEOPLE + f'1,"{CANARY}\n' + ROWS,
            "close every quote, got one open from line 122 to the end; "
            "write a quote inside a field twice, or pass --quote '' if quotes are text",
        ),
        (
            PEOPLE + f'1,"{CANARY}"x,2\n',
            "have quotes around whole fields only, got a quote inside a field in line 122; "
            "write a quote inside a field twice, or pass --quote '' if quotes are text",
        ),
        (PEOPLE + f"1,{CANARY}\0,2\n", "be text, got a NUL byte in line 122"),
        (
            f"{CANARY},34,1999-01-01,017\n" + f"{CANARY},35,1999-01-01,018\n" * 9,
            "have a header in line 1, got 3 of 4 names that look like values; "
            "pass --no-header if line 1 is a row, or --header if it is the header",
        ),
        (
            f"{CANARY},flu,34,Berlin\n" + f"{CANARY},cold,35,Bonn\n" * 9,
            "have a header in line 1, got 1 of 4 names that are values of their columns; "
            "pass --no-header if line 1 is a row, or --header if it is the header",
        ),
        (
            f"{CANARY},flu,Bonn\n" + "x,flu,Bonn\ny,cold,Bonn\n" * 9,
            "have a header in line 1, got 2 of 3 names that are values of their columns; "
            "pass --no-header if line 1 is a row, or --header if it is the header",
        ),
        (
            f"name;age\n{CANARY}\n",
            "have fields between ',', got ';' and no ',' in line 1; "
            "pass --delimiter ';', or --delimiter ',' if there is one column",
        ),
        (
            f'"name, in full";"age"\n"{CANARY}"\n',
            "have fields between ',', got ';' between fields in quotes in line 1; "
            "pass --delimiter ';', or --delimiter ',' if there is one column",
        ),
        (
            f"name, first;age, now\n{CANARY}, x;1, 2\n",
            "have one delimiter, got ',' and ';' in all lines; "
            "pass --delimiter ',' or pass --delimiter ';'",
        ),
        (
            f"name;age|sex\n{CANARY};1|2\n",
            "have fields between ',', got ';' and no ',' in line 1; "
            "pass --delimiter ';', or --delimiter ',' if there is one column",
        ),
    ],
)
def test_faults(tmp_path, content, said):
    assert refusal(tmp_path, content) == said


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (f'{{"age": "18", "name": "{CANARY}"}}\n{{"age": "19", "name": "x"}}\n', "JSON; convert"),
        (f'[\n  {{"age": 18, "name": "{CANARY}"}}\n]\n', "JSON; convert"),
        (f'["{CANARY}", 18]\n["x", 19]\n', "JSON; convert"),
        (f'\ufeff<?xml version="1.0"?>\n<a>{CANARY}</a>\n', "XML or HTML; export"),
        (f"<!DOCTYPE html>\n<html><td>{CANARY}</td></html>\n", "XML or HTML; export"),
        (f"\n<table border=1>\n<tr><td>{CANARY}</td></tr></table>\n", "XML or HTML; export"),
        (b"PK\x03\x04\x14\0\6\0[Content_Types].xml", "a ZIP archive, such as an Excel workbook;"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an Office file, such as an Excel workbook;"),
        (b"PAR1\x15\x04\x15", "a Parquet file; let its name end in .parquet"),
        (b"SQLite format 3\0\x10", "a SQLite database;"),
        (b"\1\2\3\4\5\6\7\0DUCK@", "a DuckDB database; write FILE.duckdb:schema.table"),
        (
            gzip.compress(PEOPLE.encode(), mtime=0),
            "a gzip file; let its name end in .csv.gz, or .tsv.gz",
        ),
    ],
)
def test_a_file_of_another_format_is_refused_whatever_it_is_called(tmp_path, content, said):
    for options in ([], ["--header"], ["--delimiter", ";"]):
        assert refusal(tmp_path, content, *options).startswith(f"be a CSV file, got {said}")


@pytest.mark.parametrize("header", ["[id],[age]", "<5,age", "<none>,age", "{id},age", "PAR1,age"])
def test_a_header_with_odd_signs_is_still_one_of_csv(tmp_path, header):
    found = released(
        tmp_path, header + "\na,1\nb,2\n", "--header", "--quasi", header.partition(",")[2]
    )
    assert len(found.fetchall()) == 2


def test_a_name_with_a_line_end_is_named_with_or_without_quotes(tmp_path):
    """As Excel writes it within a cell of the header."""
    name = "Alter\r\n(Jahre)"
    content = f'\ufeff"{name}",Ort\r\n34,Ulm\r\n35,Bonn\r\n'
    for quasi in (f'"{name}",Ort', f"{name},Ort"):
        found = released(tmp_path, content, "--quasi", quasi)
        assert found.columns == [name, "Ort"]
        assert sorted(found.fetchall()) == [("34", "Ulm"), ("35", "Bonn")]


def test_texts_with_delimiters_quotes_and_line_ends_arrive_unchanged(tmp_path):
    texts = ['kommt "morgen" wieder', "Zeile 1\nZeile 2", "a;b", "…", None]
    cells = ['"' + text.replace('"', '""') + '"' if text else "" for text in texts]
    content = "\ufeff;Alter;Bemerkung\r\n" + "".join(
        f"{at};{30 + at};{cell}\r\n" for at, cell in enumerate(cells)
    )
    found = released(tmp_path, content, "--quasi", "Alter")
    assert found.columns == ["column_1", "Alter", "Bemerkung"]
    assert {text for _, _, text in found.fetchall()} == {*texts}


def test_encodings(tmp_path):
    said = "be UTF-8, got other bytes in line 123"
    latin = PEOPLE + f"21,f,{CANARY}\n21,f,{CANARY}é\n"
    for ends in ("\n", "\r\n", "\r"):
        content = latin.replace("\n", ends).encode("latin-1")
        hint = "pass --encoding windows-1252 if that is right, or convert the file"
        assert refusal(tmp_path, content) == f"{said}, probably of windows-1252; {hint}"
    for name in ("utf-16", "utf-16-le", "utf-16-be"):
        assert refusal(tmp_path, latin.encode(name)) == (
            f"be UTF-8, got {name.upper()}; pass --encoding {name} if that is right, or convert "
            "the file"
        )
    damaged = (latin + "21,f,éàü\n").encode()[:-2]
    hint = "; pass --encoding … with the encoding that the file has"
    assert refusal(tmp_path, damaged) == f"be UTF-8, got other bytes in line 124{hint}"
    late = ("age,sex\n" + "1,f\n" * 700_000).encode() + b"1,\xff\n"
    assert refusal(tmp_path, late).startswith("be UTF-8, got other bytes in line 700,002")


@pytest.mark.parametrize(
    ("written_in", "encoding"),
    [
        ("latin-1", "ISO-8859-1"),
        ("windows-1252", "windows-1252"),
        ("utf-16", "utf-16"),
        ("utf-16-le", "UTF-16LE"),
        ("utf-8-sig", "utf8"),
    ],
)
def test_a_file_in_a_named_encoding_has_the_rows_of_the_same_file_in_utf_8(
    tmp_path, written_in, encoding
):
    text = "age,name\n" + "".join(f"{i},Müller{i}é\n" for i in range(300))
    found = released(
        tmp_path, text.encode(written_in), "--quasi", "age", "--encoding", encoding
    ).fetchall()
    assert sorted(found) == sorted(released(tmp_path, text, "--quasi", "age").fetchall())


@pytest.mark.parametrize(
    ("content", "encoding"),
    [(b"age,name\n1,\x81\n", "windows-1252"), (b"age,name\n1,ab\n", "utf-16"),
     ("age,name\n1,é\n".encode(), "ascii")],
)  # fmt: skip
def test_bytes_that_a_named_encoding_lacks_are_refused(tmp_path, content, encoding):
    said = refusal(tmp_path, content, "--encoding", encoding)
    assert said.startswith(f"be in the encoding {encoding}, got other bytes; pass --encoding")


@pytest.mark.parametrize("encoding", ["base64", "nothing", "rot13", ""])
def test_an_encoding_must_be_one_of_text(tmp_path, encoding):
    path = written(tmp_path, PEOPLE)
    sentence = refused("release", path, tmp_path / "out.csv", *RELEASE, "--encoding", encoding)
    assert sentence.startswith("release: --encoding must be an encoding that Python knows")


@pytest.mark.parametrize(("ends", "mark"), [("\n", "\ufeff"), ("\r\n", ""), ("\r", "\ufeff")])
def test_line_ends_and_byte_order_mark(tmp_path, ends, mark):
    content = mark + "age,name\n1,a\n\n2,b\n\n\n3,c".replace("\n", ends)
    found = released(tmp_path, content, "--quasi", "age")
    assert found.columns == ["age", "name"]
    assert sorted(found.fetchall()) == [("1", "a"), ("2", "b"), ("3", "c")]
    assert len(released(tmp_path, content + ends, "--quasi", "age").fetchall()) == 3


def test_line_ends_may_be_mixed(tmp_path):
    found = released(tmp_path, 'age,name\r\n1,"a\r\nb"\n2,c\r3,d\r\n', "--quasi", "age")
    assert sorted(found.fetchall()) == [("1", "a\r\nb"), ("2", "c"), ("3", "d")]


def test_an_empty_line_is_a_row_in_a_file_of_one_column(tmp_path):
    rows = released(tmp_path, "age\n1\n\n2\n\n", "--quasi", "age").fetchall()
    assert sorted(rows, key=str) == [("1",), ("2",), (None,), (None,)]


def test_a_header_alone_is_an_empty_table(tmp_path):
    for content in ("age,sex", "age,sex\n", "age,sex\r\n\r\n"):
        path = written(tmp_path, content)
        result = run(
            "query", f"SELECT * FROM read_csv('{path}', header := true, all_varchar := true)"
        )
        assert result.exit_code == 0
        out = tmp_path / "out.csv"
        result = run("release", path, out, "--quasi", "age,sex", "--overwrite")
        assert result.exit_code == 0, result.output
        assert out.read_text() == "age,sex\n"


@pytest.mark.slow
def test_long_lines(tmp_path):
    """Longer than any buffer: a field of 20 MB, with line ends."""
    long = "x" * 10_000_000 + "\n" + "y" * 10_000_000
    found = released(tmp_path, f'age,note\n1,a\n2,"{long}"\n3,c\n', "--quasi", "age")
    assert dict(found.fetchall()) == {"1": "a", "2": long, "3": "c"}


def test_no_header(tmp_path):
    found = released(tmp_path, "34,f\n35,m\n", "--no-header", "--quasi", "column_1")
    assert found.columns == ["column_1", "column_2"]
    assert sorted(found.fetchall()) == [("34", "f"), ("35", "m")]


def test_a_header_of_years(tmp_path):
    content = "1999,2000\n" + "1,2\n" * 9
    assert "2 of 2 names" in refusal(tmp_path, content)
    found = released(tmp_path, content, "--header", "--quasi", "1999")
    assert (found.columns, len(found.fetchall())) == (["1999", "2000"], 9)


def test_a_column_without_a_name_gets_one(tmp_path):
    """As the index that pandas writes; it needs a role like any other."""
    content = ",age , sex\n0,34,f\n1,35,m\n"
    found = released(tmp_path, content, "--quasi", "age,sex")
    assert found.columns == ["column_1", "age", "sex"]


@pytest.mark.parametrize(("sign", "option"), [(";", ";"), ("\t", "tab"), ("\t", "\\t"), ("|", "|")])
def test_delimiter(tmp_path, sign, option):
    content = "age,name\n1,a\n2,b\n".replace(",", sign)
    found = released(tmp_path, content, "--delimiter", option, "--quasi", "age")
    assert sorted(found.fetchall()) == [("1", "a"), ("2", "b")]


def test_quote(tmp_path):
    single = released(tmp_path, "age,name\n1,'a,''b'\n", "--quote", "'", "--quasi", "age")
    assert single.fetchall() == [("1", "a,'b")]
    none = released(tmp_path, 'age,name\n1,"a\n2,b"c\n', "--quote", "", "--quasi", "age")
    assert sorted(none.fetchall()) == [("1", '"a'), ("2", 'b"c')]


def test_a_text_that_means_null_adds_to_the_empty_field(tmp_path):
    content = 'age,name\n1,NA\n2,\n3,""\n,-\n'
    names = {(): {"NA", None, "-"}, ("NA",): {None, "-"}, ("NA", "-", ""): {None}}
    for nulls, expected in names.items():
        options = [part for null in nulls for part in ("--null", null)]
        found = released(tmp_path, content, *options, "--quasi", "age").fetchall()
        assert {name for _, name in found} == expected
        assert sorted(age for age, _ in found if age) == ["1", "2", "3"]
        assert len(found) == 4


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ["--delimiter", "||"],
            "--delimiter must be one sign of ASCII, no letter and no digit, got '||'",
        ),
        (
            ["--delimiter", "x"],
            "--delimiter must be one sign of ASCII, no letter and no digit, got 'x'",
        ),
        (["--quote", "ab"], "--quote must be one sign of ASCII, no letter and no digit, got 'ab'"),
        (["--delimiter", '"'], "--delimiter and --quote must differ, got the same character"),
    ],
)
def test_options_that_cannot_be(tmp_path, options, said):
    path = written(tmp_path, PEOPLE)
    sentence = refused("release", path, tmp_path / "out.csv", *RELEASE, *options)
    assert sentence.startswith(f"release: {said}")


@pytest.mark.parametrize("ending", [".csv.gz", ".tsv.zst"])
def test_packed(tmp_path, ending):
    first, second = tmp_path / ("one" + ending), tmp_path / "two.csv"
    people = written(tmp_path, PEOPLE)
    assert run("release", people, first, *RELEASE).exit_code == 0
    result = run("release", first, second, "--k", 1, "--quasi", "age,sex", "--keep", "illness")
    assert result.exit_code == 0, result.output
    with open(second, newline="") as file:
        assert len(list(csv.reader(file))) == 121
    whole = first.read_bytes()
    for content in (whole[:-9], PEOPLE.encode()):
        said = refusal(tmp_path, content, name="broken" + ending)
        assert said.startswith("be a whole ")


def test_packed_line_numbers(tmp_path):
    packed = gzip.compress((PEOPLE + f"{CANARY}\n").encode())
    said = refusal(tmp_path, packed, name="people.csv.gz")
    assert said.endswith("got 1 in line 122")


@pytest.mark.parametrize(
    ("command", "called"),
    [
        (["report", "{bad}", "{good}", "-o", "{page}", "--quasi", "age"], "report: RAW must "),
        (["report", "{good}", "{bad}", "-o", "{page}", "--quasi", "age"], "report: RELEASED must "),
        (["sweep", "{bad}", "-o", "{page}", "--quasi", "age"], "sweep: RAW must "),
        (
            ["release", "{good}", "{out}", "--quasi", "age", "--hierarchy", "{bad}"],
            "release: --hierarchy must ",
        ),
        (["verify", "{out}", "--raw", "{bad}"], "verify: --raw must "),
    ],
)
def test_every_command_says_its_own_name_of_the_file(tmp_path, command, called):
    good = written(tmp_path, PEOPLE)
    bad = written(tmp_path, PEOPLE + f"{CANARY}\n", "bad.csv")
    out, page = tmp_path / "out.csv", tmp_path / "page.html"
    if command[0] == "verify":
        assert run("release", good, out, *RELEASE, "--manifest").exit_code == 0
    paths = {"good": good, "bad": bad, "out": out, "page": page}
    sentence = refused(*(part.format(**paths) for part in command))
    assert sentence.startswith(called)
    assert sentence.endswith("got 1 in line 122")


def test_a_verified_release_of_a_file_with_options(tmp_path):
    raw = written(tmp_path, PEOPLE.replace(",", ";").replace("flu", "?"))
    out = tmp_path / "out.csv"
    options = ["--delimiter", ";", "--null", "?"]
    assert run("release", raw, out, *RELEASE, *options, "--manifest").exit_code == 0
    result = run("verify", out, "--raw", raw, *options)
    assert result.exit_code == 0, result.output
