"""Check a call of a release function on a relation, before any row is read."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import duckdb
import pyarrow as pa

from anon_sql.core.names import literal
from anon_sql.core.parameters import takes
from anon_sql.errors import AnonError, Parameter, did_you_mean
from anon_sql.hosts.duckdb.roles import described_by_name
from anon_sql.hosts.duckdb.rows import available, bytes_a_row, path_rows
from anon_sql.methods.method import release_methods
from anon_sql.pipeline.request import Request, arguments, checked


@dataclass(frozen=True)
class RelationCall:
    """A checked call.

    relation: name of the table; columns: SQL type of each of its columns; comments: those that
    count, by folded name. paths: rows of the hierarchy. memory: DuckDB's setting memory_limit;
    threads: its number of threads.
    """

    relation: str
    columns: Mapping[str, str]
    comments: Mapping[str, str | None]
    request: Request
    paths: pa.StructArray | None
    memory: str
    threads: int

    def fits(self, rows: int) -> bool:
        """Return whether so many rows fit into memory in one statement."""
        return rows * bytes_a_row(self.request) <= available(self.memory)


def relation_call(
    con: duckdb.DuckDBPyConnection,
    relation: str,
    function: str,
    k: object,
    parameters: Mapping[str, Any],
) -> RelationCall:
    """Return the checked call of a release function on a relation, or raise AnonError.

    parameters: those of the SQL function but tbl and k, by name.
    """
    methods = release_methods()
    if function not in methods:
        hint = did_you_mean(str(function), methods)
        rule = Parameter("method") + " must be a release function"
        raise AnonError("release", rule, f"'{function}'", hint)
    values = arguments(function, parameters)
    bound = [name for name, declaration in takes(function).items() if declaration.bound]
    called = {name: values.get(name) for name in bound}
    described, settings = described_by_name(con, function, relation, called)
    call = checked(function, replace(described, threads=1), {**values, "k": k})
    paths = paths_of(con, values.get("hierarchy"))
    return RelationCall(
        relation,
        described.types,
        described.comments,
        call,
        paths,
        settings["memory_limit"],
        int(settings["threads"]),
    )


def paths_of(con: duckdb.DuckDBPyConnection, hierarchy: str | None) -> pa.StructArray | None:
    """Return the rows of a hierarchy, None without one."""
    if hierarchy is None:
        return None
    named = literal(hierarchy)
    rows = con.sql(f"SELECT __anon_path_rows AS p FROM __anon_path_rows({named})")
    return path_rows(rows.to_arrow_table().column("p"))
