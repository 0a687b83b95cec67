"""Measures of a release, ``risk`` and Gower's distance, as SQL calls them."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from anon_sql.core.arrow import first, integers, whole
from anon_sql.core.parameters import read, read_weights
from anon_sql.core.roles import fold
from anon_sql.errors import AnonError, did_you_mean
from anon_sql.hosts.duckdb.binding import HELPER
from anon_sql.hosts.duckdb.pair import (
    Given,
    as_names,
    as_rows,
    by_name,
    columns_of,
    helds,
    require_bound,
)
from anon_sql.hosts.duckdb.registry import sql_type, udf
from anon_sql.hosts.duckdb.rows import named
from anon_sql.measures.pair import Pair, require_released
from anon_sql.measures.utility import UTILITY, Utility, utility
from anon_sql.measures.values import LOSS, require_values, row_pairs, value_loss
from anon_sql.measures.values import NAME as VALUE_LOSS
from anon_sql.methods.gower import gower
from anon_sql.privacy.beta_likeness import likeness
from anon_sql.privacy.class_values import Floats, Held, Spread
from anon_sql.privacy.delta_disclosure import disclosure
from anon_sql.privacy.l_diversity import KIND, C, diversity
from anon_sql.privacy.t_closeness import closeness, ground, require_held
from anon_sql.risk.population import NAME as RISK_NAME
from anon_sql.risk.population import Population, Risk, Weights, require_columns
from anon_sql.risk.risk import RISK, risk


@udf(sql_type(UTILITY))
def all_measures(function: Any, given: Any, k: Any, form: Any, adds: Any, weights: Any) -> pa.Array:
    """Return every measure of information loss.

    adds: whether the release may have more rows; weights: of gcp.
    """
    name = first(function)
    chosen = read(Utility, name, {"k": first(k), "ncp": first(form), "weights": first(weights)})
    asked = Given(name, given)
    quasi = asked.roles(values=True).quasi
    counted, matter = asked.counted(quasi), read_weights(name, chosen.weights, quasi)
    return pa.array([utility(counted, chosen.k, chosen.ncp, matter, adds=first(adds))], UTILITY)


@udf("DOUBLE[]")
def class_ncp(function: Any, given: Any, added: Any) -> pa.Array:
    """Return the mean NCP over all quasi-identifiers of every class, NULL of means and medians.

    added: further columns of the result, with which no quasi-identifier may share its name.
    """
    name, asked = first(function), Given(first(function), given)
    pair = asked.pair(values=True)
    pair.require_no_more_rows()
    lost = [found.loss for found in pair.losses.values()]
    single = any(found.one_value for found in pair.losses.values())
    counted = named(asked.groups, HELPER + "distinct_")
    known = {fold(column) for column in pair.released}
    shown = [column for column in pair.roles.sensitive if fold(column) in known]
    require_bound(name, shown, [column for column in counted if column != HELPER + "none"])
    require_released(name, as_names(asked.call["sensitive"]), list(pair.released))
    taken = {fold(other) for other in [*first(added), *(f"distinct_{each}" for each in counted)]}
    for column in pair.roles.quasi:
        if fold(column) in taken:
            rule = f"no quasi-identifier may be called {fold(column)}"
            raise AnonError(name, rule, column, "rename it in both")
    mean = [None] * len(pair.sizes) if single else sum(lost) / len(lost)
    return pa.array([mean], pa.list_(pa.float64()))


@udf("DOUBLE")
def least_diversity(function: Any, given: Any, kind: Any, c: Any) -> pa.Array:
    """Return the smallest l over all classes and sensitive columns; NULL without classes."""
    name = first(function)
    asked = Given(name, given)
    pair = asked.pair(values=True)
    pair.require_no_more_rows()
    pair.losses  # noqa: B018 - labels that cannot be read are an error
    chosen, level = KIND.read(name, "kind", first(kind)), C.read(name, "c", first(c))
    spreads = asked.spreads(pair)
    if not len(pair.sizes):
        return pa.array([None], pa.float64())
    return pa.array([min(diversity(s, chosen, level).min() for s in spreads.values())])


@udf("DOUBLE")
def greatest_distance(function: Any, given: Any, raw_groups: Any) -> pa.Array:
    """Return the largest t over all classes and sensitive columns; NULL without classes."""
    asked, pair, spreads, found = _beside_raw(function, given, raw_groups)
    listed = asked.rows_of_hierarchy(pair.roles.sensitive)
    by = {
        column: ground(asked.function, column, pair.types[column], held, values, listed.get(column))
        for column, (held, values) in found.items()
    }
    return _greatest(asked, spreads, found, lambda n, values, held: closeness(values, held, by[n]))


@udf("DOUBLE")
def greatest_gain(function: Any, given: Any, raw_groups: Any) -> pa.Array:
    """Return the largest β over all classes and sensitive columns; NULL without classes."""
    asked, _, spreads, found = _beside_raw(function, given, raw_groups)
    return _greatest(asked, spreads, found, lambda _, values, held: likeness(values, held))


@udf("DOUBLE")
def greatest_disclosure(function: Any, given: Any, raw_groups: Any) -> pa.Array:
    """Return the largest δ over all classes and sensitive columns; NULL without classes."""
    asked, _, spreads, found = _beside_raw(function, given, raw_groups)
    return _greatest(asked, spreads, found, lambda _, values, held: disclosure(values, held))


def _beside_raw(
    function: Any, given: Any, raw_groups: Any
) -> tuple[Given, Pair, dict[str, Spread], dict[str, tuple[Held, pa.Array | None]]]:
    """Return a call, its relations, and the sensitive values of the classes and of the raw table.

    raw_groups: the result of ``__anon_key_groups``. Raises AnonError for labels that cannot be
    read.
    """
    asked = Given(first(function), given)
    pair = asked.pair(values=True)
    pair.require_no_more_rows()
    pair.losses  # noqa: B018 - labels that cannot be read are an error
    return asked, pair, asked.spreads(pair), helds(raw_groups, pair.roles.sensitive)


def _greatest(
    asked: Given,
    spreads: Mapping[str, Spread],
    found: Mapping[str, tuple[Held, pa.Array | None]],
    measure: Callable[[str, Spread, Held], Floats],
) -> pa.Array:
    """Return the largest measure of a class in any sensitive column; NULL without classes."""
    if not any(len(values.starts) for values in spreads.values()):
        return pa.array([None], pa.float64())
    raw = {column: held for column, (held, _) in found.items()}
    require_held(asked.function, spreads, raw)
    return pa.array([max(measure(n, values, raw[n]).max() for n, values in spreads.items())])


@udf(sql_type(pa.list_(LOSS)))
def value_losses(given: Any, ids: Any, raw_lists: Any, released_lists: Any) -> pa.Array:
    """Return the loss of each column of numbers, dates or times."""
    pair = Given(VALUE_LOSS, given).pair(values=True)
    pair.require_no_more_rows()
    shown = [column for column in pair.domains if column.number]
    require_values(
        VALUE_LOSS, [column.name for column in shown if column.name not in pair.one_value]
    )
    pair.losses  # noqa: B018 - values that the raw table cannot have are an error
    raw, released = columns_of(raw_lists), columns_of(released_lists)
    rows = None if first(ids) is None else _rows(pair, first(ids), raw, released)
    found = [
        value_loss(
            column.name,
            column.sql_type,
            by_name(raw, column.name),
            by_name(released, column.name),
            rows,
        )
        for column in shown
    ]
    return pa.array([found], pa.list_(LOSS))


def _rows(pair: Pair, name: str, *lists: dict[str, pa.Array]) -> Any:
    """Return the released row of each raw row by the column ``name``; lists: of both relations."""
    for types in (pair.types, pair.released):
        if fold(name) not in map(fold, types):
            rule = "id must name a column of the raw table and of the release"
            raise AnonError(VALUE_LOSS, rule, f"'{name}'", did_you_mean(name, types))
    return row_pairs(
        VALUE_LOSS, name, *(by_name(named(one, HELPER + "id_"), name) for one in lists)
    )


@udf("DOUBLE")
def gower_distances(a: Any, b: Any, ranges: Any) -> pa.Array:
    """The distance of each pair of records; NULL where no column is present in both."""
    found = gower(*map(whole, (a, b, ranges)))
    return pa.array(found, mask=np.isnan(found))


_RISK = pa.list_(pa.struct(list(RISK)))


@udf(sql_type(_RISK))
def risks(given: Any, held_types: Any, types: Any, groups: Any, parameters: Any) -> pa.Array:
    """Return the risks in one row, or raise AnonError.

    held_types: of the population, NULL without one; types: those that hold its values and the raw
    table's; groups: of its quasi-identifiers.
    """
    asked, chosen = Given(RISK_NAME, given), read(Risk, RISK_NAME, first(parameters))
    held = first(held_types)
    pair = asked.pair(values=held is None)
    population = None if held is None else _population(asked, pair, held, first(types), groups)
    return as_rows(risk(pair, chosen, population, _weights(asked, pair, chosen.weights)))


def _weights(asked: Given, pair: Pair, column: object) -> Weights | None:
    """Return the weights of each class, or None where no column is named."""
    if column is None:
        return None
    names = {fold(name): name for name in pair.released}
    if not isinstance(column, str) or fold(column) not in names:
        raise AnonError(
            RISK_NAME,
            "weights must name a column of the release",
            f"'{column}'" if isinstance(column, str) else type(column).__name__,
            did_you_mean(column, names.values()) if isinstance(column, str) else None,
        )
    found = by_name(named(asked.groups, HELPER + "weight_"), column)
    if found is None:
        return Weights(np.zeros(0), np.zeros(0), np.zeros(0, np.int64))
    total, least = (
        found.field(name).fill_null(0).to_numpy(zero_copy_only=False) for name in ("total", "least")
    )
    return Weights(total, least, integers(found.field("known")))


def _population(
    asked: Given, pair: Pair, held: dict[str, str], types: dict[str, str], groups: Any
) -> Population:
    quasi = pair.roles.quasi
    require_columns({name: pair.types[name] for name in quasi}, held)
    kinds, columns = {name: by_name(types, name) for name in quasi}, columns_of(groups)
    return Population(
        kinds,
        {name: by_name(columns, name) for name in quasi},
        integers(columns[HELPER + "count"]),
        asked.rows_of_hierarchy(quasi),
    )
