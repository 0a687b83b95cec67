"""Enter a release into a ledger, a table in a DuckDB file, and say whom it releases again."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import duckdb

from anon_sql.apps import manifest
from anon_sql.core.names import literal
from anon_sql.errors import AnonError
from anon_sql.hosts.duckdb.ledger import TABLE, ledger

_LEDGER = f"anon_ledger_file.main.{TABLE}"


def check_ledger(path: Path | None, entity: str | None) -> None:
    """Raise AnonError if a ledger is asked for and nothing tells persons apart."""
    if path is not None and entity is None:
        rule = "--ledger needs the column that says whose a row is"
        raise AnonError("release", rule, "none", "name it in --entity")


def open_ledger(con: duckdb.DuckDBPyConnection, path: Path, entity: str, key: str) -> list[str]:
    """Attach a ledger, made where there is none, and return sentences about persons of ``raw``.

    Raises AnonError for an entry that was made with another key.
    """
    con.execute(f"ATTACH {literal(str(path))} AS anon_ledger_file")
    ledger(con, _LEDGER)
    return list(_again(con, entity, key))


def _again(con: duckdb.DuckDBPyConnection, entity: str, key: str) -> Iterator[str]:
    entries = con.execute(
        "SELECT release, strftime(released_at, '%Y-%m-%d'), shared "
        "FROM ledger_overlap('raw', $ledger, entity := $entity, key := $key)",
        {"ledger": _LEDGER, "entity": entity, "key": key},
    ).fetchall()
    for name, day, shared in entries:
        if shared is None:
            rule = "--ledger-key must be the key of all entries of the ledger"
            raise AnonError("release", rule, f"another for {name} of {day}")
        if shared:
            who = "1 person is" if shared == 1 else f"{shared:,} persons are"
            yield f"{who} in an earlier release, too: {name} of {day}; see docs/releasing-again.md"


def enter(
    con: duckdb.DuckDBPyConnection, name: str, key: str, made: Mapping[str, Any], released: Path
) -> None:
    """Enter the release of the relations ``raw`` and ``released``.

    name: as the ledger calls it. made: its manifest, without the hash of its file ``released``.
    """
    whole = manifest.with_output(made, released)
    con.execute(
        f"INSERT INTO {_LEDGER} FROM ledger_entry('raw', 'released', $name, entity := $entity, "
        "manifest := $manifest, key := $key)",
        {
            "name": name,
            "entity": made["parameters"]["entity"],
            "manifest": json.dumps(whole, ensure_ascii=False),
            "key": key,
        },
    )
