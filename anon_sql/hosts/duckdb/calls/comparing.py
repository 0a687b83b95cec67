"""Compute ``compare`` on the rows of a call."""

from typing import Any

import pyarrow as pa

from anon_sql.core.arrow import first
from anon_sql.hosts.duckdb.calls.taking import given_paths, taken_rows
from anon_sql.hosts.duckdb.macros import defaults
from anon_sql.hosts.duckdb.registry import sql_type, udf
from anon_sql.measures import compare as comparison
from anon_sql.measures.comparable import Methods, Settings, Sizes
from anon_sql.methods import method


@method("compare", methods=Methods(), ks=Sizes(), options=Settings(defaults))
def _no_release(*_: Any) -> None:
    """Do nothing: compare is recorded as a method only so that its parameters are checked."""


@udf("__anon_compare", sql_type(pa.list_(comparison.ROW)), volatile=True)
def compare(numbers: Any, taken: Any, paths: Any) -> pa.Array:
    """Return a row for each method and k."""
    request, source = taken_rows(first(numbers), taken)
    rows = comparison.compare(source, request, given_paths(paths))
    return pa.array([rows], pa.list_(comparison.ROW))
