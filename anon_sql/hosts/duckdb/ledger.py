"""Make the ledger, the table of what was released about whom, and read its people."""

import hmac
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.core import stopping
from anon_sql.core.arrow import first, one_array, one_list, plain
from anon_sql.core.columns import shown_type
from anon_sql.core.names import quote, split
from anon_sql.core.parameters import (
    Anything,
    Columns,
    Number,
    OrNull,
    Whole,
    declare,
    param,
    read_group,
)
from anon_sql.core.pseudonyms import (
    HASH_BYTES,
    KEY,
    entry_digest,
    key_check,
    key_of,
    ledger_key,
    person_hashes,
    require_type,
)
from anon_sql.core.roles import fold, named
from anon_sql.errors import AnonError, Argument, Parameter, did_you_mean, listed
from anon_sql.hosts.duckdb.binding import HELPER, require_names
from anon_sql.hosts.duckdb.pair import columns_of
from anon_sql.hosts.duckdb.registry import udf
from anon_sql.pipeline.request import entity_of

_TEXTS = ("release", "rows_sha256", "manifest", "entity", "entity_type", "key_check")
_NUMBERS = ("released_at", "persons")  # the time in microseconds
_SINCE = {"entity_type", "digest"}  # columns that ledgers of a former version lack


def require_ledger(function: str, types: Mapping[str, str], columns: Mapping[str, str]) -> None:
    """Raise AnonError unless a relation has the columns of a ledger; both SQL types by name."""
    if columns.items() <= types.items():
        return
    rule = Parameter("ledger") + " must be a ledger"
    former = {name: kind for name, kind in columns.items() if name not in _SINCE}
    if former.items() <= types.items():
        got = "one of a former version, whose entries could be changed unnoticed"
        raise AnonError(function, rule, got, "make a new ledger and enter the releases again")
    hint = "anon_sql.ledger(con, 'anon_ledger') makes one"
    raise AnonError(function, rule, "a table with other columns", hint)


@udf("VARCHAR")
def required_text(parameters: Any, values: Any) -> pa.Array:
    """Return a text that an entry needs. Raises AnonError for none."""
    if len(values) and not first(values):
        hints = {"manifest": "pass (SELECT to_json(m) FROM anon_manifest(…) AS m)"}
        name = first(parameters)
        rule = Parameter(name) + " must be given"
        raise AnonError("ledger_entry", rule, None, hints.get(name))
    return plain(one_array(values))


@udf("VARCHAR")
def digest_of_entry(entry: Any, key: Any) -> pa.Array:
    """Return the keyed digest of the one entry that is made."""
    if not len(key):
        return pa.array([], pa.string())
    digest = entry_digest(_fields(one_array(entry), 0) or (), _key("ledger_entry", first(key)))
    return pa.array([digest])


@dataclass(frozen=True)
class Entries:
    """The entries of a ledger, as one list of structs, read for the people of one relation.

    persons: what ``__anon_ledger_hashed_persons`` says of the relation, one row.
    """

    persons: pa.StructArray
    listed: Any

    def hashes(self) -> Iterator[pa.Array | None]:
        """Yield the hashes of each entry's people, None for an entry with another key.

        Raises AnonError for an entry whose digest is not that of its content, or whose column of
        people is another.
        """
        names = ("function", "entity", "key", "key_check")
        function, entity, key_name, check = (first(self.persons.field(name)) for name in names)
        key = _key(function, key_name)
        entries = one_array(self.listed)[0].values
        for entry in range(0 if entries is None else len(entries)):
            if entries.field("key_check")[entry].as_py() != check:
                yield None
                continue
            fields, digest = _fields(entries, entry), entries.field("digest")[entry].as_py()
            if fields is None or not hmac.compare_digest(
                entry_digest(fields, key).encode(), (digest or "").encode()
            ):
                raise AnonError(
                    function,
                    "each entry of the ledger must be as ledger_entry made it",
                    "one that was changed",
                    "restore an unchanged copy of the ledger",
                )
            entry_entity = entries.field("entity")[entry].as_py()
            if fold(entry_entity) != fold(entity):
                rule = Parameter("entity") + " must be the column whose persons the ledger holds"
                hint = f"it is {listed([entry_entity])}: rename yours if it holds the same persons"
                raise AnonError(function, rule, f"'{entity}'", hint)
            yield entries.field("person_hashes")[entry].values


