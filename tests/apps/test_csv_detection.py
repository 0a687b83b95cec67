"""What a CSV file shows of itself: its encoding is proposed, its delimiter detected, names numbered."""

import random

import duckdb
import pytest

from anon_sql.apps.csv import detection
from anon_sql.apps.csv.dialect import Dialect
from anon_sql.apps.csv.source import CsvSource
from tests.command import refused, run

WORDS = {
    "German": "München Köln Zürich Düsseldorf Straße",
    "French": "Hélène François Gaël Benoît Zoë",
    "Polish": "Łukasz Żółć Gdańsk Wrocław Paweł",
    "Czech": "Jiří Dvořák Říčany Plzeň Růžena Žďár",
    "Russian": "Иван Москва Пётр Ольга",
    "Turkish": "İstanbul Şişli Çağlar Gümüş",
    "Greek": "Αθήνα Θεσσαλονίκη",
    "Japanese": "東京 大阪 名古屋 さくら ミク",
    "Chinese": "北京 上海 张伟 王芳",
    "Korean": "서울 부산 김철수",
    "signs": "5€ \u2013 „groß“ 30° m² Köln",
}
CASES = [
    ("German", "windows-1252"),
    ("German", "latin-1"),
    ("German", "cp850"),
    ("German", "macintosh"),
    ("French", "windows-1252"),
    ("French", "cp850"),
    ("Polish", "windows-1250"),
    ("Polish", "iso-8859-2"),
    ("Czech", "windows-1250"),
    ("Russian", "windows-1251"),
    ("Russian", "koi8-r"),
    ("Russian", "cp866"),
    ("Turkish", "windows-1254"),
    ("Greek", "windows-1253"),
    ("Japanese", "shift_jis"),
    ("Japanese", "euc_jp"),
    ("Chinese", "gb18030"),
    ("Korean", "euc_kr"),
    ("signs", "windows-1252"),
    ("German", "utf-16"),
    ("German", "utf-16-le"),
    ("German", "utf-16-be"),
    ("German", "utf-8"),
    ("German", "utf-8-sig"),
]


def source(folder, content):
    path = folder / "people.csv"
    path.write_bytes(content)
    return CsvSource(path, None, Dialect(","), False, "roles", "FILE")


@pytest.mark.parametrize(("language", "encoding"), CASES)
def test_the_proposed_encoding_gives_the_same_letters(tmp_path, language, encoding):
    draw, words = random.Random(1), WORDS[language].split()
    lines = [f"{draw.choice(words)},{draw.randrange(90)},x" for _ in range(200)]
    text = "name,age,note\n" + "\n".join(lines) + "\n"
    proposed = source(tmp_path, text.encode(encoding)).encoding()
    assert text.encode(encoding).decode(proposed).removeprefix("\ufeff") == text
    if encoding.startswith("utf-8"):
        assert proposed == "utf-8"


def test_letters_after_a_million_others_decide_the_encoding(tmp_path):
    content = b"name\n" + b"a\n" * 1_000_000 + "Gdańsk\nŁódź\n".encode("windows-1250")
    assert source(tmp_path, content).encoding() == "windows-1250"


def test_bytes_of_no_encoding_get_none(tmp_path):
    content = b"name\n" + bytes(random.Random(2).choices(range(128, 256), k=500)) + b"\n"
    assert source(tmp_path, content).encoding() is None


def test_the_encodings_are_those_of_python():
    for name in (*detection.ENCODINGS, *detection.OTHERS):
        assert "a".encode(name) == b"a"


GERMAN = "Größe;Ort;krank\n" + "".join(
    f"{150 + i % 40};{('München', 'Köln')[i % 2]};{'ja' if i % 3 else 'nein'}\n" for i in range(90)
)


def test_roles_proposes_an_encoding_and_a_recipe_has_it_but_release_reads_no_such_file(tmp_path):
    path = tmp_path / "people.csv"
    path.write_bytes(GERMAN.encode("latin-1"))
    said = refused("release", path, tmp_path / "out.csv", "--quasi", "Ort", "--keep", "*")
    assert said == (
        "release: IN must be UTF-8, got other bytes in line 1, probably of windows-1252; "
        "pass --encoding windows-1252 if that is right, or convert the file"
    )
    found = run("roles", path)
    assert "Größe" in found.stdout
    assert found.stderr.splitlines() == [
        "people.csv: it is not UTF-8, but probably windows-1252: look at its letters, then pass "
        "--encoding windows-1252",
        "people.csv: ';' stands between its fields; pass --delimiter ';' to say so",
    ]
    recipe = tmp_path / "people.toml"
    made = run("roles", path, "--recipe", recipe)
    assert made.exit_code == 0, made.output
    assert {'encoding = "windows-1252"', 'delimiter = ";"'} <= {*recipe.read_text().splitlines()}
    for command in (["--sql"], ["--dbt"]):
        assert "Größe" in run("roles", path, *command).stdout


