"""Hold a thread where it calls a function, until the test lets it go on."""

from threading import Event
from types import ModuleType
from typing import Any

import pytest

from anon_sql.core import stopping

LONG = 60  # seconds that a test waits for what happens at once


class Seam:
    """The thread that comes first waits until the test has done something.

    stop: the token of the call that it works for.
    """

    def __init__(self) -> None:
        self.stop: stopping.Stop | None = None
        self._arrived, self._go = Event(), Event()

    @classmethod
    def at(cls, monkeypatch: pytest.MonkeyPatch, module: ModuleType, name: str) -> "Seam":
        """Return the seam before the first call of a function of a module."""
        seam, real = cls(), getattr(module, name)

        def held(*given: Any, **named: Any) -> Any:
            seam.pause()
            return real(*given, **named)

        monkeypatch.setattr(module, name, held)
        return seam

    def pause(self) -> None:
        """Wait for ``go``, unless a thread came before."""
        if not self._arrived.is_set():
            self.stop = stopping.current()
            self._arrived.set()
            assert self._go.wait(LONG)

    def arrived(self) -> None:
        """Wait until a thread has come."""
        assert self._arrived.wait(LONG)

    def go(self) -> None:
        """Let it go on."""
        self._go.set()