def _key(function: str, key_name: str) -> bytes:
    return ledger_key(key_of(function, key_name))


def _fields(entries: pa.StructArray, entry: int) -> list[bytes] | None:
    """Return what the digest of an entry covers; None where anything is missing or misshapen."""
    single = [entries.field(name)[entry].as_py() for name in (*_TEXTS, *_NUMBERS)]
    persons = entries.field("person_hashes")[entry].values
    if None in single or persons is None or persons.null_count:
        return None
    if not pc.all(pc.equal(pc.binary_length(persons), HASH_BYTES), min_count=0).as_py():
        return None
    return [*(str(value).encode() for value in single), b"".join(persons.to_pylist())]


TABLE = "anon_ledger"


def ledger(con: duckdb.DuckDBPyConnection, table: str = TABLE) -> None:
    """Make a ledger if there is none: an empty table for the rows of ``ledger_entry``.

    table: name as written in SQL, qualified or quoted if necessary. Raises AnonError for a table
    with other columns.
    """
    name = ".".join(quote(part) for part in split(table))
    con.execute(f"CREATE TABLE IF NOT EXISTS {name} AS FROM __anon_ledger_columns()")
    columns, expected = (
        {column[0]: str(column[1]) for column in con.execute(f"DESCRIBE {relation}").fetchall()}
        for relation in (name, "FROM __anon_ledger_columns()")
    )
    require_ledger("ledger", columns, expected)
    if list(columns) != list(expected):  # entries are inserted by position
        rule = Parameter("ledger") + " must have the columns of a ledger alone, in their order"
        raise AnonError("ledger", rule)


_NAMES = ("function", "entity", "entity_type", "key", "key_check")
_PERSONS = pa.struct(
    [
        *((name, pa.string()) for name in _NAMES),
        ("texts", pa.list_(pa.string())),
        ("hashes", pa.list_(pa.binary())),
    ]
)


@udf(
    f"STRUCT({', '.join(f'{name} VARCHAR' for name in _NAMES)}, texts VARCHAR[], hashes BLOB[])",
)
def hashed_persons(call: Any) -> pa.Array:
    """Return the column of people, its type, and the texts and hashes of people, by hash."""
    struct = one_array(call)
    fields = {field.name: struct.field(position) for position, field in enumerate(struct.type)}
    stopping.belongs_to(first(fields["connection"]))
    function, entity = first(fields["function"]), first(fields["entity"])
    stopping.check(function)
    types: dict[str, str] = first(fields["types"])
    require_ledger(function, first(fields["ledger"]), first(fields["columns"]))
    require_names(function, types)
    name = entity_of(function, entity, types)
    if name is None:
        rule = Parameter("entity") + " must name a column of the table"
        raise AnonError(function, rule, "NULL", did_you_mean("", types))
    require_type(function, "entity", types[name])
    listed = {fold(column): values for column, values in columns_of(fields["lists"]).items()}
    texts = listed[fold(name)]
    if texts.null_count:
        rule = Parameter("entity") + " must say whose each row is"
        raise AnonError(function, rule, "NULL", "leave these rows out, or give each its own value")
    key_name = first(fields["key"])
    key = ledger_key(key_of(function, key_name))
    hashes = person_hashes(texts, types[name], key)
    order = pc.sort_indices(hashes)
    row = {
        "function": function,
        "entity": name,
        "entity_type": shown_type(types[name]),
        "key": key_name,
        "key_check": key_check(key),
        "texts": texts.take(order),
        "hashes": hashes.take(order),
    }
    return pa.array([row], _PERSONS)


