"""How a CSV file is read: what the first screen detects, offers and shows, and its errors."""

import gzip
import re
from html import unescape
from pathlib import Path

import pytest

from anon_sql.apps.csv.dialect import UTF_8, UTF_16, WINDOWS
from anon_sql.apps.studio import csv_file
from anon_sql.apps.studio.bench import Bench
from anon_sql.apps.studio.session import Session
from anon_sql.apps.studio.spelling import Screens, sentence
from anon_sql.errors import AnonError, Argument, Option, Parameter
from tests.apps.studio.visitor import running

TOWNS = ("München", "Köln", "Zürich", "Düsseldorf")
ROWS = [
    f"P{i:03};{i % 28 + 1:02}.03.{1940 + i % 60};{TOWNS[i % 4]};{60 + i % 40},5;{'JN'[i % 2]}"
    for i in range(300)
]
GERMAN = "\n".join(["Patient;geboren;Ort;Gewicht;krank", *ROWS]) + "\n"
MARKS = [mark for row in ROWS for mark in row.split(";")[:2]]


def bench(folder, content, name="people.csv", **form):
    """A bench on a file that the first screen describes in fields."""
    data = content if isinstance(content, bytes) else content.encode()
    (folder / name).write_bytes(data)
    return opened(folder, name, **form)


def opened(folder, name, **form):
    spilled = Path(folder) / "spilled"
    spilled.mkdir(exist_ok=True)
    said = csv_file.stated({**csv_file.FORM, **form})
    return Bench({"path": str(folder / name), "start": str(folder), "dialect": said}, spilled)


@pytest.mark.parametrize(
    ("name", "content", "delimiter"),
    [
        ("people.csv", "a,b\n1,2\n", ","),
        ("people.tsv", "a\tb\n1\t2\n", "\t"),
        ("people.csv", GERMAN, ";"),
        ("people.csv", "a|b\n1,5|2\n", "|"),
        ("people.csv", "a\tb\n1\t2\n", "\t"),
        ("people.tsv", "a,b\n1,2\n", ","),
        ("people.csv", '"a;b",c\n"1;2",3\n', ","),
        ("people.csv", '"a,b";c\n"1,2";3\n', ";"),
        ("people.csv", "a;b\n" * 100_000, ";"),
    ],
)
def test_the_delimiter_is_the_one_that_gives_all_lines_as_many_fields(
    tmp_path, name, content, delimiter
):
    found = bench(tmp_path, content, name).detected()
    assert found["delimiter"] == delimiter
    assert "delimiter" in found["detected"]


@pytest.mark.parametrize(
    ("content", "encoding", "offer"),
    [
        (GERMAN.encode(), UTF_8, None),
        (GERMAN.encode("utf-8-sig"), UTF_8, None),
        (GERMAN.encode("utf-16"), UTF_16, None),
        (GERMAN.encode("latin-1"), UTF_8, WINDOWS),
        (GERMAN.encode("cp850"), UTF_8, "cp850"),
        ("Имя;Год\nИван;30\nПётр;40\n".encode("koi8-r"), UTF_8, "koi8-r"),  # noqa: RUF001
        (GERMAN.encode("utf-16-le"), UTF_8, "utf-16-le"),
        (("name\n" + "ä" * 200_000).encode()[:-1] + b"\xa4\n", UTF_8, None),
        (("name\n" + "a\n" * 300_000 + "Zürich\n").encode("latin-1"), UTF_8, WINDOWS),
        (b"", UTF_8, None),
    ],
)
def test_an_encoding_is_taken_only_if_the_bytes_prove_it(tmp_path, content, encoding, offer):
    found = bench(tmp_path, content).detected()
    assert (found["encoding"], found["offer"]) == (encoding, offer)


@pytest.mark.parametrize("packed", [False, True])
def test_a_file_in_another_encoding_is_offered_one_and_then_read_as_in_utf_8(tmp_path, packed):
    name = "people.csv.gz" if packed else "people.csv"
    content = GERMAN.encode("windows-1252")
    (tmp_path / name).write_bytes(gzip.compress(content) if packed else content)
    with pytest.raises(AnonError) as refused:
        opened(tmp_path, name).table()
    said, control = sentence(refused.value)
    assert said.startswith(
        "The file must be UTF-8, got other bytes in line 2, probably of windows-1252; choose "
        "“Windows-1252"
    )
    assert control == "encoding"
    read = opened(tmp_path, name, encoding=WINDOWS)
    assert read.table()["columns"] == bench(tmp_path, GERMAN, "same.csv").table()["columns"]
    assert {row[2] for row in read.con.sql("FROM raw").fetchall()} == set(TOWNS)


