"""Read a statistics file for another process: a damaged file can end the process of its reader.

The request is a line of JSON on the input. The output is a line of JSON, what the file says, or an
error; then the rows as a stream of Arrow. This file runs alone and imports nothing of the package.
"""

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from math import isnan
from typing import Any, BinaryIO

_CELLS = 2_000_000  # that are read at a time
Read = Callable[..., tuple[dict[str, list[Any]], Any]]


class _WithoutPandas:
    """Hides pandas from pyarrow, which imports it to learn that a list is no column of pandas.

    That takes as long as all other imports.
    """

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError(name=name)


def main() -> None:
    """Answer one request."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what the library prints is no answer
    request = json.loads(sys.stdin.buffer.readline())
    try:
        _answer(out, request)
    except Exception as error:  # of any class: what a damaged file raises is not known
        _line(out, {"error": f"{type(error).__name__} {error}"})
        sys.exit(1)  # the rows may have ended in their middle
    out.flush()


def _line(out: BinaryIO, content: Any) -> None:
    out.write(json.dumps(content).encode() + b"\n")
    out.flush()


def _answer(out: BinaryIO, request: dict[str, Any]) -> None:
    import pyarrow as pa
    import pyreadstat

    sys.meta_path.insert(0, _WithoutPandas)
    function: Read = getattr(pyreadstat, request["reader"])

    def read(**more: Any) -> tuple[dict[str, list[Any]], Any]:
        return function(
            request["path"],
            output_format="dict",
            disable_datetime_conversion=True,
            **request["options"],
            **more,
        )

    _, description = read(metadataonly=True)
    columns = [_column(description, name) for name in description.column_names]
    _line(out, {"columns": columns, "rows": description.number_rows})
    kinds = [pa.string() if each["text"] else pa.float64() for each in columns]
    schema = pa.schema([pa.field(f"f{position}", kind) for position, kind in enumerate(kinds)])
    with pa.ipc.new_stream(out, schema) as stream:
        for values in _parts(read, len(columns)):
            arrays = [
                pa.array(_codes(column_values, each["text"]), kind)
                for column_values, each, kind in zip(values, columns, kinds, strict=True)
            ]
            stream.write_batch(pa.RecordBatch.from_arrays(arrays, schema=schema))


def _column(description: Any, name: str) -> dict[str, Any]:
    """Return what a file says about a column. codes: pairs, because a code may be a number."""
    return {
        "name": name,
        "text": description.readstat_variable_types[name] == "string",
        "label": description.column_names_to_labels.get(name) or "",
        "codes": list(description.variable_value_labels.get(name, {}).items()),
        "measure": description.variable_measure.get(name, "unknown"),
        "format": description.original_variable_types.get(name),
        "missing": list(description.missing_ranges.get(name, ())),
    }


def _parts(read: Read, columns: int) -> Iterator[list[list[Any]]]:
    """Give the columns of some rows at a time."""
    rows, limit = 0, max(1, _CELLS // max(1, columns))
    while columns:
        columns_read, _ = read(row_offset=rows, row_limit=limit)
        values = list(columns_read.values())
        count = len(values[0])
        if count:
            yield values
        rows += count
        if count < limit:
            return


def _codes(values: Sequence[Any], text: bool) -> list[Any]:
    """Return values as Arrow takes them; NaN, and a letter among numbers, mean missing."""
    if text:
        return [None if value is None else str(value) for value in values]
    return [
        None if value is None or isinstance(value, str) or isnan(value) else float(value)
        for value in values
    ]


if __name__ == "__main__":
    main()
