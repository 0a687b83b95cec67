"""Release the rows of a frame: through Arrow and the core, without a macro."""

import itertools
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anon_sql.audit.columns import unique_sentence
from anon_sql.core import stopping
from anon_sql.core.arrow import integers, valid
from anon_sql.core.duckdb_internals.hashing import mark, row_hash, sort_key
from anon_sql.core.labels.types import arrow_type, is_printed
from anon_sql.core.labels.writing import Labels
from anon_sql.core.names import literal, quote
from anon_sql.core.running import Workers
from anon_sql.errors import AnonError
from anon_sql.hosts.arrow.checking import require_as_checked
from anon_sql.hosts.arrow.database import Settings, cursor
from anon_sql.hosts.arrow.frame import Frame, Positions
from anon_sql.hosts.arrow.rows import ArrowColumns, unreadable
from anon_sql.hosts.duckdb.identifiers import FIRST
from anon_sql.hosts.duckdb.looks import shapes_of
from anon_sql.hosts.duckdb.rows import combined, rows_that_fit
from anon_sql.hosts.kept import depth, kept_of, warn
from anon_sql.measures.person_keys import Identifier, person_key
from anon_sql.measures.uniqueness import UNIQUE_SHARE, Hashes
from anon_sql.pipeline.compute import Release, release
from anon_sql.pipeline.request import Relation, Request, Source, checked, roles_of
from anon_sql.pipeline.synthesize import require_sensitive, synthesize
from anon_sql.pipeline.table import shown
from anon_sql.suggest.combinations import Counts
from anon_sql.suggest.identifiers import without_identifiers
from anon_sql.suggest.roles import Shape, kind_of

_numbers = itertools.count(1)
_REST = "anon_frame_rest_"  # views of the columns that only a * releases
_HASH, _KEY, _MARK = "__anon_hash", "__anon_key_", "__anon_mark_"
_AS_SENT = (  # Arrow types of columns that DuckDB would return as they are
    *(pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32()),
    *(pa.uint64(), pa.float32(), pa.float64(), pa.string(), pa.date32(), pa.timestamp("us")),
)
_SCORES = ("cof", "outlier")  # columns of cof_score, which generalize drops


def released(
    function: str,
    frame: Frame,
    arguments: Mapping[str, Any],
    settings: Settings,
    scratch: duckdb.DuckDBPyConnection,
    paths: pa.StructArray | None,
    *,
    warns: bool = False,
) -> Any:
    """Return the release of a frame as a frame of the same kind.

    arguments: those of the SQL function by name, with ``like`` as ``earlier_labels`` returns it.
    scratch: a connection of this package's own. paths: the rows of the hierarchy. warns: whether to
    warn of rows that are unique on the kept columns. Raises AnonError as the SQL function does,
    and returns nothing then.
    """
    columns = frame.columns
    drops = [name for name in _SCORES if name in columns.types] if function == "generalize" else []
    request = checked(function, _relation(columns, settings), arguments, drops=drops)
    frame.warn()
    shown_names = [name for name in columns.types if name in {*request.kept, *request.quasi}]
    others = [name for name in (request.entity, request.classes) if name is not None]
    names = list(dict.fromkeys([*shown_names, *others]))
    rows = columns.read(names)
    _require_memory(request, rows.num_rows, settings)
    stopping.check(function)
    request = looked_at(request, columns, rows, settings)
    if rows.num_rows == 0:
        return _empty(frame, request, rows, shown_names, settings)
    table = _FrameRows(request, columns, rows, scratch, Workers(function, settings.threads))
    made = table.with_records() if request.method and request.method.perturbative else None
    core_release = release(table.source() if made is None else made.source(), request, paths)
    origin = {} if made is None else made.origin or {}
    positions = {
        name: origin[name][core_release.position] if name in origin else core_release.position
        for name in request.kept
    }
    made_frame = _assembled(frame, request, rows, core_release, positions, scratch, table.workers)
    if warns:
        warn(function, (table if made is None else made).unique_on_kept(positions))
    return made_frame


def warn_of_rows(
    function: str, columns: ArrowColumns, settings: Settings, arguments: Mapping[str, Any]
) -> None:
    """Warn if an identifier says that people have several rows, of which k counts each.

    Raises AnonError for roles that do not fit.
    """
    if arguments.get("entity") is not None:
        return
    roles = roles_of(function, _relation(columns, settings), arguments, needs_quasi=False)
    rows = columns.read(roles.identifier) if roles.identifier else None
    if rows is None or not rows.num_rows:
        return
    identifiers = []
    for name in roles.identifier:
        values, kind = rows[name], columns.types[name]
        if pa.types.is_nested(values.type):
            continue
        distinct = pc.count_distinct(values, mode="only_valid").as_py()
        sample = values.slice(0, FIRST).drop_null().cast(pa.string()).to_pylist()
        is_text = not pa.types.is_floating(values.type) and not pa.types.is_temporal(values.type)
        shape = Shape(
            *(name, kind, len(values), values.null_count),
            Counts(distinct + (values.null_count > 0), 0, 0),
            sample if is_text else [],
        )
        identifiers.append(Identifier(name, kind_of(shape), shape.non_null, distinct))
    key = person_key(identifiers)
    if key is not None:
        warnings.warn(
            f"{key.name} has {key.values:,} values in {key.rows:,} rows, and k counts rows; "
            f"entity={key.name!r} counts people",
            stacklevel=depth(),
        )


