"""Release all regions side by side, the largest first."""

from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

from anon_sql.core import interrupt
from anon_sql.core.progress import silent
from anon_sql.hosts.parts.rows_done import RowsDone

POLL = 0.2  # seconds between two looks at Ctrl-C


def side_by_side(
    function: str,
    release: Callable[[int, int], int],
    rows: Mapping[int, int],
    threads: int,
    done: RowsDone,
) -> int:
    """Call ``release(number, rows)`` for every region and return the sum of the results.

    rows: of each region by number. An error or Ctrl-C stops the regions that are running.
    """
    largest = sorted(rows, key=lambda number: (-rows[number], number))

    def quietly(number: int) -> int:
        with silent():
            return release(number, rows[number])

    total = 0
    with ThreadPoolExecutor(threads) as pool:
        running = {pool.submit(quietly, number): number for number in largest}
        waiting = set(running)
        try:
            while waiting:
                ended, waiting = wait(waiting, timeout=POLL, return_when=FIRST_COMPLETED)
                for future in ended:
                    total += future.result()
                    done.advance(rows[running[future]])
                done.advance(0)
                interrupt.check(function)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            left = [future for future in waiting if not future.cancelled()]
            while wait(left, timeout=POLL).not_done:
                interrupt.ask()  # a region that begins forgets an earlier request
            interrupt.begin()
            raise
    return total
