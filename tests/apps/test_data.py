"""UCI's files, whole or in parts, become one table; anything else is one sentence."""

import functools
import hashlib
import http.server
import threading
import zipfile

import duckdb
import pytest

from anon_sql.apps.cli.data import SUMS, create_adult, read_adult
from anon_sql.errors import AnonError

DATA = """39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, \
Male, 2174, 0, 40, United-States, <=50K
50, ?, 83311, HS-grad, 9, Divorced, ?, Unmarried, Black, Female, 0, 0, 13, ?, >50K

"""
TEST = """|1x3 Cross validator
25, Private, 226802, 11th, 7, Never-married, Machine-op-inspct, Own-child, Black, Male, 0, 0, 40, \
United-States, <=50K.

"""
# fmt: off
ROWS = [
    (39, "State-gov", 77516, "Bachelors", 13, "Never-married", "Adm-clerical", "Not-in-family",
     "White", "Male", 2174, 0, 40, "United-States", "<=50K", "train"),
    (50, None, 83311, "HS-grad", 9, "Divorced", None, "Unmarried",
     "Black", "Female", 0, 0, 13, None, ">50K", "train"),
    (25, "Private", 226802, "11th", 7, "Never-married", "Machine-op-inspct", "Own-child",
     "Black", "Male", 0, 0, 40, "United-States", "<=50K", "test"),
]
# fmt: on


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "adult.data").write_text(DATA)
    (tmp_path / "adult.test").write_text(TEST)
    return tmp_path


def load(sources, checksum=False):
    con = duckdb.connect()
    create_adult(con, read_adult([str(source) for source in sources], checksum))
    return con


def test_a_directory(folder):
    con = load([folder])
    assert con.execute("FROM adult").fetchall() == ROWS
    names = [name for name, *_ in con.execute("DESCRIBE adult").fetchall()]
    assert names[4:6] == ["education_num", "marital_status"]
    assert names[-1] == "split"


def test_files_in_any_order_and_alone(folder):
    train, test = folder / "adult.data", folder / "adult.test"
    assert load([test, train]).execute("FROM adult").fetchall() == ROWS
    assert load([test]).execute("FROM adult").fetchall() == ROWS[2:]
    train.rename(folder / "another name")
    assert load([folder / "another name"]).execute("FROM adult").fetchall() == ROWS[:2]


def test_windows_line_ends(folder):
    (folder / "adult.data").write_bytes(DATA.replace("\n", "\r\n").encode())
    (folder / "adult.test").write_bytes(TEST.replace("\n", "\r\n").encode())
    assert load([folder]).execute("FROM adult").fetchall() == ROWS


def test_an_archive(folder):
    with zipfile.ZipFile(folder / "adult.zip", "w") as archive:
        archive.write(folder / "adult.data", "adult/adult.data")
        archive.write(folder / "adult.test", "adult/adult.test")
        archive.writestr("adult/adult.names", "words")
    assert load([folder / "adult.zip"]).execute("FROM adult").fetchall() == ROWS


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture
def address(folder):
    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_an_address(address):
    assert load([address + "/"]).execute("FROM adult").fetchall() == ROWS
    assert load([address + "/adult.test"]).execute("FROM adult").fetchall() == ROWS[2:]
    with pytest.raises(
        AnonError, match=r"^data uci-adult: http.*/no\.data must be readable, got File not found"
    ):
        load([address + "/no.data"])


def test_a_wrong_sum_shows_both(folder):
    found = hashlib.sha256(DATA.encode()).hexdigest()
    with pytest.raises(AnonError) as error:
        load([folder], checksum=True)
    assert str(error.value) == (
        f"data uci-adult: {folder}/adult.data must have the sha256 of UCI's train file, "
        f"{SUMS['train']}, got {found}; --no-checksum accepts the file as it is"
    )


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("age,workclass\n", "line 1 of {} must have 15 fields, got 2"),
        (DATA.replace("50, ?", "old, ?"), "column age of {} must hold whole numbers, got text"),
        ("\n", "{} must hold rows of Adult"),
    ],
)
def test_a_file_that_is_not_adult(tmp_path, content, sentence):
    path = tmp_path / "adult.data"
    path.write_text(content)
    with pytest.raises(AnonError) as error:
        load([path])
    assert str(error.value) == "data uci-adult: " + sentence.format(path)


def test_a_source_that_is_not_there(tmp_path):
    for source in (tmp_path, tmp_path / "adult.data"):
        with pytest.raises(
            AnonError, match=r"^data uci-adult: the source must be a directory with"
        ):
            load([source])


def test_the_same_file_twice(folder):
    with pytest.raises(AnonError, match=r"needed once, got train twice$"):
        load([folder, folder / "adult.data"])


def test_an_archive_of_something_else(tmp_path):
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("readme", "words")
    with pytest.raises(AnonError, match=r"the archive must hold adult\.data or adult\.test"):
        load([tmp_path / "other.zip"])


def test_a_table_that_exists_stays(folder):
    con = load([folder])
    rows = read_adult([str(folder / "adult.test")], checksum=False)
    with pytest.raises(
        AnonError, match=r"must have no table adult, got one; --overwrite replaces it"
    ):
        create_adult(con, rows)
    assert con.execute("FROM adult").fetchall() == ROWS
    create_adult(con, rows, overwrite=True)
    assert con.execute("FROM adult").fetchall() == ROWS[2:]


def test_ucis_files_equal_the_shared_table(shared_data):
    con = load([shared_data / "raw"], checksum=True)
    whole = con.read_parquet(str(shared_data / "adult.parquet"))
    assert con.sql("FROM adult").columns == whole.columns
    assert con.sql("FROM adult").types == whole.types
    assert con.execute("FROM adult").fetchall() == whole.fetchall()
