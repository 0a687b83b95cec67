"""Isolation, linkage and inference as SQL calls them: people in, a row per attack out."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from anon_sql.attacks.candidates import People, RawGroups
from anon_sql.attacks.criteria import (
    GAINED,
    INFERENCE,
    ISOLATION,
    LINKAGE,
    Attacked,
    Attempts,
    FirstSource,
    check_control,
    inference,
    isolation,
    linkage,
)
from anon_sql.core.arrow import first, one_list
from anon_sql.core.labels.reading import coverage
from anon_sql.core.parameters import read_group
from anon_sql.core.roles import fold
from anon_sql.errors import AnonError, Parameter, listed
from anon_sql.hosts.duckdb.binding import HELPER, types_of
from anon_sql.hosts.duckdb.functions.attacks import groups_of
from anon_sql.hosts.duckdb.pair import PairInput, by_name, columns_of
from anon_sql.hosts.duckdb.registry import sql_type, udf

_GAINED = sql_type(pa.list_(GAINED))


@udf(_GAINED)
def isolated(
    argument: Any, persons: Any, controls: Any, types: Any, parameters: Any, _: Any
) -> pa.Array:
    """Return how many predicates of the release isolate a person."""
    attacked, options = _attacked(ISOLATION, argument, persons, controls, types, first(parameters))
    return one_list(isolation(attacked, options), GAINED)


@udf(_GAINED)
def linked(
    argument: Any, persons: Any, controls: Any, types: Any, parameters: Any, threads: Any
) -> pa.Array:
    """Return how often two records of a person are linked by the release."""
    settings = dict(first(parameters))
    known_columns = read_group(FirstSource, LINKAGE, {"known": settings.pop("known")}).known
    attacked, options = _attacked(LINKAGE, argument, persons, controls, types, settings)
    return one_list(linkage(attacked, known_columns, options, first(threads)), GAINED)


@udf(_GAINED)
def inferred(
    argument: Any, persons: Any, controls: Any, types: Any, parameters: Any, threads: Any
) -> pa.Array:
    """Return how often the sensitive value of a person is guessed."""
    attacked, options = _attacked(INFERENCE, argument, persons, controls, types, first(parameters))
    return one_list(inference(attacked, options, first(threads)), GAINED)


def _attacked(
    function: str,
    argument: Any,
    persons: Any,
    controls: Any,
    types: Any,
    parameters: Mapping[str, Any],
) -> tuple[Attacked, Attempts]:
    """Return the people of the raw table and of the control, and the options; see ``Attacked``.

    persons, controls: the results of ``__anon_class_groups``. types: that of ``__anon_types`` for
    the control, None without one.
    """
    options = read_group(Attempts, function, parameters)
    pair_input = PairInput(function, argument)
    pair = pair_input.pair()
    pair.losses  # noqa: B018 - labels that cannot be read are an error
    spreads = pair_input.class_values(pair) if function == INFERENCE else {}
    sides = [columns_of(persons), columns_of(controls)]
    is_controlled = first(types) is not None
    if is_controlled:
        _require_columns(function, [*pair.roles.quasi, *spreads], types_of(types))
    paths = pair_input.rows_of_hierarchy(pair.roles.quasi)
    covered = [
        coverage(
            function,
            name,
            pair.types[name],
            _together(function, name, [by_name(side, name) for side in sides]),
            labels,
            paths.get(name),
        )
        for name, labels in pair.labels.items()
    ]
    raw, control = (groups_of(side, spreads) for side in sides)
    groups = RawGroups(
        np.concatenate([raw.group_of, control.group_of + len(sides[0][HELPER + "held"])]),
        {name: pa.concat_arrays([raw.keys[name], control.keys[name]]) for name in spreads},
        np.concatenate([raw.counts, control.counts]),
    )
    people = People(function, covered, groups, pair.sizes, spreads)
    attacked = Attacked(list(pair.labels), people, groups.counts, len(raw.counts))
    if is_controlled:
        check_control(attacked)
    return attacked, options


def _together(function: str, name: str, sides: list[pa.Array]) -> pa.Array:
    """Return the values of both relations in the type of the raw table, or raise AnonError."""
    raw, control = sides
    try:
        return pa.concat_arrays([raw, control.cast(raw.type)])
    except pa.ArrowException:
        rule = Parameter("control") + " must have columns of the types of the raw table"
        raise AnonError(function, rule, f"{listed([name])} of another type") from None


def _require_columns(function: str, names: list[str], columns: Mapping[str, Any]) -> None:
    """Raise AnonError unless a relation has all columns."""
    present = {fold(name) for name in columns}
    if missing := [name for name in names if fold(name) not in present]:
        rule = Parameter("control") + " must have the columns of the raw table that are attacked"
        raise AnonError(function, rule, f"no column {listed(missing)}")
