"""README and the tutorials, typed block by block; the first line that differs from the page fails."""

import re
from itertools import zip_longest
from pathlib import Path

import pytest

pytest.importorskip("pexpect", reason="needs a pseudo-terminal")

from tests.newcomer.terminal import Windows
from tests.page import MUST_FAIL, Block, blocks, commands, lines

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs" / "learn").glob("*.md"))]
COUNTED = re.compile(r"\s*\d+ rows?\b.*")  # what DuckDB writes below a table of ten rows


def type_block(windows: Windows, block: Block) -> None:
    """Type a block where it belongs, and compare what is printed with the page."""
    said = ""
    if block.file:
        (windows.folder / block.file).write_text(block.content, encoding="utf-8")
    elif block.kind == "console":
        for line in commands(block.content):
            if not line.startswith("./"):  # a command of a checkout
                answer = windows.command(line)
                accepted = (0, 3) if line.startswith("anon-sql verify") else (0,)
                assert answer.code in accepted, f"{line}\n{answer.text}"
                said = answer.text
    elif block.kind == "python":
        said = windows.statements(block.content)
        assert "Traceback" not in said, f"{block.content}\n{said}"
    elif block.kind == "sql":
        said = windows.query(block.content)
        refused = MUST_FAIL.match(block.content)
        assert ("Traceback" in said) == bool(refused), f"{block.content}\n{said}"
        assert refused is None or refused[1] in said, said
        said = "\n".join(line for line in said.splitlines() if not COUNTED.fullmatch(line))
    if block.shown is not None:
        compare(block, lines(block.shown), lines(said))


def compare(block: Block, shown: list[str], said: list[str]) -> None:
    """Fail at the first line that is not as the page shows it."""
    if shown[0] == "…":
        shown = shown[1:]
        said = said[-len(shown) :]
    for expected, found in zip_longest(shown, said):
        assert found == expected, f"{block.content}\npage: {expected}\nseen: {found}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_is_true_in_a_terminal(page, installed, folder):
    found = blocks(page.read_text(encoding="utf-8"))
    assert found
    windows = Windows(folder, installed)
    try:
        for block in found:
            type_block(windows, block)
    finally:
        windows.close()


def test_a_line_that_differs_fails(installed, folder):
    windows = Windows(folder, installed)
    try:
        same = Block("console", "echo one; echo two\n", "one\ntwo\n", None)
        type_block(windows, same)
        with pytest.raises(AssertionError, match=r"page: three\s+seen: two"):
            type_block(windows, same._replace(shown="one\nthree\n"))
        with pytest.raises(AssertionError, match=r"page: three\s+seen: None"):
            type_block(windows, same._replace(shown="one\ntwo\nthree\n"))
        with pytest.raises(AssertionError, match="false"):
            type_block(windows, Block("console", "false\n", None, None))
        with pytest.raises(AssertionError, match="ZeroDivisionError"):
            type_block(windows, Block("python", "1 / 0\n", None, None))
    finally:
        windows.close()
