"""Check the roles, parameters and constraints of a call, and define the rows that a host passes.

``checked`` is the only maker of requests, for every host: a host describes its relation and hands
over the arguments of the call.
"""

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.core.bin_width import read_bin_widths
from anon_sql.core.columns import is_number
from anon_sql.core.common_parameters import (
    Output,
    Seed,
    Transparent,
    read_weights,
)
from anon_sql.core.labels.types import AVERAGES, released_type
from anon_sql.core.ordered import read_ordered
from anon_sql.core.parameters import (
    function_of,
    no_parameter,
    own_group,
    parameters_of,
    read_group,
    takes,
)
from anon_sql.core.pseudonyms import KEY, choices, resolved
from anon_sql.core.roles import PARAMETER, Roles, assign, fold, including, named
from anon_sql.errors import (
    COMMANDS,
    COMMENTS,
    AnonError,
    Argument,
    Parameter,
    Where,
    did_you_mean,
    joined,
    listed,
)
from anon_sql.methods.method import COMMON, Method, find_method
from anon_sql.privacy import VALUE_MODELS
from anon_sql.privacy.k_anonymity import KAnonymity
from anon_sql.privacy.l_diversity import LDiversity
from anon_sql.privacy.max_share import OneOfL
from anon_sql.privacy.model import ValueModel
from anon_sql.privacy.t_closeness import ranked

MAX_K = 2**31 - 1  # a larger k is equivalent: a table has fewer rows


@dataclass(frozen=True)
class Relation:
    """A host's description of its input.

    types: SQL type by column name, in the order of the table.
    comments: by folded column name, of columns that have one.
    threads: number of threads.
    time_zone: of timestamps that a hierarchy writes without one.
    agrees: raises AnonError if these are not the roles with which the host has read the relation.
    """

    types: Mapping[str, str]
    comments: Mapping[str, str | None] = field(default_factory=dict)
    threads: int = 1
    time_zone: str = "UTC"
    agrees: Callable[[Roles], None] = lambda roles: None


@dataclass(frozen=True)
class Request:
    """A checked call. Fields that are not described are as in the SQL interface.

    quasi: SQL type of each quasi-identifier by name, in the order of the call.
    kept: columns that are released unchanged.
    protected: sensitive columns that models apply to, by name, with whether t uses the ordered
        distance.
    entity: the column that identifies persons.
    classes: the column of class ids.
    seed: of random choices; with a key, the one that ``choices`` derives.
    ties: a key that decides between rows with equal quasi-identifiers, None without a key.
    transparent: whether classes must disclose nothing about sensitive values.
    models: the privacy models that are required of sensitive values.
    options: the group of the function's own parameters.
    threads: number of threads.
    time_zone: of timestamps that the hierarchy writes without one.
    strata: the quasi-identifiers that are not generalized.
    weights: of quasi-identifiers by name; those that are left out have 1.
    bin_width: of those whose values are cut.
    ordered: the columns of type ENUM whose values have an order.
    rest: SQL type of each column that only a ``*`` releases as it is, by name; the host looks at
        its values first (``without_identifiers``), because ``prepare`` refuses a request that has
        any.
    method: of the function; None if it makes no classes by itself.
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
    seed: int = parameters_of(Seed)["seed"].default
    ties: bytes | None = field(default=None, repr=False)
    transparent: bool = False
    transparent_by: str = "groups"
    models: tuple[ValueModel, ...] = ()
    options: Any = None
    threads: int = 1
    time_zone: str = "UTC"
    strata: tuple[str, ...] = ()
    weights: Mapping[str, float] = field(default_factory=dict)
    bin_width: Mapping[str, Decimal] = field(default_factory=dict)
    ordered: tuple[str, ...] = ()
    rest: Mapping[str, str] = field(default_factory=dict)
    method: Method | None = field(default=None, repr=False)

    @property
    def typed(self) -> bool:
        return self.format == "typed"

    def released_type(self, name: str) -> str:
        """Return the SQL type in which a quasi-identifier is released."""
        return released_type(self.function, name, self.quasi[name], self.format)

    def option(self, name: str) -> Any:
        """Return an own parameter of some methods; None if the method lacks it."""
        return getattr(self.options, name, None)

    @property
    def rest_parameter(self) -> str:
        """Return the parameter whose ``*`` releases the columns of ``rest`` as they are."""
        return "keep" if self.rest.keys().isdisjoint(self.sensitive) else "sensitive"

    @property
    def centred(self) -> bool:
        """Return whether labels of numbers are the value nearest to the class mean (SDkA)."""
        return bool(self.option("numbers") == "centre")


def arguments(function: str, call_arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the arguments of a call; raise AnonError for one that the function does not take."""
    find_method(function)  # loads what declares it
    declared = takes(function)
    for name in call_arguments:
        if name not in declared:
            raise AnonError(function, no_parameter(name, declared))
    return call_arguments


