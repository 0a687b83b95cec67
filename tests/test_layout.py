"""One name for a .sql file, its macro and its test; a file is one subject, in its layer."""

import ast
import inspect
import re
from collections import Counter
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType

import pytest

from anon_sql import kernels
from anon_sql.hosts.duckdb import register  # noqa: F401 - imports all functions
from anon_sql.hosts.duckdb.registry import udf, udfs
from anon_sql.hosts.duckdb.sql_files import sql_files
from anon_sql.methods.method import release_methods

pytestmark = pytest.mark.quick

ROOT = Path(__file__).resolve().parents[1]
PUBLIC = [file for file in sql_files() if file.public]
MODULES = sorted(ROOT.glob("anon_sql/**/*.py"))


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
            assert release_methods()[file.name].what


@pytest.mark.parametrize("file", sql_files(), ids=lambda file: file.name)
def test_names_that_macros_make_up_begin_with_the_prefix(file):
    """A CTE of another name would shadow a table of the user's, in silence."""
    body = re.sub(r"--[^\n]*", "", file.text)
    for name in re.findall(r"(\w+) AS (?:MATERIALIZED )?\(\s*(?:SELECT|FROM|\()", body):
        assert name.startswith("__anon_"), name


def test_no_two_files_make_a_macro_of_one_name():
    names = [name for file in sql_files() for name in file.macros]
    assert sorted(set(names)) == sorted(names)


def test_the_name_of_a_python_function_in_sql_tells_its_file():
    for function in udfs():
        file = Path(inspect.getfile(inspect.unwrap(function.call))).stem
        assert function.name == f"__anon_{file}_{function.call.__name__}"


def test_two_files_of_one_name_may_not_register_one_function():
    function = inspect.unwrap(udfs()[0].call)
    twin = FunctionType(function.__code__, {"__name__": f"other.{function.__module__}"})
    with pytest.raises(ValueError, match=f"two functions are called {udfs()[0].name}"):
        udf("VARCHAR")(twin)


def test_a_helper_that_sql_calls_is_a_macro_or_a_python_function_and_never_both():
    functions = {function.name for function in udfs()}
    names = {name for file in sql_files() for name in file.macros}
    macros = {"__anon_db", "__anon_registered", *names}
    texts = [file.text for file in sql_files()] + [path.read_text("utf-8") for path in MODULES]
    called = set(re.findall(r"\b(__anon_\w+)\(", "\n".join(texts)))
    assert functions & macros == set()
    assert called - macros == functions


def test_tests_have_names_of_their_own():
    """But a kernel's test may be called as that of the SQL function."""
    kernels = ROOT / "tests" / "kernels"
    names = Counter(
        path.stem for path in ROOT.glob("tests/**/test_*.py") if kernels not in path.parents
    )
    assert {name for name, count in names.items() if count > 1} == set()


def test_every_package_says_what_it_is_for():
    for path in ROOT.glob("anon_sql/**/__init__.py"):
        assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))), path


def test_files_are_short():
    for path in [*MODULES, *ROOT.glob("sql/**/*.sql"), *ROOT.glob("tests/**/*.py")]:
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 500, path


def test_a_kernel_is_reached_through_its_package_which_imports_it_when_it_is_used():
    for path in MODULES:
        if "kernels" not in path.parts:
            assert "anon_sql.kernels" not in path.read_text(encoding="utf-8"), path
    assert kernels.hashing.group is import_module("anon_sql.kernels.hashing").group
    assert not hasattr(kernels, "nothing")


def test_no_file_that_anything_fits_into():
    for name in ("utils", "helpers", "common", "misc"):
        assert not list(ROOT.glob(f"anon_sql/**/{name}.py"))


@pytest.mark.parametrize("path", sorted(ROOT.glob("benchmarks/*.py")), ids=lambda path: path.stem)
def test_what_a_benchmark_imports_of_the_package_is_there(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("anon_sql"):
            module = import_module(node.module)
            for alias in node.names:
                assert hasattr(module, alias.name) or find_spec(f"{node.module}.{alias.name}"), (
                    f"{node.module} has no {alias.name}"
                )
