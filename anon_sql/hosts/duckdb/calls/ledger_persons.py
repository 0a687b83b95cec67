"""The persons of a relation as the ledger holds them, keyed hashes, and those new to a ledger."""

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.core import interrupt
from anon_sql.core.arrow import first, one_list, whole
from anon_sql.core.columns import shown_type
from anon_sql.core.pseudonyms.held_keys import held
from anon_sql.core.pseudonyms.keyed import require_type
from anon_sql.core.pseudonyms.ledger_hashes import key_check, ledger_key, person_hashes
from anon_sql.core.roles import fold
from anon_sql.errors import AnonError, did_you_mean
from anon_sql.hosts.duckdb.calls.binding import require_names
from anon_sql.hosts.duckdb.calls.column_lists import columns_of
from anon_sql.hosts.duckdb.calls.ledger_entries import Entries, require_ledger
from anon_sql.hosts.duckdb.registry import udf
from anon_sql.pipeline.request import entity_of

_NAMES = ("function", "entity", "entity_type", "key", "key_check")
_TOLD = pa.struct(
    [
        *((name, pa.string()) for name in _NAMES),
        ("texts", pa.list_(pa.string())),
        ("hashes", pa.list_(pa.binary())),
    ]
)


@udf(
    "__anon_hashed_persons",
    f"STRUCT({', '.join(f'{name} VARCHAR' for name in _NAMES)}, texts VARCHAR[], hashes BLOB[])",
)
def hashed_persons(call: Any) -> pa.Array:
    """Return the column of persons, its type, and the texts and hashes of persons, by hash."""
    interrupt.begin()
    one = whole(call)
    given = {field.name: one.field(at) for at, field in enumerate(one.type)}
    function, entity = first(given["function"]), first(given["entity"])
    types: dict[str, str] = first(given["types"])
    require_ledger(function, first(given["ledger"]), first(given["columns"]))
    require_names(function, types)
    name = entity_of(function, entity, types)
    if name is None:
        rule = "entity must name a column of the table"
        raise AnonError(function, rule, "NULL", did_you_mean("", types))
    require_type(function, "entity", types[name])
    listed = {fold(column): values for column, values in columns_of(given["lists"]).items()}
    texts = listed[fold(name)]
    if texts.null_count:
        rule = "entity must say whose each row is"
        raise AnonError(function, rule, "NULL", "leave these rows out, or give each an own value")
    held_as = first(given["key"])
    key = ledger_key(held(function, held_as))
    hashes = person_hashes(texts, types[name], key)
    order = pc.sort_indices(hashes)
    told = {
        "function": function,
        "entity": name,
        "entity_type": shown_type(types[name]),
        "key": held_as,
        "key_check": key_check(key),
        "texts": texts.take(order),
        "hashes": hashes.take(order),
    }
    return pa.array([told], _TOLD)


@udf("__anon_shared_persons", "BIGINT[]")
def shared_persons(told: Any, entries: Any) -> pa.Array:
    """Return for each entry how many of the persons it holds, NULL for one with another key.

    Raises AnonError for an entry that was changed, or that holds persons of another column.
    """
    mine = whole(told)
    hashes = mine.field("hashes")[0].values
    shared = [
        None if others is None else pc.sum(pc.is_in(hashes, value_set=others), min_count=0).as_py()
        for others in Entries(mine, entries).hashes()
    ]
    return one_list(shared, pa.int64())


@udf("__anon_new_persons", "VARCHAR[]")
def new_persons(told: Any, entries: Any) -> pa.Array:
    """Return the texts of the persons whom no entry holds.

    Raises AnonError for an entry that was changed, that was made with another key, or that holds
    persons of another column.
    """
    mine = whole(told)
    known = list(Entries(mine, entries).hashes())
    if None in known:
        rule = "key must be the one that all entries of the ledger were made with"
        raise AnonError(first(mine.field("function")), rule, "another")
    hashes, texts = (mine.field(name)[0].values for name in ("hashes", "texts"))
    for others in known:
        is_new = pc.invert(pc.is_in(hashes, value_set=others))
        hashes, texts = hashes.filter(is_new), texts.filter(is_new)
    return one_list(texts, pa.string())
