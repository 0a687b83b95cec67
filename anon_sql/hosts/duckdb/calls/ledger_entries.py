"""The entries of a ledger: whether each is as ledger_entry made it, and the persons it holds."""

import hmac
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.core.arrow import first, plain, whole
from anon_sql.core.pseudonyms.held_keys import held
from anon_sql.core.pseudonyms.ledger_hashes import LENGTH, entry_digest, ledger_key
from anon_sql.core.roles import fold
from anon_sql.errors import AnonError, listed
from anon_sql.hosts.duckdb.registry import udf

_TEXTS = ("release", "rows_sha256", "manifest", "entity", "entity_type", "key_check")
_NUMBERS = ("released_at", "persons")  # the time in microseconds
_SINCE = {"entity_type", "digest"}  # columns that ledgers of a former version lack


def require_ledger(function: str, types: Mapping[str, str], columns: Mapping[str, str]) -> None:
    """Raise AnonError unless a relation has the columns of a ledger; both SQL types by name."""
    if columns.items() <= types.items():
        return
    rule, hint = "ledger must be a ledger", "anon_sql.ledger(con, 'anon_ledger') makes one"
    former = {name: kind for name, kind in columns.items() if name not in _SINCE}
    if former.items() <= types.items():
        got = "one of a former version, whose entries could be changed unnoticed"
        raise AnonError(function, rule, got, "make another, and enter the releases anew")
    raise AnonError(function, rule, "a table of other columns", hint)


@udf("__anon_ledger_text", "VARCHAR")
def ledger_text(parameters: Any, values: Any) -> pa.Array:
    """Return a text that an entry needs. Raises AnonError for none."""
    if len(values) and not first(values):
        hints = {"manifest": "pass (SELECT to_json(m) FROM anon_manifest(…) AS m)"}
        name = first(parameters)
        raise AnonError("ledger_entry", f"{name} must be given", "none", hints.get(name))
    return plain(whole(values))


@udf("__anon_entry_digest", "VARCHAR")
def digest_of_entry(entry: Any, key: Any) -> pa.Array:
    """Return the keyed digest of the one entry that is made."""
    if not len(key):
        return pa.array([], pa.string())
    made = entry_digest(_fields(whole(entry), 0) or (), _key("ledger_entry", first(key)))
    return pa.array([made])


@dataclass(frozen=True)
class Entries:
    """The entries of a ledger, as one list of structs, read for the persons of one relation.

    told: what ``__anon_hashed_persons`` says of the relation, one row.
    """

    told: pa.StructArray
    listed: Any

    def hashes(self) -> Iterator[pa.Array | None]:
        """Yield the hashes of each entry's persons, None for an entry with another key.

        Raises AnonError for an entry whose digest is not that of its content, or whose column of
        persons is another.
        """
        names = ("function", "entity", "key", "key_check")
        function, entity, held_as, check = (first(self.told.field(name)) for name in names)
        key = _key(function, held_as)
        entries = whole(self.listed)[0].values
        for at in range(0 if entries is None else len(entries)):
            if entries.field("key_check")[at].as_py() != check:
                yield None
                continue
            fields, digest = _fields(entries, at), entries.field("digest")[at].as_py()
            if fields is None or not hmac.compare_digest(
                entry_digest(fields, key).encode(), (digest or "").encode()
            ):
                rule = "each entry of the ledger must be as ledger_entry made it"
                hint = "take the ledger from a copy that nobody has changed"
                raise AnonError(function, rule, "one that was changed", hint)
            theirs = entries.field("entity")[at].as_py()
            if fold(theirs) != fold(entity):
                rule = "entity must be the column whose persons the ledger holds"
                hint = f"it is {listed([theirs])}: rename yours if it holds the same persons"
                raise AnonError(function, rule, f"'{entity}'", hint)
            yield entries.field("person_hashes")[at].values


def _key(function: str, held_as: str) -> bytes:
    return ledger_key(held(function, held_as))


def _fields(entries: pa.StructArray, at: int) -> list[bytes] | None:
    """Return what the digest of an entry covers; None where anything is missing or misshapen."""
    single = [entries.field(name)[at].as_py() for name in (*_TEXTS, *_NUMBERS)]
    persons = entries.field("person_hashes")[at].values
    if None in single or persons is None or persons.null_count:
        return None
    if not pc.all(pc.equal(pc.binary_length(persons), LENGTH), min_count=0).as_py():
        return None
    return [*(str(one).encode() for one in single), b"".join(persons.to_pylist())]