def test_a_release_is_made_with_the_named_encoding(tmp_path):
    path, out = tmp_path / "people.csv", tmp_path / "out.csv"
    path.write_bytes(GERMAN.encode("latin-1"))
    call = ["--quasi", "Ort,Größe", "--sensitive", "krank", "--encoding", "windows-1252"]
    found = run("release", path, out, *call, "--k", 2)
    assert found.exit_code == 0, found.output
    assert "people.csv: ';' stands between its fields" in found.stderr
    assert {"München", "Köln"} <= {
        town for (town,) in duckdb.sql(f"SELECT Ort FROM '{out}'").fetchall()
    }


@pytest.mark.parametrize(("sign", "option"), [(";", "';'"), ("\t", "tab"), ("|", "'|'")])
def test_the_delimiter_of_a_release_is_said_unless_it_is_named(tmp_path, sign, option):
    path, out = tmp_path / "people.csv", tmp_path / "out.parquet"
    path.write_text(GERMAN.replace(";", sign))
    call = ["release", path, out, "--quasi", "Ort,Größe", "--keep", "krank", "--overwrite"]
    found = run(*call)
    assert found.exit_code == 0, found.output
    said = f"people.csv: {option} stands between its fields; pass --delimiter {option} to say so"
    assert said in found.stderr.splitlines()
    assert duckdb.sql(f"SELECT count(*) FROM '{out}'").fetchall() == [(90,)]
    named = run(*call, "--delimiter", sign)
    assert named.exit_code == 0
    assert said not in named.stderr.splitlines()
    for command in (
        ["audit", path, "--quasi", "Ort"],
        ["report", path, out, "-o", tmp_path / "r.html", "--quasi", "Ort,Größe"],
    ):
        assert said in run(*command).stderr.splitlines()


def test_a_broken_line_is_an_error_and_decides_no_delimiter(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("a;b\n1;2\n1;2;3\n")
    assert "got ';' and no ','" in refused(
        "release", path, tmp_path / "out.csv", "--quasi", "a", "--keep", "*"
    )
    path.write_text("a;b\n" + "1;2\n" * 300 + "1;2;3\n")
    found = run("release", path, tmp_path / "out.csv", "--quasi", "a", "--keep", "*")
    assert (found.exit_code, found.stdout) == (1, "")
    assert "got 3 in line 302" in found.stderr


@pytest.mark.parametrize(
    ("header", "names"),
    [
        ("name,age,name", ["name_1", "age", "name_2"]),
        ("name,age,NAME", ["name_1", "age", "NAME_2"]),
        ("name,name,name_2", ["name_1", "name_3", "name_2"]),
        ("name,NAME_1,name", ["name_2", "NAME_1", "name_3"]),
        ("x,x,x", ["x_1", "x_2", "x_3"]),
        (",column_1,b", ["column_1_1", "column_1_2", "b"]),
        ('"a ""b",c,"a ""b"', ['a "b_1', "c", 'a "b_2']),
    ],
)
def test_columns_of_one_name_are_numbered(tmp_path, header, names):
    path, out = tmp_path / "people.csv", tmp_path / "out.parquet"
    path.write_text(header + "\n" + "".join(f"v{i % 3},w{i % 3},y{i % 4}\n" for i in range(60)))
    quoted = ",".join('"' + name.replace('"', '""') + '"' for name in names)
    found = run("release", path, out, "--quasi", quoted, "--k", 2, "--header")
    assert found.exit_code == 0, found.output
    assert "columns have one name and are called" in found.stderr
    assert duckdb.read_parquet(str(out)).columns == names


def test_a_role_of_a_name_that_occurs_twice_is_refused(tmp_path):
    """Its second column would leave under another name, by '*'."""
    path = tmp_path / "people.csv"
    path.write_text("name,age,Name\n" + "".join(f"p{i},{i % 5},q{i}\n" for i in range(60)))
    found = run(
        "release",
        path,
        tmp_path / "out.csv",
        "--identifier",
        "name",
        "--quasi",
        "age",
        "--keep",
        "*",
    )
    assert found.exit_code == 1
    assert "people.csv: 2 columns have one name and are called name_1, Name_2" in found.stderr
    assert not (tmp_path / "out.csv").exists()
    recipe = tmp_path / "people.toml"
    assert run("roles", path, "--recipe", recipe).exit_code == 0
    assert 'identifiers = ["name_1", "Name_2"]' in recipe.read_text().replace(
        "identifier =", "identifiers ="
    )


def test_a_row_of_equal_words_is_not_taken_for_a_header(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("yes,yes,no\n" + "yes,no,no\nno,yes,yes\n" * 9)
    said = refused("release", path, tmp_path / "out.csv", "--quasi", "yes", "--keep", "*")
    assert "names that are values of their columns" in said


def test_one_column_may_have_the_delimiter_in_its_name(tmp_path):
    source = tmp_path / "in.csv"
    source.write_text('"city, part"\nParis\nRome\n', encoding="utf-8")
    assert "city, part" in run("roles", source).stdout