def _relation(columns: ArrowColumns, settings: Settings) -> Relation:
    """Return what ``checked`` needs to know of a table."""
    return Relation(columns.types, columns.comments, settings.threads, settings.time_zone)


def looked_at(
    request: Request, columns: ArrowColumns, rows: pa.Table, settings: Settings
) -> Request:
    """Return a request after a look at the columns that only a ``*`` releases.

    rows: what ``read`` returned. Raises AnonError if one of them looks like an identifier.
    """
    if not request.rest:
        return request
    name = f"{_REST}{next(_numbers)}"
    with cursor(settings, request.function, registered=True) as con:
        chosen = rows.select(list(request.rest))
        columns.restored(con.from_arrow(chosen), chosen.column_names).create_view(name)
        try:
            shapes = shapes_of(con, request.rest, quote(name))
        finally:
            con.execute(f"DROP VIEW {quote(name)}")
    return without_identifiers(request, shapes)


def _require_memory(request: Request, rows: int, settings: Settings) -> None:
    most, too_large = rows_that_fit(request, settings.memory_limit)
    if rows > most:
        raise AnonError(request.function, f"the table must fit into memory, got {too_large}")


@dataclass(frozen=True)
class _FrameRows:
    """The rows of a call.

    columns: those of the table; rows: what ``read`` returned of them. origin: int32[n] by released
    column, the rows that synthetic records take their values from, after the rows themselves;
    empty without such records, which are the rows from ``real`` on.
    """

    request: Request
    columns: ArrowColumns
    rows: pa.Table
    scratch: duckdb.DuckDBPyConnection
    workers: Workers
    origin: Mapping[str, Positions] | None = None
    real: int | None = None

    def source(self) -> Source:
        """Return the rows as the core takes them."""
        request, types = self.request, self.columns.types
        taken = [*request.quasi, *([request.classes] if request.classes else ())]
        keys = [*request.protected, *([request.entity] if request.entity else ())]
        direct = [name for name in taken if self._as_sent(name)]
        kept = {quote(name): types[name] for name in request.kept}
        wanted = {_HASH: row_hash(kept)}
        wanted |= {_KEY + name: sort_key(quote(name)) for name in keys}
        wanted |= {name: quote(name) for name in taken if name not in direct}
        values = self.values_of(wanted)
        arrays = [self.rows[name] for name in direct]
        arrays += [values[name] for name in wanted]
        jobs = [(each,) for each in arrays]
        made = dict(
            zip(
                [*direct, *wanted],
                self.workers.map(combined, jobs, [self.rows.num_rows] * len(jobs)),
                strict=True,
            )
        )
        added = None if self.real is None else np.arange(self.rows.num_rows) < self.real
        return Source(
            {name: made[name] for name in request.quasi},
            made[_HASH],
            {name: made[_KEY + name] for name in keys},
            None if request.classes is None else made[request.classes],
            added,
        )

    def unique_on_kept(self, positions: Mapping[str, Positions]) -> str | None:
        """Return a sentence about the rows of a release that its kept columns single out.

        positions: those of the released rows, by kept column.
        """
        kept, types = kept_of(self.request), self.columns.types
        if not kept:
            return None
        marks = self.values_of({name: mark(quote(name), types[name]) for name in kept})

        def hashes_of(name: str) -> Hashes:
            hashes: Hashes = integers(marks[name].combine_chunks())[positions[name]]
            return hashes

        rows = len(positions[kept[0]])
        return unique_sentence(UNIQUE_SHARE, kept, hashes_of, rows, self.request.k)

    def _as_sent(self, name: str) -> bool:
        """Return whether DuckDB would return a column as it is."""
        same = self.rows.schema.field(name).type in _AS_SENT
        return same and name not in self.columns.carried

    def values_of(self, wanted: Mapping[str, str]) -> pa.Table:
        """Return the values of SQL expressions by name for every row, in order."""
        text = ", ".join(f"{expression} AS {quote(name)}" for name, expression in wanted.items())
        rows = self.columns.restored(self.scratch.from_arrow(self.rows), self.rows.column_names)
        try:
            with stopping.reaching(self.scratch.interrupt):
                return rows.project(text).to_arrow_table()
        except duckdb.InterruptException:
            stopping.check(self.request.function)
            raise
        except duckdb.Error as error:
            raise unreadable(self.request.function, error) from None

    def with_records(self) -> "_FrameRows":
        """Return the rows with synthetic records of rare sensitive values after them."""
        request, real = self.request, self.rows.num_rows
        require_sensitive(request)
        shown_names = [n for n in self.columns.types if n in {*request.kept, *request.quasi}]
        wanted = {name: quote(name) for name in shown_names}
        wanted |= {_MARK + name: mark(quote(name), self.columns.types[name]) for name in wanted}
        values = self.values_of(wanted)
        positions = synthesize(
            request,
            {name: values[name].combine_chunks() for name in shown_names},
            {name: values[_MARK + name].combine_chunks() for name in shown_names},
        )
        many = len(next(iter(positions.values())))
        if many == 0:
            return self
        added = pa.table(
            {
                name: self.rows[name].take(pa.array(positions[name]))
                if name in positions
                else pa.nulls(many, self.rows.schema.field(name).type)
                for name in self.rows.column_names
            },
            schema=self.rows.schema,
        )
        whole = np.arange(real, dtype=np.int32)
        origin = {name: np.append(whole, of.astype(np.int32)) for name, of in positions.items()}
        rows = pa.concat_tables([self.rows, added])
        return _FrameRows(request, self.columns, rows, self.scratch, self.workers, origin, real)


