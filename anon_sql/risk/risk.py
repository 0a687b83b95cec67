"""The risk that a person in a release is found again (El Emam and Dankar 2008)."""

from math import fsum

import numpy as np
import pyarrow as pa

from anon_sql.core.options import Number
from anon_sql.measures.pair import Pair
from anon_sql.risk.population import Ints, Population, matches, require_rows

THRESHOLD = Number(0, 1)
RISK = pa.schema(
    [
        ("rows", pa.int64()),
        ("prosecutor", pa.float64()),
        ("prosecutor_mean", pa.float64()),
        ("prosecutor_at_risk", pa.int64()),
        ("journalist", pa.float64()),
        ("journalist_at_risk", pa.int64()),
        ("marketer", pa.float64()),
    ]
)


def risk(pair: Pair, threshold: float, population: Population | None) -> pa.Table:
    """Return one row of ``RISK``: of a prosecutor 1 / f, f the rows of a class; of a journalist and
    a marketer 1 / F, F the rows of the population that its label matches.

    Suppressed rows are one class, with those left out. Risks are NULL for an empty release. Raises
    AnonError where raw, release and population do not belong together.
    """
    pair.require_no_more_rows()
    starred, sizes, shown = pair.suppressed(pair.losses), pair.sizes, pair.released_rows
    suppressed = int(sizes[starred].sum()) + pair.rows - shown
    f = np.where(starred, suppressed, sizes)
    row = {"rows": shown, **_of("prosecutor", f, sizes, threshold)}
    row["prosecutor_mean"] = row.pop("mean")
    if population is not None:
        found = matches(population, pair)
        require_rows(found, f)
        row |= _of("journalist", found, sizes, threshold)
        row["marketer"] = row.pop("mean")
    return pa.Table.from_pylist([row], RISK)


def _of(name: str, many: Ints, sizes: Ints, threshold: float) -> dict[str, object]:
    """The highest risk, the rows above the threshold, and the mean over all rows."""
    each = 1 / many
    return {
        name: float(each.max()) if len(each) else None,
        f"{name}_at_risk": int(sizes[each > threshold].sum()),
        "mean": fsum(sizes * each) / int(sizes.sum()) if len(each) else None,
    }
