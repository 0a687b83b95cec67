"""Each part of numba that is not promised does what is relied on, and none of them is needed."""

import json
import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from numba import njit, types
from numba.core.errors import NumbaError

from anon_sql.kernels import numba_internals

ROOT = Path(__file__).resolve().parents[2]
HOME = ROOT / "anon_sql" / "kernels" / "numba_internals.py"
PARTS = ["NO_WRAPPER", "BORROWS", "INLINES", "WIDENS", "TELLS", "LOCKS", "FINDS"]
private = pytest.mark.skipif(numba_internals.PLAIN, reason="tests what the plain ways do without")


@pytest.mark.quick
@private
@pytest.mark.parametrize("part", PARTS)
def test_the_part_is_as_this_version_of_numba_has_it(part):
    assert getattr(numba_internals, part), f"numba has changed what {part} stands for"


def one_more(x):
    return x + 1


@pytest.mark.quick
@private
def test_no_wrapper_for_callbacks_is_compiled():
    with_one, without = njit(one_more), njit(one_more, **numba_internals.OPTIONS)
    assert with_one(1) == without(1) == 2
    (text,) = with_one.inspect_llvm().values()
    assert "define i64 @cfunc." in text
    (text,) = without.inspect_llvm().values()
    assert "cfunc." not in text


def greatest(pair):
    own = pair[0]
    for row in range(len(pair[1])):
        if pair[1][row] > own[0]:
            own = pair[1][row:]
        elif own[0] > 3:
            own = pair[0][row:]
    return own[0]


def a_new_array(x):
    return np.zeros(int(x)).size


@pytest.mark.quick
@private
def test_a_kernel_that_borrows_counts_no_references_and_makes_no_array():
    counting, borrowing = njit(greatest), njit(greatest, **numba_internals.BORROWED)
    pair = np.array([1.0, 0.0, 0.0]), np.array([0.0, 2.0, 1.0])
    assert borrowing(pair) == counting(pair) == 2.0
    (text,) = counting.inspect_llvm().values()
    assert "NRT_" in text
    (text,) = borrowing.inspect_llvm().values()
    assert "NRT_" not in text
    assert njit(a_new_array)(3) == 3
    with pytest.raises(NumbaError):
        njit(a_new_array, **numba_internals.BORROWED)(3)


@pytest.mark.quick
@private
def test_a_kernel_that_borrows_calls_only_such_kernels():
    """What it calls inherits the option where it is compiled first, and else may make arrays."""
    known = [
        made
        for path in sorted(HOME.parent.glob("*.py"))
        for made in vars(import_module(f"anon_sql.kernels.{path.stem}")).values()
        if hasattr(made, "py_func")
    ]
    borrowing = {made for made in known if made.targetoptions.get("_nrt") is False}
    assert len(borrowing) > 30
    for made in borrowing:
        within = made.py_func.__globals__
        called = {within.get(name) for name in made.py_func.__code__.co_names}
        others = [each for each in called if hasattr(each, "py_func") and each not in borrowing]
        assert not others, made.py_func.__qualname__


def many_divisions(x):
    total = 0.0
    for part in range(1, 9):
        for other in range(1, 9):
            total += np.cos(x / part) * np.sin(x / other) + np.exp(x / (part + other))
    return total


def calls_left(inlined):
    inner = njit(many_divisions, **numba_internals.inlines(inlined))
    outer = njit(lambda x: inner(x) + inner(x + 1))
    assert outer(2.0) == many_divisions(2.0) + many_divisions(3.0)
    (text,) = outer.inspect_llvm().values()
    return re.findall(r"call \w+ @\w*many_divisions", text)


@pytest.mark.quick
@private
def test_a_kernel_that_is_inlined_is_not_called():
    assert not calls_left(inlined=True)
    assert len(calls_left(inlined=False)) == 2


@pytest.mark.quick
@private
def test_a_widened_kernel_is_compiled_once_for_all_whole_numbers():
    narrow, wide = njit(one_more), numba_internals.widen(njit(one_more))

    @njit
    def calls_both(small, fraction):
        whole = narrow(small) + narrow(1) + narrow(x=2) + wide(small) + wide(1) + wide(x=2)
        return whole + wide(fraction)

    assert calls_both(np.int8(3), 0.5) == 2 * (4 + 2 + 3) + 1.5
    assert set(wide.signatures) == {(types.int64,), (types.float64,)}
    assert len(narrow.signatures) > 1


@pytest.mark.quick
@private
def test_numba_tells_of_a_compilation_within_another():
    heard = []
    numba_internals.on_compile(
        lambda: heard.append("start"), lambda function, kinds: heard.append((function, kinds))
    )
    inner = njit(one_more)
    outer = njit(lambda x: inner(x) + 1)
    assert outer(1) == 3
    assert heard == [
        *("start", "start"),
        (one_more, "(int64,)"),
        (outer.py_func, "(int64,)"),
    ]
    del heard[:]
    assert outer(2) == 4
    assert not heard


KERNELS = """
from numba import njit

@njit(cache=True)
def inner(x):
    return x + 1

@njit(cache=True)
def outer(x):
    return inner(x) + 1
"""


