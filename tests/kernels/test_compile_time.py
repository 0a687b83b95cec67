"""The seconds that numba compiles are counted once, also while it still does."""

from types import SimpleNamespace

import numba
import pytest

from anon_sql.kernels import kernel
from anon_sql.kernels.kernel import compile_seconds, timer
from anon_sql.kernels.numba_internals import TELLS

pytestmark = pytest.mark.quick


def test_a_compilation_within_another_counts_once(monkeypatch):
    now = [5.0]
    monkeypatch.setattr(kernel, "time", SimpleNamespace(monotonic=lambda: now[0]))
    before = compile_seconds()

    def after(seconds):
        now[0] += seconds
        return compile_seconds() - before

    assert after(1.0) == 0.0
    timer.start()
    assert after(2.0) == 2.0
    timer.start()
    assert after(4.0) == 6.0
    timer.end()
    assert after(8.0) == 14.0
    timer.end()
    assert after(16.0) == 14.0


@pytest.mark.skipif(not TELLS, reason="numba does not tell when it compiles")
def test_numba_tells_when_it_compiles():
    before = compile_seconds()
    double = numba.njit(lambda x: 2 * x)
    assert double(2) == 4
    first = compile_seconds()
    assert first > before
    assert double(3) == 6
    assert compile_seconds() == first