def checked(
    function: str,
    relation: Relation,
    call_arguments: Mapping[str, Any],
    *,
    complete: bool = True,
    drops: Sequence[str] = (),
    key_of: Callable[[str, object], bytes] = resolved,
) -> Request:
    """Return the request of a call, or raise AnonError for invalid parameters and roles.

    call_arguments: arguments by name; those that are left out have their defaults.
    complete: whether every column must have a role, as in a release.
    drops: columns that are left out besides identifiers.
    key_of: returns the key from the function and the argument of ``key``.
    """
    if call_arguments.get("series") is not None:  # SQL reads it, and does not pass it on
        rule = Parameter("series") + " is a parameter of the SQL function alone"
        raise AnonError(function, rule, "another call", "call it in SQL, or leave it out")
    method, types = find_method(function), relation.types
    call_arguments = {
        **{name: declaration.default for name, declaration in takes(function).items()},
        **call_arguments,
    }
    k = min(read_group(KAnonymity, function, call_arguments).k, MAX_K)
    classes = _classes(function, call_arguments, types)
    entity = entity_of(function, call_arguments.get("entity"), types)
    roles = roles_of(
        function, relation, call_arguments, drops=(*drops, *([classes] if classes else ()))
    )
    relation.agrees(roles)
    groups = (Output, Seed, Transparent)
    common = {
        name: value
        for group in groups
        for name, value in _read_items(group, function, call_arguments)
    }
    ties = None
    chooses = method is not None or "method" in takes(function)  # and the key is not of a series
    if chooses and call_arguments.get("key") is not None:
        common["seed"], ties = choices(key_of(function, call_arguments["key"]), common["seed"])
    models: list[ValueModel] = [
        read_group(group, function, call_arguments) for group in VALUE_MODELS
    ]
    options: Any = read_group(own_group(function, COMMON), function, call_arguments)
    if common["transparent"]:
        models = _transparent(function, call_arguments, models, ties)
    if method is not None and method.perturbative:
        _require_ranges(function, common["format"])
    without_role = {fold(name) for name in (classes, *drops) if name is not None}
    _require_no_role(function, roles, without_role)
    for name in roles.quasi:
        is_number(function, name, types[name])
    ordered = read_ordered(
        function, call_arguments.get("ordered"), types, (*roles.quasi, *roles.sensitive)
    )
    protected = _protected(function, models, roles, types, ordered)
    if complete:
        _require_roles(function, roles, without_role)
    without_role |= {fold(name) for name in (*roles.quasi, *roles.left_out)}
    return Request(
        function,
        k,
        {name: types[name] for name in roles.quasi},
        tuple(name for name in types if fold(name) not in without_role),
        roles.sensitive,
        protected,
        entity,
        classes,
        **common,
        ties=ties,
        models=tuple(model for model in models if model.required),
        options=options,
        threads=relation.threads,
        time_zone=relation.time_zone,
        strata=_strata(function, call_arguments.get("strata"), roles.quasi),
        weights=read_weights(function, call_arguments.get("weights"), roles.quasi),
        bin_width=read_bin_widths(
            function,
            call_arguments.get("bin_width"),
            {name: types[name] for name in roles.quasi},
            common["format"],
        ),
        ordered=ordered,
        rest={name: types[name] for name in roles.rest} if complete else {},
        method=method,
    )


