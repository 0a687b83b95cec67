"""Calls of the command line, for the tests of what it prints and writes."""

from typer.testing import CliRunner

from anon_sql.apps import cli
from tests.reused import lent


def run(*arguments, **environment):
    """The result of ``anon-sql`` with these arguments."""
    with lent(functions="MACRO" in f"{arguments}"):
        return CliRunner(env={"COLUMNS": "200"} | environment).invoke(
            cli.app, [str(a) for a in arguments]
        )


def refused(*arguments):
    """The one line that a failing call prints, and nothing else."""
    result = run(*arguments)
    assert result.exit_code == 1, result.output
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert "Traceback" not in result.output
    return result.stderr.rstrip("\n")
