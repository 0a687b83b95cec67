"""Let Ctrl-C stop the work on a connection, and nothing else."""

import signal
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

import duckdb

from anon_sql.core import interrupt

POLL = 0.2  # seconds between two requests to stop: a query that begins forgets an earlier one


def stoppable(con: duckdb.DuckDBPyConnection, work: Callable[[], None]) -> None:
    """Do some work on a connection. Raise KeyboardInterrupt if Ctrl-C has stopped it.

    The work runs in a thread of its own and the main thread only waits: DuckDB looks at signals in
    some of its calls only, and an exception that a signal raises inside a Python function that
    DuckDB calls can leave locks behind.
    """
    main = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGINT)
    if not main or not callable(before):  # no signal reaches this thread
        work()
        return
    asked = False

    def ask(number: int, frame: Any) -> None:
        nonlocal asked
        asked = True

    interrupt.begin()
    signal.signal(signal.SIGINT, ask)
    try:
        with ThreadPoolExecutor(1) as pool:
            doing = pool.submit(work)
            while wait([doing], POLL).not_done:
                if asked:
                    interrupt.ask()
                    con.interrupt()
    finally:
        signal.signal(signal.SIGINT, before)
    if asked and doing.exception() is not None:
        raise KeyboardInterrupt from None
    doing.result()
