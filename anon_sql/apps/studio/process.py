"""Start the engine, ask it one thing at a time, stop it, and start another where it has ended."""

import asyncio
import json
import os
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from anon_sql import system
from anon_sql.apps.studio.engine import STOPPED

PATIENCE = 3.0  # seconds that an engine has to stop before another takes its place
ENDED = "The engine has ended in the middle of its work. Your choices are kept; try again."
_LINE = 1 << 26  # bytes of the longest answer
_PACKAGE = Path(__file__).resolve().parents[3]


class Refused(Exception):
    """A call without an answer. stopped: by request. control: the id of the control it is about."""

    def __init__(self, text: str, *, stopped: bool = False, control: str = ""):
        super().__init__(text)
        self.stopped, self.control = stopped, control


class EngineProcess:
    """The engine of one source. source, folder: what its process takes."""

    def __init__(self, source: Mapping[str, Any], folder: Path):
        self._source, self._folder = dict(source), str(folder)
        self._process: asyncio.subprocess.Process | None = None
        self._reader: asyncio.Task[None] | None = None
        self._turn = asyncio.Lock()
        self._last = 0
        self._running: tuple[int, str, asyncio.Future[Any]] | None = None
        self._since = 0.0  # when the call that runs has begun
        self.step: dict[str, Any] = {}
        self.pid: int | None = None

    async def call(self, name: str, **arguments: Any) -> Any:
        """Return the answer to a call, which stops the one before. Raises Refused without one."""
        self._last += 1
        number = self._last
        if self._running is not None:
            await self.stop(self._running[0])
        async with self._turn:
            if number != self._last:
                raise Refused(STOPPED, stopped=True)
            await self._start()
            answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
            self._running, self.step = (number, name, answer), {}
            self._since = time.monotonic()
            try:
                await self._send({"id": number, "call": name, "with": arguments})
                return await answer
            finally:
                self._running = None

    @property
    def running(self) -> dict[str, Any] | None:
        """Return the number, name and seconds of the call that runs, and its last step."""
        if self._running is None:
            return None
        number, name, _ = self._running
        seconds = int(time.monotonic() - self._since)
        return {"number": number, "call": name, "seconds": seconds, **self.step}

    async def stop(self, number: int) -> None:
        """Stop a call, by its number; an engine that does not answer in time is ended."""
        if self._running is None or self._running[0] != number:
            return
        answer = self._running[2]
        with suppress(OSError):
            await self._send({"stop": number})
        done, _ = await asyncio.wait([answer], timeout=PATIENCE)
        if not done:
            if not answer.done():
                answer.set_exception(Refused(STOPPED, stopped=True))
            await self.end()

    async def read_as(self, dialect: Mapping[str, Any]) -> None:
        """Let a new process read the source, a CSV file or a workbook, in another way."""
        if self._running is not None:
            await self.stop(self._running[0])
        async with self._turn:
            await self.end()
            self._source["dialect"] = dict(dialect)

    async def end(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is None:
            return
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()

    async def _start(self) -> None:
        if self._process is not None and self._process.returncode is None:
            return
        inherited = os.environ.get("PYTHONPATH")
        paths = os.pathsep.join([str(_PACKAGE), *([inherited] if inherited else [])])
        self._process = await asyncio.create_subprocess_exec(
            *(
                sys.executable,
                "-P",
                "-m",
                "anon_sql.apps.studio.engine",
                *(json.dumps(self._source), self._folder),
            ),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": paths},
            **system.APART,
            limit=_LINE,
        )
        self.pid = self._process.pid
        self._reader = asyncio.create_task(self._read(self._process))

    async def _send(self, message: Mapping[str, Any]) -> None:
        if self._process is None or self._process.stdin is None:
            return
        self._process.stdin.write((json.dumps(message) + "\n").encode())
        with suppress(ConnectionError):
            await self._process.stdin.drain()

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        while line := await process.stdout.readline():
            message = json.loads(line)
            if self._running is None or message["id"] != self._running[0]:
                continue
            answer = self._running[2]
            if "step" in message:
                self.step = message["step"]
            elif not answer.done() and "error" in message:
                stopped, control = bool(message.get("stopped")), message.get("control", "")
                answer.set_exception(Refused(message["error"], stopped=stopped, control=control))
            elif not answer.done():
                answer.set_result(message["result"])
        await process.wait()
        if process is self._process:
            self._process = None
            if self._running is not None and not self._running[2].done():
                self._running[2].set_exception(Refused(ENDED))
