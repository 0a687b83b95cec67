"""What the tests of the command line share."""

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def few_queries() -> Iterator[None]:
    """Let a report ask ten random queries of each selectivity: a hundred take most of its time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("anon_sql.apps.report.facts.QUERIES", 10)
        yield
