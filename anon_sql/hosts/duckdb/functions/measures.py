"""Measures of a release, ``risk`` and Gower's distance, as SQL calls them."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from anon_sql.core.arrow import first, integers, one_array
from anon_sql.core.common_parameters import read_weights
from anon_sql.core.ordered import read_ordered
from anon_sql.core.parameters import read_group
from anon_sql.core.roles import fold
from anon_sql.errors import AnonError, Parameter, did_you_mean
from anon_sql.hosts.duckdb.binding import HELPER
from anon_sql.hosts.duckdb.pair import (
    PairInput,
    as_names,
    as_rows,
    by_name,
    columns_of,
    require_bound,
    rows_by,
    tables,
)
from anon_sql.hosts.duckdb.registry import sql_type, udf
from anon_sql.hosts.duckdb.rows import named
from anon_sql.measures.pair import Pair, require_released
from anon_sql.measures.utility import UTILITY, Utility, utility
from anon_sql.measures.values import LOSS, ValueLoss, require_values, value_loss
from anon_sql.measures.values import NAME as VALUE_LOSS
from anon_sql.methods.gower import gower
from anon_sql.privacy import VALUE_MODELS
from anon_sql.privacy.class_values import NOTHING, ClassValues, TableValues
from anon_sql.privacy.model import ValueModel
from anon_sql.privacy.t_closeness import require_in_table, with_ground
from anon_sql.risk.population import NAME as RISK_NAME
from anon_sql.risk.population import ClassWeights, Population, Risk, require_columns
from anon_sql.risk.risk import RISK, risk


@udf(sql_type(UTILITY))
def all_measures(
    function: Any, argument: Any, k: Any, form: Any, adds: Any, weights: Any, released_alone: Any
) -> pa.Array:
    """Return every measure of information loss.

    adds: whether the release may have more rows; weights: of gcp; released_alone: see ``utility``.
    """
    name = first(function)
    chosen = read_group(
        Utility, name, {"k": first(k), "ncp": first(form), "weights": first(weights)}
    )
    pair_input = PairInput(name, argument)
    quasi = pair_input.roles(values=True).quasi
    if pair_input.alone:
        return pa.array([{"smallest_class": pair_input.smallest_class()}], UTILITY)
    counted, weighted = pair_input.counted(quasi), read_weights(name, chosen.weights, quasi)
    keywords = {"adds": first(adds), "released_alone": first(released_alone)}
    return pa.array([utility(counted, chosen.k, chosen.ncp, weighted, **keywords)], UTILITY)


@udf("DOUBLE[]")
def class_ncp(function: Any, argument: Any, added: Any) -> pa.Array:
    """Return the mean NCP over all quasi-identifiers of every class, NULL of means and medians.

    added: further columns of the result, with which no quasi-identifier may share its name.
    """
    name, pair_input = first(function), PairInput(first(function), argument)
    pair = pair_input.pair(values=True)
    pair.require_no_more_rows()
    lost = [loss.loss for loss in pair.losses.values()]
    single = any(loss.one_value for loss in pair.losses.values())
    counted = named(pair_input.groups, HELPER + "distinct_")
    released_names = {fold(column) for column in pair.released}
    sensitive = [column for column in pair.roles.sensitive if fold(column) in released_names]
    require_bound(name, sensitive, [column for column in counted if column != HELPER + "none"])
    require_released(name, as_names(pair_input.call["sensitive"]), list(pair.released))
    result_names = {
        fold(other) for other in [*first(added), *(f"distinct_{column}" for column in counted)]
    }
    for column in pair.roles.quasi:
        if fold(column) in result_names:
            rule = f"no quasi-identifier may be called {fold(column)}"
            raise AnonError(name, rule, column, "rename it in both")
    mean = [None] * len(pair.sizes) if single else sum(lost) / len(lost)
    return pa.array([mean], pa.list_(pa.float64()))


@udf("DOUBLE")
def worst_level(function: Any, argument: Any, settings: Any) -> pa.Array:
    """Return the worst level of a class in any sensitive column; NULL without classes.

    function: the name of the model's file. settings: a struct of its parameters beside the level.
    """
    pair_input, pair = _paired(function, argument)
    model = _model(pair_input.function, first(settings))
    values = pair_input.class_values(pair)
    return _worst(model, {name: (column_values, NOTHING) for name, column_values in values.items()})


@udf("DOUBLE")
def worst_level_beside(function: Any, argument: Any, raw_groups: Any, settings: Any) -> pa.Array:
    """Return the same of a model that compares classes with the raw table.

    raw_groups: the result of ``__anon_key_groups``. settings: as for ``worst_level``, and
    ``ordered`` for a model that goes by distance.
    """
    pair_input, pair = _paired(function, argument)
    chosen = dict(first(settings) or {})
    labelled = (*pair.roles.quasi, *pair.roles.sensitive)
    ordered = read_ordered(pair_input.function, chosen.pop("ordered", None), pair.types, labelled)
    model = _model(pair_input.function, chosen)
    values = pair_input.class_values(pair)
    tables_by_column = tables(raw_groups, pair.roles.sensitive)
    raw = {name: table for name, (table, _) in tables_by_column.items()}
    if model.by_distance:
        listed = pair_input.rows_of_hierarchy(pair.roles.sensitive)
        raw = {
            name: with_ground(
                pair_input.function,
                name,
                pair.types[name],
                *counts_and_values,
                listed.get(name),
                name in ordered,
            )
            for name, counts_and_values in tables_by_column.items()
        }
    if any(len(column_values.starts) for column_values in values.values()):
        require_in_table(pair_input.function, values, raw)
    return _worst(
        model,
        {name: (column_values, raw.get(name, NOTHING)) for name, column_values in values.items()},
    )


def _paired(function: Any, argument: Any) -> tuple[PairInput, Pair]:
    """Return a call and its relations. Raises AnonError for labels that cannot be read."""
    pair_input = PairInput(first(function), argument)
    pair = pair_input.pair(values=True)
    pair.require_no_more_rows()
    pair.losses  # noqa: B018 - labels that cannot be read are an error
    return pair_input, pair


def _model(function: str, settings: Mapping[str, Any] | None) -> ValueModel:
    """Return the model that a function measures; ``kind`` of a call is its ``l_kind``."""
    model = next(
        model_type for model_type in VALUE_MODELS if model_type.__module__.endswith(f".{function}")
    )
    parameters = model.parameters()
    checked = {}
    for name, value in (settings or {}).items():
        parameter_name = name if name in parameters else f"{model.name}_{name}"
        checked[parameter_name] = replace(parameters[parameter_name], name=name).read(
            function, {name: value}
        )
    return model(**checked)


def _worst(model: ValueModel, values: Mapping[str, tuple[ClassValues, TableValues]]) -> pa.Array:
    levels_by_column = [model.measure(*pair) for pair in values.values() if len(pair[0].starts)]
    if not levels_by_column:
        return pa.array([None], pa.float64())
    levels = np.concatenate(levels_by_column)
    return pa.array([levels.min() if model.at_least else levels.max()])


@udf(sql_type(pa.list_(LOSS)))
def value_losses(
    argument: Any, ids: Any, form: Any, raw_lists: Any, released_lists: Any
) -> pa.Array:
    """Return the loss of each column of numbers, dates or times; form: of the release."""
    chosen = read_group(ValueLoss, VALUE_LOSS, {"id": first(ids), "format": first(form)})
    pair = PairInput(VALUE_LOSS, argument).pair(values=True)
    pair.require_no_more_rows()
    numeric = [column for column in pair.domains if column.number]
    require_values(
        VALUE_LOSS, [column.name for column in numeric if column.name not in pair.one_value]
    )
    pair.losses  # noqa: B018 - values that the raw table cannot have are an error
    raw, released = columns_of(raw_lists), columns_of(released_lists)
    rows = None if chosen.id is None else rows_by(pair, chosen.id, raw, released)
    losses = [
        value_loss(
            column.name,
            column.sql_type,
            by_name(raw, column.name),
            by_name(released, column.name),
            rows,
            means=chosen.format == "mean",
        )
        for column in numeric
    ]
    return pa.array([losses], pa.list_(LOSS))


@udf("DOUBLE")
def gower_distances(a: Any, b: Any, ranges: Any) -> pa.Array:
    """The distance of each pair of records; NULL where no column is present in both."""
    distances = gower(*map(one_array, (a, b, ranges)))
    return pa.array(distances, mask=np.isnan(distances))


_RISK = pa.list_(pa.struct(list(RISK)))


@udf(sql_type(_RISK))
def risks(
    argument: Any, population_types: Any, types: Any, groups: Any, parameters: Any
) -> pa.Array:
    """Return the risks in one row, or raise AnonError.

    held_types: of the population, NULL without one; types: those that hold its values and the raw
    table's; groups: of its quasi-identifiers.
    """
    pair_input, chosen = (
        PairInput(RISK_NAME, argument),
        read_group(Risk, RISK_NAME, first(parameters)),
    )
    sql_types = first(population_types)
    pair = pair_input.pair(values=sql_types is None)
    population = (
        None
        if sql_types is None
        else _population(pair_input, pair, sql_types, first(types), groups)
    )
    weights = _weights(pair_input, pair, chosen.sampling_weights)
    return as_rows(risk(pair, chosen, population, weights))


def _weights(pair_input: PairInput, pair: Pair, column: object) -> ClassWeights | None:
    """Return the weights of each class, or None where no column is named."""
    if column is None:
        return None
    names = {fold(name): name for name in pair.released}
    if not isinstance(column, str) or fold(column) not in names:
        raise AnonError(
            RISK_NAME,
            Parameter("sampling_weights") + " must name a column of the release",
            f"'{column}'" if isinstance(column, str) else type(column).__name__,
            did_you_mean(column, names.values()) if isinstance(column, str) else None,
        )
    weight_sums = by_name(named(pair_input.groups, HELPER + "weight_"), column)
    if weight_sums is None:
        return ClassWeights(np.zeros(0), np.zeros(0), np.zeros(0, np.int64))
    total, least = (
        weight_sums.field(name).fill_null(0).to_numpy(zero_copy_only=False)
        for name in ("total", "least")
    )
    return ClassWeights(total, least, integers(weight_sums.field("known")))


def _population(
    pair_input: PairInput,
    pair: Pair,
    population_types: dict[str, str],
    types: dict[str, str],
    groups: Any,
) -> Population:
    quasi = pair.roles.quasi
    require_columns({name: pair.types[name] for name in quasi}, population_types)
    kinds, columns = {name: by_name(types, name) for name in quasi}, columns_of(groups)
    return Population(
        kinds,
        {name: by_name(columns, name) for name in quasi},
        integers(columns[HELPER + "count"]),
        pair_input.rows_of_hierarchy(quasi),
    )
