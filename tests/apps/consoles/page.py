"""The blocks of docs/do/use-a-console.md, which the tests beside this file run."""

import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[3] / "docs" / "do" / "use-a-console.md"
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(kind):
    """The texts of the blocks of one kind, in the page's order."""
    found = [text for tag, text in _BLOCK.findall(PAGE.read_text(encoding="utf-8")) if tag == kind]
    assert found, kind
    return found
