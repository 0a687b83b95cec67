"""Names say what they hold, and a kernel is described argument by argument."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

pytestmark = pytest.mark.quick

KERNELS = sorted((Path(__file__).parents[1] / "anon_sql" / "kernels").glob("*.py"))
ENTRY = re.compile(r"^([a-z_]\w*(?:, \w+)*): \S", re.MULTILINE)  # "low, high: float64[d], …"


def functions():
    for path in KERNELS:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef):
                yield path.stem, node


def is_kernel(function):
    called = [d.func if isinstance(d, ast.Call) else d for d in function.decorator_list]
    return any(isinstance(name, ast.Name) and name.id == "kernel" for name in called)


def arguments(function):
    given = function.args
    return [a.arg for a in [*given.posonlyargs, *given.args, *given.kwonlyargs]]


def described(function):
    entries = ENTRY.findall(ast.get_docstring(function) or "")
    return {name for entry in entries for name in entry.split(", ")}


def test_a_kernel_says_what_each_argument_is():
    kernels = [(file, function) for file, function in functions() if is_kernel(function)]
    assert len(kernels) > 300
    lacking = {
        f"{file}.{function.name}": sorted(set(arguments(function)) - described(function))
        for file, function in kernels
    }
    assert {name: names for name, names in lacking.items() if names} == {}


def test_a_kernel_describes_no_argument_that_it_does_not_take():
    surplus = {
        f"{file}.{function.name}": sorted(described(function) - set(arguments(function)))
        for file, function in functions()
        if is_kernel(function)
    }
    assert {n: names for n, names in surplus.items() if names} == {}


PACKAGE = Path(__file__).parents[1] / "anon_sql"
HOW_IT_CAME = {
    "found",
    "known",
    "given",
    "asked",
    "held",
    "own",
    "at",
    "said",
    "told",
    "mine",
    "theirs",
}
WITHOUT_UNIT = {"FEW", "MOST", "LEAST", "BLOCK", "SOME", "MANY"}
NO_NOUN = {"Said", "Asked", "Given", "Known", "Held"}
PUBLIC_NAMES = {  # columns and parameters of SQL functions, and keys of JSON
    ("audit/compared.py", "found"),
    ("attacks/attacks.py", "known"),
    ("attacks/criteria.py", "known"),
    ("apps/verdict/rules.py", "found"),
    ("apps/cli/earlier.py", "found"),
}
PACKAGES = (  # "." are the files that belong to no other
    *(".", "apps", "attacks", "audit", "core", "hosts", "kernels", "linked", "measures"),
    *("methods", "pipeline", "privacy", "queries", "regions", "risk", "series", "suggest"),
)


def bound_names(tree):
    """Yield each name that a module gives to a variable, parameter, field, function or class."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Store):
            yield node.id if isinstance(node, ast.Name) else node.attr
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name


def files_of(package):
    """Return the files of a package; "." are those that belong to no other."""
    return sorted(PACKAGE.glob("*.py") if package == "." else (PACKAGE / package).rglob("*.py"))


def meaningless_names(package):
    for path in files_of(package):
        name_of_file = path.relative_to(PACKAGE).as_posix()
        for name in bound_names(ast.parse(path.read_text(encoding="utf-8"))):
            plain = name.lstrip("_")
            if plain not in HOW_IT_CAME | WITHOUT_UNIT | NO_NOUN:
                continue
            if (name_of_file, name) not in PUBLIC_NAMES:
                yield f"{name_of_file}: {name}"


@pytest.mark.parametrize("package", PACKAGES)
def test_a_name_says_what_it_holds(package):
    assert list(meaningless_names(package)) == []


def test_every_package_is_counted():
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert folders <= {*PACKAGES}


@pytest.mark.parametrize("package", PACKAGES)
def test_a_function_of_a_module_has_a_name_of_its_own(package):
    """A reader meets ``read`` and ``of`` without the module that explains them."""
    for path in files_of(package):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef):
                assert node.name.lstrip("_") not in {"read", "of", "made"}, path


@pytest.mark.parametrize("package", [name for name in PACKAGES if name != "kernels"])
def test_a_tuple_of_three_or_more_has_named_fields(package):
    """What a function returns is read where its docstring is not: use a NamedTuple.

    A kernel returns a tuple of arrays, which its docstring describes: a name costs compile time.
    """
    for path in files_of(package):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.returns is not None:
                assert not any(map(is_long_tuple, ast.walk(node.returns))), (path, node.name)


def is_long_tuple(node):
    return (
        isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Name)
        and node.value.id == "tuple"
        and isinstance(node.slice, ast.Tuple)
        and len(node.slice.elts) > 2
    )


def test_a_class_shares_its_name_with_no_other():
    """A reader who meets ``Part`` must not have to ask which one."""
    files = defaultdict(set)
    for package in sorted({*PACKAGES} - {"kernels"}):
        for path in files_of(package):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ClassDef):
                    files[node.name.lstrip("_")].add(path.relative_to(PACKAGE).as_posix())
    assert {name: places for name, places in files.items() if len(places) > 1} == {}
