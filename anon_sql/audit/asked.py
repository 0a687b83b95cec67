"""What an audit asks of its two relations: parameters, roles and columns that fit together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from anon_sql.core.options import Choice, Number, Option, OrNull, Positive, Relations, Whole, read
from anon_sql.core.roles import Roles, fold
from anon_sql.core.withdrawn import refuse_withdrawn
from anon_sql.errors import AnonError
from anon_sql.measures.diversity import KIND, C
from anon_sql.measures.pair import require_released, require_types
from anon_sql.pipeline.request import entity_of

NAME = "audit"
_OPTIONS: dict[str, Option] = {
    "k": OrNull(Whole(1)),
    "l": OrNull(Number(1)),
    "t": OrNull(Number(0, 1)),
    "beta": OrNull(Positive()),
    "delta": OrNull(Positive()),
    "l_kind": KIND,
    "c": C,
    "suppressed": Choice(("keep", "drop")),
    "synthetic": Whole(0),
    "unique_share": Number(0, 1),
    "previous": Relations(),
    "previous_share": Number(0, 1),
}


@dataclass(frozen=True)
class Asked:
    """k, l, t: None where they are only measured; beta, delta: None where they are not.

    entity: the column that tells persons apart. synthetic: number of rows that were added.
    unique_share: largest share of rows that may be unique on the kept columns together; previous:
    names of earlier releases; previous_share: of persons whom ``composition`` may find.
    types: SQL type by quasi-identifier; values: by sensitive column.
    identifiers, loose (without a role): columns that the release has; shared: all of the raw
    table's others that it has; dropped: kept ones that it lacks; added: its own.
    """

    k: int | None
    l: float | None  # noqa: E741 - the field's name for it
    t: float | None
    beta: float | None
    delta: float | None
    l_kind: str
    c: float
    suppressed: str
    synthetic: int
    unique_share: float
    previous: Any
    previous_share: float
    entity: str | None
    types: Mapping[str, str]
    values: Mapping[str, str]
    shared: tuple[str, ...]
    dropped: tuple[str, ...]
    added: tuple[str, ...]
    identifiers: tuple[str, ...]
    leftover: tuple[str, ...]
    loose: frozenset[str]


def asked(
    roles: Roles,
    raw: Mapping[str, str],
    shown: Mapping[str, str],
    options: Mapping[str, Any],
) -> Asked:
    """Check a call. raw, shown: SQL types of the raw table and its release, by column name;
    options: parameters by name.

    Raises AnonError for a call that means nothing.
    """
    release = {fold(name): kind for name, kind in shown.items()}
    require_types(NAME, roles.quasi, raw, release, values=True)
    require_released(NAME, roles.sensitive, list(shown))
    refuse_withdrawn(NAME, {"counterfeits": options["counterfeits"]})
    checked = read(NAME, _OPTIONS, options)
    asks = {"l": (checked["l"] or 1) > 1, "t": checked["t"] is not None and checked["t"] < 1}
    asks |= {name: checked[name] is not None for name in ("beta", "delta")}
    for name, wanted in asks.items():
        if wanted and not roles.sensitive:
            raise AnonError(
                NAME,
                f"{name} needs a sensitive column",
                "none",
                "pass sensitive := ['illness', …]",
            )
    person = _entity(options["entity"], raw, roles.quasi)
    others = [name for name in raw if name not in roles.quasi]
    shared = tuple(name for name in others if fold(name) in release)
    return Asked(
        **checked,
        entity=person,
        types={name: raw[name] for name in roles.quasi},
        values={name: raw[name] for name in roles.sensitive},
        shared=shared,
        dropped=tuple(name for name in roles.keep if name not in shared),
        added=tuple(name for name in shown if fold(name) not in map(fold, raw)),
        identifiers=roles.identifier,
        leftover=tuple(name for name in roles.identifier if name in shared),
        loose=frozenset(name for name in roles.none if name in shared and name != person),
    )


def _entity(given: object, raw: Mapping[str, str], quasi: Sequence[str]) -> str | None:
    person = entity_of(NAME, given, raw)
    if person in quasi:
        raise AnonError(NAME, "entity must tell persons apart", f"the quasi-identifier {person}")
    return person
