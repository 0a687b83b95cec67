"""``anon-sql compile``: compile the kernels, so that the first release does not wait for it."""

import time
from typing import Annotated

import typer

from anon_sql.apps import compiled_calls, console
from anon_sql.errors import AnonError, did_you_mean


def compile_kernels(
    functions: Annotated[
        list[str] | None, typer.Argument(help="Release functions, or demo; default all.")
    ] = None,
) -> None:
    """Compile what releases call, once on a machine, in two processes side by side.

    Nothing is done where all is compiled.

    Example: anon-sql compile anonymize rayden
    """
    with console.one_sentence():
        known = compiled_calls.functions()
        for name in functions or ():
            if name not in [*known, "demo"]:
                rule = "a function must be one that releases a table, or demo"
                raise AnonError("compile", rule, f"'{name}'", did_you_mean(name, known))
        calls = compiled_calls.missing(compiled_calls.calls_of(functions or known))
        if not calls:
            typer.echo("anon_sql: the kernels are compiled", err=True)
            return
        typer.echo("anon_sql: compiling the kernels, once on this machine …", err=True)
        started = time.monotonic()
        for _ in compiled_calls.compile_calls(calls):
            pass
        typer.echo(f"anon_sql: compiled in {time.monotonic() - started:.0f} s", err=True)