@dataclass(frozen=True)
class Persons:
    """Whose people a ledger is asked about."""

    entity: Any = param(
        None,
        Columns(one=True),
        "column that identifies persons, called as in the raw tables of all entries. Its values "
        "are compared whatever their type: the numbers 5 and 5.00 and the text 5 are the same "
        "person, and the text 005 is another",
    )
    key: Any = param(KEY, Anything(), "the key of the ledger, as in anon_pseudonym")


@dataclass(frozen=True)
class Waiting:
    """How many new people must be there before any of them is released."""

    k: int | None = param(
        None,
        OrNull(Whole(1)),
        "while fewer new persons than this are there, all of them wait",
        null="that they do not wait for others",
    )
    l: float | None = param(  # noqa: E741 - the field's name for it
        None,
        OrNull(Number(1)),
        "while new persons have fewer different values than this in a sensitive column, NULL not "
        "counted, all of them wait",
        null="that they do not wait for other values",
    )
    sensitive: Any = param(
        None,
        Columns(),
        "sensitive column or list of columns, in addition to those declared, which l counts",
        bound=True,
    )


for _function in ("ledger_new", "ledger_overlap"):
    declare(_function, Persons, Waiting)


@udf("BIGINT")
def waiting(call: Any, persons: Any, values: Any) -> pa.Array:
    """Return how many new people wait, NULL where enough of them are there.

    call: the parameters; values: how many values each sensitive column has. Raises AnonError for
    an l without a sensitive column.
    """
    fields, many, value_counts = first(call), first(persons), first(values)
    function = fields["function"]
    size = {"k": fields["k"], "l": fields["l"]}
    needed: Any = read_group(Waiting, function, size)
    by_name = {fold(name): name for name in fields["types"]}
    chosen = named(function, "sensitive", fields["sensitive"], by_name) or []
    counted = {fold(name): count for name, count in value_counts.items() if name != HELPER + "zero"}
    if {fold(name) for name in chosen} - set(counted):
        raise AnonError(function, Parameter("sensitive") + " must name columns", "*", "name them")
    if needed.l is not None and not counted:
        rule = Parameter("l") + " needs a sensitive column"
        raise AnonError(function, rule, None, "pass " + Argument("sensitive", ["illness", ...]))
    too_few = needed.k is not None and many < needed.k
    alike = needed.l is not None and min(counted.values(), default=0) < needed.l
    return pa.array([many if many and (too_few or alike) else None], pa.int64())


@udf("BIGINT[]")
def shared_persons(persons: Any, entries: Any) -> pa.Array:
    """Return for each entry how many of the people it holds, NULL for one with another key.

    Raises AnonError for an entry that was changed, or that holds people of another column.
    """
    people = one_array(persons)
    hashes = people.field("hashes")[0].values
    shared = [
        None if others is None else pc.sum(pc.is_in(hashes, value_set=others), min_count=0).as_py()
        for others in Entries(people, entries).hashes()
    ]
    return one_list(shared, pa.int64())


@udf("VARCHAR[]")
def new_persons(persons: Any, entries: Any) -> pa.Array:
    """Return the texts of the people whom no entry holds.

    Raises AnonError for an entry that was changed, that was made with another key, or that holds
    people of another column.
    """
    people = one_array(persons)
    hash_lists = list(Entries(people, entries).hashes())
    if None in hash_lists:
        rule = Parameter("key") + " must be the one that all entries of the ledger were made with"
        raise AnonError(first(people.field("function")), rule)
    hashes, texts = (people.field(name)[0].values for name in ("hashes", "texts"))
    for others in hash_lists:
        is_new = pc.invert(pc.is_in(hashes, value_set=others))
        hashes, texts = hashes.filter(is_new), texts.filter(is_new)
    return one_list(texts, pa.string())
