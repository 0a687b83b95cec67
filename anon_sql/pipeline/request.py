"""Check the roles, parameters and constraints of a call, and define the rows that a host passes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.core.columns import is_number
from anon_sql.core.labels.one_value import FORMS, is_one_value, type_of
from anon_sql.core.parameters import (
    Choice,
    Number,
    Option,
    OrNull,
    Positive,
    Whole,
    read,
    read_weights,
    refuse_withdrawn,
)
from anon_sql.core.roles import Roles, fold, named
from anon_sql.errors import (
    COMMENTS,
    AnonError,
    Argument,
    Parameter,
    Where,
    did_you_mean,
    joined,
    listed,
)
from anon_sql.methods.method import Method
from anon_sql.privacy.constraint import KINDS
from anon_sql.privacy.t_closeness import ranked

COMMON: dict[str, Option] = {
    "format": Choice(("label", "typed", *FORMS)),
    "suppressed": Choice(("keep", "drop")),
    "seed": Whole(0),
    "l": Number(1),
    "l_kind": Choice(KINDS),
    "c": Positive(),
    "t": Number(0, 1),
    "beta": OrNull(Positive()),
    "delta": OrNull(Positive()),
}
DEFAULTS: dict[str, Any] = {
    "format": "label",
    "suppressed": "keep",
    "seed": 0,
    "l": 1,
    "l_kind": "distinct",
    "c": 3,
    "t": 1.0,
    "beta": None,
    "delta": None,
}
MOST = 2**31 - 1  # larger k are equivalent: a table has fewer rows


@dataclass(frozen=True)
class Request:
    """A checked call.

    quasi: SQL type of each quasi-identifier by name, in the order of the call. kept: columns that
    are released unchanged. protected: sensitive columns that l, t, beta or delta applies to, by
    name, with whether t uses the ordered distance. entity: the column that identifies persons.
    classes: the column of given class ids. options: parameters of the method. threads: number of
    threads. time_zone: of timestamps that the hierarchy writes without one. strata: the
    quasi-identifiers that are not generalized. weights: of quasi-identifiers by name; those that
    are left out have 1. Others: as in the SQL interface.
    """

    function: str
    k: int
    quasi: Mapping[str, str]
    kept: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    protected: Mapping[str, bool] = field(default_factory=dict)
    entity: str | None = None
    classes: str | None = None
    format: str = "label"
    suppressed: str = "keep"
    seed: int = 0
    l: float = 1.0  # noqa: E741 - the field's name for it
    l_kind: str = "distinct"
    c: float = 3.0
    t: float = 1.0
    beta: float | None = None
    delta: float | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    threads: int = 1
    time_zone: str = "UTC"
    strata: tuple[str, ...] = ()
    weights: Mapping[str, float] = field(default_factory=dict)

    @property
    def typed(self) -> bool:
        return self.format == "typed"

    def value_type(self, name: str) -> str | None:
        """Return the SQL type of the means or medians of a column; None if it is shown by labels.

        name: of a quasi-identifier.
        """
        kind = self.quasi[name]
        one = is_one_value(self.function, name, kind, self.format)
        return type_of(kind, self.format) if one else None

    @property
    def limits(self) -> dict[str, Any]:
        """Return the limits on sensitive columns, by parameter of ``constraint``."""
        limits = {"l": self.l, "kind": self.l_kind, "c": self.c, "t": self.t}
        return {**limits, "beta": self.beta, "delta": self.delta}

    @property
    def centred(self) -> bool:
        """Return whether labels of numbers are the value nearest to the class mean (SDkA)."""
        return self.options.get("numbers") == "centre"


def require_size(function: str, k: object) -> int:
    """Return k as an integer of at least 1, or raise AnonError."""
    return min(Whole(1).read(function, "k", k), MOST)


def request(
    function: str,
    method: Method,
    types: Mapping[str, str],
    roles: Roles,
    k: int,
    given: Mapping[str, Any],
    *,
    entity: str | None = None,
    classes: str | None = None,
    drops: Sequence[str] = (),
    complete: bool = False,
    threads: int = 1,
    time_zone: str = "UTC",
) -> Request:
    """Return the request of a call, or raise AnonError for invalid parameters and roles.

    types: SQL type by column name; given: parameters by name, including those of the method;
    drops: columns that are dropped in addition to identifiers; complete: whether every other column
    must have a role, as in a release.
    """
    refuse_withdrawn(function, given)
    asked = read(function, COMMON, {**DEFAULTS, **given})
    options = read(function, method.options, given)
    if asked["format"] in FORMS and method.facts is not None and method.facts.perturbative:
        raise AnonError(
            function,
            Parameter("format") + " must be 'label' or 'typed' for a method that adds rows",
            f"'{asked['format']}'",
            Argument("numbers", "centre") + " shows one value of each class",
        )
    gone = {fold(name) for name in (classes, *drops) if name is not None}
    for name in (*roles.quasi, *roles.sensitive, *roles.keep):
        if fold(name) in gone:
            raise AnonError(
                function,
                "columns of classes and scores are dropped",
                f"{name} with a role",
                "leave it out of "
                + joined(", ", map(Parameter, ("qids", "sensitive")))
                + " and "
                + Parameter("keep"),
            )
    for name in roles.quasi:
        is_number(function, name, types[name])
    protected = _protected(function, asked, roles, types)
    missing = [name for name in roles.none if fold(name) not in gone]
    if complete and missing:
        raise AnonError(
            function,
            "every column needs a role",
            f"none for {listed(missing)}",
            Where(COMMENTS, "declare it (COMMENT ON COLUMN t.name IS 'anon:keep'), ")
            + "name it in "
            + joined(", ", map(Parameter, ("identifiers", "qids", "sensitive")))
            + " or "
            + Parameter("keep")
            + ", or pass "
            + Argument("keep", ["*"])
            + " to release all of them as they are",
        )
    gone |= {fold(name) for name in (*roles.quasi, *roles.identifier)}
    return Request(
        function,
        k,
        {name: types[name] for name in roles.quasi},
        tuple(name for name in types if fold(name) not in gone),
        roles.sensitive,
        protected,
        entity,
        classes,
        **asked,
        options=options,
        threads=threads,
        time_zone=time_zone,
        strata=_strata(function, given.get("strata"), roles.quasi),
        weights=read_weights(function, given.get("weights"), roles.quasi),
    )


def _strata(function: str, given: object, quasi: Sequence[str]) -> tuple[str, ...]:
    """Return the quasi-identifiers that are not generalized, spelled as in the table."""
    columns = {fold(name): name for name in quasi}
    return tuple(named(function, "strata", given, columns, "quasi-identifiers") or ())


def _protected(
    function: str, asked: Mapping[str, Any], roles: Roles, types: Mapping[str, str]
) -> dict[str, bool]:
    """Return the columns that l, t, beta or delta applies to, and whether t is by rank."""
    if asked["l_kind"] != "entropy" and asked["l"] != int(asked["l"]):
        raise AnonError(
            function,
            Parameter("l")
            + " must be a whole number where "
            + Parameter("l_kind")
            + f" is '{asked['l_kind']}'",
            f"{asked['l']:g}",
            Argument("l_kind", "entropy") + " takes fractions",
        )
    bounded = asked["beta"] is not None or asked["delta"] is not None
    wanted = asked["l"] > 1 or asked["t"] < 1 or bounded
    if wanted and not roles.sensitive:
        raise AnonError(
            function,
            joined(" and ", map(Parameter, ("beta", "delta") if bounded else ("l", "t")))
            + " need a sensitive column",
            "none",
            "pass "
            + Argument("sensitive", ["illness", ...])
            + Where(COMMENTS, " or declare it: COMMENT ON COLUMN t.illness IS 'anon:sensitive'"),
        )
    return {name: ranked(function, name, types[name]) for name in roles.sensitive if wanted}


def entity_of(function: str, given: object, names: Sequence[str] | Mapping[str, str]) -> str | None:
    """Return the column that identifies persons, spelled as in the table; None for none.

    Raises AnonError if ``given`` is not the name of a column.
    """
    if given is None:
        return None
    folded = {fold(name): name for name in names}
    if isinstance(given, str) and fold(given) in folded:
        return folded[fold(given)]
    raise AnonError(
        function,
        Parameter("entity") + " must name a column of the table",
        f"'{given}'" if isinstance(given, str) else type(given).__name__,
        did_you_mean(given, folded.values()) if isinstance(given, str) else None,
    )


@dataclass(frozen=True)
class Source:
    """n rows in source order, as Arrow arrays by column name.

    quasi: values of the quasi-identifiers. hashes: uint64[n], a hash of the kept columns of each
    row. keys: binary sort keys of each protected column and of the entity, empty for NULL.
    classes: class ids that come with the table. real: bool[n], false for synthetic rows; None if
    there are none.
    """

    quasi: Mapping[str, pa.Array]
    hashes: pa.Array
    keys: Mapping[str, pa.Array] = field(default_factory=dict)
    classes: pa.Array | None = None
    real: npt.NDArray[np.bool_] | None = None
