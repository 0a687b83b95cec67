"""Release a relation by its name, through Arrow, for callers that write its rows."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import duckdb
import pyarrow as pa

from anon_sql.core.names import literal, quote
from anon_sql.hosts.arrow.database import cursor, settings_of
from anon_sql.hosts.arrow.frame import Frame, in_own_types
from anon_sql.hosts.arrow.release import earlier_labels, released
from anon_sql.hosts.arrow.rows import of_relation
from anon_sql.hosts.call import RelationCall

_RELEASED = "__anon_released_rows"


@dataclass(frozen=True)
class _Named(Frame):
    """A relation, whose release is a table and the SQL of its columns in their own types."""

    casts: ClassVar[bool] = True

    def finished(
        self, assembled: pa.Table, casts: Mapping[str, str | None]
    ) -> tuple[pa.Table, str]:
        return assembled, in_own_types(assembled.column_names, self.columns, casts)


@contextmanager
def released_by_name(
    con: duckdb.DuckDBPyConnection,
    call: RelationCall,
    parameters: Mapping[str, Any],
    *,
    warns: bool = False,
) -> Iterator[str]:
    """Give a query of the release of a relation, in its order.

    call: checked; parameters: those of the release function but tbl, as they were given. warns: as
    in ``released``. Raises AnonError as the SQL function does.
    """
    function, arguments = call.request.function, dict(parameters)
    arguments.pop("hierarchy", None)
    if arguments.get("like") is not None:
        arguments["like"] = earlier_labels(con, arguments["like"], list(call.request.quasi))
    settings = settings_of(function, None, "UTC", con)
    with cursor(settings, function) as scratch:
        relation = con.sql(f"FROM query_table({literal(call.relation)})")
        frame = _Named(relation, of_relation(function, relation, scratch, call.comments))
        rows, columns = released(
            function, frame, arguments, settings, scratch, call.paths, warns=warns
        )
    con.register(_RELEASED, rows)
    try:
        yield f"SELECT {columns} FROM {quote(_RELEASED)}"
    finally:
        con.unregister(_RELEASED)
