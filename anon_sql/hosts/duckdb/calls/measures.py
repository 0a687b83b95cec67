"""Compute the measures of a release that SQL functions return."""

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa

from anon_sql.core.arrow import first
from anon_sql.core.options import Whole
from anon_sql.core.roles import fold
from anon_sql.core.weights import read_weights
from anon_sql.errors import AnonError
from anon_sql.hosts.duckdb.calls.binding import HELPER
from anon_sql.hosts.duckdb.calls.taking import named
from anon_sql.hosts.duckdb.measuring import Given, helds, listed, require_bound
from anon_sql.hosts.duckdb.registry import sql_type, udf
from anon_sql.measures.beta_likeness import likeness
from anon_sql.measures.closeness import closeness, ground, require_held
from anon_sql.measures.delta_disclosure import disclosure
from anon_sql.measures.diversity import KIND, C, diversity
from anon_sql.measures.pair import Pair, require_released
from anon_sql.measures.spread import Floats, Held, Spread
from anon_sql.measures.utility import FORM, UTILITY, utility


@udf("__anon_utility", sql_type(UTILITY))
def all_measures(function: Any, given: Any, k: Any, form: Any, adds: Any, weights: Any) -> pa.Array:
    """Return every measure of information loss.

    adds: whether the release may have more rows; weights: of gcp.
    """
    name = first(function)
    size, ncp = Whole(1).read(name, "k", first(k)), FORM.read(name, "ncp", first(form))
    asked = Given(name, given)
    quasi = asked.roles(values=True).quasi
    counted, matter = asked.counted(quasi), read_weights(name, first(weights), quasi)
    return pa.array([utility(counted, size, ncp, matter, adds=first(adds))], UTILITY)


@udf("__anon_class_ncp", "DOUBLE[]")
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
    require_released(name, listed(asked.call["sensitive"]), list(pair.released))
    taken = {fold(other) for other in [*first(added), *(f"distinct_{each}" for each in counted)]}
    for column in pair.roles.quasi:
        if fold(column) in taken:
            rule = f"no quasi-identifier may be called {fold(column)}"
            raise AnonError(name, rule, column, "rename it in both")
    mean = [None] * len(pair.sizes) if single else sum(lost) / len(lost)
    return pa.array([mean], pa.list_(pa.float64()))


@udf("__anon_l_diversity", "DOUBLE")
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


@udf("__anon_t_closeness", "DOUBLE")
def greatest_distance(function: Any, given: Any, raw_groups: Any) -> pa.Array:
    """Return the largest t over all classes and sensitive columns; NULL without classes."""
    asked, pair, spreads, found = _beside_raw(function, given, raw_groups)
    listed = asked.rows_of_hierarchy(pair.roles.sensitive)
    by = {
        column: ground(asked.function, column, pair.types[column], held, values, listed.get(column))
        for column, (held, values) in found.items()
    }
    return _greatest(asked, spreads, found, lambda n, values, held: closeness(values, held, by[n]))


@udf("__anon_beta_likeness", "DOUBLE")
def greatest_gain(function: Any, given: Any, raw_groups: Any) -> pa.Array:
    """Return the largest β over all classes and sensitive columns; NULL without classes."""
    asked, _, spreads, found = _beside_raw(function, given, raw_groups)
    return _greatest(asked, spreads, found, lambda _, values, held: likeness(values, held))


@udf("__anon_delta_disclosure", "DOUBLE")
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
