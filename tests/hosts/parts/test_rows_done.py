"""A step of a release in parts shows a bar on a terminal, and a sentence now and then elsewhere."""

import time

import pytest

from anon_sql.core import stopping
from anon_sql.core.listening import Listener
from anon_sql.hosts.parts import running
from anon_sql.hosts.parts.running import RowsDone

pytestmark = pytest.mark.oldest


@pytest.mark.parametrize(("total", "found"), [(4, "1 of 4 parts"), (None, "25% of the rows")])
@pytest.mark.parametrize("terminal", [True, False])
def test_what_is_shown_of_a_step(monkeypatch, capsys, total, found, terminal):
    monkeypatch.setattr("sys.stderr.isatty", lambda: terminal)
    with RowsDone("release", "written", 40, total) as done:
        done.advance(0)
        done.started = done.shown_at = done.bar.started = time.monotonic() - 31
        done.advance(10)
        assert (done.bar.bar is not None) == terminal
        if terminal:
            task = done.bar.bar.tasks[0]
            assert (task.description, task.completed) == (f"release {found} written", 10)
            assert task.total == 40
        else:
            sentence = f"release: {found} written, about 93 s left\n"
            assert capsys.readouterr().err == sentence
            done.advance(0)
            done.advance(10)
            assert capsys.readouterr().err == ""


def test_whoever_listens_is_told_instead(monkeypatch, capsys):
    monkeypatch.setattr(running, "EVERY", -1.0)
    heard = []
    with stopping.call() as call:
        call.listener = Listener(heard.append)
        with RowsDone("release", "written", 40) as done:
            done.advance(10)
            done.advance(30)
    assert capsys.readouterr().err == ""
    assert ("release", 40) in [(step.function, step.done) for step in heard]
