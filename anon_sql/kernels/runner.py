"""What a kernel's wrapper asks of the threads that run it."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol


class Runner(Protocol):
    """Runs jobs of one kernel; ``core.workers.Workers`` does, with progress and Ctrl-C."""

    @property
    def threads(self) -> int:
        """How many jobs run at once, at least 1."""

    def map(
        self, call: Callable[..., Any], jobs: Sequence[tuple[Any, ...]], sizes: Sequence[int], /
    ) -> list[Any]:
        """Return the results of ``call(*job)`` in the order of the jobs; sizes weigh progress."""

    def repeat(self, call: Callable[..., int], job: tuple[Any, ...], size: int, /) -> None:
        """Call until 0 is returned: what is left of the size."""
