"""List the public functions, and the documentation of one, for ``anon_help``."""

from typing import Any

import pyarrow as pa

from anon_sql.core.arrow import first
from anon_sql.hosts.duckdb import sql_files
from anon_sql.hosts.duckdb.registry import udf

_FUNCTION = pa.struct(
    [
        ("name", pa.string()),
        ("topic", pa.string()),
        ("kind", pa.string()),
        ("parameters", pa.list_(pa.string())),
        ("summary", pa.string()),
    ]
)
_PART = pa.struct([("part", pa.string()), ("text", pa.string())])


@udf(
    "STRUCT(name VARCHAR, topic VARCHAR, kind VARCHAR, parameters VARCHAR[], summary VARCHAR)[]",
)
def functions(_: Any) -> pa.Array:
    """Return every public function in the order of the reference."""
    rows = [
        {
            "name": entry.name,
            "topic": entry.topic,
            "kind": "table" if entry.is_table else "value",
            "parameters": entry.parameters,
            "summary": entry.summary,
        }
        for entry in sql_files.entries()
    ]
    return pa.array([rows], pa.list_(_FUNCTION))


@udf("STRUCT(part VARCHAR, text VARCHAR)[]")
def parts_of(name: Any) -> pa.Array:
    """Return the documentation of one function in parts.

    Raises AnonError for an unknown name, with the most similar one as a hint.
    """
    entry = sql_files.find("anon_help", first(name))
    parts = [
        ("what", entry.description),
        ("call", " ".join(entry.call.split())),
        *[("arguments", entry.note)] * bool(entry.note),
        *((", ".join(names), text) for names, text in entry.arguments),
        ("returns", entry.returns),
        ("errors", entry.errors),
        ("example", entry.example),
    ]
    return pa.array([[{"part": part, "text": text} for part, text in parts]], pa.list_(_PART))