def _require_ranges(function: str, form: str) -> None:
    """Raise AnonError for a format that a method that adds rows cannot show."""
    if form in AVERAGES:
        raise AnonError(
            function,
            Parameter("format")
            + f" must not be {' or '.join(map(repr, AVERAGES))} for a method that adds rows",
            f"'{form}'",
            Argument("numbers", "centre") + " shows one value of each class",
        )


def _require_no_role(function: str, roles: Roles, without_role: Container[str]) -> None:
    """Raise AnonError if a column of classes or scores has a role; without_role: folded names."""
    for name in (*roles.quasi, *roles.sensitive, *roles.keep):
        if fold(name) in without_role:
            raise AnonError(
                function,
                "columns of classes and scores are dropped",
                f"{name} with a role",
                "leave it out of "
                + joined(", ", map(Parameter, ("quasi", "sensitive")))
                + " and "
                + Parameter("keep"),
            )


def _require_roles(function: str, roles: Roles, without_role: Container[str]) -> None:
    """Raise AnonError if another column has no role; without_role: folded names."""
    missing = [name for name in roles.none if fold(name) not in without_role]
    if missing:
        raise AnonError(
            function,
            "every column needs a role",
            f"no role for {listed(missing)}",
            Where(COMMENTS, "declare it (COMMENT ON COLUMN t.name IS 'anon:keep'), ")
            + "name it in "
            + joined(", ", map(Parameter, ("identifiers", "quasi", "sensitive")))
            + " or "
            + Parameter("keep")
            + ", or pass "
            + Argument("keep", ["*"])
            + " to release all of them as they are"
            + Where(COMMANDS, "; anon-sql roles suggests roles"),
        )


def roles_of(
    function: str,
    relation: Relation,
    call_arguments: Mapping[str, Any],
    *,
    needs_quasi: bool = True,
    drops: Sequence[str] = (),
) -> Roles:
    """Return the roles of a relation's columns, from the arguments of a call and from comments.

    The column of ``entity`` is an identifier. needs_quasi, drops: as in ``assign``.
    """
    names = list(relation.types)
    named_columns = {name: call_arguments.get(name) for name in PARAMETER.values()}
    entity = entity_of(function, call_arguments.get("entity"), names)
    if entity is not None:
        named_columns["identifiers"] = including(named_columns["identifiers"], entity)
    comments = relation.comments
    return assign(function, names, comments, named_columns, needs_quasi=needs_quasi, dropped=drops)


def _transparent(
    function: str,
    call_arguments: Mapping[str, Any],
    models: list[ValueModel],
    ties: bytes | None,
) -> list[ValueModel]:
    """Return the models of a transparent release: no share above 1/l, besides those of the call.

    Raises AnonError without a key, and for parameters that are not covered by the proof.
    """
    by_size = call_arguments.get("transparent_by") == "size"
    names = ("suppression_limit",) if by_size else ("entity", "suppression_limit")
    refused = [name for name in names if call_arguments.get(name)]
    if refused:
        raise AnonError(
            function,
            Parameter("transparent") + " must go without " + Parameter(refused[0]),
            None,
            "leave one of them out",
        )
    if ties is None:
        raise AnonError(
            function,
            Parameter("transparent") + " needs a secret key, which decides between equal rows",
            None,
            "put at least 16 random bytes into a variable, and pass " + Argument("key", KEY),
        )
    distinct: list[ValueModel] = (
        []
        if by_size
        else [
            OneOfL(max_share=1 / model.l)
            for model in models
            if isinstance(model, LDiversity) and model.required and model.l_kind == "distinct"
        ]
    )
    return [*models, *distinct]


