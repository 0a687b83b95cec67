"""What docs/do/use-a-console.md shows of the shell is what the shell answers: an error, which ends a script, stands last."""

import pytest
from typer.testing import CliRunner

from anon_sql.apps.cli import app
from tests.apps.consoles.page import blocks

pytestmark = pytest.mark.slow

PROMPTS = ("anon> ", "    > ")


@pytest.mark.parametrize("block", [text for text in blocks("text") if text.startswith(PROMPTS[0])])
def test_a_transcript(block):
    lines = block.splitlines()
    typed = [line[len(PROMPTS[0]) :] for line in lines if line.startswith(PROMPTS)]
    shown = [line for line in lines if line and not line.startswith(PROMPTS)]
    result = CliRunner().invoke(app.app, ["shell"], input="\n".join(typed))
    answered = f"{result.stdout}\n{result.stderr}"
    answered = [line for line in answered.splitlines() if line.strip()]
    assert answered == shown
