"""Run the blocks of a page where they stand: ``python -m tests.page PAGE``, in an empty folder.

The blocks share this process. A ```python block defines ``con``, on which the ```sql blocks run. A
first line ``-- Error: <text>`` says that a block must fail with that text; ``-- DuckDB 1: <text>``
after it, what that version says. In a ```console block, the lines that call ``anon-sql`` are run; a
line that ends in a backslash continues. What a ```text block shows right after a block must be what
the block prints: the last statement's rows, the output of Python, or of the last command; after a
first line ``…``, the last lines of that. A block after "Save as `file`:" is written to that file, and
in a page with such blocks all lines of ```console blocks are run but those that install. No other
block is run. The first difference ends the run.
"""

import contextlib
import io
import itertools
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MUST_FAIL = re.compile(r"-- Error: (.+)\n(?:-- DuckDB 1: (.+)\n)?")
SAVED = re.compile(r"Save as\s+`([\w./]+)`:\s*\Z")
OUT_OF_SIGHT = re.compile(  # dbt's times, and colours
    r"^(?:\x1b\[0m)?\d\d:\d\d:\d\d +|\x1b\[[0-9;?]*[A-Za-z]", re.MULTILINE
)
PROGRAM = [sys.executable, "-m", "anon_sql.apps.cli.app"]


class Different(Exception):
    """A block that does not do what its page says; the message shows both."""


class Block(NamedTuple):
    """A block of a page, what the page shows that it prints, and the file that it is saved as."""

    kind: str
    content: str
    shown: str | None
    file: str | None


def blocks(text: str) -> list[Block]:
    """Return the blocks of a page."""
    found = []
    matches = [*BLOCK.finditer(text), None]
    for match, after in itertools.pairwise(matches):
        assert match is not None
        adjacent = after is not None and text[match.end() : after.start()].strip() == ""
        shown = after[2] if adjacent and after is not None and after[1] == "text" else None
        saved = SAVED.search(text, 0, match.start())
        found.append(Block(match[1], match[2], shown, saved and saved[1]))
    return found


def commands(block: str) -> list[str]:
    """Return the lines of a block for a terminal, without a prompt, comments and what goes on."""
    given = block.replace("\\\n", " ").splitlines()
    return [line.partition("$ ")[2] or line for line in given if line.strip()]


def printed(box: str) -> list[list[str]]:
    """Return the header and rows of a table as DuckDB prints it."""
    lines = [
        [cell.strip() for cell in line[1:-1].split("│")]
        for line in box.splitlines()[1:]
        if line.startswith("│")
    ]
    return [lines[0], *lines[2:]] if lines else []


def answered(con: Any, sql: str) -> list[list[str]]:
    """Run statements; return the header and rows of the last with values as DuckDB writes them."""
    import duckdb

    *before, last = duckdb.extract_statements(sql)
    for statement in before:
        con.execute(statement.query).fetchall()
    if last.type not in (duckdb.StatementType.SELECT,):
        con.execute(last.query).fetchall()
        return []
    query = last.query.rstrip().removesuffix(";")
    result = con.execute(f"SELECT COLUMNS(*)::VARCHAR AS '\\0' FROM ({query}\n)")
    header = [column[0] for column in result.description]
    return [
        header,
        *(["NULL" if v is None else v.strip() for v in row] for row in result.fetchall()),
    ]


def run_sql(con: Any, block: str, shown: str | None) -> None:
    """Run a block of SQL. Raises Different."""
    import duckdb

    expected = MUST_FAIL.match(block)
    if expected:
        first = duckdb.__version__.startswith("1.") and expected[2]
        wanted = expected[2] if first else expected[1]
        try:
            answered(con, block)
        except duckdb.Error as error:
            if wanted in str(error):
                return
            raise Different(f"expected the error: {wanted}\ngot: {error}") from None
        raise Different(f"expected the error: {wanted}\ngot none")
    found = answered(con, block)
    if shown is not None and printed(shown) != found:
        rows = "\n".join(" | ".join(row) for row in found)
        raise Different(f"the page shows:\n{shown}\nDuckDB answers:\n{rows}")


def run_python(names: dict[str, Any], block: str, shown: str | None) -> None:
    """Run a block of Python. Raises Different."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(block, "block", "exec"), names)
    if shown is not None and out.getvalue().strip() != shown.strip():
        raise Different(f"the page shows:\n{shown}\nPython prints:\n{out.getvalue()}")


def run_console(block: str, shown: str | None, *, whole: bool = False) -> None:
    """Run the calls of anon-sql in a block, or all that it calls. Raises Different."""
    said = ""
    for line in commands(block):
        words = shlex.split(line, comments=True)
        if whole and words[0] != "pip":
            command = ["bash", "-c", line]
        elif words[:1] == ["anon-sql"]:
            command = [*PROGRAM, *words[1:]]
        else:
            continue
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, env={**os.environ, "PATH": path}
        )
        if done.returncode not in (0, 3 if words[:2] == ["anon-sql", "verify"] else 0):
            raise Different(f"{line}\nfails: {done.stderr or done.stdout}")
        said = done.stdout
    if shown is not None and not alike(shown, said):
        raise Different(f"the page shows:\n{shown}\nthe command prints:\n{said}")


def alike(shown: str, said: str) -> bool:
    """Return whether a command has printed what a page shows."""
    expected, found = lines(shown), lines(said)
    if expected[0] == "…":
        return found[1 - len(expected) :] == expected[1:]
    return found == expected


def lines(text: str) -> list[str]:
    """Return the lines of a text without colours, spaces at their ends, and empty lines."""
    return [line.rstrip() for line in OUT_OF_SIGHT.sub("", text).splitlines() if line.strip()]


def run(page: Path) -> None:
    """Run a page in the present folder. Raises Different for the first block that differs."""
    names: dict[str, Any] = {}
    found = blocks(page.read_text(encoding="utf-8"))
    whole = any(block.file for block in found)
    for kind, block, shown, file in found:
        try:
            if file:
                Path(file).write_text(block, encoding="utf-8")
            elif kind == "sql":
                run_sql(names["con"], block, shown)
            elif kind == "python":
                run_python(names, block, shown)
            elif kind == "console":
                run_console(block, shown, whole=whole)
        except Exception as error:
            what = f"{type(error).__name__}: " if not isinstance(error, Different) else ""
            raise Different(f"{page.name}: this block\n\n{block}\n{what}{error}") from error


if __name__ == "__main__":
    os.environ.setdefault("COLUMNS", "100")
    try:
        run(Path(sys.argv[1]))
    except Different as error:
        sys.exit(str(error))
