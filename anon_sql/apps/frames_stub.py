"""Write anon_sql/frames.pyi, which shows the functions for frames to editors and type checkers."""

from collections.abc import Iterable
from inspect import Parameter

from anon_sql.hosts.duckdb.sql_files import Entry
from anon_sql.hosts.frames.signatures import FrameFunction, frame_functions

WIDTH = 100  # of generated files
_HEAD = '''\
"""The functions of frames.py. Made from sql/ and the declared parameters by ./generate."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

Columns: TypeAlias = str | Sequence[str] | None
Frame: TypeAlias = Any  # a pandas, Polars or PyArrow table, a relation of DuckDB, or a path
Weights: TypeAlias = Mapping[str, float] | None
'''


def filled(words: Iterable[str], indent: str, last: int = 0) -> str:
    """Return words, separated by commas, in lines; last: characters that follow the last one."""
    words = list(words)
    lines = [indent]
    for number, word in enumerate(words):
        piece = word + (", " if number < len(words) - 1 else "")
        width = WIDTH - (last if number == len(words) - 1 else 0)
        if len(lines[-1] + piece.rstrip()) > width and lines[-1] != indent:
            lines.append(indent)
        lines[-1] += piece
    return "\n".join(line.rstrip() for line in lines)


def stub(entries: list[Entry]) -> str:
    """Return anon_sql/frames.pyi; entries: every public function."""
    functions = list(frame_functions(entries))
    names = "\n".join(f'    "{name}",' for name in sorted(each.name for each in functions))
    return f"{_HEAD}\n__all__ = [\n{names}\n]\n{''.join(map(_function, functions))}"


def _function(function: FrameFunction) -> str:
    """Return the text of one function."""
    words = [_word(each) for each in function.parameters]
    by_name = [each.kind is Parameter.KEYWORD_ONLY for each in function.parameters]
    words.insert(by_name.index(True), "*")
    lines = "\n".join(f"    {line}".rstrip() for line in function.documentation.split("\n"))
    raw = "r" if "\\" in lines else ""
    return (
        f"\n\ndef {function.name}(\n{filled(words, '    ', last=1)}\n) -> {function.returns}:\n"
        f'    {raw}"""{lines.lstrip()}\n    """\n'
    )


def _word(parameter: Parameter) -> str:
    """Return a parameter as Python writes it."""
    default = "" if parameter.default is Parameter.empty else f" = {parameter.default!r}"
    return f"{parameter.name}: {parameter.annotation}{default}"
