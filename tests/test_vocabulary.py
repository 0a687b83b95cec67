"""Kernels are described argument by argument, so that a reader needs no other file to call one."""

import ast
import re
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
