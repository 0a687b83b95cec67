"""Compare the rows of a released frame, once it is put together, with those that were checked."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from anon_sql.core import stopping
from anon_sql.core.duckdb_internals.hashing import row_hash
from anon_sql.core.names import quote
from anon_sql.core.running import Workers
from anon_sql.hosts.frames.kinds import Frame
from anon_sql.hosts.frames.rows import unreadable
from anon_sql.pipeline.compute import Checked, unchecked
from anon_sql.pipeline.request import Request
from anon_sql.pipeline.table import label_hash

_KEPT, _LABELS = "kept", "labels"
Hashes = npt.NDArray[np.uint64]


def require_as_checked(
    frame: Frame,
    request: Request,
    rows: pa.Table,
    assembled: Any,
    checked: Checked | None,
    texts: Mapping[str, pa.Array],
    scratch: duckdb.DuckDBPyConnection,
    workers: Workers,
) -> None:
    """Raise AnonError unless each row of an assembled frame is, by its place, that checked.

    Its kept values must have the hash of those checked, and its labels that of the labels of its
    class. So no row is lost, doubled or beside the labels of another class, no column stands under
    the name of another, and the rows are in the order that was checked. rows: as ``assembled`` took
    them. texts: the distinct labels of each quasi-identifier that were checked, as released.
    scratch: a connection of this package's own.
    """
    stopping.check(request.function)
    types = {name: rows.schema.field(name).type for name in request.kept}
    types |= {name: text.type for name, text in texts.items()}
    try:
        sent = frame.sent(assembled, types)
    except (pa.ArrowException, KeyError, OverflowError, TypeError, ValueError):
        raise unchecked(request.function, "others") from None
    names = [name for name in frame.columns.types if name in types]
    if checked is None or sent.column_names != names or sent.num_rows != len(checked.hashes):
        raise unchecked(request.function, "others")
    of_class = {
        name: partial(text.take, pa.array(checked.labels[name].label_of))
        for name, text in texts.items()
    }
    classes = frame.sent(frame.assembled(rows, {}, of_class, workers), types)
    found = _hashes(
        frame,
        request,
        sent,
        {
            _KEPT: row_hash({quote(name): frame.columns.types[name] for name in request.kept}),
            _LABELS: label_hash(request),
        },
        scratch,
    )
    wanted = _hashes(frame, request, classes, {_LABELS: label_hash(request)}, scratch)[_LABELS]
    if not np.array_equal(found[_KEPT], checked.hashes):
        raise unchecked(request.function, "the kept values of others")
    if not np.array_equal(found[_LABELS], wanted[checked.class_of]):
        raise unchecked(request.function, "rows beside other labels")


def _hashes(
    frame: Frame,
    request: Request,
    table: pa.Table,
    wanted: Mapping[str, str],
    scratch: duckdb.DuckDBPyConnection,
) -> dict[str, Hashes]:
    """Return the value of SQL hashes by name for every row of a table, uint64[n] each."""
    columns = [
        frame.columns.cast(name) if name in request.kept else quote(name)
        for name in table.column_names
    ]
    text = ", ".join(f"{said} AS {name}" for name, said in wanted.items())
    try:
        with stopping.reaching(scratch.interrupt):
            found = scratch.from_arrow(table).project(", ".join(columns)).project(text)
            made = found.to_arrow_table()
        return {name: made[name].to_numpy() for name in wanted}
    except duckdb.InterruptException:
        stopping.check(request.function)
        raise
    except duckdb.Error as error:
        raise unreadable(request.function, error) from None