def run(folder, code, **environment):
    """Run a script of its own, beside the module ``made``, and return the JSON that it prints."""
    (folder / "made.py").write_text(KERNELS)
    (folder / "script.py").write_text(code)
    done = subprocess.run(
        [sys.executable, folder / "script.py"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@private
def test_each_compilation_is_under_the_lock_that_is_given(tmp_path):
    code = """
import json
from contextlib import contextmanager
from made import outer
from anon_sql.kernels.numba_internals import compile_under

heard = []

@contextmanager
def locked(function, kinds):
    assert [str(kind) for kind in kinds] == ["int64"]
    name = f"{function.__module__}.{function.__qualname__}"
    heard.append("+" + name)
    yield
    heard.append("-" + name)

compile_under(locked)
assert outer(1) == 3
print(json.dumps(heard))
"""
    cold = run(tmp_path, code, NUMBA_CACHE_DIR=str(tmp_path))
    assert set(cold[1:-1]) == {"+made.inner", "-made.inner"}
    assert [cold[0], cold[-1]] == ["+made.outer", "-made.outer"]
    from_disk = run(tmp_path, code, NUMBA_CACHE_DIR=str(tmp_path))
    assert from_disk == ["+made.outer", "-made.outer"]


@private
def test_numba_writes_where_it_says(tmp_path):
    code = """
import json
from made import inner
from anon_sql.kernels.numba_internals import files_of, folder_of, index_of

folder, index = folder_of(inner), index_of(inner)
before = index.exists()
inner(1)
files = sorted(path.suffix for path in files_of(folder, "made"))
print(json.dumps([str(folder), str(index.parent), before, index.exists(), files]))
"""
    folder, parent, before, after, files = run(tmp_path, code, NUMBA_CACHE_DIR=str(tmp_path))
    assert Path(folder).is_relative_to(tmp_path)
    assert (parent, before, after, files) == (folder, False, True, [".nbc", ".nbi"])


ABSENT = {  # by part: what has it, and its name
    "NO_WRAPPER": (
        "next(kind for kind in cpu_target.options.__mro__ if name in vars(kind))",
        "no_cfunc_wrapper",
    ),
    "BORROWS": (
        "next(kind for kind in cpu_target.options.__mro__ if name in vars(kind))",
        "_nrt",
    ),
    "INLINES": (
        "next(kind for kind in cpu_target.options.__mro__ if name in vars(kind))",
        "forceinline",
    ),
    "WIDENS": ("types", "signed_domain"),
    "TELLS": ("event", "Listener"),
    "LOCKS": ("compiler_lock", "global_compiler_lock"),
    "FINDS": ("dispatcher.Dispatcher", "stats"),
}
WITHOUT = """
from numba.core import compiler_lock, dispatcher, event, types
from numba.core.registry import cpu_target

name = "{1}"
owner = {0}
found = getattr(owner, name)
delattr(owner, name)
from anon_sql.kernels import numba_internals
setattr(owner, name, found)  # numba itself has it, by whatever name
"""
PEOPLE = "CREATE TABLE people AS SELECT i % 50 AS age, i // 7 % 4 AS city FROM range(300) AS t(i)"
CALL = "FROM anonymize('people', k := 5, quasi := ['age', 'city'])"
RELEASE = f"""
import json
import anon_sql
from anon_sql.kernels import numba_internals, parallel
from anon_sql.kernels.kernel import kernel

@kernel(widened=True)
def double(x):
    return 2 * x

@kernel
def four_times(x):
    return double(x) + double(2) * x

assert four_times(3) == 18
con = anon_sql.connect()
con.execute("SET threads = 1")
con.execute({PEOPLE!r})
rows = con.execute({CALL!r}).fetchall()
parts = [part for part in {PARTS} if not getattr(numba_internals, part)]
print(json.dumps([parts, parallel.processes(), rows]))
"""


@pytest.fixture
def released(con):
    """The release where nothing is absent."""
    con.execute(PEOPLE)
    rows = [list(row) for row in con.execute(CALL).fetchall()]
    assert len(rows) == 300
    return rows


@pytest.mark.long
@private
@pytest.mark.parametrize("part", PARTS)
def test_a_release_is_the_same_without_the_part(tmp_path, released, part):
    found = run(tmp_path, WITHOUT.format(*ABSENT[part]) + RELEASE)
    assert found == [[part], 1 if part == "LOCKS" else 2, released]


@pytest.mark.long
def test_a_release_is_the_same_in_all_plain_ways(tmp_path, released):
    assert run(tmp_path, RELEASE, ANON_SQL_PLAIN_NUMBA="1") == [PARTS, 1, released]


@pytest.mark.long
def test_kernels_are_compiled_in_one_process_and_nothing_is_recorded(tmp_path):
    """A call that takes no kernels: what it takes is in other tests."""
    code = """
import json
from anon_sql.apps.cli.compile import compile_calls, missing

if __name__ == "__main__":
    calls = ["SELECT 1"]
    done = [call for call, _ in compile_calls(calls, "SELECT 2")]
    print(json.dumps([done, missing(calls)]))
"""
    folder = str(tmp_path / "kernels")
    plain = run(tmp_path, code, ANON_SQL_PLAIN_NUMBA="1", NUMBA_CACHE_DIR=folder)
    assert plain == [["SELECT 1"], ["SELECT 1"]]
    shared = run(tmp_path, code, ANON_SQL_PLAIN_NUMBA="0", NUMBA_CACHE_DIR=folder)
    assert shared == [["SELECT 1"], []]


PRIVATE = re.compile(r"^ *(?:from|import) numba\.", re.MULTILINE)


@pytest.mark.quick
def test_one_file_knows_what_numba_does_not_promise():
    assert PRIVATE.search(HOME.read_text(encoding="utf-8"))
    words = (
        "no_cfunc_wrapper",
        "_nrt",
        "get_call_template",
        ".cache_path",
        ".nbi",
        "nb[ic]",
        "._cache",
    )
    for folder in ("anon_sql", "benchmarks", "tests"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            if path not in (HOME, Path(__file__)):
                text = path.read_text(encoding="utf-8")
                assert not PRIVATE.search(text), path
                assert folder == "tests" or not [word for word in words if word in text], path
