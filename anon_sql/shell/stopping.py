"""Ctrl-C stops a statement and nothing else."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import duckdb


def stoppable(con: duckdb.DuckDBPyConnection, work: Callable[[], None]) -> None:
    """Do some work on a connection. Raises KeyboardInterrupt where Ctrl-C has stopped it.

    It is done in a thread, since DuckDB looks at signals in some of its calls only.
    """
    asked = False
    with ThreadPoolExecutor(1) as pool:
        doing = pool.submit(work)
        while True:
            try:
                doing.result()
            except KeyboardInterrupt:
                asked = True
                con.interrupt()
            except Exception:
                if asked:
                    raise KeyboardInterrupt from None
                raise
            else:
                return
