"""Processes that read statistics files, forked from one that has imported what they need."""

import multiprocessing
import os
import subprocess
from multiprocessing.connection import Connection
from pathlib import Path
from types import SimpleNamespace

from anon_sql.apps.formats import reader, reading_process

PROGRAM = Path(reading_process.__file__)
if hasattr(os, "fork"):
    forking = multiprocessing.get_context("forkserver")
    forking.set_forkserver_preload(["pyarrow", "pyreadstat", "pytest", __name__])


class Forked:
    """What ``reader`` uses of ``subprocess.Popen``."""

    def __init__(self) -> None:
        request, stdin = forking.Pipe(duplex=False)
        stdout, answer = forking.Pipe(duplex=False)
        self._process = forking.Process(target=_answered, args=(request, answer), daemon=True)
        self._process.start()
        self.stdin, self.stdout = _file(stdin, "wb"), _file(stdout, "rb")
        for end in (request, stdin, stdout, answer):
            end.close()

    def __enter__(self) -> "Forked":
        return self

    def __exit__(self, *raised: object) -> None:
        self.stdin.close()
        self.stdout.close()
        self.wait()

    def wait(self) -> int | None:
        self._process.join()
        return self._process.exitcode

    def kill(self) -> None:
        self._process.kill()


def start(command: list[str], **streams: object) -> "Forked | subprocess.Popen[bytes]":
    """Start the program that reads files, or another one that a test has put in its place."""
    is_reader = hasattr(os, "fork") and Path(command[-1]) == PROGRAM
    return Forked() if is_reader else subprocess.Popen(command, **streams)


SUBPROCESS = SimpleNamespace(PIPE=subprocess.PIPE, DEVNULL=subprocess.DEVNULL, Popen=start)
assert reader.subprocess is subprocess  # which a fixture replaces


def _answered(request: Connection, answer: Connection) -> None:
    for standard, descriptor in enumerate((request.fileno(), answer.fileno())):
        os.dup2(descriptor, standard)
    request.close()
    answer.close()
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    with open(0, "rb", buffering=0, closefd=False) as stdin:
        reading_process.sys.stdin = SimpleNamespace(buffer=stdin)
        reading_process.main()


def _file(end: Connection, mode: str):
    return os.fdopen(os.dup(end.fileno()), mode)
