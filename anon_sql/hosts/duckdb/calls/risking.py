"""``risk`` as SQL calls it: the classes of a release and a population in, the risks out."""

from typing import Any

import pyarrow as pa

from anon_sql.core.arrow import first, integers
from anon_sql.hosts.duckdb.calls.binding import HELPER
from anon_sql.hosts.duckdb.calls.column_lists import by_name, columns_of, listed
from anon_sql.hosts.duckdb.measuring import Given
from anon_sql.hosts.duckdb.registry import sql_type, udf
from anon_sql.measures.pair import Pair
from anon_sql.risk.population import NAME, Population, require_columns
from anon_sql.risk.risk import RISK, THRESHOLD, risk

_RISK = pa.list_(pa.struct(list(RISK)))


@udf("__anon_risk", sql_type(_RISK))
def risks(given: Any, threshold: Any, held_types: Any, types: Any, groups: Any) -> pa.Array:
    """Return the risks in one row, or raise AnonError.

    held_types: of the population, NULL without one; types: those that hold its values and the raw
    table's; groups: of its quasi-identifiers.
    """
    asked, above = Given(NAME, given), THRESHOLD.read(NAME, "threshold", first(threshold))
    pair, held = asked.pair(), first(held_types)
    population = None if held is None else _population(asked, pair, held, first(types), groups)
    return listed(risk(pair, above, population))


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
