"""Kernel calls on a fixed number of threads, with progress on a terminal and Ctrl-C between them.

A kernel releases the GIL and its result depends on its arguments alone, so the order in
which threads take the jobs never shows in a release.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import nullcontext
from typing import Any

from anon_sql.interrupt import check
from anon_sql.progress import Progress


class Workers:
    """Runs jobs for one function call of the user.

    function: the name shown beside the progress bar; threads: at least 1. progress: a bar that
    goes on over many calls of ``map``, where the caller keeps one.
    """

    def __init__(self, function: str, threads: int = 1, progress: Progress | None = None):
        self.function = function
        self.threads = max(1, threads)
        self.progress = progress

    def map(
        self, call: Callable[..., Any], jobs: Sequence[tuple[Any, ...]], sizes: Sequence[int]
    ) -> list[Any]:
        """Results of ``call(*job)`` in the order of the jobs; ``sizes`` weigh the progress.

        Raises AnonError when the user has asked to stop.
        """
        kept = nullcontext(self.progress) if self.progress is not None else None
        with kept or Progress(self.function, sum(sizes)) as progress:
            if self.threads == 1 or len(jobs) == 1:
                results = []
                for job, size in zip(jobs, sizes, strict=True):
                    check(self.function)
                    results.append(call(*job))
                    progress.advance(size)
                return results
            with ThreadPoolExecutor(self.threads) as pool:
                futures = {pool.submit(call, *job): at for at, job in enumerate(jobs)}
                waiting = set(futures)
                try:
                    while waiting:
                        done, waiting = wait(waiting, timeout=0.2, return_when=FIRST_COMPLETED)
                        for future in done:
                            progress.advance(sizes[futures[future]])
                        check(self.function)
                except BaseException:
                    pool.shutdown(wait=True, cancel_futures=True)
                    raise
                return [future.result() for future in futures]

    def repeat(self, call: Callable[..., int], job: tuple[Any, ...], size: int) -> None:
        """Make the same call until it returns 0: how much is left of ``size``, the work in all.

        For work that must be done in one order, cut into calls that are short enough for Ctrl-C.
        Raises AnonError when the user has asked to stop.
        """
        with Progress(self.function, size) as progress:
            left = size
            while left > 0:
                check(self.function)
                before, left = left, int(call(*job))
                progress.advance(before - left)
