"""Two windows of a newcomer in one folder: a shell, and Python. What is typed there is answered."""

import os
import re
from pathlib import Path
from typing import NamedTuple

import pexpect

from tests.newcomer.conftest import Installed
from tests.page import OUT_OF_SIGHT

COLUMNS = 120
SHELL = re.compile(r"(\d+) newcomer\$ ")  # the exit code is part of the prompt
PYTHON = re.compile(r">>> |\.\.\. ")
PROGRESS = re.compile("[━▕]")  # bars of the package, and of DuckDB, where something takes long
LONGEST = 600  # seconds, of an installation or a build
OWN = {"PYTHONPATH", "VIRTUAL_ENV", "COLUMNS", "LINES", "NO_COLOR", "ANON_SQL_PLAIN_NUMBA"}


class Answer(NamedTuple):
    """What a command printed, without colours, and its exit code."""

    text: str
    code: int


class Windows:
    """A shell in a folder, and Python beside it once something is typed there."""

    def __init__(self, folder: Path, installed: Installed):
        found = f"{installed.wheels} {os.environ.get('PIP_FIND_LINKS', '')}"
        self.options = {
            "cwd": str(folder),
            "env": {
                **{name: value for name, value in os.environ.items() if name not in OWN},
                "PATH": f"{installed.environment / 'bin'}{os.pathsep}{os.environ['PATH']}",
                "HOME": str(folder.parent),
                "PIP_FIND_LINKS": found.strip(),
                "PIP_DISABLE_PIP_VERSION_CHECK": "1",
                "PS1": "$? newcomer$ ",
                "PYTHON_BASIC_REPL": "1",
                "TERM": "xterm-256color",
            },
            "encoding": "utf-8",
            "dimensions": (50, COLUMNS),
            "timeout": LONGEST,
        }
        self.folder = folder
        self.opened: list[pexpect.spawn] = []
        self.shell = self._open("bash", ["--norc", "--noprofile", "--noediting"])
        self.shell.expect(SHELL)
        self.python: pexpect.spawn | None = None

    def _open(self, program: str, arguments: list[str]) -> pexpect.spawn:
        self.opened.append(pexpect.spawn(program, arguments, **self.options))
        return self.opened[-1]

    def command(self, line: str) -> Answer:
        """Type a line into the shell."""
        self.shell.sendline(line)
        self.shell.expect(SHELL)
        return Answer(_seen(self.shell.before), int(self.shell.match[1]))

    def statements(self, lines: str) -> str:
        """Type lines into Python, and return what the last of them prints."""
        if self.python is None:
            self.python = self._open("python", ["-q"])
            self.python.expect(PYTHON)
        printed = ""
        for line in [*lines.splitlines(), *([""] if lines.splitlines()[-1][:1] == " " else [])]:
            self.python.sendline(line)
            self.python.expect(PYTHON)
            printed += _seen(self.python.before)
        return printed

    def query(self, sql: str) -> str:
        """Type SQL into Python, as the argument of ``con.sql``."""
        return self.statements(f'con.sql(r"""\n{sql.strip()}\n""")')

    def close(self) -> None:
        for window in self.opened:
            window.close(force=True)


def _seen(raw: str) -> str:
    """Return what stands below the line that was typed, without bars of progress."""
    below = OUT_OF_SIGHT.sub("", raw.replace("\r\n", "\n")).partition("\n")[2]
    return "".join(
        line.replace("\r", "")
        for line in below.splitlines(keepends=True)
        if not PROGRESS.search(line)
    )