def test_numbers_and_dates_in_another_notation_are_read_as_such_unless_they_shall_stay_text(
    tmp_path,
):
    columns = bench(tmp_path, GERMAN).table()["columns"]
    assert (columns["geboren"], columns["Gewicht"]) == ("DATE", "DOUBLE")
    read = opened(tmp_path, "people.csv")
    read.table()
    assert read.con.sql("SELECT max(Gewicht) FROM raw").fetchall() == [(99.5,)]
    stated = read.roles()["tables"]["source"]
    assert stated["decimal"] == {"Gewicht": ","}
    assert stated["date_format"] == {"geboren": "%d.%m.%Y"}
    columns = opened(tmp_path, "people.csv", typed="no").table()["columns"]
    assert (columns["geboren"], columns["Gewicht"]) == ("VARCHAR", "VARCHAR")


def test_null_markers_are_added_to_the_empty_field(tmp_path):
    read = bench(tmp_path, "a,b\n1,\nNA,x\n?,y\n4,z\n", null="NA ?")
    read.table()
    assert read.con.sql("SELECT count(a), count(b), count(*) FROM raw").fetchall() == [(2, 3, 4)]
    assert csv_file.described(tmp_path / "people.csv", read.source.look)["nulls"] == ("", "NA", "?")


def test_the_first_lines_are_cut_and_shown_in_the_offered_encoding(tmp_path):
    text = "name;x\n" + "ü" * 500 + ";1\n" + "a;2\n" * 9
    found = bench(tmp_path, text.encode("latin-1")).lines()
    assert found["encoding"] == WINDOWS
    assert found["lines"] == ["name;x", "ü" * 200 + "…", "a;2", "a;2", "a;2"]
    assert bench(tmp_path, "").lines()["lines"] == []


WORDS_OF_OTHERS = re.compile(
    r"--\w|:=|\bpass \b|anon-sql|\bIN\b|\bOUT\b|\bFILE\b|\bPATH\b|'raw'|'released'|studio:"
    r"|\bquasi :=|suppression_limit|Errno|Exception|Error:"
)


def says(error):
    """A sentence of the screens, which has no word of commands or of SQL."""
    text, _ = sentence(error)
    assert not WORDS_OF_OTHERS.search(text), text
    assert text[0] != ":"
    return text


@pytest.mark.parametrize(
    ("content", "form", "said"),
    [
        ("", {}, "The file must have a header"),
        ("\n1,2\n", {}, "The file must begin with a header"),
        ("a,b\n1,2,3\n", {}, "The file must have as many fields in every line"),
        ('a,b\n"1,2\n', {}, "The file must close every quote"),
        ('a,b\n1"x",2\n"1"x,2\n', {}, "quotes around whole fields only"),
        ("a, b;c, d\n1, 2;3, 4\n", {}, "choose “comma” in “Delimiter” or choose “semicolon”"),
        ("1,2\n3,4\n", {}, "choose “no” in “Header row” if line 1 is a row"),
        ("a;b|c\n1;2|3\n", {}, "choose “semicolon” in “Delimiter”"),
        ("a,b\n\0,2\n", {}, "The file must be text"),
        ("a,ü\n1,2\n".encode("latin-1"), {}, "“Encoding”"),
        ("a,ü\n1,2\n".encode("latin-1"), {"encoding": "utf-8"}, "“Encoding”"),
        ("a,b\n1,2\n", {"encoding": "utf-16"}, "The file must be in the encoding utf-16"),
        ("a,b\n1,2\n", {"delimiter": ",", "quote": '"', "header": "no"}, None),
        (gzip.compress(b"a,b\n1,2\n", mtime=0)[:-9], {}, "The file must"),
    ],
)
def test_errors_of_reading_a_file_name_fields_of_the_screen(tmp_path, content, form, said):
    packed = isinstance(content, bytes) and content[:2] == b"\x1f\x8b"
    read = bench(tmp_path, content, "people.csv.gz" if packed else "people.csv", **form)
    if said is None:
        read.table()
        return
    with pytest.raises(AnonError) as refused:
        read.table()
    assert said in says(refused.value)


def made(folder):
    """A bench on a table that can be released, and the choices of its first recipe."""
    rows = "".join(f"{i},{20 + i % 40},c{i % 7},i{i % 5}\n" for i in range(400))
    read = bench(folder, "id,age,city,illness\n" + rows)
    session = Session(folder)
    session.open(read.table(), read.roles())
    for role, names in {
        "identifier": ["id"], "quasi": ["age", "city"], "sensitive": ["illness"],
    }.items():  # fmt: skip
        session.apply("role", role, names)
    session.tables["release"].pop("entity", None)
    return read, session


NAMES = {"release": "r.csv", "recipe": "r.toml", "summary": "s.html"}


