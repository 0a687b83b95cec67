"""Compare the rows of a released frame, once it is put together, with those that were checked."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.core import stopping
from anon_sql.core.arrow import one_array
from anon_sql.core.duckdb_internals.hashing import row_hash
from anon_sql.core.names import quote
from anon_sql.core.running import Workers
from anon_sql.hosts.arrow.frame import Frame
from anon_sql.hosts.arrow.rows import unreadable, without_extensions
from anon_sql.pipeline.compute import Checked, unchecked
from anon_sql.pipeline.request import Request
from anon_sql.pipeline.table import label_hash

_BESIDE = "rows beside other labels"
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
        sent = without_extensions(frame.sent(assembled, types))
    except (pa.ArrowException, KeyError, OverflowError, TypeError, ValueError):
        raise unchecked(request.function, "other rows") from None
    names = [name for name in frame.columns.types if name in types]
    if checked is None or sent.column_names != names or sent.num_rows != len(checked.hashes):
        raise unchecked(request.function, "other rows")
    kept = {quote(name): frame.columns.types[name] for name in request.kept}
    hashes = _hash(frame, request, sent, row_hash(kept), scratch)
    if not np.array_equal(hashes, checked.hashes):
        raise unchecked(request.function, "the kept values of others")
    of_class = {
        name: partial(text.take, pa.array(checked.labels[name].label_of))
        for name, text in texts.items()
    }
    classes = frame.sent(frame.assembled(rows, {}, of_class, workers), types)
    wanted = _hash(frame, request, classes, label_hash(request), scratch)[checked.class_of]
    shown = sent.select(classes.column_names)
    if all(map(_is_text, shown.schema.types)):
        new = wanted[1:] != wanted[:-1]
        jobs = [(one_array(values), pa.array(new)) for values in shown.columns]
        if not all(workers.map(_repeats, jobs, [sent.num_rows] * len(jobs))):
            raise unchecked(request.function, _BESIDE)
        first = np.append(0, np.flatnonzero(new) + 1)[: len(wanted)]
        shown, wanted = shown.take(pa.array(first)), wanted[first]
    if not np.array_equal(_hash(frame, request, shown, label_hash(request), scratch), wanted):
        raise unchecked(request.function, _BESIDE)


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _repeats(values: pa.Array, new: pa.Array) -> bool:
    """Return whether each text but the first is that before it, where none is new, bool[n - 1].

    This takes a third of the time of a hash.
    """
    after, before = values.slice(1), values.slice(0, len(new))
    same = pc.equal(after, before)
    if values.null_count:
        same = pc.or_(same.fill_null(False), pc.and_(after.is_null(), before.is_null()))
    return bool(pc.all(pc.or_(same, new), min_count=0).as_py())


def _hash(
    frame: Frame,
    request: Request,
    table: pa.Table,
    hash_sql: str,
    scratch: duckdb.DuckDBPyConnection,
) -> Hashes:
    """Return the value of a hash, as SQL, for every row of a table, uint64[n]."""
    columns = [
        frame.columns.cast(name) if name in request.kept else quote(name)
        for name in table.column_names
    ]
    try:
        with stopping.reaching(scratch.interrupt):
            rows = scratch.from_arrow(table).project(", ".join(columns))
            hashes: Hashes = rows.project(f"{hash_sql} AS hash").to_arrow_table()["hash"].to_numpy()
            return hashes
    except duckdb.InterruptException:
        stopping.check(request.function)
        raise
    except duckdb.Error as error:
        raise unreadable(request.function, error) from None
