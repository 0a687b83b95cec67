"""Read labels, and make pseudonyms, shifts and masks, as SQL calls it."""

from functools import partial
from typing import Any

import pyarrow as pa

from anon_sql.core.arrow import first, one_array
from anon_sql.core.columns import shown_type
from anon_sql.core.hierarchy.tree import Row, grow
from anon_sql.core.labels import grammar
from anon_sql.core.parameters import Whole
from anon_sql.core.pseudonyms import REFUSED, hold, key_of, pseudonyms, require_type, shifts
from anon_sql.core.roles import fold
from anon_sql.errors import AnonError, Parameter
from anon_sql.hosts.duckdb import registry
from anon_sql.hosts.duckdb.registry import remember, sql_type, udf
from anon_sql.hosts.duckdb.rows import path_rows

_LIST = pa.list_(pa.string())
_NODES = pa.map_(pa.string(), _LIST)


def _end(end: int) -> Any:
    """Return a function that parses a label and returns its lower (0) or upper (1) end."""

    def read(label: str) -> str | None:
        ends = grammar.bounds(label)
        return None if ends is None else ends[end]

    return read


@udf("VARCHAR")
def low(labels: Any) -> pa.Array:
    """Return the printed lower end of each label."""
    return grammar.map_labels("anon_min", labels, _end(0), pa.string())


@udf("VARCHAR")
def high(labels: Any) -> pa.Array:
    """Return the printed upper end of each label."""
    return grammar.map_labels("anon_max", labels, _end(1), pa.string())


@udf(sql_type(_LIST))
def values(labels: Any) -> pa.Array:
    """Return the text values of each label; NULL for a range and for ``*``."""
    return grammar.map_labels("anon_values", labels, grammar.values, _LIST)


@udf(sql_type(_NODES))
def node_values(attribute: Any, listed: Any) -> pa.Array:
    """Return a map from the printed label of each node but the root to the values below it.

    Each label is included with and without quotes, because a column of numbers prints a label in
    quotes if it could be a number.
    """
    name, paths = first(attribute), path_rows(listed)
    rows = [] if paths is None or not isinstance(name, str) else paths.to_pylist()
    paths_of_attribute = [
        row for row in rows if row["attribute"] and fold(row["attribute"]) == fold(name)
    ]
    if not paths_of_attribute:
        rule = Parameter("attribute") + " must name one that the hierarchy has"
        raise AnonError("anon_values", rule, f"'{name}'" if isinstance(name, str) else "NULL")
    tree_rows = [
        Row(row["value"], row["value"], row["level"], row["label"]) for row in paths_of_attribute
    ]
    tree = grow("anon_values", name, tree_rows)
    nodes = [node for node in range(len(tree.names)) if node != tree.root]
    values_by_label = {grammar.quoted(tree.names[node]): tree.members(node) for node in nodes}
    values_by_label |= {tree.texts[node]: tree.members(node) for node in nodes}
    return pa.array([list(values_by_label.items())], _NODES)


_MAX_DAYS = 36_525  # days of a shift: a century
_LONGEST = 2**31 - 1  # characters of a text
_DATES = ("DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS")


@udf("VARCHAR", owned=True)
def hold_key(opened: str, functions: Any, databases: Any, keys: Any) -> pa.Array:
    """Return the name under which a key is held (``hold``), or why it is refused.

    DuckDB evaluates a constant before it shows a plan, which then contains the name alone. An error
    would leave the key in the plan, so the function that uses the key raises it (``key_of``).
    functions: the function that needs the key; NULL if it needs none, whose name is NULL too.
    """
    if not len(keys):
        return pa.array([], pa.string())
    function, database = first(functions), first(databases)
    if function is None:
        return pa.nulls(len(keys), pa.string())
    key = _single_value(function, "key", keys)
    try:
        name = hold(function, key, partial(registry.secret, database), opened)
    except AnonError as refused:
        remember(refused)
        name = f"{REFUSED}{refused}"
    return pa.array([name] * len(keys), pa.string())


@udf("VARCHAR")
def pseudonym(types: Any, values: Any, keys: Any) -> pa.Array:
    """Return the pseudonym of each value, given as text beside its SQL type."""
    if not len(values):
        return pa.array([], pa.string())
    kind = first(types)
    require_type("anon_pseudonym", "value", kind)
    return pseudonyms(one_array(values), kind, key_of("anon_pseudonym", first(keys)))


@udf("INTEGER")
def shift_days(date_types: Any, types: Any, entities: Any, keys: Any, days: Any) -> pa.Array:
    """Return the number of days by which the dates of each entity are shifted."""
    name = "anon_shift"
    if not len(entities):
        return pa.array([], pa.int32())
    kind, dates = first(types), first(date_types)
    if dates not in _DATES:
        hint = "cast it: date::DATE, date::TIMESTAMP"
        rule = Parameter("date") + " must be a DATE or TIMESTAMP"
        raise AnonError(name, rule, shown_type(dates), hint)
    require_type(name, "entity", kind)
    limit = Whole(1).read(name, "days", _single_value(name, "days", days))
    if limit > _MAX_DAYS:
        raise AnonError(name, Parameter("days") + f" must be at most {_MAX_DAYS}", str(limit))
    return shifts(one_array(entities), kind, key_of(name, first(keys)), limit)


@udf("BIGINT")
def kept_length(parameters: Any, lengths: Any) -> pa.Array:
    """Return the number of characters that a mask keeps at one end. Raises AnonError."""
    if not len(lengths):
        return pa.array([], pa.int64())
    name = first(parameters)
    coded = one_array(lengths).dictionary_encode(null_encoding="encode")
    read = [
        min(Whole(0).read("anon_mask", name, length), _LONGEST)
        for length in coded.dictionary.to_pylist()
    ]
    return pa.array(read, pa.int64()).take(coded.indices)


def _single_value(function: str, parameter: str, values: Any) -> Any:
    """Return the value of a parameter, or raise AnonError if rows have different ones."""
    distinct = values.unique()
    if len(distinct) > 1:
        rule = Parameter(parameter) + " must be the same in every row"
        raise AnonError(function, rule, "several")
    return distinct[0].as_py()
