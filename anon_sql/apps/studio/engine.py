"""The engine of the studio: a process that holds the tables and answers one call at a time.

It reads a call from each line of stdin and writes steps and answers as lines of stdout, in JSON.
It ends, and removes its folder, when stdin closes: also when the server was killed.
"""

import json
import os
import queue
import shutil
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

import duckdb

import anon_sql
from anon_sql.apps.studio.bench import Bench
from anon_sql.apps.studio.spelling import sentence
from anon_sql.core import stopping
from anon_sql.core.listening import Step
from anon_sql.core.stopping import Stop

STOPPED = "Stopped. Nothing was released."
CALLS = frozenset(
    "table roles risk tree first preview attacks compare check remedies question rows pairs".split()
) | {"save", "sign"}
LOOKS = frozenset({"detected", "lines", "sheets"})  # calls that need no table


class Engine:
    """One bench, one thread that works on it, and one that reads what is asked."""

    def __init__(self, bench: Bench, out: TextIO):
        self.bench, self._out = bench, out
        self._calls: queue.SimpleQueue[Mapping[str, Any]] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._running: tuple[int, Stop | None] | None = None
        self._stopped: set[int] = set()

    def read(self, lines: TextIO) -> None:
        """Take calls, and stops of calls by their number, until the input ends."""
        for line in lines:
            message = json.loads(line)
            if "stop" in message:
                self._stop(message["stop"])
            else:
                self._calls.put(message)

    def _stop(self, number: int) -> None:
        with self._lock:
            self._stopped.add(number)
            stop = self._running[1] if self._running and self._running[0] == number else None
            if stop is not None:
                stop.request()
                with suppress(duckdb.Error):
                    anon_sql.interrupt(self.bench.con)

    def work(self) -> None:
        """Answer one call after another."""
        while True:
            call = self._calls.get()
            self._say(call["id"], self._answer(call["id"], call["call"], call["with"]))

    def _answer(self, number: int, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        if name not in CALLS | LOOKS:
            return {"error": f"studio: there is no call {name}"}
        try:
            with anon_sql.listen(lambda step: self._tell(number, step), self.bench.con):
                with self._lock:
                    self._running = number, stopping.current()
                    early = number in self._stopped
                if early:
                    return {"error": STOPPED, "stopped": True}
                if name in CALLS:
                    self.bench.ready()
                return {"result": getattr(self.bench, name)(**arguments)}
        except (duckdb.Error, OSError, ValueError, RuntimeError) as error:
            if number in self._stopped:
                return {"error": STOPPED, "stopped": True}
            text, control = sentence(error)
            return {"error": text, "control": control}
        finally:
            with self._lock:
                self._running = None
                self._stopped.discard(number)

    def _tell(self, number: int, step: Step) -> None:
        progress = {"of": step.function, "done": step.done, "total": step.total, "note": step.note}
        self._say(number, {"step": progress})

    def _say(self, number: int, answer: Mapping[str, Any]) -> None:
        with self._lock:
            self._out.write(json.dumps({"id": number, **answer}) + "\n")
            self._out.flush()


def main(source: str, folder: str) -> None:
    """Answer until stdin closes. source: what ``Bench`` takes, as JSON; folder: for its files."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever prints does not speak for the engine
    engine = Engine(Bench(json.loads(source), Path(folder)), out)
    threading.Thread(target=engine.work, daemon=True).start()
    with suppress(KeyboardInterrupt):
        engine.read(sys.stdin)
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(0)  # a call that still runs is of no use to anybody


if __name__ == "__main__":
    main(*sys.argv[1:])
