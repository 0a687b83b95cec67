"""Run kernels on a fixed number of threads, with a progress bar and a stop on Ctrl-C.

Kernels release the GIL, and their results depend only on their arguments, so a release does not
depend on the order in which threads run them.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import nullcontext
from typing import Any

from anon_sql.core.interrupt import check
from anon_sql.core.progress import Progress

FEW = 10_000  # total size of jobs below which starting threads takes longer than it saves


class Workers:
    """The threads of one call of a SQL function.

    function: its name, for the progress bar and errors. threads: number of threads. progress: a bar
    shared by several calls of ``map``; None for a new bar in each call.
    """

    def __init__(self, function: str, threads: int = 1, progress: Progress | None = None):
        self.function = function
        self.threads = max(1, threads)
        self.progress = progress

    def map(
        self, call: Callable[..., Any], jobs: Sequence[tuple[Any, ...]], sizes: Sequence[int]
    ) -> list[Any]:
        """Return ``call(*job)`` for every job, in the order of the jobs.

        sizes: the work of each job, for the progress bar. Raises AnonError after Ctrl-C.
        """
        kept = nullcontext(self.progress) if self.progress is not None else None
        with kept or Progress(self.function, sum(sizes)) as progress:
            if self.threads == 1 or len(jobs) == 1 or sum(sizes) < FEW:
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
        """Repeat ``call(*job)`` until it returns 0, the work that is left of ``size``.

        This is for sequential work, divided into calls short enough to react to Ctrl-C. Raises
        AnonError after Ctrl-C.
        """
        with Progress(self.function, size) as progress:
            left = size
            while left > 0:
                check(self.function)
                before, left = left, int(call(*job))
                progress.advance(before - left)