def _assembled(
    frame: Frame,
    request: Request,
    rows: pa.Table,
    core_release: Release,
    positions: Mapping[str, Positions],
    scratch: duckdb.DuckDBPyConnection,
    workers: Workers,
) -> Any:
    """Return the released rows, each beside the labels of its class, as they were checked."""
    casts = {name: _cast(frame, request, name) for name in request.quasi}

    def texts(of: Mapping[str, Labels]) -> dict[str, pa.Array]:
        """Return the distinct labels of each quasi-identifier as they are released."""
        return {
            name: _in_zone(
                made.printed if casts[name] is not None else shown(request, name, made),
                rows.schema.field(name).type,
            )
            for name, made in of.items()
        }

    labels = {
        name: partial(_of_rows, text, core_release.labels[name], core_release.class_of)
        for name, text in texts(core_release.labels).items()
    }
    allowed = {*request.kept, *request.quasi}
    if {*positions, *labels} != allowed or not {*positions, *labels} <= {*frame.columns.types}:
        raise AnonError(
            request.function,
            "the columns released must be those that the roles allow",
            None,
            "nothing was released; please report this",
        )
    made = frame.assembled(rows, positions, labels, workers)
    shown_labels = {} if core_release.checked is None else texts(core_release.checked.labels)
    require_as_checked(
        frame, request, rows, made, core_release.checked, shown_labels, scratch, workers
    )
    return frame.finished(made, casts)


def _of_rows(values: pa.Array, labels: Labels, class_of: Positions) -> pa.Array:
    """Return the label of each row."""
    return values.take(pa.array(labels.label_of[class_of]))


def _in_zone(values: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return means or ends of instants in the time zone of their column; kind: its type."""
    if not pa.types.is_timestamp(kind) or kind.tz is None:
        return values
    if pa.types.is_timestamp(values.type):
        return values.cast(pa.timestamp(values.type.unit, kind.tz))
    if pa.types.is_struct(values.type):
        ends = [_in_zone(values.field(end), kind) for end in range(2)]
        missing = pa.array(~valid(values))
        return pa.StructArray.from_arrays(ends, names=["min", "max"], mask=missing)
    return values


def _cast(frame: Frame, request: Request, name: str) -> str | None:
    """Return the SQL type that printed labels of a column are cast to; None for none."""
    if not frame.casts or name not in frame.columns.carried:
        return None
    kind = request.released_type(name)
    return None if is_printed(kind) else kind


def _empty(
    frame: Frame, request: Request, rows: pa.Table, names: Sequence[str], settings: Settings
) -> Any:
    """Return a release without rows."""
    types = {
        name: arrow_type(request.released_type(name), rows.schema.field(name).type)
        for name in request.quasi
    }
    none = np.empty(0, np.int32)
    labels = {name: partial(pa.nulls, 0, kind) for name, kind in types.items()}
    casts = {name: _cast(frame, request, name) for name in labels}
    positions = {name: none for name in names if name not in labels}
    workers = Workers(request.function)
    return frame.finished(frame.assembled(rows, positions, labels, workers), casts)


def earlier_quasi(
    function: str, columns: ArrowColumns, settings: Settings, arguments: Mapping[str, Any]
) -> Sequence[str]:
    """Return the quasi-identifiers of a call, which the labels of ``like`` are read of."""
    return roles_of(function, _relation(columns, settings), arguments).quasi


def earlier_labels(
    con: duckdb.DuckDBPyConnection, name: str, quasi: Sequence[str]
) -> list[dict[str, str | None]]:
    """Return the distinct labels of an earlier release, as the option ``like`` takes them."""
    named = literal(name)
    ((labels,),) = con.execute(
        f"SELECT __anon_earlier({named}, __anon_scope({named}, struct_pack(quasi := $quasi)))",
        {"quasi": list(quasi)},
    ).fetchall()
    return list(labels)
