"""Compute ``tradeoff`` on the rows of a call."""

from typing import Any

import pyarrow as pa

from anon_sql.core.arrow import first
from anon_sql.core.options import Whole
from anon_sql.hosts.duckdb.calls.taking import given_paths, taken_rows
from anon_sql.hosts.duckdb.macros import defaults
from anon_sql.hosts.duckdb.registry import sql_type, udf
from anon_sql.measures.comparable import OneMethod, Settings, Sizes
from anon_sql.methods import method
from anon_sql.queries import tradeoff as trading


@method(
    trading.NAME,
    method=OneMethod(),
    ks=Sizes(),
    ls=Sizes(),
    queries=Whole(1),
    options=Settings(defaults),
)
def _no_release(*_: Any) -> None:
    """Do nothing: tradeoff is recorded as a method only so that its parameters are checked."""


@udf("__anon_tradeoff", sql_type(pa.list_(trading.ROW)), volatile=True)
def tradeoff(numbers: Any, taken: Any, paths: Any) -> pa.Array:
    """Return a row for each k and l."""
    request, source = taken_rows(first(numbers), taken)
    rows = trading.tradeoff(source, request, given_paths(paths))
    return pa.array([rows], pa.list_(trading.ROW))
