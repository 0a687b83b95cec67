"""``risk`` as SQL calls it: the classes of a release and a population in, the risks out."""

from typing import Any

import numpy as np
import pyarrow as pa

from anon_sql.core.arrow import first, integers
from anon_sql.core.roles import fold
from anon_sql.errors import AnonError, did_you_mean
from anon_sql.hosts.duckdb.calls.binding import HELPER
from anon_sql.hosts.duckdb.calls.column_lists import by_name, columns_of, listed
from anon_sql.hosts.duckdb.calls.taking import named
from anon_sql.hosts.duckdb.measuring import Given
from anon_sql.hosts.duckdb.registry import sql_type, udf
from anon_sql.measures.pair import Pair
from anon_sql.risk.population import NAME, Population, require_columns
from anon_sql.risk.risk import RISK, THRESHOLD, risk
from anon_sql.risk.sample import Weights

_RISK = pa.list_(pa.struct(list(RISK)))


@udf("__anon_risk", sql_type(_RISK))
def risks(
    given: Any, threshold: Any, held_types: Any, types: Any, groups: Any, options: Any
) -> pa.Array:
    """Return the risks in one row, or raise AnonError.

    held_types: of the population, NULL without one; types: those that hold its values and the raw
    table's; groups: of its quasi-identifiers. options: what is said of an unknown population.
    """
    asked, above = Given(NAME, given), THRESHOLD.read(NAME, "threshold", first(threshold))
    held, sampled = first(held_types), dict(first(options))
    pair = asked.pair(values=held is None)
    population = None if held is None else _population(asked, pair, held, first(types), groups)
    weights = _weights(asked, pair, sampled.pop("weights"))
    return listed(risk(pair, above, population, sampled, weights))


def _weights(asked: Given, pair: Pair, column: object) -> Weights | None:
    """Return the weights of each class, or None where no column is named."""
    if column is None:
        return None
    names = {fold(name): name for name in pair.released}
    if not isinstance(column, str) or fold(column) not in names:
        raise AnonError(
            NAME,
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
