"""Gower's distance, as SQL calls it."""

from typing import Any

import numpy as np
import pyarrow as pa

from anon_sql.core.arrow import whole
from anon_sql.hosts.duckdb.registry import udf
from anon_sql.methods.gower import gower


@udf("__anon_gower", "DOUBLE")
def distances(a: Any, b: Any, ranges: Any) -> pa.Array:
    """The distance of each pair of records; NULL where no column is present in both."""
    found = gower(*map(whole, (a, b, ranges)))
    return pa.array(found, mask=np.isnan(found))
