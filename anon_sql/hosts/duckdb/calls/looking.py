"""``suggest_roles`` and ``unique_combinations`` as SQL calls them: hashes in, rows out."""

from typing import Any

import pyarrow as pa

from anon_sql.core import interrupt
from anon_sql.core.arrow import first, integers, plain, whole
from anon_sql.core.roles import fold
from anon_sql.errors import AnonError, did_you_mean
from anon_sql.hosts.duckdb.calls.binding import require_names, types_of
from anon_sql.hosts.duckdb.memory import available
from anon_sql.hosts.duckdb.registry import sql_type, udf
from anon_sql.hosts.duckdb.settling import settle
from anon_sql.measures.uniqueness import codes_of
from anon_sql.suggest.suggest_roles import SUGGESTION, shape_of, suggest_roles
from anon_sql.suggest.unique_combinations import COMBINATION, unique_combinations

_CELL = 48  # bytes that a value costs: its hash in a list, in Arrow, mixed and sorted
_COMBINATIONS = "unique_combinations"


@udf("__anon_hashes_fit", "BOOLEAN")
def hashes_fit(functions: Any, types: Any, rows: Any, limits: Any) -> pa.Array:
    """Return true, or raise AnonError for a table whose hashes do not fit into memory, or a column
    name that begins with ``__anon_``."""
    function, columns = first(functions), types_of(types)
    require_names(function, columns)
    free, count = available(first(limits)), first(rows)
    if count * len(columns) * _CELL > free:
        raise AnonError(
            function,
            f"the table must fit into memory, {free // (_CELL * len(columns)):,} rows of "
            f"{len(columns)} columns",
            f"{count:,} rows",
            "raise memory_limit, or look at a sample of the rows",
        )
    return pa.array([True])


@udf("__anon_suggested", sql_type(pa.list_(SUGGESTION)))
def suggested(types: Any, looks: Any) -> pa.Array:
    """Return the rows of ``suggest_roles``; looks: what ``__anon_looked`` returns, by column."""
    interrupt.begin()
    packed = whole(looks)
    shapes, marks = [], []
    for name, kind in types_of(types).items():
        look = packed.field(name)
        marks.append(_marks(look.field("marks")))
        nulls, sample = first(look.field("nulls")), first(look.field("sample"))
        texts = [text for text in sample or [] if text is not None]
        consecutive = bool(first(look.field("consecutive")))
        shapes.append(shape_of(name, kind, marks[-1], nulls, texts, consecutive))
        interrupt.check("suggest_roles")
    return pa.array([suggest_roles(shapes, marks).to_pylist()], pa.list_(SUGGESTION))


@udf("__anon_combined", sql_type(pa.list_(COMBINATION)))
def combined(types: Any, most: Any, columns: Any, scope: Any, seen: Any, marks: Any) -> pa.Array:
    """Return the rows of ``unique_combinations``; marks: hashes by column."""
    interrupt.begin()
    kinds, packed, size = types_of(types), whole(marks), first(most)
    if pa.types.is_boolean(most.type) or not isinstance(size, int) or size < 1:
        raise AnonError(_COMBINATIONS, "max_columns must be a whole number from 1 on")
    chosen = _chosen(kinds, first(columns), first(scope), first(seen))
    hashes = {name: _marks(packed.field(name)) for name in chosen}
    rows = len(next(iter(hashes.values()))) if hashes else 0
    codes = {name: codes_of(values) for name, values in hashes.items()}
    found = unique_combinations(codes, rows, size)
    return pa.array([found.to_pylist()], pa.list_(COMBINATION))


def _chosen(kinds: dict[str, str], columns: Any, scope: Any, seen: Any) -> list[str]:
    """Return the columns to look at. Raises AnonError for a name that the table lacks."""
    if columns is None:
        roles = settle(_COMBINATIONS, kinds, scope, seen, needs_quasi=False)
        return [name for name in kinds if name not in roles.identifier]
    given = [columns] if isinstance(columns, str) else columns
    if not isinstance(given, list) or not all(isinstance(name, str) for name in given):
        raise AnonError(_COMBINATIONS, "columns must be a list of column names")
    if not given:
        raise AnonError(_COMBINATIONS, "columns must name a column", "none")
    by_fold = {fold(name): name for name in kinds}
    for name in given:
        if fold(name) not in by_fold:
            rule, hint = "columns must name columns of the table", did_you_mean(name, kinds)
            raise AnonError(_COMBINATIONS, rule, f"'{name}'", hint)
    return list(dict.fromkeys(by_fold[fold(name)] for name in given))


@udf("__anon_in", "BOOLEAN")
def is_in(lists: Any, names: Any) -> pa.Array:
    """Return for each column name whether a list names it; every name is in NULL."""
    given = first(lists)
    listed = [given] if isinstance(given, str) else given
    if not isinstance(listed, list):
        return pa.array([True] * len(names))
    folded = {fold(name) for name in listed if isinstance(name, str)}
    return pa.array([fold(name.as_py()) in folded for name in names], pa.bool_())


def _marks(lists: Any) -> Any:
    """Return a list of hashes as uint64[n]; NULL, of a table without rows, is none."""
    return integers(plain(lists.flatten()))
