"""Work of another library that cannot be divided runs aside, and a stop does not wait for it."""

import threading

import pytest

from anon_sql.core import stopping
from anon_sql.core.running import aside
from anon_sql.errors import AnonError

pytestmark = pytest.mark.quick


def test_what_is_done_aside_returns_or_raises():
    assert aside("f", lambda: 3) == 3
    with pytest.raises(ZeroDivisionError):
        aside("f", lambda: 1 // 0)


def test_a_stop_does_not_wait_for_what_is_done_aside():
    begun, goes_on, ended = threading.Event(), threading.Event(), threading.Event()

    def endless():
        begun.set()
        goes_on.wait(60)
        ended.set()

    def stop():
        begun.wait(60)
        stopping.request_all()

    threading.Thread(target=stop).start()
    with (
        stopping.call("database", 1),
        pytest.raises(AnonError, match="f: stopped on request; nothing was released"),
    ):
        aside("f", endless)
    assert not ended.is_set()
    goes_on.set()
    assert ended.wait(60)
    assert aside("f", lambda: 3) == 3
