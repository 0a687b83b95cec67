"""What an audit asks of its call: roles, parameters, and relations that fit together."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from anon_sql.arrow import first
from anon_sql.calls.protection import entity_of
from anon_sql.errors import AnonError
from anon_sql.measures.call import is_label, require_columns, require_types, roles_of
from anon_sql.measures.checked import types_of
from anon_sql.measures.protected import KIND, numbers_of
from anon_sql.measures.sensitive import require_bound, require_released
from anon_sql.options import Choice, Number, Option, OrNull, Positive, Whole, read
from anon_sql.registry import udf
from anon_sql.roles import fold

_OPTIONS: dict[str, Option] = {
    "l": OrNull(Number(1)),
    "t": OrNull(Number(0, 1)),
    "l_kind": KIND,
    "c": Positive(),
    "suppressed": Choice(("keep", "drop")),
    "synthetic": Whole(0),
}
_NAME = "audit"


@udf(
    "__anon_audit_asks",
    "STRUCT(k BIGINT, l DOUBLE, t DOUBLE, l_kind VARCHAR, c DOUBLE, suppressed VARCHAR, "
    "synthetic BIGINT, entity VARCHAR, quasi VARCHAR[], types VARCHAR[], typed BOOLEAN[], "
    "sensitive VARCHAR[], numbers VARCHAR[], identifiers VARCHAR[], loose VARCHAR[], "
    "shared VARCHAR[], added VARCHAR[])",
)
def asks(
    raw_types: Any,
    released_types: Any,
    k: Any,
    options: Any,
    entity: Any,
    scope: Any,
    seen: Any,
    released: Any,
) -> pa.Array:
    """The parameters of a call, its quasi-identifiers with their types, and other columns by what
    they are: ``identifiers`` and ``loose`` (without a role) that the release has, all in ``both``
    relations, and ``added`` by the release. AnonError for a call that means nothing."""
    raw, shown = types_of(raw_types), types_of(released_types)
    given = first(k)
    size = OrNull(Whole(1)).read(_NAME, "k", pa.types.is_boolean(k.type) or given)
    roles = roles_of(_NAME, raw, first(scope), first(seen), first(released))
    release = {fold(name): kind for name, kind in shown.items()}
    require_columns(_NAME, roles.quasi, release)
    for column in roles.quasi:
        require_types(_NAME, column, raw[column], release[fold(column)])
    require_bound(_NAME, roles.sensitive, first(scope))
    require_released(_NAME, roles.sensitive, shown)
    checked = read(_NAME, _OPTIONS, first(options))
    asks = {"l": (checked["l"] or 1) > 1, "t": checked["t"] is not None and checked["t"] < 1}
    for name, wanted in asks.items():
        if wanted and not roles.sensitive:
            raise AnonError(
                _NAME,
                f"{name} needs a sensitive column",
                "none",
                "pass sensitive := ['illness', …]",
            )
    person = _entity(first(entity), raw, roles.quasi)
    others = {fold(name) for name in raw} - {fold(name) for name in roles.quasi}
    return pa.array(
        [
            {
                **checked,
                "k": size,
                "entity": person,
                "quasi": list(roles.quasi),
                "types": [raw[name] for name in roles.quasi],
                "typed": [not is_label(release[fold(name)]) for name in roles.quasi],
                "sensitive": list(roles.sensitive),
                "numbers": numbers_of(_NAME, roles.sensitive, raw),
                "identifiers": list(roles.identifier),
                "loose": [name for name in roles.none if name != person],
                "shared": [name for name in raw if fold(name) in others & release.keys()],
                "added": [name for name in shown if fold(name) not in map(fold, raw)],
            }
        ]
    )


def _entity(given: Any, raw: Mapping[str, str], quasi: Sequence[str]) -> str | None:
    person = entity_of(_NAME, given, raw)
    if person in quasi:
        raise AnonError(_NAME, "entity must tell persons apart", f"the quasi-identifier {person}")
    return person
