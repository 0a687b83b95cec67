"""Complete the parameters of a call with their defaults, and word the error for an unknown one."""

from collections.abc import Collection, Mapping
from typing import Any

from anon_sql.errors import AnonError, did_you_mean
from anon_sql.hosts.duckdb.sql_files import defaults

_SYNONYMS = {
    "quasi": "qids",
    "quasi_identifiers": "qids",
    "qi": "qids",
    "identifier": "identifiers",
    "table": "tbl",
}


def with_defaults(function: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a function of SQL; raise AnonError for one that it does not have."""
    known = defaults(function)
    for name in given:
        if name not in known:
            raise AnonError(function, no_parameter(name, known))
    return {**known, **given}


def no_parameter(name: str, known: Collection[str]) -> str:
    """Return the error for a parameter that is none of the known ones."""
    meant = _SYNONYMS.get(name.lower())
    hint = f"did you mean {meant}?" if meant in known else did_you_mean(name, known)
    return f"it has no parameter {name}; {hint}"
