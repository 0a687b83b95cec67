"""The persons of a relation as the ledger holds them: keyed hashes."""

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.core import interrupt
from anon_sql.core.arrow import first, plain, whole
from anon_sql.core.pseudonyms.held_keys import held
from anon_sql.core.pseudonyms.keyed import key_check, ledger_key, person_hashes, require_type
from anon_sql.core.roles import fold
from anon_sql.errors import AnonError, did_you_mean
from anon_sql.hosts.duckdb.calls.column_lists import columns_of
from anon_sql.hosts.duckdb.registry import udf
from anon_sql.pipeline.request import entity_of

_TOLD = pa.struct(
    [
        *((name, pa.string()) for name in ("function", "entity", "key_check")),
        ("texts", pa.list_(pa.string())),
        ("hashes", pa.list_(pa.binary())),
    ]
)


@udf(
    "__anon_hashed_persons",
    "STRUCT(function VARCHAR, entity VARCHAR, key_check VARCHAR, texts VARCHAR[], hashes BLOB[])",
)
def hashed_persons(call: Any) -> pa.Array:
    """Return the name of the column of persons, and their texts and hashes, sorted by hash."""
    interrupt.begin()
    one = whole(call)
    given = {field.name: one.field(at) for at, field in enumerate(one.type)}
    function, entity = first(given["function"]), first(given["entity"])
    types: dict[str, str] = first(given["types"])
    _require_ledger(function, first(given["ledger"]), first(given["columns"]))
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
    key = ledger_key(held(function, first(given["key"])))
    hashes = person_hashes(texts, types[name], key)
    order = pc.sort_indices(hashes)
    told = {
        "function": function,
        "entity": name,
        "key_check": key_check(key),
        "texts": texts.take(order),
        "hashes": hashes.take(order),
    }
    return pa.array([told], _TOLD)


def _require_ledger(function: str, types: Mapping[str, str], columns: Mapping[str, str]) -> None:
    """Raise AnonError unless a relation has the columns of a ledger; both SQL types by name."""
    if not columns.items() <= types.items():
        hint = "anon_sql.ledger(con, 'anon_ledger') makes one"
        raise AnonError(function, "ledger must be a ledger", "a table of other columns", hint)


@udf("__anon_new_persons", "VARCHAR[]")
def new_persons(told: Any, checks: Any, hashes: Any) -> pa.Array:
    """Return the texts of the persons whose hashes are not in the ledger. Raises AnonError."""
    mine = first(told)
    if set(first(checks) or []) - {mine["key_check"]}:
        rule = "key must be the one that all entries of the ledger were made with"
        raise AnonError(mine["function"], rule, "another")
    known = set(first(hashes) or [])
    texts = [
        text for text, one in zip(mine["texts"], mine["hashes"], strict=True) if one not in known
    ]
    return pa.array([texts], pa.list_(pa.string()))


@udf("__anon_ledger_text", "VARCHAR")
def ledger_text(parameters: Any, values: Any) -> pa.Array:
    """Return a text that an entry needs. Raises AnonError for none."""
    if len(values) and not first(values):
        hints = {"manifest": "pass (SELECT to_json(m) FROM anon_manifest(…) AS m)"}
        name = first(parameters)
        raise AnonError("ledger_entry", f"{name} must be given", "none", hints.get(name))
    return plain(whole(values))