def test_errors_of_choices_and_releases_name_fields_of_the_screens(tmp_path):
    read, session = made(tmp_path)
    choices = [
        ("k", "5000", []), ("k", "-3", []), ("k", "1.5", []), ("k", "many", []), ("l", "99", []),
        ("t", "7", []), ("t", "-1", []), ("beta", "-2", []), ("suppression_limit", "7", []),
        ("weight", "-1", ["age"]), ("weight", "nothing", ["age"]), ("method", "none", []),
        ("method", "datafly", []), ("method", "full_domain", []), ("method", "top_down", []),
        ("method", "sdka", []), ("environment", "friends", []), ("role", "boss", ["age"]),
        ("role", "quasi", ["unknown"]), ("accepted:none", "x", []), ("nothing", "1", []),
        ("entity", "nobody", []), ("role", "identifier", ["age", "city"]),
    ]  # fmt: skip
    refused = 0
    for name, value, columns in choices:
        before = session.recipe
        try:
            session.apply(name, value, columns)
            read.preview(session.recipe)
            read.check(session.recipe)
        except Exception as error:
            refused += 1
            says(error)
        session.load(before)
    assert refused >= 15


def test_errors_of_signing_name_fields_of_the_screens(tmp_path):
    read, session = made(tmp_path)
    session.apply("t", "0.5")
    session.apply("k", "5")
    session.apply("read", True, session.names)

    def refusal(overwrite=False, **names):
        with pytest.raises(AnonError) as refused:
            read.sign(session.recipe, {**NAMES, **names}, overwrite)
        return says(refused.value)

    read.check(session.recipe)
    assert refusal().startswith("“Purpose” must be stated before a release is signed")
    session.apply("purpose", "A study")
    assert refusal().startswith("“Recipient” must be stated before a release is signed")
    session.apply("recipient", "  ")
    assert refusal().startswith("“Recipient” must be stated")
    session.apply("recipient", "A university")
    assert "plain name" in refusal(release="../r.csv")
    assert "must end in" in refusal(release="r.exe")
    assert "different file from the file" in refusal(True, release="people.csv")
    (tmp_path / "r.csv.anon.json").write_text("old")
    assert "“Replace files that exist”" in refusal()
    (tmp_path / "people.csv").write_text("id,age,city,illness\n1,2,a,b\n")
    assert "sha256" in refusal(True)
    (tmp_path / "people.csv").unlink()
    assert "people.csv" in refusal(True)


def test_every_token_of_an_error_has_words_on_the_screens():
    error = AnonError(
        "anonymize",
        Argument("k", 3) + " and " + Parameter("quasi") + " and " + Parameter("part_rows"),
        Option("--delimiter", "tab"),
        Option("--quote", "''") + "; " + Option("--null", verb="") + "; " + Argument("keep", ["a"]),
    )
    assert says(error) == (
        "k = 3 and the quasi-identifiers and part_rows in the recipe, got choose “tab” in "
        "“Delimiter”; choose “none” in “Quotes”; “Texts that mean NULL”; a among the kept columns"
    )
    assert Screens().none == "nothing"


@pytest.mark.slow
def test_the_first_screen_opens_a_file_whose_delimiter_its_name_does_not_say(tmp_path):
    (tmp_path / "people.csv").write_text(GERMAN)
    with running(tmp_path, "people.csv") as studio:
        page = unescape(studio.enter().page("/data/table"))
        assert "detected: semicolon" in page
        assert "detected: yes, line 1 has the names" in page
        assert not [mark for mark in MARKS if mark in page]
        assert studio.ask("/data/lines")[0] == 403
        shown = studio.page("/data/lines?confirmed=yes")
        assert ROWS[0] in shown
        assert ROWS[9] not in shown


@pytest.mark.slow
def test_the_first_screen_offers_an_encoding_and_signs_a_recipe_with_it(tmp_path):
    (tmp_path / "people.csv").write_bytes(GERMAN.encode("latin-1"))
    with running(tmp_path, "people.csv") as studio:
        page = studio.enter().page("/data/table")
        assert 'role="alert" data-control="encoding"' in page
        assert '<option value="windows-1252" selected>' in page
        assert TOWNS[0] in studio.page("/data/lines?confirmed=yes")
        page = studio.page("/dialect", {**csv_file.FORM, "encoding": WINDOWS})
        assert "300" in page
        assert 'role="alert"' not in page
        studio.page("/data/roles")
        assert "✓ Written" in studio.page("/save", {"recipe": "people.recipe.toml"})
    assert 'encoding = "windows-1252"' in (tmp_path / "people.recipe.toml").read_text()
    with running(tmp_path, "people.recipe.toml") as studio:
        page = studio.enter().page("/data/table")
        assert "encoding: Windows-1252" in page
        assert 'role="alert"' not in studio.page("/data/roles")


@pytest.mark.slow
def test_a_file_that_disappears_is_said_and_read_once_it_is_back(tmp_path):
    (tmp_path / "people.csv").write_text(GERMAN)
    with running(tmp_path, "people.csv") as studio:
        (tmp_path / "people.csv").rename(tmp_path / "away")
        page = studio.enter().page("/data/table")
        assert "The file must exist, got no people.csv; was it moved or renamed?" in page
        assert str(tmp_path) not in page
        (tmp_path / "away").rename(tmp_path / "people.csv")
        assert 'role="alert"' not in studio.page("/data/table?run=yes")
