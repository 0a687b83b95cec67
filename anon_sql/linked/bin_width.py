"""Cut the values of linked tables to bins before rows are tied.

Classes, slots and the order of rows depend on the first values of bins only. Labels are made of the
values themselves, and checked against them.
"""

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.core.arrow import valid
from anon_sql.core.bin_width import cut, refuse_bins
from anon_sql.core.columns import exact, unsigned
from anon_sql.core.hierarchy.tree import rows_of
from anon_sql.errors import listed
from anon_sql.linked.options import LinkedCall
from anon_sql.linked.rows import Hashes, TableRows, mixed


def cut_rows(call: LinkedCall, sources: dict[str, TableRows]) -> None:
    """Replace the rows of each table by those with the first values of their bins.

    Raises AnonError for columns with a hierarchy.
    """
    for name, table_rows in sources.items():
        sources[name] = _cut(call, table_rows)


def _cut(call: LinkedCall, table_rows: TableRows) -> TableRows:
    table, widths = table_rows.node.name, call.bin_widths_of(table_rows.node.name)
    types = {name: table_rows.node.table.types[name] for name in widths}
    if trees := rows_of(call.paths, types, call.time_zone):
        refuse_bins(call.function, "apply to columns without a hierarchy", listed(list(trees)))
    values, quasi, whole, raw = table_rows.values, table_rows.quasi, table_rows.whole, {}
    for name, step in widths.items():
        raw[name] = table_rows.column(name)
        low = cut(call.function, f"{table}.{name}", types[name], raw[name], step).low
        values = values.set_column(values.column_names.index(name), name, low)
        hashes = _hashes(types[name], low)
        quasi, whole = mixed(quasi ^ hashes), mixed(whole ^ hashes)
    return replace(table_rows, values=values, quasi=quasi, whole=whole, raw=raw)


def _hashes(sql_type: str, values: pa.Array) -> Hashes:
    """Return a hash of each value, uint64[n], equal for equal ones."""
    present: npt.NDArray[np.bool_] = valid(values)
    hashes = mixed(present.astype(np.uint64))
    for half in exact(sql_type, unsigned(values)):
        if half is not None:
            hashes = mixed(hashes ^ np.where(present, half, 0).view(np.uint64))
    return hashes
