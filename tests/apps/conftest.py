"""Fixtures of the tests of what people call."""

import pytest


@pytest.fixture
def forked_readers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fork the processes that read statistics files, which saves each of them its imports."""
    from anon_sql.apps.formats import reader
    from tests.apps.forked_reader import SUBPROCESS

    monkeypatch.setattr(reader, "subprocess", SUBPROCESS)
