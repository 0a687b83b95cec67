"""Refuse a release whose classes hold rows of fewer than k people, unless the unit is a row."""

from collections.abc import Mapping
from typing import Any

import duckdb

from anon_sql.audit.parameters import PEOPLE
from anon_sql.core.common_parameters import ROW
from anon_sql.errors import AnonError, Argument
from anon_sql.hosts.duckdb.identifiers import identifiers_of
from anon_sql.measures.person_keys import SHARED, person_key

_ASKED = ("quasi", "sensitive", "identifiers", "keep", "exclude", "hierarchy", "suppressed")


def require_people(
    con: duckdb.DuckDBPyConnection, call: Mapping[str, Any], unit: str, *, counted: bool
) -> None:
    """Raise AnonError if an identifier repeats, so that a class of ``released`` has fewer than k
    of its values.

    call: the parameters of the release. unit: what must be protected. counted: whether the classes
    of the release can be counted; otherwise an identifier must not repeat.
    """
    if unit == ROW or call.get("entity") is not None or "k" not in call:
        return
    labelled = [*(call["quasi"] or []), *(call["sensitive"] or [])]
    identifiers = identifiers_of(con, "raw", labelled, call["identifiers"] or [])
    if not any(each.repeats for each in identifiers):
        return
    if not counted:
        key = person_key([each for each in identifiers if each.kind != SHARED])
        if key is not None:
            _refuse(call["k"], f"{key.name}, which repeats", key.name)
        return
    parameters = {name: call.get(name) for name in _ASKED}
    listed = ", ".join(f"{name} := ${name}" for name in parameters)
    audited = f"FROM audit('raw', 'released', $k, {listed}) WHERE property = '{PEOPLE}'"
    ((passed, count, key_name),) = con.execute(
        f"SELECT passed, found, example {audited}", {"k": call["k"], **parameters}
    ).fetchall()
    if passed is not True:
        got = "an unknown number" if count is None else f"{count:,.0f} by {key_name} in one"
        _refuse(call["k"], got, key_name)


def _refuse(k: int, got: str, key: str | None) -> None:
    hint = Argument("unit", ROW) + " if each row is a person of its own"
    if key is not None:
        hint = Argument("entity", key) + " counts people; or pass " + hint
    raise AnonError("release", f"each class must have {k} people, not only {k} rows", got, hint)
