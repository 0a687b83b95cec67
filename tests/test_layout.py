"""The house: one name for a .sql file, its macro, its Python file and its test."""

import re
from pathlib import Path

import pytest

from anon_sql.macros import sql_files

ROOT = Path(__file__).resolve().parents[1]
PUBLIC = [file for file in sql_files() if file.public]


@pytest.mark.parametrize("file", PUBLIC, ids=lambda file: file.name)
def test_a_public_file_makes_the_macro_of_its_name_and_has_a_test(file):
    assert file.macros == (file.name,)
    assert (ROOT / "tests" / file.folder / f"test_{file.name}.py").is_file()


@pytest.mark.parametrize("file", PUBLIC, ids=lambda file: file.name)
def test_a_public_file_is_documented(file):
    for part in ("Returns: ", "Errors: ", "Example: "):
        assert f"\n{part}" in file.header
    assert file.header.split("\n\n")[0].endswith(".")


def test_a_release_has_a_method_of_its_name():
    for file in sql_files():
        if file.folder == "release":
            assert (ROOT / "anon_sql" / "methods" / f"{file.name}.py").is_file()


@pytest.mark.parametrize("file", sql_files(), ids=lambda file: file.name)
def test_names_that_macros_make_up_begin_with_the_prefix(file):
    """A CTE of another name would shadow a table of the user's, in silence."""
    body = re.sub(r"--[^\n]*", "", file.text)
    for name in re.findall(r"(\w+) AS (?:MATERIALIZED )?\(\s*(?:SELECT|FROM|\()", body):
        assert name.startswith("__anon_"), name


def test_no_two_files_make_a_macro_of_one_name():
    names = [name for file in sql_files() for name in file.macros]
    assert sorted(set(names)) == sorted(names)


def test_files_are_short():
    for path in [*ROOT.glob("anon_sql/**/*.py"), *ROOT.glob("sql/**/*.sql")]:
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 300, path


def test_no_file_that_anything_fits_into():
    for name in ("utils", "helpers", "common", "misc"):
        assert not list(ROOT.glob(f"anon_sql/**/{name}.py"))