def _read_items(
    group: type, function: str, call_arguments: Mapping[str, Any]
) -> list[tuple[str, Any]]:
    """Return the checked values of a group by name."""
    return list(vars(read_group(group, function, call_arguments)).items())


def _classes(
    function: str, call_arguments: Mapping[str, Any], types: Mapping[str, str]
) -> str | None:
    """Return the column of class ids, None for a function that takes no classes.

    Raises AnonError for a column that cannot be it, and for one that the function adds.
    """
    folded = {fold(column): column for column in types}
    for added in function_of(function).adds:
        if added in folded:
            raise AnonError(
                function, f"the table must not have a column {added}", folded[added], "rename it"
            )
    rule = Parameter("classes") + " must name a column of the table"
    declared = takes(function)
    if "classes" not in declared:
        return None
    argument = call_arguments.get("classes", declared["classes"].default)
    if argument is None:
        raise AnonError(function, rule, "NULL")
    if not isinstance(argument, str) or fold(argument) not in folded:
        hint = did_you_mean(argument, types) if isinstance(argument, str) else None
        raise AnonError(function, rule, f"'{argument}'", hint)
    column = folded[fold(argument)]
    kind = types[column]
    if kind.endswith(("]", ")")) and not kind.startswith(("DECIMAL", "ENUM")):
        rule = Parameter("classes") + " must be numbers or text"
        raise AnonError(function, rule, f"a column of type {kind}")
    return column


def _strata(function: str, value: object, quasi: Sequence[str]) -> tuple[str, ...]:
    """Return the quasi-identifiers that are not generalized, spelled as in the table."""
    columns = {fold(name): name for name in quasi}
    return tuple(named(function, "strata", value, columns, "quasi-identifiers") or ())


def _protected(
    function: str,
    models: Sequence[ValueModel],
    roles: Roles,
    types: Mapping[str, str],
    ordered: Sequence[str],
) -> dict[str, bool]:
    """Return the columns that the models apply to, and whether t is by rank."""
    for model in models:
        model.check(function)
    required = [model for model in models if model.required]
    if required and not roles.sensitive:
        names = required[-1].named_with
        raise AnonError(
            function,
            joined(" and ", map(Parameter, names))
            + f" {'need' if len(names) > 1 else 'needs'} a sensitive column",
            None,
            "pass "
            + Argument("sensitive", ["illness", ...])
            + Where(COMMENTS, " or declare it: COMMENT ON COLUMN t.illness IS 'anon:sensitive'"),
        )
    return {
        name: name in ordered or ranked(function, name, types[name])
        for name in roles.sensitive
        if required
    }


def entity_of(function: str, value: object, names: Sequence[str] | Mapping[str, str]) -> str | None:
    """Return the column that identifies persons, spelled as in the table; None for none.

    Raises AnonError if ``value`` is not the name of a column.
    """
    if value is None:
        return None
    folded = {fold(name): name for name in names}
    if isinstance(value, str) and fold(value) in folded:
        return folded[fold(value)]
    raise AnonError(
        function,
        Parameter("entity") + " must name a column of the table",
        f"'{value}'" if isinstance(value, str) else type(value).__name__,
        did_you_mean(value, folded.values()) if isinstance(value, str) else None,
    )


@dataclass(frozen=True)
class Source:
    """n rows in source order, as Arrow arrays by column name.

    quasi: values of the quasi-identifiers.
    hashes: uint64[n], a hash of the kept columns of each row.
    keys: binary sort keys of each protected column and of the entity, empty for NULL.
    classes: class ids that come with the table.
    real: bool[n], false for synthetic rows; None without such rows.
    """

    quasi: Mapping[str, pa.Array]
    hashes: pa.Array
    keys: Mapping[str, pa.Array] = field(default_factory=dict)
    classes: pa.Array | None = None
    real: npt.NDArray[np.bool_] | None = None
