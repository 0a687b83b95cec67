"""Calls of the command line, for the tests of what it prints and writes."""

from functools import cache

from click.testing import CliRunner
from typer.main import get_command

from anon_sql.apps.cli import app
from tests.reused import lent


def run(*arguments, **environment):
    """The result of ``anon-sql`` with these arguments."""
    with lent(functions="MACRO" in f"{arguments}"):
        return CliRunner(env={"COLUMNS": "200"} | environment).invoke(
            command(), [str(a) for a in arguments]
        )


@cache
def command():
    """The command line as click takes it; typer would make it anew for each call."""
    return get_command(app.app)


def refused(*arguments):
    """The one line that a failing call prints, and nothing else."""
    result = run(*arguments)
    assert result.exit_code == 1, result.output
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert "Traceback" not in result.output
    return result.stderr.rstrip("\n")
